"""Reads primitives/<app>.yaml with line numbers, so that a mistake is reported as file, line and field; writes evidence back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from cuamaster.action_space import SPECS
from cuamaster.errors import InvalidInput
from cuamaster.records.filling import names_in
from cuamaster.records.primitive import Evidence, Primitive


@dataclass(frozen=True)
class Written:
    """A primitive and where it is written: the lines of its block, counted from 1, the last one included."""

    primitive: Primitive
    path: Path
    first_line: int
    last_line: int


def read_primitives(path: Path, *, evidence: bool = True) -> list[Written]:
    """Primitives of one file; raises InvalidInput `file:line: field: what`. With `evidence` each must have some."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{path}: not valid YAML: {exc}") from exc
    top = _fields(root, path, "a mapping with app and primitives")
    unknown = set(top) - {"app", "primitives", "shared"}
    if unknown:
        raise InvalidInput(f"{path}:{_line(top[min(unknown)])}: {min(unknown)}: unknown field")
    for name in ("app", "primitives"):
        if name not in top:
            raise InvalidInput(f"{path}:1: {name}: missing")
    app, blocks = top["app"], top["primitives"]
    if not isinstance(app, yaml.ScalarNode) or not isinstance(blocks, yaml.SequenceNode):
        raise InvalidInput(f"{path}:{_line(blocks)}: primitives: must be a list, app a name")
    return [_primitive(path, app.value, block, evidence) for block in blocks.value]


def _primitive(path: Path, app: str, block: Any, evidence: bool) -> Written:
    data = _plain(block, path)
    if not isinstance(data, dict):
        raise InvalidInput(f"{path}:{_line(block)}: a primitive must be a mapping")
    data.setdefault("requires", [f"app:{app}"])
    try:
        primitive = Primitive.model_validate({"app": app, **data})
    except ValidationError as exc:
        first = min(
            exc.errors(), key=lambda error: error["type"] == "missing"
        )  # a misspelt field is also a missing one
        where, trail = _find(block, first["loc"])
        raise InvalidInput(f"{path}:{_line(where)}: {trail}: {first['msg']}") from exc
    for problem, field in _problems(primitive):
        where, _ = _find(block, (field,))
        raise InvalidInput(f"{path}:{_line(where)}: {field}: {problem}")
    if evidence and not primitive.evidence:
        raise InvalidInput(
            f"{path}:{_line(block)}: evidence: primitive {primitive.ability!r} has none",
            hint="run `cuamaster primitives verify --record`",
        )
    return Written(primitive, path, _line(block), block.end_mark.line)


def _problems(primitive: Primitive) -> list[tuple[str, str]]:
    """(problem, field) of what the record's types cannot see."""
    known = {parameter.name for parameter in primitive.parameters}
    found: list[tuple[str, str]] = []
    for field in ("instruction", "preconditions", "effects", "verifier", "setup", "procedures"):
        loose = names_in(primitive.model_dump(mode="json", include={field})) - known
        if loose:
            found.append((f"parameter {min(loose)!r} is not declared under parameters", field))
    unused = known - names_in(
        primitive.model_dump(mode="json", include={"preconditions", "effects", "verifier", "procedures"})
    )
    if unused:
        found.append((f"parameter {min(unused)!r} is used nowhere", "parameters"))
    for procedure in primitive.procedures:
        for step in procedure.steps:
            if step.type not in SPECS:
                found.append((f"unknown action type {step.type!r}", "procedures"))
    return found


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _fields(node: Any, path: Path, what: str) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise InvalidInput(f"{path}:1: must be {what}")
    return {key.value: value for key, value in node.value}


def _plain(node: Any, path: Path) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except yaml.YAMLError as exc:
        raise InvalidInput(f"{path}:{_line(node)}: {exc}") from exc
    finally:
        loader.dispose()


def _find(node: Any, trail: tuple[int | str, ...]) -> tuple[Any, str]:
    """The deepest node on a pydantic error's path (tags of unions are not in the YAML and are skipped)."""
    names: list[str] = []
    for step in trail:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == step:
                    node = value
                    names.append(str(step))
                    break
            else:
                names.append(str(step))
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            names.append(str(step))
    return node, ".".join(names)


def write_evidence(path: Path, found: dict[int, tuple[Evidence, ...]]) -> None:
    """Put evidence (by a block's first line) into a file as the block's last line, leaving everything else as it is written."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for written in reversed(read_primitives(path, evidence=False)):
        if written.first_line not in found:
            continue
        items = [
            evidence.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
            for evidence in found[written.first_line]
        ]
        for data, evidence in zip(items, found[written.first_line], strict=True):
            data["kind"] = evidence.kind
        line = "    evidence: " + json.dumps(items, ensure_ascii=False)
        block = slice(written.first_line - 1, written.last_line)
        kept = [text for text in lines[block] if not text.startswith("    evidence:")]
        blank: list[str] = []
        while kept and not kept[-1].strip():
            blank.append(kept.pop())
        lines[block] = [*kept, line, *blank]
    fresh = path.with_suffix(".yaml.new")
    fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fresh.replace(path)
