"""What providers cost besides the network: entries of lists and feeds a second, turns of sites a second, rulings; JSON on stdout."""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

from cuamaster.adapters.videos.faults import ruling_of
from cuamaster.adapters.videos.feeds import parse_feed
from cuamaster.adapters.videos.metadata import video_from_info
from cuamaster.adapters.videos.pace import Pace
from cuamaster.adapters.videos.sites import SiteTable
from cuamaster.adapters.videos.ytdlp import Downloads, YtdlpVideos
from cuamaster.records.video import Query

SAID = "[youtube] a: Something that no row of the table knows, with https://x.org/a/long/address?and=more in it"


def main() -> None:
    """Measure all parts; times are of the process, walls where several take part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=5000, help="entries of the list and the feed")
    parser.add_argument("--turns", type=int, default=2000, help="turns taken in all")
    args = parser.parse_args()
    machine = {"cpus": os.cpu_count(), "system": platform.platform(), "python": platform.python_version(), "load": os.getloadavg()[0]}  # fmt: skip
    print(json.dumps({"machine": machine, **measure(args.entries, args.turns)}, indent=2))


def measure(entries: int, turns: int) -> dict[str, float]:
    """Figures by name; rates are a second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "search_results_to_records": _rate(entries, lambda: [_record(n) for n in range(entries)]),
            "rulings": _rate(entries, lambda: [ruling_of(SAID) for _ in range(entries)]),
            "feed_entries": _rate(entries, lambda: parse_feed(_feed(entries, "https://x.org"), "https://x.org/feed.xml")),
            "list_entries_by_ytdlp": _listing(folder, entries),
        }  # fmt: skip
        for processes in (1, 4):
            table, wall = folder / f"{processes}.sqlite", time.perf_counter()
            with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
                list(
                    pool.map(_turns, [table] * processes, [0] * processes)
                )  # the start of the processes is not counted
                wall = time.perf_counter()
                list(pool.map(_turns, [table] * processes, [turns // processes] * processes))
            found[f"turns_of_{processes}_processes"] = round(turns / (time.perf_counter() - wall), 1)
    return found


def _rate(count: int, work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return round(count / max(time.process_time() - begun, 1e-6), 1)


def _record(number: int) -> object:
    entry = {
        "id": f"id{number}", "title": f"GIMP tutorial {number}: how to cut out a picture", "duration": 300.0 + number, "channel": "Ann",
        "view_count": number, "description": "In this video ... " * 8, "live_status": None, "timestamp": 1_700_000_000 + number,
    }  # fmt: skip
    return video_from_info(
        entry, source="youtube", source_id=f"id{number}", url=f"https://www.youtube.com/watch?v={number}"
    )


def _feed(entries: int, base: str) -> bytes:
    items = "".join(
        f"<item><guid>{n}</guid><title>GIMP {n}</title><link>{base}/{n}.html</link></item>" for n in range(entries)
    )
    return f"<rss><channel>{items}</channel></rss>".encode()


def _listing(folder: Path, entries: int) -> float:
    """A list of pages that no extractor claims: each address is compared with all of yt-dlp's patterns."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    (folder / "feed.xml").write_bytes(_feed(entries, base))
    pace = Pace(SiteTable(folder / "sites.sqlite"), {"*": 0.0})
    query = Query(text="", app="", provider="lists", limit=entries)
    list(YtdlpVideos(Downloads(pace), address=f"{base}/feed.xml").search(query.model_copy(update={"limit": 1})))
    rate = _rate(entries, lambda: list(YtdlpVideos(Downloads(pace), address=f"{base}/feed.xml").search(query)))
    server.shutdown()
    server.server_close()
    return rate


def _turns(table: Path, count: int) -> None:
    states = SiteTable(table)
    for number in range(count):
        states.claim("youtube.com", 0.0, 1000.0 + number)


if __name__ == "__main__":
    main()
