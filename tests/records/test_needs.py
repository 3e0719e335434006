"""What a task needs is known before a desktop is touched."""

from __future__ import annotations

import pytest

from cuamaster.records.condition import CONDITION
from cuamaster.records.needs import needs_of, needs_of_environment
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Environment


@pytest.mark.parametrize(
    ("condition", "needs"),
    [
        ({"kind": "screen.text", "text": "Done"}, set()),
        ({"kind": "screen.text", "text": "Done", "app": "mousepad"}, {"shell"}),
        ({"kind": "episode.finish", "status": "success"}, set()),
        ({"kind": "file.exists", "path": "~/a"}, {"shell"}),
        ({"kind": "window.title", "title": "a"}, {"shell"}),
        ({"kind": "clipboard.text", "text": "a"}, {"shell", "clipboard"}),
        ({"kind": "setting.value", "schema_id": "a", "key": "b", "value": "1"}, {"shell", "settings:gsettings"}),
        (
            {
                "kind": "all",
                "of": [
                    {"kind": "not", "of": {"kind": "file.exists", "path": "~/a"}},
                    {"kind": "any", "of": [{"kind": "clipboard.text", "text": "a"}]},
                ],
            },
            {"shell", "clipboard"},
        ),
    ],
)
def test_a_condition_needs_what_its_parts_need(condition: dict[str, object], needs: set[str]) -> None:
    assert needs_of(CONDITION.validate_python(condition)) == needs


def test_a_start_state_needs_what_its_steps_need() -> None:
    steps = (SetupStep(kind="desktop.act", text="{}"), SetupStep(kind="clipboard.set", text="a"))
    told = Environment(image="own", image_digest="", capabilities=("app:notepad",), setup=steps)
    assert needs_of_environment(told) == {"app:notepad", "shell", "clipboard"}
    assert needs_of_environment(told.model_copy(update={"setup": steps[:1]})) == {"app:notepad"}
