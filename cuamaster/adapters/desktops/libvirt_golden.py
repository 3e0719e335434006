"""The golden memory snapshot of an image: made once by booting and warming up, then copied on write by every clone."""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import time
from pathlib import Path

from cuamaster.adapters.desktops.libvirt_domain import Machine, domain_xml, make_overlay
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_machine import start_guest
from cuamaster.adapters.desktops.libvirt_migration import save_state
from cuamaster.adapters.desktops.libvirt_root import Root
from cuamaster.adapters.desktops.libvirt_seal import SEAL, damage, seal
from cuamaster.adapters.desktops.libvirt_session import Session
from cuamaster.adapters.desktops.signatures import screen_signature
from cuamaster.adapters.images.publish import MORE_ROOM, publish
from cuamaster.adapters.images.recipe import GuestRecipe, OwnRecipe, WarmUp
from cuamaster.errors import BadFrame, DesktopFault, GuestUnresponsive, MissingCapability, StoreFull
from cuamaster.ports import GuestImage, Progress
from cuamaster.records.trajectory import StateSignature
from cuamaster.vision.frame_gate import decode_screenshot

log = logging.getLogger(__name__)

BOOT_SECONDS = 300.0
WARM_UP_SECONDS = 300.0
_WRITTEN_MIB = 256
"""What the guest may write to its disk while it boots and warms up."""
_DRAWN_S = 2.0
"""How long a picture must stay before it counts as the desktop."""
FILES = ("memory.img", "device.state", "disk.qcow2", "manifest.json")


def golden_folder(image: GuestImage, machine: Machine) -> Path:
    """Where the snapshot of this image on this machine lies or would lie."""
    return image.folder / f"golden-{machine.digest[:12]}"


def ensure_golden(root: Root, recipe: GuestRecipe, image: GuestImage, machine: Machine, progress: Progress) -> Path:
    """Return the golden snapshot's folder, making it first; one process makes it, others wait.

    A damaged one is made again. Raises StoreFull before the guest is started, GuestUnresponsive when it does not boot or an
    application of the warm-up does not show its window.
    """
    from filelock import FileLock

    target = golden_folder(image, machine)
    if not usable(target):
        with FileLock(image.folder / f"{target.name}.lock"):
            if not usable(target):
                staged = image.folder / f".{target.name}"
                for leftover in (target, staged):
                    shutil.rmtree(leftover, ignore_errors=True)
                free, wanted = shutil.disk_usage(image.folder).free >> 20, machine.memory_mib + _WRITTEN_MIB
                if free < wanted:  # a guest that writes into memory for which the disk has no room is killed
                    raise StoreFull(
                        f"{free} MiB free under {image.folder}, its golden snapshot may need {wanted}", hint=MORE_ROOM
                    )
                staged.mkdir()
                if not root.embed:
                    staged.chmod(0o777)  # QEMU runs as another user
                _make(root, recipe, image, machine, staged, progress)
                publish(staged, target)
    return target


def golden_signature(folder: Path) -> StateSignature:
    """The state attested when the snapshot was made: what every clone must show first."""
    return StateSignature.model_validate(json.loads((folder / "manifest.json").read_text("utf-8"))["signature"])


def has_direct_agent(folder: Path) -> bool:
    """Whether the second guest agent ran when the snapshot was made."""
    return bool(json.loads((folder / "manifest.json").read_text("utf-8")).get("direct_agent"))


def usable(folder: Path) -> bool:
    """Whether the golden snapshot in `folder` is complete and undamaged."""
    if not all((folder / name).is_file() for name in FILES):
        return False
    if not (folder / SEAL).is_file():  # made before snapshots were sealed
        seal(folder, FILES)
    why = damage(folder)
    if why is not None:
        log.warning("the golden snapshot %s is damaged and is made again: %s", folder, why)
    return why is None


