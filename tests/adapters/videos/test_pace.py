"""Sites are asked in turns by all processes of a machine, left alone after a refusal, and asked again when their time has come."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cuamaster.adapters.videos.faults import Ruling, ruling_of
from cuamaster.adapters.videos.pace import LONGEST, TRIES, Pace, rest_seconds, retry_after
from cuamaster.adapters.videos.sites import SiteTable, site_of
from cuamaster.errors import IntegrityError, MediaError, SourceUnavailable, StoreUnwritable


class Time:
    """A clock that only waiting moves."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now, self.waits = now, list[float]()

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pace(tmp_path: Path, time: Time) -> Callable[..., Pace]:
    """Paces of other processes: each has its own connection to the same file."""
    return lambda **gaps: Pace(
        SiteTable(tmp_path / "cache" / "sites.sqlite"), gaps, clock=lambda: time.now, chance=lambda: 0.5, wait=time.wait
    )


def test_turns_are_spread_with_jitter_and_shared(pace: Callable[..., Pace], time: Time) -> None:
    one, two = pace(), pace()
    for owner in (one, two, one):
        owner.turn("youtube.com")
    two.turn("vimeo.com")
    assert time.waits == [1.5, 1.5], "the first is free, and another site is asked at once"
    one.turn("youtube.com", requests=10)
    two.turn("youtube.com")
    assert time.waits[2:] == [1.5, 15.0], "a download takes the place of ten requests"
    fast = pace(**{"youtube.com": 0.0, "*": 7.0})
    fast.turn("slow.org")
    fast.turn("slow.org")
    assert time.waits[-1] == pytest.approx(10.5)


def test_threads_and_processes_get_turns_of_their_own(tmp_path: Path) -> None:
    table = SiteTable(tmp_path / "sites.sqlite")
    turns: list[float] = []

    def ask() -> None:
        turns.extend(table.claim("x.org", 1.0, 100.0)[0] for _ in range(10))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    script = "import sys; from pathlib import Path; from cuamaster.adapters.videos.sites import SiteTable; print(SiteTable(Path(sys.argv[1])).claim('x.org', 1.0, 100.0)[0])"
    other = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "sites.sqlite")], capture_output=True, text=True, check=True
    )
    assert sorted(turns) == [100.0 + n for n in range(40)] and float(other.stdout) == 140.0


def test_a_site_that_refused_is_left_alone_until_its_time_also_after_a_restart(
    pace: Callable[..., Pace], time: Time
) -> None:
    fault = pace().refused("youtube.com", "rate-limited", "it answers 429", "120")
    assert (fault.site, fault.until, fault.reason) == ("youtube.com", time.now + 132, "rate-limited")
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match=r"youtube\.com is left alone until 2027-"):
            pace().turn("youtube.com")
    pace().turn("bilibili.com")
    assert time.waits == [], "nobody waits, the others go on"
    time.now += 133
    pace().turn("youtube.com")


def test_refusals_in_a_row_double_the_rest_and_an_answer_ends_the_row(pace: Callable[..., Pace], time: Time) -> None:
    def refused() -> float:
        fault = pace().refused("x.org", "rate-limited", "no")
        assert fault.until is not None
        rest, time.now = fault.until - time.now, fault.until + 1
        return rest

    assert [refused(), refused(), refused()] == [330, 660, 1320]
    pace().answered("x.org")
    assert refused() == 330


def test_requests_under_way_when_a_site_refuses_are_one_refusal(pace: Callable[..., Pace]) -> None:
    first = pace().refused("x.org", "rate-limited", "no")
    assert pace().refused("x.org", "rate-limited", "no").until == first.until


@pytest.mark.parametrize("strikes", [0, 1, 5, 1000])
@pytest.mark.parametrize(
    "reason", ["rate-limited", "bot-check", "blocked", "server-error", "unreachable", "unheard-of"]
)
def test_no_rest_is_endless(reason: str, strikes: int) -> None:
    for wish in (None, 0.0, 5.0, 1e12):
        seconds = rest_seconds(reason, strikes, wish, random.Random(1).random())
        assert 1 <= seconds <= LONGEST * 1.2
    assert rest_seconds("bot-check", 0, None, 0.0) == 3600 and rest_seconds("rate-limited", 2, 60.0, 0.0) == 1200


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("120", 120.0), (" 7 ", 7.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 60.0), ("Wed, 21 Oct 2020 07:28:00 GMT", 0.0),
     (None, None), ("", None), ("soon", None), ("-5", None), ("٣", None), ("9" * 400, 999999999.0)],
)  # fmt: skip
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, 1792567620.0) == seconds


