"""A small deterministic desktop in memory: fast rollouts without a virtual machine, same port, same action space."""

from __future__ import annotations

import copy
import hashlib
import posixpath
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cuamaster.action_space import CUAAction, canonical_key
from cuamaster.adapters.desktops.signatures import difference
from cuamaster.adapters.desktops.simulated_keys import press, type_text
from cuamaster.adapters.desktops.simulated_pointer import mouse
from cuamaster.adapters.desktops.simulated_records import RECORD_APPS, RECORDS_IMAGE
from cuamaster.adapters.desktops.simulated_screen import layout, render
from cuamaster.adapters.desktops.simulated_shell import SimulatedShell
from cuamaster.adapters.desktops.simulated_tree import elements_of
from cuamaster.adapters.desktops.simulated_windows import (
    SimWindow,
    TerminalWindow,
)
from cuamaster.adapters.desktops.simulated_world import APPS, SCREEN, World
from cuamaster.errors import GuestDied, HostBusy, InvalidAction, StateDrift, UnknownName
from cuamaster.ports import Desktop, Frame, GuestImage, ShellResult
from cuamaster.records.episode import Receipt
from cuamaster.records.scene import Elements
from cuamaster.records.trajectory import StateSignature, TextBox, Window

DIGEST = "simulated-5"
"""Changes whenever the simulated desktop behaves differently; the prefix marks what was never proven on a machine."""
CAPABILITIES = frozenset(
    {*(f"app:{app}" for app in APPS), "shell", "clipboard", "snapshot", "accessibility", "settings:gsettings"}
)
_SHELL_SECONDS = 60.0


def capabilities_of(image: str) -> frozenset[str]:
    """What a simulated image can do: one of them has the record-keeping applications beside the others."""
    return CAPABILITIES | {f"app:{app}" for app in RECORD_APPS} if image == RECORDS_IMAGE else CAPABILITIES


def world_of(image: str, screen: tuple[int, int] = SCREEN) -> World:
    """A fresh desktop of an image; the record-keeping applications stand on it as icons."""
    return World(screen=screen, icons=tuple(RECORD_APPS) if image == RECORDS_IMAGE else ())


