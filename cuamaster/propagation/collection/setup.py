"""Brings a desktop into a task's start state, or says exactly what of it could not be reached."""

from __future__ import annotations

import base64
import binascii
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from cuamaster.action_space import CUAAction
from cuamaster.checks import unmet
from cuamaster.errors import InvalidInput, SetupFailed
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.records.needs import needs_of_environment
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Environment
from cuamaster.records.templates import quote
from cuamaster.records.wording import describe

REST_S, QUIET_S = 60.0, 1.0
"""How long a start state may take to be drawn and to rest: on a crowded host a window has its title seconds before it takes keys."""
_CLIPBOARD_FILE = "~/.cache/clipboard-setup"


def establish(
    environment: Environment,
    desktop: Desktop,
    reader: ScreenReader,
    *,
    timeout: float = 180.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run the setup steps and wait until all `established` conditions hold and the desktop rests.

    `timeout` in seconds of `clock`, for each application's window and again for the conditions. Raises SetupFailed for a step
    that failed or a condition that stays unmet, other DesktopFaults when the desktop fails, InvalidInput for a bad step.
    """
    require(needs_of_environment(environment), desktop)
    carry_out(environment.setup, desktop, timeout=timeout, clock=clock)
    deadline = clock() + timeout
    while missed := unmet(environment.established, desktop, reader):
        if clock() > deadline:
            found = "; ".join(
                f"{describe(check.condition, reveal=True)}, but found: {check.observed}" for check in missed
            )
            raise SetupFailed(f"the start state was not reached within {timeout:g} s: {found}")
        desktop.settle(timeout=2.0, quiet=0.3)
    desktop.settle(timeout=REST_S, quiet=QUIET_S)


def require(needs: frozenset[str], desktop: Desktop) -> None:
    """Raise SetupFailed naming the capabilities that the desktop's image lacks."""
    if missing := sorted(needs - desktop.capabilities):
        raise SetupFailed(
            f"image {desktop.image} lacks {', '.join(missing)}", hint="choose an image that has these capabilities"
        )


def carry_out(
    steps: Sequence[SetupStep],
    desktop: Desktop,
    *,
    timeout: float = 180.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run steps in order; `timeout` seconds for each application's window. Raises as `establish` does."""
    for number, step in enumerate(steps):
        if step.kind == "app.launch":
            _launch(step, desktop, timeout, clock)
        elif step.kind == "desktop.act":
            _act(step, desktop, f"setup-{number}")
        else:
            _STEPS[step.kind](step, desktop)


def _act(step: SetupStep, desktop: Desktop, action_id: str) -> None:
    """One action; the next one is sent when the screen is still."""
    receipt = desktop.act(CUAAction.from_json(step.text), action_id)
    if receipt.status in ("rejected", "unknown") or receipt.exit_code not in (None, 0):
        raise SetupFailed(f"setup action failed ({receipt.status}): {step.text[:200]}: {receipt.response[:500]}")
    desktop.settle(timeout=2.0, quiet=0.3)


def _launch(step: SetupStep, desktop: Desktop, timeout: float, clock: Callable[[], float]) -> None:
    """Starts one application and waits for its new window (`text`: part of its title), so that the next one opens above it."""
    before = _windows_of(step.app, desktop)
    desktop.launch(step.app, step.args)
    deadline = clock() + timeout
    while not _new_window(before, _windows_of(step.app, desktop), step.text):
        if clock() > deadline:
            raise SetupFailed(f"no new window of {step.app} appeared within {timeout:g} s")
        desktop.settle(timeout=2.0, quiet=0.3)


def _new_window(before: list[str], now: list[str], title: str) -> bool:
    return any(title in found for found in (Counter(now) - Counter(before)).elements())


def _windows_of(app: str, desktop: Desktop) -> list[str]:
    return sorted(window.title for window in desktop.state().windows if window.app == app)


def _write(step: SetupStep, desktop: Desktop) -> None:
    desktop.write_file(_path(step), step.text.encode())


def _write_bytes(step: SetupStep, desktop: Desktop) -> None:
    try:
        data = base64.b64decode(step.text, validate=True)
    except binascii.Error as exc:
        raise InvalidInput(f"setup step file.bytes for {step.path}: not base64: {exc}") from exc
    desktop.write_file(_path(step), data)


def _make(step: SetupStep, desktop: Desktop) -> None:
    _run(f"mkdir -p {quote(_path(step))}", desktop)


def _remove(step: SetupStep, desktop: Desktop) -> None:
    if _path(step).strip("/ ") in ("", "~", ".", ".."):
        raise InvalidInput(f"setup step path.remove: refuses to remove {step.path!r}")
    _run(f"rm -rf {quote(_path(step))}", desktop)


def _setting(step: SetupStep, desktop: Desktop) -> None:
    _run(f"gsettings set {quote(step.schema_id)} {quote(step.key)} {quote(step.value, home=False)}", desktop)


def _clipboard(step: SetupStep, desktop: Desktop) -> None:
    desktop.write_file(_CLIPBOARD_FILE, step.text.encode())
    # xclip stays behind to serve the selection: it must not hold the shell's output open
    _run(f"xclip -selection clipboard -i {_CLIPBOARD_FILE} >/dev/null 2>&1 && rm -f {_CLIPBOARD_FILE}", desktop)


def _run_text(step: SetupStep, desktop: Desktop) -> None:
    _run(_command(step), desktop)


def _start(step: SetupStep, desktop: Desktop) -> None:
    # in a session of its own, so that it outlives the shell, with nothing of the shell held open
    _run(f"setsid sh -c {quote(_command(step), home=False)} >/dev/null 2>&1 &", desktop)


def _command(step: SetupStep) -> str:
    if not step.text.strip():
        raise InvalidInput(f"setup step {step.kind}: text is empty")
    return step.text


def _path(step: SetupStep) -> str:
    if not step.path:
        raise InvalidInput(f"setup step {step.kind}: path is empty")
    return step.path


def _run(command: str, desktop: Desktop) -> None:
    result = desktop.shell(command)
    if result.exit_code != 0:
        raise SetupFailed(f"setup command failed ({result.exit_code}): {command}: {result.stderr.strip()[:500]}")


_STEPS: Mapping[str, Callable[[SetupStep, Desktop], None]] = {
    "file.write": _write,
    "file.bytes": _write_bytes,
    "dir.make": _make,
    "path.remove": _remove,
    "setting.write": _setting,
    "clipboard.set": _clipboard,
    "shell.run": _run_text,
    "shell.start": _start,
}
