"""Rows a second of sketch, dedup, second reading and screen over generated candidates, near-duplicate recall and precision beside datasketch and rensa.

    python benchmarks/sift.py                          # 10^4, 10^5, 10^6 rows and the libraries on 50,000; JSON on stdout
    python benchmarks/sift.py --rows 10000000 --libraries 0
    python benchmarks/sift.py --readings 0             # without the second reading

Each size runs the stages themselves on a workspace, in a process of its own, so that the peak of memory is its own. Wall time means
something on a machine that does nothing else: CPU seconds and the load are told beside it. datasketch and rensa are tools of the
benchmark only (`pip install datasketch rensa`); without them their part says so.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).parent))

from _candidates import candidates

from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.catalog import find_duplicates
from cuamaster.records.video import Reading, Video
from cuamaster.seeding.same import same_recordings
from cuamaster.seeding.screen import ScreenRules
from cuamaster.seeding.sketch import BANDS, ROWS, band_names, mixed_bands, sketch, title_bands
from cuamaster.seeding.taxonomy import load
from cuamaster.seeding.titles import normalized_title, slots
from cuamaster.stages import in_turn, sifting
from cuamaster.stages.asking import read_again
from cuamaster.tables import RoundFolder, Workspace, schema_of, table_from

PART_ROWS = 50_000


def main() -> None:
    """Every size and the libraries, one process each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--libraries", type=int, default=50_000, help="rows for the comparison; 0: none")
    parser.add_argument(
        "--readings", type=int, default=6000, help="titles that are read again, as CUAMASTER_ROUND_READINGS"
    )
    parser.add_argument("--one", choices=("stages", "libraries"))
    args = parser.parse_args()
    if args.one:
        print(
            json.dumps(
                stages(args.rows[0], args.workers, args.readings) if args.one == "stages" else libraries(args.rows[0])
            )
        )
        return
    machine = {
        "cpus": os.cpu_count(), "machine": platform.machine(), "system": platform.platform(), "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }  # fmt: skip
    found = {str(rows): _own_process("stages", rows, args.workers, args.readings) for rows in args.rows}
    beside = _own_process("libraries", args.libraries, 1, 0) if args.libraries else None
    print(
        json.dumps(
            {
                "machine": machine,
                "workers": args.workers,
                "readings": args.readings,
                "rows": found,
                "libraries": beside,
            },
            indent=2,
        )
    )


def _own_process(part: str, rows: int, workers: int, readings: int) -> Any:
    command = [
        sys.executable,
        __file__,
        "--one",
        part,
        "--rows",
        str(rows),
        "--workers",
        str(workers),
        "--readings",
        str(readings),
    ]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def stages(rows: int, workers: int, readings: int) -> dict[str, Any]:
    """The stages over `rows` candidates in Parquet, at most `readings` of which are read again."""
    taxonomy, rules, today = load(), ScreenRules(), "2026-11-30"
    read: dict[str, Reading] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Workspace(Path(place)).round(1)
        truth = fill(folder, candidates(rows, taxonomy))
        before = _cpu()
        laps: dict[str, Any] = {}

        def lap(name: str, work: Callable[[], None]) -> None:
            wall, cpu = time.perf_counter(), _cpu()
            work()
            seconds = time.perf_counter() - wall
            laps[name] = {
                "seconds": round(seconds, 2),
                "cpu_seconds": round(_cpu() - cpu, 2),
                "rows_per_s": round(rows / seconds),
            }

        lap("sketch", lambda: sifting.sketch_all(folder, in_turn, workers))
        lap("dedup", lambda: sifting.drop_duplicates(folder, in_turn))
        lap("readings", lambda: read.update(
            read_again(folder, taxonomy, rules, E5Embedder(), in_turn, most=readings, today=today) if readings else {}
        ))  # fmt: skip
        lap("screen", lambda: sifting.screen_all(folder, taxonomy, rules, in_turn, workers, today, read))
        laps["readings"]["read"] = len(read)
        seconds = sum(item["seconds"] for item in laps.values())
        counts = {name: folder.stage(name).manifest() for name in ("search", "discover", "screen")}
        return {
            **laps, "seconds": round(seconds, 2), "cpu_seconds": round(_cpu() - before, 2), "rows_per_s": round(rows / seconds),
            "peak_mb": round(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024),
            "kept": {name: manifest.rows("kept") for name, manifest in counts.items() if manifest},
            "dropped": dict(Counter(item.reason for name in ("discover", "screen") for item in folder.stage(name).dropped())) if rows <= 100_000 else None,
            "near_duplicates": _quality(folder, truth),
        }  # fmt: skip


def _cpu() -> float:
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def fill(folder: RoundFolder, rows: Iterable[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """Write the candidates as `search` would; returns (id, recording, how it was made) of each."""
    truth: list[tuple[str, int, str]] = []
    stage, schema = folder.stage("search"), schema_of(Video)
    iterator = iter(rows)
    for number in itertools.count():
        part = list(itertools.islice(iterator, PART_ROWS))
        if not part:
            break
        truth += [(row["id"], row["truth"], row["planted"]) for row in part]
        stage.write_tables(
            f"part-{number:05d}",
            pa.table({name: [row.get(name) for row in part] for name in schema.names}, schema=schema),
        )
    stage.close("generated")
    return truth


def _quality(folder: RoundFolder, truth: Sequence[tuple[str, int, str]]) -> dict[str, Any]:
    """Planted copies that are gone, and drops as near-duplicates that were planted; `same_title` drops are the rule, not a find."""
    recording = {row[0]: row[1] for row in truth}
    sizes = Counter(row[1] for row in truth)
    stage = folder.stage("discover")
    left: Counter[int] = Counter()
    for path in stage.files("kept"):
        left.update(recording[item] for item in pa.parquet.read_table(path, columns=["id"])["id"].to_pylist())
    planted = sum(size - 1 for size in sizes.values())
    missed = sum(max(0, count - 1) for count in left.values())
    right: Counter[tuple[str, bool]] = Counter()
    for item in stage.dropped():
        first = item.detail.split(": same as ", 1)[1].split(" ", 1)[0]
        right[item.reason, recording[item.item_id] == recording[first]] += 1
    return {
        "planted": planted, "recall": round(1 - missed / max(1, planted), 4),
        "precision": {
            reason: round(right[reason, True] / max(1, right[reason, True] + right[reason, False]), 4)
            for reason in ("duplicate-source", "duplicate-title", "near-duplicate")
        },
    }  # fmt: skip


def libraries(rows: int) -> dict[str, Any]:
    """Near-duplicates of the same titles by four means, CPU time in one process: titles are normalized and exact copies gone before.

    `pairs` are what an index brings together; each is then judged by the same function with the same facts (slots, durations,
    descriptions). `signatures` is the part that a library could do for our own: titles to MinHash values in numpy.
    """
    keys: dict[str, dict[str, Any]] = {}
    for row in candidates(rows, load()):
        keys.setdefault(normalized_title(row["title"], uploader=row["uploader"]), row)
    titles = [key for key in keys if key]
    chosen = [keys[title] for title in titles]
    columns = {name: [row[name] for row in chosen] for name in sifting.SKETCHED}
    seen = sketch(columns, first_row=0) | {"key": titles}
    truth = [row["truth"] for row in chosen]
    found: dict[str, Any] = {"titles": len(titles), "bands": BANDS, "rows": ROWS, "signatures": _signatures(titles)}
    for name, work in (("cuamaster", _ours), ("rensa", _rensa), ("datasketch", _datasketch)):
        begun = time.process_time()
        try:
            count, pairs = work(titles, seen)
        except ImportError as exc:
            found[name] = f"not installed: {exc.name}"
            continue
        seconds = time.process_time() - begun
        rate = {"cpu_seconds": round(seconds, 3), "titles_per_s": round(len(titles) / seconds), "pairs": count}
        found[name] = {**rate, **_pairs_quality(pairs, truth)}
    ours = found["cuamaster"]["titles_per_s"]
    others = {name: found[name] for name in ("rensa", "datasketch") if isinstance(found[name], dict)}
    found["times_as_fast_as"] = {name: round(ours / item["titles_per_s"], 2) for name, item in others.items()}
    return found


def _signatures(titles: Sequence[str]) -> dict[str, Any]:
    begun = time.process_time()
    title_bands(titles)
    found = {"cuamaster_cpu_seconds": round(time.process_time() - begun, 3)}
    try:
        from rensa import RMinHash
    except ImportError:
        return found
    begun = time.process_time()
    np.array(RMinHash.digest_matrix_from_token_sets(_shingled(titles), BANDS * ROWS, 1).to_rows(), np.uint32)
    return found | {"rensa_cpu_seconds": round(time.process_time() - begun, 3)}


def _pairs_quality(pairs: Iterable[tuple[int, int]], truth: Sequence[int]) -> dict[str, Any]:
    """A planted copy counts as found when a judged pair links it to another of its recording."""
    linked: set[int] = set()
    right = count = 0
    for a, b in pairs:
        count += 1
        if truth[a] == truth[b]:
            right += 1
            linked |= {a, b}
    groups = Counter(truth)
    wanted = sum(groups[item] > 1 for item in truth)
    return {
        "linked": count, "recall": round(len(linked) / max(1, wanted), 4), "precision": round(right / max(1, count), 4),
    }  # fmt: skip


Found = tuple[int, list[tuple[int, int]]]
"""How many pairs an index brought together, and those judged to be one recording."""


def _ours(titles: Sequence[str], seen: dict[str, Any]) -> Found:
    """Bands, then one pass in SQL that reads them from a file: what the stage does."""
    table = table_from(seen | dict(zip(band_names(), mixed_bands(titles).T, strict=True)))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "sketch.parquet"
        pa.parquet.write_table(table, path)
        gone = find_duplicates([path], lambda pairs: same_recordings(**vars(pairs)), scratch=Path(place))
    return gone.pairs, list(zip(gone.first.tolist(), gone.row.tolist(), strict=True))


def _judged(pairs: Iterable[tuple[int, int]], titles: Sequence[str], seen: dict[str, Any]) -> Found:
    """The same judgement for what a library's index brings together."""
    table = np.array(list(set(pairs)), np.int64).reshape(-1, 2)
    part = [slots(title) for title in titles]
    durations = seen["duration"]
    one, two = durations[table[:, 0]], durations[table[:, 1]]
    close = (one < 0) | (two < 0) | (np.abs(one - two) <= np.maximum(2, 0.1 * one))
    kept = [(a, b) for a, b in table[close].tolist() if part[a] == part[b]]
    left, right = [a for a, _ in kept], [b for _, b in kept]
    owner = seen["owner"]
    verdict = same_recordings(
        [titles[a] for a in left], [titles[b] for b in right], [seen["about"][a] for a in left], [seen["about"][b] for b in right],
        durations[left], durations[right], (owner[left] == owner[right]) & (owner[left] != 0),
    )  # fmt: skip
    return len(table), [pair for pair, same in zip(kept, verdict.tolist(), strict=True) if same]


def _shingled(titles: Sequence[str]) -> list[list[str]]:
    return [
        [text[at : at + 3] for at in range(max(1, len(text) - 2))]
        for text in (title.replace(" ", "") for title in titles)
    ]


def _datasketch(titles: Sequence[str], seen: dict[str, Any]) -> Found:
    from datasketch import MinHash, MinHashLSH

    index, pairs = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS)), []
    for number, grams in enumerate(_shingled(titles)):
        one = MinHash(num_perm=BANDS * ROWS)
        one.update_batch([gram.encode() for gram in grams])
        pairs += [(other, number) for other in index.query(one)]
        index.insert(number, one)
    return _judged(pairs, titles, seen)


def _rensa(titles: Sequence[str], seen: dict[str, Any]) -> Found:
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=0.7, num_perm=BANDS * ROWS, num_bands=BANDS)
    sketches = RMinHash.from_token_sets(_shingled(titles), num_perm=BANDS * ROWS, seed=1)
    index.insert_many(sketches)
    pairs = (
        (other, number) for number, found in enumerate(index.query_all(sketches)) for other in found if other < number
    )
    return _judged(pairs, titles, seen)


if __name__ == "__main__":
    main()
