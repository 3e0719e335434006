"""yt-dlp plugins for a site on loopback: a search key `loopsearch` (address in LOOPBACK_SITE), and lists at /list/NAME.json."""

import os

from yt_dlp.extractor.common import InfoExtractor, SearchInfoExtractor


class LoopbackSearchIE(SearchInfoExtractor):
    _SEARCH_KEY = "loopsearch"

    def _search_results(self, query):
        site = os.environ["LOOPBACK_SITE"]
        for number in range(3):
            yield self.url_result(
                f"{site}/watch{number}.html", video_id=f"watch{number}", video_title=f"{query} number {number}"
            )


class LoopbackListIE(InfoExtractor):
    """A JSON list of entries; an address under /list/ is a list again."""

    _VALID_URL = r"http://127\.0\.0\.1:\d+/list/(?P<id>[\w-]+)\.json"

    def _real_extract(self, url):
        name = self._match_id(url)
        entries = []
        for item in self._download_json(url, name):
            key = "LoopbackList" if "/list/" in str(item.get("url")) else item.get("ie_key")
            entries.append({"_type": "url", **item, **({"ie_key": key} if key else {})})
        return self.playlist_result(entries, name, name)
