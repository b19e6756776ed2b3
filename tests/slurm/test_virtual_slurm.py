"""The virtual Slurm itself: several at once, their limits, and nothing left behind."""

from __future__ import annotations

import pytest
from slurm_from_facts import features, places
from virtual_slurm import missing, small

from knowledge.catalogue import catalogue

CLUSTERS = catalogue().clusters


@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_two_run_side_by_side_and_leave_nothing() -> None:
    with small(CLUSTERS["delta"]) as one, small(CLUSTERS["leonardo"]) as other:
        assert "gpuA100x4" in one.run("sinfo").stdout and "boost_usr_prod" in other.run("sinfo").stdout
        sent = one.run("sbatch", "--nodes=2", "--output=/dev/null", "--wrap=srun sleep 300")
        assert sent.returncode == 0, sent.stderr
        assert other.run("squeue", "--noheader").stdout == ""
        assert one.strays() and other.strays()
    for slurm in (one, other):
        assert not slurm.folder.exists() and slurm.strays() == []
        assert all(child.poll() is not None for child in slurm.children)


def test_walltimes_that_depend_on_nodes_and_qos_are_limits(whole_slurm) -> None:  # type: ignore[no-untyped-def]
    """Clariden's debug partition: four nodes for 22 minutes, one for 90. Leonardo's debug QOS: 30 minutes."""
    alps, leonardo = whole_slurm("alps-clariden"), whole_slurm("leonardo")

    def takes(slurm, *options: str) -> bool:  # type: ignore[no-untyped-def]
        return slurm.run("sbatch", "--test-only", *options, "--wrap=true").returncode == 0

    assert takes(alps, "-p", "debug", "-N1", "-t90") and takes(alps, "-p", "debug", "-N4", "-t22")
    assert not takes(alps, "-p", "debug", "-N4", "-t23") and not takes(alps, "-p", "debug", "-N1", "-t91")
    debug = ("-p", "boost_usr_prod", "-q", "boost_qos_dbg")
    assert takes(leonardo, *debug, "-t30") and not takes(leonardo, *debug, "-t31")


def test_queues_are_read_from_the_directives() -> None:
    named = {place.queue.id: (place.partition, place.qos) for place in places(CLUSTERS["leonardo"])}
    assert named["boost_usr_prod"] == ("boost_usr_prod", "")
    assert named["boost_qos_dbg"] == ("boost_usr_prod", "boost_qos_dbg")
    assert {place.partition for place in places(CLUSTERS["perlmutter"])} == {"all"}
    perlmutter = CLUSTERS["perlmutter"]
    assert features(perlmutter, perlmutter.node_type("gpu-a100-40")) == {"gpu"}
    assert features(perlmutter, perlmutter.node_type("gpu-a100-80")) == {"gpu", "hbm80g"}
