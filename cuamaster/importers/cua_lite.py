"""cua-lite: Parquet rows of `images`, `messages`, `metadata` as trajectories.

Format: lite/data/README.md, lite/core/messages/content.py, lite/core/metadata.py and lite/core/tools in github.com/cua-lite/cua-lite.
Messages and metadata are JSON texts (older files: nested columns); images are paths into the dataset's image store, or, as
published, bytes. A user turn holds the instruction and the first picture; an assistant turn holds calls of the tool `computer` with
a list of actions, coordinates 0-1000, and of other tools; a tool turn answers each with text and the next picture. A last assistant
turn without calls ends the episode, with the status that `terminate_status` in the metadata gives: there is one only where it is
not success (lite/data/preproc/opencua/AGENTS.md, "Step 4").
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.action_space import CUAAction
from cuamaster.errors import InvalidAction, InvalidInput, Unmappable
from cuamaster.importers.code import cursor_of
from cuamaster.importers.cua_lite_actions import actions_of
from cuamaster.importers.found import FAULTS, Found, Skip, lost, never, refused, text_of, told
from cuamaster.importers.pictures import PictureFolders, observe
from cuamaster.ports import Store
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Trajectory

_COLUMNS = ("images", "messages", "metadata")
_PLATFORMS = ("desktop", "browser")
_ANCESTORS = 8
_STRUCTURAL = {"", "done.", "done"}
"""Final words that only say that the episode is over."""
_THOUGHTS = ("inline_reasoning",)
_READ = {"text", "image", *_THOUGHTS}
_MAPPED = {"id", "task_id", "terminate_status", "terminate_reason"}


def read_cua_lite(
    path: Path, store: Store, *, images: Path | None = None, license_name: str | None = None, skip: Skip = never
) -> Iterator[Found]:
    """Every row of a Parquet file, or of all those in a folder; `images`: the folder that image paths begin in.

    Raises InvalidInput for a file that is no Parquet or lacks one of the three columns.
    """
    if not path.exists():
        raise InvalidInput(f"{path}: no such file or folder")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise InvalidInput(f"{path}: holds no Parquet file")
    for file in files:
        folders = PictureFolders(images) if images else PictureFolders(*list(file.resolve().parents)[:_ANCESTORS])
        for number, row in _rows(file):
            item = told(f"cua-lite:{file.name}:{number}")
            try:
                metadata = _json(row["metadata"], f"{file}, row {number}: metadata")
                name = _name(metadata)
                item = told(f"cua-lite:{name}") if name else item
                yield (
                    Found(item, skipped=True)
                    if skip(item)
                    else _trajectory(row, metadata, item, f"{file}, row {number}", folders, store, license_name)
                )
            except FAULTS as exc:
                yield refused(item, exc)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with pq.ParquetFile(path) as file:
            missing = [name for name in _COLUMNS if name not in file.schema_arrow.names]
            if missing:
                raise InvalidInput(f"{path}: no column {', '.join(missing)}", hint="give a Parquet file of cua-lite")
            number = 0
            for batch in file.iter_batches(batch_size=4, columns=list(_COLUMNS)):  # rows hold pictures
                for row in batch.to_pylist():
                    yield number, row
                    number += 1
    except (pa.ArrowException, UnicodeDecodeError, OSError) as exc:
        raise InvalidInput(f"{path}: damaged, or not a Parquet file: {exc}") from exc


def _name(metadata: Any) -> str:
    others = metadata.get("others") if isinstance(metadata, dict) else None
    names = [others.get(key) for key in ("id", "task_id")] if isinstance(others, dict) else []
    return next((name for name in names if isinstance(name, str) and name), "")


def _json(value: Any, where: str) -> Any:
    """The data of a cell: JSON text, or nested columns with the None keys that they grew."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as exc:
            raise Unmappable(f"{where}: not JSON: {exc}", reason="not-json") from exc
    return _without_none(value)


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def _trajectory(
    row: Mapping[str, Any],
    metadata: Any,
    item: str,
    where: str,
    folders: PictureFolders,
    store: Store,
    license_name: str | None,
) -> Found:
    if not isinstance(metadata, dict):
        raise Unmappable(f"{where}: metadata is no object", reason="malformed", names=("metadata",))
    dims = tuple(metadata.get("dims") or ())
    if len(dims) != 2 or dims[0] not in _PLATFORMS or dims[1] != "use":
        name = ".".join(map(str, dims))
        raise Unmappable(f"{where}: {name} is no trajectory of a desktop", reason="other-kind-of-row", names=(name,))
    others = metadata.get("others")
    others = others if isinstance(others, dict) else {}
    _passed(others, where)
    walk = _Walk(row.get("images") or [], where, folders, store, _ending(others))
    messages = _json(row["messages"], f"{where}: messages")
    if not isinstance(messages, list):
        raise Unmappable(f"{where}: messages is no list", reason="malformed", names=("messages",))
    for index, message in enumerate(messages):
        walk.read(message, f"{where}, message {index}", last=index == len(messages) - 1)
    final = walk.final()
    names = walk.names + Counter(key for key, value in others.items() if key not in _MAPPED and value is not None)
    trajectory = Trajectory(
        origin="imported", task_id=str(others.get("task_id") or item), instruction=walk.instruction, app="",
        steps=tuple(walk.steps), final=final, lineage=Lineage(source=item, license=license_name), annotator="cua-lite",
    )  # fmt: skip
    return Found(item, kept=(trajectory,), dropped=lost(item, names))


