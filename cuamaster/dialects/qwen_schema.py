"""What a model of Qwen's form is told: the functions `computer_use`, `shell_exec` and `tool_call`, and the system message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cuamaster.dialects.coordinates import Screen, Space
from cuamaster.dialects.qwen_calls import Habits
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.records.primitive import Mode
from cuamaster.records.tools import TOOLS

_POINTING = "at a specified (x, y) coordinate on the screen."
_GUI_ACTIONS = {
    "key": "Press the given keys together, in order, and release them in reverse order.",
    "type": "Type a string of text on the keyboard.",
    "key_down": "Press and hold one key.",
    "key_up": "Release one held key.",
    "mouse_move": "Move the cursor to a specified (x, y) coordinate on the screen.",
    "left_click": f"Click the left mouse button {_POINTING}",
    "left_click_drag": "Press the left button at the cursor, drag to a specified (x, y) coordinate, and release.",
    "left_mouse_down": "Press and hold the left mouse button.",
    "left_mouse_up": "Release the left mouse button.",
    "right_click": f"Click the right mouse button {_POINTING}",
    "middle_click": f"Click the middle mouse button {_POINTING}",
    "double_click": f"Double-click the left mouse button {_POINTING}",
    "triple_click": f"Triple-click the left mouse button {_POINTING}",
    "scroll": "Scroll the mouse wheel up (pixels > 0) or down (pixels < 0).",
    "hscroll": "Scroll to the right (pixels > 0) or to the left (pixels < 0).",
}
_CONTROL_ACTIONS = {
    "wait": "Wait a specified number of seconds for a change to happen.",
    "terminate": "End the task and report whether it was done.",
    "answer": "End the task with success by answering its question.",
}
_JSON_FORM = """For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""
_JSON_BLOCK = """, each containing only the JSON: {"name": <function-name>, "arguments": <args-json-object>}"""
_XML_FORM = """For each function call, write its name and each parameter within <tool_call></tool_call> XML tags, values other than strings as json:
<tool_call>
<function=function-name>
<parameter=parameter-name>
value
</parameter>
</function>
</tool_call>"""
_SYSTEM = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

{form}

# Response format

Response format for every step:
1) Action: a short imperative describing what to do next.
2) One or more <tool_call>...</tool_call> blocks{block}.

Rules:
- Output exactly in the order: Action, <tool_call>.
- Be brief: one sentence for Action.
- Do not output anything else outside those parts.
- Put several calls in one step only if none of them needs to see the result of another.
- When the task is done or cannot be done, use action=terminate."""


@dataclass(frozen=True)
class Told:
    """One model of the form: what it can say, where, and in which habits; `xml`: Qwen3.5's way of writing calls."""

    says: Vocabulary
    space: Space
    habits: Habits
    xml: bool = False

    def system_prompt(self, mode: Mode, screen: Screen) -> str:
        """The system message for a rollout mode, tool schemas included."""
        listing = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in self.tools(mode, screen))
        form, block = (_XML_FORM, "") if self.xml else (_JSON_FORM, _JSON_BLOCK)
        return _SYSTEM.format(tools=listing, form=form, block=block)

    def tools(self, mode: Mode, screen: Screen) -> list[dict[str, Any]]:
        """OpenAI-style function schemas for a mode: gui has no shell, cli no mouse and keyboard, mixed has all."""
        gui = {name: doc for name, doc in _GUI_ACTIONS.items() if self._has(name)} if mode != "cli" else {}
        control = {name: doc for name, doc in _CONTROL_ACTIONS.items() if self._has(name)}
        functions = [self._computer_use({**gui, **control}, screen)]
        if mode != "gui" and self.says.shell:
            functions.append(_SHELL)
        if self.says.tool:
            functions.append(_tool_call())
        return [{"type": "function", "function": function} for function in functions]

    def _has(self, name: str) -> bool:
        says = self.says
        known = {
            "triple_click": ("left", 3) in says.clicks,
            "hscroll": says.scroll != "up and down",
            "key_down": says.held_keys,
            "key_up": says.held_keys,
            "left_mouse_down": "left" in says.down,
            "left_mouse_up": "left" in says.down,
            "answer": says.statuses["success"],
        }
        return known.get(name, True)

    def _properties(self, screen: Screen) -> dict[str, dict[str, Any]]:
        grid = self.space.unit == "grid"
        width, height = (self.space.maximum + 1,) * 2 if grid else self.space.picture(screen)
        reach = f"0-{self.space.maximum}" if grid else f"of a picture of {width}x{height}"
        pixels = f"{self.habits.scale:g} pixels are one notch of the wheel"
        keys = "action=key, key_down and key_up (one key)" if self.says.held_keys else "action=key"
        texts = ["action=type"] + (["action=answer"] if self.says.statuses["success"] else [])
        more = "; optional for action=terminate" if all(self.says.statuses.values()) else ""
        more += "; optional for clicks and scrolls: keys to hold, such as ctrl+shift" if self.habits.chords else ""
        return {
            "keys": {"description": f"Required only by {keys}.", "type": "array", "items": {"type": "string"}},
            "text": {"description": f"Required only by {' and '.join(texts)}{more}.", "type": "string"},
            "coordinate": {
                "description": f"(x, y): pixels from the left and from the top edge of the screen, {reach}. Required by the mouse actions.",
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": max(width, height) - 1},
                "minItems": 2,
                "maxItems": 2,
            },
            "pixels": {
                "description": f"How far to scroll; {pixels}. Required only by action=scroll and hscroll.",
                "type": "number",
            },
            "time": {"description": "The seconds to wait. Required only by action=wait.", "type": "number"},
            "status": {
                "description": "The status of the task. Required only by action=terminate.",
                "type": "string",
                "enum": list(self.says.statuses),
            },
        }

    def _computer_use(self, actions: dict[str, str], screen: Screen) -> dict[str, Any]:
        properties = self._properties(screen)
        used = [name for name in properties if "left_click" in actions or name in ("text", "time", "status")]
        listing = "\n".join(f"* `{name}`: {doc}" for name, doc in actions.items())
        width, height = (1000, 1000) if self.space.unit == "grid" else self.space.picture(screen)
        return {
            "name": "computer_use",
            "description": (
                "Use a mouse and keyboard to interact with a computer, and take screenshots.\n"
                f"* The screen's resolution is {width}x{height}.\n"
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
                    **{name: properties[name] for name in used},
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