def _make(
    root: Root, recipe: GuestRecipe, image: GuestImage, machine: Machine, folder: Path, progress: Progress
) -> None:
    started = time.monotonic()
    progress("booting the guest", 0.0)
    memory = folder / "memory.img"
    with memory.open("wb") as handle:
        handle.truncate(machine.memory_mib << 20)
    if not root.embed:
        memory.chmod(0o666)
    make_overlay(folder / "disk.qcow2", image.folder / "base.qcow2", relative=True)
    name = f"g{os.getpid()}"
    xml = domain_xml(machine, name, image.folder, folder, memory, share=True, incoming=False)
    guest = start_guest(root, name, xml, paused=False)
    try:
        limit = recipe.boot_seconds if isinstance(recipe, OwnRecipe) else BOOT_SECONDS
        if recipe.agent == "none":
            boot_seconds, signature = wait_drawn(guest, machine, limit)
            opened, direct = {}, False
        else:
            boot_seconds = wait_desktop(guest, limit)
            direct = guest.start_direct()
            session = Session(guest, recipe.user, recipe.home, recipe.window_apps)
            opened = _warm_up_all(guest, session, recipe, progress)
            signature = session.state(())
        progress("saving memory", 0.95)
        guest.suspend()
        save_state(guest, folder / "device.state")
    finally:
        guest.destroy()
    manifest = {
        "image_digest": image.digest,
        "machine": machine.digest,
        "accel": machine.accel,
        "qemu": machine.qemu_version,
        "boot_seconds": round(boot_seconds, 2),
        "warm_up_seconds": opened,
        "seconds": round(time.monotonic() - started, 1),
        "memory_bytes_on_disk": memory.stat().st_blocks * 512,
        "direct_agent": direct,
        "signature": signature.model_dump(mode="json"),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    seal(folder, FILES)
    progress("golden snapshot ready", 1.0)


def wait_desktop(guest: Guest, seconds: float) -> float:
    """Wait until the agent answers and the session says that the desktop is drawn; returns the seconds it took."""
    started = time.monotonic()
    guest.wait_agent(seconds)
    try:
        guest.execute(["/usr/lib/desk/busybox", "true"])
    except DesktopFault as exc:
        raise MissingCapability(
            f"{guest.name}: the agent answers, but the guest has no /usr/lib/desk: {exc.message}",
            capability="shell",
            hint="docs/images.md says what to copy there; or write `agent: none` into the recipe",
        ) from exc
    while guest.execute(["/usr/lib/desk/busybox", "test", "-s", "/run/desk/ready"]).exit_code != 0:
        if time.monotonic() - started > seconds:
            raise GuestUnresponsive(f"{guest.name}: no desktop {seconds:g} s after the start", hint="see console.log")
        time.sleep(0.2)
    return time.monotonic() - started


def wait_drawn(guest: Guest, machine: Machine, seconds: float) -> tuple[float, StateSignature]:
    """Wait until a guest that nobody can ask shows the same picture, black no more, and rests; (seconds, what it shows)."""
    started = time.monotonic()
    shown: StateSignature | None = None
    while time.monotonic() - started < seconds:
        guest.vcpus.wait_idle(seconds - (time.monotonic() - started), quiet=_DRAWN_S)
        try:
            now = screen_signature(decode_screenshot(guest.screenshot(), machine.width, machine.height))
        except BadFrame:
            now = None
        if now is not None and now == shown:
            return time.monotonic() - started, now
        shown = now
        time.sleep(_DRAWN_S)
    raise GuestUnresponsive(
        f"{guest.name}: no picture that stays {seconds:g} s after the start",
        hint=f"it must log in by itself and show {machine.width}x{machine.height} pixels; a clock with seconds never rests",
    )


def _warm_up_all(guest: Guest, session: Session, recipe: GuestRecipe, progress: Progress) -> dict[str, float]:
    """Open and close every application of the recipe; seconds until the window of each was there."""
    opened = {}
    for number, application in enumerate(recipe.warm_up):
        progress(f"warming up {application.command}", 0.4 + 0.5 * number / len(recipe.warm_up))
        opened[application.command] = round(_warm_up(guest, session, application), 1)
    session.shell("rm -f ~/.local/share/recently-used.xbel; sync", None, 60.0)
    guest.vcpus.wait_idle(WARM_UP_SECONDS)
    return opened


def _warm_up(guest: Guest, session: Session, application: WarmUp) -> float:
    """Start an application, wait for its window, close it and wait until it is gone; seconds until the window rested."""
    begun = time.monotonic()
    started = session.shell(f"setsid {application.command} >/dev/null 2>&1 &", None, 30.0)
    if started.exit_code != 0:
        raise DesktopFault(f"{guest.name}: cannot start {application.command}: {started.stderr.strip()}")
    find = f"wmctrl -lx | awk '$2 != -1' | grep -i -F {shlex.quote('.' + application.window_class + ' ')}"
    guest.vcpus.wait_idle(WARM_UP_SECONDS)
    _poll(guest, session, find, 0, f"{application.command} did not show a window")
    seconds = time.monotonic() - begun
    close = f"{find} | cut -d' ' -f1 | while read -r id; do wmctrl -i -c $id; done"
    session.shell(close, None, 30.0)
    guest.vcpus.wait_idle(WARM_UP_SECONDS)
    # Asked again each time: a dialog of its first start may have to go before the window under it can.
    _poll(guest, session, f"{close}; {find}", 1, f"{application.command} did not close its window")
    return seconds


def _poll(guest: Guest, session: Session, command: str, wanted: int, message: str) -> None:
    deadline = time.monotonic() + WARM_UP_SECONDS
    while session.shell(command, None, 30.0).exit_code != wanted:
        if time.monotonic() > deadline:
            raise GuestUnresponsive(f"{guest.name}: {message} within {WARM_UP_SECONDS:g} s")
        guest.vcpus.wait_idle(deadline - time.monotonic())