def test_what_nobody_can_explain_is_tried_a_few_times(pace: Callable[..., Pace], time: Time) -> None:
    strange = ruling_of("Something entirely new")
    for _ in range(TRIES - 1):
        fault = pace().judged("https://x/1", "x", strange, "new")
        assert isinstance(fault, SourceUnavailable) and fault.site is None and fault.until == time.now + 45
    last = pace().judged("https://x/1", "x", strange, "new")
    assert isinstance(last, MediaError) and last.reason == "extractor-error" and "3 times" in str(last)
    assert isinstance(pace().judged("https://x/2", "x", strange, "new"), SourceUnavailable)


def test_an_outage_of_a_site_is_not_counted_against_its_videos(pace: Callable[..., Pace], time: Time) -> None:
    down = ruling_of("HTTP Error 503: down")
    for number in range(50):
        fault = pace().judged(f"https://x/{number % 3}", "x", down, "down")
        assert isinstance(fault, SourceUnavailable) and fault.site == "x" and fault.until is not None
        time.now = fault.until + 1


def test_a_video_that_fails_while_its_site_serves_others_is_given_up(pace: Callable[..., Pace], time: Time) -> None:
    seen = []
    for _ in range(TRIES):
        fault = pace().judged("https://x/1", "x", ruling_of("HTTP Error 500: oops"), "oops")
        seen.append(type(fault))
        pace().answered("x")
        time.now += 1e5
    assert seen == [SourceUnavailable, SourceUnavailable, MediaError]


def test_a_removed_video_says_nothing_about_its_site(pace: Callable[..., Pace]) -> None:
    fault = pace().judged("https://x/1", "x", Ruling("removed", "video"), "gone")
    assert isinstance(fault, MediaError) and fault.reason == "removed"
    pace().turn("x")


@pytest.mark.parametrize(
    ("address", "site"),
    [("https://www.youtube.com/watch?v=1", "youtube.com"), ("https://youtu.be/1", "youtube.com"), ("http://m.youtube.com", "youtube.com"),
     ("https://space.bilibili.com/1", "bilibili.com"), ("https://b23.tv/x", "bilibili.com"), ("https://www.bbc.co.uk/x", "bbc.co.uk"),
     ("https://user:pass@video.example.org:8443/x", "example.org"), ("http://127.0.0.1:8000/x", "127.0.0.1:8000"),
     ("http://[::1]:80/x", "[::1]:80"), ("http://localhost:3/x", "localhost:3"), ("https://EXAMPLE.org./", "example.org")],
)  # fmt: skip
def test_the_site_of_an_address(address: str, site: str) -> None:
    assert site_of(address) == site


def test_a_clock_that_was_wrong_blocks_no_site(pace: Callable[..., Pace], time: Time) -> None:
    right, time.now = time.now, time.now + 1e9
    pace().turn("x.org")
    pace().refused("x.org", "rate-limited", "no")
    time.now = right
    pace().turn("x.org")
    pace().refused("x.org", "rate-limited", "no")
    with pytest.raises(SourceUnavailable) as fault:
        pace().turn("x.org")
    assert fault.value.until is not None and fault.value.until < right + 1e5 and time.waits == []


def test_a_cache_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "sites.sqlite").mkdir()
    with pytest.raises(StoreUnwritable, match=r"sites\.sqlite"):
        SiteTable(tmp_path / "sites.sqlite").claim("x", 1.0, 1.0)


def test_a_damaged_table_is_named_and_an_unused_one_not_made(tmp_path: Path) -> None:
    table = SiteTable(tmp_path / "sites.sqlite")
    assert table.states() == [] and not table.forget("x") and not table.path.exists()
    table.path.write_text("not a database" * 100)
    with pytest.raises(IntegrityError, match=r"sites\.sqlite.*delete it"):
        table.claim("x", 1.0, 1.0)
