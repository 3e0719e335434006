"""Runs one episode of the rollback benchmark, on a simulated desktop or a guest, and says what its detector found and what was true."""

from __future__ import annotations

import dataclasses
import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from _records_library import records_library
from _rollback_cells import ATTEMPTS, Cell

from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.adapters.desktops.simulated_records import RECORDS_IMAGE
from cuamaster.adapters.policies.faults import STRAY
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.assets import asset_folder
from cuamaster.ports import Desktop, Detector, Frame, Journal, ScreenReader, Store
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.progress import executions
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.library import Library
from cuamaster.records.episode import Boundary, Budget, Episode, Node
from cuamaster.records.primitive import Mode, Primitive
from cuamaster.records.task import Strategy, Task
from cuamaster.records.trajectory import StateSignature
from cuamaster.records.verdict import Divergence, Verdict
from cuamaster.settings import Settings

ARMS = ("scratch", "rollback")
_MANY = 10**6
_COMPOSE_TRIES = 12


@dataclasses.dataclass(frozen=True)
class Bench:
    """Where episodes run: how to open a desktop, what reads its screen, what tasks are made of."""

    open: Callable[[], AbstractContextManager[tuple[Desktop, ScreenReader, Callable[[], float]]]]
    library: Sequence[Primitive]
    guest: Guest
    store: Store
    journal: Callable[[str], Journal]
    refused: Callable[[Task], str] = lambda _: ""
    """Why a task gets no certificate; empty if it gets one. What is simulated comes out as the composer imagines it."""


class Memory:
    """A journal in memory: what is measured here is not the disk."""

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []

    def append(self, event: Mapping[str, Any]) -> None:
        """Kept until the process ends."""
        self._events.append(dict(event))

    def events(self) -> list[dict[str, Any]]:
        """Everything so far."""
        return self._events


class Digests:
    """A store that keeps no pictures, only tells their digests."""

    def put(self, data: bytes) -> str:
        """The SHA-256."""
        return hashlib.sha256(data).hexdigest()

    def get(self, digest: str) -> bytes:
        """Nothing is kept."""
        raise KeyError(digest)

    def has(self, digest: str) -> bool:  # noqa: ARG002
        """Nothing is kept."""
        return False


class Unencoded(SimulatedDesktop):
    """A simulated desktop whose pictures are told apart by a digest of their pixels: nobody looks at them, and PNGs take half the time."""

    _last: tuple[object, bytes] = (None, b"")

    def screenshot(self) -> Frame:
        """The screen, its `png` a digest."""
        frame = super().screenshot()
        if frame.image is not self._last[0]:
            self._last = frame.image, hashlib.blake2b(frame.image.tobytes()).digest()
        vars(frame)["png"] = self._last[1]
        return frame


class Blind(Unencoded):
    """One whose signatures say nothing of files: what was harmed for later leaves no trace until it is needed."""

    def state(self, files: Sequence[str] = ()) -> StateSignature:  # noqa: ARG002
        """Windows only."""
        return super().state()


class Erring:
    """A detector that at a given rate names a neighbouring boundary: what a weaker one would do."""

    def __init__(self, inner: Detector, rate: float, seed: str) -> None:
        self.name = f"{inner.name}+errors"
        self._inner, self._rate, self._rng = inner, rate, random.Random(seed)

    def locate(
        self,
        task: Task,
        path: Sequence[Node],
        desktop: Desktop,
        boundaries: Sequence[Boundary],
        verdict: Verdict,
        *,
        history: Sequence[Boundary] = (),
    ) -> Divergence:
        """The inner answer, or one boundary further back or on."""
        found = self._inner.locate(task, path, desktop, boundaries, verdict, history=history)
        if self._rng.random() >= self._rate:
            return found
        index = next(index for index, item in enumerate(boundaries) if item.label == found.snapshot)
        others = [other for other in (index - 1, index + 1) if 0 <= other < len(boundaries)]
        if not others:
            return found
        wrong = boundaries[self._rng.choice(others)]
        steps = [position for position, node in enumerate(path) if node.index > wrong.node]
        return found.model_copy(update={"snapshot": wrong.label, "step": steps[0] if steps else len(path)})


def simulated(kind: type[Unencoded] = Unencoded) -> Bench:
    """Eight record-keeping applications; the screen is known without reading it, and looking at the clock takes 4 s."""
    guest = SimulatedHost().guest_image(RECORDS_IMAGE)

    @contextmanager
    def opened() -> Iterator[tuple[Desktop, ScreenReader, Callable[[], float]]]:
        desktop = kind(RECORDS_IMAGE)
        seconds = [0.0]

        def clock() -> float:
            seconds[0] += 4.0
            return seconds[0]

        yield desktop, KnownReader(lambda _: desktop.texts()), clock
        desktop.close()

    return Bench(
        opened, records_library(), Guest(guest.name, guest.digest, guest.capabilities, (guest.width, guest.height)),
        Digests(), lambda _: Memory(),
    )  # fmt: skip


