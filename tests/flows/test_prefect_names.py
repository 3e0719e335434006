"""The plugin: names without a slash become `name/name`, others are untouched, and a moved client is told in words."""

from __future__ import annotations

import logging
import sys

import pytest
from prefect.client.orchestration._deployments.client import DeploymentAsyncClient, DeploymentClient
from prefect.plugins import HookContext

from cuamaster.adapters import prefect_names
from cuamaster.errors import MissingDependency

CONTEXT = HookContext(prefect_version="9.9", api_url=None, logger_factory=logging.getLogger)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("collect-trajectories", "collect-trajectories/collect-trajectories"), ("a/b", "a/b"), ("a/b/c", "a/b/c")],
)
def test_only_a_name_without_a_slash_is_completed(given: str, wanted: str) -> None:
    assert prefect_names.full_name(given) == wanted


def test_the_client_asks_for_the_full_name_however_often_the_hook_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(self: object, name: str) -> str:
        asked.append(name)
        return "found"

    for client in (DeploymentClient, DeploymentAsyncClient):
        monkeypatch.setattr(client, prefect_names.METHOD, answer)
    prefect_names.setup_environment(ctx=CONTEXT)
    prefect_names.setup_environment(ctx=CONTEXT)
    for client in (DeploymentClient, DeploymentAsyncClient):
        read = getattr(client, prefect_names.METHOD)
        assert read(object(), "x") == "found"
        assert read(object(), name="x/y") == "found"
    assert asked == ["x/x", "x/y", "x/x", "x/y"]


def test_a_client_that_moved_is_told_with_the_way_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prefect.client.orchestration._deployments.client", None)
    with pytest.raises(MissingDependency, match=r"Prefect 9\.9.*collect-trajectories/collect-trajectories"):
        prefect_names.setup_environment(ctx=CONTEXT)


def test_a_client_without_the_method_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(DeploymentAsyncClient, prefect_names.METHOD)
    with pytest.raises(MissingDependency):
        prefect_names.setup_environment(ctx=CONTEXT)
