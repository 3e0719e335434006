"""RSS, Atom and JSON feeds to videos with their media and caption addresses; XML is parsed without entities or DTDs.

Own code and not feedparser: that repairs what is broken without saying so, knows no captions (podcast:transcript), and of Media RSS not
which file belongs to which size.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from cuamaster.adapters.videos.metadata import iso_date, number, video_from_info
from cuamaster.errors import InvalidInput
from cuamaster.records.video import Video

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CAPTION_TYPES = ("text/vtt", "application/x-subrip", "application/srt", "text/srt")
_MARKUP = re.compile(r"<[^<>]+>")
_PAGE = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
ITEMS = 20_000
"""Entries of one feed that are read."""


@dataclass(frozen=True)
class FeedItem:
    """One entry: `media` is the file's address, or None when the entry only links to a page; `fault`: why it cannot be used."""

    video: Video
    media: str | None
    captions: tuple[str, ...] = ()
    fault: InvalidInput | None = None


def parse_feed(data: bytes, address: str) -> list[FeedItem]:
    """Entries of a feed; relative addresses are taken from `address`. Raises InvalidInput naming file and line."""
    head = data[:2000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] in (b"{", b"["):
        return _json_feed(data, address)
    if _PAGE.search(head) and not is_feed(head):
        raise InvalidInput(f"{address}, line 1, field html: a web page, not a feed", hint="give pages to ytdlp_places")
    import defusedxml
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except ParseError as exc:
        line, column = exc.position
        raise InvalidInput(f"{address}, line {line}, field column {column}: not a feed: {exc}") from exc
    except defusedxml.DefusedXmlException as exc:
        raise InvalidInput(f"{address}, line 1, field DOCTYPE: refused, feeds need no entities: {exc}") from exc
    except (ValueError, LookupError) as exc:  # an encoding that the parser does not know
        raise InvalidInput(f"{address}, line 1, field encoding: {exc}") from exc
    if _local(root) not in ("rss", "RDF", "feed"):
        raise InvalidInput(f"{address}, line 1, field {_local(root)}: not an RSS or Atom feed")
    places = [root, *(child for child in root if _local(child) == "channel")]
    entries = islice((item for place in places for item in place if _local(item) in ("item", "entry")), ITEMS)
    return [item for item in (_entry(entry, address) for entry in entries) if item is not None]


def is_feed(data: bytes) -> bool:
    """Whether a file's first bytes look like a feed."""
    head = data.lstrip()[:2000]
    return re.search(rb"<(rss|feed|rdf:RDF)[\s>]", head, re.IGNORECASE) is not None or b"jsonfeed.org" in head


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _all(entry: Element, *names: str) -> list[Element]:
    return [child for child in entry.iter() if _local(child) in names and child is not entry]


def _first(entry: Element, *names: str) -> str:
    for name in names:
        for child in _all(entry, name):
            text = "".join(child.itertext()).strip()
            if text:
                return html.unescape(_MARKUP.sub(" ", text))
    return ""


def _entry(entry: Element, address: str) -> FeedItem | None:
    media: str | None = None
    page = ""
    duration: str | None = _first(entry, "duration") or None
    for child in _all(entry, "enclosure", "content", "link"):
        target, kind = child.get("url") or child.get("href") or "", child.get("type") or child.get("medium") or ""
        if _local(child) == "link" and child.get("rel", "alternate") != "enclosure":
            page = page or target or (child.text or "").strip()
        elif target and (kind.startswith(("video", "audio")) or not kind):
            media = media or _joined(address, target)
            duration = duration or child.get("duration")
    captions = tuple(
        place
        for child in _all(entry, "transcript", "subTitle")
        if child.get("type", "text/vtt") in _CAPTION_TYPES
        and (place := _joined(address, child.get("url") or child.get("href") or ""))
    )
    page = (page and _joined(address, page)) or ""
    identity = _first(entry, "guid", "id") or page or media or ""
    if not identity:
        return None
    info = {
        "title": _first(entry, "title"), "description": _first(entry, "description", "summary", "encoded"),
        "uploader": _first(entry, "author", "creator", "name"), "duration": number(duration),
        "upload_date": iso_date(_first(entry, "pubDate", "published", "updated", "date")),
        "categories": [_category(child) for child in _all(entry, "category") if _category(child)],
        "license": _first(entry, "license", "rights") or None,
    }  # fmt: skip
    return FeedItem(
        video_from_info(info, source="feed", source_id=identity, url=page or media or identity), media, captions
    )


def _category(element: Element) -> str:
    return (element.get("term") or element.get("label") or element.text or "").strip()


def _json_feed(data: bytes, address: str) -> list[FeedItem]:
    try:
        feed: Any = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"{address}, line {exc.lineno}, field column {exc.colno}: not JSON: {exc.msg}") from exc
    except UnicodeDecodeError as exc:
        line = data[: exc.start].count(b"\n") + 1
        raise InvalidInput(f"{address}, line {line}, field (text): not UTF-8, as JSON must be") from exc
    except (RecursionError, ValueError) as exc:  # nested too deep; a number of thousands of digits
        raise InvalidInput(f"{address}, line 1, field (top): not a feed: {exc}") from exc
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        raise InvalidInput(f"{address}, line 1, field items: a JSON feed has a list of items")
    return [_json_item(item, f"items.{index}", address) for index, item in enumerate(items[:ITEMS])]


def _json_item(item: Any, field: str, address: str) -> FeedItem:
    if not isinstance(item, dict):
        raise InvalidInput(f"{address}, line 1, field {field}: must be an object, got {str(item)[:80]!r}")
    parts = [part for part in _dicts(item.get("attachments")) if part.get("url")]
    media = next((part for part in parts if str(part.get("mime_type", "")).startswith(("video", "audio"))), {})
    target = _joined(address, str(media.get("url") or ""))
    page = _joined(address, str(item.get("url") or item.get("external_url") or ""))
    identity = str(item.get("id") or page or target or "")
    if not identity:
        raise InvalidInput(f"{address}, line 1, field {field}.id: missing")
    texts = (_joined(address, str(part["url"])) for part in parts if part.get("mime_type") in _CAPTION_TYPES)
    info = {
        "title": item.get("title"), "description": item.get("summary") or _MARKUP.sub(" ", str(item.get("content_html") or item.get("content_text") or "")),
        "uploader": ", ".join(str(author.get("name", "")) for author in _dicts(item.get("authors"))),
        "duration": number(media.get("duration_in_seconds")),
        "upload_date": iso_date(item.get("date_published")), "categories": item.get("tags"), "language": item.get("language"),
    }  # fmt: skip
    video = video_from_info(info, source="feed", source_id=identity, url=page or target or identity)
    return FeedItem(video, target, tuple(text for text in texts if text))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(address: str, target: str) -> str | None:
    """An address that a feed names, made whole; None for one that cannot be, and for a file of this machine in a feed from elsewhere."""
    try:
        full = urljoin(address, target.strip()) if target.strip() else ""
        scheme = urlsplit(full).scheme
    except ValueError:
        return None
    return full if scheme in ("http", "https") or (scheme == "file" and address.startswith("file:")) else None
