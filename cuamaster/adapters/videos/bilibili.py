"""What Bilibili's search answer says of a video, in yt-dlp's words."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from cuamaster.adapters.videos.metadata import number

_MARKUP = re.compile(r"</?em[^<>]*>")


def facts_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Title without its marked keywords, uploader, duration (`12:34`), description, time of upload, category, views.

    Fields of api.bilibili.com/x/web-interface/search/type as yt-dlp's BiliBiliSearchIE asks it.
    """
    return {
        "title": html.unescape(_MARKUP.sub("", str(item.get("title") or ""))) or None,
        "uploader": item.get("author"),
        "duration": number(item.get("duration")),
        "description": item.get("description"),
        "timestamp": item.get("pubdate"),
        "categories": [item["typename"]] if item.get("typename") else None,
        "view_count": item.get("play"),
    }
