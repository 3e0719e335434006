"""Every dialect by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cuamaster.dialects.anthropic_computer import ANTHROPIC_20250124, ANTHROPIC_20251124
from cuamaster.dialects.computer_13 import COMPUTER_13
from cuamaster.dialects.cua_bench import CUA_BENCH
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.evocua import EVOCUA
from cuamaster.dialects.gemini import GEMINI
from cuamaster.dialects.glm import GLM
from cuamaster.dialects.gui_owl import GUI_OWL, GUI_OWL_1_5
from cuamaster.dialects.openai_computer import OPENAI, OPENAI_SINGLE
from cuamaster.dialects.pyautogui_code import AGENTNET, OPENCUA, OSWORLD, SCALECUA
from cuamaster.dialects.qwen import QWEN3_5, QWEN3_VL, QWEN25_VL
from cuamaster.dialects.ui_tars import UI_TARS, UI_TARS_1_5
from cuamaster.errors import UnknownName

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        item.name: item
        for item in (
            OPENAI_SINGLE, OPENAI, ANTHROPIC_20250124, ANTHROPIC_20251124, QWEN25_VL, QWEN3_VL, QWEN3_5, GUI_OWL,
            GUI_OWL_1_5, EVOCUA, UI_TARS, UI_TARS_1_5, COMPUTER_13, OSWORLD, OPENCUA, AGENTNET, SCALECUA, CUA_BENCH,
            GEMINI, GLM,
        )
    }
)  # fmt: skip


def dialect(name: str) -> Dialect:
    """The dialect of that name; raises UnknownName listing all."""
    if name not in DIALECTS:
        raise UnknownName(f"no dialect is called {name!r}", hint=f"one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
