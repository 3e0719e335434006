"""`--external_plugins` of ms-swift: makes the desktop known as the gym environment `cuamaster_desktop`.

Desktops are those of the settings (CUAMASTER_*); CUAMASTER_MODE must be the mode of the dataset.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
from typing import Any

from swift.rollout.gym_env import envs

from cuamaster import wiring
from cuamaster.ports import DesktopPorts
from cuamaster.settings import Settings
from cuamaster.training.desktop_episode import DesktopEpisode
from cuamaster.training.gym_env import DesktopGym

NAME = "cuamaster_desktop"


@functools.cache
def _ports() -> DesktopPorts:
    """One host for all episodes of this process, closed at its end."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(wiring.desktop_ports(Settings()))


def _environment(_config: Any) -> DesktopGym:
    ports, side = _ports(), os.environ.get("CUAMASTER_MAX_SIDE")
    return DesktopGym(DesktopEpisode(ports.host, ports.reader, speaks=Settings().dialect), int(side) if side else None)


envs[NAME] = _environment
