"""Looks at a guest's screen: a picture that can be trusted, and the one after which nothing moves any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cuamaster.adapters.desktops.libvirt_freshness import Freshness
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.errors import BadFrame
from cuamaster.ports import Frame, Image
from cuamaster.vision.frame_gate import decode_screenshot

_FRAME_SECONDS = 3.0


class Eyes:
    """`local`: QEMU runs on this host, so that it can write pictures into `folder` and its CPU time can be seen."""

    def __init__(
        self,
        guest: Guest,
        folder: Path,
        devices: Input,
        size: tuple[int, int],
        *,
        local: bool,
        draws: Callable[[], bool],
    ) -> None:
        self._guest = guest
        self._folder = folder
        self._size = size
        self._local = local
        self.freshness = Freshness(lambda: self._look()[0], devices, draws)

    def screenshot(self) -> Frame:
        """The screen now; raises BadFrame."""
        pixels, taken = self._look()
        if self.freshness.doubtful:
            self.freshness.prove()
            pixels, taken = self._look()
        return Frame(image=pixels, t=taken)

    def settle(self, timeout: float, quiet: float) -> Frame:
        """The screen once no pixel changed and the guest was idle for `quiet` seconds, or the last one after `timeout`.

        Idleness matters: under emulation an application may compute for seconds before its window appears.
        """
        deadline = time.monotonic() + timeout
        pixels, taken = self._look()
        since, used = taken, self._vcpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(min(0.1, quiet / 3))
            before = pixels
            pixels, taken = self._look()
            if np.array_equal(pixels, before):
                if taken - since < quiet:
                    continue
                if self._guest.vcpus.rested(since, used):
                    if not self.freshness.doubtful:
                        break
                    self.freshness.prove()
            since, used = taken, self._vcpu_seconds()
        return Frame(image=pixels, t=taken)

    def _look(self) -> tuple[Image, float]:
        """The screen's pixels and when they were taken, as `screenshot` but not encoded yet."""
        deadline = time.monotonic() + _FRAME_SECONDS
        while True:
            taken = time.monotonic()
            try:
                pixels = decode_screenshot(self._grab(), *self._size)
                self.freshness.saw(pixels)
                return pixels, taken
            except BadFrame:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _grab(self) -> bytes:
        return self._guest.screendump(self._folder / "screen.ppm") if self._local else self._guest.screenshot()

    def _vcpu_seconds(self) -> float | None:
        return self._guest.vcpus.seconds() if self._local else None
