"""Settings become sources: folders together, every feed, address and search engine by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuamaster import wiring
from cuamaster.errors import UnknownName
from cuamaster.records.video import Query
from cuamaster.settings import Settings

ASKED = Query(text="gimp", app="gimp", provider="x")


def sources(tmp_path: Path, *places: str, **settings: Any) -> list[tuple[str, list[Any]]]:
    """(provider, what its source asks)."""
    found = wiring.sources(Settings(workspace=tmp_path / "w", cache=tmp_path / "c", **settings), places)
    return [(source.name, json.loads(source.asked(ASKED))) for source in found]


def test_searches_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("https://vimeo.com/channels/x\nhttps://www.tiktok.com/@y\n")
    assert [name for name, _ in sources(tmp_path)] == ["local"]
    both = sources(tmp_path, providers=("local", "ytdlp"))
    assert [name for name, _ in both] == ["local", "youtube", "bilibili"]
    listed = sources(tmp_path, providers=("ytdlp",), ytdlp_places=(str(tmp_path / "urls.txt"),))
    assert listed == [("lists", ["", "https://vimeo.com/channels/x"]), ("lists", ["", "https://www.tiktok.com/@y"])]
    chosen = sources(tmp_path, providers=("ytdlp",), ytdlp_places=("https://x.org",), ytdlp_search=("youtube", "scsearch"))  # fmt: skip
    assert chosen == [("lists", ["", "https://x.org"]), ("youtube", ["ytsearch", ""]), ("scsearch", ["scsearch", ""])]
    with pytest.raises(UnknownName, match="neither an address nor a file"):
        sources(tmp_path, providers=("ytdlp",), ytdlp_places=("nowhere",))
    assert not (tmp_path / "c").exists(), "nothing is asked, nothing is written"


def test_places_on_the_command_line(tmp_path: Path) -> None:
    given = sources(tmp_path, "a", "https://x.org/feed.xml", "b", "https://www.youtube.com/@x", "https://x.org/rss?n=5")
    assert [name for name, _ in given] == ["local", "local", "local", "lists"]
    assert [asked[0] for _, asked in given] == [["a", "b"], ["https://x.org/feed.xml"], ["https://x.org/rss?n=5"], ""]


@pytest.mark.parametrize(
    ("address", "page"),
    [("https://www.youtube.com/watch?v=1", True), ("https://www.youtube.com/feeds/videos.xml?channel_id=UC", False), ("https://x.org/feed", False),
     ("https://x.org/blog/atom/", False), ("https://x.org/items.json", False), ("https://space.bilibili.com/1", True),
     ("https://x.org/feedback", True), ("folder/feed", False), ("/videos", False)],
)  # fmt: skip
def test_pages_and_feeds_are_told_apart(address: str, page: bool) -> None:
    assert wiring.is_page(address) is page