def _passed(others: Mapping[str, Any], where: str) -> None:
    """Raises Unmappable for an episode that the source itself calls failed."""
    result = others.get("episode_return")
    worse = isinstance(result, (int, float)) and not isinstance(result, bool) and result < 1
    if worse or others.get("task_completed") is False:
        raise Unmappable(f"{where}: the source says that the task was not completed", reason="source-says-failed")


def _ending(others: Mapping[str, Any]) -> dict[str, Any]:
    """How a run ended that has only words at its end: arguments of `finish`."""
    reason = others.get("terminate_reason")
    return {"status": others.get("terminate_status") or "success", **({"answer": reason} if reason else {})}


class _Walk:
    """The messages of one row, read in order: the picture that stands on the screen, and the steps so far."""

    def __init__(
        self, images: list[Any], where: str, folders: PictureFolders, store: Store, ending: Mapping[str, Any]
    ) -> None:
        self.steps: list[Step] = []
        self.names: Counter[str] = Counter()
        self.instruction = ""
        self._images, self._where, self._folders, self._store, self._ending = images, where, folders, store, ending
        self._screen: Observation | None = None
        self._fresh = False
        self._texts: list[str] = []
        self._cursor: tuple[float, float] | None = None

    def read(self, message: Any, where: str, *, last: bool) -> None:
        """One message; raises Unmappable."""
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            self._act(message, where, last=last)
        elif role in ("user", "tool"):
            for part in self._parts(message, where):
                if part["type"] == "image":
                    self._look(part, where)
                elif part["type"] == "text" and role == "user" and not self.instruction:
                    self.instruction = text_of(part, "text", where)
                elif part["type"] == "text":
                    self._texts.append(text_of(part, "text", where, empty=True))
        elif role == "system":
            self.names["system message"] += 1
        else:
            raise Unmappable(f"{where}: role {role!r}", reason="malformed", names=("role",))

    def final(self) -> Observation:
        """The last screen; raises Unmappable for a row without instruction or steps, or without a picture of its end."""
        if not self.instruction or not self.steps or self._screen is None:
            raise Unmappable(f"{self._where}: no instruction, or no action with a picture before it", reason="no-steps")
        ended = self.steps[-1].actions[-1].action.type == "finish"
        if not ended and not self._fresh:
            raise Unmappable(f"{self._where}: no picture after the last action", reason="no-final-picture")
        return self._screen

    def _parts(self, message: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
        content = message.get("content") or []
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        if not isinstance(content, list) or not all(
            isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
        ):
            raise Unmappable(f"{where}: content is no list of parts", reason="malformed", names=("content",))
        self.names.update(part["type"] for part in content if part["type"] not in _READ)
        return content

    def _look(self, part: Mapping[str, Any], where: str) -> None:
        index = part.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(self._images):
            raise Unmappable(f"{where}: image {index!r} of {len(self._images)}", reason="no-picture")
        given = self._images[index]
        data = given.get("bytes") if isinstance(given, dict) else given
        name = given.get("path") if isinstance(given, dict) else given
        if not isinstance(data, bytes):
            data = self._folders.read(name if isinstance(name, str) else "", where)
        self._screen, self._fresh = observe(data, self._store, where), True

    def _act(self, message: Mapping[str, Any], where: str, *, last: bool) -> None:
        parts = self._parts(message, where)
        if self.steps and self.steps[-1].actions[-1].action.type == "finish":
            self.names["a turn after the end"] += 1
            return
        calls = message.get("tool_calls") or []
        said = "\n".join(part["text"] for part in parts if part["type"] == "text" and isinstance(part.get("text"), str))
        if not calls and not last:
            raise Unmappable(
                f"{where}: an assistant turn without calls in the middle", reason="malformed", names=("tool_calls",)
            )
        try:
            actions = self._called(calls) if calls else [self._ended(said)]
        except InvalidAction as exc:
            raise Unmappable(f"{where}: {exc}", reason="unknown-action", names=(exc.field,)) from exc
        if not actions:
            return
        if self._screen is None:
            raise Unmappable(f"{where}: no picture before the first action", reason="no-picture")
        self._cursor = cursor_of(actions, self._cursor)
        reasons = [part["text"] for part in parts if part["type"] in _THOUGHTS and isinstance(part.get("text"), str)]
        thought = message.get("reasoning_content")
        whole = [*([thought] if isinstance(thought, str) else []), *reasons, *([said] if calls else [])]
        observation = self._screen.model_copy(update={"response": "\n".join(text for text in self._texts if text)})
        self.steps.append(
            Step(
                observation=observation,
                actions=tuple(Action(action=a) for a in actions),
                thought="\n".join(t for t in whole if t),
            )
        )
        self._texts, self._fresh = [], False

    def _called(self, calls: Any) -> list[CUAAction]:
        actions, names = actions_of(calls, self._cursor)
        self.names.update(names)
        return actions

    def _ended(self, said: str) -> CUAAction:
        answer = {} if said.strip().lower() in _STRUCTURAL else {"answer": said}
        finish = CUAAction("finish", {**self._ending, **answer})
        finish.validate()
        return finish
