"""Commands inside the guest, as the desktop's user in its session: shell, files, state signature, paste."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from cuamaster.adapters.desktops.elements import parse_tree
from cuamaster.adapters.desktops.libvirt_guest import PIECE, Guest
from cuamaster.adapters.desktops.windows import parse_windows
from cuamaster.errors import DesktopFault, GuestUnresponsive
from cuamaster.ports import ShellResult
from cuamaster.records.scene import Elements
from cuamaster.records.trajectory import StateSignature

_DESK = "/usr/lib/desk"
_BUSYBOX = f"{_DESK}/busybox"
_JOBS = "/run/desk/jobs"
_HELPER_SECONDS = 30.0
_KILL_SECONDS = 2.0
"""Between TERM and KILL for a command that ran into its limit."""
_TIDY_FROM = 100


class Session:
    """The user's session of one guest; every method raises DesktopFault subclasses when the guest does not play along."""

    def __init__(self, guest: Guest, user: str, home: str, window_apps: Mapping[str, str] | None = None) -> None:
        """`window_apps`: class of a window -> application, where the program's name is another."""
        self._guest = guest
        self._user = user
        self._home = home
        self._window_apps = window_apps or {}
        self._jobs = itertools.count(1)
        self._used: list[str] = []

    def expand(self, path: str) -> str:
        """`~` and relative paths become absolute below the user's home."""
        if path == "~" or path.startswith("~/"):
            return self._home + path[1:]
        return path if path.startswith("/") else f"{self._home}/{path}"

    def shell(self, command: str, cwd: str | None, timeout: float) -> ShellResult:
        """Run a command with bash; its process group is killed after `timeout` seconds (then exit_code is None)."""
        data = command.encode()
        if len(data) <= PIECE:
            self._tidy()
            return self._run(["/bin/bash", "-c", command], cwd, timeout)
        script = self._staged("s", data)  # too long for an argument
        return self._run(["/bin/bash", script], cwd, timeout)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, or None when there is no such file."""
        try:
            return self._guest.read(self.expand(path))
        except DesktopFault as exc:
            if any(reason in exc.message for reason in ("No such file", "Not a directory", "Is a directory")):
                return None
            raise

    def write(self, path: str, data: bytes) -> None:
        """Write as the user, making parent folders."""
        full = self.expand(path)
        staged = self._staged("w", data)
        done = self._helper("write", staged, full)
        if done.exit_code != 0:
            raise DesktopFault(f"{self._guest.name}: cannot write {full}: {done.stderr.strip()}")

    def state(self, files: Sequence[str]) -> StateSignature:
        """Active window, windows with outer geometry, hashes of `files` (a folder: of its listing)."""
        expanded = {self.expand(path): path for path in files}
        result = self._guest.execute([_BUSYBOX, "sh", f"{_DESK}/state", *expanded])
        screen, found, listing = result.stdout.decode("utf-8", "replace").partition("== files\n")
        if result.exit_code != 0 or not found:
            raise DesktopFault(f"{self._guest.name}: state cannot be read: {result.stderr.decode().strip()}")
        active, windows = parse_windows(screen, self._window_apps)
        hashes = {}
        for line in listing.splitlines():
            digest, _, path = line.partition("\t")
            hashes[expanded[path]] = digest
        return StateSignature(active=active, windows=windows, files=hashes)

    def draws(self) -> bool:
        """Whether the screen's own server answers in the time an agent has; raises GuestUnresponsive when the guest is silent."""
        done = self._guest.wait(self._guest.start([f"{_DESK}/windows"]), self._guest.agent_seconds)
        return done is not None and done.exit_code == 0

    def elements(self, most: int, timeout: float, width: int, height: int) -> Elements:
        """The accessibility tree of a screen of this size, cut at `most` elements and after `timeout` seconds."""
        limits = (str(most), str(round(timeout * 1000)))
        result = self._guest.execute([_BUSYBOX, "sh", f"{_DESK}/tree", *limits], timeout=timeout + _HELPER_SECONDS)
        if result.exit_code != 0:
            reason = result.stderr.decode("utf-8", "replace").strip()
            raise DesktopFault(f"{self._guest.name}: the accessibility tree cannot be read: {reason}")
        return parse_tree(result.stdout.decode("utf-8", "replace"), width, height, self._window_apps)

    def begin_paste(self, text: str) -> str:
        """Offer text on the clipboard, keeping what it held; returns gui | terminal | xterm: how the focused window pastes."""
        self.write("/run/desk/paste.txt", text.encode())
        result = self._helper("paste-begin", "/run/desk/paste.txt")
        kind = result.stdout.strip()
        if result.exit_code != 0 or kind not in ("gui", "terminal", "xterm"):
            raise DesktopFault(f"{self._guest.name}: the clipboard cannot be used: {result.stderr.strip() or kind}")
        return kind

    def end_paste(self) -> bool:
        """Wait until the text was fetched and give the clipboard back; False when no window asked for it."""
        return self._helper("paste-end").exit_code == 0

    def _helper(self, name: str, *arguments: str) -> ShellResult:
        result = self._run([_BUSYBOX, "sh", f"{_DESK}/{name}", *arguments], None, _HELPER_SECONDS)
        if result.exit_code is None:
            raise GuestUnresponsive(f"{self._guest.name}: {name} did not end within {_HELPER_SECONDS:g} s")
        return result

    def _staged(self, kind: str, data: bytes) -> str:
        """A file of the user's for one job."""
        self._tidy()
        path = f"{_JOBS}/{kind}{next(self._jobs)}"
        self._guest.write(path, data)
        self._guest.execute([_BUSYBOX, "chown", self._user, path])
        self._used.append(path)
        return path

    def _tidy(self) -> None:
        """Remove the files of finished jobs once there are many; called before a job has any of its own."""
        if len(self._used) >= _TIDY_FROM:
            self._guest.execute([_BUSYBOX, "rm", "-f", *self._used])
            self._used.clear()

    def _run(self, argv: Sequence[str], cwd: str | None, timeout: float) -> ShellResult:
        """Start `argv` as the user through the guest's exec script, wait, and fetch its output files."""
        job = f"j{next(self._jobs)}"
        folder = self.expand(cwd or "~")
        pid = self._guest.start(
            [_BUSYBOX, "setsid", _BUSYBOX, "sh", f"{_DESK}/exec", job, folder, *argv], capture=False
        )
        done = self._guest.wait(pid, timeout)
        code = done.exit_code if done is not None else None
        if done is None:
            self._kill(pid)
        files = [f"{_JOBS}/{job}.{name}" for name in ("out", "err")]
        out, err = (self.read(path) or b"" for path in files)
        self._used += files
        return ShellResult(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), code)

    def _kill(self, pid: int) -> None:
        """End the whole process group, politely at first."""
        for name, seconds in (("TERM", _KILL_SECONDS), ("KILL", _HELPER_SECONDS)):
            self._guest.execute([_BUSYBOX, "kill", f"-{name}", "--", f"-{pid}"])
            if self._guest.wait(pid, seconds) is not None:
                break
        else:
            raise GuestUnresponsive(f"{self._guest.name}: process {pid} cannot be killed")
        self._guest.execute([_BUSYBOX, "kill", "-KILL", "--", f"-{pid}"])  # members that ignored TERM
