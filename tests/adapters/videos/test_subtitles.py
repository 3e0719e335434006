"""People's captions come before automatic ones, wanted languages in their order; translations by machine are not taken."""

from __future__ import annotations

from typing import Any

import pytest

from cuamaster.adapters.videos.subtitles import best_track

VTT, JSON3, SRT = ({"ext": kind, "url": f"https://x/{kind}"} for kind in ("vtt", "json3", "srt"))
TRANSLATED = {"ext": "json3", "url": "https://x/api/timedtext?lang=ja&tlang=en"}


@pytest.mark.parametrize(
    ("manual", "automatic", "languages", "expected"),
    [
        ({"en": [SRT, VTT]}, {"en": [JSON3]}, ("en",), ("en", "vtt")),
        ({"de": [VTT]}, {"en-orig": [JSON3, VTT], "en": [JSON3]}, ("en",), ("en", "json3")),
        ({"de": [VTT]}, {"en": [JSON3]}, ("de", "en"), ("de", "vtt")),
        ({"en-GB": [VTT], "en-US": [VTT]}, {}, ("en",), ("en-GB", "vtt")),
        ({"pt-BR": [VTT], "pt": [VTT]}, {}, ("pt-BR",), ("pt-BR", "vtt")),
        ({"zh-Hans": [VTT]}, {}, ("zh",), ("zh-Hans", "vtt")),
        ({}, {"en": [TRANSLATED], "ja-orig": [JSON3]}, ("en",), None),
        ({"live_chat": [{"ext": "json", "url": "https://x"}]}, {}, ("en",), None),
        ({"en": [{"ext": "ttml", "url": "https://x"}]}, {"en": [VTT]}, ("en",), ("en", "vtt")),
        ({"zh": [{"ext": "srt", "data": "1\n"}]}, None, ("zh",), ("zh", "srt")),
        ({"en": [{"ext": "vtt"}]}, {}, ("en",), None),
        ({"en": None, "fr": "x", 3: [VTT]}, [], ("en", "fr"), None),
        (None, None, ("en",), None),
    ],
)
def test_the_best_track(manual: Any, automatic: Any, languages: tuple[str, ...], expected: Any) -> None:
    track = best_track({"subtitles": manual, "automatic_captions": automatic}, languages)
    assert (track and (track.language, track.kind)) == expected
