"""The one parent of all records: frozen, strict about fields, hashed by content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Immutable data; unknown fields are an error so that typos in YAML and JSON are found."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)

    def to_json(self) -> str:
        """Canonical JSON (sorted keys, no blanks): what is stored and hashed."""
        return canonical_json(self.model_dump(mode="json"))


def canonical_json(data: Any) -> str:
    """JSON text that is equal exactly when the data is."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_id(prefix: str, *parts: Any) -> str:
    """`prefix-` and 16 hex digits of SHA-256 over the canonical JSON of the parts."""
    digest = hashlib.sha256(canonical_json([_plain(part) for part in parts]).encode()).hexdigest()
    return f"{prefix}-{digest[:16]}"


def _plain(part: Any) -> Any:
    if isinstance(part, BaseModel):
        return part.model_dump(mode="json")
    if isinstance(part, (list, tuple)):
        return [_plain(item) for item in part]
    return part
