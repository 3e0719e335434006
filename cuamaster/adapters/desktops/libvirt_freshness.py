"""Tells a still desktop from a frozen picture of one: after an action without any visible effect, the pointer must still move."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.errors import BadFrame
from cuamaster.ports import Image

SLOW_S = 2.5
"""An action may take this long to show; only then is a screen that has not changed doubted."""
PROOF_S = 3.0
"""How long the pointer may take to move on the screen: half a second is much, even under emulation."""
_NUDGE_PX = 6


class Freshness:
    """One guest's doubts about its screen. Most actions change something soon and cost one comparison of pictures."""

    def __init__(self, look: Callable[[], Image], devices: Input, drawing: Callable[[], bool]) -> None:
        """`look`: the screen now; `drawing`: whether the guest, while its clock runs, answers for its own screen."""
        self._look = look
        self._input = devices
        self._drawing = drawing
        self._seen: Image | None = None
        self._before: Image | None = None
        self._acted = 0.0

    def saw(self, image: Image) -> None:
        """A picture was taken: one that differs from the last before the action settles every doubt."""
        if self._before is not None and not np.array_equal(image, self._before):
            self._before = None
        self._seen = image

    def acted(self) -> None:
        """Input was sent: from now on the screen is expected to change."""
        if self._before is None:
            self._before = self._seen
        self._acted = time.monotonic()

    def forget(self) -> None:
        """The screen was replaced by another one."""
        self._seen = self._before = None

    @property
    def doubtful(self) -> bool:
        """Whether nothing has changed for suspiciously long since the last input."""
        return self._before is not None and time.monotonic() - self._acted > SLOW_S

    def prove(self) -> None:
        """Move the pointer a little and back. Raises BadFrame (stale) when that is not seen and the guest does not draw.

        A pointer may be hidden, over a film for instance; then the guest's own word decides.
        """
        x, y = self._input.pointer
        before = self._look()
        self._input.move(x + _NUDGE_PX if x < _NUDGE_PX else x - _NUDGE_PX, y)
        try:
            moved = self._changes(before)
        finally:
            self._input.move(x, y)
        if not moved and not self._drawing():
            raise BadFrame(
                f"nothing on the screen has moved for {time.monotonic() - self._acted:.0f} s, not even the pointer, "
                "while the guest runs",
                reason="stale",
            )
        self._before = None

    def _changes(self, before: Image) -> bool:
        deadline = time.monotonic() + PROOF_S
        while np.array_equal(self._look(), before):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True
