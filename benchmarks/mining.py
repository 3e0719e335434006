"""How well the rules annotator finds tasks: `python benchmarks/mining.py --sets development held-out [FOLDER...]` prints JSON.

Makes the recordings of those sets of benchmarks/tutorials (benchmarks/recordings/make.py says how) and scores them; or name folders, each
with tutorial.mp4 and truth.json (see cuamaster/samples/record.py). The chain is the product's: the screen gate; captions where there are some, else
recognized speech; a reel of frames; mining; the check of what was mined. `--no-frames` mines from words alone, `--both` reads recordings with captions
by ear too. `--cover` puts a presenter's camera over the whole picture wherever no task is shown (but for the second before one and after one).

A true task and a mined one are a pair when their spans overlap by at least half of their union. `boundary_*` are the distances of starts and ends
of pairs, seconds. `whole` are tasks whose actions all lie in one mined span that holds no other task's. `left_in` is the share of the seconds
of each kind of talk (truth.json's `parts`) that mined spans hold. `words` is the share of the content words of the true instruction that the
mined one has, over pairs; `start_state` the pairs for which it is known whether the application was there and whether the task goes on
from the one before. An operation counts as heard when one of its kind is said between 8 s before and 1 s after the true action.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from _recorded import FRAMES, opened, screen_of, set_of
from footage.cover import cover

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
from cuamaster.adapters.transcribers.sidecar import Sidecar
from cuamaster.ports import Annotator, ScreenReader
from cuamaster.records.speech import operations, words_of
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.mine import check_segments, mine
from cuamaster.seeding.taxonomy import load

HERE = Path(__file__).resolve().parent
TUTORIALS = HERE / "tutorials"
SETS = ("development", "held-out")
PAIR_OVERLAP = 0.5
CLOSE_OVERLAP = 0.7
EARLY_SECONDS, LATE_SECONDS = 8.0, 1.0
_STOP = frozenset(
    [
        "the",
        "and",
        "with",
        "its",
        "from",
        "for",
        "into",
        "of",
        "to",
        "in",
        "on",
        "it",
        "at",
        "up",
        "is",
        "are",
        "a",
        "an",
        "y",
        "la",
        "el",
        "en",
        "de",
        "los",
        "las",
        "una",
        "con",
        "und",
        "den",
        "die",
        "das",
        "der",
        "in",
        "im",
        "wieder",
        "ein",
    ]
)


def overlap(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Intersection over union of two spans."""
    shared = max(0.0, min(one[1], two[1]) - max(one[0], two[0]))
    return shared / (max(one[1], two[1]) - min(one[0], two[0]))


