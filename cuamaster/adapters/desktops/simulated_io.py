"""What every program of the simulated shell works with: arguments, streams, files, a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cuamaster.adapters.desktops.simulated_world import World


class OutOfTime(Exception):
    """The simulated time limit of the shell command was reached."""


@dataclass
class Io:
    """What a program works with."""

    world: World
    cwd: str
    stdin: str
    deadline: float
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)

    def path(self, name: str) -> str:
        return self.world.files.absolute(name, self.cwd)

    def read(self, name: str) -> str:
        """A file's text; `-` is standard input. Raises OSError naming the file."""
        try:
            return (
                self.stdin if name == "-" else self.world.files.read(self.path(name)).decode("utf-8", "surrogateescape")
            )
        except OSError as exc:
            raise type(exc)(f"{name}: {exc}") from exc

    def inputs(self, names: list[str]) -> str:
        return "".join(self.read(name) for name in names or ["-"])

    def fail(self, message: str, status: int = 1) -> int:
        self.err.append(message + "\n")
        return status


Program = Callable[[list[str], Io], int]


def split(arguments: list[str]) -> tuple[set[str], list[str]]:
    """(single letters of all options, other arguments)."""
    flags: set[str] = set()
    rest = []
    for item in arguments:
        if item.startswith("-") and len(item) > 1 and item != "--":
            flags |= set(item.lstrip("-"))
        elif item != "--":
            rest.append(item)
    return flags, rest
