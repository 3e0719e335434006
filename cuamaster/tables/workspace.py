"""The workspace: rounds of stages, the blobs that their rows name, and the exports made of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cuamaster.errors import InvalidInput, storing
from cuamaster.tables.stage import StageFolder


class RoundFolder:
    """One round of the wheel."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number

    def stage(self, name: str) -> StageFolder:
        """A stage by name; its folder appears with the first write."""
        return StageFolder(self.folder / name)

    def stages(self) -> list[str]:
        """Names of the stages that wrote something, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(p.name for p in self.folder.iterdir() if p.is_dir() and not p.name.startswith("."))


class Workspace:
    """Everything a run writes: rounds, blobs, exports."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.blobs = self.root / "blobs"
        self.exports = self.root / "exports"

    def make(self) -> None:
        """Make the folder, so that one that cannot be written is told before hours of work. Raises StoreFull, StoreUnwritable."""
        with storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()

    def round(self, n: int) -> RoundFolder:
        """Round n, counted from 1."""
        if n < 1:
            raise InvalidInput(f"rounds count from 1, got {n}")
        return RoundFolder(self.root / f"round={n:03d}", n)

    def rounds(self) -> list[int]:
        """Rounds that are there, sorted."""
        names = (path.name.removeprefix("round=") for path in self.root.glob("round=*") if path.is_dir())
        return sorted(int(name) for name in names if name.isdigit())
