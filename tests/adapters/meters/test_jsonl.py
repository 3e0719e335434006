"""The usage ledger: survives a restart and a torn line, enforces budgets, and names a broken line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.adapters.meters.jsonl import JsonlMeter
from cuamaster.adapters.meters.memory import MemoryMeter
from cuamaster.errors import BudgetExceeded, IntegrityError, StoreFull
from cuamaster.records.episode import Usage

CALL = Usage(endpoint="e", model="m", purpose="p", prompt_tokens=90, completion_tokens=10, cost_usd=0.25, seconds=1.5)


@pytest.mark.parametrize("kind", ["jsonl", "memory"])
def test_sum(tmp_path: Path, kind: str) -> None:
    meter = JsonlMeter(tmp_path / "deep" / "usage.jsonl") if kind == "jsonl" else MemoryMeter()
    assert meter.total().prompt_tokens == 0
    for _ in range(3):
        meter.record(CALL)
    total = meter.total()
    assert (total.prompt_tokens, total.completion_tokens, total.cost_usd, total.seconds) == (270, 30, 0.75, 4.5)


def test_restart_and_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    JsonlMeter(path).record(CALL)
    with path.open("a") as file:
        file.write('{"endpoint": "e", "mod')
    again = JsonlMeter(path)
    again.record(CALL)
    assert JsonlMeter(path).total().cost_usd == 0.5


def test_the_call_that_crosses_a_limit_is_kept_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    meter = JsonlMeter(path, budget_usd=0.3)
    meter.record(CALL)
    meter.check()
    with pytest.raises(BudgetExceeded, match=r"0\.5000 USD"):
        meter.record(CALL)
    assert meter.total().cost_usd == 0.5
    with pytest.raises(BudgetExceeded):
        JsonlMeter(path, budget_usd=0.3).check()
    with pytest.raises(BudgetExceeded, match="200 tokens"):
        JsonlMeter(path, budget_tokens=150).check()


def test_broken_line_and_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    path.write_text(CALL.to_json() + "\nnot json\n")
    with pytest.raises(IntegrityError, match="line 2"):
        JsonlMeter(path)
    full = Path("/dev/full")
    if not full.exists():
        pytest.fail("this test needs /dev/full")
    link = tmp_path / "full.jsonl"
    link.symlink_to(full)
    meter = JsonlMeter(tmp_path / "other.jsonl")
    meter._path = link
    with pytest.raises(StoreFull):
        meter.record(CALL)
    assert meter.total().cost_usd == 0