class SimulatedDesktop:
    """One simulated desktop; `world` may be prepared by tests, time passes only by waits, held keys and the shell's `sleep`."""

    image_digest = DIGEST

    def __init__(self, image: str, world: World | None = None, host: SimulatedHost | None = None) -> None:
        self.image = image
        self.capabilities = capabilities_of(image)
        self.world = world or world_of(image)
        self.width, self.height = self.world.screen
        self._host = host or SimulatedHost()
        self._snapshots: dict[str, tuple[World, StateSignature]] = {}
        self._closed = False
        self._drawn: tuple[object, Frame] | None = None
        """What was drawn last: a screen that nothing has changed is not drawn again."""

    def act(self, action: CUAAction, action_id: str) -> Receipt:
        """Perform a gui or cli action or a wait; raises InvalidAction for tool.call and finish."""
        self._check_open()
        action.validate()
        response, code = "", None
        args = action.args
        if action.type.startswith("mouse."):
            mouse(self.world, action.type, args)
        elif action.type == "keyboard.type":
            type_text(self.world, args["text"], self._run_line)
        elif action.type in ("keyboard.press", "keyboard.hold"):
            press(self.world, frozenset(canonical_key(key) for key in args["keys"]) | self.world.held, self._run_line)
            self.world.clock += args.get("seconds", 0.0)
        elif action.type == "keyboard.down":
            self.world.held.add(canonical_key(args["key"]))
        elif action.type == "keyboard.up":
            self.world.held.discard(canonical_key(args["key"]))
        elif action.type == "shell.exec":
            result = self.shell(args["command"], cwd=args.get("cwd"), timeout=args.get("timeout", _SHELL_SECONDS))
            response = result.stdout + (f"\n[stderr]\n{result.stderr}" if result.stderr else "")
            code = result.exit_code
        elif action.type == "wait":
            self.world.clock += args["seconds"]
        else:
            raise InvalidAction(f"{action.type} is not performed by a desktop", field="type")
        status = "sent" if code is None else "effect_seen"
        return Receipt(action_id=action_id, status=status, response=response, exit_code=code)

    def release(self) -> None:
        """Let go of every key; buttons are never held here."""
        self._check_open()
        self.world.held.clear()

    # --- looking

    def screenshot(self) -> Frame:
        """The screen; the same world gives the same bytes. `t` is the simulated clock."""
        self._check_open()
        widgets = layout(self.world)
        shown = [(item.x, item.y, item.width, item.height, item.kind, item.text) for item in widgets]
        key = (self.world.pointer, tuple(shown))
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, Frame(image=render(self.world, widgets), t=self.world.clock)
        elif self._drawn[1].t != self.world.clock:
            self._drawn = key, Frame(image=self._drawn[1].image, t=self.world.clock)
        return self._drawn[1]

    def texts(self) -> list[TextBox]:
        """What can be read on the screen, known without reading it: texts that nothing covers, in pixels."""
        self._check_open()
        found = []
        widgets = layout(self.world)
        for place, item in enumerate(widgets):
            box = TextBox(text=item.text, x0=item.x, y0=item.y, x1=item.x + item.width, y1=item.y + item.height)
            x, y = round(box.center[0]), round(box.center[1])
            if item.text and not any(above.contains(x, y) for above in widgets[place + 1 :]):
                found.append(box)
        return found

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:  # noqa: ARG002  nothing moves by itself here
        """The screen, which is always still."""
        return self.screenshot()

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = _SHELL_SECONDS) -> ShellResult:
        """Run in the simulated shell (a subset of sh); no process of this host is ever started."""
        self._check_open()
        return SimulatedShell(self.world, self.world.files.absolute(cwd or "~"), timeout).run(command)

    def _run_line(self, window: TerminalWindow, line: str) -> None:
        if line.strip() == "exit":
            self.world.close_window(window)
            return
        shell = SimulatedShell(self.world, window.cwd, _SHELL_SECONDS)
        result = shell.run(line) if line.strip() else ShellResult("", "", 0)
        window.cwd = shell.cwd
        window.lines += (result.stdout + result.stderr).splitlines()

    def launch(self, app: str, args: Sequence[str] = ()) -> None:
        """Open an application's window; raises UnknownName."""
        self._check_open()
        if f"app:{app}" not in self.capabilities:
            known = sorted(item.removeprefix("app:") for item in self.capabilities if item.startswith("app:"))
            raise UnknownName(f"image {self.image} has no application {app!r}", hint=f"it has {', '.join(known)}")
        self.world.launch(app, args[0] if args else None)

    def read_file(self, path: str) -> bytes | None:
        """Contents, or None when there is no such file."""
        self._check_open()
        full = self.world.files.absolute(path)
        return self.world.files.read(full) if self.world.files.is_file(full) else None

    def write_file(self, path: str, data: bytes) -> None:
        """Write, making parent folders."""
        self._check_open()
        full = self.world.files.absolute(path)
        self.world.files.make_dir(posixpath.dirname(full), parents=True)
        self.world.files.write(full, data)

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        """The light state signature, with hashes of `files` (a folder: of its listing)."""
        self._check_open()
        windows = tuple(_signature(window) for window in self.world.windows)
        hashes = {path: self._hash(self.world.files.absolute(path)) for path in files}
        return StateSignature(active=windows[-1] if windows else None, windows=windows, files=hashes)

    def elements(self, *, most: int = 1000, timeout: float = 3.0) -> Elements:  # noqa: ARG002  it takes no time
        """What shows, as the accessibility bus of a real desktop would tell it."""
        self._check_open()
        return elements_of(self.world, most)

    @property
    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        return self.world.pointer

    def _hash(self, path: str) -> str:
        if self.world.files.is_dir(path):
            return hashlib.sha256("".join(f"{name}\n" for name in self.world.files.children(path)).encode()).hexdigest()
        return hashlib.sha256(self.world.files.read(path)).hexdigest() if self.world.files.is_file(path) else ""

    # --- going back

    def snapshot(self, label: str, files: Sequence[str] = ()) -> StateSignature:
        """Keep a copy of the world under `label`."""
        signature = self.state(files)
        self._snapshots[label] = (copy.deepcopy(self.world), signature)
        return signature

    def rollback(self, label: str) -> StateSignature:
        """Return to a snapshot, nothing held; raises UnknownName, StateDrift."""
        self._check_open()
        if label not in self._snapshots:
            raise UnknownName(f"no snapshot {label!r}", hint=f"there are {', '.join(self._snapshots) or 'none'}")
        world, expected = self._snapshots[label]
        self.world = copy.deepcopy(world)
        self.world.held.clear()
        seen = self.state(tuple(expected.files))
        if seen != expected:
            raise StateDrift(f"after the rollback to {label!r}: {difference(expected, seen)}")
        return seen

    def drop_snapshot(self, label: str) -> None:
        """Forget a snapshot; unknown labels are ignored."""
        self._snapshots.pop(label, None)

    def snapshot_sizes(self) -> Mapping[str, int]:
        """Bytes of the files that each snapshot holds."""
        return {label: world.files.size() for label, (world, _) in self._snapshots.items()}

    @contextmanager
    def fork(self, label: str) -> Iterator[Desktop]:
        """A copy of this desktop and its snapshots, rolled back to one of them; raises UnknownName, StateDrift, HostBusy."""
        self._check_open()
        twin = SimulatedDesktop(self.image, self.world, self._host)
        twin._snapshots = dict(self._snapshots)  # snapshots are copied when they are used, never changed
        with self._host.live(twin):
            twin.rollback(label)
            yield twin

    def close(self) -> None:
        """End it; safe to call twice."""
        self._closed = True
        self._snapshots.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise GuestDied("the simulated desktop is closed")


