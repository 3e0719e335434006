"""The words of operations, one table per language: verbs with the kind of action they mean, connectives, key names.

English is complete enough to rebuild actions from; the other languages carry the verbs and connectives that find them.
Kinds: click, double_click, right_click, type, key, scroll, drag, hover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KINDS = ("click", "double_click", "right_click", "type", "key", "scroll", "drag", "hover")


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Lexicon:
    """Verbs of one language. `strong` ones name a hand movement and count anywhere; `weak` ones only when commanded."""

    strong: Mapping[str, str]
    weak: Mapping[str, str]
    connectives: tuple[str, ...]
    conjunctions: tuple[str, ...] = ("and",)
    """Words for `and`: they open a clause only when a verb follows."""
    spaced: bool = True
    """Words are separated by blanks; otherwise verbs are looked for as substrings."""


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
)  # fmt: skip

GERMAN = Lexicon(
    strong=MappingProxyType(
        {
            "klicke": "click", "klicken": "click", "klickt": "click", "klick": "click", "anklicken": "click",
            "wähle": "click", "wählen": "click", "auswählen": "click", "markiere": "click", "rechtsklick": "right_click",
            "doppelklick": "double_click", "doppelklicke": "double_click", "doppelklicken": "double_click",
            "tippe": "type", "tippen": "type", "eintippen": "type", "drücke": "press", "drücken": "press", "scrolle": "scroll",
            "scrollen": "scroll", "ziehe": "drag", "ziehen": "drag",
        }
    ),
    weak=MappingProxyType(
        {"öffne": "click", "öffnen": "click", "schließe": "click", "schreibe": "type", "gib": "type", "speichere": "click"}
    ),
    connectives=("und dann", "dann", "danach", "anschließend", "als nächstes", "zum schluss", "schließlich"),
    conjunctions=("und",),
)  # fmt: skip

SPANISH = Lexicon(
    strong=MappingProxyType(
        {
            "clic": "click", "clickea": "click", "pulsa": "press", "pulsamos": "press", "presiona": "press",
            "presionamos": "press", "selecciona": "click", "seleccionamos": "click", "elige": "click", "elegimos": "click",
            "escribe": "type", "escribimos": "type", "teclea": "type", "desplaza": "scroll", "arrastra": "drag",
            "arrastramos": "drag",
        }
    ),
    weak=MappingProxyType({"abre": "click", "abrimos": "click", "cierra": "click", "guarda": "click", "marca": "click"}),
    connectives=("y luego", "luego", "después", "a continuación", "entonces", "por último", "finalmente"),
    conjunctions=("y", "e"),
)  # fmt: skip

CHINESE = Lexicon(
    strong=MappingProxyType(
        {
            "双击": "double_click", "右击": "right_click", "右键": "right_click", "点击": "click", "单击": "click", "点一下": "click",
            "选择": "click", "选中": "click", "勾选": "click", "输入": "type", "键入": "type", "按下": "press", "滚动": "scroll",
            "拖动": "drag", "拖拽": "drag",
        }
    ),
    weak=MappingProxyType({"打开": "click", "关闭": "click", "保存": "click", "粘贴": "click", "复制": "click"}),
    connectives=("然后", "接着", "之后", "接下来", "随后", "最后", "再"),
    spaced=False,
)  # fmt: skip

JAPANESE = Lexicon(
    strong=MappingProxyType(
        {
            "ダブルクリック": "double_click", "右クリック": "right_click", "クリック": "click", "選択": "click", "選びます": "click",
            "入力": "type", "押します": "press", "押して": "press", "スクロール": "scroll", "ドラッグ": "drag",
        }
    ),
    weak=MappingProxyType({"開きます": "click", "開いて": "click", "閉じ": "click", "保存": "click"}),
    connectives=("そして", "次に", "それから", "その後", "最後に"),
    spaced=False,
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
        "slash": "/", "eingabe": "enter", "eingabetaste": "enter", "strg": "ctrl", "steuerung": "ctrl", "intro": "enter",
        "回车": "enter", "エンター": "enter", **{f"f{n}": f"f{n}" for n in range(1, 13)},
    }
)  # fmt: skip
"""Words for keys as people say them, to canonical names of the action space."""

MODIFIER_WORDS = frozenset(
    {"control", "ctrl", "shift", "alt", "super", "windows", "command", "cmd", "strg", "steuerung"}
)
PLAIN_KEY_WORDS = frozenset(
    {"enter", "return", "tab", "escape", "esc", "backspace", "delete", "spacebar", "space", "home", "end", "pageup", "pagedown",
     "insert", "eingabe", "eingabetaste", "intro", *(f"f{n}" for n in range(1, 13))}
)  # fmt: skip
"""Keys that stand for themselves after `press`, without the word `key`."""

ROLE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "menu": "menu", "submenu": "menu", "button": "button", "tab": "tab", "checkbox": "checkbox", "box": "field",
        "field": "field", "textbox": "field", "item": "menuitem", "option": "menuitem", "entry": "menuitem", "icon": "icon",
        "cell": "cell", "area": "area", "page": "area", "folder": "item", "file": "item", "link": "item", "row": "item",
    }
)  # fmt: skip
"""Nouns that say what kind of thing a target is, to roles of `Target`."""
