"""Records of one type on disk, found by id: for look-ups into more than should be in memory."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from types import TracebackType
from typing import Generic

from cuamaster.errors import storing
from cuamaster.tables.rows import R

_RECENT = 64


class Shelf(Generic[R]):
    """Put records down under a key, take them up again; only the keys and the last few records are in memory."""

    def __init__(self, record_type: type[R]) -> None:
        self._type = record_type
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._recent: OrderedDict[str, R] = OrderedDict()

    def put(self, key: str, record: R) -> None:
        """Keep a record, in the place of one that is there under that key. Raises StoreFull."""
        data = record.to_json().encode()
        with storing(tempfile.gettempdir()):
            start = self._file.seek(0, 2)
            self._file.write(data)
        self._places[key] = start, len(data)
        self._recent.pop(key, None)

    def get(self, key: str) -> R | None:
        """The record of a key, or None."""
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        place = self._places.get(key)
        if place is None:
            return None
        self._file.seek(place[0])
        record = self._type.model_validate_json(self._file.read(place[1]))
        self._recent[key] = record
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return record

    def __len__(self) -> int:
        return len(self._places)

    def __enter__(self) -> Shelf[R]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
