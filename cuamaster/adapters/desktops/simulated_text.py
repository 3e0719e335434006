"""The simulated shell's programs that print and transform text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

from cuamaster.adapters.desktops.simulated_io import Io, Program, split


def _echo(arguments: list[str], io: Io) -> int:
    newline = "\n"
    while arguments and arguments[0] in ("-n", "-e"):
        newline = "" if arguments[0] == "-n" else newline
        arguments = arguments[1:]
    io.out.append(" ".join(arguments) + newline)
    return 0


def _printf(arguments: list[str], io: Io) -> int:
    template = codecs.decode(arguments[0].encode("latin-1", "backslashreplace"), "unicode_escape") if arguments else ""
    values = arguments[1:]
    slots = template.count("%s") + template.count("%d")
    while True:
        taken, values = values[:slots], values[slots:]
        text = template
        for value in [*taken, *[""] * (slots - len(taken))]:
            at = min(i for i in (text.find("%s"), text.find("%d")) if i >= 0)
            text = text[:at] + "\0" + text[at + 2 :]
            text = text.replace("\0", value.replace("%", "\1"), 1)
        io.out.append(text.replace("%%", "%").replace("\1", "%"))
        if not values or not slots:
            return 0


def _cat(arguments: list[str], io: Io) -> int:
    io.out.append(io.inputs(arguments))
    return 0


def _lines(last: bool) -> Program:
    def run(arguments: list[str], io: Io) -> int:
        count, names = 10, []
        rest = list(arguments)
        while rest:
            item = rest.pop(0)
            if item == "-n" and rest:
                count = int(rest.pop(0))
            elif item.startswith("-") and item[1:].lstrip("n").isdigit():
                count = int(item[1:].lstrip("n"))
            else:
                names.append(item)
        lines = io.inputs(names).splitlines(keepends=True)
        io.out += lines[-count:] if last else lines[:count]
        return 0

    return run


def _wc(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    text = io.inputs(names)
    counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text.encode("utf-8", "surrogateescape"))}
    io.out.append(" ".join(str(counts[flag]) for flag in "lwc" if not flags or flag in flags) + "\n")
    return 0


def _grep(arguments: list[str], io: Io) -> int:
    flags, rest = split(arguments)
    fold = str.lower if "i" in flags else str
    hits = [line for line in io.inputs(rest[1:]).splitlines() if (fold(rest[0]) in fold(line)) != ("v" in flags)]
    if "c" in flags:
        io.out.append(f"{len(hits)}\n")
    elif "q" not in flags:
        io.out += [f"{line}\n" for line in hits]
    return int(not hits)


def _sort(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    lines = sorted(io.inputs(names).splitlines(), reverse="r" in flags)
    io.out += [f"{line}\n" for line in (dict.fromkeys(lines) if "u" in flags else lines)]
    return 0


def _characters(text: str) -> str:
    """`a-z` written out."""
    return re.sub("(.)-(.)", lambda m: "".join(chr(code) for code in range(ord(m[1]), ord(m[2]) + 1)), text)


def _tr(arguments: list[str], io: Io) -> int:
    flags, rest = split(arguments)
    sets = [_characters(codecs.decode(item, "unicode_escape")) for item in rest]
    if "d" in flags:
        io.out.append(io.stdin.translate(dict.fromkeys(map(ord, sets[0]))))
    else:
        io.out.append(
            io.stdin.translate(str.maketrans(sets[0], sets[1].ljust(len(sets[0]), sets[1][-1])[: len(sets[0])]))
        )
    return 0


def _tee(arguments: list[str], io: Io) -> int:
    flags, names = split(arguments)
    for name in names:
        before = io.read(name) if "a" in flags and io.world.files.is_file(io.path(name)) else ""
        io.world.files.write(io.path(name), (before + io.stdin).encode())
    io.out.append(io.stdin)
    return 0


TEXT_PROGRAMS: Mapping[str, Program] = {
    "echo": _echo, "printf": _printf, "cat": _cat, "head": _lines(last=False), "tail": _lines(last=True), "wc": _wc,
    "grep": _grep, "sort": _sort, "tr": _tr, "tee": _tee,
}  # fmt: skip
"""Name -> program."""
