"""pyautogui code as an action format (OSWorld, OpenCUA, AgentNet, ScaleCUA): read with ast, never run.

Sources: pyautogui's documentation (signatures); xlang-ai/OSWorld desktop_env/desktop_env.py and mm_agents/prompts.py (screen
pixels, WAIT, FAIL, DONE; FAIL: cannot be done); xlang-ai/OpenCUA and OSWorld mm_agents/opencua (pixels of the picture after
smart_resize with factor 28, `computer.wait`, `computer.terminate`, `computer.tripleClick`); AgentNet JSONL (fractions 0-1);
OpenGVLab/ScaleCUA (<action> blocks, names without `pyautogui.`, factor 28, at most 2109744 pixels).
`scroll` is up for a positive number and counts notches. A drag begins at the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found, between, beyond_reasoning, fences
from cuamaster.dialects.code_calls import has_a_call, read_code
from cuamaster.dialects.coordinates import SmartResize, Space
from cuamaster.dialects.dialect import Dialect, Writer, no_call
from cuamaster.dialects.key_names import PYAUTOGUI
from cuamaster.dialects.pyautogui_read import decode
from cuamaster.dialects.vocabulary import EVERY_BUTTON, EVERY_CLICK, Vocabulary

_CLICKS = {
    ("left", 1): "click", ("left", 2): "doubleClick", ("left", 3): "tripleClick",
    ("right", 1): "rightClick", ("middle", 1): "middleClick",
}  # fmt: skip
_WORDS = {"success": "DONE", "infeasible": "FAIL"}
Line = dict[str, Any]


def _said(**changes: Any) -> Vocabulary:
    return Vocabulary(
        **{
            "clicks": EVERY_CLICK, "drag_buttons": EVERY_BUTTON, "down": EVERY_BUTTON,
            "down_point": "optional", "held_keys": True, "keys": PYAUTOGUI, **changes,
        }
    )  # fmt: skip


def encode(action: CUAAction, writer: Writer, *, prefix: str = "pyautogui.", computer: bool = False) -> list[Line]:
    """One action as lines of code; `computer`: ends, waits and triple clicks are OpenCUA's."""
    args = action.args
    at = writer.xy(action)
    call = partial(_call, prefix)
    match action.type:
        case "mouse.click":
            button, count = args.get("button", "left"), args.get("count", 1)
            if (button, count) == ("left", 3) and computer:
                return [_call("computer.", "tripleClick", **at)]
            if (button, count) in _CLICKS and not (prefix == "" and count == 3):
                return [call(_CLICKS[button, count], **at)]
            return [call("click", **at, clicks=count, button=button)]
        case "mouse.move":
            return [call("moveTo", **at)]
        case "mouse.move_relative":
            width, height = writer.space.picture(writer.screen)
            return [call("move", round(args["dx"] * width / 1000), round(args["dy"] * height / 1000))]
        case "mouse.drag":
            (x, y), (to_x, to_y) = (writer.pair(point) for point in args["path"])
            return [call("moveTo", x=x, y=y), call("dragTo", x=to_x, y=to_y, button=args.get("button", "left"))]
        case "mouse.scroll":
            return [call("scroll", -args["dy"], **at)] if args.get("dy") else [call("hscroll", args["dx"], **at)]
        case "mouse.down" | "mouse.up":
            name = "mouseDown" if action.type.endswith("down") else "mouseUp"
            return [call(name, **at, button=args.get("button", "left"))]
        case "keyboard.type":
            return [call("write", message=args["text"])]
        case "keyboard.press":
            names = [PYAUTOGUI.say(key) for key in args["keys"]]
            if prefix == "" and len(names) > 1:
                return [call("hotkey", args=names)]  # ScaleCUA: keyword arguments only
            return [call("press", names[0]) if len(names) == 1 else call("hotkey", *names)]
        case "keyboard.down" | "keyboard.up":
            name = "keyDown" if action.type.endswith("down") else "keyUp"
            return [call(name, PYAUTOGUI.say(args["key"]))]
        case "wait":
            if computer:
                return [_call("computer.", "wait")]
            return [
                _call("", "wait", seconds=args["seconds"]) if prefix == "" else _call("time.", "sleep", args["seconds"])
            ]
        case _:
            return [_finish(action, prefix, computer)]


def _finish(action: CUAAction, prefix: str, computer: bool) -> Line:
    status, answer = action.args["status"], action.args.get("answer")
    if computer:
        return _call("computer.", "terminate", status=status, **({"answer": answer} if answer else {}))
    if prefix == "":
        if answer and status == "success":
            return _call("", "response", answer=answer)
        return _call("", "terminate", status=status, **({"info": answer} if answer else {}))
    return {"code": _WORDS[status]}


def _call(prefix: str, name: str, *values: Any, **keywords: Any) -> Line:
    parts = [*map(_literal, values), *(f"{key}={_literal(value)}" for key, value in keywords.items())]
    return {"code": f"{prefix}{name}({', '.join(parts)})"}


