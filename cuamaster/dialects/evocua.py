"""EvoCUA (its prompt style S2): Qwen's form with `key_down` and `key_up`, the far edge at 999.

Source: meituan/EvoCUA, mm_agents/evocua/evocua_agent.py and prompts.py: coordinates are read as parts of 999, `pixels` goes to
pyautogui, which counts notches, and `hscroll` is offered in words but not among the allowed values. Style S1 is pyautogui code.
"""

from __future__ import annotations

from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.gui_owl import NOTCHES
from cuamaster.dialects.qwen import spoken_like_qwen
from cuamaster.dialects.vocabulary import Vocabulary

EVOCUA = spoken_like_qwen(
    "evocua",
    "EvoCUA",
    "meituan/EvoCUA, mm_agents/evocua/evocua_agent.py and prompts.py",
    Space("grid", maximum=999),
    Vocabulary(scroll="up and down", scroll_point="none", held_keys=True),
    NOTCHES,
)
