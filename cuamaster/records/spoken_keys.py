"""The keys that a spoken operation presses, as people say them and as recognizers write them, in every language of the tables."""

from __future__ import annotations

import re

from cuamaster.records.lexicon import (
    LETTER_SOUNDS,
    LEXICONS,
    MODIFIER_WORDS,
    PLAIN_KEY_WORDS,
    SPOKEN_KEYS,
    word_set,
)
from cuamaster.records.verbs import clean

_KEYS_IN_CHARACTERS = tuple(
    (name + mark, key) for name, key in SPOKEN_KEYS.items() if not name.islower() for mark in ("键", "キー")
)
"""Keys in languages without blanks: `按回车键`."""
_PRESSES = {
    verb for table in LEXICONS.values() if table.spaced for verb, kind in table.strong.items() if kind == "press"
} | word_set("use hold holding type")


_MODIFIERS = ("ctrl", "alt", "shift", "super")
_BETWEEN = word_set("and plus the y und")
_AFTER = word_set("key keys taste tasten tecla teclas to for so while in on at um para")


def spoken_keys(clause: str) -> tuple[str, ...] | None:
    """Canonical keys of one hot key: `press control shift s` -> ('ctrl', 'shift', 's'); None when none is named."""
    words = [
        clean(part)
        for part in re.sub(
            r"(?<=\w)[+-](?=\w)", " ", clause.replace("page up", "pageup").replace("page down", "pagedown")
        ).split()
    ]
    start = next((index + 1 for index, word in enumerate(words) if word in _PRESSES), 0)
    keys: list[str] = []
    for word in words[start:]:
        if word in MODIFIER_WORDS:
            keys.append(SPOKEN_KEYS[word])
        elif keys and keys[-1] in _MODIFIERS and ((len(word) == 1 and word.isalnum()) or word in SPOKEN_KEYS):
            if word not in ("plus",) or words[-1] == "plus":
                keys.append(SPOKEN_KEYS.get(word, word))
                break
        elif keys and word in LETTER_SOUNDS:
            keys.append(LETTER_SOUNDS[word])
            break
        elif keys and (word in _AFTER or "key" in words):
            break
        elif keys and word not in _BETWEEN:
            return None  # "control shift test": a letter was said, but which?
        elif not keys and (word in PLAIN_KEY_WORDS or ("arrow" in words and word in ("up", "down", "left", "right"))):
            return (SPOKEN_KEYS[word],)
        elif not keys and len(word) == 1 and word.isalnum() and ("key" in words or word not in ("a", "i")):
            return (word,)
    return tuple(keys) if keys else next(((key,) for name, key in _KEYS_IN_CHARACTERS if name in clause), None)
