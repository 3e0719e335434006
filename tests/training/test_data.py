"""A dataset is taken only if it is whole and of the profile that the engine reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.profiles import PROFILES as EXPORTED
from cuamaster.exports.profiles import profile
from cuamaster.training.data import ENGINES, PROFILES, data_for
from cuamaster.training.recipe import Method

Dataset = Callable[..., Path]
METHODS: tuple[Method, ...] = ("sft", "grpo")


def test_every_engine_has_a_profile_of_the_right_kind() -> None:
    assert set(PROFILES) == {(method, engine) for method in METHODS for engine in ENGINES}
    for (method, _), name in PROFILES.items():
        assert name in EXPORTED
        assert profile(name).stream == ("trajectories" if method == "sft" else "tasks")


def test_paths_are_absolute_and_empty_splits_have_none(dataset: Dataset) -> None:
    data = data_for("sft", "trl", dataset("trl", {"train": 3}))
    assert not data.tested and data.files("test") == []
    assert data.files("train") == [str(data.folder / "train" / "r001-00000.parquet")] and data.folder.is_absolute()


def test_another_profile_is_refused_with_the_command_that_makes_the_right_one(dataset: Dataset) -> None:
    folder = dataset("trl")
    with pytest.raises(
        InvalidInput, match=r"of profile trl; verl sft reads verl-sft .*cuamaster export --profile verl-sft"
    ):
        data_for("sft", "verl", folder)


def test_no_dataset_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInput, match=r"holds no dataset .*--profile trl-grpo"):
            data_for("grpo", "trl", place)


def test_nothing_to_learn_from_is_refused(dataset: Dataset) -> None:
    with pytest.raises(InvalidInput, match="the train split holds no rows"):
        data_for("sft", "trl", dataset("trl", {"test": 3}))


def test_half_a_dataset_is_refused(dataset: Dataset) -> None:
    folder = dataset("trl")
    (folder / "train" / "r001-00000.parquet").write_bytes(b"ro")
    with pytest.raises(IntegrityError, match="not what it was"):
        data_for("sft", "trl", folder)
    (folder / "train" / "r001-00000.parquet").unlink()
    with pytest.raises(IntegrityError, match="gone"):
        data_for("sft", "trl", folder)
