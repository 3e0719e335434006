"""Settings: where desktops come from, how tasks are composed, what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from cuamaster.cli.options import settings_of
from cuamaster.errors import InvalidInput
from cuamaster.propagation.generation.composer import EVENLY
from cuamaster.settings import Host, Settings


def test_one_host_is_the_default_and_several_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(vm_capacity=3).desktop_hosts == (Host(uri="", capacity=3),)
    monkeypatch.setenv("CUAMASTER_HOSTS", '[{"capacity": 2}, {"uri": "qemu:///system", "capacity": 4}]')
    assert Settings().desktop_capacity == 6
    assert [host.uri for host in Settings().desktop_hosts] == ["", "qemu:///system"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hosts": [{"capacity": 0}]}, "greater than or equal to 1"),
        ({"hosts": [{}, {"uri": "qemu:///embed?root=/x"}]}, "one embedded host"),
        ({"hosts": [{"uri": "qemu:///system"}] * 2}, "every host once"),
        ({"hosts": [{"uri": "qemu+ssh://elsewhere/system"}]}, "own machine"),
        ({"hosts": [{"url": "qemu:///system"}]}, "Extra inputs"),
        ({"leases_url": "mysql://x"}, "postgresql://"),
        ({"lease_ttl_s": 0.1}, "greater than or equal to 1"),
        ({"branches": 0}, "greater than or equal to 1"),
        ({"strategies": {}}, "a share above 0"),
        ({"strategies": {"sequential": 0}}, "a share above 0"),
        ({"strategies": {"sequential": -1, "parameterized": 1}}, "greater than or equal to 0"),
        ({"strategies": {"sequential": "inf"}}, "finite"),
        ({"strategies": {"sideways": 1}}, "state_dependent"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Settings(**given)  # type: ignore[arg-type]


def test_every_strategy_of_the_composer_has_the_same_share_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().strategies == EVENLY
    monkeypatch.setenv("CUAMASTER_STRATEGIES", '{"sequential": 1, "cross_app_handoff": 3}')
    assert Settings().strategies == {"sequential": 1, "cross_app_handoff": 3}


def test_a_wrong_part_of_a_setting_is_told_with_the_variable_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUAMASTER_STRATEGIES", '{"sequential": -1}')
    with pytest.raises(InvalidInput, match=r"strategies\.sequential.*variable CUAMASTER_STRATEGIES\)"):
        settings_of(None)
