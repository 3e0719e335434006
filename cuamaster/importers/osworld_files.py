"""The files an OSWorld task downloads, taken from a folder: the benchmark's own cache, or a mirror made with `wget -x`."""

from __future__ import annotations

import uuid
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from cuamaster.errors import Unmappable

MAX_BYTES = 8 << 20
"""A file travels inside the task, so that the task is whole without the network."""


class TaskFiles:
    """Files of one task. Names in the cache: desktop_env/controllers/setup.py (`_download_setup`), evaluators/getters/file.py."""

    def __init__(self, root: Path | None, task_id: str) -> None:
        self._root, self._task = root, task_id

    def download(self, url: str, path: str) -> bytes:
        """What `config` downloads to `path` in the guest; raises Unmappable (missing-file, too-big) naming the address."""
        return self._read(url, f"{uuid.uuid5(uuid.NAMESPACE_URL, url)}_{PurePosixPath(path).name}")

    def gold(self, url: str, dest: str) -> bytes:
        """What the evaluator compares with; raises Unmappable (missing-file, too-big) naming the address."""
        return self._read(url, dest)

    def _read(self, url: str, cached: str) -> bytes:
        for path in self._places(url, cached):
            try:
                if not path.is_file():
                    continue
                if path.stat().st_size > MAX_BYTES:
                    raise Unmappable(f"{path} has more than {MAX_BYTES >> 20} MiB", reason="too-big", names=(url,))
                return path.read_bytes()
            except Unmappable:
                raise
            except (OSError, ValueError):  # a name that no file can have, or no permission
                continue
        raise Unmappable(
            f"needs {url}",
            reason="missing-file",
            names=(url,),
            hint="fetch it with `wget -x -P FOLDER` and give --files FOLDER",
        )

    def _places(self, url: str, cached: str) -> list[Path]:
        if self._root is None:
            return []
        parts = urlsplit(url)
        mirror = f"{parts.netloc}{parts.path}"
        query = f"?{parts.query}" if parts.query else ""  # wget keeps it in the name
        names = [f"{self._task}/{cached}", mirror + query, unquote(mirror)]
        root = self._root.resolve()
        return [path for name in names if (path := (root / name)).resolve().is_relative_to(root)]
