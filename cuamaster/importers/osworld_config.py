"""OSWorld `config` and `postconfig` steps as our setup steps.

The step types are the `_<type>_setup` methods of desktop_env/controllers/setup.py in github.com/xlang-ai/OSWorld; how the guest
carries them out stands in desktop_env/server/main.py (`/setup/launch`, `/setup/open_file`, `/setup/activate_window`). Two things
are stricter here: a step that fails ends the episode as `setup` instead of being logged, and nothing is waited for blindly.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from cuamaster.action_space import MAX_WAIT_SECONDS, CUAAction
from cuamaster.errors import InvalidAction, Unmappable
from cuamaster.importers.code import code_actions
from cuamaster.importers.osworld_files import TaskFiles
from cuamaster.records.condition import Condition, WindowTitle
from cuamaster.records.primitive import SetupStep
from cuamaster.records.templates import quote

SCREEN = (1920, 1080)
"""Pixels of OSWorld's desktop: what coordinates in its steps are of."""
HOME = "/home/user"
APPS: Mapping[str, str] = {
    "chrome": "chrome", "google-chrome": "chrome", "google-chrome-stable": "chrome", "chromium": "chromium",
    "chromium-browser": "chromium", "firefox": "firefox", "code": "vscode", "vscode": "vscode", "vs_code": "vscode",
    "gimp": "gimp", "vlc": "vlc", "thunderbird": "thunderbird", "nautilus": "nautilus", "gnome-terminal": "gnome-terminal",
    "gedit": "gedit", "libreoffice calc": "libreoffice-calc", "libreoffice_calc": "libreoffice-calc",
    "localc": "libreoffice-calc", "libreoffice writer": "libreoffice-writer", "libreoffice_writer": "libreoffice-writer",
    "lowriter": "libreoffice-writer", "libreoffice impress": "libreoffice-impress", "libreoffice_impress": "libreoffice-impress",
    "loimpress": "libreoffice-impress",
}  # fmt: skip
"""OSWorld's names of applications and commands -> ids of our taxonomy; others stand for themselves."""
_OFFICE = {"--calc": "libreoffice-calc", "--writer": "libreoffice-writer", "--impress": "libreoffice-impress"}
_HARNESS = ("socat",)
"""Programs that OSWorld starts for its own remote control; nothing in a task depends on them here."""


@dataclass
class Steps:
    """What a list of steps became; `closing` steps are lenient where OSWorld's are: a window that is gone needs no raising."""

    files: TaskFiles
    closing: bool = False
    setup: list[SetupStep] = field(default_factory=list)
    established: list[Condition] = field(default_factory=list)
    apps: dict[str, None] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def add(self, steps: Sequence[Any], where: str) -> list[Unmappable]:
        """Translate every step; returns what could not be, all of it, so that it is reported at once."""
        faults = []
        for number, step in enumerate(steps):
            try:
                self._one(step, f"{where}[{number}]")
            except Unmappable as exc:
                faults.append(exc)
        return faults

    def _one(self, step: Any, where: str) -> None:
        kind = step.get("type") if isinstance(step, dict) else None
        given = step.get("parameters", {}) if isinstance(step, dict) else None
        if not isinstance(kind, str) or not isinstance(given, dict):
            raise Unmappable(f"{where}: not a step with type and parameters", reason="malformed")
        translate = _KINDS.get(kind)
        if translate is None:
            raise Unmappable(f"{where}: no setup step does `{kind}`", reason="unsupported-config", names=(kind,))
        try:
            translate(self, given, where)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as exc:
            if isinstance(exc, Unmappable):
                raise
            raise Unmappable(f"{where}: {kind} with {given!r:.200}: {exc}", reason="malformed", names=(kind,)) from exc

    def run(self, command: str, *, lenient: bool = False) -> None:
        """A command of the guest's shell; `lenient`: it may fail at the end of an episode."""
        self.setup.append(
            SetupStep(kind="shell.run", text=f"{command} || true" if lenient and self.closing else command)
        )

    def act(self, action: CUAAction) -> None:
        """An action on the screen; raises InvalidAction."""
        action.validate()
        self.setup.append(SetupStep(kind="desktop.act", text=action.to_json()))


def guest_path(path: str) -> str:
    """A path of OSWorld's guest, whose user is `user` and whose steps start in the home folder."""
    if path == HOME or path.startswith(HOME + "/"):
        return "~" + path[len(HOME) :]
    return path if path.startswith(("/", "~")) else f"~/{path}"


def shell_command(command: Any, *, shell: bool, where: str) -> str:
    """A command as the guest's server runs it: a list word by word, a text in a shell or split into words.

    Raises Unmappable for one that needs the guest's password, is malformed, or holds braces that read as parameters of ours.
    """
    if isinstance(command, str):
        text = _filled(command, where)
        return text if shell else " ".join(quote(word) for word in _split(text, where))
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return " ".join(quote(_filled(word, where)) for word in command)
    raise Unmappable(f"{where}: {command!r:.200} is no command", reason="malformed", names=("command",))


