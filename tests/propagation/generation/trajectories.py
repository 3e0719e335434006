"""Trajectories as reconstruction makes them from narrated recordings, written out by hand."""

from __future__ import annotations

from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.records.condition import Condition, FileExists, FileText, ScreenText, WindowTitle
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Target, Trajectory


class Script:
    """Actions one after the other, one second apart; `title` is what the active window is called from then on."""

    def __init__(self, title: str = "") -> None:
        self.steps: list[Step] = []
        self._title = title

    def do(self, kind: str, target: Target | None = None, title: str | None = None, **args: Any) -> Script:
        now = 10.0 + len(self.steps)
        action = Action(action=CUAAction(kind, args), target=target, t_start=now, t_end=now + 0.1)
        self.steps.append(Step(observation=self._seen(now - 0.5), actions=(action,)))
        self._title = self._title if title is None else title
        return self

    def click(self, text: str = "", role: str = "", title: str | None = None, **args: Any) -> Script:
        target = Target.model_validate({"text": text, "role": role, "at": None if text else (0.4, 0.4)})
        return self.do("mouse.click", target, title, x=400.0, y=400.0, **args)

    def type(self, text: str) -> Script:
        return self.do("keyboard.type", text=text)

    def press(self, *keys: str, title: str | None = None) -> Script:
        return self.do("keyboard.press", None, title, keys=list(keys))

    def trajectory(
        self, app: str, start: tuple[Condition, ...], goal: Condition | None, video: str | None = "video-1"
    ) -> Trajectory:
        return Trajectory(
            origin="video",
            task_id="segment-1",
            instruction="do it",
            app=app,
            steps=tuple(self.steps),
            final=self._seen(99.0),
            start_state=start,
            verifier=goal,
            lineage=Lineage(video_id=video, t_start=10.0, t_end=99.0),
        )

    def _seen(self, t: float) -> Observation:
        return Observation(screenshot=f"{int(t):064d}", width=1280, height=800, t=t, active_window=self._title)


def editor_saves_new_file() -> Trajectory:
    """Type a line, File > Save As, name, Save."""
    script = Script("Untitled 1 - Editor").click(role="area").type("milk, eggs and bread")
    script.click("File", "menu").click("Save As", "menuitem").type("groceries.txt").click(
        "Save", "button", title="~/groceries.txt - Editor"
    )
    start = (WindowTitle(app="editor", title="Untitled", active=True),)
    return script.trajectory(
        "editor", start, FileText(path="~/groceries.txt", text="milk, eggs and bread", match="contains")
    )


def editor_replaces_a_word() -> Trajectory:
    """Search > Find and Replace, two fields, Replace All, Close, File > Save."""
    script = (
        Script("~/groceries.txt - Editor").click("Search", "menu").click("Find and Replace", "menuitem").type("bread")
    )
    script.click("Replace with:", "field").type("cheese").click("Replace all in:", "checkbox")
    script.click("Replace All", "button").click("Close", "button").click("File", "menu").click("Save", "menuitem")
    start = (
        WindowTitle(app="editor", title="groceries.txt", active=True),
        FileExists(path="~/groceries.txt", type="file"),
        ScreenText(app="editor", text="milk, eggs and bread"),
    )
    return script.trajectory("editor", start, FileText(path="~/groceries.txt", text="cheese", match="contains"))


def files_makes_and_opens_a_folder() -> Trajectory:
    """Right-click, Create New > Folder, name, Enter; double-click the folder."""
    script = (
        Script("user").click(role="area", button="right").click("Create New", "menuitem").click("Folder", "menuitem")
    )
    script.type("reports").press("enter").click("reports", "item", title="reports", count=2)
    start = (WindowTitle(app="files", title="user", active=True),)
    return script.trajectory("files", start, FileExists(path="~/reports", type="dir"))
