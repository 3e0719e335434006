"""A ledger that lives as long as the process: for runs without an endpoint, and for tests."""

from __future__ import annotations

from cuamaster.records.episode import Usage


class MemoryMeter:
    """Meter without a file and without limits."""

    def __init__(self) -> None:
        self._calls: list[Usage] = []

    def record(self, usage: Usage) -> None:
        """Keep one call."""
        self._calls.append(usage)

    def total(self) -> Usage:
        """Sum so far."""
        return Usage(
            endpoint="memory", model="", purpose="",
            prompt_tokens=sum(call.prompt_tokens for call in self._calls),
            completion_tokens=sum(call.completion_tokens for call in self._calls),
            cost_usd=sum(call.cost_usd for call in self._calls),
            seconds=sum(call.seconds for call in self._calls),
        )  # fmt: skip
