"""Values in code that is read and never run: literals, names bound before, places in a list, sums of numbers, f-strings."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Mapping
from typing import Any

from cuamaster.dialects.answers import Unfound

_MAX_VALUE = 500
"""Things in a list, and in those inside it; a string counts one for 400 characters. Sums of names could double without end."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
Bound = Mapping[str, Any]
"""Names and the values that they stand for."""


class Source:
    """Code at `offset` of an answer, without the margin that all of its lines share."""

    def __init__(self, code: str, offset: int) -> None:
        self._offset, self._lines = offset, _LINE.findall(code)
        self._margin = min((len(line) - len(line.lstrip(" \t")) for line in self._lines if line.strip()), default=0)
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]
        cut = self._margin
        self.text = "".join(line[cut:] if line.strip() else line for line in self._lines) if cut else code

    def at(self, node: ast.stmt | ast.expr) -> int:
        """Where in the answer a node stands."""
        line = self._lines[node.lineno - 1][self._margin :]
        # the tree counts bytes
        column = len(line.encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "ignore"))
        return self._offset + self._starts[node.lineno - 1] + self._margin + column


class Values:
    """What expressions are; all else raises Unfound with its place."""

    def __init__(self, source: Source) -> None:
        self.aliases: dict[str, str] = {}
        """Another name of a module -> its own."""
        self._source = source

    def owner(self, name: str) -> str:
        """A module's own name."""
        return self.aliases.get(name, name)

    def of(self, node: ast.expr, bound: Bound) -> Any:
        """The value of an expression."""
        value = self._folded(node, bound)
        if _size(value) > _MAX_VALUE:
            raise Unfound("the value is too large", self._source.at(node), "code")
        return value

    def _folded(self, node: ast.expr, bound: Bound) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in bound:
                return bound[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand) if is_number(value := self.of(operand, bound)):
                return -value
            case ast.BinOp(left=left, op=op, right=right):
                return self._sum(self.of(left, bound), op, self.of(right, bound), node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.of(item, bound) for item in items]
            case ast.Subscript(value=inside, slice=ast.Constant(value=int(place))):
                whole = self.of(inside, bound)
                if isinstance(whole, (list, str)) and place < len(whole):
                    return whole[place]
            case ast.JoinedStr(values=parts):
                return "".join(self._printed(part, bound) for part in parts)
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if self.owner(owner) == "pyautogui" and (
                attr.startswith("ease") or attr == "linear"
            ):
                return attr
        raise Unfound(
            f"{ast.unparse(node)[:40]} is no literal", self._source.at(node), "code", "write numbers and strings out"
        )

    def _printed(self, part: ast.expr, bound: Bound) -> str:
        match part:
            case ast.Constant(value=str(text)):
                return text
            case ast.FormattedValue(value=inside, conversion=-1, format_spec=None):
                value = self.of(inside, bound)
                if isinstance(value, str) or (is_number(value) and abs(value) < 1e15):
                    return str(value)
        raise Unfound("this string is not read", self._source.at(part), "code", "write strings out")

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
        raise Unfound("this calculation is not read", self._source.at(node), "code")


def _size(value: Any) -> int:
    # parts were measured when they were made, so this never goes deeper than the limit
    if isinstance(value, list):
        return 1 + sum(map(_size, value))
    return len(value) // 400 if isinstance(value, str) else 1


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
