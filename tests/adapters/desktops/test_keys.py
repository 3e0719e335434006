"""Key names to QEMU codes, and what can be typed at all."""

from __future__ import annotations

import string

import pytest

from cuamaster.action_space import KEYS
from cuamaster.adapters.desktops.keys import character_codes, chord, key_codes, typeable
from cuamaster.errors import InvalidAction


def test_every_key_of_the_action_space_has_codes_or_says_that_it_is_missing() -> None:
    missing = set()
    for key in KEYS:
        try:
            assert key_codes(key)
        except InvalidAction:
            missing.add(key)
    assert missing == {f"f{number}" for number in range(13, 25)}


@pytest.mark.parametrize(
    ("keys", "codes"),
    [
        (["ctrl", "+"], ("ctrl", "shift", "equal")),
        (["Control", "Shift", "S"], ("ctrl", "shift", "s")),
        (["shift", "?"], ("shift", "slash")),
        (["Return"], ("ret",)),
        (["super", "pagedown"], ("meta_l", "pgdn")),
    ],
)
def test_chords(keys: list[str], codes: tuple[str, ...]) -> None:
    assert chord(keys) == codes


def test_printable_ascii_is_typeable_and_each_character_has_its_own_codes() -> None:
    text = string.ascii_letters + string.digits + string.punctuation + " \n\t"
    assert typeable(text)
    assert len({character_codes(character) for character in text}) == len(text)
    assert character_codes("A") == ("shift", "a")
    assert character_codes('"') == ("shift", "apostrophe")
    assert not typeable("naïve")
    assert not typeable("bell\a")
