"""What the stages on desktops need: a pool of desktops, and who acts, watches and writes down on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuamaster.ports import DesktopPorts, Detector, Journal, Policy, Progress, ScreenReader, Store
from cuamaster.records.primitive import Mode
from cuamaster.settings import Settings
from cuamaster.wiring.hosts import desktop_pool
from cuamaster.wiring.reading import live_reader
from cuamaster.wiring.workspace import chat, meter, store

if TYPE_CHECKING:
    from cuamaster.adapters.meters.jsonl import JsonlMeter


@contextmanager
def desktop_ports(settings: Settings, progress: Progress | None = None) -> Iterator[DesktopPorts]:
    """What the stages on desktops need; leaving the block ends every desktop. Raises HostBusy, MissingDependency."""
    host, image = desktop_pool(settings, progress)
    screen, blobs = live_reader(settings), store(settings)
    ledger = meter(settings)
    try:
        yield DesktopPorts(
            host=host,
            image=image,
            reader=screen,
            store=blobs,
            oracle=lambda mode: _replay(screen, mode),
            policy=lambda episode_id, err: _policy(settings, screen, blobs, ledger, episode_id, err),
            journal=lambda episode_id: _journal(settings, episode_id),
            detector=lambda embedded: _detector(settings, blobs, ledger, embedded),
        )
    finally:
        host.close()


def _replay(screen: ScreenReader, mode: Mode) -> Policy:
    from cuamaster.adapters.policies.replay import ReplayPolicy

    return ReplayPolicy(screen, mode)


def _policy(
    settings: Settings, screen: ScreenReader, blobs: Store, ledger: JsonlMeter, episode_id: str, err: bool
) -> Policy:
    policy: Policy
    if settings.policy == "openai_api":
        from cuamaster.adapters.policies.openai_api import OpenAIPolicy

        policy = OpenAIPolicy(chat(settings, ledger), blobs, settings.mode, speaks=settings.dialect)
    else:
        policy = _replay(screen, settings.mode)
    if not err:
        return policy
    from cuamaster.adapters.policies.faulty import FaultyPolicy

    return FaultyPolicy(policy, seed=settings.seed, rate=settings.fault_rate, episode_id=episode_id)


def _detector(settings: Settings, blobs: Store, ledger: JsonlMeter, embedded: Detector) -> Detector:
    if settings.detector == "rules":
        return embedded
    from cuamaster.adapters.detectors.openai_api import OpenAIDetector

    return OpenAIDetector(chat(settings, ledger), blobs, embedded)


def _journal(settings: Settings, episode_id: str) -> Journal:
    from cuamaster.adapters.journals.jsonl import JsonlJournal

    return JsonlJournal(settings.workspace / "journals" / f"{episode_id}.jsonl")
