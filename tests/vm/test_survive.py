"""Faults in mid-episode on a real guest: each ends with the right outcome, is never held against the policy, and leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.desktops.libvirt_root import qemu_pids
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import BadFrame
from cuamaster.ports import Decision, Frame
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.journal import finished
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.episode import Budget, Episode, Node
from cuamaster.records.trajectory import Action
from tests.e2e.collector import FOLDERS

pytestmark = pytest.mark.vm
IMAGE = "light-desktop"
READER = KnownReader(lambda _image: [])


class Saboteur(ReplayPolicy):
    """Follows the plan; lets `fault` happen once before its second step and, if told so, does `instead` in its place."""

    def __init__(self, fault: Callable[[], None], instead: Sequence[Action] = ()) -> None:
        super().__init__(READER, "cli")
        self._fault: Callable[[], None] | None = fault
        self._instead = tuple(instead)

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        if self._fault is None or not history:
            return super().decide(frame, history, hint)
        self._fault()
        self._fault = None
        if self._instead:
            return Decision(actions=self._instead, use=1, done_use=True)
        return super().decide(frame, history, hint)


@pytest.fixture
def desktop(vm_host: LibvirtHost) -> Iterator[LibvirtDesktop]:
    """A clone that waits shortly for what does not answer; nothing of it may be left afterwards."""
    root = vm_host.prepare(IMAGE).root
    clone = vm_host.start(IMAGE)
    clone._guest.agent_seconds = 4
    clone._guest.monitor_seconds = 6.0
    yield clone
    clone.close()
    deadline = time.monotonic() + 20
    while qemu_pids(root.folder / clone.name):
        assert time.monotonic() < deadline, "an orphan"
        time.sleep(0.1)
    assert [path.name for path in root.folder.iterdir() if path.name == clone.name] == []
    assert not (root.folder.parent / "log" / "qemu" / f"{clone.name}.log").exists()


def _pid(desktop: LibvirtDesktop) -> int:
    (pid,) = qemu_pids(desktop._folder)
    return pid


def _as_root(desktop: LibvirtDesktop, command: str) -> None:
    desktop._guest.start(["/usr/lib/desk/busybox", "sh", "-c", command])


def _roll(desktop: LibvirtDesktop, policy: ReplayPolicy, folder: Path) -> Episode:
    journal = JsonlJournal(folder / "journal.jsonl")
    episode = rollout(
        FOLDERS,
        policy,
        desktop,
        reader=READER,
        journal=journal,
        detector=RulesDetector(READER),
        store=LocalStore(folder / "blobs"),
        budget=Budget(max_retries=2, max_seconds=600),
        clock=time.monotonic,
        episode_id="e",
    )
    assert finished(journal) == [episode]
    return episode


def _kill_agent(desktop: LibvirtDesktop) -> None:
    _as_root(desktop, "kill -9 $(pidof qemu-ga)")


def _hang(desktop: LibvirtDesktop) -> None:
    os.kill(_pid(desktop), signal.SIGSTOP)


def _kill(desktop: LibvirtDesktop) -> None:
    os.kill(_pid(desktop), signal.SIGKILL)


@pytest.mark.parametrize("fault", [_kill, _kill_agent, _hang])
def test_a_machine_that_dies_hangs_or_falls_silent_is_infra(
    desktop: LibvirtDesktop, tmp_path: Path, fault: Callable[[LibvirtDesktop], None]
) -> None:
    episode = _roll(desktop, Saboteur(lambda: fault(desktop)), tmp_path)
    assert episode.outcome == "infra", episode.message
    assert episode.first_attempt_passed is None
    assert episode.verdict is None
    assert len(episode.nodes) >= 1, "what had been done is kept for the record"
    ids = [receipt.action_id for node in episode.nodes for receipt in node.receipts]
    assert len(set(ids)) == len(ids), "nothing was sent again"


def test_a_truncated_snapshot_is_infra_and_never_a_failure(desktop: LibvirtDesktop, tmp_path: Path) -> None:
    def truncate() -> None:
        os.truncate(desktop._folder / "disk.qcow2", 1 << 20)

    nothing = Action(action=CUAAction("wait", {"seconds": 0.1}))
    episode = _roll(desktop, Saboteur(truncate, [nothing]), tmp_path)
    assert episode.outcome in ("infra", "drift", "verifier"), episode.message


def test_a_policy_that_kills_its_own_session_goes_on_from_the_last_snapshot(
    desktop: LibvirtDesktop, tmp_path: Path
) -> None:
    before = desktop.settle(timeout=30).image
    suicide = Action(action=CUAAction("shell.exec", {"command": "kill -9 -1"}))
    episode = _roll(desktop, Saboteur(lambda: None, [suicide]), tmp_path)
    assert episode.outcome == "passed", episode.message
    assert episode.rollbacks == 1
    assert [node.dropped for node in episode.nodes if any(item.action == suicide.action for item in node.actions)] == [
        True
    ]
    assert (desktop.settle(timeout=30).image == before).mean() > 0.99, "panel and background are back"


def test_a_jump_of_the_guests_clock_changes_nothing(desktop: LibvirtDesktop, tmp_path: Path) -> None:
    jumps = iter(("now + 40 days", "now - 80 days"))

    class Jumper(ReplayPolicy):
        """Sets the guest's clock before each step."""

        def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
            _as_root(desktop, f'date -s "$(date -d "{next(jumps, "now")}" "+%F %T")"')
            return super().decide(frame, history, hint)

    episode = _roll(desktop, Jumper(READER, "cli"), tmp_path)
    assert (episode.outcome, episode.rollbacks) == ("passed", 0), episode.message
    times = [node.observation.t for node in episode.nodes]
    assert times == sorted(times)
    assert 0 <= episode.seconds < 300


def test_an_answer_that_does_not_come_in_time_is_unknown_and_the_action_is_not_sent_again(
    desktop: LibvirtDesktop,
) -> None:
    _as_root(desktop, "sleep 0.5; kill -STOP $(pidof qemu-ga); sleep 9; kill -CONT $(pidof qemu-ga)")
    receipt = desktop.act(CUAAction("shell.exec", {"command": "echo once >> ~/log; sleep 2"}), "once")
    assert (receipt.status, receipt.exit_code) == ("unknown", None)
    desktop._guest.wait_agent(60)
    assert desktop.read_file("~/log") == b"once\n"


def test_a_frozen_screen_is_stale_and_a_thawed_one_is_not(desktop: LibvirtDesktop) -> None:
    desktop.settle(timeout=30)
    desktop._guest.execute(["/usr/lib/desk/busybox", "sh", "-c", "kill -STOP $(pidof Xorg)"])
    desktop.act(CUAAction("mouse.move", {"x": 300, "y": 300}), "m")
    deadline = time.monotonic() + 60
    with pytest.raises(BadFrame) as caught:
        while time.monotonic() < deadline:
            desktop.settle(timeout=1)
    assert caught.value.reason == "stale"
    _as_root(desktop, "kill -CONT $(pidof Xorg)")
    desktop.settle(timeout=30)
    assert desktop.shell("xdotool getmouselocation").stdout.startswith(f"x:{1280 * 3 // 10} ")
