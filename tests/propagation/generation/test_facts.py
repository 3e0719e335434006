"""Facts while a plan is imagined: what setup brings about, what is satisfied, what effects leave standing."""

from __future__ import annotations

from cuamaster.propagation.generation.facts import START, Fact, progress, satisfied, setup_facts, supporter
from cuamaster.records.condition import (
    AnyOf,
    ClipboardText,
    Condition,
    FileExists,
    FileText,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.primitive import SetupStep

NOTES = SetupStep(kind="file.write", path="~/notes.txt", text="milk\nbread\n")
OPEN = SetupStep(kind="app.launch", app="editor", args=("~/notes.txt",))
FRONT = WindowTitle(app="editor", title="notes.txt", active=True)


def _facts(*conditions: Condition) -> tuple[Fact, ...]:
    return tuple(Fact(condition) for condition in conditions)


def test_setup_gives_files_windows_and_what_they_show() -> None:
    facts = setup_facts(
        [
            NOTES,
            OPEN,
            SetupStep(kind="app.launch", app="files", args=("/home/user",)),
            SetupStep(kind="clipboard.set", text="c"),
        ]
    )
    assert FileText(path="~/notes.txt", text="milk\nbread\n") in facts
    assert FRONT.model_copy(update={"active": False}) in facts
    assert WindowTitle(app="files", title="user", active=True) in facts
    assert ClipboardText(text="c") in facts
    assert not any(isinstance(fact, ScreenText) for fact in facts)  # the editor is behind now
    assert ScreenText(app="editor", text="bread") in setup_facts([NOTES, OPEN])


def test_later_setup_of_a_path_wins() -> None:
    facts = setup_facts([NOTES, SetupStep(kind="path.remove", path="~/notes.txt")])
    assert facts == (Not(of=FileExists(path="~/notes.txt")),)


def test_what_nobody_made_is_not_there_but_unknown_texts_stay_unknown() -> None:
    facts = _facts(FileText(path="~/a", text="one", match="contains"))
    assert satisfied(Not(of=FileExists(path="~/b")), facts)
    assert satisfied(Not(of=WindowTitle(app="editor")), facts)
    assert satisfied(Not(of=FileText(path="~/b", text="x", match="contains")), facts)
    assert not satisfied(Not(of=FileText(path="~/a", text="two", match="contains")), facts)
    assert not satisfied(Not(of=FileExists(path="~/a")), facts)
    assert not satisfied(Not(of=SettingValue(schema_id="s", key="k", value="true")), facts)
    assert satisfied(AnyOf(of=(FileExists(path="~/zzz"), FileExists(path="~/a"))), facts)


def test_effects_end_what_they_contradict_and_keep_the_rest() -> None:
    start = _facts(FRONT, ScreenText(app="editor", text="milk"), FileExists(path="~/notes.txt", type="file"))
    after = progress(start, [WindowTitle(app="files", title="user", active=True)], 0)
    conditions = [fact.condition for fact in after]
    assert WindowTitle(app="editor", title="notes.txt") in conditions
    assert FRONT not in conditions
    assert ScreenText(app="editor", text="milk") not in conditions
    assert FileExists(path="~/notes.txt", type="file") in conditions
    assert after[-1] == Fact(WindowTitle(app="files", title="user", active=True), 0)


def test_an_effect_that_changes_nothing_ends_nothing() -> None:
    start = _facts(FRONT, ScreenText(app="editor", text="milk"))
    after = progress(start, [WindowTitle(app="editor", active=True)], 0)
    assert [fact.condition for fact in after][:2] == [FRONT, ScreenText(app="editor", text="milk")]


def test_reasserted_facts_keep_their_producer() -> None:
    start = _facts(FRONT, ScreenText(app="editor", text="milk"))
    after = progress(start, [WindowTitle(app="editor", title="*", active=True), FRONT], 3)
    kept = supporter(FRONT, after)
    assert kept is not None
    assert kept.producer == START
    assert supporter(WindowTitle(app="editor", title="*", active=True), after) == Fact(
        WindowTitle(app="editor", title="*", active=True), 3
    )


def test_a_rename_moves_the_name_and_forgets_the_text() -> None:
    start = _facts(FileText(path="~/a.txt", text="one"))
    after = progress(start, [FileExists(path="~/b.txt", type="file"), Not(of=FileExists(path="~/a.txt"))], 0)
    assert not satisfied(FileText(path="~/a.txt", text="one"), after)
    assert satisfied(FileExists(path="~/b.txt"), after)
    assert not satisfied(FileText(path="~/b.txt", text="one"), after)


def test_a_window_of_unknown_title_may_be_the_one_asked_about() -> None:
    facts = _facts(WindowTitle(app="files", active=True))
    assert not satisfied(Not(of=WindowTitle(app="files", title="home", active=True)), facts)
    assert satisfied(Not(of=WindowTitle(app="editor", title="home")), facts)
    assert satisfied(
        Not(of=WindowTitle(app="files", title="home")), _facts(WindowTitle(app="files", title="work", active=True))
    )