def _literal(value: Any) -> str:
    # what would end the fence or the block around the code is written as an escape
    return repr(value).replace("```", "\\x60``").replace("</", "<\\x2f")


def _find_fenced(text: str, start: int) -> Found:
    blocks = [(block, offset) for block, offset in fences(text, start) if has_a_call(block)]
    if not blocks:
        if not has_a_call(text[start:]):
            raise no_call("pyautogui call", start)
        blocks = [(text[start:], start)]
    thought = text[start : blocks[0][1]].rpartition("```")[0] if "```" in text else ""
    return Found(_headless(thought), _calls(blocks, start))


def _calls(blocks: Sequence[tuple[str, int]], start: int) -> tuple[Call, ...]:
    calls = tuple(call for block, offset in blocks for call in read_code(block, offset))
    if not calls:  # prints and imports only
        raise no_call("pyautogui call", start)
    return calls


def find_bare(text: str) -> Found:
    """Calls of a text that is code as a whole, in a fence or not."""
    return Found("", _calls(list(fences(text)) or [(text, 0)], 0))


def _headless(text: str) -> str:
    for heading in ("## Code:", "## Code", "# Step:"):
        text = text.replace(heading, "")
    return " ".join(text.replace("## Action:", "").replace("## Thought:", "").split())


def _find_action(text: str, start: int) -> Found:
    blocks = list(between(text, start, "<action>", "</action>"))
    if not blocks:
        return _find_fenced(text, start)
    words = next((word for word, _ in between(text, start, "<operation>", "</operation>")), "").strip()
    return Found(words, _calls(blocks, start))


def find_fenced(text: str) -> Found:
    """Calls of the code in Markdown fences, or of a text that is code as a whole; raises Unfound."""
    return beyond_reasoning(text, _find_fenced)


def find_action(text: str) -> Found:
    """Calls of the code in <action> blocks, or in fences."""
    return beyond_reasoning(text, _find_action)


def _code(lines: Sequence[Line]) -> str:
    return "\n".join(line["code"] for line in lines)


def _write_plain(thought: str, lines: Sequence[Line]) -> str:
    code = f"```python\n{_code(lines)}\n```"
    return f"{thought.replace('```', '')}\n{code}" if thought else code


def _write_opencua(thought: str, lines: Sequence[Line]) -> str:
    kind = "code" if any(line["code"].startswith("computer.") for line in lines) else "python"
    return f"## Action:\n{thought.replace('```', '')}\n\n## Code:\n```{kind}\n{_code(lines)}\n```"


def _write_bare(thought: str, lines: Sequence[Line]) -> str:  # noqa: ARG001  AgentNet keeps the words in other columns
    return _code(lines)


def _write_scalecua(thought: str, lines: Sequence[Line]) -> str:
    words = thought.replace("<", "(").replace(">", ")")
    operation = f"<operation>\n{words}\n</operation>\n" if words else ""
    return f"{operation}<action>\n{_code(lines)}\n</action>"


OSWORLD = Dialect(
    name="osworld-pyautogui",
    title="OSWorld pyautogui",
    source="xlang-ai/OSWorld, mm_agents/prompts.py and desktop_env/desktop_env.py",
    space=Space("pixels"),
    says=_said(relative=True, statuses={"success": False, "infeasible": False}),
    find=find_fenced,
    decode=partial(decode, failure="infeasible"),
    encode=encode,
    write=_write_plain,
)
_COMPUTER: dict[str, Any] = {"wait": 20.0, "statuses": {"success": True, "failure": True}}
OPENCUA = Dialect(
    name="opencua",
    title="OpenCUA (Qwen2.5-VL based)",
    source="xlang-ai/OSWorld, mm_agents/opencua/opencua_agent.py and prompts.py",
    space=Space("pixels", resize=SmartResize(28, 3136, 12_845_056)),
    says=_said(**_COMPUTER),
    find=find_fenced,
    decode=decode,
    encode=partial(encode, computer=True),
    write=_write_opencua,
)
AGENTNET = Dialect(
    name="agentnet",
    title="AgentNet code",
    source="xlangai/AgentNet (dataset card): value.code of each step",
    space=Space("fraction", digits=4),
    says=_said(**_COMPUTER),
    find=find_bare,
    decode=decode,
    encode=partial(encode, computer=True),
    write=_write_bare,
)
SCALECUA = Dialect(
    name="scalecua",
    title="ScaleCUA",
    source="OpenGVLab/ScaleCUA, gradio_demo/core/constants.py and the agent for OSWorld (scalecua_agent)",
    space=Space("pixels", resize=SmartResize(28, 3136, 2_109_744)),
    says=_said(statuses={"success": True, "failure": True}),
    find=find_action,
    decode=decode,
    encode=partial(encode, prefix=""),
    write=_write_scalecua,
)
