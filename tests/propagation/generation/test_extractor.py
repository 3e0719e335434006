"""From a video's actions to primitives: cut at effects, values made parameters, gates for evidence and capabilities."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.extractor import extract, setup_for
from cuamaster.propagation.generation.intents import Scene
from cuamaster.propagation.generation.library import Library
from cuamaster.propagation.generation.operations import operations
from cuamaster.propagation.generation.plan import Plan, extend
from cuamaster.records.condition import AppRunning, Condition, FileExists, FileText, Not, ScreenText, WindowTitle
from cuamaster.records.filling import placeholders, substitute
from cuamaster.records.primitive import Primitive
from cuamaster.records.trajectory import Trajectory
from tests.propagation.generation import primitives_made as made
from tests.propagation.generation.trajectories import (
    Script,
    editor_replaces_a_word,
    editor_saves_new_file,
    files_makes_and_opens_a_folder,
)

HAVE = frozenset({"app:editor", "app:files"})


def _by_ability(trajectory: Trajectory) -> dict[str, Primitive]:
    kept, dropped = extract(trajectory, HAVE)
    assert dropped == []
    return {primitive.ability: primitive for primitive in kept}


def test_operations_end_where_something_is_carried_out() -> None:
    assert [len(op.actions) for op in operations(editor_saves_new_file())] == [2, 4]
    assert [op.labels[-1] for op in operations(editor_replaces_a_word())] == ["Close", "Save"]
    assert [op.typed for op in operations(files_makes_and_opens_a_folder())] == [("reports",), ()]


def test_saving_a_new_file() -> None:
    found = _by_ability(editor_saves_new_file())
    assert list(found) == ["type-text", "save-as"]
    save = found["save-as"]
    assert {p.name: p.examples[0] for p in save.parameters} == {
        "filename": "groceries.txt",
        "text": "milk, eggs and bread",
    }
    assert FileText(path="~/{filename}", text="{text}", match="contains") in save.effects
    assert WindowTitle(app="editor", title="{filename}", active=True) in save.effects
    assert Not(of=FileExists(path="~/{filename}")) in save.preconditions
    assert ScreenText(app="editor", text="{text}") in save.preconditions
    typed = [step.args.get("text") for step in save.procedures[0].steps if step.type == "keyboard.type"]
    assert typed == ["{filename}"]
    assert [step.target.text for step in save.procedures[0].steps if step.target] == ["File", "Save As", "Save"]


def test_replacing_a_word() -> None:
    found = _by_ability(editor_replaces_a_word())
    replace = found["replace-text"]
    assert {p.name: p.examples[0] for p in replace.parameters} == {
        "word": "bread",
        "replacement": "cheese",
        "filename": "groceries.txt",
    }
    assert replace.effects == (
        ScreenText(app="editor", text="{replacement}"),
        Not(of=ScreenText(app="editor", text="{word}")),
    )
    assert [step.args["text"] for step in replace.procedures[0].steps if step.type == "keyboard.type"] == [
        "{word}",
        "{replacement}",
    ]
    assert [step.text for step in replace.setup if step.kind == "file.write"] == ["milk, eggs and {word}\n"]
    assert found["save"].effects == (FileText(path="~/{filename}", text="{text}", match="contains"),)
    others = [p for p in replace.parameters if p.kind == "text"]
    assert all(len(set(p.examples)) >= 3 for p in others)


def test_making_and_opening_a_folder() -> None:
    found = _by_ability(files_makes_and_opens_a_folder())
    create, opened = found["create-folder"], found["open-folder"]
    assert create.effects == (FileExists(path="~/{dirname}", type="dir"),)
    assert create.procedures[0].steps[0].args == {"button": "right"}
    assert create.procedures[0].steps[0].target is not None
    assert create.procedures[0].steps[0].target.at is None  # the recording's own position means nothing elsewhere
    assert opened.preconditions == (
        WindowTitle(app="files", title="user", active=True),
        FileExists(path="~/{dirname}", type="dir"),
    )
    assert opened.effects == (WindowTitle(app="files", title="{dirname}", active=True),)


@pytest.mark.parametrize(
    "trajectory", [editor_saves_new_file(), editor_replaces_a_word(), files_makes_and_opens_a_folder()]
)
def test_evidence_points_to_the_video_and_lies_in_order(trajectory: Trajectory) -> None:
    kept, _ = extract(trajectory, HAVE)
    spans = [(e.t_start or 0.0, e.t_end or 0.0) for p in kept for e in p.evidence]
    assert all(
        e.kind == "video" and e.source == "video-1" and e.trajectory_id == trajectory.id
        for p in kept
        for e in p.evidence
    )
    assert all(start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(len(e.frames) == 2 for p in kept for e in p.evidence)
    Library(kept)  # all have evidence


@pytest.mark.parametrize("trajectory", [editor_replaces_a_word(), files_makes_and_opens_a_folder()])
def test_extracted_primitives_can_be_chained_in_the_video_s_order(trajectory: Trajectory) -> None:
    kept, _ = extract(trajectory, HAVE)
    plans = [Plan()]
    for primitive in kept:
        plans = [grown for plan in plans for grown in extend(plan, primitive, Random(0))]
    assert plans
    for primitive, use in zip(kept, plans[0].uses, strict=True):
        assert all(not placeholders(substitute(effect, use.arguments)) for effect in primitive.effects)


def test_the_first_gate_no_video_no_primitive() -> None:
    without = (
        Script("user").click("reports", "item", title="reports", count=2).trajectory("files", (), None, video=None)
    )
    kept, dropped = extract(without, HAVE)
    assert kept == []
    assert [item.reason for item in dropped] == ["no-source-evidence"]


def test_the_first_gate_an_effect_that_nothing_bears_out() -> None:
    script = (
        Script("user")
        .click("File", "menu")
        .click("Create New", "menuitem")
        .click("Folder", "menuitem")
        .type("ghost")
        .press("enter")
    )
    goal: Condition = FileExists(path="~/other", type="dir")
    kept, dropped = extract(script.trajectory("files", (), goal), HAVE)
    assert kept == []
    assert [item.reason for item in dropped] == ["no-source-evidence"]
    assert "create-folder" in dropped[0].detail


def test_the_second_gate_a_capability_that_is_missing() -> None:
    kept, dropped = extract(files_makes_and_opens_a_folder(), frozenset({"app:editor"}))
    assert kept == []
    assert {item.reason for item in dropped} == {"missing-capability"}
    assert "app:files" in dropped[0].detail


def test_what_is_not_understood_is_dropped_with_its_labels() -> None:
    script = Script("x").click("View", "menu").click("Zoom In", "menuitem")
    kept, dropped = extract(script.trajectory("editor", (), FileExists(path="~/x")), HAVE)
    assert kept == []
    assert dropped[0].reason == "no-known-effect"
    assert "View > Zoom In" in dropped[0].detail


def test_extracted_primitives_enter_composed_tasks() -> None:
    kept, _ = extract(files_makes_and_opens_a_folder(), HAVE)
    library = Library([*made.EVERYTHING, *kept])
    create = next(p.id for p in kept if p.ability == "create-folder")
    found = PrimitiveComposer().compose(library, Guest("i", "d", made.CAPABILITIES), count=8, seed=0, prefer=[create])
    assert any(use.primitive.id == create for task in found for use in task.plan)
    lineage = [line for task in found for line in task.lineage if line.video_id == "video-1"]
    assert lineage
    assert lineage[0].t_start is not None


def test_without_a_title_the_one_known_file_is_the_open_document() -> None:
    script = (
        Script()
        .click("Search", "menu")
        .click("Find and Replace")
        .type("bread")
        .click("Replace with:", "field")
        .type("cheese")
    )
    script.click("Replace All", "button").click("Close").click("File", "menu").click("Save")
    start: tuple[Condition, ...] = (
        AppRunning(app="editor"),
        FileText(path="~/list.txt", text="milk and bread", match="contains"),
    )
    goal = FileText(path="~/list.txt", text="cheese", match="contains")
    found = _by_ability(script.trajectory("editor", start, goal))
    assert list(found) == ["replace-text", "save"]
    replace = found["replace-text"]
    assert WindowTitle(app="editor", title="{filename}", active=True) in replace.preconditions
    assert [step.args for step in replace.setup if step.kind == "app.launch"] == [("~/{filename}",)]
    written = next(step.text for step in replace.setup if step.kind == "file.write")
    assert "{word}" in written


def test_a_start_state_is_set_up_with_its_application_and_document() -> None:
    start: tuple[Condition, ...] = (
        AppRunning(app="editor"),
        FileText(path="~/list.txt", text="milk", match="contains"),
    )
    steps = setup_for(start, Scene("editor", start))
    assert [(step.kind, step.path, step.text, step.args) for step in steps] == [
        ("file.write", "~/list.txt", "milk\n", ()),
        ("app.launch", "", "", ("~/list.txt",)),
    ]
    bare: tuple[Condition, ...] = (AppRunning(app="editor"),)
    assert [(step.kind, step.app) for step in setup_for(bare, Scene("editor", bare))] == [("app.launch", "editor")]
