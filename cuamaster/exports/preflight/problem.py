"""What can be wrong with a dataset: every check with its level, and the rules by which one release is judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from cuamaster.records.record import Record

Level = Literal["blocking", "warning", "off"]

INTEGRITY: Mapping[str, tuple[Level, str]] = {
    "readable": ("blocking", "the file opens and every row can be read"),
    "manifest": ("blocking", "files are there with the bytes and the SHA-256 that manifest.json names"),
    "schema": ("blocking", "columns, types and `huggingface` features are the documented ones"),
    "row-group": ("blocking", "row groups are bounded in bytes, so that readers need bounded memory"),
    "repeated": ("blocking", "no id occurs twice in a configuration"),
    "proof": ("blocking", "proven and unproven trajectories lie in their own files"),
    "steps": ("blocking", "steps parse as records of the action space"),
    "coordinates": ("blocking", "every coordinate lies inside the picture"),
    "hint": ("blocking", "no step carries feedback of the collection"),
    "messages": ("blocking", "messages are what the dialect renders for the steps"),
    "conversation": ("blocking", "the string turns are the same turns as the messages"),
    "tools": ("blocking", "tool schemas are the dialect's"),
    "answer": ("blocking", "every answer parses to its step's actions"),
    "finish": ("blocking", "the last step and no other ends the task"),
    "images": ("blocking", "pictures are there, decode, match their hash and their size, one for each placeholder"),
    "black": ("blocking", "no picture is black"),
    "blank": ("warning", "no picture is of a single colour"),
    "frozen": ("warning", "the screen changes in the course of a trajectory"),
    "instruction": ("blocking", "every row has an instruction with words in it"),
    "task": ("blocking", "a task is the one that was released, its verifier has the hash it names"),
    "oracle": ("blocking", "no plan is in what a policy sees"),
    "prompt": ("blocking", "a prompt is what the dialect renders and holds nothing of the verifier"),
    "difficulty": ("blocking", "K and N are those of the plan"),
    "certificate": ("blocking", "every task has a released certificate of its own, from the image it names"),
}
"""Checks of what the exporters promise. They look at rows and pictures alone and decide nothing about contents."""

CONTENT: Mapping[str, tuple[Level, str]] = {
    "long-instruction": ("warning", "instructions are short enough for a prompt"),
    "duplicate": ("blocking", "no trajectory occurs twice: instruction, actions and pictures"),
    "similar": ("warning", "no two rows share instruction and actions"),
    "split-leak": ("blocking", "no video, primitive or task is in more than one split"),
    "secret": ("blocking", "no password, key or token is in texts (and pictures, if they were read)"),
    "personal": ("blocking", "no mail address, phone, card, account or social security number"),
    "trace": ("warning", "no public address of a machine and no path through somebody's home folder"),
    "license": ("blocking", "the license of all sources is one that was allowed"),
    "license-unknown": ("warning", "the license of every source is stated"),
    "contaminated": ("blocking", "no instruction equals or overlaps one of the given benchmarks"),
    "contaminated-meaning": ("warning", "no instruction means what one of the given benchmarks asks"),
    "balance": ("warning", "no class dominates its column"),
}
"""Checks of what the rows say: matters of the release, not of the files."""

CHECKS: Mapping[str, tuple[Level, str]] = {**INTEGRITY, **CONTENT}

PERMISSIVE = (
    "CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Unlicense", "PDDL-1.0",
)  # fmt: skip
"""Licenses under which derived data may be passed on, with attribution at most."""


class Problem(Record):
    """Something wrong in one file; `row` is the row's id, '' for the file itself."""

    file: str
    row: str
    check: str
    detail: str
    level: Level = "blocking"


class Rules(Record):
    """How strict a preflight is."""

    levels: Mapping[str, Level] = Field(default_factory=dict, description="check -> another level than the usual one")
    checks: tuple[str, ...] = Field(default=tuple(CHECKS), description="the checks to make")
    licenses: tuple[str, ...] = PERMISSIVE
    phone_regions: tuple[str, ...] = Field(
        default=("US",), description="ISO countries whose national phone numbers are looked for beside +international ones"
    )  # fmt: skip
    benchmarks: tuple[Path, ...] = Field(default=(), description="JSONL files of instructions to keep out")
    ngram: int = Field(default=4, ge=2, description="words a gram of the overlap check")
    overlap: float = Field(default=0.5, gt=0, le=1, description="share of a benchmark's grams that is too much")
    similarity: float = Field(default=0.85, gt=0, le=1, description="cosine of embeddings that is too close")
    dominance: float = Field(default=0.6, gt=0, le=1, description="share of one class that is out of balance")
    longest_instruction: int = Field(default=8000, description="characters")

    @field_validator("levels", "checks")
    @classmethod
    def _known(cls, value: Mapping[str, Level] | tuple[str, ...]) -> Mapping[str, Level] | tuple[str, ...]:
        unknown = [name for name in value if name not in CHECKS]
        if unknown:
            raise ValueError(f"no such check: {', '.join(unknown)}; there are {', '.join(CHECKS)}")
        return value

    def level(self, check: str) -> Level:
        """blocking, warning or off."""
        if check not in self.checks:
            return "off"
        return self.levels.get(check, CHECKS[check][0])

    def wants(self, *checks: str) -> bool:
        """Whether any of the checks is on."""
        return any(self.level(check) != "off" for check in checks)


EXPORT_RULES = Rules(checks=tuple(INTEGRITY))
"""What every export must pass before it replaces an older one."""
