"""Switches a desktop to another size of its screen."""

from __future__ import annotations

import re

from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.errors import InvalidInput, SetupFailed

_SECONDS = 30.0
_QUIET_S = 0.5


def switch_screen(desktop: LibvirtDesktop, width: int, height: int) -> None:
    """Ask the guest's X server for `width` x `height` and wait until its screen has that size and is drawn.

    Raises InvalidInput naming the sizes that the guest's display has, BadFrame when the size does not come.
    """
    asked = desktop.shell(f"xrandr --size {width}x{height}", timeout=_SECONDS)
    if asked.exit_code != 0:
        listed = desktop.shell("xrandr", timeout=_SECONDS)
        if listed.exit_code != 0:
            raise SetupFailed(f"{desktop.name}: the size of the screen cannot be changed: {listed.stderr.strip()}")
        sizes = ", ".join(dict.fromkeys(re.findall(r"^\s+(\d+x\d+)", listed.stdout, re.MULTILINE)))
        raise InvalidInput(f"image {desktop.image} has no screen of {width}x{height}", hint=f"it has {sizes}")
    desktop.settle(timeout=_SECONDS, quiet=_QUIET_S)
