"""How well policies do at first attempts, cut along one dimension at a time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuamaster.records.record import Record, content_id

Dimension = Literal["domain", "app", "ability", "k", "n", "failure"]
"""`ability` is `application.ability`, as primitives are named."""


class ProfileRow(Record):
    """First attempts of one policy in one slice; for `failure` the value is the failure's kind and `attempts` counts them."""

    policy: str
    by: Dimension
    value: str
    attempts: int = Field(
        ge=0, description="judged first attempts: neither infrastructure nor an injected fault decided them"
    )
    passed: int = Field(ge=0)
    injected: int = Field(default=0, ge=0, description="left out: only an injected fault failed them")
    infra: int = Field(default=0, ge=0, description="left out: outcome infra, setup, verifier or drift")

    @property
    def id(self) -> str:
        """Content id."""
        return content_id("profile", self)

    @property
    def rate(self) -> float | None:
        """Share of first attempts that passed; None without any."""
        return self.passed / self.attempts if self.attempts else None
