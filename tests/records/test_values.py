"""Which texts count as the same."""

from __future__ import annotations

from cuamaster.records.values import matches


def test_text_matching_ignores_one_final_newline_only() -> None:
    assert matches("a\r\nb\n", "a\nb", "equals")
    assert not matches("a\n\n", "a", "equals")
    assert matches("xaby", "ab", "contains")
    assert matches("first\nsecond", "^sec", "regex")
