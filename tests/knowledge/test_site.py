"""Daily life on each machine: every file reads strictly, and what people ask first is there."""

import pytest

from knowledge.catalogue import SHIPPED
from knowledge.site import SITES, site_of

MACHINES = sorted(path.stem for path in SHIPPED.glob("*.yaml"))


@pytest.mark.parametrize("machine", MACHINES)
def test_each_machine_tells_how_to_log_in_find_the_account_and_get_help(machine: str) -> None:
    site = site_of(machine)
    assert site is not None
    assert (site.login.hosts or site.retired) and site.account.find_mine and site.watch.cancel and site.support.text
    assert all(address.startswith("https://") for address in site.pages.values())


def test_no_file_is_without_its_machine() -> None:
    assert sorted(path.stem for path in SITES.glob("*.yaml")) == MACHINES


def test_a_machine_that_nobody_wrote_down_has_none() -> None:
    assert site_of("nowhere") is None
