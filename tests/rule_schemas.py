"""What each file of rule data may hold: glob under the product -> the type of its value, as pydantic reads it.

A pattern has to compile once its fragments ({NAME} and {name}) stand in it; a word is text, so a bare `no` or `yes`,
which YAML reads as a truth value, is a fault.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, with_config
from typing_extensions import TypedDict

from graph.debugging.settings import NAMES, SHOWN
from graph.waiting.evidence import GoodAnswers
from knowledge.background import Background
from knowledge.cards import Card, Guide
from knowledge.cluster import Cluster
from knowledge.common_questions import CommonQuestion
from knowledge.general_facts import Deed, FrameworkBuilds, FrameworkLaunch, Help, JobCodes, TopicText
from knowledge.glossary import Term
from knowledge.gpu_facts import GpuTable
from knowledge.launcher_options import Kind
from knowledge.model_shapes import ModelShapes
from knowledge.network import NetworkFacts
from knowledge.options import OptionFact
from knowledge.program_settings import ProgramTable
from knowledge.schedulers.reason_types import ReasonFile, Starts, WaitKind
from knowledge.schedulers.records import Kind as OutputKind
from knowledge.schedulers.records import Phase
from knowledge.served_models import ServedModels
from knowledge.site import Site
from knowledge.techniques import TechniqueTable
from knowledge.training_tools import TrainingTools
from knowledge.types import Scheduler

# What steps of causes.yaml may be for.
SETTINGS = {name for kinds in (NAMES, SHOWN) for names in kinds.values() for name in names}


def setting(name: str) -> str:
    """The name, which must be one that a log or a machine can show."""
    if name not in SETTINGS:
        raise ValueError(f"is none of the settings in graph/debugging/settings.py: {', '.join(sorted(SETTINGS))}")
    return name


def compiles(pattern: str) -> str:
    """The pattern; with any text for its fragments it has to compile."""
    try:
        re.compile(re.sub(r"\{[A-Za-z_]+\}", "x", pattern))
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return pattern


Word = Annotated[StrictStr, Field(min_length=1)]
Pattern = Annotated[Word, AfterValidator(compiles)]
Setting = Annotated[Word, AfterValidator(setting)]
Patterns = Pattern | list[Pattern]
Number = StrictInt | StrictFloat
ONLY = with_config(ConfigDict(extra="forbid"))


def table(name: str, /, **fields: Any) -> Any:
    """A mapping with these keys and no others."""
    return ONLY(TypedDict(name, fields))


FORM: dict[str, Any] = {"directives": list[Word], "launcher": Word, "host": Word}
OPTION_WORDS: dict[str, Any] = {
    "means": NotRequired[dict[Word, Word]],
    **dict.fromkeys(("values", "flags", "optional", "pairs", "refusal"), NotRequired[Word]),
    "one_dash": NotRequired[StrictBool],
}
Family = table(
    "Family", name=Word, like=Pattern, version=NotRequired[Pattern], variant=NotRequired[Pattern],
    glued=NotRequired[Pattern], spaced=NotRequired[StrictBool], size=NotRequired[StrictBool],
)  # fmt: skip
Danger = table("Danger", says=Word, finds=Pattern, **{"as": Word}, in_code=NotRequired[StrictBool],
               makers=NotRequired[Pattern])  # fmt: skip
Told = table("Told", says=Word, examples=list[Word])
Turn = table(
    "Turn", say=Word, says=NotRequired[list[Word]], script=NotRequired[list[Word]], never=NotRequired[list[Word]],
    same=NotRequired[StrictBool],
)  # fmt: skip
Weights = dict[Pattern, Annotated[StrictInt, Field(ge=1, le=9)]]
MARKS = ("text", "comments", "accounts", "constraints", "queues", "modules", "qos")
WORDS = "graph/extraction/sentences"

SCHEMAS: dict[str, Any] = {
    "assistant/models/leading.yaml": list[table("Talk", id=Word, turns=list[Turn])],
    "assistant/models/recommended.yaml": table(
        "Recommended",
        checked=Annotated[Word, Field(pattern=r"^\d{4}-\d\d-\d\d$")],
        models=list[
            table("Model", name=Word, role=Word, why=Word, quantisation=Word, gb=Number, licence=Word, source=Word)
        ],
    ),
    "assistant/models/trial.yaml": table(
        "Trial",
        requests=list[table("Request", text=Word, want=dict[Word, Word | StrictInt])],
        logs=list[table("Log", want=table("Want", cause=Word, line=StrictInt), log=Word)],
    ),
    "assistant/slack/manifest.yaml": table(
        "Manifest", display_information=dict[Word, Word], features=dict, oauth_config=dict, settings=dict
    ),
    "graph/answering/shell_lines.yaml": list[
        table("ShellLine", pattern=Pattern, says=Word, words=NotRequired[list[Word]])
    ],
    "graph/conversing/guard.yaml": table(
        "Guarding",
        dangers=list[Danger],
        **dict.fromkeys(("queue", "limiting", "walltime", "taking", "has", "policy", "hedged"), dict[Word, Pattern]),
        notes=dict[Word, dict[Word, Word]],
    ),
    "graph/extraction/dialects.yaml": table("Dialects", csh=list[list[Word]], fish=list[list[Word]]),
    "graph/verification/checks/words.yaml": table(
        "CheckWords",
        **dict.fromkeys(("pbs_resources", "lsf_options", "flux_options", "scheduler_variables"), Word),
        **dict.fromkeys(("only_with", "wanted"), dict[Word, Word]),
        of_task=dict[Word, Pattern],
        **dict.fromkeys(("follows", "follows_anywhere", "satisfies"), dict[Word, list[Word]]),
        shellcheck=dict[StrictInt, list[Word]],
        refusals=list[list[Word]],
    ),
    "graph/extraction/machine_marks.yaml": dict[
        Word,
        table(
            "Marks",
            scheduler=NotRequired[Scheduler | Literal["sge"]],
            queue_gpus=NotRequired[dict[Word, StrictInt]],
            **dict.fromkeys(MARKS, NotRequired[Weights]),
        ),
    ],
    "graph/modelling/loose.yaml": table(
        "Loose",
        strategy=dict[Pattern, list[Word]],
        framework=dict[Pattern, list[Word]],
        nodes=list[Word],
        gpus=list[Word],
        between=list[Word],
        numbers=dict[Word, StrictInt],
        read=list[Word],
        tells=dict[Pattern, list[Word]],
        no_place=list[Word],
        denied=list[Word],
    ),
    "graph/answering/resource_languages.yaml": dict[
        Word, table("PlanVerdicts", fits=Word, tight=Word, no=Word, refused=Word, hours=Word, take=Word)
    ],
    "graph/planning/resources/quantities.yaml": dict[str, list[Pattern]],
    "graph/planning/resources/saves_said.yaml": dict[str, list[Word]],
    "graph/conversation/followup.yaml": dict[Word, Word],
    "graph/reading/argument_edits.yaml": dict[Word, list[Word]],
    "graph/planning/methods.yaml": dict[Word, dict[Word, Word]],
    "graph/debugging/facts.yaml": dict[Word, list[Pattern]],
    "graph/debugging/settings.yaml": dict[Word, dict[Word, dict[Word, Pattern]]],
    "graph/reading/amounts.yaml": list[list[Word]],
    "graph/reading/training_words.yaml": list[table("TrainingWords", field=Word, value=Word, says=Pattern)],
    "graph/reading/parts.yaml": dict[Word, list[Pattern]],
    "graph/planning/resources/aims.yaml": list[table("AimWords", aim=Word, says=list[Pattern], examples=list[Word])],
    "graph/reading/acts.yaml": table("Acts", acts=dict[Word, Told], topics=dict[Word, Told]),
    "graph/reading/commands.yaml": table("Commands", goes_on=Word, common=Word, prose=Word),
    "graph/answering/after_failure.yaml": table(
        "AfterFailure",
        words=dict[Word, Pattern],
        further=Word,
        grew=dict[Word, Word],
        batch=dict[Word, Word],
        unsharded=Word,
        places=dict[Word, Word],
        fetch=table(
            "FetchBefore", folder=Word, steps=list[table("FetchStep", says=Word, run=Word)], same=Word, proxy=Word
        ),
        reached=dict[Word, table("ReachedChecks", says=Word, steps=list[Word])],
        **{
            "would-show": dict[Word, table("WouldShow", words=Pattern, says=Word)],
            "in-loader": Word,
            "in-program": Word,
            "on-login": table("OnLogin", says=Word, do=Word),
            "not-lessened": list[table("NotLessened", words=Pattern, step=Word, says=Word)],
        },
    ),
    "graph/waiting/followups.yaml": table(
        "FollowUps",
        asks=dict[Word, Pattern],
        half=Pattern,
        single=Pattern,
        whose=dict[Word, Word],
        whose_command=dict[Scheduler, Word],
        holders=dict[Scheduler, dict[Word, Word]],
        left=dict[Scheduler, Word],
        ahead=dict[Scheduler, Word],
        priority=dict[Scheduler, Word],
        cancel=dict[Scheduler, Word],
        chain=dict[Scheduler, Word],
        test=dict[Word, Word],
        says=dict[Word, Word],
    ),
    "graph/waiting/good_answers.yaml": GoodAnswers,
    "graph/waiting/labels.yaml": dict[Word, list[Word]],
    "graph/waiting/words.yaml": table(
        "WaitingWords",
        put_in=dict[Word, Word],
        does=dict[Word, Pattern],
        output=dict[Scheduler, Word],
        asked=list[
            table(
                "AskedBeside",
                asks=Pattern,
                kinds=list[WaitKind],
                of=NotRequired[Word],
                starts=NotRequired[list[Starts]],
                words=NotRequired[list[Word]],
                reason=NotRequired[Word],
                says=Word,
                label=Word,
            )
        ],
        own_lines=list[
            table(
                "OwnLine",
                scheduler=Scheduler,
                words=list[Word],
                line=Pattern,
                unless=NotRequired[Pattern],
                within=NotRequired[StrictInt],
                says=Word,
                instead=NotRequired[Word],
                do=Word,
                command=NotRequired[Word],
                only=NotRequired[bool],
            )
        ],
        announced=list[
            table("Announced", kinds=list[WaitKind], words=NotRequired[list[Word]], line=Pattern, says=Word)
        ],
        beside=dict[Word, Pattern],
        days=dict[StrictInt, Pattern],
        weekdays=list[Pattern],
        months=list[Pattern],
        units=dict[Word, Pattern],
        ask=dict[Scheduler, Word],
        names=dict[Scheduler, Pattern],
        state_words=dict[Word, Scheduler],
        signals=dict[StrictInt, Word],
        shell=dict[StrictInt, Word],
        wanted=dict[Word, Word],
        to_do=dict[Word, Word],
        said=list[tuple[Pattern, Word, Phase]],
        count_if=dict[Word, Word],
        counted=dict[Word, Word],
        less=dict[Scheduler, dict[Word, Word]],
        option=dict[Word, Word],
        factors=dict[Word, Word],
        fragments=dict[Word, Word],
        on_a_node=list[Word],
        in_all=list[Word],
        told_amounts=dict[Word, Word],
        set_in_partition=dict[Word, tuple[Word, Word, Word]],
        pbs_endings=dict[StrictInt, Word],
        moments=dict[Word, Word],
    ),
    "graph/waiting/languages.yaml": dict[Word, dict[Word, Word | list[Word]]],
    f"{WORDS}/answers.yaml": table(
        "Answers", patterns=dict[Word, Pattern], cardinals=dict[Word, StrictInt], ordinals=dict[StrictInt, list[Word]]
    ),
    f"{WORDS}/flags.yaml": table(
        "Flags",
        count=dict[Word, list[Word]],
        time=dict[Word, list[Word]],
        name=dict[Word, list[Word]],
        weak=list[Word],
        patterns=dict[Word, Pattern],
    ),
    f"{WORDS}/forms.yaml": table(
        "Forms",
        values=dict[Word, Pattern],
        fields=dict[Word, table("FormField", says=Word, value=Word, keys=list[Word])],
    ),
    f"{WORDS}/grammar.yaml": dict[Word, list[Pattern] | dict[Word, Patterns]],
    f"{WORDS}/intents.yaml": dict[
        Word, Annotated[Patterns | list[Word] | dict[Word, Patterns], Field(union_mode="left_to_right")]
    ],
    f"{WORDS}/labels.yaml": dict[Word, list[Word] | dict[Word, Patterns]],
    f"{WORDS}/methods.yaml": dict[Word, Patterns | dict[Word, Patterns]],
    f"{WORDS}/models.yaml": table(
        "Models",
        fragments=dict[Word, Pattern],
        patterns=dict[Word, Pattern],
        unit=Pattern,
        variants=Pattern,
        families=list[Family],
    ),
    f"{WORDS}/pasted.yaml": dict[Word, list[Pattern]],
    "graph/reading/defining.yaml": dict[Word, list[Pattern]],
    "graph/reading/scope.yaml": dict[Word, list[Pattern]],
    "graph/usecases/own_words.yaml": dict[Word, list[Pattern]],
    "graph/reading/wishes/classes.yaml": dict[Word, list[Word]],
    f"{WORDS}/places.yaml": table(
        "Places",
        machines=dict[Word, list[Word]],
        shy=list[Word],
        heads_only=list[Word],
        not_names=list[Word],
        stores=dict[Word, Word],
        not_sites=list[Word],
        no_machines=list[Word],
    ),
    f"{WORDS}/programs.yaml": dict[Word, list[Word] | dict[Word, Patterns]],
    f"{WORDS}/spelling.yaml": table(
        "Spelling",
        signs=dict[Word, list[Word]],
        endings=list[Word],
        apart=list[Word],
        words=list[Word],
        not_slips=list[Word],
    ),
    f"{WORDS}/words.yaml": table(
        "Words",
        plain=dict[Word, Word],
        meanings=dict[Word, list[Word | StrictInt]],
        numbers=dict[Number, list[Word]],
        spans=dict[Number, list[Word]],
        fillers=list[Word],
        compounds=list[table("Compound", first=dict[Word, StrictInt], joint=StrictStr, then=dict[Word, Number])],
    ),
    "knowledge/cards/*.yaml": tuple[Card, ...],
    "knowledge/causes.yaml": dict[
        Word,
        table(
            "Cause",
            group=Word,
            means=Word,
            says=Word,
            fix=list[Word],
            specific=NotRequired[
                list[
                    table(
                        "Step",
                        line=NotRequired[Pattern],
                        near=NotRequired[Pattern],
                        log=NotRequired[Pattern],
                        unless=NotRequired[Pattern],
                        step=Word,
                    )
                ]
            ],
            by=NotRequired[dict[Setting, list[Word]]],
            change=NotRequired[dict[Word, Word | StrictInt]],
            explains=NotRequired[list[Word]],
            send=NotRequired[list[Word]],
        ),
    ],
    "knowledge/clusters/*.yaml": Cluster,
    "knowledge/framework_builds.yaml": tuple[FrameworkBuilds, ...],
    "knowledge/framework_launch.yaml": tuple[FrameworkLaunch, ...],
    "knowledge/glossary.yaml": tuple[Term, ...],
    "knowledge/gpu_facts.yaml": GpuTable,
    "knowledge/common_questions/*.yaml": tuple[CommonQuestion, ...],
    "knowledge/guides/*.yaml": tuple[Guide, ...],
    "knowledge/job_codes.yaml": JobCodes,
    "knowledge/job_life.yaml": dict[Scheduler, dict[Word, Deed]],
    "graph/answering/declined.yaml": list[table("DeclinedWish", asked=Pattern, said=Word)],
    "knowledge/schedulers/anywhere.yaml": dict[
        Scheduler,
        table(
            "AnywhereForm",
            submit=Word,
            preamble=NotRequired[list[Word]],
            drafted=table(
                "DraftedForm",
                port=Word,
                processors=list[Word],
                queue=Word,
                account=Word,
                tells=list[Word],
                **FORM,
            ),
            discovered=table(
                "DiscoveredForm",
                port=Word,
                unknown=NotRequired[list[Word]],
                whole_nodes=NotRequired[StrictBool],
                options=NotRequired[list[Word]],
                **FORM,
            ),
        ),
    ],
    "knowledge/schedulers/elsewhere.yaml": list[
        table(
            "MachineElsewhere",
            names=list[Word],
            scheduler=NotRequired[Scheduler],
            asks=NotRequired[Word],
            source=Word,
        )
    ],
    "knowledge/schedulers/slurm_columns.yaml": table(
        "SlurmColumns",
        columns=dict[Word, dict[Literal["id", "state", "time", "number", "date", "free", "word", "count"], Word]],
        letters=dict[Literal["squeue", "sinfo"], dict[Word, Word]],
        states=list[tuple[Word, Word, Phase]],
        blocks=dict[Word, tuple[Word, OutputKind]],
        heads=dict[Word, Word],
        own_keys=Word,
        job_keys=Word,
        partition_keys=Word,
        limited=dict[Word, Word],
    ),
    "knowledge/schedulers/limit_reasons.yaml": table(
        "LimitReasons",
        limits=dict[Word, Word],
        running=dict[Word, Word],
        use=Word,
        ask=dict[Word, Word],
        shapes=dict[
            Word,
            table(
                "LimitShape",
                kind=WaitKind,
                starts=Literal["yes", "no", "depends"],
                says=dict[Word, Word],
                look=list[Word],
                do=list[list[Word]],
                but=NotRequired[StrictBool],
                ask=NotRequired[StrictBool],
                who=NotRequired[Word],
            ),
        ],
    ),
    "knowledge/schedulers/output_tables.yaml": table(
        "OutputTables",
        tables=list[
            table(
                "OutputTable",
                scheduler=Scheduler,
                command=Word,
                kind=OutputKind,
                needs=list[list[Word]],
                columns=NotRequired[dict[Word, list[Word]]],
            )
        ],
        states=dict[Scheduler, dict[Word, Phase]],
        after=dict[Word, Word],
        defaults=list[table("DefaultColumns", command=Word, columns=list[Word])],
    ),
    "knowledge/launchers/programs.yaml": table(
        "LauncherFile",
        sets=dict[Word, table("OptionWords", **OPTION_WORDS)],
        programs=list[
            table(
                "LauncherRow",
                name=Word,
                kind=Kind,
                called=NotRequired[Word],
                options=NotRequired[Word],
                slurm=NotRequired[Literal["srun", "salloc", "sbatch"]],
                before=NotRequired[StrictInt],
                subcommands=NotRequired[Word],
                underscores=NotRequired[StrictBool],
                of=NotRequired[Scheduler],
                whose=NotRequired[Word],
                ranks=NotRequired[dict[Literal["rank", "local_rank"], Word]],
                **OPTION_WORDS,
            )
        ],
        housekeeping=Word,
        modules=dict[Word, Word],
        transparent_modules=Word,
        python_values=Word,
    ),
    "knowledge/launchers/slurm.yaml": table(
        "SlurmTable",
        source=Word,
        as_of=Word,
        releases=list[Word],
        options=dict[
            Word,
            table(
                "Option",
                letter=NotRequired[Word],
                takes=Literal["value", "nothing", "optional"],
                commands=list[Word],
                since=NotRequired[Word],
                until=NotRequired[Word],
            ),
        ],
        aliases=dict[Word, Word],
        plugins=dict[Word, Word],
    ),
    "knowledge/masking_evidence.yaml": table("Evidence", words=dict[Word, Word], forms=dict[Word, Pattern]),
    "knowledge/masking_public.yaml": tuple[
        table("PublicShape", pattern=Pattern, example=Word, named=NotRequired[StrictBool]), ...
    ],
    "knowledge/model_shapes.yaml": ModelShapes,
    "knowledge/served_models.yaml": ServedModels,
    "knowledge/network_env.yaml": NetworkFacts,
    "knowledge/options.yaml": tuple[OptionFact, ...],
    "knowledge/schedulers/reason_data/*.yaml": ReasonFile,
    "knowledge/signatures/*.yaml": table(
        "Signatures",
        about=NotRequired[Word],
        source=NotRequired[Word],
        signatures=list[dict[Word, StrictStr | StrictBool | Number | list | dict]],
    ),
    "knowledge/sites/*.yaml": Site,
    "knowledge/topic_texts.yaml": dict[Word, TopicText],
    "knowledge/background.yaml": tuple[Background, ...],
    "knowledge/program_settings.yaml": ProgramTable,
    "knowledge/techniques.yaml": TechniqueTable,
    "knowledge/training_tools.yaml": TrainingTools,
    "knowledge/what_helps.yaml": tuple[Help, ...],
}
