"""YAML text to a checked record; every complaint names the file, the line and the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from cuamaster.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)


_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser where PyYAML was built with it: ten times as fast, with the same marks."""


def parse_yaml(model: type[M], text: str, source: str) -> M:
    """Check `text` against `model`; raises InvalidInput "source, line N, field a.b: what is wrong" for the first fault."""
    return parse_located(model, text, source)[0]


def parse_located(model: type[M], text: str, source: str) -> tuple[M, yaml.Node | None]:
    """As `parse_yaml`, with the node tree for those who find faults that the model cannot see: `line_of(node, path)`."""
    data, node = load_yaml(text, source)
    try:
        return model.model_validate(data), node
    except ValidationError as exc:
        faults = (
            exc.errors()
        )  # one inside a list makes pydantic find the list too short as well: the inner one says more
        inner = [item for item in faults if not any(_within(other["loc"], item["loc"]) for other in faults)]
        # A misspelt field is a missing one too: what is there comes first.
        fault = min(inner, key=lambda item: (item["type"] == "missing", line_of(node, item["loc"])))
        field = ".".join(str(part) for part in fault["loc"]) or "(top)"
        more = f" ({exc.error_count() - 1} more)" if exc.error_count() > 1 else ""
        raise InvalidInput(
            f"{source}, line {line_of(node, fault['loc'])}, field {field}: {fault['msg']}{more}"
        ) from exc


def _within(inner: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def load_yaml(text: str, source: str) -> tuple[Any, yaml.Node | None]:
    """Plain data and the node tree that knows its lines; raises InvalidInput for bad YAML and for a key given twice."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        _refuse_duplicates(node, source, "")
        return loader.construct_document(node), node
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = mark.line + 1 if mark else 1
        raise InvalidInput(f"{source}, line {line}, field (YAML): {exc.problem or exc.context}") from exc
    except yaml.YAMLError as exc:
        raise InvalidInput(f"{source}, line 1, field (YAML): {exc}") from exc
    finally:
        loader.dispose()


def line_of(node: yaml.Node | None, loc: Sequence[str | int]) -> int:
    """Line (from 1) of the deepest existing part of `loc`; a missing field gets the line of what should hold it."""
    line = 1 if node is None else int(node.start_mark.line) + 1
    for part in loc:
        child: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, child = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            child = node.value[part]
            line = child.start_mark.line + 1
        if child is None:
            continue  # a tag of a union, or the missing field itself
        node = child
    return line


def _refuse_duplicates(node: yaml.Node, source: str, path: str) -> None:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _refuse_duplicates(item, source, f"{path}.{index}".strip("."))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = f"{path}.{key.value}".strip(".")
            if key.value in seen:
                raise InvalidInput(f"{source}, line {key.start_mark.line + 1}, field {name}: given twice")
            seen.add(key.value)
            _refuse_duplicates(value, source, name)
