"""GUI-Owl: version 1 names pixels of the resized picture and both ends of a drag; version 1.5 is Qwen3-VL's form on 0-1000.

Sources: X-PLUG/MobileAgent, Mobile-Agent-v3/os_world_v3 and xlang-ai/OSWorld mm_agents/owl_agent.py (version 1: 1920x1080 is
seen as 1932x1092; `click`, `drag` with `coordinate2`, `type` with `clear` and `enter`, `pixels` from -5 to 5), and
Mobile-Agent-v3.5/computer_use/utils.py (version 1.5: `interact` asks a person). Both runners hand `pixels` to pyautogui, which
counts notches.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen_calls, tool_calls
from cuamaster.dialects.coordinates import SmartResize, Space
from cuamaster.dialects.dialect import Dialect, Writer
from cuamaster.dialects.qwen import spoken_like_qwen
from cuamaster.dialects.vocabulary import LEFT_AND_SINGLES, Vocabulary

NOTCHES = qwen_calls.Habits(scale=1)


def _encode_first(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    if action.type == "mouse.drag":
        start, end = (writer.pair(point) for point in action.args["path"])
        return [{"name": "computer_use", "arguments": {"action": "drag", "coordinate": start, "coordinate2": end}}]
    calls = qwen_calls.encode(action, writer, habits=NOTCHES)
    for call in calls:
        arguments = call["arguments"]
        if arguments["action"] == "left_click":
            arguments["action"] = "click"
        if arguments["action"] == "type":
            arguments |= {"clear": 0, "enter": 0}
    return calls


GUI_OWL = Dialect(
    name="gui-owl",
    title="GUI-Owl 1",
    source="xlang-ai/OSWorld, mm_agents/owl_agent.py; X-PLUG/MobileAgent, Mobile-Agent-v3",
    space=Space("pixels", resize=SmartResize(28, 3136, 12_845_056)),
    says=Vocabulary(clicks=LEFT_AND_SINGLES - {("left", 3)}, scroll="up and down", scroll_point="none", notches=(1, 5)),
    find=tool_calls.find_json,
    decode=partial(qwen_calls.decode, habits=NOTCHES),
    encode=_encode_first,
    write=tool_calls.write_json,
)
GUI_OWL_1_5 = spoken_like_qwen(
    "gui-owl-1.5",
    "GUI-Owl 1.5",
    "X-PLUG/MobileAgent, Mobile-Agent-v3.5/computer_use/utils.py",
    Space("grid", maximum=1000),
    Vocabulary(scroll_point="none", statuses={"success": True, "failure": False}),
    NOTCHES,
)
