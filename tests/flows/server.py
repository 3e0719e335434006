"""A real Prefect server and workers for tests: a free port, a home of their own, every process ended by its id."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
PREFECT = str(Path(sys.executable).with_name("prefect"))
MARK = "CUAMASTER_TEST_PROCESS"
START_SECONDS = 180.0
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


@dataclass
class Prefect:
    """A running server; commands are run from the checkout, against it."""

    home: Path
    port: int
    env: dict[str, str] = field(default_factory=dict)

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        own = {
            "PREFECT_HOME": str(self.home),
            "PREFECT_API_URL": self.api,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_CLI_COLORS": "false",
            "PREFECT_WORKER_QUERY_SECONDS": "2",
            "DO_NOT_TRACK": "1",
            "COLUMNS": "200",
        }
        return {**kept, **own, **self.env, **(extra or {})}

    def run(self, *command: str, seconds: float = 240, **extra: str) -> subprocess.CompletedProcess[str]:
        """A finished command, whatever its exit code; stdout holds both streams."""
        return subprocess.run(
            command, cwd=CHECKOUT, env=self.environment(extra), timeout=seconds, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip

    def prefect(self, *arguments: str, seconds: float = 240, **extra: str) -> str:
        """Output of a `prefect` command that must succeed."""
        done = self.run(PREFECT, *arguments, seconds=seconds, **extra)
        assert done.returncode == 0, f"prefect {' '.join(arguments)}: {done.stdout}"
        return done.stdout

    def deploy(self) -> str:
        """What `python -m flows.deploy` printed."""
        done = self.run(sys.executable, "-m", "flows.deploy")
        assert done.returncode == 0, done.stdout
        return done.stdout

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """An answer of the server's API: GET, or POST with a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.api}/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def deployment(self, name: str) -> Any:
        """A deployment that is named like its flow."""
        return self.ask(f"deployments/name/{name}/{name}")

    def pause_schedules(self) -> None:
        """So that no test meets a run that the clock began."""
        for deployment in self.ask("deployments/filter", {}):
            self.ask(f"deployments/{deployment['id']}/pause_deployment", {})

    def start(self, name: str, *arguments: str) -> str:
        """`prefect deployment run <name>`, literally; returns the flow run's id."""
        shown = self.prefect("deployment", "run", name, *arguments)
        return shown.partition("UUID: ")[2].split()[0]

    def finished(self, run_id: str, seconds: float) -> Any:
        """The state in which a flow run ended."""
        deadline = time.monotonic() + seconds
        while (state := self.ask(f"flow_runs/{run_id}")["state"])["type"] not in ENDED:
            assert time.monotonic() < deadline, f"still {state['type']}: {(self.home / 'worker.log').read_text()}"
            time.sleep(1)
        return state

    def logged(self, run_id: str, text: str, seconds: float = 30) -> bool:
        """Whether a line with this text reaches the flow run's log; lines are sent in batches, some after the run's end."""
        deadline = time.monotonic() + seconds
        while not any(
            text in line["message"] for line in self.ask("logs/filter", {"logs": {"flow_run_id": {"any_": [run_id]}}})
        ):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.5)
        return True

    @contextlib.contextmanager
    def worker(self, *arguments: str, **extra: str) -> Iterator[Process]:
        """A worker on the pool, ended on leaving with everything it started; its log is `worker.log`."""
        command = [PREFECT, "worker", "start", "--pool", "cuamaster", "--limit", "1", *arguments]
        with started(command, self.home / "worker.log", self.environment(extra)) as process:
            yield process


@contextlib.contextmanager
def server(home: Path, **env: str) -> Iterator[Prefect]:
    """Start a server and wait until it answers; `env`: more settings for it and for all commands."""
    home.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        prefect = Prefect(home, probe.getsockname()[1], env)
    command = [PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(prefect.port), "--no-ui"]
    log = home / "server.log"
    with started(command, log, prefect.environment()) as process:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"{prefect.api}/health"):
            assert process.leader.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.5)
        yield prefect


@contextlib.contextmanager
def started(command: list[str], log: Path, env: Mapping[str, str]) -> Iterator[Process]:
    """A process that is ended with all it started: first asked, then killed."""
    token = uuid.uuid4().hex
    with log.open("ab") as out:
        leader = subprocess.Popen(
            command, cwd=CHECKOUT, env={**env, MARK: token}, stdout=out, stderr=out, start_new_session=True
        )
        process = Process(leader, token)
        try:
            yield process
        finally:
            if leader.poll() is None:
                leader.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    leader.wait(30)
            process.kill()


@dataclass(frozen=True)
class Process:
    """A process and its descendants, known by a mark in their environment: flow runs are in sessions of their own."""

    leader: subprocess.Popen[bytes]
    token: str

    def ids(self) -> list[int]:
        """Ids of those that live."""
        needle, found = f"{MARK}={self.token}".encode(), []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def kill(self) -> None:
        """kill -9 of all, and wait until they are gone."""
        deadline = time.monotonic() + 30
        while ids := self.ids():
            for pid in ids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.leader.poll()
            assert time.monotonic() < deadline, f"still there: {ids}"
            time.sleep(0.1)
        self.leader.wait(30)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
