"""What a template's gaps look like to shellcheck is no finding beside the one that says it is a template."""

from graph.verification.checks import check

TEXT = "#!/bin/bash\n#SBATCH -N {{ nodes }}\nsrun python {{ script }} --lr {{ lr }}\n"


def test_a_templates_braces_are_told_once() -> None:
    assert [f.rule for f in check(TEXT, None) if f.rule.startswith(("shellcheck", "script-template"))] == [
        "script-template"
    ]
