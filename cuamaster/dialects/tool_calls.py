"""<tool_call> blocks: JSON in them (Qwen3-VL, GUI-Owl, EvoCUA: the Hermes form), and the XML form of Qwen3.5.

Source of the second: chat_template.jinja of Qwen3.5 and Qwen3-Coder, <function=name><parameter=name>value</parameter></function>.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.dialects.answers import Call, Found, Unfound, beyond_reasoning, json_values
from cuamaster.dialects.dialect import no_call
from cuamaster.dialects.function_calls import MAX_CALLS
from cuamaster.dialects.lenient_json import NotJson, read_json

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_OPEN_FENCE = re.compile(r"```\w*$")
_AGAIN = re.compile(r"[\s,}]*(?=\{)")
_FUNCTION = re.compile(r"<function=([^>\n]{1,80})>")
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]{1,80})>\n?")
_AFTER_PARAMETER = re.compile(r"\n?</parameter>\s*(?=<parameter=|</function>|</tool_call>|$)")
_TEXTS = frozenset({"action", "text", "status", "name", "command", "cwd", "question"})


def find_json(text: str) -> Found:
    """Calls in JSON. Raises Unfound for a block that is broken or cut off, and when there is none."""
    return beyond_reasoning(text, _find_json)


def find_xml(text: str) -> Found:
    """Calls in XML; an answer in the JSON form is read too."""
    return beyond_reasoning(text, _find_xml)


def write_json(thought: str, calls: Sequence[Mapping[str, Any]]) -> str:
    """One line of thought, then a block for each call."""
    blocks = [f"{OPEN}\n{json.dumps(call, ensure_ascii=False)}\n{CLOSE}" for call in calls]
    return "\n".join(_headed(thought, blocks))


def write_xml(thought: str, calls: Sequence[Mapping[str, Any]]) -> str:
    """One line of thought, then a block for each call; values other than strings are JSON."""
    blocks = []
    for call in calls:
        parameters = "".join(
            f"<parameter={name}>\n{_plain(name, value)}\n</parameter>\n" for name, value in call["arguments"].items()
        )
        blocks.append(f"{OPEN}\n<function={call['name']}>\n{parameters}</function>\n{CLOSE}")
    return "\n".join(_headed(thought, blocks))


def _headed(thought: str, blocks: list[str]) -> list[str]:
    line = thought.replace(OPEN, "<tool-call>").replace("<think>", "").replace("</think>", "").strip()
    return [f"Action: {line}", *blocks] if line else blocks


def _plain(name: str, value: Any) -> str:
    return value if isinstance(value, str) and name in _TEXTS else json.dumps(value, ensure_ascii=False)


def _thought(text: str, start: int, end: int) -> str:
    return _OPEN_FENCE.sub("", text[start:end].strip()).removeprefix("Action:").strip()


def _find_json(text: str, start: int) -> Found:
    at = text.find(OPEN, start)
    thought = _thought(text, start, at if at >= 0 else len(text))
    if at < 0:
        bare = [
            (item, offset)
            for value, offset in json_values(text, start)
            for item in (value if isinstance(value, list) else [value])
            if _like_a_call(item)
        ]
        if not bare:
            raise no_call(OPEN, start)
        return Found(_thought(text, start, bare[0][1]), tuple(_call(value, offset, 1) for value, offset in bare))
    calls: list[Call] = []
    while at >= 0:
        begin = at + len(OPEN)
        while True:
            number = len(calls) + 1
            try:
                value, end = _object(text, begin)
            except NotJson as exc:
                raise Unfound(f"tool call {number} is not JSON or is cut off: {exc}", exc.at, "tool_call") from None
            calls.append(_call(value, begin, number))
            again = _AGAIN.match(text, end)
            if again is None or number >= MAX_CALLS:
                break
            begin = again.end()
        at = text.find(OPEN, end)
    return Found(thought, tuple(calls))


def _object(text: str, begin: int) -> tuple[Any, int]:
    """The object that begins here and where it ends; its last braces may be missing before the closing tag."""
    try:
        # Reading stops at the end of the object, so typed text may hold anything, a closing tag included.
        return read_json(text, begin)
    except NotJson:
        close = text.find(CLOSE, begin)
        for braces in ("}", "}}") if close >= 0 else ():
            try:
                value, end = read_json(text[begin:close].rstrip() + braces)
            except NotJson:
                continue
            if end == len(text[begin:close].rstrip()) + len(braces):
                return value, close
        raise


def _like_a_call(value: Any) -> bool:
    return isinstance(value, dict) and ("action" in value or {"name", "arguments"} <= value.keys())


def _call(value: Any, offset: int, number: int) -> Call:
    if not isinstance(value, dict):
        raise Unfound(f"tool call {number} must be an object, got {str(value)[:60]}", offset, "tool_call")
    if "name" not in value and isinstance(value.get("action"), str):
        return Call("computer_use", value, offset)
    arguments = value.get("arguments")
    if isinstance(arguments, str):  # some servers hand them on as a string of JSON
        try:
            arguments, _ = read_json(arguments)
        except NotJson:
            arguments = None
    if not isinstance(arguments, dict):
        raise Unfound(f"arguments must be an object, got {str(arguments)[:60]}", offset, "arguments")
    return Call(str(value.get("name")), arguments, offset)


def _find_xml(text: str, start: int) -> Found:
    opening = _FUNCTION.search(text, start)
    if opening is None:
        return _find_json(text, start)
    tag = text.rfind(OPEN, start, opening.start())
    thought = _thought(text, start, tag if tag >= 0 else opening.start())
    calls: list[Call] = []
    while opening is not None and len(calls) <= MAX_CALLS:
        arguments: dict[str, Any] = {}
        at = opening.end()
        while (parameter := _PARAMETER.match(text, at)) is not None:
            after = _AFTER_PARAMETER.search(text, parameter.end())
            if after is None:
                raise Unfound(f"the parameter {parameter[1]} is cut off", parameter.start(), "tool_call")
            arguments[parameter[1]] = _typed(parameter[1], text[parameter.end() : after.start()], parameter.end())
            at = after.end()
        if not arguments and text.find("</function>", at) < 0:
            raise Unfound(f"the call of {opening[1]} is cut off", opening.start(), "tool_call")
        calls.append(Call(opening[1].strip(), arguments, opening.start()))
        opening = _FUNCTION.search(text, at)
    return Found(thought, tuple(calls))


def _typed(name: str, text: str, offset: int) -> Any:
    if name in _TEXTS:
        return text.strip() if name in ("action", "status") else text
    try:
        value, end = read_json(text)
    except NotJson as exc:
        if text.strip()[:1] in ("[", "{"):
            raise Unfound(f"{name} is not JSON: {exc}", offset + exc.at, name) from None
        return text.strip()  # ctrl+a
    return text.strip() if text[end:].strip() else value  # 500, 300
