"""Rows without anything personal: placeholders in their texts, mosaics on their pictures, wherever a row keeps them."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, storing
from cuamaster.exports.preflight.personal import find_personal
from cuamaster.exports.preflight.pictures import find_beside, inline
from cuamaster.exports.preflight.problem import Rules
from cuamaster.exports.preflight.screens import Screens
from cuamaster.exports.preflight.texts import rewritten, texts_of
from cuamaster.exports.sft import conversation
from cuamaster.records.record import canonical_json
from cuamaster.records.trajectory import Step

_PATHS = ("images", "image", "screenshot")
"""Keys under which a string names a picture beside the dataset."""


@dataclass
class Hider:
    """Hides row after row of the dataset under `folder`; pictures that lie beside it get into `out`, changed or as they are."""

    folder: Path
    out: Path
    screens: Screens
    rules: Rules
    hidden: Counter[str] = field(default_factory=Counter)
    """Values made unreadable, by kind."""
    pictures: int = 0
    """Pictures changed, each once a row."""

    def row(self, values: dict[str, Any], kind: str) -> dict[str, Any]:
        """The row without anything personal that its texts and pictures show; the same row if there is nothing.

        Raises IntegrityError for a picture that does not decode, StoreFull, StoreUnwritable.
        """
        regions = self.rules.phone_regions
        known = {
            text[span.start : span.end]: span.kind
            for _, text in texts_of(values, kind)
            for span in find_personal(text, regions)
            if self.rules.wants(span.check)
        }
        painter = _Painter(self, known)
        painted = {name: painter.value(value, name) for name, value in values.items()}
        if not known and not painter.changed:
            return values
        self.hidden.update(known.values())
        self.pictures += len(painter.changed)
        fresh = rewritten(painted, _placeholders(known))
        return _rendered(fresh, painter.changed) if kind == "sft" else dict(fresh)


@dataclass
class _Painter:
    """The pictures of one row: bytes in it, data URLs, and files beside the dataset."""

    hider: Hider
    known: Mapping[str, str]
    changed: dict[str, str] = field(default_factory=dict)
    """Digest -> digest of the changed picture."""

    def value(self, value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            if value.get("bytes") and isinstance(value["bytes"], bytes):
                data, digest = self._painted(value["bytes"])
                return {"bytes": data, "path": f"{digest}.png"} if digest else value
            if isinstance(value.get("path"), str) and key in _PATHS:
                return {**value, "path": self._beside(value["path"])}
            return {name: self.value(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if isinstance(value, str) and value.startswith("data:image/"):
            data, digest = self._painted(inline(value) or b"")
            return f"data:image/png;base64,{base64.b64encode(data).decode()}" if digest else value
        return self._beside(value) if isinstance(value, str) and key in _PATHS else value

    def _painted(self, data: bytes) -> tuple[bytes, str]:
        """The bytes to show, and their digest where they were changed."""
        try:
            fresh = self.hider.screens.hidden(data, self.known)
        except ValueError as exc:
            raise IntegrityError(
                f"nobody can say what a picture shows: it {exc}", hint="leave `images` blocking"
            ) from exc
        if fresh is None:
            return data, ""
        digest = hashlib.sha256(fresh).hexdigest()
        self.changed[hashlib.sha256(data).hexdigest()] = digest
        return fresh, digest

    def _beside(self, name: str) -> str:
        """Copies a picture that lies beside the dataset, or puts the changed one there; the name that it has now."""
        found = find_beside(self.hider.folder, name)
        if found is None:  # no picture: preflight's business
            return name
        data, digest = self._painted(found.read_bytes())
        place = f"images/{digest[:2]}/{digest}.png" if digest else found.relative_to(self.hider.folder).as_posix()
        target = self.hider.out / place
        if not target.exists():
            with storing(target.parent):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data) if digest else shutil.copyfile(found, target)
        return place if digest else name


def _placeholders(known: Mapping[str, str]) -> Callable[[str], str]:
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    for value, kind in known.items():
        numbers[kind] += 1
        names[value] = "user" if kind == "path" else f"[{kind} {numbers[kind]}]"
    longest = sorted(names, key=len, reverse=True)  # one value may be part of another

    def change(text: str) -> str:
        for value in longest:
            text = text.replace(value, names[value])
        return text

    return change


def _rendered(row: dict[str, Any], pictures: Mapping[str, str]) -> dict[str, Any]:
    """A trajectory's other columns, made again from its steps."""
    steps = []
    for plain in json.loads(row["steps_json"]):
        seen = plain["observation"]
        seen["screenshot"] = pictures.get(seen["screenshot"], seen["screenshot"])
        steps.append(Step.model_validate(plain))
    messages = qwen.render_steps(steps, instruction=row["instruction"], mode=row["mode"])
    return {
        **row,
        "steps_json": canonical_json([step.model_dump(mode="json") for step in steps]),
        "messages": json.dumps(messages, ensure_ascii=False),
        "conversation": conversation(messages),
    }
