"""EvoCUA (its prompt style S2): Qwen's form with `key_down` and `key_up`, the far edge at 999.

Source: meituan/EvoCUA, mm_agents/evocua/evocua_agent.py and prompts.py: coordinates are read as parts of 999, `pixels` goes to
pyautogui, which counts notches, and `hscroll` is offered in words but not among the allowed values. Style S1 is pyautogui code.
"""

from __future__ import annotations

from functools import partial

from cuamaster.dialects import qwen_calls, tool_calls
from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.gui_owl import NOTCHES
from cuamaster.dialects.vocabulary import Vocabulary

EVOCUA = Dialect(
    name="evocua",
    title="EvoCUA",
    source="meituan/EvoCUA, mm_agents/evocua/evocua_agent.py and prompts.py",
    space=Space("grid", maximum=999),
    says=Vocabulary(scroll="up and down", scroll_point="none", held_keys=True),
    find=tool_calls.find_json,
    decode=partial(qwen_calls.decode, habits=NOTCHES),
    encode=partial(qwen_calls.encode, habits=NOTCHES),
    write=tool_calls.write_json,
)
