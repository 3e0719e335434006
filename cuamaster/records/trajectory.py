"""Trajectories {o_1, a_1, ..., o_S, a_S, o_S+1}: observations, batches of actions, and where they came from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator

from cuamaster.action_space import CUAAction
from cuamaster.records.condition import Condition
from cuamaster.records.record import Record, content_id


class TextBox(Record):
    """Text read on a picture; corners in pixels."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    score: float = 1.0

    @property
    def center(self) -> tuple[float, float]:
        """Middle of the box in pixels."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2


class Window(Record):
    """One window: application, title, geometry in pixels."""

    app: str
    title: str
    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0


class StateSignature(Record):
    """Light state of a desktop (seed: active app, window layout, relevant files, controller metadata)."""

    active: Window | None
    windows: tuple[Window, ...] = ()
    files: dict[str, str] = Field(default_factory=dict, description="path -> SHA-256, or '' when absent")
    controller: dict[str, str] = Field(default_factory=dict)


class Observation(Record):
    """What the policy sees: a screenshot blob, its size in pixels, and the last shell/tool answer."""

    screenshot: str = Field(description="SHA-256 of the PNG blob")
    width: int
    height: int
    t: float = Field(default=0.0, description="seconds: in the video, or since the episode began")
    active_window: str = ""
    response: str = Field(default="", description="stdout/stderr/status of shell.exec or the answer of tool.call")
    feedback: str = Field(default="", description="diagnostic hint shown after a rollback; never exported")
    scene: str = Field(
        default="",
        exclude_if=lambda digest: not digest,  # what was recorded without one keeps its id
        description="SHA-256 of the Scene beside the picture (canonical JSON): windows, pointer, accessibility tree",
    )


Role = Literal["", "menu", "menuitem", "button", "tab", "checkbox", "field", "item", "icon", "titlebar", "area", "cell"]


class Target(Record):
    """A named thing on the screen: what a click is meant for, found again by reading the screen."""

    text: str = Field(default="", description="label as shown; may hold {parameters}")
    role: Role = ""
    near: str = Field(default="", description="another label close to it, to tell equal labels apart")
    window: str = Field(default="", description="title part or app of the window it is in; empty: active window")
    nth: int = Field(default=1, ge=1)
    at: tuple[float, float] | None = Field(
        default=None, description="0-1 position inside the window (screen if none), when there is no text"
    )


class Action(Record):
    """One executed or reconstructed action with its named target and evidence."""

    action: CUAAction
    target: Target | None = None
    t_start: float = 0.0
    t_end: float = 0.0
    confidence: float = Field(default=1.0, ge=0, le=1)
    evidence: str = Field(default="", description="narration, visual, cursor, review ... that support it")

    @field_validator("action", mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if isinstance(value, CUAAction):
            value.validate()
            return value
        return CUAAction.from_dict(value)

    @field_serializer("action")
    def _plain(self, value: CUAAction) -> dict[str, Any]:
        return value.to_dict()


class Step(Record):
    """Observation, then the batch of actions taken on it."""

    observation: Observation
    actions: tuple[Action, ...] = Field(min_length=1)
    thought: str = ""
    primitive: str = Field(default="", description="id of the primitive this step belongs to, if known")


class Lineage(Record):
    """Where a trajectory or task comes from: videos with times, the composed task's primitives, or another dataset."""

    source: str = Field(
        default="",
        exclude_if=lambda name: not name,  # everything older keeps its id
        description="dataset and the record's id there, e.g. `agentnet:2024...`, for what was imported",
    )
    video_id: str | None = None
    video_url: str | None = None
    t_start: float | None = None
    t_end: float | None = None
    segment_id: str | None = None
    primitive_ids: tuple[str, ...] = ()
    license: str | None = None


Proof = Literal["verified", "replayed", "none"]
"""verified: the verifier passed on the VM; replayed: a video's actions, replayed on the VM, reached V; none: unproven."""


class Trajectory(Record):
    """An instruction and how it was done, from a video, from a desktop, or from somebody else's dataset."""

    origin: Literal["video", "collected", "imported"]
    task_id: str
    instruction: str
    app: str
    steps: tuple[Step, ...]
    final: Observation
    start_state: tuple[Condition, ...] = Field(
        default=(), description="the seed task's E, derived from the first frames"
    )
    verifier: Condition | None = Field(
        default=None, description="the seed task's V; None leaves the trajectory unproven"
    )
    lineage: Lineage
    annotator: str = ""

    @property
    def id(self) -> str:
        """Content id."""
        return content_id("trajectory", self)