def _split(text: str, where: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as exc:
        raise Unmappable(f"{where}: {text!r:.200}: {exc}", reason="malformed", names=("command",)) from exc


def _filled(text: str, where: str) -> str:
    if "{CLIENT_PASSWORD}" in text:
        raise Unmappable(
            f"{where}: needs the guest's password", reason="unsupported-config", names=("CLIENT_PASSWORD",)
        )
    width, height = SCREEN
    for name, value in {
        "{SCREEN_WIDTH_HALF}": width // 2, "{SCREEN_HEIGHT_HALF}": height // 2, "{SCREEN_WIDTH}": width, "{SCREEN_HEIGHT}": height,
    }.items():  # fmt: skip
        text = text.replace(name, str(value))
    return text


# --- the types of steps


def _download(steps: Steps, given: Mapping[str, Any], where: str) -> None:
    missing: list[Unmappable] = []
    for item in given["files"]:
        try:
            data = steps.files.download(item["url"], item["path"])
        except Unmappable as exc:
            missing.append(exc)
            continue
        text = base64.b64encode(data).decode()
        steps.setup.append(SetupStep(kind="file.bytes", path=guest_path(item["path"]), text=text))
    if missing:
        names = tuple(name for fault in missing for name in fault.names)
        raise Unmappable(f"{where}: {missing[0]}", reason=missing[0].reason, names=names)


def _launch(steps: Steps, given: Mapping[str, Any], where: str) -> None:
    command, shell = given["command"], bool(given.get("shell", False))
    words = _split(_filled(command, where), where) if isinstance(command, str) else [_filled(w, where) for w in command]
    name = PurePosixPath(words[0]).name
    if name in _HARNESS:
        steps.skipped.append(f"launch:{name}")
        return
    app, args = _app_of(name, words[1:])
    steps.apps[app] = None
    if shell and isinstance(command, str):  # a line of shell may hold more than one program
        steps.setup.append(SetupStep(kind="shell.start", text=shell_command(command, shell=True, where=where)))
    else:
        steps.setup.append(
            SetupStep(kind="app.launch", app=app, args=tuple(guest_path(a) if a.startswith(HOME) else a for a in args))
        )


def _app_of(name: str, args: list[str]) -> tuple[str, list[str]]:
    if name in ("libreoffice", "soffice"):
        for flag, app in _OFFICE.items():
            if flag in args:
                return app, [arg for arg in args if arg != flag]
    return APPS.get(name, name), args


def _open(steps: Steps, given: Mapping[str, Any], _where: str) -> None:
    path = guest_path(given["path"])
    steps.setup.append(SetupStep(kind="shell.start", text=f"xdg-open {quote(path)}"))
    if not steps.closing:
        steps.established.append(WindowTitle(title=PurePosixPath(path).name))


def _execute(steps: Steps, given: Mapping[str, Any], where: str) -> None:
    extra = sorted(set(given) - {"command", "shell", "stdout", "stderr"})
    if any(given.get(name) for name in extra):
        raise Unmappable(
            f"{where}: {', '.join(extra)} of execute",
            reason="unsupported-config",
            names=tuple(f"execute:{n}" for n in extra),
        )
    command, shell = given["command"], bool(given.get("shell", False))
    code = _python(command, where)
    if code is None:
        steps.run(shell_command(command, shell=shell, where=where))
        return
    try:
        actions = code_actions(code, SCREEN)
    except InvalidAction as exc:
        raise Unmappable(f"{where}: {exc}", reason="unsupported-config", names=("execute:pyautogui",)) from exc
    for action in actions:
        steps.act(action)


def _python(command: Any, where: str) -> str | None:
    """The program of `python -c ...` if it moves the mouse or types: those actions are ours to do."""
    words = command if isinstance(command, list) else []
    if len(words) == 3 and words[0] in ("python", "python3") and words[1] == "-c" and "pyautogui" in words[2]:
        return _filled(words[2], where)
    return None


def _sleep(steps: Steps, given: Mapping[str, Any], _where: str) -> None:
    steps.act(CUAAction("wait", {"seconds": min(float(given["seconds"]), MAX_WAIT_SECONDS)}))


def _window(option: str) -> Callable[[Steps, Mapping[str, Any], str], None]:
    def translate(steps: Steps, given: Mapping[str, Any], _where: str) -> None:
        flags = ("x" if given.get("by_class") else "") + ("F" if given.get("strict") else "")
        steps.run(f"wmctrl -{flags}{option} {quote(given['window_name'], home=False)}", lenient=True)

    return translate


def _wallpaper(steps: Steps, given: Mapping[str, Any], _where: str) -> None:
    uri = json.dumps(f"file://{given['path']}").replace('"', "'")
    steps.setup.append(
        SetupStep(kind="setting.write", schema_id="org.gnome.desktop.background", key="picture-uri", value=uri)
    )


_KINDS: Mapping[str, Callable[[Steps, Mapping[str, Any], str], None]] = {
    "download": _download,
    "launch": _launch,
    "open": _open,
    "execute": _execute,
    "command": _execute,
    "sleep": _sleep,
    "activate_window": _window("a"),
    "close_window": _window("c"),
    "change_wallpaper": _wallpaper,
}
"""Type of step -> translation; `login`, `chrome_open_tabs`, `chrome_close_tabs`, `update_browse_history` ... have none."""
SUPPORTED_CONFIG = tuple(_KINDS)