def _signature(window: SimWindow) -> Window:
    return Window(app=window.app, title=window.title, x=window.x, y=window.y, width=window.width, height=window.height)


class SimulatedHost:
    """Gives simulated desktops under any image name."""

    name = "simulated"

    def __init__(self, capacity: int = 8, *, screen: tuple[int, int] = SCREEN) -> None:
        """`screen`: width and height in pixels of every desktop."""
        self._capacity = capacity
        self._screen = screen
        self._live: list[SimulatedDesktop] = []
        self._lock = threading.Lock()

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        """A fresh desktop, closed when the block is left; raises HostBusy."""
        with self.live(SimulatedDesktop(image, world_of(image, self._screen), self)) as desktop:
            yield desktop

    @contextmanager
    def live(self, desktop: SimulatedDesktop) -> Iterator[SimulatedDesktop]:
        """Count a desktop among those of this host while the block runs, then close it; raises HostBusy."""
        with self._lock:
            if len(self._live) >= self._capacity:
                raise HostBusy(f"all {self._capacity} simulated desktops are in use")
            self._live.append(desktop)
        try:
            yield desktop
        finally:
            desktop.close()
            with self._lock:
                self._live.remove(desktop)

    def room(self, image: str) -> str | None:  # noqa: ARG002  all images are alike
        """Always: a simulated desktop takes next to nothing."""
        return None

    def guest_image(self, name: str) -> GuestImage:
        """What a built image would say of itself."""
        width, height = self._screen
        return GuestImage(
            name=name, digest=DIGEST, folder=Path(), capabilities=capabilities_of(name), width=width, height=height
        )

    def close(self) -> None:
        """End every desktop this host gave."""
        for desktop in list(self._live):
            desktop.close()
