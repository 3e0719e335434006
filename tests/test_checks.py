"""Checks on a desktop kept in memory: every kind, three values, and one shell call for the cheap questions."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from cuamaster.checks import holds, sheets_like, table_like, unmet, verify
from cuamaster.errors import GuestDied, InvalidInput
from cuamaster.ports import Frame, Image, ShellResult
from cuamaster.records.condition import (
    All,
    AnyOf,
    AppRunning,
    ClipboardText,
    CommandOutput,
    Condition,
    DocumentCell,
    DocumentSheets,
    DocumentTable,
    EpisodeFinish,
    FileExists,
    FileJson,
    FileTable,
    FileText,
    ImageSize,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.trajectory import StateSignature, TextBox, Window

EDITOR = Window(app="editor", title="notes.txt - Editor", x=100, y=100, width=300, height=200)
OTHER = Window(app="files", title="home", x=0, y=0, width=80, height=80)


def _ods(cells: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "content.xml",
            '<o:c xmlns:o="o" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
            f'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><table:table table:name="S">{cells}</table:table></o:c>',
        )
    return out.getvalue()


class RoomDesktop:
    """Files in a real folder, a real shell in it, and a fixed screen; what a check asks of a desktop and no more."""

    image, image_digest, capabilities = "room", "digest", frozenset[str]()
    width, height = 640, 480

    def __init__(self, home: Path) -> None:
        self.home = home
        self.commands: list[str] = []
        self.active: Window | None = EDITOR

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
        self.commands.append(command)
        environment = {"HOME": str(self.home), "PATH": f"{self.home}/bin:/usr/bin:/bin"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return ShellResult(done.stdout, done.stderr, done.returncode)

    def read_file(self, path: str) -> bytes | None:
        real = self.home / path.removeprefix("~/")
        return real.read_bytes() if real.is_file() else None

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        return StateSignature(active=self.active, windows=(OTHER, EDITOR))

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:
        return Frame(image=np.zeros((self.height, self.width, 3), np.uint8), t=0.0)


class FixedReader:
    """Reads the same boxes off every picture."""

    name = "fixed"

    def __init__(self, *boxes: tuple[str, float, float]) -> None:
        self.boxes = [TextBox(text=text, x0=x, y0=y, x1=x + 60, y1=y + 12) for text, x, y in boxes]

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return self.boxes


READER = FixedReader(("Buy milk", 120, 150), ("elsewhere", 500, 400))


@pytest.fixture
def desktop(tmp_path: Path) -> RoomDesktop:
    (tmp_path / "bin").mkdir()
    programs = {
        "gsettings": 'case "$3" in size) echo "uint32 4";; name) echo "\'x\'";; *) echo "No such key" >&2; exit 1;; esac',
        "xclip": f'cat "{tmp_path}/clip" 2>/dev/null || exit 1',
    }
    for name, script in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "notes.txt").write_text("milk\nbread\n")
    (tmp_path / "it's here").mkdir()
    (tmp_path / "table.csv").write_text('name,price\n"tea, green",4\n')
    (tmp_path / "settings.json").write_text('{"editor.size": 14, "tabs": [{}, {"on": true}]}')
    (tmp_path / "table.tsv").write_text("a\tb,c\n")
    (tmp_path / "sheet.ods").write_bytes(
        _ods('<table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row><table:table-row>'
             '<table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>12.5</text:p></table:table-cell></table:table-row>')
    )  # fmt: skip
    Picture.new("RGB", (30, 20)).save(tmp_path / "picture.png")
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    return RoomDesktop(tmp_path)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (FileExists(path="~/notes.txt", type="file"), True),
        (FileExists(path="~/notes.txt", type="dir"), False),
        (FileExists(path="~/it's here", type="dir"), True),
        (FileExists(path="~/nothing"), False),
        (FileText(path="~/notes.txt", text="milk\nbread"), True),
        (FileText(path="~/notes.txt", text="bread", match="contains"), True),
        (FileText(path="~/notes.txt", text="^bread$", match="regex"), True),
        (FileText(path="~/notes.txt", text="milk"), False),
        (FileText(path="~/nothing", text=""), False),
        (FileText(path="~/notes.txt", text="(", match="regex"), None),
        (FileTable(path="~/table.csv", row=2, column=1, value="tea, green"), True),
        (FileTable(path="~/table.csv", row=2, column=2, value="5"), False),
        (FileTable(path="~/table.csv", row=9, column=1, value=""), False),
        (FileTable(path="~/table.tsv", row=1, column=2, value="b,c"), True),
        (FileJson(path="~/settings.json", keys=("editor.size",), value="14.0"), True),
        (FileJson(path="~/settings.json", keys=("tabs", "1", "on"), value="true"), True),
        (FileJson(path="~/settings.json", keys=("tabs", "1", "on"), value="1"), False),
        (FileJson(path="~/settings.json", keys=("tabs",), value='[{}, {"on": 1}]'), False),
        (FileJson(path="~/settings.json", keys=("tabs", "2"), value="null"), False),
        (FileJson(path="~/settings.json", keys=("editor.size", "x"), value="14"), False),
        (FileJson(path="~/nothing.json", keys=(), value="{}"), False),
        (FileJson(path="~/notes.txt", keys=(), value="{}"), None),
        (DocumentCell(path="~/sheet.ods", cell="C3", value="12.5"), True),
        (DocumentCell(path="~/sheet.ods", cell="C2", value="12.5"), False),
        (DocumentCell(path="~/sheet.ods", cell="C3", value="12.5", sheet="T"), None),
        (DocumentCell(path="~/notes.txt", cell="A1", value="x"), None),
        (DocumentTable(path="~/table.csv", rows=(("name", "price"), ("tea, green", "4.0"))), True),
        (DocumentTable(path="~/table.csv", rows=(("name", "price"), ("tea, green", "4.00001"))), True),
        (DocumentTable(path="~/table.csv", rows=(("name", "price"), ("tea, green", "4.00001")), precision=5), False),
        (DocumentTable(path="~/table.csv", rows=(("name", "price"),)), False),
        (
            DocumentTable(
                path="~/table.csv", rows=(("NAME", "Price "),), whole=False, ignore_case=True, ignore_blanks=True
            ),
            True,
        ),
        (DocumentTable(path="~/table.csv", rows=(("NAME",),), whole=False), False),
        (DocumentTable(path="~/table.csv", rows=(("4",),), start="B2", whole=False), True),
        (DocumentTable(path="~/table.csv", rows=(("4",),), start="B2"), False),
        (DocumentTable(path="~/table.csv", rows=(("", ""),), start="C9", whole=False), True),
        (DocumentTable(path="~/table.csv", rows=((),), number=2), False),
        (DocumentTable(path="~/sheet.ods", rows=((), (), ("", "", "12.5"))), True),
        (DocumentTable(path="~/sheet.ods", rows=(("12.50", ""),), start="C3"), True),
        (DocumentTable(path="~/sheet.ods", rows=(("12.5",),), start="C3", sheet="T"), False),
        (DocumentTable(path="~/notes.ods", rows=()), False),
        (DocumentTable(path="~/broken.png", rows=()), None),
        (DocumentSheets(path="~/sheet.ods", names=("S",)), True),
        (DocumentSheets(path="~/sheet.ods", names=("S", "T")), False),
        (DocumentSheets(path="~/nothing.ods", names=("S",)), False),
        (DocumentSheets(path="~/notes.txt", names=("S",)), None),
        (EpisodeFinish(status="success"), False),
        (AppRunning(app="bash"), True),
        (AppRunning(app="no-such-program"), False),
        (WindowTitle(title="notes.txt", app="editor", active=True), True),
        (WindowTitle(title="home", app="files", active=True), False),
        (WindowTitle(title="home", app="files"), True),
        (WindowTitle(title="home", app="editor"), False),
        (SettingValue(schema_id="s", key="size", value="4"), True),
        (SettingValue(schema_id="s", key="name", value="'y'"), False),
        (SettingValue(schema_id="s", key="unknown", value="1"), None),
        (ClipboardText(text="anything"), False),
        (CommandOutput(command="echo hello; echo oops >&2", text="hello"), True),
        (CommandOutput(command="echo hello; exit 3", text="hello"), False),
        (ImageSize(path="~/picture.png", width=30, height=20), True),
        (ImageSize(path="~/picture.png", width=20, height=30), False),
        (ImageSize(path="~/broken.png", width=1, height=1), None),
        (ScreenText(text="Buy milk", app="editor"), True),
        (ScreenText(text="elsewhere"), True),
        (ScreenText(text="elsewhere", app="editor"), False),
        (ScreenText(text="Buy milk", app="files"), False),
    ],
)
def test_each_kind(desktop: RoomDesktop, condition: Condition, expected: bool | None) -> None:
    check = holds(condition, desktop, READER)  # type: ignore[arg-type]
    assert check.holds is expected, check.observed
    assert check.observed
    status = {True: "passed", False: "failed", None: "errored"}
    assert verify(condition, desktop, READER).status == status[expected]  # type: ignore[arg-type]
    opposite = {True: "failed", False: "passed", None: "errored"}
    assert verify(Not(of=condition), desktop, READER).status == opposite[expected]  # type: ignore[arg-type]


def test_how_the_episode_ended_is_told_to_the_verifier(desktop: RoomDesktop) -> None:
    condition = EpisodeFinish(status="infeasible")
    assert verify(condition, desktop, READER, ended="infeasible").status == "passed"  # type: ignore[arg-type]
    assert verify(condition, desktop, READER, ended="success").status == "failed"  # type: ignore[arg-type]
    assert verify(Not(of=condition), desktop, READER, ended="").status == "passed"  # type: ignore[arg-type]


def test_a_condition_made_of_a_document_holds_of_that_document(desktop: RoomDesktop) -> None:
    for name in ("table.csv", "sheet.ods"):
        condition = table_like((desktop.home / name).read_bytes(), f"~/{name}")
        assert condition is not None and condition.whole
        assert holds(condition, desktop, READER).holds is True  # type: ignore[arg-type]
    data = (desktop.home / "sheet.ods").read_bytes()
    assert sheets_like(data, "~/x.ods") == DocumentSheets(path="~/x.ods", names=("S",))
    assert table_like(data, "~/sheet.ods", sheet="T") is None
    assert table_like(data, "~/sheet.ods", number=2) is None


TRUE, FALSE = FileExists(path="~/notes.txt"), FileExists(path="~/nothing")
ERROR = SettingValue(schema_id="s", key="unknown", value="1")


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        (All(of=(TRUE, TRUE)), "passed"),
        (All(of=(TRUE, ERROR)), "errored"),
        (All(of=(FALSE, ERROR)), "failed"),
        (AnyOf(of=(FALSE, ERROR)), "errored"),
        (AnyOf(of=(TRUE, ERROR)), "passed"),
        (AnyOf(of=(FALSE, FALSE)), "failed"),
        (Not(of=All(of=(TRUE, ERROR))), "errored"),
        (Not(of=All(of=(FALSE, ERROR))), "passed"),
        (All(of=()), "passed"),
    ],
)
def test_three_values(desktop: RoomDesktop, condition: Condition, status: str) -> None:
    assert verify(condition, desktop, READER).status == status  # type: ignore[arg-type]


def test_an_errored_verdict_says_what_could_not_be_seen(desktop: RoomDesktop) -> None:
    verdict = verify(All(of=(TRUE, ERROR)), desktop, READER)  # type: ignore[arg-type]
    assert "No such key" in verdict.message
    assert [check.holds for check in verdict.checks] == [True, None]


def test_the_clipboard(desktop: RoomDesktop) -> None:
    (desktop.home / "clip").write_text("copied\n")
    assert holds(ClipboardText(text="copied\n"), desktop, READER).holds is True  # type: ignore[arg-type]
    assert holds(ClipboardText(text="copied"), desktop, READER).holds is False  # type: ignore[arg-type]


def test_cheap_questions_go_in_one_command(desktop: RoomDesktop) -> None:
    many = All(of=(TRUE, FALSE, AppRunning(app="bash"), SettingValue(schema_id="s", key="size", value="4"), ERROR))
    verdict = verify(many, desktop, READER)  # type: ignore[arg-type]
    assert [check.holds for check in verdict.checks] == [True, False, True, True, None]
    assert len(desktop.commands) == 1


def test_a_command_that_several_conditions_ask_runs_once(desktop: RoomDesktop) -> None:
    count = "echo x >> runs; wc -l < runs"
    both = All(of=(CommandOutput(command=count, text="1"), Not(of=CommandOutput(command=count, text="2"))))
    assert verify(both, desktop, READER).status == "passed"  # type: ignore[arg-type]
    assert verify(both, desktop, READER).status == "failed"  # type: ignore[arg-type]


def test_without_a_focused_window_nothing_is_read_in_one(desktop: RoomDesktop) -> None:
    desktop.active = None
    assert holds(ScreenText(text="Buy milk", app="editor"), desktop, READER).holds is False  # type: ignore[arg-type]
    assert holds(WindowTitle(active=True), desktop, READER).holds is False  # type: ignore[arg-type]


def test_parameters_must_be_filled_in(desktop: RoomDesktop) -> None:
    with pytest.raises(InvalidInput, match="filename"):
        holds(FileExists(path="~/{filename}"), desktop, READER)  # type: ignore[arg-type]


def test_unmet_lists_what_does_not_hold(desktop: RoomDesktop) -> None:
    both = All(of=(TRUE, FALSE))
    found = unmet((TRUE, FALSE, ERROR, both), desktop, READER)  # type: ignore[arg-type]
    assert [(check.condition, check.holds) for check in found] == [(FALSE, False), (ERROR, None), (both, False)]
    assert unmet((), desktop, READER) == ()  # type: ignore[arg-type]


def test_a_dead_desktop_is_no_verdict(desktop: RoomDesktop) -> None:
    def dead(path: str) -> bytes:
        raise GuestDied("gone")

    desktop.read_file = dead  # type: ignore[method-assign]
    with pytest.raises(GuestDied):
        verify(FileText(path="~/notes.txt", text="x"), desktop, READER)  # type: ignore[arg-type]
