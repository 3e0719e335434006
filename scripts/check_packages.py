"""Checks the taxonomy's Debian packages and launch commands against apt on this machine; exit code 1 names what is wrong.

Packages come from `apt-cache` (run `apt-get update` before). Commands are looked up in apt's Contents indexes, which
`apt-get update` fetches once the package apt-file is installed; without them only the packages are checked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

from cuamaster.records.taxonomy import App
from cuamaster.seeding.taxonomy import load

DEPTH = 3
"""How far from a metapackage its program may lie: lazarus -> lazarus-ide -> lazarus-ide-2.2."""
ALTERNATIVES = {"freecad": "usr/lib/freecad/bin/freecad-python3"}
"""Commands that a maintainer script links to a program which is on nobody's path."""
_PROGRAM = re.compile(r"^(?:usr/)?(?:s?bin|games)/([^/\s]+)\s+(\S+)$")


def faults(
    apps: Iterable[App],
    needs: Callable[[str], frozenset[str] | None],
    programs: Callable[[str], frozenset[str]] | None,
) -> Iterator[str]:
    """One line for each application whose package is unknown or whose command is not in it.

    `needs`: package -> packages it asks for, None for one that is not there. `programs`: package -> its executables' names
    (None: not known, commands go unchecked).
    """
    for app in apps:
        if app.package is None:
            continue
        if needs(app.package) is None:
            yield f"{app.id}: no package {app.package!r}"
        elif app.command and programs and not _has(app.package, app.command, needs, programs, DEPTH):
            own = ", ".join(sorted(programs(app.package))) or "none of its own"
            yield f"{app.id}: {app.package!r} brings no command {app.command!r} (has {own})"


def _has(
    package: str,
    command: str,
    needs: Callable[[str], frozenset[str] | None],
    programs: Callable[[str], frozenset[str]],
    depth: int,
) -> bool:
    """In the package or what it needs; `vim.basic` and `aegisub-3.2` count for vim and aegisub, as alternatives link them."""
    if command in ALTERNATIVES or any(
        re.fullmatch(rf"{re.escape(command)}(?:[-.].+)?", name) for name in programs(package)
    ):
        return True
    return depth > 0 and any(
        _has(other, command, needs, programs, depth - 1)
        for other in needs(package) or ()
        if other.split("-")[0] == package.split("-")[0]
    )


class _Packages:
    """What packages ask for, as apt knows them; asked for many at once, because each question costs apt a second."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known: dict[str, frozenset[str] | None] = {}
        self._ask(sorted(set(names)))

    def needs(self, name: str) -> frozenset[str] | None:
        if name not in self._known:
            self._ask([name])
        return self._known[name]

    def _ask(self, names: list[str]) -> None:
        shown = subprocess.run(
            ["apt-cache", "show", "--no-all-versions", *names], capture_output=True, text=True, check=False
        ).stdout
        self._known.update(dict.fromkeys(names))
        for stanza in shown.split("\n\n"):
            name = re.search(r"^Package: (.*)$", stanza, re.MULTILINE)
            lines = re.findall(r"^(?:Pre-Depends|Depends|Recommends): (.*)$", stanza, re.MULTILINE)
            if name:
                every = (item.strip() for line in lines for item in re.split(r"[,|]", line))
                self._known[name[1]] = frozenset(re.split(r"[ (:]", item)[0] for item in every)


def _contents() -> dict[str, set[str]]:
    """Package -> names of its executables, from every Contents index that apt has fetched; {} when there is none."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(FILENAME)", "Identifier: Contents-deb"],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    found: dict[str, set[str]] = {}
    for name in sorted(set(listed.split())):
        index = subprocess.Popen(["/usr/lib/apt/apt-helper", "cat-file", name], stdout=subprocess.PIPE, text=True)
        for line in index.stdout or ():
            match = _PROGRAM.match(line)
            for package in match[2].split(",") if match else ():
                found.setdefault(package.rsplit("/", 1)[-1], set()).add(match[1] if match else "")
        index.wait()
    return found


def main() -> int:
    """Check the taxonomy that ships."""
    apps = [app for app in load().apps if app.package]
    packages = _Packages(app.package for app in apps if app.package)
    contents = _contents()
    wrong = list(faults(apps, packages.needs, (lambda name: frozenset(contents.get(name, ()))) if contents else None))
    for line in wrong:
        print(line)
    checked = "packages and commands" if contents else "packages only (no Contents index: install apt-file, update)"
    print(f"{len(apps)} applications with a package, {len(wrong)} faults; checked {checked}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
