"""What an address or a listing's entry is to yt-dlp's extractors, told without asking the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yt_dlp

from cuamaster.adapters.videos.sites import site_of

_SEARCHED = {"yt": "youtube.com", "bili": "bilibili.com"}


def request_site(request: str) -> str:
    """The site that a request goes to; of a search key its name stands for it (`ytsearch20:...` is youtube.com)."""
    key = re.match(r"([a-z]\w*?)search(?:date)?(?:\d+|all)?:", request)
    return _SEARCHED.get(key[1], key[1]) if key else site_of(request)


def extractor_of(address: str) -> tuple[str, str] | None:
    """(site's name, its own id of the video) of an address that one of yt-dlp's extractors claims; None for any other page."""
    for extractor in yt_dlp.extractor.gen_extractor_classes():
        if extractor.suitable(address) and extractor.ie_key() != "Generic":
            found = extractor.get_temp_id(address)
            return (extractor.ie_key().lower(), str(found)) if found else None
    return None


def is_list(entry: Mapping[str, Any], parent: str) -> bool:
    """Whether an entry of a listing is itself a list: one that its extractor says is one, or is read by the same extractor as its parent."""
    key = entry.get("ie_key")
    if entry.get("_type") in ("playlist", "multi_video"):
        return True
    if not isinstance(key, str) or key == "Generic":
        return False
    extractor: Any = yt_dlp.extractor.get_info_extractor(key)
    single = extractor.is_single_video(str(entry.get("url")))
    return single is False or (single is None and key == parent)


def plain_address(value: Any) -> str | None:
    """An http(s) address without what yt-dlp hides in it; None for anything else."""
    if not isinstance(value, str):
        return None
    address = str(yt_dlp.utils.unsmuggle_url(value)[0])
    return address if re.match(r"https?://[^\s/]", address) else None
