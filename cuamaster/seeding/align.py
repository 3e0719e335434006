"""Pairs what is said with what is seen: a monotone alignment over the lattice |t_sem - t_vis| <= T, as candidates for review.

t_sem is a stretch, from the verb to the end of its clause: people act while they speak, or just after. The distance counts from its nearer end.
Both lists are in time order and so are the pairs. Every trigger is either paired or left alone at a price; the cheapest whole wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuamaster.seeding.triggers import SemanticTrigger, VisualTrigger

Agreement = Callable[[SemanticTrigger, VisualTrigger], float]
"""0-1: how well the text under the pointer agrees with the thing that is named."""

_FITS: dict[str, dict[str, float]] = {
    "click": {"rest": 0.0, "change": 1.2},
    "double_click": {"rest": 0.0, "change": 0.8},
    "right_click": {"rest": 0.0, "change": 0.6},
    "type": {"typing": 0.0, "change": 1.2, "rest": 2.2},
    "key": {"change": 0.1, "rest": 0.8, "typing": 1.0},
    "scroll": {"change": 0.0, "rest": 0.1, "typing": 0.6, "stroke": 1.0},
    "drag": {"stroke": 0.0, "rest": 2.0},
    "hover": {"rest": 0.2},
}
"""What each kind of action looks like on the screen, and the price of a likeness less good."""
_AT_POINTER = ("click", "double_click", "right_click")
_FAR = 6.0
_NO_EFFECT = 0.7
_AGREES = 1.6
_EARLY, _LATE = 0.55, 0.22  # a second; people say it first and then do it
_UNHEARD = {"strong": 1.5, "typing": 1.8, "stroke": 0.0, "weak": 0.0, "change": 0.5}
_UNSEEN = {"key": 1.6, "scroll": 1.6}
_UNSEEN_OTHER = 2.6


@dataclass(frozen=True)
class Pair:
    """A candidate: something said, something seen, or both; `agreement` of the named thing with the screen text.

    `ends_text`: the dictated typing that it comes directly after, when nobody says what is done now.
    """

    said: SemanticTrigger | None
    seen: VisualTrigger | None
    agreement: float = 0.0
    ends_text: VisualTrigger | None = None

    @property
    def t(self) -> float:
        """Seconds: when it was done, or said if it was not seen."""
        if self.seen is not None:
            return self.seen.t
        return self.said.operation.clause.end if self.said is not None else 0.0


def _price(said: SemanticTrigger, seen: VisualTrigger, window: float, agreement: float) -> float | None:
    likeness = _FITS.get(said.kind, _FITS["click"]).get(seen.shape)
    if seen.shape == "change" and said.kind in _AT_POINTER and seen.away > _FAR:
        return None  # a click's effect is near it, or large; a clock is neither
    clause = said.operation.clause
    early, late = max(0.0, said.t - seen.t), max(0.0, seen.t - clause.end)
    if likeness is None or max(early, late) > window:
        return None
    price = likeness + _EARLY * early + _LATE * late
    if not seen.strong and said.kind not in ("hover",):
        price += _NO_EFFECT
    return price - _AGREES * agreement


def _alone(seen: VisualTrigger) -> float:
    if seen.shape in ("typing", "stroke", "change"):
        return _UNHEARD[seen.shape]
    return _UNHEARD["strong" if seen.strong else "weak"]


def align(
    said: Sequence[SemanticTrigger], seen: Sequence[VisualTrigger], *, window: float, agreement: Agreement
) -> list[Pair]:
    """Candidates in time order; `window` is T in seconds, `agreement` is asked only for pairs inside it."""
    rows, columns = len(said), len(seen)
    agreements: dict[tuple[int, int], float] = {}
    cost = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    step = [[""] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows + 1):
        for j in range(columns + 1):
            if i == j == 0:
                continue
            options: list[tuple[float, str]] = []
            if i:
                options.append((cost[i - 1][j] + _UNSEEN.get(said[i - 1].kind, _UNSEEN_OTHER), "said"))
            if j:
                options.append((cost[i][j - 1] + _alone(seen[j - 1]), "seen"))
            if i and j and _price(said[i - 1], seen[j - 1], window, 0.0) is not None:
                agrees = agreements.setdefault((i, j), agreement(said[i - 1], seen[j - 1]))
                price = _price(said[i - 1], seen[j - 1], window, agrees)
                if price is not None:
                    options.append((cost[i - 1][j - 1] + price, "both"))
            cost[i][j], step[i][j] = min(options)
    pairs: list[Pair] = []
    i, j = rows, columns
    while i or j:
        match step[i][j]:
            case "both":
                pairs.append(Pair(said[i - 1], seen[j - 1], agreements.get((i, j), 0.0)))
                i, j = i - 1, j - 1
            case "said":
                pairs.append(Pair(said[i - 1], None))
                i -= 1
            case _:
                pairs.append(Pair(None, seen[j - 1]))
                j -= 1
    return sorted(pairs, key=lambda pair: pair.t)
