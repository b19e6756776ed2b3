"""The options that each batch system takes in directives, and the shapes of their values."""

from __future__ import annotations

import re

from graph.verification.checks.words import WORDS
from knowledge.slurm_options import slurm_options
from knowledge.word_lists import word_set

SBATCH_OPTIONS = slurm_options().of("sbatch")
SLURM_LONG = frozenset(SBATCH_OPTIONS) | frozenset(slurm_options().aliases)
SLURM_PLUGINS = frozenset(slurm_options().plugins)
SLURM_LETTERS = frozenset(one.letter for one in SBATCH_OPTIONS.values() if one.letter)
PBS_LETTERS = frozenset("AaCcehIJjkLlMmNnoPpqrRSstuVvWwXxzdfGD")
PBS_RESOURCES = word_set(WORDS["pbs_resources"])
LSF_OPTIONS = word_set(WORDS["lsf_options"])
FLUX_LONG = word_set(WORDS["flux_options"])
FLUX_LETTERS = frozenset("BqtonNcgxSOuvlw")

MARKS = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "#flux:"}
SUBMITS = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub", "flux": "flux batch"}
TIME_OPTION = {"slurm": "time", "pbs": "walltime", "lsf": "time", "flux": "time-limit"}

# What each takes for a walltime, and how that is written.
WALLTIMES = {
    "slurm": re.compile(r"\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}|-1|unlimited|infinite", re.I),
    "pbs": re.compile(r"\d+(:\d{1,2}){0,3}(\.\d+)?"),
    "lsf": re.compile(r"(\d+:)?\d+(/[\w.-]+)?"),
    "flux": re.compile(r"\d+(\.\d+)?(ms|[smhd])?|inf|infinity", re.I),
}
WALLTIME_FORMS = {
    "slurm": "minutes, HH:MM:SS or D-HH:MM:SS",
    "pbs": "HH:MM:SS or seconds",
    "lsf": "minutes or HH:MM; LSF takes no seconds",
    "flux": "a number with its unit, such as 90m or 2h; Flux takes no HH:MM:SS",
}
