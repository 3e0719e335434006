"""A yt-dlp plugin: search key `loopsearch`, which finds the pages of a site on loopback (address in LOOPBACK_SITE)."""

import os

from yt_dlp.extractor.common import SearchInfoExtractor


class LoopbackSearchIE(SearchInfoExtractor):
    _SEARCH_KEY = "loopsearch"

    def _search_results(self, query):
        site = os.environ["LOOPBACK_SITE"]
        for number in range(3):
            yield self.url_result(
                f"{site}/watch{number}.html", video_id=f"watch{number}", video_title=f"{query} number {number}"
            )
