"""Verifies the curated library on a desktop, and writes what was seen there as evidence into primitives/."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2

from cuamaster.assets import asset_folder
from cuamaster.errors import MissingCapability, UnknownName
from cuamaster.ports import DesktopPorts, Frame
from cuamaster.propagation.generation.prove import Proof, prove_all
from cuamaster.propagation.generation.yaml_primitives import Written, read_primitives, write_evidence
from cuamaster.records.primitive import Evidence
from cuamaster.stages.collecting import oracle_of
from cuamaster.stages.composing import guest_of
from cuamaster.stages.wheel import Wheel
from cuamaster.tables import write_atomic

FRAME_WIDTH, FRAME_QUALITY = 480, 55
"""Evidence frames are for people to look at: 480 pixels wide, about 10 kB each."""


def verify_library(
    wheel: Wheel, ports: DesktopPorts, names: Sequence[str] = (), *, record: bool = False
) -> list[dict[str, Any]]:
    """Run every procedure of the named primitives (`app` or `app.ability`; none: all that the image can run): one row each.

    `record` writes frames and times of those that passed into the YAML. Raises UnknownName, InvalidInput, MissingCapability.
    """
    folder = asset_folder("primitives")
    written = [item for path in sorted(folder.glob("*.yaml")) for item in read_primitives(path, evidence=False)]
    everything = [item for item in written if ports.image.capabilities.issuperset(item.primitive.requires)]
    named = [item for item in written if _is_named(item, names)]
    if names and not named:
        raise UnknownName(f"no primitive is called {', '.join(names)}", hint="use app or app.ability")
    for item in named:
        if item not in everything:
            lacks = ", ".join(sorted(set(item.primitive.requires) - ports.image.capabilities))
            raise MissingCapability(
                f"{item.primitive.app}.{item.primitive.ability} needs {lacks}, which image {ports.image.name} lacks",
                capability=lacks,
                hint="choose another with --image",
            )
    chosen = named or everything
    stamp = f"verify-{time.time():.3f}"
    oracles = {mode: oracle_of(ports, mode, f"{stamp}-{mode}") for mode in ("gui", "cli")}
    found = prove_all(
        [item.primitive for item in chosen], [item.primitive for item in everything], ports.host, ports.reader,
        oracles, guest_of(ports.image),
    )  # fmt: skip
    seen: dict[str, list[Proof]] = defaultdict(list)
    evidence: dict[str, list[Evidence]] = defaultdict(list)

    def work(_: int) -> None:
        proof = next(found)
        if record and proof.ok:
            evidence[proof.primitive.id].append(_evidence(proof, folder, ports.image.digest))
        seen[proof.primitive.id].append(replace(proof, first=None, last=None))  # a library's frames fill the memory

    number = sum(len(item.primitive.procedures) for item in chosen)
    try:
        wheel.each("verify", range(number), work, lambda index: f"procedure {index + 1} of {number}")
    finally:  # what was seen is kept, whatever ended it
        for path in {item.path for item in chosen if evidence[item.primitive.id]}:
            there = [item for item in chosen if item.path == path and evidence[item.primitive.id]]
            write_evidence(path, {item.first_line: tuple(evidence[item.primitive.id]) for item in there})
        if record:
            _tidy(folder)
    return [_row(item, proof) for item in chosen for proof in seen[item.primitive.id]]


def _is_named(item: Written, names: Sequence[str]) -> bool:
    primitive = item.primitive
    return primitive.app in names or f"{primitive.app}.{primitive.ability}" in names


def _row(item: Written, proof: Proof) -> dict[str, Any]:
    return {
        "primitive": f"{item.primitive.app}.{item.primitive.ability}",
        "mode": proof.mode,
        "status": "passed" if proof.ok else "failed",
        "seconds": round(proof.t_end - proof.t_start, 1),
        "message": proof.message,
    }


def _evidence(proof: Proof, folder: Path, digest: str) -> Evidence:
    return Evidence(
        kind="demonstration",
        source=f"{proof.mode} on {digest}",
        t_start=round(proof.t_start, 2),
        t_end=round(proof.t_end, 2),
        frames=tuple(_keep(frame, folder) for frame in (proof.first, proof.last) if frame),
    )


def _tidy(folder: Path) -> None:
    """Remove pictures that no primitive refers to any more."""
    items = [item for path in sorted(folder.glob("*.yaml")) for item in read_primitives(path, evidence=False)]
    shown = {frame for item in items for evidence in item.primitive.evidence for frame in evidence.frames}
    for picture in (folder / "evidence").glob("*.jpg"):
        if picture.stem not in shown:
            picture.unlink()


def _keep(frame: Frame, folder: Path) -> str:
    """Store a small picture of a frame under primitives/evidence/; its name is its SHA-256."""
    height = round(frame.image.shape[0] * FRAME_WIDTH / frame.image.shape[1])
    small = cv2.resize(frame.image[:, :, ::-1], (FRAME_WIDTH, height), interpolation=cv2.INTER_AREA)
    _, encoded = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, FRAME_QUALITY])
    data = encoded.tobytes()
    name = hashlib.sha256(data).hexdigest()
    write_atomic(folder / "evidence" / f"{name}.jpg", data)
    return name
