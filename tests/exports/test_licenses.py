"""License expressions, the names that sites use, and lineages of several sources."""

from __future__ import annotations

import pytest

from cuamaster.errors import InvalidInput
from cuamaster.exports.preflight.licenses import allowed, require_known
from cuamaster.exports.preflight.problem import PERMISSIVE


@pytest.mark.parametrize(
    ("stated", "fine"),
    [
        ("CC-BY-4.0", True), ("cc-by-4.0", True), ("CC-BY-4.0 AND MIT", True), ("CC-BY-4.0 AND CC-BY-NC-4.0", False),
        ("CC-BY-NC-4.0 OR MIT", True), ("(MIT OR GPL-3.0-only) AND Apache-2.0", True), ("GPL-3.0-only", False),
        ("Creative Commons Attribution license (reuse allowed)", True), ("Standard YouTube License", False), ("all rights reserved", False),
        ("Creative Commons Attribution license (reuse allowed) AND Standard YouTube License", False), ("MIT AND", False), ("(((", False),
    ],
)  # fmt: skip
def test_allowed(stated: str, fine: bool) -> None:
    assert allowed(stated, PERMISSIVE) is fine


def test_a_name_that_is_no_spdx_counts_only_if_it_is_asked_for() -> None:
    assert allowed("Standard YouTube License", ("standard youtube license",))
    require_known(PERMISSIVE)
    with pytest.raises(InvalidInput, match="CC-BY-99"):
        require_known(("CC-BY-99",))
