"""Parses the simulated shell's language: words, redirections, pipes, lists, groups, if; a subset of POSIX sh."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_OPERATOR = re.compile(r"\d?>&\d|&>|\d?>>|\d?>|<|&&|\|\||[;|&\n(){}]")
_KEYWORDS = {"then", "elif", "else", "fi", "}"}


class ShellSyntaxError(ValueError):
    """What bash would call a syntax error, or what this subset does not have."""


@dataclass(frozen=True)
class Word:
    """Pieces of (text, quoted): unquoted ones expand `~`, single-quoted ones (quoted == "'") nothing at all."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def bare(self) -> str | None:
        """The text if it is one unquoted piece (operators and keywords are)."""
        return self.pieces[0][0] if len(self.pieces) == 1 and not self.pieces[0][1] else None


@dataclass
class Simple:
    """A command: words, and redirections as (operator, target)."""

    words: list[Word] = field(default_factory=list)
    redirects: list[tuple[str, Word | None]] = field(default_factory=list)


@dataclass
class Pipe:
    """Commands joined by `|`, perhaps negated or put into the background."""

    parts: list[Command]
    negated: bool = False
    background: bool = False


@dataclass
class Sequence:
    """Pipes, each with the operator before it: `;`, `&&` or `||`."""

    items: list[tuple[str, Pipe]] = field(default_factory=list)


@dataclass
class Group:
    """`{ ...; }` or `( ... )` with redirections."""

    body: Sequence
    redirects: list[tuple[str, Word | None]] = field(default_factory=list)


@dataclass
class If:
    """Conditions with their branches, and what happens otherwise."""

    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None = None
    redirects: list[tuple[str, Word | None]] = field(default_factory=list)


Command = Simple | Group | If


def tokenize(text: str) -> list[Word | str]:
    """Words and operators; raises ShellSyntaxError for an open quote."""
    found: list[Word | str] = []
    pieces: list[tuple[str, str]] = []
    index = 0

    def finish() -> None:
        if pieces:
            found.append(Word(tuple(pieces)))
            pieces.clear()

    while index < len(text):
        character = text[index]
        operator = _OPERATOR.match(text, index)
        if character in " \t":
            finish()
            index += 1
        elif character == "#" and not pieces:
            while index < len(text) and text[index] != "\n":
                index += 1
        elif character in "'\"":
            end = index + 1
            inner = ""
            while end < len(text) and text[end] != character:
                if character == '"' and text[end] == "\\" and end + 1 < len(text) and text[end + 1] in '"\\$`':
                    inner += "\0$" if text[end + 1] == "$" else text[end + 1]
                    end += 2
                    continue
                inner += text[end]
                end += 1
            if end >= len(text):
                raise ShellSyntaxError(f"unexpected EOF while looking for matching `{character}'")
            pieces.append((inner, character))
            index = end + 1
        elif character == "\\" and index + 1 < len(text):
            pieces.append((text[index + 1], "'"))
            index += 2
        elif operator and (character not in "{}" or _alone(text, index)) and not (character.isdigit() and pieces):
            finish()
            found.append(operator.group())
            index = operator.end()
        else:
            start = index
            while (
                index < len(text)
                and text[index] not in " \t'\"\\"
                and (index == start or not _OPERATOR.match(text[index]) or text[index] in "{}")
            ):
                index += 1
            pieces.append((text[start:index], ""))
    finish()
    return found


def _alone(text: str, index: int) -> bool:
    """Braces are operators only as words of their own."""
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    return before in " \t\n;&|(" and after in " \t\n;&|)>"


class Parser:
    """Recursive descent over the tokens of one script."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._at = 0

    def parse(self) -> Sequence:
        """The whole script; raises ShellSyntaxError."""
        body = self._sequence()
        if self._at < len(self._tokens):
            raise ShellSyntaxError(f"syntax error near unexpected token `{self._peek()}'")
        return body

    def _peek(self) -> str | None:
        """The next operator or bare word."""
        if self._at >= len(self._tokens):
            return None
        token = self._tokens[self._at]
        return token if isinstance(token, str) else token.bare

    def _is_operator(self) -> bool:
        return self._at < len(self._tokens) and isinstance(self._tokens[self._at], str)

    def _expect(self, wanted: str) -> None:
        if self._peek() != wanted:
            raise ShellSyntaxError(f"syntax error: expected `{wanted}', found `{self._peek() or 'end of file'}'")
        self._at += 1

    def _sequence(self) -> Sequence:
        result = Sequence()
        joint = ";"
        while True:
            while self._is_operator() and self._peek() in (";", "\n"):
                self._at += 1
                joint = ";"
            if (
                self._at >= len(self._tokens)
                or self._peek() in _KEYWORDS
                or (self._is_operator() and self._peek() == ")")
            ):
                return result
            pipe = self._pipe()
            result.items.append((joint, pipe))
            if not self._is_operator() or self._peek() not in (";", "\n", "&&", "||", "&"):
                return result
            operator = self._peek()
            self._at += 1
            pipe.background = operator == "&"
            joint = operator if operator in ("&&", "||") else ";"

    def _pipe(self) -> Pipe:
        negated = self._peek() == "!"
        self._at += negated
        parts = [self._command()]
        while self._is_operator() and self._peek() == "|":
            self._at += 1
            parts.append(self._command())
        return Pipe(parts, negated)

    def _command(self) -> Command:
        start = self._peek()
        command: Command
        if start in ("{", "(") and self._is_operator():
            self._at += 1
            command = Group(self._sequence())
            self._expect("}" if start == "{" else ")")
        elif start == "if":
            self._at += 1
            command = If([self._branch()])
            while self._peek() == "elif":
                self._at += 1
                command.branches.append(self._branch())
            if self._peek() == "else":
                self._at += 1
                command.otherwise = self._sequence()
            self._expect("fi")
        else:
            command = Simple()
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if isinstance(token, Word):
                if not isinstance(command, Simple):
                    break
                command.words.append(token)
                self._at += 1
            elif "<" in token or ">" in token:
                self._at += 1
                command.redirects.append((token, None if token.endswith(("&1", "&2")) else self._target()))
            else:
                break
        if isinstance(command, Simple) and not command.words and not command.redirects:
            raise ShellSyntaxError(f"syntax error near unexpected token `{self._peek() or 'newline'}'")
        return command

    def _branch(self) -> tuple[Sequence, Sequence]:
        condition = self._sequence()
        self._expect("then")
        return condition, self._sequence()

    def _target(self) -> Word:
        if self._at < len(self._tokens) and isinstance(token := self._tokens[self._at], Word):
            self._at += 1
            return token
        raise ShellSyntaxError("syntax error: redirection without a target")
