"""Whether the license of a row's sources is one of the allowed: SPDX expressions, and the names that video sites use."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from cuamaster.errors import InvalidInput

NAMES = {
    "creative commons attribution license (reuse allowed)": "CC-BY-3.0",
    "creative commons - attribution": "CC-BY-3.0",
    "creative commons": "CC-BY-3.0",
    "public domain": "CC0-1.0",
    "cc0": "CC0-1.0",
    "cc by 4.0": "CC-BY-4.0",
    "cc by 3.0": "CC-BY-3.0",
    "https://creativecommons.org/licenses/by/4.0/": "CC-BY-4.0",
    "https://creativecommons.org/licenses/by/3.0/": "CC-BY-3.0",
    "https://creativecommons.org/publicdomain/zero/1.0/": "CC0-1.0",
}  # fmt: skip
"""What sites write (YouTube's reuse license is CC BY 3.0) -> SPDX."""


def allowed(stated: str, licenses: Collection[str]) -> bool:
    """Whether everything that a license asks for is among `licenses`: all parts of an AND, one of an OR.

    Anything that is no SPDX expression and no known name is allowed only if it stands in `licenses` itself.
    """
    wanted = {item.casefold() for item in licenses}
    if stated.casefold() in wanted:
        return True
    # Lineages of several sources are joined by AND, also where a source's own words are no SPDX.
    parts = stated.split(" AND ")
    if len(parts) > 1:
        return all(allowed(part.strip().removeprefix("(").removesuffix(")"), licenses) for part in parts)
    name = NAMES.get(stated.strip().casefold(), stated)
    if name.casefold() in wanted:
        return True
    tree = _parsed(name)
    return tree is not None and _holds(tree, wanted)


@cache
def _parsed(text: str) -> Any:
    from license_expression import ExpressionError, ExpressionParseError

    try:
        return _spdx().parse(text, validate=True)
    except (ExpressionError, ExpressionParseError):
        return None


@cache
def _spdx() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()


def _holds(tree: Any, wanted: Collection[str]) -> bool:
    spdx = _spdx()
    if isinstance(tree, spdx.AND):
        return all(_holds(part, wanted) for part in tree.args)
    if isinstance(tree, spdx.OR):
        return any(_holds(part, wanted) for part in tree.args)
    return str(tree).casefold() in wanted


def require_known(licenses: Collection[str]) -> None:
    """Raise InvalidInput for a license in the allow list that nobody knows: most likely a slip of the pen."""
    for name in licenses:
        if _parsed(name) is None and name.casefold() not in NAMES:
            raise InvalidInput(
                f"license {name!r} is no SPDX identifier", hint="such as CC-BY-4.0; see spdx.org/licenses"
            )
