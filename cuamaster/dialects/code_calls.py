"""pyautogui code as calls: statements are read from the syntax tree, literals folded, short loops unrolled, nothing run.

Read are calls of pyautogui (also under another name, `import pyautogui as pg`), `computer.*`, time.sleep, pyperclip.copy
followed by a paste, names bound to literals before, places in a list, sums of numbers, f-strings, `for` over a short range, list or
string, and `with pyautogui.hold(...)`. Imports, prints, tweens and settings such as pyautogui.PAUSE do nothing. All else raises
Unfound with its place. Where the code is no Python, as with an unescaped quote, the calls are picked from it one by one.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.dialects.answers import Call, Unfound
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
_MAX_VALUE = 500
"""Things in a list, and in those inside it; a string counts one for 400 characters. Sums of names could double without end."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
Bound = Mapping[str, Any]


def has_a_call(text: str) -> bool:
    """Whether a text holds something that `read_code` knows as an action."""
    return _A_CALL.search(text) is not None


def read_code(code: str, offset: int) -> list[Call]:
    """The calls of some code that stands at `offset` of the answer, loops unrolled. Raises Unfound."""
    lines = _LINE.findall(code)
    margin = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a model's backslashes
            tree = ast.parse("".join(line[margin:] if line.strip() else line for line in lines) if margin else code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _picked(code, offset)
    reader = _Reader(offset, lines, margin)
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
    def __init__(self, offset: int, lines: Sequence[str], margin: int) -> None:
        self.calls: list[Call] = []
        self._offset, self._lines, self._margin = offset, lines, margin
        self._steps = 0
        self._aliases: dict[str, str] = {}
        self._starts = [0, *itertools.accumulate(map(len, lines))]

    def statements(self, body: Sequence[ast.stmt], bound: dict[str, Any]) -> None:
        for statement in body:
            self._steps += 1
            if len(self.calls) > MAX_CALLS or self._steps > _MAX_STEPS:
                raise Unfound(f"more than {MAX_CALLS} calls, or loops for nothing", self._at(statement), "call")
            self._statement(statement, bound)

    def _statement(self, node: ast.stmt, bound: dict[str, Any]) -> None:
        match node:
            case ast.Import(names=names):
                self._aliases |= {item.asname: item.name for item in names if item.asname and item.name in _OWNERS}
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
                self._bind(target, self._value(node.value, bound), bound)
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
        keywords = {item.arg: self._value(item.value, bound) for item in node.keywords if item.arg}
        self.calls.append(Call(*_named(name, positional, keywords, self._at(node)), self._at(node)))

    def _arguments(self, nodes: Sequence[ast.expr], bound: Bound) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            value = self._value(node.value if isinstance(node, ast.Starred) else node, bound)
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
                limits = [self._value(item, bound) for item in args]
                if all(isinstance(item, int) for item in limits) and (len(limits) < 3 or limits[2]):
                    items: Sequence[Any] = range(*limits)
                    if len(items) <= _MAX_LOOP:
                        return list(items)
            case ast.Call(func=ast.Name(id="enumerate"), args=[one], keywords=[]):
                return [list(pair) for pair in enumerate(self._items(one, bound))]
            case _:
                items = self._value(node, bound)
                if isinstance(items, (list, tuple, str)) and len(items) <= _MAX_LOOP:
                    return list(items)
        raise Unfound(f"only loops over at most {_MAX_LOOP} known things are read", self._at(node), "code")

    def _value(self, node: ast.expr, bound: Bound) -> Any:
        value = self._folded(node, bound)
        if _size(value) > _MAX_VALUE:
            raise Unfound("the value is too large", self._at(node), "code")
        return value

    def _folded(self, node: ast.expr, bound: Bound) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in bound:
                return bound[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand) if is_number(value := self._value(operand, bound)):
                return -value
            case ast.BinOp(left=left, op=op, right=right):
                return self._sum(self._value(left, bound), op, self._value(right, bound), node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, bound) for item in items]
            case ast.Subscript(value=inside, slice=ast.Constant(value=int(place))):
                whole = self._value(inside, bound)
                if isinstance(whole, (list, str)) and place < len(whole):
                    return whole[place]
            case ast.JoinedStr(values=parts):
                return "".join(self._printed(part, bound) for part in parts)
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if self._aliases.get(
                owner, owner
            ) == "pyautogui" and (attr.startswith("ease") or attr == "linear"):
                return attr
        raise Unfound(
            f"{ast.unparse(node)[:40]} is no literal", self._at(node), "code", "write numbers and strings out"
        )

    def _printed(self, part: ast.expr, bound: Bound) -> str:
        match part:
            case ast.Constant(value=str(text)):
                return text
            case ast.FormattedValue(value=inside, conversion=-1, format_spec=None):
                value = self._value(inside, bound)
                if isinstance(value, str) or (is_number(value) and abs(value) < 1e15):
                    return str(value)
        raise Unfound("this string is not read", self._at(part), "code", "write strings out")

    def _sum(self, left: Any, op: ast.operator, right: Any, node: ast.expr) -> Any:
        if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
            return left + right
        if is_number(left) and is_number(right) and max(abs(left), abs(right)) < 1e9:
            match op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case ast.Div() | ast.FloorDiv() if right:
                    return left / right if isinstance(op, ast.Div) else left // right
        raise Unfound("this calculation is not read", self._at(node), "code")

    def _dotted(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return f"{self._aliases.get(owner, owner)}.{name}"
        raise Unfound("only plain calls are read", self._at(node), "code")

    def _at(self, node: ast.stmt | ast.expr) -> int:
        line = self._lines[node.lineno - 1][self._margin :]
        # the tree counts bytes
        column = len(line.encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "ignore"))
        return self._offset + self._starts[node.lineno - 1] + self._margin + column


def _size(value: Any) -> int:
    # parts were measured when they were made, so this never goes deeper than the limit
    if isinstance(value, list):
        return 1 + sum(map(_size, value))
    return len(value) // 400 if isinstance(value, str) else 1


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
