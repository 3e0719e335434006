"""What a search brought, so that the next round spends its requests where they paid."""

from __future__ import annotations

from pydantic import Field

from cuamaster.records.record import Record, content_id


class Searched(Record):
    """One query as it was asked in one round, and what became of its candidates."""

    text: str
    app: str
    provider: str
    language: str
    offset: int = Field(ge=0, description="results that earlier rounds had seen")
    limit: int = Field(ge=1, description="results asked for after those")
    candidates: int = Field(ge=0, description="results that came")
    new: int = Field(ge=0, description="of those, known from no other query of the round")
    kept: int = Field(ge=0, description="of those, videos in which a task was found")
    tasks: int = Field(ge=0, description="tasks found in them")

    @property
    def id(self) -> str:
        """Content id."""
        return content_id("searched", self)

    @property
    def exhausted(self) -> bool:
        """Nothing came: nothing lies behind. Fewer than asked for is no sign of that, for providers leave out what was fetched before."""
        return self.candidates == 0
