"""The simulated shell's programs that look at and change files."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Mapping

from cuamaster.adapters.desktops.simulated_io import Io, Program, split


def _ls(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    status = 0
    for name in names or ["."]:
        path = io.path(name)
        if io.world.files.is_dir(path) and "d" not in flags:
            io.out += [
                f"{child}\n"
                for child in io.world.files.children(path)
                if flags & {"a", "A"} or not child.startswith(".")
            ]
        elif io.world.files.exists(path):
            io.out.append(f"{name}\n")
        else:
            status = io.fail(f"ls: cannot access '{name}': No such file or directory", 2)
    return status


def _mkdir(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    for name in names:
        try:
            io.world.files.make_dir(io.path(name), parents="p" in flags)
        except OSError as exc:
            return io.fail(f"mkdir: cannot create directory '{name}': {exc}")
    return 0


def _touch(arguments: list[str], io: Io) -> int:
    for name in split(arguments)[1]:
        if not io.world.files.exists(io.path(name)):
            io.world.files.write(io.path(name), b"")
    return 0


def _rm(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    for name in names:
        path = io.path(name)
        if not io.world.files.exists(path):
            if "f" not in flags:
                return io.fail(f"rm: cannot remove '{name}': No such file or directory")
        elif io.world.files.is_dir(path) and not flags & {"r", "R"}:
            return io.fail(f"rm: cannot remove '{name}': Is a directory")
        else:
            io.world.files.remove(path)
    return 0


def _transfer(keep: bool) -> Program:
    def run(arguments: list[str], io: Io) -> int:
        flags, names = split(arguments)
        if len(names) < 2:
            return io.fail("missing file operand")
        *sources, target = names
        if target.endswith("/") and not io.world.files.is_dir(io.path(target)):
            return io.fail(f"cannot move or copy to '{target}': Not a directory")
        for source in sources:
            if keep and io.world.files.is_dir(io.path(source)) and not flags & {"r", "R", "a"}:
                return io.fail(f"cp: -r not specified; omitting directory '{source}'")
            io.world.files.copy(io.path(source), io.path(target), keep=keep)
        return 0

    return run


def _test(arguments: list[str], io: Io) -> int:
    words = arguments[:-1] if arguments[-1:] == ["]"] else list(arguments)
    negated = words[:1] == ["!"]
    words = words[1:] if negated else words
    files = io.world.files
    match words:
        case ["-f", name]:
            found = files.is_file(io.path(name))
        case ["-d", name]:
            found = files.is_dir(io.path(name))
        case ["-e", name]:
            found = files.exists(io.path(name))
        case ["-s", name]:
            found = files.is_file(io.path(name)) and bool(files.read(io.path(name)))
        case ["-n", text] | [text]:
            found = bool(text)
        case ["-z", text]:
            found = not text
        case [left, "=" | "==", right]:
            found = left == right
        case [left, "!=", right]:
            found = left != right
        case [left, "-eq" | "-lt" | "-gt" | "-ge" | "-le" | "-ne" as operator, right]:
            a, b = int(left), int(right)
            found = {"-eq": a == b, "-lt": a < b, "-gt": a > b, "-ge": a >= b, "-le": a <= b, "-ne": a != b}[operator]
        case _:
            return io.fail("test: unknown expression", 2)
    return int(found == negated)


def _sha256sum(arguments: list[str], io: Io) -> int:
    for name in arguments or ["-"]:
        io.out.append(f"{hashlib.sha256(io.read(name).encode('utf-8', 'surrogateescape')).hexdigest()}  {name}\n")
    return 0


def _chmod(arguments: list[str], io: Io) -> int:
    mode, *names = arguments
    for name in names:
        path = io.path(name)
        if not io.world.files.exists(path):
            return io.fail(f"chmod: cannot access '{name}': No such file or directory")
        now = io.world.files.modes.get(path, 0o644)
        io.world.files.modes[path] = (
            int(mode, 8) if mode.isdigit() else now | 0o111 if mode.endswith("+x") else now & ~0o111
        )
    return 0


def _stat(arguments: list[str], io: Io) -> int:
    form, name = arguments[arguments.index("-c") + 1] if "-c" in arguments else "%n", arguments[-1]
    path = io.path(name)
    if not io.world.files.exists(path):
        return io.fail(f"stat: cannot statx '{name}': No such file or directory")
    folder = io.world.files.is_dir(path)
    mode = io.world.files.modes.get(path, 0o755 if folder else 0o644)
    letters = ("d" if folder else "-") + "".join(
        letter if mode >> (8 - bit) & 1 else "-" for bit, letter in enumerate("rwxrwxrwx")
    )
    size = 4096 if folder else len(io.world.files.read(path))
    for key, value in {"%A": letters, "%a": f"{mode:o}", "%s": str(size), "%n": name}.items():
        form = form.replace(key, value)
    io.out.append(form + "\n")
    return 0


def _base(pick: Callable[[str], str]) -> Program:
    def run(arguments: list[str], io: Io) -> int:
        io.out.append(pick(arguments[0].rstrip("/")) + "\n")
        return 0

    return run


def _pwd(_arguments: list[str], io: Io) -> int:
    io.out.append(io.cwd + "\n")
    return 0


FILE_PROGRAMS: Mapping[str, Program] = {
    "ls": _ls, "mkdir": _mkdir, "touch": _touch, "rm": _rm, "mv": _transfer(keep=False), "cp": _transfer(keep=True),
    "test": _test, "[": _test, "sha256sum": _sha256sum, "chmod": _chmod, "stat": _stat, "pwd": _pwd,
    "basename": _base(posixpath.basename), "dirname": _base(posixpath.dirname),
}  # fmt: skip
"""Name -> program."""
