"""Preflight: rows, pictures and megabytes a second, what each kind of check costs, and peak memory at two sizes; JSON on stdout."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from cuamaster.action_space import ACTION_SPACE_VERSION, CUAAction
from cuamaster.dialects import qwen
from cuamaster.exports.card import write_card
from cuamaster.exports.columns import SFT, schema
from cuamaster.exports.preflight import EXPORT_RULES, Rules, problems
from cuamaster.exports.preflight.personal import find_personal
from cuamaster.exports.sft import DIALECT, conversation
from cuamaster.exports.writer import write_rows
from cuamaster.records.record import canonical_json
from cuamaster.records.trajectory import Action, Observation, Step

_APPS = ("mousepad", "gnumeric", "pcmanfm", "lxterminal", "gimp", "firefox")
_DOMAINS = ("productivity", "creativity", "system-utilities", "software-development", "web")
_VERBS = ("open", "rename", "sort", "save", "delete", "copy", "print", "resize", "search for", "highlight")
_THINGS = (
    "the report",
    "column B",
    "the folder holiday",
    "the second slide",
    "all pictures",
    "the invoice of May",
    "the first paragraph",
)
_WHERE = ("in the home folder", "with the menu", "as draft.txt", "without closing the window", "for the whole document")


def main() -> None:
    """Measure two sizes, each in a process of its own so that the peaks of memory are its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=400, help="trajectories of the larger dataset; the smaller has a quarter"
    )
    parser.add_argument("--steps", type=int, default=12, help="screenshots of 1280x800 a trajectory, all different")
    parser.add_argument("--make", type=Path, help="only write the dataset to this folder")
    parser.add_argument("--part", type=int)
    args = parser.parse_args()
    if args.make:
        make(args.make, args.rows, args.steps)
        return
    if args.part:
        print(json.dumps(measure(args.part, args.steps)))
        return
    machine = {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    command = [sys.executable, __file__, "--steps", str(args.steps), "--part"]
    found = [
        json.loads(subprocess.run([*command, str(rows)], check=True, capture_output=True, text=True).stdout)
        for rows in (args.rows // 4, args.rows)
    ]
    print(json.dumps({"machine": machine, "preflight": found, "texts": texts()}, indent=2))


def measure(rows: int, steps: int) -> dict[str, float]:
    """Write a dataset, then check it as every export is checked and as a release is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process: its row groups would stand in the peak of memory of this one.
        command = [sys.executable, __file__, "--make", name, "--rows", str(rows), "--steps", str(steps)]
        subprocess.run(command, check=True)
        size = (folder / "sft.parquet").stat().st_size
        against = folder / "benchmark.txt"
        against.write_text(
            "\n".join(json.dumps({"instruction": _instruction(random.Random(-n))}) for n in range(1, 400))
        )
        told: dict[str, float] = {
            "rows": rows,
            "pictures": rows * steps,
            "file_mb": round(size / 1e6, 1),
            "peak_memory_before_mb": round(_peak_mb(), 1),
        }
        for part, rules in (("export", EXPORT_RULES), ("release", Rules(benchmarks=(against,)))):
            begun, spent = time.perf_counter(), time.process_time()
            blocking = sum(
                problem.level == "blocking"
                for problem in problems(folder, rules)
                if problem.check in EXPORT_RULES.checks
            )
            took, spent = time.perf_counter() - begun, time.process_time() - spent
            assert not blocking
            told |= {
                f"{part}_rows_per_s": round(rows / took, 1),
                f"{part}_rows_per_cpu_s": round(rows / spent, 1),
                f"{part}_pictures_per_s": round(rows * steps / took, 1),
                f"{part}_mb_per_s": round(size / 1e6 / took, 1),
                f"{part}_peak_memory_mb": round(_peak_mb(), 1),
            }
        begun = time.perf_counter()
        write_card(folder)
        return told | {"card_rows_per_s": round(rows / (time.perf_counter() - begun), 1)}


def texts() -> dict[str, float]:
    """How fast texts alone are read: distinct ones, so that nothing is remembered from before."""
    chance = random.Random(0)
    said = [f"{_instruction(chance)} Number {n}, at 10:{n % 60:02d}." for n in range(20_000)]
    begun = time.perf_counter()
    found = sum(bool(find_personal(text)) for text in said)
    took = time.perf_counter() - begun
    return {
        "texts_per_s": round(len(said) / took),
        "mb_per_s": round(sum(map(len, said)) / 1e6 / took, 2),
        "false_alarms": found,
    }


def make(folder: Path, rows: int, steps: int) -> None:
    """sft.parquet as the exporter would write it."""
    pictures = _pictures()
    write_rows(
        folder / "sft.parquet", schema(SFT), (_row(n, [next(pictures) for _ in range(steps)]) for n in range(rows))
    )


def _row(number: int, pictures: list[bytes]) -> dict[str, Any]:
    chance = random.Random(number)
    digests = [hashlib.sha256(data).hexdigest() for data in pictures]
    parts = chance.randint(1, 4)
    instruction = " Then ".join(_instruction(chance) for _ in range(parts))
    steps = tuple(_step(chance, digest, last=index == len(digests) - 1) for index, digest in enumerate(digests))
    messages = qwen.render_steps(steps, instruction=instruction, mode="gui")
    apps = chance.sample(_APPS, chance.randint(1, min(2, parts)))
    return dict.fromkeys(SFT) | {
        "id": f"episode-{number:016x}", "task_id": f"task-{number:016x}", "instruction": instruction,
        "messages": json.dumps(messages, ensure_ascii=False), "conversation": conversation(messages),
        "images": [{"bytes": data, "path": f"{digest}.png"} for data, digest in zip(pictures, digests, strict=True)],
        "tools_json": json.dumps(qwen.tools("gui"), ensure_ascii=False),
        "steps_json": canonical_json([step.model_dump(mode="json") for step in steps]), "dialect": DIALECT, "mode": "gui",
        "source": "collected", "policy": "replay", "proof": "verified", "reason": "", "round": 1, "n_steps": len(steps),
        "n_actions": len(steps), "n_rollbacks": chance.randint(0, 2), "K": parts, "N": len(apps), "apps": apps,
        "domain": chance.choice(_DOMAINS), "strategy": "sequential", "screen_w": 1280, "screen_h": 800, "lineage_json": "[]",
        "action_space_version": ACTION_SPACE_VERSION,
    }  # fmt: skip


def _instruction(chance: random.Random) -> str:
    return f"In {chance.choice(_APPS)}, {chance.choice(_VERBS)} {chance.choice(_THINGS)} {chance.choice(_WHERE)}."


def _step(chance: random.Random, digest: str, *, last: bool) -> Step:
    kinds = (
        CUAAction("mouse.click", {"x": chance.randint(0, 1000), "y": chance.randint(0, 1000)}),
        CUAAction("keyboard.type", {"text": _instruction(chance)}),
        CUAAction("keyboard.press", {"keys": ["ctrl", "s"]}),
    )
    action = CUAAction("finish", {"status": "success"}) if last else chance.choices(kinds, (6, 2, 2))[0]
    seen = Observation(screenshot=digest, width=1280, height=800)
    return Step(observation=seen, actions=(Action(action=action),), thought=f"Now {_instruction(chance)}")


def _pictures() -> Iterator[bytes]:
    """PNGs of about 60 kB like a desktop with two windows full of text, made different by a comment: decoding costs the same."""
    random_ = np.random.default_rng(0)
    bases = []
    for _ in range(8):
        picture = Image.new("RGB", (1280, 800), tuple(map(int, random_.integers(60, 200, 3))))
        draw = ImageDraw.Draw(picture)
        for left in (40, 660):
            draw.rectangle((left, 60, left + 580, 740), fill="white")
            for line in range(45):
                draw.text((left + 10, 70 + 14 * line), "".join(map(chr, random_.integers(97, 123, 80))), fill="black")
        data = io.BytesIO()
        picture.save(data, "PNG")
        bases.append(data.getvalue())
    number = 0
    while True:
        base = bases[number % len(bases)]
        content = b"tEXt" + b"Comment\x00" + str(number).encode()
        chunk = (len(content) - 4).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")
        yield base[:33] + chunk + base[33:]  # after the signature and IHDR
        number += 1


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
