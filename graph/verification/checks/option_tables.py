# ruff: noqa: E501
"""The options that each batch system takes in directives, and the shapes of their values."""

from __future__ import annotations

import re

from knowledge.slurm_options import slurm_options
from knowledge.word_lists import word_set

SBATCH_OPTIONS = slurm_options().of("sbatch")
SLURM_LONG = frozenset(SBATCH_OPTIONS) | frozenset(slurm_options().aliases)
SLURM_PLUGINS = frozenset(slurm_options().plugins)
SLURM_LETTERS = frozenset(one.letter for one in SBATCH_OPTIONS.values() if one.letter)
PBS_LETTERS = frozenset("AaCcehIJjkLlMmNnoPpqrRSstuVvWwXxzdfGD")
PBS_RESOURCES = word_set(
    "select walltime place filesystems nodes ncpus ngpus mem vmem pmem pvmem cput pcput file arch host vnode mpiprocs "
    "ompthreads nice software min_walltime max_walltime soft_walltime storage wd jobfs accelerator_model gpu_type procs "
    "feature naccesspolicy qos advres gattr opsys other prologue epilogue flags depend signal trl tpn nodect gpus gputype "
    "daos daos_user singularity preempt_targets partition system broken allow_account_check_failure job_priority "
    "USE_SSH rt_QF rt_HF aoe eoe energy pcap_node exec_vnode site ddt switch chip ppn ssd local"
)
LSF_OPTIONS = word_set(
    "a alloc_flags app ar B b C c clusters cn_cu cn_mem core_isolation csm cwd D data datagrp Da E Ep e env eo eptl ext F f "
    "freq G g gpu gpgpu H hl hostfile I Ip IS ISp ISs Is Isp Iss IX i is J Jd jobaff jsm K k L Lp ln_mem ln_slots M m mig N "
    "n Ne nnodes notify noNe np o oo opt outdir P p pack ptl Q q R Rn r rc rcacct rcp rest rn S s smt sla sp stage step_cgroup "
    "T t tty Tu U u ul v W w wa We wt x XF yaml Zs Zs network"
)
FLUX_LONG = word_set(
    "account bank add-file begin-time bg broker-opts cc bcc conf config cores cores-per-slot cores-per-task cwd dependency "
    "dry-run dump env env-file env-remove error exclusive flags gpus-per-node gpus-per-slot gpus-per-task input job-name "
    "label-io log log-stderr log-level name nodes nslots ntasks output progress queue quiet requires rlimit setattr setopt "
    "signal slots t tasks-per-core tasks-per-node taskmap time-limit unbuffered urgency verbose wait wait-event watch wrap "
    "jps queue bank"
)
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
