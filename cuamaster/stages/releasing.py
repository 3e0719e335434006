"""A dataset for one trainer out of a workspace: inputs frozen, written beside its folder, put in place in one step."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from cuamaster.errors import IntegrityError, InvalidInput, storing
from cuamaster.exports.elements import elements
from cuamaster.exports.manifest import MANIFEST, README, Input, Release, read_manifest, readme, software
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import pairs
from cuamaster.exports.profiles import profile
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.release import Item, write_release
from cuamaster.exports.rl import released
from cuamaster.exports.rounds import worth_training
from cuamaster.exports.samples import RoundData, Sample, samples
from cuamaster.ports import ScreenReader, Store
from cuamaster.records.episode import Dropped, Episode
from cuamaster.records.record import content_id
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.stages.exporting import FEEDING, TASKS
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


def release(
    workspace: Workspace,
    store: Store,
    name: str,
    folder: Path,
    options: Options,
    *,
    upto: int | None = None,
    reader: ScreenReader | None = None,
) -> Release:
    """Write profile `name` of rounds 1 to `upto` (None: all) into `folder`, and return its manifest.

    A dataset of the same profile that is there is replaced as a whole, or left as it is when nothing changed. Raises
    UnknownName, InvalidInput for a folder that holds something else, IntegrityError for damaged inputs, FolderBusy, StoreFull.
    """
    return _release(workspace, store, profile(name), folder, options, freeze(workspace, upto), reader)


def release_again(
    workspace: Workspace, store: Store, manifest: Path, folder: Path, reader: ScreenReader | None
) -> Release:
    """Write the dataset that a manifest describes once more; raises IntegrityError when its inputs are not what they were."""
    wanted = read_manifest(manifest)
    if wanted.software != software():
        log.warning("made with %s, now made with %s: files may differ in their bytes", wanted.software, software())
    return _release(workspace, store, profile(wanted.profile), folder, wanted.options, wanted.inputs, reader)


def freeze(workspace: Workspace, upto: int | None = None) -> tuple[Input, ...]:
    """The files that a dataset is made of: what the stages of the rounds have closed so far."""
    found: list[Input] = []
    for number in workspace.rounds():
        if upto is not None and number > upto:
            continue
        for name in FEEDING:
            stage = workspace.round(number).stage(name)
            manifest = stage.manifest()
            if stage.items() > len(manifest.items if manifest else ()):
                log.warning("round %d: %s is not closed yet; what it has not closed is left out", number, name)
            if manifest is not None and manifest.named("kept"):
                found.append(Input(round=number, stage=name, files=manifest.named("kept")))
    if upto is not None and upto not in workspace.rounds():
        raise InvalidInput(f"{workspace.root} has no round {upto}", hint="`cuamaster show` tells which there are")
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
            trajectories=Rows(of(number, "reconstruct"), Trajectory),
        )
        for number in sorted({item.round for item in inputs})
    ]


def _release(
    workspace: Workspace, store: Store, kind: Profile, folder: Path, options: Options, inputs: tuple[Input, ...],
    reader: ScreenReader | None,
) -> Release:  # fmt: skip
    folder = folder.absolute()
    with alone(folder):
        restore(folder)
        sweep_temporary(folder.parent)
        there = _there(folder, kind)
        inputs_id = content_id("inputs", list(inputs))
        asked = (kind.name, options, inputs_id, software())
        if there and (there.profile, there.options, there.inputs_id, there.software) == asked and _whole(folder, there):
            return there
        draft = folder.parent / temporary_name()
        try:
            made = _write(
                draft, kind, _stream(kind, thaw(workspace, inputs), options, store, reader), options, store, inputs
            )
            publish(draft, folder)
        finally:
            if draft.exists():
                shutil.rmtree(draft)
        return made


def _write(
    draft: Path,
    kind: Profile,
    items: Iterable[Item | Dropped],
    options: Options,
    store: Store,
    inputs: tuple[Input, ...],
) -> Release:
    with storing(draft):
        written = write_release(kind, items, options, store, draft)
    made = Release(
        version=f"dataset@round-{max((item.round for item in inputs), default=0)}",
        inputs_id=content_id("inputs", list(inputs)),
        profile=kind.name,
        options=options,
        inputs=inputs,
        files=tuple(written.files),
        rounds=written.tally.deltas(),
        weights=written.tally.weights(),
        splits=dict(sorted(written.splits.items())),
        dropped=dict(sorted(written.dropped.items())),
        software=software(),
    )
    write_atomic(draft / README, readme(kind, made).encode())
    write_atomic(draft / MANIFEST, (made.model_dump_json(indent=2) + "\n").encode())
    return made


def _stream(
    kind: Profile, rounds: list[RoundData], options: Options, store: Store, reader: ScreenReader | None
) -> Iterable[Item | Dropped]:
    if kind.stream == "tasks":
        return worth_training(released(rounds, seeds=options.seeds, policy=options.base_policy), options)
    if kind.stream == "pairs":
        return pairs(rounds)
    proven = (
        item if isinstance(item, Dropped) or item.proof != "none" else _unproven(item) for item in samples(rounds)
    )
    if kind.stream == "trajectories":
        return proven
    if reader is None:
        raise InvalidInput(f"profile {kind.name} reads screenshots, and no reader was given")
    return elements(proven, store, reader.read)


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
    return there


def _whole(folder: Path, there: Release) -> bool:
    return all((path := folder / file.name).is_file() and path.stat().st_size == file.bytes for file in there.files)
