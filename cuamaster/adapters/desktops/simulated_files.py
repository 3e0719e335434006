"""The files of the simulated desktop: a small tree in memory with POSIX-like errors."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

HOME = "/home/user"


@dataclass
class Files:
    """Absolute path -> bytes, or None for a folder; `modes` holds permissions that are not the default."""

    nodes: dict[str, bytes | None] = field(
        default_factory=lambda: dict.fromkeys(
            ("/", "/home", HOME, f"{HOME}/Desktop", f"{HOME}/Documents", f"{HOME}/Downloads", "/tmp", "/dev"), None
        )
    )
    modes: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def absolute(path: str, cwd: str = HOME) -> str:
        """`~`, relative paths, `.` and `..` resolved."""
        if path == "~" or path.startswith("~/"):
            path = HOME + path[1:]
        return posixpath.normpath(posixpath.join(cwd, path)).replace("//", "/")

    def is_dir(self, path: str) -> bool:
        return path in self.nodes and self.nodes[path] is None

    def is_file(self, path: str) -> bool:
        return self.nodes.get(path) is not None

    def exists(self, path: str) -> bool:
        return path in self.nodes

    def read(self, path: str) -> bytes:
        """Raises FileNotFoundError, IsADirectoryError."""
        data = self.nodes.get(path)
        if data is None:
            raise (
                IsADirectoryError("Is a directory")
                if path in self.nodes
                else FileNotFoundError("No such file or directory")
            )
        return data

    def write(self, path: str, data: bytes) -> None:
        """Create or replace a file in an existing folder; raises FileNotFoundError, IsADirectoryError."""
        if path == "/dev/null":
            return
        if self.is_dir(path):
            raise IsADirectoryError("Is a directory")
        if not self.is_dir(posixpath.dirname(path)):
            raise FileNotFoundError("No such file or directory")
        self.nodes[path] = data

    def make_dir(self, path: str, parents: bool = False) -> None:
        """Raises FileExistsError, FileNotFoundError."""
        if path in self.nodes:
            if parents and self.is_dir(path):
                return
            raise FileExistsError("File exists")
        above = posixpath.dirname(path)
        if not self.is_dir(above):
            if not parents:
                raise FileNotFoundError("No such file or directory")
            self.make_dir(above, parents=True)
        self.nodes[path] = None

    def size(self) -> int:
        """Bytes in all files."""
        return sum(len(data) for data in self.nodes.values() if data is not None)

    def children(self, path: str) -> list[str]:
        """Names in a folder, sorted."""
        prefix = path.rstrip("/") + "/"
        return sorted(
            item[len(prefix) :]
            for item in self.nodes
            if item.startswith(prefix) and item != path and "/" not in item[len(prefix) :]
        )

    def remove(self, path: str) -> None:
        """Remove a file or a whole folder; raises FileNotFoundError."""
        if path not in self.nodes:
            raise FileNotFoundError("No such file or directory")
        for item in [item for item in self.nodes if item == path or item.startswith(path + "/")]:
            del self.nodes[item]
            self.modes.pop(item, None)

    def copy(self, source: str, target: str, *, keep: bool = True) -> None:
        """Copy (or move, without `keep`) a file or folder; a folder as target receives it. Raises FileNotFoundError."""
        if source not in self.nodes:
            raise FileNotFoundError("No such file or directory")
        if self.is_dir(target):
            target = posixpath.join(target, posixpath.basename(source))
        if not self.is_dir(posixpath.dirname(target)):
            raise FileNotFoundError("No such file or directory")
        if target == source or target.startswith(source + "/"):
            raise FileExistsError("source and target are the same")
        taken = {item: data for item, data in self.nodes.items() if item == source or item.startswith(source + "/")}
        modes = {item: mode for item, mode in self.modes.items() if item in taken}
        if not keep:
            self.remove(source)
        self.nodes.update({target + item[len(source) :]: data for item, data in taken.items()})
        self.modes.update({target + item[len(source) :]: mode for item, mode in modes.items()})