def true_tasks(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """The recorded tasks; a recording without `tasks` holds one, from a second before the first action to a second after the last."""
    actions = truth["actions"]
    return truth.get("tasks") or [
        {"t_start": actions[0]["t_start"] - 1, "t_end": actions[-1]["t_end"] + 1, "instruction": ""}
    ]


def pair_up(tasks: Sequence[dict[str, Any]], segments: Sequence[TaskSegment]) -> list[tuple[int, int]]:
    """(task, segment) places, best overlaps first, each used once."""
    options = sorted(
        (-overlap((task["t_start"], task["t_end"]), (item.t_start, item.t_end)), i, j)
        for i, task in enumerate(tasks)
        for j, item in enumerate(segments)
    )
    pairs: list[tuple[int, int]] = []
    for score, i, j in options:
        if -score >= PAIR_OVERLAP and all(i != a and j != b for a, b in pairs):
            pairs.append((i, j))
    return sorted(pairs)


def heard(transcript: Transcript, truth: dict[str, Any]) -> tuple[int, int]:
    """(true actions that are said, operations said)."""
    said = operations(words_of(transcript), transcript.language)
    used: set[int] = set()
    for action in truth["actions"]:
        for index, item in enumerate(said):
            near = action["t_start"] - EARLY_SECONDS <= item.t <= action["t_start"] + LATE_SECONDS
            if index not in used and near and item.kind == action["type"]:
                used.add(index)
                break
    return len(used), len(said)


def content_words(text: str) -> set[str]:
    """Beginnings of the words that say something: four letters, which inflection leaves alone."""
    return {word[:4] for word in re.findall(r"[\w.]+", text.lower()) if word not in _STOP}


def whole(tasks: Sequence[dict[str, Any]], segments: Sequence[TaskSegment], actions: Sequence[dict[str, Any]]) -> int:
    """Tasks that one segment holds entirely and alone."""

    def of(span: tuple[float, float]) -> set[int]:
        return {action["id"] for action in actions if span[0] <= action["t_start"] <= span[1]}

    mined = [of((item.t_start, item.t_end)) for item in segments]
    return sum(of((task["t_start"], task["t_end"])) in mined for task in tasks)


def figures(truth: dict[str, Any], segments: Sequence[TaskSegment], transcript: Transcript) -> dict[str, Any]:
    """Tasks and operations found, against the truth of one recording."""
    tasks, spans = true_tasks(truth), [(item.t_start, item.t_end) for item in segments]
    pairs = [(tasks[i], segments[j]) for i, j in pair_up(tasks, segments)]
    best = [max((overlap((t["t_start"], t["t_end"]), span) for span in spans), default=0.0) for t in tasks]
    operations_heard, said = heard(transcript, truth)

    def inside(a: float, b: float) -> float:
        return sum(max(0.0, min(b, d) - max(a, c)) for c, d in spans)

    parts: dict[str, list[float]] = {}
    for part in truth.get("parts", []):
        row = parts.setdefault(part["kind"], [0.0, 0.0])
        row[0] += inside(part["t_start"], part["t_end"])
        row[1] += part["t_end"] - part["t_start"]
    return {
        "tasks": len(tasks),
        "mined": len(spans),
        "paired": len(pairs),
        "close": sum(value >= CLOSE_OVERLAP for value in best),
        "whole": whole(tasks, segments, truth["actions"]),
        "mean_overlap": round(sum(best) / len(best), 3),
        "start_errors": [round(item.t_start - task["t_start"], 2) for task, item in pairs],
        "end_errors": [round(item.t_end - task["t_end"], 2) for task, item in pairs],
        "quiet_seconds_mined": round(sum(inside(a, b) for a, b in truth.get("non_operations", [])), 2),
        "parts": {kind: [round(value, 2) for value in row] for kind, row in sorted(parts.items())},
        "app_right": sum(item.app == task["app"] for task, item in pairs if "app" in task),
        "words": [_words(task["instruction"], item.instruction) for task, item in pairs],
        "start_state_right": sum(_starts_right(task, item) for task, item in pairs),
        "operation_recall": round(operations_heard / len(truth["actions"]), 3),
        "operation_precision": round(operations_heard / said, 3) if said else 0.0,
        "segments": [f"{item.t_start:.1f}-{item.t_end:.1f} [{item.app}] {item.instruction}" for item in segments],
        "truth": [f"{t['t_start']:.1f}-{t['t_end']:.1f} [{t.get('app', '')}] {t['instruction']}" for t in tasks],
    }


def _words(true: str, mined: str) -> float:
    wanted = content_words(true)
    return round(len(wanted & content_words(mined)) / len(wanted), 3) if wanted else 1.0


def _starts_right(task: dict[str, Any], item: TaskSegment) -> bool:
    running = any(c.kind == "app.running" and c.app == item.app for c in item.start_state)
    return running == task.get("running", True) and item.continues == task.get("continues", False)


def pooled(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures over all tasks of some recordings."""
    errors = [abs(value) for row in rows for value in row["start_errors"] + row["end_errors"]]
    total = {name: sum(row[name] for row in rows) for name in ("tasks", "mined", "paired", "close", "whole")}
    words = [value for row in rows for value in row["words"]]
    parts: dict[str, list[float]] = {}
    for row in rows:
        for kind, (left, seconds) in row["parts"].items():
            known = parts.setdefault(kind, [0.0, 0.0])
            parts[kind] = [known[0] + left, known[1] + seconds]
    ranked = sorted(errors)
    return {
        "recordings": len(rows),
        **total,
        "recall": _share(total["paired"], total["tasks"]),
        "precision": _share(total["paired"], total["mined"]),
        "whole_share": _share(total["whole"], total["tasks"]),
        "boundary_median_s": round(statistics.median(errors), 2) if errors else None,
        "boundary_p90_s": ranked[min(len(ranked) - 1, int(0.9 * len(ranked)))] if ranked else None,
        "left_in": {kind: _share(left, seconds) for kind, (left, seconds) in sorted(parts.items())},
        "left_in_all": _share(sum(row[0] for row in parts.values()), sum(row[1] for row in parts.values())),
        "app_right": _share(sum(row["app_right"] for row in rows), total["paired"]),
        "words": round(sum(words) / len(words), 3) if words else 0.0,
        "start_state_right": _share(sum(row["start_state_right"] for row in rows), total["paired"]),
    }


def _share(part: float, whole_: float) -> float:
    return round(part / whole_, 3) if whole_ else 0.0


def run(
    folder: Path, annotator: Annotator, *, reader: ScreenReader, use_frames: bool = True, both: bool = False
) -> list[dict[str, Any]]:
    """One recording through gate, transcript, mining and check; two rows if it is read by captions and by ear."""
    item = opened(folder)
    began = time.monotonic()
    view, reason = screen_of(item.media, reader)
    gate_s = time.monotonic() - began
    rows = []
    for transcriber in (Sidecar(), FasterWhisper()):
        if rows and not both:
            break
        began = time.monotonic()
        transcript = transcriber.transcribe(item.media, prompt=item.video.title)
        if transcript is None:
            continue
        listened = time.monotonic()
        if view is None:
            segments, dropped = [], [reason]
        elif use_frames:
            segments, lost = mine(item.video, item.media, transcript, view, frames=FRAMES, annotator=annotator)
            dropped = [one.reason for one in lost]
        else:
            segments, lost = check_segments(
                annotator.mine(item.video, transcript, []), transcript, item.media.info.duration
            )
            dropped = [one.reason for one in lost]
        rows.append(
            {
                "recording": item.name, "set": item.set, "transcript": transcript.origin, "language": transcript.language,
                "trust": transcript.trust, "seconds_of_video": item.media.info.duration, "screen_share": view.share if view else 0.0,
                **figures(item.truth, segments, transcript), "dropped": dropped,
                "gate_s": round(gate_s, 1), "listen_s": round(listened - began, 1), "mine_s": round(time.monotonic() - listened, 1),
            }
        )  # fmt: skip
    return rows


def made(sets: Sequence[str], out: Path, user: str, first_display: int) -> list[Path]:
    """Folders of the recordings of the sets; those that are missing are recorded first."""
    names = [
        source.parent.name for source in sorted(TUTORIALS.glob("*/scenario.yaml")) if set_of(source.parent) in sets
    ]
    if names:
        command = [
            sys.executable,
            str(HERE / "recordings" / "make.py"),
            *names,
            "--scenarios",
            str(TUTORIALS),
            "--out",
            str(out),
        ]
        command += ["--user", user, "--first-display", str(first_display)]
        subprocess.run(command, check=True, stdout=sys.stderr)
    return [out / name for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--sets", nargs="+", default=[], choices=SETS, help="make and score the recordings of these sets"
    )
    parser.add_argument("--user", default="user", help="who runs the applications while a recording is made")
    parser.add_argument("--first-display", type=int, default=120, help="X display numbers to take, from here on")
    parser.add_argument("--work", type=Path, default=Path("workspace/bench"), help="where recordings are kept")
    parser.add_argument("--no-frames", action="store_true", help="mine from words alone")
    parser.add_argument("--cover", action="store_true", help="with a presenter in place of all that is no task")
    parser.add_argument("--both", action="store_true", help="read recordings that have captions by ear as well")
    arguments = parser.parse_args()
    annotator, reader = RulesAnnotator(load()), RapidOcrReader(arguments.work / "ocr")
    folders = [
        *arguments.folders,
        *made(arguments.sets, arguments.work / "tutorials", arguments.user, arguments.first_display),
    ]
    if arguments.cover:
        folders = [cover(folder, arguments.work / "covered") for folder in folders]
    rows = []
    for folder in folders:
        rows += run(folder, annotator, reader=reader, use_frames=not arguments.no_frames, both=arguments.both)
        print(f"{folder.name}: {rows[-1]['paired']} of {rows[-1]['tasks']}, {rows[-1]['mined']} mined", file=sys.stderr)
    print(json.dumps(report(rows, frames=not arguments.no_frames), indent=1, ensure_ascii=False))
    return 0


def report(rows: Sequence[dict[str, Any]], *, frames: bool) -> dict[str, Any]:
    """All figures, by set and by recording, with the machine's description."""
    machine = {"cpus": os.cpu_count(), "platform": platform.platform(), "python": platform.python_version()}
    sets = {name: pooled([row for row in rows if row["set"] == name]) for name in sorted({row["set"] for row in rows})}
    return {"machine": machine, "pair_overlap": PAIR_OVERLAP, "frames": frames, "sets": sets, "recordings": list(rows)}


if __name__ == "__main__":
    raise SystemExit(main())
