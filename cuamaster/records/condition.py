"""The one language of conditions: preconditions, effects, verifiers, stable boundaries and feedback are all written in it.

A condition is data. It is reasoned about here (`implies`, `conflicts_with`), filled in (`substitute`) and put into words
(`describe`); whether it holds on a desktop is decided in `cuamaster.checks`. Paths may start with `~` (the desktop user's
home). In a primitive, any string may hold `{parameter}` placeholders.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Union

from pydantic import Field, TypeAdapter

from cuamaster.records.record import Record

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class _Leaf(Record):
    """A condition without parts. `_subject` are the fields that say what it is about; the rest is the expected value."""

    def parts(self) -> tuple[Condition, ...]:
        """No sub-conditions."""
        return ()


class FileExists(_Leaf):
    """A file (or folder) is at `path`."""

    kind: Literal["file.exists"] = "file.exists"
    path: str
    type: Literal["file", "dir", "any"] = "any"


class FileText(_Leaf):
    """The text of a file equals, contains or matches `text`; a final newline is ignored by `equals`."""

    kind: Literal["file.text"] = "file.text"
    path: str
    text: str
    match: Literal["equals", "contains", "regex"] = "equals"


class FileTable(_Leaf):
    """One cell of a CSV/TSV file, row and column counted from 1."""

    kind: Literal["file.table"] = "file.table"
    path: str
    row: int = Field(ge=1)
    column: int = Field(ge=1)
    value: str


class FileJson(_Leaf):
    """The value at `keys` in a JSON file (a number is a place in a list, from 0) equals `value`, itself JSON text."""

    kind: Literal["file.json"] = "file.json"
    path: str
    keys: tuple[str, ...]
    value: str


class DocumentCell(_Leaf):
    """One cell of a spreadsheet document (.ods, .xlsx), as shown."""

    kind: Literal["document.cell"] = "document.cell"
    path: str
    cell: str
    value: str
    sheet: str = ""


class DocumentTable(_Leaf):
    """A block of cells of a table document (.xlsx, .ods, .csv, .tsv) holds these values, as stored; '' is an empty cell.

    Numbers are compared as numbers, rounded to `precision` digits after the point. With `whole` the sheet holds nothing else.
    """

    kind: Literal["document.table"] = "document.table"
    path: str
    rows: tuple[tuple[str, ...], ...]
    sheet: str = Field(default="", description="name of the sheet; '' for the one at place `number`")
    number: int = Field(default=1, ge=1, description="place of the sheet, from 1, when it is not named")
    start: str = Field(default="A1", description="the block's first cell")
    whole: bool = True
    precision: int = Field(default=4, ge=0, le=15)
    ignore_case: bool = False
    ignore_blanks: bool = Field(default=False, description="runs of blanks count as one, those at the ends as none")


class DocumentSheets(_Leaf):
    """A spreadsheet document (.xlsx, .ods) has exactly these sheets, in this order."""

    kind: Literal["document.sheets"] = "document.sheets"
    path: str
    names: tuple[str, ...] = Field(min_length=1)


class EpisodeFinish(_Leaf):
    """The policy has ended the episode with this status; false as long as it has not ended it."""

    kind: Literal["episode.finish"] = "episode.finish"
    status: Literal["success", "failure", "infeasible"]


class AppRunning(_Leaf):
    """A process of this application runs in the desktop session."""

    kind: Literal["app.running"] = "app.running"
    app: str


class WindowTitle(_Leaf):
    """Some window of `app` (any app if empty) has a title containing `title`; with `active` it has the focus."""

    kind: Literal["window.title"] = "window.title"
    title: str = ""
    app: str = ""
    active: bool = False


class SettingValue(_Leaf):
    """A gsettings key has this value, in GVariant text form (`true`, `12`, `'text'`)."""

    kind: Literal["setting.value"] = "setting.value"
    schema_id: str
    key: str
    value: str


class ClipboardText(_Leaf):
    """The clipboard holds exactly this text."""

    kind: Literal["clipboard.text"] = "clipboard.text"
    text: str


class CommandOutput(_Leaf):
    """A shell command of the desktop's user exits 0 and prints `text`."""

    kind: Literal["command.output"] = "command.output"
    command: str
    text: str
    match: Literal["equals", "contains", "regex"] = "equals"


class ImageSize(_Leaf):
    """An image file has this size in pixels."""

    kind: Literal["image.size"] = "image.size"
    path: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)


class ScreenText(_Leaf):
    """The text can be read on the screen (inside the active window if `app` is given)."""

    kind: Literal["screen.text"] = "screen.text"
    text: str
    app: str = ""


class All(Record):
    """Every part holds."""

    kind: Literal["all"] = "all"
    of: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        """The joined conditions."""
        return self.of


class AnyOf(Record):
    """At least one part holds."""

    kind: Literal["any"] = "any"
    of: tuple[Condition, ...] = Field(min_length=1)

    def parts(self) -> tuple[Condition, ...]:
        """The alternatives."""
        return self.of


class Not(Record):
    """The part does not hold."""

    kind: Literal["not"] = "not"
    of: Condition

    def parts(self) -> tuple[Condition, ...]:
        """The negated condition."""
        return (self.of,)


Condition = Annotated[
    Union[
        FileExists, FileText, FileTable, FileJson, DocumentCell, DocumentTable, DocumentSheets, AppRunning, WindowTitle, SettingValue,
        ClipboardText, CommandOutput, ImageSize, ScreenText, EpisodeFinish, All, AnyOf, Not,
    ],
    Field(discriminator="kind"),
]  # fmt: skip
for _model in (All, AnyOf, Not):
    _model.model_rebuild()
CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)
"""Parses and dumps any condition."""
