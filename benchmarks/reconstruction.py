"""Compare reconstructed actions with a recording's ground truth: `python benchmarks/reconstruction.py --sets development held-out`.

Makes the recordings of those sets (benchmarks/recordings/make.py says how) and scores them; or name folders to score.
Rules were tuned on `development` (and, see cuamaster/samples/README.md, faults of `bundled` led to some); never on `held-out`.

A folder holds tutorial.mp4 and truth.json (see cuamaster/samples/record.py), and captions or none (then speech is recognized). The
whole chain runs as in the product: screen gate, transcript, mining by the rules annotator, reconstruction. Prints JSON.

An action counts as found when one of the same type was reconstructed within 1 s of the true time. Recall and precision are over actions;
`clicks_within_20` over found clicks; `typed_exact` over true typed texts; `invented` are actions outside every task span.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from _recorded import FRAMES, opened, screen_of, set_of

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
from cuamaster.adapters.transcribers.sidecar import Sidecar
from cuamaster.assets import samples_folder
from cuamaster.records.trajectory import Action, Trajectory
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.mine import mine
from cuamaster.seeding.reconstruct import reconstruct
from cuamaster.seeding.taxonomy import load
from cuamaster.settings import Settings
from cuamaster.vision.screen_view import ScreenFrames

DEFAULT_WINDOW = float(Settings.model_fields["trigger_window_s"].default)
SETS = ("bundled", "development", "held-out")
WITHIN_SECONDS = 1.0
WITHIN_POINTS = 20.0
FLOORS = {"recall": 0.8, "precision": 0.7, "clicks_within_20": 0.8, "typed_exact": 0.8}


def true_type(action: dict[str, Any]) -> str:
    """Truth type in the words of `found_type`."""
    return str(action["type"])


def found_type(action: Action) -> str:
    """click, right_click, double_click, type, key, scroll, drag."""
    kind, args = action.action.type, action.action.args
    if kind == "mouse.click":
        return "right_click" if args.get("button") == "right" else "double_click" if args.get("count") == 2 else "click"
    return {"keyboard.type": "type", "keyboard.press": "key", "mouse.scroll": "scroll", "mouse.drag": "drag"}.get(
        kind, kind
    )


def pair_up(truth: list[dict[str, Any]], found: list[Action]) -> list[tuple[dict[str, Any], Action]]:
    """Each true action with the nearest found one of its type within a second, each used once."""
    options = sorted(
        (abs(t["t_start"] - f.t_start), i, j)
        for i, t in enumerate(truth)
        for j, f in enumerate(found)
        if true_type(t) == found_type(f) and abs(t["t_start"] - f.t_start) <= WITHIN_SECONDS
    )
    used_truth: set[int] = set()
    used_found: set[int] = set()
    pairs = []
    for _, i, j in options:
        if i not in used_truth and j not in used_found:
            used_truth.add(i)
            used_found.add(j)
            pairs.append((truth[i], found[j]))
    return pairs


def point_error(truth: dict[str, Any], action: Action, size: tuple[int, int]) -> float:
    """Larger of the two coordinate errors, of 1000."""
    args = action.action.args
    return float(max(abs(args["x"] - truth["x"] * 1000 / size[0]), abs(args["y"] - truth["y"] * 1000 / size[1])))


def figures(truth: dict[str, Any], found: list[Action]) -> dict[str, Any]:
    """Recall, precision, points, texts, and invented actions of one recording."""
    actions = truth["actions"]
    pairs = pair_up(actions, found)
    clicks = [(t, f) for t, f in pairs if t["type"].endswith("click")]
    typed = [t for t in actions if t["type"] == "type"]
    exact = [t for t, f in pairs if t["type"] == "type" and f.action.args["text"] == t["text"]]
    quiet = truth.get("non_operations") or [[0.0, actions[0]["t_start"] - 1.0], [actions[-1]["t_end"] + 1.5, 1e9]]
    invented = [f for f in found if any(a < f.t_start < b for a, b in quiet)]
    matched = {id(f) for _, f in pairs}
    found_truth = {t["id"] for t, _ in pairs}
    return {
        "actions": len(actions),
        "reconstructed": len(found),
        "matched": len(pairs),
        "clicks": len(clicks),
        "typed": len(typed),
        "recall": round(len(pairs) / len(actions), 3),
        "precision": round(len(pairs) / len(found), 3) if found else 0.0,
        "clicks_within_20": round(
            sum(point_error(t, f, truth["size"]) <= WITHIN_POINTS for t, f in clicks) / len(clicks), 3
        )
        if clicks
        else 0.0,
        "typed_exact": round(len(exact) / len(typed), 3) if typed else 1.0,
        "invented": len(invented),
        "missed": [
            f"{t['t_start']:.1f} {t['type']} {t.get('text') or t.get('keys') or t.get('target')}"
            for t in actions
            if t["id"] not in found_truth
        ],
        "extra": [f"{f.t_start:.1f} {f.action.to_json()}" for f in found if id(f) not in matched],
    }


def pooled(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Figures of each set over all its actions."""
    sets: dict[str, dict[str, Any]] = {}
    for name in sorted({row["set"] for row in rows}):
        own = [row for row in rows if row["set"] == name]

        def share(figure: str, of: str, own: list[dict[str, Any]] = own) -> float:
            total = sum(row[of] for row in own)
            return round(sum(row[figure] * row[of] for row in own) / total, 3) if total else 0.0

        sets[name] = {
            "recordings": len(own),
            "actions": sum(row["actions"] for row in own),
            "recall": share("recall", "actions"),
            "precision": share("precision", "reconstructed"),
            "clicks_within_20": share("clicks_within_20", "clicks"),
            "typed_exact": share("typed_exact", "typed"),
            "invented": sum(row["invented"] for row in own),
        }
    return sets


