"""pyautogui code as calls: statements are read from the syntax tree, literals folded, short loops unrolled, nothing run.

Read are calls of pyautogui (also under another name, `import pyautogui as pg`), `computer.*`, time.sleep, pyperclip.copy
followed by a paste, names bound to literals before, places in a list, sums of numbers, f-strings, `for` over a short range, list or
string, and `with pyautogui.hold(...)`. Imports, prints, tweens and settings such as pyautogui.PAUSE do nothing. All else raises
Unfound with its place. Where the code is no Python, as with an unescaped quote, the calls are picked from it one by one.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.dialects.answers import Call, Unfound
from cuamaster.dialects.code_values import Bound, Source, Values
from cuamaster.dialects.function_calls import MAX_CALLS, find_calls

_POINT = ("x", "y")
_HOW = ("duration", "tween")
_CLICK = (*_POINT, "clicks", "interval", "button", *_HOW)
# Positional parameters by name; pyautogui's documentation, and ScaleCUA's action space.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "click": _CLICK,
    "leftClick": (*_POINT, "interval", *_HOW),
    "rightClick": (*_POINT, "interval", *_HOW),
    "middleClick": (*_POINT, "interval", *_HOW),
    "doubleClick": (*_POINT, "interval", "button", *_HOW),
    "tripleClick": (*_POINT, "interval", "button", *_HOW),
    "moveTo": (*_POINT, *_HOW),
    "move": ("xOffset", "yOffset", *_HOW),
    "moveRel": ("xOffset", "yOffset", *_HOW),
    "dragTo": (*_POINT, *_HOW, "button"),
    "drag": ("xOffset", "yOffset", *_HOW, "button"),
    "dragRel": ("xOffset", "yOffset", *_HOW, "button"),
    "mouseDown": (*_POINT, "button", *_HOW),
    "mouseUp": (*_POINT, "button", *_HOW),
    "scroll": ("clicks", *_POINT),
    "vscroll": ("clicks", *_POINT),
    "hscroll": ("clicks", *_POINT),
    "write": ("message", "interval"),
    "typewrite": ("message", "interval"),
    "press": ("keys", "presses", "interval"),
    "keyDown": ("key",),
    "keyUp": ("key",),
    "hotkey": ("*args",),
    "sleep": ("seconds",),
    "wait": ("seconds",),
    "terminate": ("status", "info"),
    "response": ("answer",),
    "copy": ("text",),
}
_SAME = {"triple_click": "tripleClick", "double_click": "doubleClick", "right_click": "rightClick"}
_OWNERS = {"", "pyautogui", "pag", "computer", "time", "pyperclip"}
_IGNORED = {"print", "pyautogui.screenshot", "pyautogui.size", "pyautogui.position", "pyautogui.alert"}
_SPECIAL = {"WAIT", "DONE", "FAIL"}
_A_CALL = re.compile(
    r"\b(?:pyautogui|computer|pag)\s*\.\s*\w+\s*\(|\btime\.sleep\s*\(|^\s*(?:WAIT|DONE|FAIL)\s*;?\s*$"
    r"|^[ \t]*(?:import\s+pyautogui\s+as\s+\w|from\s+pyautogui\s+import\b)",
    re.MULTILINE,
)
_OTHER_CALL = re.compile(r"^[ \t]*([A-Za-z_][\w.]*)[ \t]*\(", re.MULTILINE)
_MAX_LOOP = 100
_MAX_STEPS = 20_000


def has_a_call(text: str) -> bool:
    """Whether a text holds something that `read_code` knows as an action."""
    return _A_CALL.search(text) is not None


def read_code(code: str, offset: int) -> list[Call]:
    """The calls of some code that stands at `offset` of the answer, loops unrolled. Raises Unfound."""
    source = Source(code, offset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a model's backslashes
            tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _picked(code, offset)
    reader = _Reader(source)
    reader.statements(tree.body, {})
    return reader.calls


def _picked(code: str, offset: int) -> list[Call]:
    """Calls out of code that does not parse."""
    dotted = [f"{owner}.{name}" if owner else name for owner in sorted(_OWNERS) for name in (*SIGNATURES, *_SAME)]
    try:
        picked = find_calls(code, 0, len(code), dotted)
    except Unfound as exc:
        raise Unfound(exc.message, offset + exc.offset, exc.field, exc.hint) from None
    calls = [
        Call(*_named(name, positional, keywords, offset + at), offset + at) for name, positional, keywords, at in picked
    ]
    if not calls:
        raise Unfound("the code is no Python and holds no call that could be picked from it", offset, "code")
    starts = {at for *_, at in picked}
    for line in _OTHER_CALL.finditer(code):
        if line.start(1) not in starts and line[1] not in _IGNORED:
            raise Unfound(f"{line[1][:40]} is no action", offset + line.start(1), "call")
    return calls


def _named(name: str, positional: Sequence[Any], keywords: Mapping[str, Any], at: int) -> tuple[str, dict[str, Any]]:
    owner, _, last = name.rpartition(".")
    last = _SAME.get(last, last)
    names = SIGNATURES.get(last)
    if names is None or owner not in _OWNERS:
        raise Unfound(f"{name} is no action", at, "call", f"use {', '.join(sorted(SIGNATURES))}")
    if names == ("*args",):
        values = [
            *positional,
            *([keywords["args"]] if "args" in keywords else []),
            *([keywords["keys"]] if "keys" in keywords else []),
        ]
        flat = [key for value in values for key in (value if isinstance(value, (list, tuple)) else [value])]
        return last, {"keys": flat}
    if len(positional) == 1 and names[:2] == _POINT and isinstance(positional[0], (list, tuple)):
        positional = positional[0]  # pyautogui takes click((x, y))
    if len(positional) > len(names):
        raise Unfound(f"{last} takes at most {len(names)} arguments", at, "call")
    found = dict(zip(names, positional, strict=False)) | dict(keywords)
    return f"computer.{last}" if owner == "computer" else last, found


class _Reader:
    def __init__(self, source: Source) -> None:
        self.calls: list[Call] = []
        self._at, self._values = source.at, Values(source)
        self._steps = 0

    def statements(self, body: Sequence[ast.stmt], bound: dict[str, Any]) -> None:
        for statement in body:
            self._steps += 1
            if len(self.calls) > MAX_CALLS or self._steps > _MAX_STEPS:
                raise Unfound(f"more than {MAX_CALLS} calls, or loops for nothing", self._at(statement), "call")
            self._statement(statement, bound)

    def _statement(self, node: ast.stmt, bound: dict[str, Any]) -> None:
        match node:
            case ast.Import(names=names):
                self._values.aliases |= {
                    item.asname: item.name for item in names if item.asname and item.name in _OWNERS
                }
            case ast.ImportFrom() | ast.Pass():
                return
            case ast.Expr(value=ast.Constant()):  # a docstring, or a bare literal
                return
            case ast.Expr(value=ast.Name(id=name)) if name in _SPECIAL:
                self.calls.append(Call(name, {}, self._at(node)))
            case ast.Expr(value=ast.Call() as call):
                self._call(call, bound)
            case ast.Assign(targets=[ast.Attribute()]):  # pyautogui.PAUSE = 1, pyautogui.FAILSAFE = False
                return
            case ast.Assign(targets=[target]):
                self._bind(target, self._values.of(node.value, bound), bound)
            case ast.For(target=target, orelse=[]):
                for value in self._items(node.iter, bound):
                    self._bind(target, value, bound)
                    self.statements(node.body, bound)
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if self._dotted(call.func).endswith(
                ".hold"
            ):
                keys = self._arguments(call.args, bound)
                flat = [key for item in keys for key in (item if isinstance(item, (list, tuple)) else [item])]
                self.calls += [Call("keyDown", {"key": key}, self._at(node)) for key in flat]
                self.statements(node.body, bound)
                self.calls += [Call("keyUp", {"key": key}, self._at(node)) for key in reversed(flat)]
            case _:
                raise Unfound(
                    f"{type(node).__name__} is not read as an action", self._at(node), "code", "plain calls only"
                )

    def _call(self, node: ast.Call, bound: Bound) -> None:
        name = self._dotted(node.func)
        if name in _IGNORED:
            return
        positional = self._arguments(node.args, bound)
        keywords = {item.arg: self._values.of(item.value, bound) for item in node.keywords if item.arg}
        self.calls.append(Call(*_named(name, positional, keywords, self._at(node)), self._at(node)))

    def _arguments(self, nodes: Sequence[ast.expr], bound: Bound) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            value = self._values.of(node.value if isinstance(node, ast.Starred) else node, bound)
            found += value if isinstance(node, ast.Starred) and isinstance(value, list) else [value]
        return found

    def _bind(self, target: ast.expr, value: Any, bound: dict[str, Any]) -> None:
        match target:
            case ast.Name(id=name):
                bound[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if isinstance(value, (list, tuple)) and len(parts) == len(
                value
            ):
                for part, item in zip(parts, value, strict=True):
                    self._bind(part, item, bound)
            case _:
                raise Unfound("this assignment is not understood", self._at(target), "code")

    def _items(self, node: ast.expr, bound: Bound) -> list[Any]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if 1 <= len(args) <= 3:
                limits = [self._values.of(item, bound) for item in args]
                if all(isinstance(item, int) for item in limits) and (len(limits) < 3 or limits[2]):
                    items: Sequence[Any] = range(*limits)
                    if len(items) <= _MAX_LOOP:
                        return list(items)
            case ast.Call(func=ast.Name(id="enumerate"), args=[one], keywords=[]):
                return [list(pair) for pair in enumerate(self._items(one, bound))]
            case _:
                items = self._values.of(node, bound)
                if isinstance(items, (list, tuple, str)) and len(items) <= _MAX_LOOP:
                    return list(items)
        raise Unfound(f"only loops over at most {_MAX_LOOP} known things are read", self._at(node), "code")

    def _dotted(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return f"{self._values.owner(owner)}.{name}"
        raise Unfound("only plain calls are read", self._at(node), "code")
