"""Loopback servers for the adapters: real HTTP, no mocks."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SERVERS = Path(__file__).resolve().parents[1] / "servers"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"loopback_{name}", SERVERS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def chat_server() -> Iterator[Any]:
    """A scripted OpenAI-compatible server."""
    server = _load("chat_server").ChatServer()
    yield server
    server.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Any]:
    """A web site that serves `site.folder`."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = _load("site_server").Site(folder)
    yield server
    server.close()
