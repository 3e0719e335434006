"""RSS, Atom and JSON feeds to videos with their media and caption addresses; XML is parsed without entities or DTDs."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from cuamaster.adapters.videos.metadata import iso_date, number, video_from_info
from cuamaster.errors import InvalidInput
from cuamaster.records.video import Video

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CAPTION_TYPES = ("text/vtt", "application/x-subrip", "application/srt", "text/srt")
_MARKUP = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class FeedItem:
    """One entry: `media` is the file's address, or None when the entry only links to a page; `fault`: why it cannot be used."""

    video: Video
    media: str | None
    captions: tuple[str, ...] = ()
    fault: InvalidInput | None = None


def parse_feed(data: bytes, address: str) -> list[FeedItem]:
    """Entries of a feed; relative addresses are taken from `address`. Raises InvalidInput naming file and line."""
    head = data.lstrip()[:1]
    if head in (b"{", b"["):
        return _json_feed(data, address)
    import defusedxml
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except ParseError as exc:
        line, column = exc.position
        raise InvalidInput(f"{address}, line {line}, field column {column}: not a feed: {exc}") from exc
    except defusedxml.DefusedXmlException as exc:
        raise InvalidInput(f"{address}, line 1, field DOCTYPE: refused, feeds need no entities: {exc}") from exc
    entries = [item for item in root.iter() if _local(item) in ("item", "entry")]
    if _local(root) not in ("rss", "RDF", "feed"):
        raise InvalidInput(f"{address}, line 1, field {_local(root)}: not an RSS or Atom feed")
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
            media = media or urljoin(address, target)
            duration = duration or child.get("duration")
    captions = tuple(
        urljoin(address, child.get("url") or child.get("href") or "")
        for child in _all(entry, "transcript", "subTitle")
        if child.get("type", "text/vtt") in _CAPTION_TYPES
    )
    page = urljoin(address, page) if page else ""
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
        feed: Any = json.loads(data)
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"{address}, line {exc.lineno}, field column {exc.colno}: not JSON: {exc.msg}") from exc
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        raise InvalidInput(f"{address}, line 1, field items: a JSON feed has a list of items")
    found = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise InvalidInput(f"{address}, line 1, field items.{index}: must be an object, got {item!r}")
        parts = [part for part in item.get("attachments") or () if isinstance(part, dict) and part.get("url")]
        media = next((part for part in parts if str(part.get("mime_type", "")).startswith(("video", "audio"))), None)
        target = urljoin(address, str(media["url"])) if media else None
        page = (
            urljoin(address, str(item.get("url") or item.get("external_url") or ""))
            if item.get("url") or item.get("external_url")
            else ""
        )
        identity = str(item.get("id") or page or target or "")
        if not identity:
            raise InvalidInput(f"{address}, line 1, field items.{index}.id: missing")
        captions = tuple(
            urljoin(address, str(part["url"])) for part in parts if part.get("mime_type") in _CAPTION_TYPES
        )
        authors = [str(author.get("name", "")) for author in item.get("authors") or () if isinstance(author, dict)]
        info = {
            "title": item.get("title"), "description": item.get("summary") or _MARKUP.sub(" ", str(item.get("content_html") or item.get("content_text") or "")),
            "uploader": ", ".join(authors), "duration": number((media or {}).get("duration_in_seconds")),
            "upload_date": iso_date(item.get("date_published")), "categories": item.get("tags"), "language": item.get("language"),
        }  # fmt: skip
        found.append(
            FeedItem(
                video_from_info(info, source="feed", source_id=identity, url=page or target or identity),
                target,
                captions,
            )
        )
    return found
