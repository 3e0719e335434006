"""Splits by lineage, sampling weights, the choice of tasks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cuamaster.exports.options import Options
from cuamaster.exports.rl import Released
from cuamaster.exports.rounds import sampling_weights, worth_training
from cuamaster.exports.splits import lineage_keys, split_of
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Lineage

from .conftest import certificate, make_task

_KEYS = st.sets(st.sampled_from([f"video {n}" for n in range(12)] + [f"template {n}" for n in range(12)]), min_size=1)


@given(st.lists(_KEYS, max_size=40), st.integers(0, 50))
def test_no_video_or_template_is_in_both_splits(samples: list[set[str]], percent: int) -> None:
    sides: dict[str, set[str]] = {"train": set(), "test": set(), "neither": set()}
    for keys in samples:
        sides[split_of(keys, percent)] |= keys
    assert not sides["train"] & sides["test"]
    if percent == 0:
        assert not sides["test"] and not sides["neither"]


def test_what_is_made_of_both_is_in_neither() -> None:
    tested = next(f"video {n}" for n in range(1000) if split_of([f"video {n}"], 5) == "test")
    trained = next(f"video {n}" for n in range(1000) if split_of([f"video {n}"], 5) == "train")
    assert split_of([tested, trained], 5) == "neither"
    assert split_of([tested], 10) == "test"  # a larger share takes more in, and gives nothing back


def test_one_template_is_in_one_split_whatever_its_parameters() -> None:
    assert len({frozenset(lineage_keys((), make_task("mousepad", "pcmanfm", seed=n))) for n in range(20)}) == 1
    assert lineage_keys((), make_task("mousepad")) != lineage_keys((), make_task("pcmanfm"))
    video = (Lineage(video_id="v"),)
    assert lineage_keys(video, None) == {"video v"} < lineage_keys((), make_task("mousepad", lineage=video))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["office", "media"]), st.integers(1, 9), st.integers(1, 4)),
        st.integers(1, 500),
        min_size=1,
    )
)
def test_weights_favour_what_is_rare_and_keep_the_mean(counts: dict[tuple[str, int, int], int]) -> None:
    weights = sampling_weights(counts)
    assert abs(sum(counts[key] * weights[key] for key in counts) / sum(counts.values()) - 1) < 1e-3
    ordered = sorted(counts, key=counts.__getitem__)
    assert all(weights[rare] >= weights[common] for rare, common in pairwise(ordered))


def test_weights_of_a_known_case() -> None:
    assert sampling_weights({("a", 1, 1): 1, ("a", 2, 1): 9}) == {("a", 1, 1): 2.5, ("a", 2, 1): 0.833333}
    assert sampling_weights({("a", 1, 1): 1, ("a", 2, 1): 9}, smoothing=1) == {("a", 1, 1): 1.0, ("a", 2, 1): 1.0}
    assert sampling_weights({}) == {}


def test_an_endless_instruction_is_no_task() -> None:
    made = make_task("mousepad").model_copy(update={"instruction": "x" * 30_000})
    (drop,) = worth_training([Released(made, certificate(made), 1, ())], Options())
    assert isinstance(drop, Dropped) and drop.reason == "instruction-too-long"


def test_tasks_that_teach_nothing_are_left_out_with_the_reason() -> None:
    def task(*apps: str, attempts: int = 0, passed: int = 0) -> Released:
        made = make_task(*apps, seed=attempts * 10 + passed)
        return Released(made, certificate(made), 1, (), attempts, passed)

    given_tasks = [
        task("mousepad"), task("mousepad", attempts=3), task("mousepad", attempts=4), task("mousepad", attempts=4, passed=4),
        task("mousepad", attempts=8, passed=1), task("mousepad", "pcmanfm", "galculator"),
    ]  # fmt: skip
    kept = list(worth_training(given_tasks, Options(max_n=2)))
    assert [item.reason if isinstance(item, Dropped) else item.success_rate for item in kept] == [
        None, 0.0, "never-solved", "always-solved", 0.125, "difficulty",
    ]  # fmt: skip
    assert [isinstance(item, Dropped) for item in worth_training(given_tasks, Options(min_k=2, max_k=3))] == [
        True
    ] * 5 + [False]
