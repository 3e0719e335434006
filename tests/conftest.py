"""What every test shares: a workspace of its own, quiet and offline libraries, and one process for all guests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

# A busy machine is no fault of the code: speed is measured in benchmarks/.
hypothesis.settings.register_profile("cuamaster", deadline=None)
hypothesis.settings.load_profile("cuamaster")

# Before any test imports a library that reads these.
os.environ["DO_NOT_TRACK"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] = "false"
# No test may touch the user's Prefect profile or a workspace with data in it.
_SCRATCH = tempfile.TemporaryDirectory(prefix="cuamaster-tests-", ignore_cleanup_errors=True)
os.environ["PREFECT_HOME"] = f"{_SCRATCH.name}/prefect"
os.environ["CUAMASTER_WORKSPACE"] = f"{_SCRATCH.name}/workspace"

# Seconds, fixtures included: the first guest of a session may have to build its image under emulation.
TIMEOUTS = {"vm": 1500, "slow": 900}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep guests in one xdist process (one process owns an embedded libvirt root) and give long tests their time.

    Tests of whole programs bring a root of their own and name another group, so that they run beside the rest.
    """
    for item in items:
        if item.get_closest_marker("vm") and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("vm"))
        if item.get_closest_marker("timeout") is None:
            for marker, seconds in TIMEOUTS.items():
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.timeout(seconds))
                    break


def pytest_unconfigure() -> None:
    """Remove this process's scratch folder."""
    _SCRATCH.cleanup()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace that settings resolve to as well; the cache stays shared, for guest images are costly."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.setenv("CUAMASTER_WORKSPACE", str(folder))
    return folder
