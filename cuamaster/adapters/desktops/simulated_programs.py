"""The programs of the simulated shell: those of the session here, text and file programs in their own files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from cuamaster.adapters.desktops.simulated_files import HOME
from cuamaster.adapters.desktops.simulated_io import Io, OutOfTime, Program, split
from cuamaster.adapters.desktops.simulated_records import RECORD_APPS, apply
from cuamaster.adapters.desktops.simulated_text import TEXT_PROGRAMS
from cuamaster.adapters.desktops.simulated_tools import FILE_PROGRAMS
from cuamaster.adapters.desktops.simulated_windows import DialogWindow
from cuamaster.adapters.desktops.simulated_world import APPS


def _sleep(arguments: list[str], io: Io) -> int:
    io.world.clock += float(arguments[0])
    if io.world.clock > io.deadline:
        raise OutOfTime
    return 0


def _date(arguments: list[str], io: Io) -> int:
    form = next((item[1:] for item in arguments if item.startswith("+")), "%c")
    io.out.append(
        datetime.fromtimestamp(io.world.clock, UTC).strftime(form.replace("%s", str(int(io.world.clock)))) + "\n"
    )
    return 0


def _xclip(arguments: list[str], io: Io) -> int:
    words = [item for item in arguments if item not in ("-selection", "-sel", "clipboard", "c", "primary")]
    if any(item in ("-o", "-out") for item in words):
        if io.world.clipboard is None:
            return io.fail("Error: target STRING not available")
        io.out.append(io.world.clipboard)
        return 0
    io.world.clipboard = io.inputs([item for item in words if not item.startswith("-")])
    return 0


def _gsettings(arguments: list[str], io: Io) -> int:
    match arguments:
        case ["get", schema, key]:
            value = io.world.gsetting(schema, key)
            if value is None:
                return io.fail(f"No such schema or key: {schema} {key}")
            io.out.append(value + "\n")
        case ["set", schema, key, value] if io.world.gsetting(schema, key) is not None:
            io.world.settings[(schema, key)] = value
        case _:
            return io.fail("gsettings: no such schema or key")
    return 0


def _running(io: Io) -> list[str]:
    return list(dict.fromkeys(window.app for window in io.world.windows))


def _ps(_arguments: list[str], io: Io) -> int:
    io.out += [f"{name}\n" for name in ("/usr/bin/openbox", "tint2", *_running(io))]
    return 0


def _pgrep(arguments: list[str], io: Io) -> int:
    wanted = split(arguments)[1][-1]
    return 0 if wanted in _running(io) else 1


def _wmctrl(arguments: list[str], io: Io) -> int:
    flags, rest = split(arguments)
    windows = [item for item in io.world.windows if not isinstance(item, DialogWindow)]
    if "l" in flags:
        io.out += [f"{item.app} {item.title}\n" for item in windows]
        return 0
    for window in reversed(windows):
        if "F" in flags:
            named = rest[0] in (window.title, window.app if "x" in flags else window.title)
        else:
            named = (
                rest[0].lower().split(".")[0] == window.app if "x" in flags else rest[0].lower() in window.title.lower()
            )
        if named:
            (io.world.close_window if "c" in flags else io.world.raise_window)(window)
            return 0
    return 1


def _gio(arguments: list[str], io: Io) -> int:
    if arguments[:1] != ["trash"]:
        return io.fail("gio: only trash is here", 2)
    for name in arguments[1:]:
        io.world.files.remove(io.path(name))
    return 0


def _timeout(arguments: list[str], io: Io) -> int:
    words = list(arguments)
    while words and words[0].startswith("-"):
        words.pop(0)
    io.deadline = min(io.deadline, io.world.clock + float(words[0]))
    return _call(words[1:], io)


def _call(words: list[str], io: Io) -> int:
    program = PROGRAMS.get(words[0]) if words else None
    return (
        io.fail(f"{words[0] if words else ''}: command not found", 127) if program is None else program(words[1:], io)
    )


def _app(name: str) -> Program:
    def run(arguments: list[str], io: Io) -> int:
        files = [item for item in arguments if not item.startswith("-")]
        io.world.launch(name, files[0] if files else None, io.cwd)
        return 0

    return run


def _records(name: str) -> Program:
    """Without arguments the application; with `operation kind line` what its button does, as long as it is running."""

    def run(arguments: list[str], io: Io) -> int:
        if not arguments:
            io.world.launch(name)
            return 0
        if name not in _running(io) or len(arguments) != 3:
            return io.fail(f"{name}: not running" if len(arguments) == 3 else f"usage: {name} OPERATION KIND LINE", 2)
        try:
            apply(io.world.files, name, *arguments)
        except ValueError as exc:
            return io.fail(str(exc), 2)
        return 0

    return run


def _open(arguments: list[str], io: Io) -> int:
    path = io.path(arguments[0])
    if not io.world.files.exists(path):
        return io.fail(f"xdg-open: file '{arguments[0]}' does not exist", 2)
    io.world.launch("pcmanfm" if io.world.files.is_dir(path) else "mousepad", path, io.cwd)
    return 0


def _say(text: str) -> Program:
    def run(_arguments: list[str], io: Io) -> int:
        io.out.append(text)
        return 0

    return run


PROGRAMS: Mapping[str, Program] = {
    **TEXT_PROGRAMS, **FILE_PROGRAMS,
    "sleep": _sleep, "date": _date, "xclip": _xclip, "gsettings": _gsettings, "ps": _ps, "pgrep": _pgrep, "wmctrl": _wmctrl,
    "gio": _gio, "timeout": _timeout, "xdg-open": _open, "whoami": _say("user\n"), "true": _say(""), ":": _say(""),
    "false": lambda _arguments, _io: 1, "sync": _say(""), "hostname": _say("desk\n"),
    "id": _say("uid=1000(user) gid=1000(user) groups=1000(user)\n"), "env": _say(f"DISPLAY=:0\nHOME={HOME}\nUSER=user\n"),
    **{name: _app(name) for name in APPS}, **{name: _records(name) for name in RECORD_APPS},
}  # fmt: skip
"""Name -> program."""
