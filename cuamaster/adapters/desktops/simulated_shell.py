"""Runs the simulated shell: never a host process, only the simulated desktop's own files and windows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cuamaster.adapters.desktops.simulated_files import HOME
from cuamaster.adapters.desktops.simulated_io import Io, OutOfTime
from cuamaster.adapters.desktops.simulated_programs import PROGRAMS
from cuamaster.adapters.desktops.simulated_syntax import (
    Command,
    Group,
    If,
    Parser,
    Pipe,
    Sequence,
    ShellSyntaxError,
    Simple,
    Word,
)
from cuamaster.adapters.desktops.simulated_world import World
from cuamaster.ports import ShellResult

_MAX_DEPTH = 20


class _Exit(Exception):
    """`exit` was called."""


@dataclass
class _Output:
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)


class SimulatedShell:
    """One run of a script in a world; `cwd` is where it ends."""

    def __init__(self, world: World, cwd: str, seconds: float, depth: int = 0) -> None:
        self.world = world
        self._depth = depth
        self.cwd = cwd
        self._deadline = world.clock + seconds
        self._status = 0
        self._variables = {"HOME": HOME, "USER": "user", "DISPLAY": ":0", "PWD": cwd}

    def run(self, script: str) -> ShellResult:
        """The script's output and status (None when its simulated time is over); changes the world."""
        whole = _Output()
        try:
            self._sequence(Parser(script).parse(), "", whole)
        except ShellSyntaxError as exc:
            return ShellResult("", f"bash: {exc}\n", 2)
        except _Exit:
            pass
        except OutOfTime:
            self.world.clock = self._deadline
            return ShellResult("".join(whole.out), "".join(whole.err), None)
        return ShellResult("".join(whole.out), "".join(whole.err), self._status)

    def _sequence(self, sequence: Sequence, stdin: str, output: _Output) -> None:
        for joint, pipe in sequence.items:
            if (joint == "&&" and self._status != 0) or (joint == "||" and self._status == 0):
                continue
            self._pipe(pipe, stdin, output)

    def _pipe(self, pipe: Pipe, stdin: str, output: _Output) -> None:
        for index, part in enumerate(pipe.parts):
            last = index == len(pipe.parts) - 1
            step = output if last else _Output(err=output.err)
            self._command(part, stdin, step)
            stdin = "".join(step.out) if not last else ""
        if pipe.negated:
            self._status = int(self._status == 0)
        if pipe.background:
            self._status = 0

    def _command(self, command: Command, stdin: str, output: _Output) -> None:
        own = _Output()
        redirects = [(operator, None if word is None else self._expand(word)) for operator, word in command.redirects]
        for operator, target in redirects:
            if operator == "<" and target is not None:
                try:
                    stdin = self.world.files.read(self.world.files.absolute(target, self.cwd)).decode(
                        "utf-8", "replace"
                    )
                except OSError as exc:
                    output.err.append(f"bash: {target}: {exc}\n")
                    self._status = 1
                    return
        if isinstance(command, Simple):
            self._simple(command, stdin, own)
        elif isinstance(command, Group):
            self._sequence(command.body, stdin, own)
        elif isinstance(command, If):
            self._if(command, stdin, own)
        self._redirect(redirects, own, output)

    def _if(self, command: If, stdin: str, output: _Output) -> None:
        for condition, body in command.branches:
            self._sequence(condition, stdin, output)
            if self._status == 0:
                self._sequence(body, stdin, output)
                return
        self._status = 0
        if command.otherwise is not None:
            self._sequence(command.otherwise, stdin, output)

    def _simple(self, command: Simple, stdin: str, output: _Output) -> None:
        if not command.words:
            self._status = 0
            return
        if match := re.fullmatch(r"([A-Za-z_]\w*)=(.*)", self._expand(command.words[0]), re.DOTALL):
            self._variables[match.group(1)] = match.group(2)
            self._status = 0
            return
        words = [self._expand(word) for word in command.words]
        while words[0] in ("setsid", "nohup") and len(words) > 1:
            words.pop(0)
        script = self._script(words)
        if script is not None:
            if self._depth >= _MAX_DEPTH:
                output.err.append("bash: too many shells inside each other\n")
                self._status = 126
                return
            seconds = self._deadline - self.world.clock
            inner = SimulatedShell(self.world, self.cwd, seconds, self._depth + 1).run(script)
            output.out.append(inner.stdout)
            output.err.append(inner.stderr)
            if inner.exit_code is None:
                raise OutOfTime
            self._status = inner.exit_code
            return
        if words[0] == "exit":
            self._status = int(words[1]) if len(words) > 1 else self._status
            raise _Exit
        if words[0] == "cd":
            target = self.world.files.absolute(words[1] if len(words) > 1 else "~", self.cwd)
            if not self.world.files.is_dir(target):
                output.err.append(f"bash: cd: {words[1]}: No such file or directory\n")
                self._status = 1
                return
            self.cwd = self._variables["PWD"] = target
            self._status = 0
            return
        program = PROGRAMS.get(words[0].rsplit("/", 1)[-1])
        if program is None:
            output.err.append(f"bash: {words[0]}: command not found\n")
            self._status = 127
            return
        io = Io(self.world, self.cwd, stdin, self._deadline)
        try:
            self._status = program(words[1:], io)
        except OSError as exc:
            io.err.append(f"{words[0]}: {exc}\n")
            self._status = 1
        output.out += io.out
        output.err += io.err

    def _script(self, words: list[str]) -> str | None:
        """The text that another shell is to run: `sh -c text`, `bash file`, or an executable file of its own."""
        if words[0].rsplit("/", 1)[-1] in ("sh", "bash") and len(words) > 1:
            if words[1] == "-c" and len(words) > 2:
                return words[2]
            name = words[1]
        elif "/" in words[0] and self.world.files.modes.get(self.world.files.absolute(words[0], self.cwd), 0) & 0o100:
            name = words[0]
        else:
            return None
        path = self.world.files.absolute(name, self.cwd)
        return self.world.files.read(path).decode("utf-8", "replace") if self.world.files.is_file(path) else None

    def _redirect(self, redirects: list[tuple[str, str | None]], own: _Output, output: _Output) -> None:
        """Where a command's output goes; streams are redirected left to right as in sh."""
        out_to: str | None = "out"
        err_to: str | None = "err"
        written: dict[str, list[str]] = {}
        for operator, target in redirects:
            if operator.endswith("&1"):
                err_to = out_to
            elif operator.endswith("&2"):
                out_to = err_to
            elif operator != "<" and target is not None:
                name = "/" + self.world.files.absolute(target, self.cwd).lstrip("/")
                append = ">>" in operator and self.world.files.is_file(name)
                written[name] = [self.world.files.read(name).decode("utf-8", "replace")] if append else []
                if operator == "&>":
                    out_to = err_to = name
                elif operator.startswith("2"):
                    err_to = name
                else:
                    out_to = name
        for place, text in ((out_to, own.out), (err_to, own.err)):
            {"out": output.out, "err": output.err, **written}[str(place)].extend(text)
        for name, parts in written.items():
            try:
                self.world.files.write(name, "".join(parts).encode("utf-8", "surrogateescape"))
            except OSError as exc:
                output.err.append(f"bash: {name}: {exc}\n")
                self._status = 1

    def _expand(self, word: Word) -> str:
        text = ""
        for index, (piece, quote) in enumerate(word.pieces):
            if quote != "'":
                piece = re.sub(r"(?<!\0)\$(\w+|\?|\{\w+\})", self._variable, piece).replace("\0$", "$")
            if not quote and index == 0 and (piece == "~" or piece.startswith("~/")):
                piece = HOME + piece[1:]
            text += piece
        return text

    def _variable(self, match: re.Match[str]) -> str:
        name = match.group(1).strip("{}")
        return str(self._status) if name == "?" else self._variables.get(name, "")
