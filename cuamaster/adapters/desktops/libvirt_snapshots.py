"""The snapshots of one guest with what is attested of each: saved while it holds still, compared after every restore."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuamaster.adapters.desktops.libvirt_freshness import Freshness
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.adapters.desktops.libvirt_migration import SnapshotJobs
from cuamaster.adapters.desktops.signatures import difference
from cuamaster.errors import GuestUnresponsive, StateDrift, UnknownName
from cuamaster.records.trajectory import StateSignature

_AGENT_SECONDS = 60.0
_ATTEST_SECONDS = 5.0
_REOPENED_SECONDS = 10.0


@dataclass(frozen=True)
class Saved:
    """What is known of a snapshot besides its bytes: the attested state, the pointer's place, what was held down."""

    signature: StateSignature
    pointer: tuple[int, int]
    held: tuple[tuple[str, str], ...]


class AttestedSnapshots:
    """`read` gives the state signature now, with hashes of files; `answers`: an agent in the guest is asked for it.

    `inherited`: the snapshots of the desktop whose disk this guest has a copy of.
    """

    def __init__(
        self,
        guest: Guest,
        jobs: SnapshotJobs,
        devices: Input,
        freshness: Freshness,
        read: Callable[[Sequence[str]], StateSignature],
        *,
        answers: bool,
        inherited: AttestedSnapshots | None = None,
    ) -> None:
        self._guest, self._jobs, self._input, self._freshness = guest, jobs, devices, freshness
        self._read, self._answers = read, answers
        self._saved: dict[str, Saved] = dict(inherited._saved) if inherited else {}

    def save(self, label: str, files: Sequence[str]) -> StateSignature:
        """Save memory and disk; the signature attested with them. Raises StateDrift: the desktop does not hold still for it."""
        deadline = time.monotonic() + _ATTEST_SECONDS
        self.drop(label)
        before = self._read(files)
        while True:
            self._jobs.save(label)
            after = self._read(files)
            if after == before:
                self._saved[label] = Saved(after, self._input.pointer, self._input.held)
                return after
            self._jobs.delete(label)
            if time.monotonic() > deadline:
                raise StateDrift(
                    f"{self._guest.name}: the desktop keeps changing, no stable snapshot {label!r}: {difference(before, after)}"
                )
            before = after

    def load(self, label: str) -> StateSignature:
        """Return memory and disk to `label`, attested. Raises UnknownName, StateDrift."""
        self.known(label)
        self._jobs.load(label)
        return self.loaded(label)

    def loaded(self, label: str) -> StateSignature:
        """After the guest was loaded from `label`: wait for it, release what is held, compare. Raises StateDrift."""
        saved = self.known(label)
        self._freshness.forget()
        if self._answers:
            self._guest.wait_agent(_AGENT_SECONDS)
        self._input.release_all(saved.held)
        self._input.pointer = saved.pointer
        return self.attest(saved.signature, f"the rollback to {label!r}")

    def attest(self, expected: StateSignature, after: str) -> StateSignature:
        """The state now, which must become `expected` within seconds `after` something; raises StateDrift."""
        deadline = time.monotonic() + _ATTEST_SECONDS
        while (seen := self._read_restored(tuple(expected.files))) != expected:
            if time.monotonic() > deadline:
                raise StateDrift(f"{self._guest.name}: after {after}: {difference(expected, seen)}")
            time.sleep(0.1)
        return seen

    def _read_restored(self, files: Sequence[str]) -> StateSignature:
        """The signature of a guest that was just restored. Its agent's port closes and opens once more then, and on a busy host that is
        told so late that it cuts off a command; reading the state twice changes nothing."""
        try:
            return self._read(files)
        except GuestUnresponsive:
            if not self._answers:
                raise
            self._guest.wait_agent(_REOPENED_SECONDS)
            return self._read(files)

    def sizes(self) -> dict[str, int]:
        """Bytes that each snapshot's memory and device state take on disk."""
        sizes = self._jobs.sizes()
        return {label: sizes[label] for label in self._saved if label in sizes}

    def known(self, label: str) -> Saved:
        """What was saved under a label; raises UnknownName."""
        if label not in self._saved:
            raise UnknownName(
                f"{self._guest.name} has no snapshot {label!r}", hint=f"it has {', '.join(self._saved) or 'none'}"
            )
        return self._saved[label]

    def drop(self, label: str) -> None:
        """Free a snapshot's space; unknown labels are ignored."""
        if self._saved.pop(label, None) is not None:
            self._jobs.delete(label)
