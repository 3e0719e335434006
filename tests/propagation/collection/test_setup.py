"""Setup steps and tools against a desktop that records what reaches it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from cuamaster.errors import InvalidAction, InvalidInput, SetupFailed
from cuamaster.ports import ShellResult
from cuamaster.propagation.collection.setup import establish
from cuamaster.propagation.collection.tools import call_tool
from cuamaster.records.condition import FileText, WindowTitle
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Environment
from cuamaster.records.tools import TOOLS
from cuamaster.records.trajectory import StateSignature, Window


@pytest.fixture
def bench(editor: Any) -> Any:
    """The editor, with a shell that logs commands and an application that opens a window after some looks."""

    class Bench(type(editor)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.commands: list[str] = []
            self.status, self.looks_until_open = 0, 3
            self.launched: list[tuple[str, tuple[str, ...]]] = []

        def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
            self.commands.append(command)
            return ShellResult("on the clipboard", "no space", self.status)

        def launch(self, app: str, args: Sequence[str] = ()) -> None:
            self.launched.append((app, tuple(args)))

        def state(self, files: Sequence[str] = ()) -> StateSignature:
            seen: StateSignature = super().state(files)
            if not self.launched:
                return seen
            self.looks_until_open -= 1
            new = Window(app=self.launched[-1][0], title="fresh")
            return (
                seen
                if self.looks_until_open > 0
                else seen.model_copy(update={"active": new, "windows": (*seen.windows, new)})
            )

    return Bench()


def environment(*setup: SetupStep, established: tuple[Any, ...] = ()) -> Environment:
    return Environment(image="i", image_digest="d", setup=setup, established=established)


def seconds() -> Any:
    ticks = itertools.count()
    return lambda: float(next(ticks))


def test_a_start_state_is_reached_when_it_is_drawn(bench: Any, reader: Any) -> None:
    """On a crowded host the window has its title for half a minute before anything is in it."""
    drawing = [30.0]

    class Slow(type(bench)):  # type: ignore[misc]
        def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Any:
            drawing[0] -= timeout
            return super().settle(timeout=timeout, quiet=quiet)

    bench.__class__ = Slow
    establish(environment(SetupStep(kind="app.launch", app="editor")), bench, reader, clock=seconds())
    assert drawing[0] <= 0


def test_every_step_kind_reaches_the_desktop_quoted(bench: Any, reader: Any) -> None:
    establish(
        environment(
            SetupStep(kind="file.write", path="~/a b.txt", text="naïve"),
            SetupStep(kind="dir.make", path="~/my files"),
            SetupStep(kind="path.remove", path="~/old; rm -rf x"),
            SetupStep(kind="setting.write", schema_id="org.x", key="k", value="'a b'"),
            SetupStep(kind="clipboard.set", text="copied"),
            SetupStep(kind="app.launch", app="pad", args=("~/a b.txt",)),
            established=(FileText(path="~/a b.txt", text="naïve"), WindowTitle(app="pad", title="fresh", active=True)),
        ),
        bench,
        reader,
        clock=seconds(),
    )
    assert bench.files["~/a b.txt"] == "naïve".encode()
    assert bench.commands[:3] == [
        "mkdir -p ~/'my files'",
        "rm -rf ~/'old; rm -rf x'",
        "gsettings set org.x k ''\"'\"'a b'\"'\"''",
    ]
    assert bench.commands[3].startswith("xclip -selection clipboard -i ")
    assert bench.launched == [("pad", ("~/a b.txt",))]


def test_files_of_bytes_commands_and_actions_reach_the_desktop(bench: Any, reader: Any) -> None:
    press = '{"type": "keyboard.press", "args": {"keys": ["ctrl", "s"]}}'
    establish(
        environment(
            SetupStep(kind="file.bytes", path="~/a.bin", text="AP+A"),
            SetupStep(kind="shell.run", text="echo 'a b' > c"),
            SetupStep(kind="shell.start", text="pad ~/a.txt"),
            SetupStep(kind="desktop.act", text='{"type": "keyboard.type", "args": {"text": "x"}}'),
            SetupStep(kind="desktop.act", text=press),
        ),
        bench,
        reader,
    )
    assert bench.files == {"~/a.bin": b"\x00\xff\x80", "~/out.txt": b"x"}
    assert bench.commands == ["echo 'a b' > c", "setsid sh -c 'pad ~/a.txt' >/dev/null 2>&1 &"]


@pytest.mark.parametrize(
    "step",
    [
        SetupStep(kind="file.bytes", path="~/a", text="no base64!"),
        SetupStep(kind="shell.run", text=" "),
        SetupStep(kind="shell.start"),
        SetupStep(kind="desktop.act", text="{}"),
        SetupStep(kind="desktop.act", text='{"type": "mouse.move", "args": {"x": 2000, "y": 1}}'),
    ],
)
def test_steps_that_say_nothing_sensible_are_invalid(bench: Any, reader: Any, step: SetupStep) -> None:
    with pytest.raises(InvalidInput):
        establish(environment(step), bench, reader)
    assert bench.commands == [] and bench.performed == []


def test_a_failed_command_and_a_window_that_never_opens_are_setup_failures(bench: Any, reader: Any) -> None:
    bench.status = 1
    for step in (SetupStep(kind="dir.make", path="~/x"), SetupStep(kind="shell.run", text="false")):
        with pytest.raises(SetupFailed, match="no space"):
            establish(environment(step), bench, reader)
    bench.looks_until_open = 10**9
    with pytest.raises(SetupFailed, match="no new window of pad"):
        establish(environment(SetupStep(kind="app.launch", app="pad")), bench, reader, clock=seconds())


def test_an_unmet_condition_says_what_was_found(bench: Any, reader: Any) -> None:
    with pytest.raises(SetupFailed, match="but found: no such file"):
        establish(environment(established=(FileText(path="~/none", text="x"),)), bench, reader, clock=seconds())


@pytest.mark.parametrize("path", ["", "/", "~", "~/", "//", "."])
def test_a_home_is_never_removed(bench: Any, reader: Any, path: str) -> None:
    with pytest.raises(InvalidInput):
        establish(environment(SetupStep(kind="path.remove", path=path)), bench, reader)
    assert bench.commands == []


def test_every_registered_tool_answers_in_text(bench: Any, reader: Any) -> None:
    answers = {tool.name: call_tool(tool.name, {}, bench, reader) for tool in TOOLS}
    assert answers == {
        "screen.text": "",
        "windows.list": "editor:  - Editor (focus)",
        "clipboard.read": "on the clipboard",
    }
    bench.status = 1
    assert call_tool("clipboard.read", {}, bench, reader) == "the clipboard is empty"


@pytest.mark.parametrize(("name", "arguments", "field"), [("rm", {}, "name"), ("screen.text", {"x": 1}, "arguments")])
def test_unknown_tools_and_arguments_are_refused(
    bench: Any, reader: Any, name: str, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidAction) as caught:
        call_tool(name, arguments, bench, reader)
    assert caught.value.field == field
