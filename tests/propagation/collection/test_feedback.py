"""Feedback: planted leaks are found, what was said or seen is no leak, and what is written never leaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuamaster.propagation.collection.feedback import leaks, write_feedback
from cuamaster.records.condition import DocumentTable, FileText, SettingValue, WindowTitle
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Target
from cuamaster.records.verdict import Check

Make = Callable[..., Task]


@pytest.fixture
def task() -> Task:
    """Save a text under a name, switch a setting; the instruction names the file only."""
    save = Primitive(
        app="mousepad",
        ability="save-as",
        instruction="Save as {name}",
        effects=(
            FileText(path="~/{name}", text="{text}"),
            WindowTitle(title="{name} - Mousepad", app="mousepad", active=True),
        ),
        verifier=SettingValue(schema_id="org.xfce.mousepad.preferences.view", key="show-line-numbers", value="true"),
        procedures=(
            Procedure(
                mode="gui",
                steps=(
                    ActionTemplate(type="mouse.click", target=Target(text="Save As...", near="Revert")),
                    ActionTemplate(type="keyboard.press", args={"keys": ["ctrl", "shift", "s"]}),
                    ActionTemplate(type="keyboard.type", args={"text": "{name}"}),
                ),
            ),
            Procedure(
                mode="cli", steps=(ActionTemplate(type="shell.exec", args={"command": "printf %s {text} > ~/{name}"}),)
            ),
        ),
    )
    arguments = {"name": "groceries.txt", "text": "two lemons"}
    return Task(
        instruction="Save the list as groceries.txt.",
        environment=Environment(image="i", image_digest="d"),
        verifier=FileText(path="~/groceries.txt", text="two lemons"),
        plan=(PrimitiveUse(primitive=save, arguments=arguments),),
        strategy="sequential",
    )


@pytest.mark.parametrize(
    ("feedback", "leaked"),
    [
        ("Click Save As... next.", "Save As..."),
        ("click  save as... instead", "Save As..."),
        ("It stands below Revert.", "Revert"),
        ("Press ctrl+shift+s.", "ctrl+shift+s"),
        ("The document must hold TWO LEMONS.", "two lemons"),
        ("Set show-line-numbers.", "show-line-numbers"),
        ("The schema is org.xfce.mousepad.preferences.view.", "org.xfce.mousepad.preferences.view"),
        ("Run printf %s 'two lemons' > ~/groceries.txt now", "printf %s 'two lemons' > ~/groceries.txt"),
        ('The title should say "groceries.txt - Mousepad".', "groceries.txt - Mousepad"),
    ],
)
def test_planted_leaks_are_found(task: Task, feedback: str, leaked: str) -> None:
    assert leaked in leaks(feedback, task, [])


@pytest.mark.parametrize(
    "feedback",
    [
        "groceries.txt was not written.",
        "Step 3 changed nothing on the screen.",
        "A window that was not open before: Untitled 1.",
        "The saved things differ.",
    ],
)
def test_observed_facts_and_the_instruction_are_no_leaks(task: Task, feedback: str) -> None:
    assert leaks(feedback, task, ["Untitled 1"]) == []


def test_what_stands_on_the_screen_is_no_leak(task: Task) -> None:
    assert leaks("Two lemons stands in the window.", task, ["two  lemons", "Save"]) == []


def test_a_leaking_note_falls_back_to_weaker_words(task: Task) -> None:
    failed = [Check(condition=task.verifier, holds=False, observed="no such file")]
    strong = write_feedback(task, failed, ["A window stays open: Untitled 1."], ["Untitled 1"])
    assert "Untitled 1" in strong
    weak = write_feedback(task, failed, ["Choose Save As..."], [])
    assert "Save As" not in weak
    assert weak != ""
    for words in (strong, weak):
        assert leaks(words, task, ["Untitled 1"]) == []


def test_each_cell_of_an_expected_table_is_a_secret(task: Task) -> None:
    table = DocumentTable(path="~/prices.ods", rows=(("pears", "3.25"), ("plums", "")), number=2, start="B2")
    task = task.model_copy(update={"verifier": table, "plan": ()})
    assert leaks("Put plums below the pears.", task, ()) == ["pears", "plums"]
    assert leaks("3.25 is missing", task, ()) == ["3.25"]
    assert leaks("Step 2 changed nothing on the screen, row 4.", task, ()) == []
    written = write_feedback(task, [Check(condition=table, holds=False)], ["The window shows plums."], ())
    assert "plums" not in written and "table" in written
