"""Dialects: actions a second that `parse` reads and `render` writes, one answer of one action each; JSON on stdout."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable

from cuamaster.action_space import CUAAction
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.registry import DIALECTS
from cuamaster.errors import Inexpressible

SCREEN = Screen(1920, 1080, (500, 500))
THOUGHT = "The file is open. I click the Save button in the toolbar to keep the changes."
ACTIONS = (
    CUAAction("mouse.click", {"x": 412.5, "y": 230}),
    CUAAction("mouse.click", {"x": 412.5, "y": 230, "count": 2}),
    CUAAction("mouse.click", {"x": 41, "y": 730, "button": "right"}),
    CUAAction("mouse.move", {"x": 41, "y": 730}),
    CUAAction("mouse.drag", {"path": [[100, 100], [600, 640]]}),
    CUAAction("mouse.scroll", {"x": 500, "y": 500, "dy": 5}),
    CUAAction("keyboard.type", {"text": 'Quarterly report: revenue "up" by 4 %, it\'s final.\n'}),
    CUAAction("keyboard.press", {"keys": ["ctrl", "s"]}),
    CUAAction("keyboard.press", {"keys": ["enter"]}),
    CUAAction("finish", {"status": "success"}),
)


def main() -> None:
    """Measure every dialect for some time each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    seconds = parser.parse_args().seconds
    machine = {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    print(json.dumps({"machine": machine, "dialects": {n: measure(d, seconds) for n, d in DIALECTS.items()}}, indent=2))


def measure(spoken: Dialect, seconds: float) -> dict[str, float]:
    """Actions a second of the processor, and the characters of a mean answer."""
    said = [action for action in ACTIONS if _sayable(spoken, action)]
    answers = [spoken.render([action], SCREEN, thought=THOUGHT) for action in said]
    assert all(spoken.parse(answer, SCREEN) for answer in answers)
    return {
        "parse_actions_per_s": _rate(lambda n: spoken.parse(answers[n % len(answers)], SCREEN), seconds),
        "render_actions_per_s": _rate(lambda n: spoken.render([said[n % len(said)]], SCREEN, thought=THOUGHT), seconds),
        "actions": len(said),
        "characters": round(sum(map(len, answers)) / len(answers)),
    }


def _sayable(spoken: Dialect, action: CUAAction) -> bool:
    try:
        spoken.render([action], SCREEN)
    except Inexpressible:
        return False
    return True


def _rate(one: Callable[[int], object], seconds: float) -> float:
    count, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        for _ in range(100):
            one(count)
            count += 1
    return round(count / spent)


if __name__ == "__main__":
    main()
