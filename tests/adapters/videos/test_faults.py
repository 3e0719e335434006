"""Sentences of yt-dlp and of sites, as they were raised or reported, become reasons and say whom they concern."""

from __future__ import annotations

import pytest

from cuamaster.adapters.videos.faults import plain, ruling_of

SAID = [
    # yt_dlp/extractor/youtube/_video.py and what YouTube itself says (yt-dlp issues 10128, 11426, 15770)
    ("[youtube] a: Sign in to confirm you’re not a bot. Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ#how-do-i-pass-cookies-to-yt-dlp", "bot-check", "site"),
    ("[youtube] a: Playback on other websites has been disabled. YouTube is requiring a captcha challenge before playback", "bot-check", "site"),
    ("[youtube] a: Video unavailable. This content isn’t available, try again later. The current session has been rate-limited by YouTube for up to an hour. It is recommended to use `-t sleep`", "rate-limited", "site"),
    ("[youtube] a: This content isn't available, try again later", "rate-limited", "site"),
    ("[youtube] a: All player responses are invalid. Your IP is likely being blocked by Youtube", "blocked", "site"),
    ("[youtube] a: Sign in to confirm your age. This video may be inappropriate for some users. Use --cookies", "age-gate", "video"),
    ("[youtube] a: The uploader has not made this video available in your country\nYou might want to use a VPN or a proxy server (with --proxy) to workaround.", "geo-blocked", "video"),
    ("[youtube] a: Video unavailable. This video contains content from SME, who has blocked it in your country on copyright grounds", "geo-blocked", "video"),
    ("[youtube] a: Private video. Sign in if you've been granted access to this video. Use --cookies", "private", "video"),
    ("[youtube] a: Join this channel to get access to members-only content like this video, and other exclusive perks.", "login-required", "video"),
    ("[youtube] a: This video is available to this channel's members on level: Gold (or any higher level).", "login-required", "video"),
    ("[youtube] a: This video requires payment to watch", "login-required", "video"),
    ("[youtube] a: Video unavailable. This video has been removed by the uploader", "removed", "video"),
    ("[youtube] a: Video unavailable. This video is no longer available because the YouTube account associated with this video has been terminated.", "removed", "video"),
    ("[youtube] a: Video unavailable", "removed", "video"),
    ("[youtube] a: This video isn't available anymore", "removed", "video"),
    ("[youtube] a: This video is DRM protected", "drm", "video"),
    ("[youtube] a: Premieres in 3 hours", "not-yet", "video"),
    ("[youtube] a: Premiere will begin shortly", "not-yet", "video"),
    ("[youtube] a: This live event will begin in 2 days.", "not-yet", "video"),
    ("[youtube] a: This live stream recording is not available.", "live-stream", "video"),
    ("[youtube:tab] @x: The channel/playlist does not exist and the URL redirected to youtube.com home page", "removed", "video"),
    ("[youtube:tab] @x: YouTube said: The playlist does not exist.", "removed", "video"),
    ("[youtube:tab] @x: This channel does not have a shorts tab", "empty", "video"),
    ("unable to download video data: HTTP Error 403: Forbidden", "forbidden-data", "try"),
    ("[youtube] a: Incomplete data received", "broke-off", "try"),
    # yt_dlp/extractor/bilibili.py
    ("[BilibiliSpaceVideo] 1: Request is blocked by server (412), please wait and try later.", "blocked", "site"),
    ("[BilibiliSpaceVideo] 1: Request is rejected by server (352)", "blocked", "site"),
    ("[BiliBili] BV1: Unable to download video info: 352: 风控校验失败, please wait and try later", "blocked", "site"),
    ("[BiliBili] BV1: You have exceeded the rate limit. Try again later", "rate-limited", "site"),
    ("[BiliBiliSearch] q: Unable to download JSON metadata: HTTP Error 412: Precondition Failed (caused by <HTTPError 412: Precondition Failed>)", "server-error", "site"),
    ("[BiliBili] BV1: This video may be deleted or geo-restricted. You might want to try a VPN or a proxy server (with --proxy)", "geo-blocked", "video"),
    ("[BiliBili] BV1: This is a supporter-only video: pay", "login-required", "video"),
    ("[BiliBili] BV1: This video is for premium members only. Use --cookies", "login-required", "video"),
    ("[BilibiliCheese] 1: This course episode is not yet available.", "not-yet", "video"),
    ("[BiliLive] 1: Streamer is not live", "live-stream", "video"),
    # yt_dlp/extractor/tiktok.py (issues 11869, 16605)
    ("[TikTok] 7: Your IP address is blocked from accessing this post", "geo-blocked", "video"),
    ("[TikTok] 7: You do not have permission to view this post. Log into an account that has access. Use --cookies", "private", "video"),
    ("[TikTok] 7: This post may not be comfortable for some audiences. Log in for access. Use --cookies", "age-gate", "video"),
    ("[TikTok] 7: TikTok is requiring login for access to this content. Use --cookies", "login-required", "video"),
    ("[TikTok] 7: Video not available, status code 10231", "removed", "video"),
    ("[TikTok] x: This account does not have any videos posted", "empty", "video"),
    ("[tiktok:live] x: The channel is not currently live", "live-stream", "video"),
    ("[TikTok] 7: Unable to solve JS challenge", "bot-check", "site"),
    ("[TikTok] 7: Unable to extract universal data for rehydration", "extractor-error", "try"),
    # yt_dlp/extractor/common.py, YoutubeDL.py, networking/exceptions.py
    ("Unsupported URL: https://x.org/private-video/premium", "unsupported", "video"),
    ("[generic] '/x' is not a valid URL. Set --default-search", "unsupported", "video"),
    ("[vimeo] 1: Requested format is not available. Use --list-formats for a list of available formats", "unsupported", "video"),
    ("[x] 1: This video is only available for registered users. Use --username", "login-required", "video"),
    ("[x] 1: This video is not available from your location due to geo restriction", "geo-blocked", "video"),
    ("[generic] Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)", "removed", "video"),
    ("[generic] Unable to download webpage: HTTP Error 403: Forbidden", "forbidden", "video"),
    ("[generic] Unable to download webpage: HTTP Error 401: Unauthorized", "login-required", "video"),
    ("[generic] Unable to download webpage: HTTP Error 451: Unavailable For Legal Reasons", "geo-blocked", "video"),
    ("[generic] Unable to download webpage: HTTP Error 503: Service Unavailable", "server-error", "site"),
    ("[generic] Unable to download webpage: [Errno 111] Connection refused (caused by TransportError('[Errno 111] Connection refused'))", "unreachable", "site"),
    ("[generic] Unable to download webpage: Failed to resolve 'x.org' ([Errno -2] Name or service not known)", "unreachable", "site"),
    ("[generic] Unable to download webpage: The read operation timed out", "unreachable", "site"),
    ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate", "certificate", "video"),
    ("Got error: 1000 bytes read, 3000 more expected. Giving up after 2 retries", "broke-off", "try"),
    ("Did not get any data blocks", "broke-off", "try"),
    ("Something entirely new", "extractor-error", "try"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "reason", "scope"), SAID, ids=range(len(SAID)))
def test_a_sentence_has_a_reason_and_concerns_the_video_the_site_or_nobody_knows(
    said: str, reason: str, scope: str
) -> None:
    assert ruling_of(said)[:2] == (reason, scope)


def test_colours_and_bug_reports_are_left_out() -> None:
    said = "\x1b[0;31mERROR:\x1b[0m [x] 1: Strange; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q= , filling out"
    assert plain(said) == "[x] 1: Strange"
