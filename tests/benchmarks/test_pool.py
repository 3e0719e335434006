"""The measurement of the pool runs, on a handful of slots, and leaves no lease behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pool import episodes, table_rates


@pytest.mark.slow
def test_a_small_measurement(tmp_path: Path) -> None:
    where = str(tmp_path / "leases.sqlite")
    rates = table_rates(where, slots=110, seconds=0.2, collectors=2)
    assert rates["slots_taken"] == 10 and rates["leases_per_s"] > 0
    found = episodes(where, slots=20, seconds=0.1, collectors=2)
    assert (found["desktops"], found["left_behind"]) == (20, 0)
