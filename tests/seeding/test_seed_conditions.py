"""Start states and verifiers from what was done and what the ends of a span show."""

from __future__ import annotations

from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.records.condition import Condition
from cuamaster.records.trajectory import Action, Target, TextBox
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.seed_conditions import derive


class _Pictures:
    """Stands for the footage: a moment is its own picture."""

    def frame(self, t: float) -> float:
        return t


class _Ends:
    """Stands for the scene: what is read before the first action and after the last."""

    def __init__(self, first: list[str], last: list[str]) -> None:
        self.footage, self.reader, self._first, self._last = _Pictures(), self, first, last

    def read(self, t: float, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        lines = self._first if t < 50 else self._last
        boxes = [TextBox(text=text, x0=10, y0=20.0 * i, x1=200, y1=20.0 * i + 15) for i, text in enumerate(lines)]
        if region is None:
            return boxes
        alone = [box for box in boxes if region[1] <= box.y0 and box.y1 <= region[3]]
        return [
            box.model_copy(update={"text": box.text.replace("~", "-")}) for box in alone
        ]  # a tilde is misread every other time


def _click(text: str, **more: Any) -> Action:
    return Action(
        action=CUAAction("mouse.click", {"x": 1.0, "y": 1.0, **more}), target=Target(text=text), t_start=1.0, t_end=1.0
    )


def _type(text: str) -> Action:
    return Action(action=CUAAction("keyboard.type", {"text": text}), t_start=1.0, t_end=1.0)


def _press(*keys: str) -> Action:
    return Action(action=CUAAction("keyboard.press", {"keys": list(keys)}), t_start=1.0, t_end=1.0)


def _derive(actions: list[Action], first: list[str], last: list[str]) -> tuple[list[Condition], list[Condition]]:
    segment = TaskSegment(video_id="v", index=0, t_start=0, t_end=90, instruction="x", app="editor", annotator="rules")
    start, goal = derive(actions, _Ends(first, last), segment, final_t=99.0)  # type: ignore[arg-type]
    return list(start), list(getattr(goal, "of", [goal])) if goal is not None else []


def _facts(conditions: list[Condition]) -> set[tuple[str, ...]]:
    """Kind and fields of each condition, `not` in front of a negated one."""
    facts = set()
    for condition in conditions:
        inner = condition.of if condition.kind == "not" else condition
        values = [str(v) for k, v in inner.model_dump(exclude_defaults=True).items() if k != "kind"]  # type: ignore[union-attr]
        facts.add((*(("not",) if condition.kind == "not" else ()), inner.kind, *values))  # type: ignore[union-attr]
    return facts


@pytest.mark.parametrize("asked", [_click("Save As..."), _press("ctrl", "shift", "s"), _press("ctrl", "s")])
@pytest.mark.parametrize("confirmed", [_click("Save"), _press("enter")])
def test_saving_under_a_name(asked: Action, confirmed: Action) -> None:
    start, goal = _derive(
        [_type("a note"), asked, _type("note.txt"), confirmed], ["Untitled 1 - Editor"], ["note.txt - Editor"]
    )
    assert _facts(goal) == {("file.exists", "~/note.txt", "file"), ("file.text", "~/note.txt", "a note")}
    assert ("not", "file.exists", "~/note.txt") in _facts(start)
    assert ("window.title", "Untitled", "editor", "True") in _facts(start)


def test_the_place_of_a_saved_file_is_read_where_it_is_shown() -> None:
    actions = [_click("Save As"), _type("sums"), _click("Save")]
    _, goal = _derive(actions, ["Book1 - Sheets"], ["~/Documents/sums.ods - Sheets"])
    assert _facts(goal) == {("file.exists", "~/Documents/sums.ods", "file")}
    _, goal = _derive(actions, ["Book1 - Sheets"], ["/home/somebody/sums.ods - Sheets"])
    assert _facts(goal) == {("file.exists", "~/sums.ods", "file")}


def test_text_is_promised_only_of_plain_text_files() -> None:
    _, goal = _derive([_type("7"), _click("Save As"), _type("sums.ods"), _click("Save")], ["Book1"], ["sums.ods"])
    assert _facts(goal) == {("file.exists", "~/sums.ods", "file")}


def test_replacing_and_saving() -> None:
    actions = [_type("bread"), _type("cheese"), _click("Replace All"), _click("Close"), _click("Save")]
    start, goal = _derive(
        actions, ["~/list.txt - Editor", "bread and milk"], ["~/list.txt - Editor", "cheese and milk"]
    )
    assert _facts(goal) == {
        ("file.text", "~/list.txt", "cheese", "contains"),
        ("not", "file.text", "~/list.txt", "bread", "contains"),
    }
    assert ("file.text", "~/list.txt", "bread", "contains") in _facts(start)
    assert ("window.title", "list.txt", "editor", "True") in _facts(start)


def test_replacing_without_saving_promises_no_file() -> None:
    actions = [_type("bread"), _type("cheese"), _click("Replace All")]
    _, goal = _derive(actions, ["~/list.txt - Editor", "bread"], ["~/list.txt - Editor", "cheese"])
    assert _facts(goal) == {("screen.text", "cheese")}


@pytest.mark.parametrize(("item", "kind"), [("Folder", "dir"), ("New Folder...", "dir"), ("Empty File", "file")])
def test_creating_in_the_shown_folder(item: str, kind: str) -> None:
    start, goal = _derive(
        [_click(item), _type("plans"), _press("enter")], ["/home/me/garden", "a.txt"], ["/home/me/garden", "plans"]
    )
    assert _facts(goal) == {("file.exists", "~/garden/plans", kind)}
    assert ("not", "file.exists", "~/garden/plans") in _facts(start)
    assert ("window.title", "garden", "editor", "True") in _facts(start)


def test_opening_by_double_click_is_the_window_it_heads() -> None:
    _, goal = _derive([_click("plans", count=2)], ["me", "/home/me", "plans"], ["plans", "/home/me/plans"])
    assert _facts(goal) == {("window.title", "plans", "editor", "True")}
    _, goal = _derive([_click("plans", count=2)], ["me", "plans"], ["me", "plans"])
    assert goal == [], "nothing opened"


def test_else_new_text_on_the_screen_but_never_a_clock() -> None:
    _, goal = _derive([_click("=")], ["7 + 8", "12:41"], ["7 + 8", "15", "12:42", "me@here:~ what is misread"])
    assert _facts(goal) == {("screen.text", "15")}
    _, goal = _derive([_click("x")], ["same", "12:41"], ["same", "12:42:10"])
    assert goal == []
