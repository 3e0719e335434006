"""The alignment: in order, within T, by likeness, names before nearness."""

from __future__ import annotations

from screens import spoken

from cuamaster.seeding.align import Pair, align
from cuamaster.seeding.triggers import SemanticTrigger, Shape, VisualTrigger, semantic_triggers
from cuamaster.vision.changes import Region

EFFECT = Region(90, 90, 300, 300, 5000)


def _said(*sentences: tuple[float, float, str]) -> list[SemanticTrigger]:
    return semantic_triggers(spoken(*sentences), 0.0, 100.0)


def _seen(
    t: float, shape: Shape = "rest", *, effect: Region | None = EFFECT, x: float = 100, y: float = 100
) -> VisualTrigger:
    return VisualTrigger(t, t + 0.2, shape, x, y, t - 0.3, effect)


def _align(
    said: list[SemanticTrigger], seen: list[VisualTrigger], window: float = 4.0, names: dict[float, str] | None = None
) -> list[Pair]:
    def agreement(one: SemanticTrigger, other: VisualTrigger) -> float:
        return float((names or {}).get(other.t, "?") in one.clause)

    return align(said, seen, window=window, agreement=agreement)


def _both(pairs: list[Pair]) -> list[tuple[str, float]]:
    return [(pair.said.kind, pair.seen.t) for pair in pairs if pair.said and pair.seen]


def test_each_operation_takes_what_looks_like_it() -> None:
    said = _said((1.0, 4.0, "Click the page and type hello."), (5.0, 6.5, "Press enter."))
    seen = [_seen(3.0), _seen(4.5, "typing"), _seen(6.8, "change")]
    assert _both(_align(said, seen)) == [("click", 3.0), ("type", 4.5), ("key", 6.8)]


def test_order_is_kept_and_what_is_over_is_left_alone() -> None:
    said = _said((1.0, 3.0, "Click the File menu."), (8.0, 9.5, "Click the Edit menu."))
    pairs = _align(said, [_seen(3.4), _seen(6.0, "change"), _seen(9.9)])
    assert _both(pairs) == [("click", 3.4), ("click", 9.9)]
    assert [pair.seen.t for pair in pairs if pair.said is None and pair.seen] == [6.0]
    assert [pair.t for pair in pairs] == sorted(pair.t for pair in pairs)


def test_beyond_the_window_nothing_is_paired() -> None:
    said = _said((1.0, 3.0, "Click the File menu."))
    assert _both(_align(said, [_seen(7.5)], window=4.0)) == []
    assert _both(_align(said, [_seen(7.5)], window=5.0)) == [("click", 7.5)]
    assert _both(_align(said, [_seen(0.2)], window=0.5)) == []


def test_the_named_thing_wins_over_the_nearer_one() -> None:
    said = _said((1.0, 3.0, "Click the Format menu."))
    seen = [_seen(2.8), _seen(4.2)]
    assert _both(_align(said, seen)) == [("click", 2.8)]
    assert _both(_align(said, seen, names={4.2: "Format", 2.8: "Edit"})) == [("click", 4.2)]


def test_a_clock_far_from_the_pointer_is_no_click() -> None:
    said = _said((1.0, 3.0, "Click the File menu."))
    clock = Region(1190, 770, 1200, 785, 60)
    assert _both(_align(said, [_seen(3.2, "change", effect=clock)])) == []
    assert _both(_align(said, [_seen(3.2, "change", effect=EFFECT)])) == [("click", 3.2)]


def test_typing_is_no_click_and_a_click_is_no_drag() -> None:
    assert _both(_align(_said((1.0, 3.0, "Click the File menu.")), [_seen(2.0, "typing")])) == []
    assert _both(_align(_said((1.0, 3.0, "Drag the file to the folder.")), [_seen(2.0, "change")])) == []
    assert _both(_align(_said((1.0, 3.0, "Drag the file to the folder.")), [_seen(2.0, "stroke")])) == [("drag", 2.0)]


def test_nothing_said_or_nothing_seen() -> None:
    assert [pair.said for pair in _align([], [_seen(1.0)])] == [None]
    assert [pair.seen for pair in _align(_said((1.0, 2.0, "Click Save.")), [])] == [None]
    assert _align([], []) == []
