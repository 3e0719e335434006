"""A dataset for one trainer out of a workspace: inputs frozen, written beside its folder, put in place in one step."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuamaster.errors import IntegrityError, InvalidInput, storing
from cuamaster.exports.elements import elements
from cuamaster.exports.manifest import MANIFEST, README, Input, Release, read_manifest, readme, software
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import pairs
from cuamaster.exports.preflight import preflight
from cuamaster.exports.profiles import profile
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.release import Item, write_release
from cuamaster.exports.rl import released
from cuamaster.exports.rounds import worth_training
from cuamaster.exports.samples import RoundData, Sample, samples
from cuamaster.ports import Progress, ScreenReader, Store
from cuamaster.records.episode import Dropped, Episode
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.stages.exporting import FEEDING, TASKS, TRAJECTORIES
from cuamaster.tables import (
    Rows,
    Workspace,
    alone,
    publish,
    restore,
    sha256_of,
    sweep_temporary,
    temporary_name,
    write_atomic,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ports:
    """What a dataset is made through; `reader`: only for profiles that read screenshots."""

    store: Store
    reader: ScreenReader | None = None
    progress: Progress = lambda _phrase, _share: None


@dataclass(frozen=True)
class _Order:
    """What is wanted, in the terms of a manifest."""

    version: str
    kind: Profile
    options: Options
    inputs: tuple[Input, ...]

    def met_by(self, there: Release) -> bool:
        """Whether a manifest describes just this."""
        asked = (self.version, self.kind.name, self.options, self.inputs, software())
        return asked == (there.version, there.profile, there.options, there.inputs, there.software)


def release(
    workspace: Workspace, ports: Ports, name: str, folder: Path, options: Options, *, upto: int | None = None
) -> Release:
    """Write profile `name` of rounds 1 to `upto` (None: all) into `folder`, and return its manifest.

    A dataset of the same profile that is there is replaced as a whole, or left as it is when nothing changed. Raises
    UnknownName, InvalidInput for a folder that holds something else, IntegrityError for damaged inputs or what the check
    before a release refuses, FolderBusy, StoreFull.
    """
    kind, rounds = profile(name), workspace.rounds()
    if not rounds or (upto is not None and upto not in rounds):
        raise InvalidInput(
            f"{workspace.root} has no round{'s' if upto is None else f' {upto}'}", hint="is it the right --workspace?"
        )
    inputs = freeze(workspace, upto or max(rounds))
    newest = upto or max(
        (item.round for item in inputs), default=max(rounds)
    )  # a round that is only planned adds nothing
    order = _Order(f"dataset@round-{newest}", kind, options, inputs)
    return _release(workspace, ports, order, folder.resolve())


def release_again(workspace: Workspace, ports: Ports, manifest: Path, folder: Path) -> Release:
    """Write the dataset that a manifest describes once more; raises IntegrityError when its inputs are not what they were."""
    wanted = read_manifest(manifest)
    if wanted.cleaned:
        raise InvalidInput(
            f"{manifest} is of a cleaned copy, and the rounds still hold what was taken out",
            hint="make the dataset again from its own manifest, and clean that",
        )
    if wanted.software != software():
        log.warning("made with %s, now made with %s: files may differ in their bytes", wanted.software, software())
    order = _Order(wanted.version, profile(wanted.profile), wanted.options, wanted.inputs)
    return _release(workspace, ports, order, folder.resolve())


def freeze(workspace: Workspace, upto: int) -> tuple[Input, ...]:
    """The files that a dataset of rounds 1 to `upto` is made of: what their stages have closed so far."""
    found: list[Input] = []
    for number in (number for number in workspace.rounds() if number <= upto):
        for name in FEEDING:
            stage = workspace.round(number).stage(name)
            manifest = stage.manifest()
            if stage.items() > len(manifest.items if manifest else ()):
                log.warning("round %d: %s is not closed yet; what it has not closed is left out", number, name)
            if manifest is not None and manifest.named("kept"):
                found.append(Input(round=number, stage=name, files=manifest.named("kept")))
    return tuple(found)


def thaw(workspace: Workspace, inputs: Sequence[Input]) -> list[RoundData]:
    """The rounds that frozen files hold; raises IntegrityError for a file that is gone or changed."""
    paths: dict[tuple[int, str], list[Path]] = {}
    for item in inputs:
        for entry in item.files:
            path = workspace.round(item.round).stage(item.stage).folder / entry.name
            if not path.exists() or sha256_of(path) != entry.sha256:
                raise IntegrityError(f"{path}: gone, or not what it was when the dataset was frozen")
            paths.setdefault((item.round, item.stage), []).append(path)

    def of(number: int, *names: str) -> list[Path]:
        return [path for name in names for path in paths.get((number, name), ())]

    return [
        RoundData(
            round=number,
            tasks=Rows(of(number, *TASKS), Task),
            certificates=Rows(of(number, "certify"), Certificate),
            episodes=Rows(of(number, "collect"), Episode),
            trajectories=Rows(of(number, *TRAJECTORIES), Trajectory),
        )
        for number in sorted({item.round for item in inputs})
    ]


def _release(workspace: Workspace, ports: Ports, order: _Order, folder: Path) -> Release:
    with alone(folder):
        restore(folder)
        sweep_temporary(folder.parent)
        there = _there(folder, order.kind)
        if there is not None and order.met_by(there) and _whole(folder, there):
            return there
        rounds = thaw(workspace, order.inputs)
        draft = folder.parent / temporary_name()
        try:
            made = _write(draft, order, _followed(_stream(order, rounds, ports), order, ports.progress), ports.store)
            if problems := preflight(draft):
                told = "; ".join(str(problem) for problem in problems[:5])
                raise IntegrityError(f"{folder}: {len(problems)} faults found before release: {told}")
            publish(draft, folder)
        finally:
            if draft.exists():
                shutil.rmtree(draft)
        return made


def _write(draft: Path, order: _Order, items: Iterable[Item | Dropped], store: Store) -> Release:
    with storing(draft):
        written = write_release(order.kind, items, order.options, store, draft)
    made = Release(
        version=order.version,
        profile=order.kind.name,
        options=order.options,
        inputs=order.inputs,
        files=tuple(written.files),
        rounds=written.tally.deltas(),
        weights=written.tally.weights(),
        splits=dict(sorted(written.splits.items())),
        dropped=dict(sorted(written.dropped.items())),
        software=software(),
    )
    write_atomic(draft / README, readme(order.kind, made).encode())
    write_atomic(draft / MANIFEST, (made.model_dump_json(indent=2) + "\n").encode())
    return made


def _stream(order: _Order, rounds: list[RoundData], ports: Ports) -> Iterable[Item | Dropped]:
    options, stream = order.options, order.kind.stream
    if stream == "tasks":
        return worth_training(released(rounds, seeds=options.seeds, policy=options.base_policy), options)
    if stream == "pairs":
        return pairs(rounds)
    proven = (
        item if isinstance(item, Dropped) or item.proof != "none" else _unproven(item) for item in samples(rounds)
    )
    if stream == "trajectories":
        return proven
    if ports.reader is None:
        raise InvalidInput(f"profile {order.kind.name} reads screenshots, and no reader was given")
    return elements(proven, ports.store, ports.reader.read)


def _followed(items: Iterable[Item | Dropped], order: _Order, progress: Progress) -> Iterator[Item | Dropped]:
    """The items, told as a share of what the stages hold that they are made of."""
    stages = TASKS if order.kind.stream == "tasks" else ("collect", *TRAJECTORIES)
    total = sum(file.rows for item in order.inputs if item.stage in stages for file in item.files)
    for number, item in enumerate(items):
        progress(order.kind.name, min(1.0, number / max(1, total)))
        yield item
    progress(order.kind.name, 1.0)


def _unproven(sample: Sample) -> Dropped:
    return Dropped(item_id=sample.id, stage="export", reason="unproven", detail=sample.reason)


def _there(folder: Path, kind: Profile) -> Release | None:
    """The dataset that is in the folder already; raises InvalidInput when the folder holds something else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not (folder / MANIFEST).is_file():
        raise InvalidInput(f"{folder} holds something that is no dataset", hint="give a new or empty folder")
    there = read_manifest(folder / MANIFEST)
    if there.profile != kind.name:
        raise InvalidInput(f"{folder} holds a dataset of profile {there.profile}", hint="give a new or empty folder")
    if there.cleaned:
        raise InvalidInput(f"{folder} holds a cleaned copy", hint="give a new or empty folder")
    return there


def _whole(folder: Path, there: Release) -> bool:
    return all((path := folder / file.name).is_file() and path.stat().st_size == file.bytes for file in there.files)
