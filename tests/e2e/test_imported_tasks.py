"""Benchmark tasks of somebody else, from the command line: imported, collected with a model endpoint, judged, exported."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuamaster.records.episode import Episode
from cuamaster.tables import Workspace

TESTS = Path(__file__).parents[1]
EXAMPLES = TESTS / "importers" / "data" / "osworld" / "examples" / "os"
EITHER, INFEASIBLE = "49682dea-7f0a-57b1-b4d3-007bb9afed14", "e876377c-e800-50a0-a6e7-f348eb906044"


def tool(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


@pytest.fixture
def endpoint() -> Iterator[Any]:
    """Gives the first task up as infeasible, writes the report for the second and says so."""
    spec = importlib.util.spec_from_file_location("loopback_chat", TESTS / "servers" / "chat_server.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.ChatServer()
    server.script = [
        tool("computer_use", action="terminate", status="infeasible"),
        tool("shell_exec", command="echo done > report.txt"),
        tool("computer_use", action="terminate", status="success"),
    ]
    yield server
    server.close()


@pytest.mark.slow
def test_imported_tasks_are_collected_and_judged(tmp_path: Path, endpoint: Any) -> None:
    environment = {
        **os.environ, "CUAMASTER_WORKSPACE": str(tmp_path), "CUAMASTER_DESKTOP": "simulated", "CUAMASTER_MODE": "mixed",
        "CUAMASTER_POLICY": "openai_api", "CUAMASTER_API_BASE": endpoint.url, "CUAMASTER_API_MODEL": "scripted",
        "CUAMASTER_MAX_RETRIES": "0",
    }  # fmt: skip

    def cuamaster(*words: str) -> str:
        command = [sys.executable, "-m", "cuamaster.cli", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=240)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for name in (INFEASIBLE, EITHER):
        cuamaster("import", "osworld", str(EXAMPLES / f"{name}.json"))
        table = json.loads(cuamaster("collect", "--imported", "--json"))
    assert {row["what"]: row["count"] for row in table if row["stage"] == "collect"}["episodes passed"] == 2
    episodes = Workspace(tmp_path).round(1).stage("collect").kept(Episode)
    assert sorted(episode.nodes[-1].actions[-1].action.args["status"] for episode in episodes) == [
        "infeasible",
        "success",
    ]
    rows = {file["name"]: file["rows"] for file in json.loads(cuamaster("export", "--json"))}
    assert rows["sft.parquet"] == 0  # a simulated desktop proves nothing
