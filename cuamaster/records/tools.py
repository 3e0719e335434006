"""The tools that `tool.call` can reach on every desktop: what they are called and what they take, as data."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cuamaster.records.record import Record


class ToolSpec(Record):
    """One registered tool; `parameters` is the JSON Schema of its arguments object."""

    name: str
    description: str
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="screen.text", description="Read the text that is on the screen now, one line per text box, top to bottom."
    ),
    ToolSpec(
        name="windows.list", description="List the open windows: application, title, and which one has the focus."
    ),
    ToolSpec(name="clipboard.read", description="Return the text on the clipboard."),
)
"""All tools; `propagation.collection.tools` performs them, the dialects show them to models."""
