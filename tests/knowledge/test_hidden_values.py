"""What a model was told as hidden is put back where the script has it, and never written as it was told."""

from __future__ import annotations

import pytest

from knowledge.errors import InputError
from knowledge.script_keys import with_its_keys

SOURCE = "#!/bin/bash\nexport HF_TOKEN=hf_real\npython t.py --outdir run_77 --key=abc9 \\\n    --seed 1\n"


def test_a_value_behind_the_same_word_is_the_scripts_own() -> None:
    told = "#!/bin/bash\nexport HF_TOKEN=<hidden>\nsrun python t.py --outdir <hidden> --key=<hidden> --seed 2\n"
    now = with_its_keys(told, SOURCE)
    assert "--outdir run_77 --key=abc9 --seed 2" in now
    assert "export HF_TOKEN=<hidden>" in now, "an assignment asks the shell, which is done elsewhere"


@pytest.mark.parametrize("row", ["python t.py --pin <hidden>", "curl -u me:<hidden> x", "<hidden>"])
def test_what_the_script_has_nowhere_is_refused(row: str) -> None:
    with pytest.raises(InputError, match="leave that line out"):
        with_its_keys(f"{SOURCE}{row}\n", SOURCE)
