"""The shape of a condition: its leaves, the parts that must all hold, and one condition out of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuamaster.records.condition import All, AnyOf, Condition, Not

COMPOUND = frozenset({All, AnyOf, Not})
"""Compared by type: pydantic's own isinstance is a slow Python call, and a composer asks a million times."""


def leaves(condition: Condition) -> Iterator[Condition]:
    """Every condition without parts, negated ones included, in order."""
    parts = condition.parts()
    if not isinstance(condition, (All, AnyOf, Not)):
        yield condition
    for part in parts:
        yield from leaves(part)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts that must all hold: nested `all` is flattened, negations are pushed inwards, repeats are dropped."""
    normal = normal_form(condition)
    if isinstance(normal, All):
        return tuple(dict.fromkeys(item for part in normal.of for item in conjuncts(part)))
    return (normal,)


def normal_form(condition: Condition) -> Condition:
    """The same condition with `not` only in front of leaves (or of an empty `all`, which is how "never" is written)."""
    if type(condition) not in COMPOUND:
        return condition
    if isinstance(condition, All):
        return All(of=tuple(normal_form(part) for part in condition.of))
    if isinstance(condition, AnyOf):
        return AnyOf(of=tuple(normal_form(part) for part in condition.of))
    if not isinstance(condition, Not):
        return condition
    inner = condition.of
    if isinstance(inner, Not):
        return normal_form(inner.of)
    if isinstance(inner, AnyOf):
        return All(of=tuple(normal_form(Not(of=part)) for part in inner.of))
    if isinstance(inner, All) and inner.of:
        return AnyOf(of=tuple(normal_form(Not(of=part)) for part in inner.of))
    return condition


def conjoin(conditions: Iterable[Condition]) -> Condition:
    """One condition that holds exactly when all of them do; a single one stays itself."""
    parts = tuple(dict.fromkeys(item for condition in conditions for item in conjuncts(condition)))
    return parts[0] if len(parts) == 1 else All(of=parts)
