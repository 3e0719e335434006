"""What a language's table of operation words holds; `lexicon.py` has the English one and the registry, `languages.py` the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Nouns:
    """The words around a verb: what is named, what is typed, and what is only grammar."""

    roles: Mapping[str, str]
    """Nouns that say what kind of thing a target is, to roles of `Target`."""
    skip: frozenset[str]
    """Prepositions, articles and pronouns before a label."""
    carriers: frozenset[str]
    """Nouns before a text to type: `the word cheese`."""
    places: frozenset[str]
    """Nouns that end a place where text goes."""
    generic: frozenset[str]
    """Words that name no label: `the empty page`."""
    articles: frozenset[str] = frozenset()
    """Words before a text to type that are not part of it."""
    links: frozenset[str] = frozenset()
    """Words between a text to type and the place where it goes."""
    described: frozenset[str] = frozenset()
    """Words that only describe a text: `your name`."""
    particles: frozenset[str] = frozenset()
    """Words that end a clause and belong to its verb."""
    leading: bool = False
    """A role stands before its label, capitalized or not: `das Menü Datei`."""
    tail: re.Pattern[str] | None = None
    """Where a label ends and talk about it begins."""
    drag_from: re.Pattern[str] | None = None
    """`from <a> to <b>`."""


@dataclass(frozen=True)
class Lexicon:
    """Verbs of one language. `strong` ones name a hand movement and count anywhere; `weak` ones only when commanded."""

    strong: Mapping[str, str]
    weak: Mapping[str, str]
    connectives: tuple[str, ...]
    nouns: Nouns
    conjunctions: tuple[str, ...] = ("and",)
    """Words for `and`: they open a clause only when a verb follows."""
    spaced: bool = True
    """Words are separated by blanks; otherwise verbs are looked for as substrings."""
    verb_last: bool = False
    """What is done is said before the verb."""
    elides: tuple[str, ...] = ()
    """Connectives after which a mere label repeats the verb: `open the Format menu, then Sheet`."""
    nominal: frozenset[str] = frozenset()
    """Verbs that are nouns and written as such: `mit einem Rechtsklick`."""
    subjects: frozenset[str] = frozenset()
    hedges: frozenset[str] = frozenset()
    """Words before a verb that make it no command: negations, conditions."""
    plans: frozenset[str] = frozenset()
    """Words before a verb that speak of intentions."""
    fillers: frozenset[str] = frozenset()
    """Words before a command that change nothing about it."""
    needs: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Verbs that are operations only with one of these words after them: `geben ... ein`."""
    manners: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Phrases that make a click another click ('' changes nothing); they are no part of the label."""
    instruments: frozenset[str] = frozenset()
    """Words before a hot key that is the whole command: `with control S we save it`."""
    up: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    right: frozenset[str] = frozenset()
