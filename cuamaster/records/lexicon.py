"""The words of operations, one table per language: verbs with the kind of action they mean, connectives, key names.

English is here, with what all languages share; `languages.py` has the others.
Kinds: click, double_click, right_click, type, key, scroll, drag, hover.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from cuamaster.records.languages import CHINESE, GERMAN, JAPANESE, SPANISH
from cuamaster.records.lexicon_tables import Lexicon, Nouns, word_set

__all__ = [
    "ENGLISH", "KINDS", "LETTER_SOUNDS", "LEXICONS", "MODIFIER_WORDS", "PLAIN_KEY_WORDS", "SPOKEN_KEYS", "Lexicon", "Nouns", "word_set",
]  # fmt: skip

KINDS = ("click", "double_click", "right_click", "type", "key", "scroll", "drag", "hover")


def _inflect(verbs: Mapping[str, str]) -> Mapping[str, str]:
    """Add the regular English forms of each verb: clicks, clicked, clicking."""
    forms: dict[str, str] = {}
    for verb, kind in verbs.items():
        doubled = verb + verb[-1] if verb in _DOUBLING else verb.removesuffix("e")
        plural = verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")
        past = {"choose": "chose", "write": "wrote", "hit": "hit", "put": "put", "go": "went", "run": "ran"}
        for form in (verb, plural, past.get(verb, doubled + "ed"), doubled + "ing"):
            forms.setdefault(form, kind)
    return MappingProxyType(forms)


_DOUBLING = frozenset({"drag", "tap", "hit", "put", "run", "unplug", "swap"})

ENGLISH = Lexicon(
    strong=_inflect(
        {
            "click": "click", "left-click": "click", "middle-click": "click", "tap": "click", "choose": "click",
            "pick": "click", "tick": "click", "untick": "click", "uncheck": "click", "select": "click", "press": "press",
            "hit": "press", "push": "click", "double-click": "double_click", "doubleclick": "double_click",
            "right-click": "right_click", "rightclick": "right_click", "type": "type", "scroll": "scroll", "drag": "drag",
            "hover": "hover",
        }
    ),
    weak=_inflect(
        {
            "open": "click", "close": "click", "check": "click", "toggle": "click", "expand": "click", "collapse": "click",
            "go": "click", "switch": "click", "launch": "click", "start": "click", "run": "click", "save": "click",
            "copy": "click", "paste": "click", "cut": "click", "undo": "click", "redo": "click", "delete": "click",
            "remove": "click", "create": "click", "add": "click", "insert": "click", "confirm": "click", "apply": "click",
            "accept": "click", "cancel": "click", "enable": "click", "disable": "click", "maximize": "click",
            "minimize": "click", "activate": "click", "enter": "type", "write": "type", "input": "type", "fill": "type",
            "name": "type", "call": "type", "rename": "type", "search": "type", "set": "click", "change": "click",
            "highlight": "drag", "move": "drag", "resize": "drag", "draw": "drag", "hold": "key", "use": "key",
        }
    ),
    connectives=("and then", "then", "after that", "afterwards", "next", "followed by", "finally", "lastly"),
    subjects=word_set("i we you"),
    elides=("then", "and then", "followed by"),
    hedges=word_set("don't dont not never without instead cannot can't if when whenever unless until before could would"),
    manners=(
        (re.compile(r"\b(?:with |using )?(?:the |your )?right mouse button\b", re.IGNORECASE), "right_click"),
        (re.compile(r"\b(?:with |using )?(?:the |your )?left mouse button\b", re.IGNORECASE), ""),
    ),
    instruments=word_set("with using"),
    up=word_set("up top back upwards"), left=word_set("left"), right=word_set("right sideways"),
    nouns=Nouns(
        roles=MappingProxyType({
            "menu": "menu", "submenu": "menu", "button": "button", "tab": "tab", "checkbox": "checkbox", "box": "field",
            "field": "field", "textbox": "field", "item": "menuitem", "option": "menuitem", "entry": "menuitem", "icon": "icon",
            "cell": "cell", "area": "area", "page": "area", "folder": "item", "file": "item", "link": "item", "row": "item",
        }),
        skip=word_set("on in at to into onto over the a an your its this that of for and then now next up out"),
        articles=word_set("the a an your its this that it following"),
        carriers=word_set("name word words text line title value number filename message sentence phrase command letter letters"),
        links=word_set("in into to as for called named"),
        places=word_set("field box cell page document dialog window editor name filename bar area column row here"),
        generic=word_set("empty blank whole page area window document screen sheet cell desktop background it here there"),
        described=word_set("your any some whatever something anything"),
        tail=re.compile(
            r"\s+(?:in|from|at|of|under|inside|within|on) (?:the|a|an|this|your|that) .*$"
            r"|\s+to (?:close|open|leave|save|remove|apply|confirm|finish|see|start|go|make|get|show) .*$", re.IGNORECASE
        ),
    ),
)  # fmt: skip

LEXICONS: Mapping[str, Lexicon] = MappingProxyType(
    {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "zh": CHINESE, "ja": JAPANESE}
)
"""By ISO 639-1 code; an unknown language is read as English."""

SPOKEN_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "enter": "enter", "return": "enter", "tab": "tab", "escape": "escape", "esc": "escape", "delete": "delete",
        "backspace": "backspace", "space": "space", "spacebar": "space", "home": "home", "end": "end", "pageup": "pageup",
        "pagedown": "pagedown", "up": "up", "down": "down", "left": "left", "right": "right", "control": "ctrl",
        "ctrl": "ctrl", "shift": "shift", "alt": "alt", "super": "super", "windows": "super", "command": "super",
        "cmd": "super", "insert": "insert", "plus": "+", "minus": "-", "comma": ",", "period": ".", "dot": ".",
        "slash": "/", "eingabe": "enter", "eingabetaste": "enter", "strg": "ctrl", "steuerung": "ctrl", "umschalt": "shift",
        "umschalttaste": "shift", "tabulator": "tab", "tabulatortaste": "tab", "leertaste": "space", "entf": "delete",
        "entfernen": "delete", "rücktaste": "backspace", "pos1": "home", "ende": "end", "intro": "enter", "mayús": "shift",
        "mayúsculas": "shift", "tabulador": "tab", "espacio": "space", "suprimir": "delete", "supr": "delete",
        "retroceso": "backspace", "回车": "enter", "空格": "space", "退格": "backspace", "删除": "delete", "制表": "tab",
        "エンター": "enter", "タブ": "tab", **{f"f{n}": f"f{n}" for n in range(1, 13)},
    }
)  # fmt: skip
"""Words for keys as people say them, to canonical names of the action space."""

LETTER_SOUNDS: Mapping[str, str] = MappingProxyType({
    "ay": "a", "eh": "a", "bee": "b", "see": "c", "sea": "c", "dee": "d", "eff": "f", "gee": "g", "aitch": "h", "eye": "i",
    "jay": "j", "kay": "k", "el": "l", "ell": "l", "em": "m", "en": "n", "oh": "o", "pee": "p", "pea": "p",
    "queue": "q", "cue": "q", "are": "r", "ess": "s", "es": "s", "tee": "t", "tea": "t", "you": "u", "vee": "v",
    "double-u": "w", "ex": "x", "why": "y", "zee": "z", "zed": "z",
})  # fmt: skip
"""What recognizers write for the name of a letter; only read so after a modifier, where a letter must come."""

MODIFIER_WORDS = frozenset(
    {
        "control",
        "ctrl",
        "shift",
        "alt",
        "super",
        "windows",
        "command",
        "cmd",
        "strg",
        "steuerung",
        "umschalt",
        "mayús",
        "mayúsculas",
    }
)
PLAIN_KEY_WORDS = frozenset(
    {"enter", "return", "tab", "escape", "esc", "backspace", "delete", "spacebar", "space", "home", "end", "pageup", "pagedown",
     "insert", "eingabe", "eingabetaste", "tabulator", "tabulatortaste", "leertaste", "entf", "rücktaste", "pos1", "intro",
     "tabulador", "supr", "suprimir", "retroceso", *(f"f{n}" for n in range(1, 13))}
)  # fmt: skip
"""Keys that stand for themselves after `press`, without the word `key`."""
