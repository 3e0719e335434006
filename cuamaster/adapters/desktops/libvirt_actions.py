"""Performs the action space on a guest: pixels and key codes for the hypervisor, commands for the session."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cuamaster.action_space import CUAAction, to_pixel
from cuamaster.adapters.desktops.keys import chord, typeable
from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.adapters.desktops.libvirt_session import Session
from cuamaster.errors import InvalidAction
from cuamaster.ports import ShellResult

SHELL_SECONDS = 60.0
_PASTE_KEYS = {"gui": ("ctrl", "v"), "terminal": ("ctrl", "shift", "v"), "xterm": ("shift", "insert")}


class Performer:
    """One guest's hands; coordinates 0-1000 become pixels here and nowhere else."""

    def __init__(self, devices: Input, session: Session | None, width: int, height: int) -> None:
        """`session`: None where nobody inside the guest can be asked; commands and pasted text are refused then."""
        self._input = devices
        self._session = session
        self._width = width
        self._height = height

    def perform(self, action: CUAAction) -> tuple[str, int | None]:
        """Perform a valid action once; returns (response, exit code). Raises InvalidAction for what is no desktop action."""
        args = action.args
        match action.type:
            case "mouse.click":
                self._input.click(
                    *self._pixel(args), args.get("button", "left"), args.get("count", 1), _modifiers(args)
                )
            case "mouse.move":
                self._input.move(*self._pixel(args))
            case "mouse.move_relative":
                x, y = self._input.pointer
                x += round(args["dx"] * self._width / 1000)
                y += round(args["dy"] * self._height / 1000)
                self._input.move(min(self._width - 1, max(0, x)), min(self._height - 1, max(0, y)))
            case "mouse.drag":
                path = [(to_pixel(x, self._width), to_pixel(y, self._height)) for x, y in args["path"]]
                self._input.drag(path, args.get("button", "left"), _modifiers(args))
            case "mouse.scroll":
                self._move_if_given(args)
                self._input.scroll(int(args.get("dx", 0)), int(args.get("dy", 0)), _modifiers(args))
            case "mouse.down" | "mouse.up":
                self._move_if_given(args)
                self._input.button(args.get("button", "left"), action.type == "mouse.down")
            case "keyboard.type":
                return self._type(args["text"]), None
            case "keyboard.press":
                self._input.press(chord(args["keys"]))
            case "keyboard.hold":
                self._input.press(chord(args["keys"]), args["seconds"])
            case "keyboard.down":
                self._input.keys(chord([args["key"]]), True)
            case "keyboard.up":
                self._input.keys(tuple(reversed(chord([args["key"]]))), False)
            case "shell.exec":
                session = self._inside("type", "the image has no capability shell")
                return _shell_response(
                    session.shell(args["command"], args.get("cwd"), args.get("timeout", SHELL_SECONDS))
                )
            case "wait":
                time.sleep(args["seconds"])  # the policy asked for exactly this
            case _:
                raise InvalidAction(f"{action.type} is not performed by a desktop", field="type")
        return "", None

    def _inside(self, field: str, why: str) -> Session:
        if self._session is None:
            raise InvalidAction(why, field=field, hint="a guest without an agent has screen, mouse and keyboard only")
        return self._session

    def _pixel(self, args: Mapping[str, Any]) -> tuple[int, int]:
        return to_pixel(args["x"], self._width), to_pixel(args["y"], self._height)

    def _move_if_given(self, args: Mapping[str, Any]) -> None:
        if "x" in args:
            self._input.move(*self._pixel(args))

    def _type(self, text: str) -> str:
        """Keys for what a US keyboard has; lines with anything else go through the clipboard, which is given back."""
        parts = _split_lines(text)
        if not all(map(typeable, parts)):  # found out before anything is typed
            session = self._inside("text", "the image has no capability clipboard, through which other text is pasted")
        for part in parts:
            if typeable(part):
                self._input.type(part)
                continue
            kind = session.begin_paste(part)
            self._input.press(chord(_PASTE_KEYS[kind]))
            if not session.end_paste():
                return f"no window took the pasted text {part[:40]!r}"
        return ""


def _modifiers(args: Mapping[str, Any]) -> tuple[str, ...]:
    return chord(args.get("modifiers", ()))


def _shell_response(result: ShellResult) -> tuple[str, int | None]:
    response = result.stdout
    if result.stderr:
        response += f"\n[stderr]\n{result.stderr}"
    return response, result.exit_code


def _split_lines(text: str) -> list[str]:
    """Pieces between newlines and tabs, which stay pieces of their own: pasted, they would not act as keys."""
    pieces: list[str] = []
    current = ""
    for character in text.replace("\r\n", "\n").replace("\r", "\n"):
        if character in "\n\t":
            pieces += [current, character] if current else [character]
            current = ""
        else:
            current += character
    return [*pieces, current] if current else pieces
