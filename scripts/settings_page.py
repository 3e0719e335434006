"""Writes docs/settings.md: every setting with its variable, default and meaning, from the code.

python -m scripts.settings_page            write the page
python -m scripts.settings_page --check    exit with 1 when the page is not what the code says
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from cuamaster.settings import Settings
from scripts.written_pages import write_or_check

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
PREFIX = str(Settings.model_config["env_prefix"])

_PAGE = """# Settings

<!-- Written by `python -m scripts.settings_page`; change `cuamaster/settings.py` or that script, not this page. -->

Each is an environment variable, a line `name = value` (the name in lower case, without `{prefix}`) in a `cuamaster.toml` in the working folder, or an
argument of a flow. Arguments win over the environment, the environment over the file. Lists and tables are JSON in the environment:
`{prefix}PROVIDERS='["local", "ytdlp"]'`. What cannot be meant is refused, with its variable's name, before anything is done.

| variable | default | what it says |
|---|---|---|
{rows}
"""


def page() -> str:
    """The whole page."""
    rows = [
        f"| `{PREFIX}{name.upper()}` | {_default(name, field)} | {_cell(field.description or '')} |"
        for name, field in Settings.model_fields.items()
    ]
    return _PAGE.format(prefix=PREFIX, rows="\n".join(rows))


def _default(name: str, field: FieldInfo) -> str:
    """As it is written in the environment; empty for none."""
    if name == "cache":
        return "`~/.cache/cuamaster`"  # of whoever runs it
    value: Any = to_jsonable_python(field.get_default(call_default_factory=True, validated_data={}))
    if value in (None, "", [], {}):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    raise SystemExit(write_or_check(PAGE, page(), "scripts.settings_page"))