@contextmanager
def on_guest(settings: Settings) -> Iterator[Bench]:
    """The curated library on a guest of its own for every episode, wired as collection is; only certified tasks are collected."""
    from cuamaster.propagation.generation.certificate import certify
    from cuamaster.stages.collecting import oracle_of
    from cuamaster.wiring import desktop_ports

    with desktop_ports(settings) as ports:
        image = ports.image

        @contextmanager
        def opened() -> Iterator[tuple[Desktop, ScreenReader, Callable[[], float]]]:
            with ports.host.open(image.name) as desktop:
                yield desktop, ports.reader, time.monotonic

        def refused(task: Task) -> str:
            with ports.host.open(image.name) as desktop:
                done = certify(task, desktop, ports.reader, oracle_of(ports, settings.mode, f"oracle-{task.id}"))
            return "" if done.certificate.released else done.reason

        yield Bench(
            opened, list(Library.load(asset_folder("primitives"))),
            Guest(image.name, image.digest, image.capabilities, (image.width, image.height)), ports.store, ports.journal,
            refused,
        )  # fmt: skip


def compose(bench: Bench, cell: Cell, number: int, mode: Mode) -> Task | None:
    """The cell's task with this number, made by the real composer; None when the library gives none."""
    ways: tuple[Strategy, ...] = ("sequential", "parameterized") if cell.n == 1 else ("cross_app_handoff",)
    turned = ways[number % len(ways) :] + ways[: number % len(ways)]
    composer = PrimitiveComposer(cell.k, cell.k, dict.fromkeys(turned, 1.0), mode=mode)
    for again in range(_COMPOSE_TRIES):
        seed = 1000 * cell.k + 100_000 * cell.n + number + 10_000_000 * again
        found = composer.compose(bench.library, bench.guest, count=1, seed=seed, min_apps=cell.n, max_apps=cell.n)
        if found:
            return found[0]
    return None


def run(
    bench: Bench, task: Task, name: str, arm: str, *, rate: float, seed: int, mode: Mode, detector_errors: float = 0.0,
    seconds: float = _MANY, snapshots: int = 6,
) -> tuple[Episode, list[dict[str, Any]]]:  # fmt: skip
    """(the episode, its journal). Both arms meet the same faults as long as they do the same: drawn by seed, task and attempt."""
    with bench.open() as (desktop, reader, clock):
        policy = FaultyPolicy(
            ReplayPolicy(reader, mode), seed=seed, rate=rate, episode_id=name,
            manners=("at-once", "delayed", "persistent"), retries=True, at_least_one=False,
        )  # fmt: skip
        detector: Detector = RulesDetector(reader)
        if detector_errors:
            detector = Erring(detector, detector_errors, f"{seed}|{name}")
        journal = bench.journal(f"{arm}-{name.replace('/', '-')}")
        episode = rollout(
            task, policy, desktop, reader=reader, journal=journal, detector=detector, store=bench.store,
            budget=Budget(max_steps=_MANY, max_retries=_MANY, max_seconds=seconds, max_executions=ATTEMPTS * task.k),
            clock=clock, episode_id=name, watched=arm == "rollback", max_snapshots=snapshots,
        )  # fmt: skip
        return episode, journal.events()


def located(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, int | None, str]]:
    """For every divergence of a journal: (step found, earliest injected step still on the path or None, `delayed` or `own`).

    A fault that was harmless, so that its use came out right all the same, is none.
    """
    found: list[tuple[int, int | None, str]] = []
    path: list[Node] = []
    boundary = -1
    for event in events:
        if event["event"] == "node":
            path.append(Node.model_validate(event["node"]))
        elif event["event"] == "boundary":
            boundary = int(event["boundary"]["node"])
        elif event["event"] == "divergence":
            delayed = [i for i, node in enumerate(path) if any(item.evidence == STRAY for item in node.actions)]
            own = [i for i, node in enumerate(path) if node.injected and node.index > boundary]
            true = min([*delayed, *own], default=None)
            found.append((int(event["divergence"]["step"]), true, "delayed" if true in delayed else "own"))
        elif event["event"] == "rollback":
            path = [node for node in path if node.index <= event["node"]]
            boundary = int(event["node"])
    return found


def row(episode: Episode, events: Sequence[Mapping[str, Any]], task: Task) -> dict[str, Any]:
    """What is kept of an episode: outcome, executions, faults, and for every rollback what was found and what was true."""
    return {
        "task": task.id, "strategy": task.strategy, "k": task.k, "n": task.n, "outcome": episode.outcome,
        "executed": executions(episode.nodes), "steps": len(episode.nodes), "rollbacks": episode.rollbacks,
        "faults": episode.injected_faults, "leaks": sum(event["event"] == "leak" for event in events),
        "located": located(events), "message": episode.message,
    }  # fmt: skip
