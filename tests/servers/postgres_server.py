"""A PostgreSQL server of one's own: on a unix socket in a temporary folder, gone with its block."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=40")


class PostgresServer:
    """`url` connects to its database; `stop` and `start` are for tests of a server that goes away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgresql:///postgres?host={folder}&user=postgres"
        # the server refuses to run as root
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        """Return when it accepts connections."""
        settings = (*_FAST, "listen_addresses=", f"unix_socket_directories={self.folder}")
        self._control("start", "-l", "log", "-o", " ".join(f"-c {setting}" for setting in settings))

    def stop(self) -> None:
        """Return when it is gone."""
        self._control("stop", "-m", "fast")

    def kill(self) -> None:
        """End it without ceremony."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)

    def _control(self, verb: str, *more: str) -> None:
        self._run("pg_ctl", verb, "-D", "data", "-w", "-t", "60", *more)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [_installed(program), *arguments], user=self._user.pw_uid, group=self._user.pw_gid, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")


def _installed(program: str) -> str:
    """The newest installed version's; Debian keeps them out of PATH."""
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{program}")
    found = max(versions, key=lambda path: int(path.parts[-3]), default=None) or shutil.which(program)
    if found is None:
        raise RuntimeError(f"{program} is not installed: apt-get install postgresql")
    return str(found)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server."""
    folder = Path(tempfile.mkdtemp(prefix="cuam-pg-"))  # short: a socket lies in it; the user postgres must get there
    try:
        server = PostgresServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
