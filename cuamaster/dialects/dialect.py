"""The one interface of every action format: what it is called, what it can say, how it names a place, `parse` and `render`.

A family supplies four functions: `find` (words -> calls), `decode` (a call -> actions), `encode` (an action -> calls) and
`write` (calls -> words). Everything else is the same for all: lowering to the dialect's words, coordinates, the pointer,
validation, and errors that name dialect and place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import MAX_ANSWER, Call, Found, Unfound
from cuamaster.dialects.coordinates import Point, Screen, Space
from cuamaster.dialects.function_calls import MAX_CALLS
from cuamaster.dialects.lowering import Said, lower
from cuamaster.dialects.turn import Turn
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import Inexpressible, InvalidAction, UnreadableAnswer
from cuamaster.records.primitive import Mode


@dataclass(frozen=True)
class Answer:
    """A model's answer as read: its words about the actions, and the actions."""

    thought: str
    actions: tuple[CUAAction, ...]


@dataclass(frozen=True)
class Writer:
    """Coordinates of one screen as `encode` writes them."""

    space: Space
    screen: Screen

    def pair(self, point: Sequence[float]) -> list[float]:
        """[x, y] in the dialect's numbers."""
        return list(self.space.write((point[0], point[1]), self.screen))

    def place(self, action: CUAAction) -> list[float] | None:
        """The action's point as [x, y], or None when it has none."""
        return self.pair((action.args["x"], action.args["y"])) if "x" in action.args else None


@dataclass(frozen=True, repr=False)
class Dialect:
    """One action format. `source`: where the format is written down."""

    name: str
    title: str
    source: str
    space: Space
    says: Vocabulary
    find: Callable[[str], Found]
    decode: Callable[[Call, Turn], None]
    encode: Callable[[CUAAction, Writer], list[dict[str, Any]]]
    write: Callable[[str, Sequence[dict[str, Any]]], str]
    prompt: Callable[[Mode, Screen], str] | None = None
    """The system message that teaches the format; None where it belongs to an API with tools of its own, or is data only."""

    def __repr__(self) -> str:
        return f"<dialect {self.name}>"

    def parse(self, text: str, screen: Screen) -> list[CUAAction]:
        """The actions of an answer, coordinates 0-1000; raises UnreadableAnswer (dialect, offset, field, what to do)."""
        return list(self.read(text, screen).actions)

    def read(self, text: str, screen: Screen) -> Answer:
        """The answer with its thought. `screen.cursor` serves calls that name no place. Raises UnreadableAnswer."""
        found = self.found(text)
        return Answer(found.thought, tuple(self.decode_calls(found.calls, screen)))

    def found(self, text: str) -> Found:
        """The thought and the calls, not yet understood; raises UnreadableAnswer."""
        if len(text) > MAX_ANSWER:
            raise self._unreadable(f"the answer has {len(text)} characters", 0, "answer", f"at most {MAX_ANSWER}")
        try:
            return self.find(text)
        except Unfound as exc:
            raise self._unreadable(exc.message, exc.offset, exc.field, exc.hint) from None
        except RecursionError:
            raise self._unreadable("values are nested too deeply", 0, "answer", None) from None

    def decode_calls(self, calls: Sequence[Call], screen: Screen) -> list[CUAAction]:
        """Actions of calls that came apart from the text, in order; raises UnreadableAnswer."""
        if len(calls) > MAX_CALLS:
            raise self._unreadable(f"the answer holds {len(calls)} calls", 0, "call", f"at most {MAX_CALLS}")
        turn = Turn(self.space, screen)
        for number, call in enumerate(calls):
            try:
                self.decode(call, turn)
                if number == len(calls) - 1:
                    turn.close()
            except InvalidAction as exc:
                raise self._unreadable(exc.message, call.offset, exc.field, exc.hint) from None
            except RecursionError:
                raise self._unreadable("values are nested too deeply", call.offset, "call", None) from None
        return turn.actions

    def express(self, actions: Sequence[CUAAction], screen: Screen) -> Said:
        """The actions in this dialect's own words, with what is lost; raises Inexpressible for what has no words."""
        return lower(actions, self.says, self.space, screen, self.name)

    def render(self, actions: Sequence[CUAAction], screen: Screen, *, thought: str = "", lossy: bool = False) -> str:
        """The words for the actions; `parse` reads `express(actions, screen).actions` from them.

        Raises Inexpressible for what has no words, and, unless `lossy`, for what only has words with a loss.
        """
        said = self.express(actions, screen)
        if said.losses and not lossy:
            raise Inexpressible(
                f"loses something: {said.losses[0]}", dialect=self.name, field=said.losses[0].field, hint="lossy=True"
            )
        writer = Writer(self.space, screen)
        return self.write(
            " ".join(thought.split()), [call for part in said.actions for call in self.encode(part, writer)]
        )

    def _unreadable(self, message: str, offset: int, field: str, hint: str | None) -> UnreadableAnswer:
        return UnreadableAnswer(message, dialect=self.name, offset=offset, field=field, hint=hint)


def no_call(what: str, offset: int = 0) -> Unfound:
    """The answer holds nothing to do."""
    return Unfound(f"the answer holds no {what}", offset, "tool_call", f"answer with at least one {what}")


__all__ = ["Answer", "Dialect", "Point", "Screen", "Space", "Writer", "no_call"]
