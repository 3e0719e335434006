"""Writes docs/actions.md: the action space and what every dialect can say of it, both from the code.

python -m scripts.actions_page            write the page
python -m scripts.actions_page --check    exit with 1 when the page is not what the code says
"""

from __future__ import annotations

from pathlib import Path

from cuamaster.action_space import SPECS
from cuamaster.dialects import table
from scripts.written_pages import write_or_check

PAGE = Path(__file__).resolve().parents[1] / "docs" / "actions.md"

_PAGE = """# Actions and dialects

<!-- Written by `python -m scripts.actions_page`; change the code or that script, not this page. -->

Policies, recordings, exports and imports share one action space (`cuamaster/action_space.py`). Coordinates are 0-1000 on both
axes, whatever the screen's size.

{space}

## Dialects

A dialect is one model family's way of writing actions. All have one interface (`cuamaster/dialects/dialect.py`):

```python
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.registry import dialect

spoken = dialect("ui-tars-1.5")
screen = Screen(1920, 1080, cursor=None)  # pixels; the pointer in 0-1000, if it is known
actions = spoken.parse("Thought: Save.\\nAction: click(point='<point>966 546</point>')", screen)
text = dialect("openai-computer").render(actions, screen)
```

`parse` reads a model's raw words: text and reasoning around the calls, several calls, Markdown fences, broken quotes, unknown
keys. What it cannot read raises `UnreadableAnswer` with dialect, character, field and what to do. Nothing is ever run: code is
read from its syntax tree. `render` raises `Inexpressible` for what the dialect has no words for, and, without `lossy=True`, for
what it can only say with a loss; `express` gives the actions as they will be read back, and the losses by name. A point lands
within half a step of the dialect (and a pixel of rounding) of where it was.

{spaces}

## What each can say

{legend}.

"Spelled out" is the same effect in several actions of the dialect, such as a modifier held around a click. The pointer's place
counts as unknown here: where it is known (`Screen.cursor`), what happens at the pointer can be said with its place.

{features}

With a loss:

{losses}
"""


def page() -> str:
    """The whole page."""
    rows = [f"| `{name}` | {spec.category} | {_arguments(name)} | {spec.doc} |" for name, spec in SPECS.items()]
    space = "\n".join(["| type | category | arguments | |", "|---|---|---|---|", *rows])
    return _PAGE.format(
        space=space,
        spaces=table.spaces_table(),
        legend=table.legend(),
        features=table.features_table(),
        losses=table.losses_list(),
    )


def _arguments(name: str) -> str:
    return ", ".join(f"`{arg}`" if spec.required else f"[`{arg}`]" for arg, spec in SPECS[name].args.items())


if __name__ == "__main__":
    raise SystemExit(write_or_check(PAGE, page(), "scripts.actions_page"))
