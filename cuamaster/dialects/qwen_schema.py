"""The functions shown to a Qwen model: `computer_use`, `shell_exec` and `tool_call`, as far as the mode allows them."""

from __future__ import annotations

from typing import Any

from cuamaster.dialects.qwen_calls import PIXELS_PER_NOTCH
from cuamaster.records.primitive import Mode
from cuamaster.records.tools import TOOLS

_GUI_ACTIONS = {
    "key": "Press the given keys together, in order, and release them in reverse order.",
    "type": "Type a string of text on the keyboard.",
    "key_down": "Press and hold one key.",
    "key_up": "Release one held key.",
    "mouse_move": "Move the cursor to a specified (x, y) coordinate on the screen.",
    "left_click": "Click the left mouse button at a specified (x, y) coordinate on the screen.",
    "left_click_drag": "Press the left button at the cursor, drag to a specified (x, y) coordinate, and release.",
    "left_mouse_down": "Press and hold the left mouse button.",
    "left_mouse_up": "Release the left mouse button.",
    "right_click": "Click the right mouse button at a specified (x, y) coordinate on the screen.",
    "middle_click": "Click the middle mouse button at a specified (x, y) coordinate on the screen.",
    "double_click": "Double-click the left mouse button at a specified (x, y) coordinate on the screen.",
    "triple_click": "Triple-click the left mouse button at a specified (x, y) coordinate on the screen.",
    "scroll": "Scroll the mouse wheel up (pixels > 0) or down (pixels < 0).",
    "hscroll": "Scroll to the right (pixels > 0) or to the left (pixels < 0).",
}
_CONTROL_ACTIONS = {
    "wait": "Wait a specified number of seconds for a change to happen.",
    "terminate": "End the task and report whether it was done.",
    "answer": "End the task with success by answering its question.",
}
_PROPERTIES: dict[str, dict[str, Any]] = {
    "keys": {
        "description": "Required only by action=key, key_down and key_up (one key).",
        "type": "array",
        "items": {"type": "string"},
    },
    "text": {
        "description": "Required only by action=type and action=answer; optional for action=terminate.",
        "type": "string",
    },
    "coordinate": {
        "description": "(x, y): pixels from the left and from the top edge of the screen, 0-1000. Required by the mouse actions.",
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 1000},
        "minItems": 2,
        "maxItems": 2,
    },
    "pixels": {
        "description": f"How far to scroll; {PIXELS_PER_NOTCH} pixels are one notch of the wheel. Required only by action=scroll and hscroll.",
        "type": "number",
    },
    "time": {"description": "The seconds to wait. Required only by action=wait.", "type": "number"},
    "status": {
        "description": "The status of the task. Required only by action=terminate.",
        "type": "string",
        "enum": ["success", "failure", "infeasible"],
    },
}


def tools(mode: Mode) -> list[dict[str, Any]]:
    """OpenAI-style function schemas for a mode: gui has no shell, cli no mouse and keyboard, mixed has all."""
    functions = [_computer_use({**(_GUI_ACTIONS if mode != "cli" else {}), **_CONTROL_ACTIONS})]
    if mode != "gui":
        functions.append(_SHELL)
    return [{"type": "function", "function": function} for function in (*functions, _tool_call())]


def _computer_use(actions: dict[str, str]) -> dict[str, Any]:
    used = [name for name in _PROPERTIES if "left_click" in actions or name in ("text", "time", "status")]
    listing = "\n".join(f"* `{name}`: {doc}" for name, doc in actions.items())
    return {
        "name": "computer_use",
        "description": (
            "Use a mouse and keyboard to interact with a computer, and take screenshots.\n"
            "* The screen's resolution is 1000x1000.\n"
            "* Some applications may take time to start or process actions, so you may need to wait and take successive screenshots.\n"
            "* Click buttons, links and icons with the cursor tip in their center, not on their edges."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "action": {
                    "description": f"The action to perform:\n{listing}",
                    "type": "string",
                    "enum": list(actions),
                },
                **{name: _PROPERTIES[name] for name in used},
            },
            "required": ["action"],
        },
    }


_SHELL: dict[str, Any] = {
    "name": "shell_exec",
    "description": "Run a command in a shell as the desktop's user and return its output and exit status.",
    "parameters": {
        "type": "object",
        "properties": {
            "command": {"description": "The command line.", "type": "string"},
            "cwd": {"description": "The folder to run it in.", "type": "string"},
            "timeout": {"description": "Seconds after which the command is ended.", "type": "number"},
        },
        "required": ["command"],
    },
}


def _tool_call() -> dict[str, Any]:
    listing = "\n".join(f"* `{tool.name}`: {tool.description}" for tool in TOOLS)
    return {
        "name": "tool_call",
        "description": f"Call a registered tool and return its answer:\n{listing}",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"description": "The tool's name.", "type": "string", "enum": [tool.name for tool in TOOLS]},
                "arguments": {"description": "The tool's arguments.", "type": "object"},
            },
            "required": ["name"],
        },
    }
