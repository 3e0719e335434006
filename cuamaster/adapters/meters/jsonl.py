"""The usage ledger: one JSON line a model call, fsynced; budgets in USD and tokens are enforced before a call and when it is recorded."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from pydantic import ValidationError

from cuamaster.errors import BudgetExceeded, IntegrityError, storing
from cuamaster.records.episode import Usage


class JsonlMeter:
    """Meter over a file that outlives the process; a torn last line (power cut) is ignored and overwritten.

    The call that crosses a limit is still recorded, for it was paid; then, and on every later call, BudgetExceeded.
    """

    def __init__(self, path: Path, *, budget_usd: float | None = None, budget_tokens: int | None = None) -> None:
        self._path, self._budget_usd, self._budget_tokens = path, budget_usd, budget_tokens
        self._lock = threading.Lock()
        self._calls = self._read()

    def record(self, usage: Usage) -> None:
        """Append one call; raises BudgetExceeded once a limit is passed, StoreFull when the disk is full."""
        with self._lock:
            with storing(self._path):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(usage.to_json() + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            self._calls.append(usage)
        self.check()

    def check(self) -> None:
        """Raise BudgetExceeded if a limit is passed already; call it before spending."""
        spent = self.total()
        tokens = spent.prompt_tokens + spent.completion_tokens
        if self._budget_usd is not None and spent.cost_usd > self._budget_usd:
            raise BudgetExceeded(
                f"{spent.cost_usd:.4f} USD spent, the budget is {self._budget_usd:g}", hint="raise api_budget_usd"
            )
        if self._budget_tokens is not None and tokens > self._budget_tokens:
            raise BudgetExceeded(
                f"{tokens} tokens spent, the budget is {self._budget_tokens}", hint="raise api_budget_tokens"
            )

    def total(self) -> Usage:
        """Sum over all calls; endpoint, model and purpose are joined names."""
        with self._lock:
            calls = list(self._calls)
        return Usage(
            endpoint=",".join(sorted({call.endpoint for call in calls})),
            model=",".join(sorted({call.model for call in calls})),
            purpose=",".join(sorted({call.purpose for call in calls})),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            completion_tokens=sum(call.completion_tokens for call in calls),
            cost_usd=sum(call.cost_usd for call in calls),
            seconds=sum(call.seconds for call in calls),
        )

    def _read(self) -> list[Usage]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        whole, _, torn = data.rpartition(b"\n")
        if torn:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + 1 if whole else 0)
        calls = []
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                calls.append(Usage.model_validate(json.loads(line)))
            except (ValidationError, json.JSONDecodeError) as exc:
                raise IntegrityError(
                    f"{self._path}, line {number}: not a usage record: {exc}", hint="move the ledger away"
                ) from exc
        return calls
