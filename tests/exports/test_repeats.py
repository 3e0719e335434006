"""Repeats finds exactly the keys that were added twice, in order, in bounded memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from cuamaster.exports.preflight.repeats import Repeats


@given(st.lists(st.tuples(st.sampled_from("abcdefé\ud800") | st.text(max_size=3), st.sampled_from(["train", "test"]))))
def test_the_groups_are_those_of_a_dictionary(added: list[tuple[str, str]]) -> None:
    expected: dict[str, list[tuple[int, str]]] = {}
    with Repeats() as repeats:
        for number, (key, tag) in enumerate(added):
            repeats.add(key, file=f"{number % 3}.parquet", row=f"id-{number}", number=number, tag=tag)
            expected.setdefault(key, []).append((number, tag))
        groups = [[(place.number, place.tag) for place in group] for group in repeats.groups()]
        files = {place.file for group in repeats.groups() for place in group}
    assert sorted(groups) == sorted(group for group in expected.values() if len(group) > 1)
    assert files <= {"0.parquet", "1.parquet", "2.parquet"}


def test_memory_does_not_grow_with_the_rows() -> None:
    def peak(rows: int) -> int:
        tracemalloc.start()
        with Repeats() as repeats:
            for number in range(rows):
                repeats.add(f"key {number % (rows - 1)}", file="f", row=f"row {number}", number=number)
            assert [[place.number for place in group] for group in repeats.groups()] == [[0, rows - 1]]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(80_000) < 1.5 * peak(20_000)
