"""When two written values are the same: texts, JSON, GVariant; and whether observed text meets an expectation."""

from __future__ import annotations

import json
import re


def same_text(left: str, right: str) -> bool:
    """Equality of file texts: one final newline does not count, nor does the kind of line end."""
    return plain_text(left) == plain_text(right)


def plain_text(text: str) -> str:
    """Text with \\n line ends and without its final newline."""
    return text.replace("\r\n", "\n").removesuffix("\n")


def matches(text: str, expected: str, match: str) -> bool:
    """Whether observed text meets an `equals`, `contains` or `regex` expectation; raises re.error for a bad pattern."""
    if match == "equals":
        return same_text(text, expected)
    if match == "contains":
        return expected in text.replace("\r\n", "\n")
    return re.search(expected, text, re.MULTILINE) is not None


def same_json(left: str, right: str) -> bool:
    """Whether two JSON texts are the same value (14 is 14.0, but true is not 1); one that is no JSON equals only itself."""
    try:
        return _canonical(left) == _canonical(right)
    except (ValueError, RecursionError):
        return left == right


def _canonical(text: str) -> str:
    # whole numbers lose their fraction; compared as text, so that no truth value equals a number
    return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def same_variant(left: str, right: str) -> bool:
    """Whether two GVariant texts are the same value: a type prefix such as `uint32` and the kind of quote do not count."""
    return _variant(left) == _variant(right)


def _variant(text: str) -> str:
    bare = re.sub(r"^(?:byte|u?int(?:16|32|64)|double|handle|@\S+)\s+", "", text.strip())
    if len(bare) > 1 and bare[0] == bare[-1] == '"' and "'" not in bare:
        bare = f"'{bare[1:-1]}'"
    return bare
