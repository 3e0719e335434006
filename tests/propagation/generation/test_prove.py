"""Plans that lead to a primitive, and what a proof adds to one that a video left open."""

from __future__ import annotations

import pytest

from cuamaster.propagation.generation.prove import Proof, plan_for, tightened
from cuamaster.records.condition import FileExists, Not, WindowTitle
from cuamaster.records.primitive import Primitive, SetupStep
from cuamaster.records.trajectory import Window
from cuamaster.records.verdict import Verdict
from tests.propagation.generation import primitives_made as made

LOOSE = made.primitive(
    "files", "make-folder", "Make {dirname}", parameters=(made.FOLDER,), preconditions=(WindowTitle(app="files", active=True),),
    effects=(made.file("~/{dirname}", "dir"),), setup=(SetupStep(kind="app.launch", app="files"),),
)  # fmt: skip


def _proof(primitive: Primitive, title: str, app: str = "files", after: str = "passed", left: str = "") -> Proof:
    return Proof(
        primitive,
        "gui",
        before=Verdict(status="failed"),
        after=Verdict.model_validate({"status": after}),
        window=Window(app=app, title=title),
        left=Window(app=app, title=left or title),
    )


def test_the_shortest_plan_is_taken() -> None:
    alone = plan_for(made.TYPE, made.EVERYTHING)
    assert alone is not None
    assert len(alone.uses) == 1
    behind = plan_for(made.SAVE_AS, made.EVERYTHING)
    assert behind is not None
    assert len(behind.uses) == 2
    assert behind.uses[1].primitive == made.SAVE_AS
    assert behind.uses[0].primitive in (made.TYPE, made.OPEN_IN_EDITOR)
    assert behind.uses[0].arguments["text"] == behind.uses[1].arguments["text"]


def test_without_a_way_there_is_no_plan() -> None:
    assert plan_for(made.SAVE_AS, [made.SAVE_AS, made.DELETE]) is None
    nowhere = made.primitive("files", "x", "x", preconditions=(FileExists(path="~/a/b"),), effects=(made.file("~/c"),))
    assert plan_for(nowhere, made.EVERYTHING) is None


@pytest.mark.parametrize(
    ("seen", "kept"), [("home", "home"), ("*Untitled 3 - Editor", "Untitled"), ("Work - Files 2", "Work")]
)
def test_a_proof_names_the_window(seen: str, kept: str) -> None:
    better = tightened(LOOSE, _proof(LOOSE, seen))
    assert better.preconditions == (WindowTitle(app="files", title=kept, active=True),)
    assert better.setup[0].text == kept
    assert better.effects == LOOSE.effects
    assert plan_for(better, [better]) is not None


def test_only_a_good_proof_of_its_own_window_counts() -> None:
    assert tightened(LOOSE, _proof(LOOSE, "home", after="failed")) == LOOSE
    assert tightened(LOOSE, _proof(LOOSE, "home", app="editor")) == LOOSE
    assert tightened(LOOSE, _proof(LOOSE, "")) == LOOSE
    assert tightened(made.DELETE, _proof(made.DELETE, "elsewhere")) == made.DELETE


EDIT = made.primitive(
    "editor", "edit", "Change {filename}", preconditions=(WindowTitle(app="editor", title="{filename}", active=True),),
    effects=(made.file("~/changed"),),
)  # fmt: skip


def test_a_proof_tells_that_changes_are_unsaved_or_saved() -> None:
    document = EDIT.preconditions[0]
    edited = tightened(EDIT, _proof(EDIT, "a.txt - Editor", app="editor", left="*a.txt - Editor"))
    assert edited.effects == (*EDIT.effects, document, WindowTitle(app="editor", title="*", active=True))
    saved = tightened(EDIT, _proof(EDIT, "\u2022a.txt", app="editor", left="a.txt"))
    assert saved.effects == (*EDIT.effects, document, Not(of=WindowTitle(app="editor", title="\u2022")))
    assert tightened(EDIT, _proof(EDIT, "a.txt", app="editor")) == EDIT
    assert tightened(EDIT, _proof(EDIT, "a.txt", app="editor", left="*b.txt")) == EDIT
