"""An instruction keeps only names that were typed or clicked; a misheard one becomes what the screen says."""

from __future__ import annotations

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.records.trajectory import Action, Target
from cuamaster.seeding.instruction_check import told


def _type(text: str) -> Action:
    return Action(action=CUAAction("keyboard.type", {"text": text}))


def _click(label: str) -> Action:
    return Action(action=CUAAction("mouse.click", {"x": 1, "y": 1}), target=Target(text=label))


@pytest.mark.parametrize(
    ("heard", "actions", "right"),
    [
        (
            'In PCManFM, create a folder named "reports" and open "report store".',
            [_click("Create New"), _click("Folder"), _type("reports"), _click("reports")],
            'In PCManFM, create a folder named "reports" and open "reports".',
        ),
        ('Save it as "Budget.ods".', [_type("budget.ods")], 'Save it as "Budget.ods".'),
        ('In Writer, type "dear fred".', [_type("Dear Frieda,")], 'In Writer, type "Dear Frieda,".'),
        ('Tick "Wrap".', [_click("Wrap text")], 'Tick "Wrap".'),
        ("Close the window.", [_click("x")], "Close the window."),
    ],
)
def test_names_are_taken_from_the_screen(heard: str, actions: list[Action], right: str) -> None:
    assert told(heard, actions, []) == right


def test_a_name_that_nothing_resembles_makes_the_steps_the_instruction() -> None:
    heard = 'In Mousepad, open "quarterly figures" and save it.'
    steps = ['Click "File" (menu).', 'Click "Save".']
    assert (
        told(heard, [_click("File"), _click("Save")], steps) == 'In Mousepad, click "File" (menu), then click "Save".'
    )
