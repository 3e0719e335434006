"""Primitives p = (application, ability, preconditions, environment needs, verifier fragment) with a procedure and evidence."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import Field

from cuamaster.records.condition import Condition
from cuamaster.records.record import Record, content_id
from cuamaster.records.trajectory import Target

Mode = Literal["gui", "cli", "mixed"]


class Parameter(Record):
    """A hole in a primitive: its meaning, kind and values to draw from when composing."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: Literal["text", "path", "filename", "dirname", "number", "choice"] = "text"
    description: str = ""
    examples: tuple[str, ...] = Field(min_length=1)
    paired_with: str = Field(
        default="", description="parameter whose n-th example goes with the n-th here, e.g. a sum and its result"
    )


class ActionTemplate(Record):
    """One action with a named target instead of coordinates and {parameters} instead of values.

    `args` are those of the action type without x/y (filled from `target`); for mouse.drag `target` and `to` are the two ends.
    """

    type: str
    target: Target | None = None
    to: Target | None = None
    args: dict[str, Any] = Field(default_factory=dict)
    say: str = Field(default="", description="the step in words, used as the thought")


class Procedure(Record):
    """Ordered templates that turn preconditions into effects in one mode."""

    mode: Literal["gui", "cli"]
    steps: tuple[ActionTemplate, ...] = Field(min_length=1)


class Evidence(Record):
    """Where a primitive was seen: a video and its times, or a recorded demonstration on the VM and its frames."""

    kind: Literal["video", "demonstration"]
    source: str = Field(min_length=1, description="video id/url, or image digest of the demonstration")
    t_start: float | None = None
    t_end: float | None = None
    trajectory_id: str | None = None
    frames: tuple[str, ...] = Field(default=(), description="SHA-256 of before/after frames")


class SetupStep(Record):
    """One typed action that brings about a start state.

    For app.launch, `text` is a part of the title its window gets, where that is not the name of the document in `args`. For
    file.bytes `text` is base64, for shell.run a command that must exit 0, for shell.start one that is left running, for
    desktop.act a CUAAction as JSON.
    """

    kind: Literal[
        "file.write", "file.bytes", "dir.make", "app.launch", "setting.write", "clipboard.set", "path.remove", "shell.run",
        "shell.start", "desktop.act",
    ]  # fmt: skip
    path: str = ""
    text: str = ""
    app: str = ""
    args: tuple[str, ...] = ()
    schema_id: str = ""
    key: str = ""
    value: str = ""


class Primitive(Record):
    """A reusable ability of one application."""

    app: str
    ability: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="canonical verb-object slug, e.g. save-as")
    instruction: str = Field(description="imperative sentence with {parameters}")
    parameters: tuple[Parameter, ...] = ()
    preconditions: tuple[Condition, ...] = ()
    requires: tuple[str, ...] = Field(default=(), description="VM capabilities, e.g. app:mousepad")
    effects: tuple[Condition, ...] = Field(min_length=1)
    verifier: Condition = Field(description="fragment V: how its success is checked")
    procedures: tuple[Procedure, ...] = Field(min_length=1)
    setup: tuple[SetupStep, ...] = Field(
        default=(), description="a start state that meets the preconditions, for verification and composition"
    )
    evidence: tuple[Evidence, ...] = ()
    origin: Literal["curated", "extracted"] = "curated"

    @property
    def id(self) -> str:
        """`app.ability-hash`: variants that differ in P, E or V have different ids; evidence does not count."""
        return _id_of(self.app, self.ability, self.preconditions, self.requires, self.verifier, self.effects)

    def procedure(self, mode: Mode) -> Procedure | None:
        """The procedure for a rollout mode; `mixed` prefers cli where one exists."""
        wanted = ("gui",) if mode == "gui" else ("cli",) if mode == "cli" else ("cli", "gui")
        for name in wanted:
            for procedure in self.procedures:
                if procedure.mode == name:
                    return procedure
        return None


@lru_cache(maxsize=1 << 14)
def _id_of(
    app: str,
    ability: str,
    preconditions: tuple[Condition, ...],
    requires: tuple[str, ...],
    verifier: Condition,
    effects: tuple[Condition, ...],
) -> str:
    digest = content_id("p", app, ability, list(preconditions), list(requires), verifier, list(effects))
    return f"{app}.{ability}.{digest[2:10]}"