def made(sets: list[str], out: Path, user: str) -> list[Path]:
    """Folders of the recordings of the sets; those that are missing are recorded first."""
    own = Path(__file__).resolve().parent / "recordings"
    folders = [samples_folder() / name for name in ("mousepad-notes", "pcmanfm-folders") if "bundled" in sets]
    for source in sorted(path.parent for path in own.glob("*/scenario.yaml")):
        if set_of(source) in sets:
            subprocess.run(
                [sys.executable, str(own / "make.py"), source.name, "--out", str(out), "--user", user],
                check=True,
                stdout=sys.stderr,
            )
            folders.append(out / source.name)
    return folders


def run(
    folder: Path, work: Path, *, window_s: float = DEFAULT_WINDOW, reader: RapidOcrReader | None = None
) -> tuple[dict[str, Any], list[TaskSegment], list[Trajectory]]:
    """One recording through the product's chain; figures, mined segments, trajectories."""
    began = time.monotonic()
    item, reader, annotator = opened(folder), reader or RapidOcrReader(), RulesAnnotator(load())
    view, reason = screen_of(item.media, reader)
    transcript = (Sidecar() if item.media.captions else FasterWhisper()).transcribe(item.media)
    if transcript is None:
        raise SystemExit(f"{folder}: neither captions nor speech")
    segments: list[TaskSegment] = []
    trajectories: list[Trajectory] = []
    if view is not None:
        segments, _ = mine(item.video, item.media, transcript, view, frames=FRAMES, annotator=annotator)
        for segment in segments:
            kept, _ = reconstruct(
                item.video, item.media, transcript, segment, frames=ScreenFrames(FRAMES, view), reader=reader, annotator=annotator,
                store=LocalStore(work / "blobs"), window_s=window_s,
            )  # fmt: skip
            trajectories.extend(kept)
    found = [action for trajectory in trajectories for step in trajectory.steps for action in step.actions]
    row = {
        "recording": item.name,
        "set": item.set,
        "gate": reason or "passed",
        "transcript": transcript.origin,
        "segments": len(segments),
        **figures(item.truth, found),
    }
    return {**row, "seconds": round(time.monotonic() - began, 1)}, segments, trajectories


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="recordings to score, each with its truth")
    parser.add_argument(
        "--sets", nargs="+", default=[], choices=SETS, help="make and score the recordings of these sets"
    )
    parser.add_argument("--user", default="user", help="who runs the applications while a recording is made")
    parser.add_argument("--work", type=Path, default=Path("workspace/bench"), help="where blobs and readings are kept")
    parser.add_argument("--window", type=float, default=DEFAULT_WINDOW, help="T of the pair lattice, seconds")
    parser.add_argument("--show", action="store_true", help="also print segments, actions and conditions on stderr")
    parser.add_argument("--floors", action="store_true", help="exit 1 when a recording is under a floor")
    arguments = parser.parse_args()
    reader = RapidOcrReader(arguments.work / "ocr")
    rows = []
    for folder in [*arguments.folders, *made(arguments.sets, arguments.work / "recordings", arguments.user)]:
        row, segments, trajectories = run(folder, arguments.work, window_s=arguments.window, reader=reader)
        rows.append(row)
        print(f"{row['recording']}: recall {row['recall']}, precision {row['precision']}", file=sys.stderr)
        if arguments.show:
            show(segments, trajectories)
    machine = {"cpus": os.cpu_count(), "platform": platform.platform(), "python": platform.python_version()}
    print(
        json.dumps(
            {
                "machine": machine,
                "within_seconds": WITHIN_SECONDS,
                "floors": FLOORS,
                "sets": pooled(rows),
                "recordings": rows,
            },
            indent=1,
        )
    )
    under = [row for row in rows if row["invented"] or any(row[name] < floor for name, floor in FLOORS.items())]
    return 1 if arguments.floors and under else 0


def show(segments: list[TaskSegment], trajectories: list[Trajectory]) -> None:
    """What was found, for a reader."""
    for segment in segments:
        print(
            f"segment {segment.t_start:.1f}-{segment.t_end:.1f} [{segment.app}] {segment.instruction}", file=sys.stderr
        )
    for trajectory in trajectories:
        for step in trajectory.steps:
            action = step.actions[0]
            print(
                f"  {action.t_start:7.2f} {action.confidence:.2f} [{step.observation.active_window}] {step.thought}  {action.action.to_json()}  <- {action.evidence}",
                file=sys.stderr,
            )
        print(f"  final [{trajectory.final.active_window}]", file=sys.stderr)
        print(
            f"  E: {[c.model_dump(exclude_defaults=True) | {'kind': c.kind} for c in trajectory.start_state]}",
            file=sys.stderr,
        )
        print(f"  V: {trajectory.verifier.model_dump() if trajectory.verifier else None}", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
