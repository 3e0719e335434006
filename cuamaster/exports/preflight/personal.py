"""Finds secrets and personal data in texts: detect-secrets, libphonenumber and check digits, own patterns only where they end.

What is reserved for examples is nobody's: mail at example.com (RFC 2606), 555-01xx phone numbers (NANP), documentation
addresses (RFC 5737), test card numbers, `/home/user`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

Kind = Literal["secret", "email", "phone", "card", "iban", "ssn", "ip", "path"]
CHECK_OF: dict[Kind, str] = {
    "secret": "secret", "email": "personal", "phone": "personal", "card": "personal", "iban": "personal", "ssn": "personal",
    "ip": "trace", "path": "trace",
}  # fmt: skip
"""The check of the preflight that reports a kind."""

_WINDOW = 32_768
_OVERLAP = 512
_SHORT = 1000
"""A long text is read in windows, so that no pattern meets megabytes; nothing that is looked for is longer than the overlap."""


@dataclass(frozen=True)
class Span:
    """Something personal at text[start:end]."""

    kind: Kind
    start: int
    end: int

    @property
    def check(self) -> str:
        """The check that reports it."""
        return CHECK_OF[self.kind]


def find_personal(text: str, regions: tuple[str, ...] = ("US",)) -> tuple[Span, ...]:
    """Spans in order, none overlapping another: where two claim the same text, the graver and then the longer one has it.

    `regions`: ISO countries whose national phone numbers count beside +international ones. Short texts are remembered, since a
    dataset says the same things over and over.
    """
    return _remembered(text, regions) if len(text) <= _SHORT else _found(text, regions)


@lru_cache(maxsize=16_384)
def _remembered(text: str, regions: tuple[str, ...]) -> tuple[Span, ...]:
    return _found(text, regions)


def _found(text: str, regions: tuple[str, ...]) -> tuple[Span, ...]:
    found: list[Span] = []
    for begin in range(0, max(1, len(text)), _WINDOW):
        window = text[begin : begin + _WINDOW + _OVERLAP]
        for kind, start, end in _spans(window, regions):
            if start < _WINDOW:
                found.append(Span(kind, begin + start, begin + end))
    order = list(CHECK_OF)
    kept: list[Span] = []
    for span in sorted(set(found), key=lambda item: (order.index(item.kind), item.start - item.end)):
        if not any(span.start < other.end and other.start < span.end for other in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda span: span.start))


def _spans(text: str, regions: tuple[str, ...]) -> Iterator[tuple[Kind, int, int]]:
    digits = sum(map(str.isdigit, text))
    for finder in (_secrets, *((_emails,) if "@" in text else ()), *(_NUMBERS if digits >= 7 else ()), *_TRACES):
        yield from finder(text)
    if digits >= 7:
        yield from _phones(text, regions)


# -- secrets ------------------------------------------------------------------------------------------------------------

_PLUGINS = (
    "ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector", "DiscordBotTokenDetector",
    "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector", "KeywordDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector",
    "PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)  # fmt: skip
"""Detectors of detect-secrets 1.5. Not its entropy ones: window titles, digests and file names are random enough for them."""

_ASSIGNED = re.compile(
    r"(?i)\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|access|secret|private)[ _-]?key)[\"']?\s*(?::|=|\bis\b)\s*[\"']?(?P<value>[^\s\"',;]{6,128})"
)
_BEARER = re.compile(r"\b[Bb]earer\s+(?P<value>[\w.~+/-]{16,512}=*)")
_CURL_USER = re.compile(r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s*[\"']?[\w.@-]{1,64}:(?P<value>[^\s\"']{3,128})")
_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S]){0,8192}(?:-----END[^-]{0,40}-----)?"
)


_WORTHY = re.compile(r"[\w+/=-]{15}|://|(?i:pass|pwd|secret|key|token|contrase)")
"""What a text must hold for any of these detectors to find something in it; most are spared all of them."""
_REST = re.compile(r"[\w=-]*")
"""What still belongs to a token where a pattern ends before it does, as at the signature of a JSON Web Token."""


@cache
def _detectors() -> tuple[Any, ...]:
    import importlib
    import pkgutil

    import detect_secrets.plugins as plugins

    modules = [
        importlib.import_module(f"{plugins.__name__}.{item.name}") for item in pkgutil.iter_modules(plugins.__path__)
    ]
    found = {name: getattr(module, name) for module in modules for name in _PLUGINS if hasattr(module, name)}
    return tuple(found[name]() for name in _PLUGINS)


def _secrets(text: str) -> Iterator[tuple[Kind, int, int]]:
    for pattern in (_BEARER, _CURL_USER):
        for match in pattern.finditer(text):
            yield "secret", *match.span("value")
    for match in _KEY_BLOCK.finditer(text):
        yield "secret", *match.span()
    for match in _ASSIGNED.finditer(text):
        value = match["value"]  # "Password: required" is a label; a password somebody chose has digits in it
        if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
            yield "secret", *match.span("value")
    for detector in _detectors() if _WORTHY.search(text) else ():
        yield from (("secret", start, end) for start, end in _detected(detector, text))


def _detected(detector: Any, text: str) -> Iterator[tuple[int, int]]:
    """Where a detector finds something. Its own answer is often a group inside the value (`ghp` of a token), so its patterns are asked."""
    if hasattr(detector, "denylist"):
        for pattern in detector.denylist:
            for match in pattern.finditer(text):
                if type(detector).__name__ == "BasicAuthDetector":
                    yield match.span(1)
                else:
                    yield match.start(), _REST.match(text, match.end()).end()  # type: ignore[union-attr]
        return
    for line in text.splitlines():
        for value in filter(None, detector.analyze_string(line)):
            yield from (match.span() for match in re.finditer(re.escape(value), text))


# -- people -------------------------------------------------------------------------------------------------------------

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?P<host>(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})(?![\w@])")
_RESERVED_HOST = re.compile(r"(?i)(?:^|\.)(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost|local)$")
_CARD = re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])")
_CARD_PREFIX = re.compile(r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|3(?:0[0-5]|[68])|6(?:011|5|4[4-9])|35")
_TEST_CARDS = {
    "4111111111111111", "4242424242424242", "4012888888881881", "5555555555554444", "5105105105105100", "378282246310005", "371449635398431",
    "6011111111111117", "3530111333300000", "30569309025904",
}  # fmt: skip
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")
_PHONE = re.compile(r"(?<![\w.])[+(]?\d[\d ().-]{5,30}\d(?!\w)")
_PHONE_DIGITS, _PHONE_GROUPS = 20, 7
"""What a number may have at most, its extension included; rows of a table have more, and are not worth the library's time."""
_WRITTEN = re.compile(r"\+|.*\d[ ().-]+\d")
"""Written as people write a phone number: without a plus or separators any eleven digits would do, sizes, times, ids."""
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")


_KNOWN_SSNS = {"123-45-6789", "078-05-1120", "219-09-9999"}
"""Printed on sample cards, hence nobody's."""


def _emails(text: str) -> Iterator[tuple[Kind, int, int]]:
    for match in _EMAIL.finditer(text):
        if not _RESERVED_HOST.search(match["host"]):
            yield "email", *match.span()


def _cards(text: str) -> Iterator[tuple[Kind, int, int]]:
    from stdnum import luhn

    for match in _CARD.finditer(text):
        number = re.sub(r"\D", "", match[0])
        if number not in _TEST_CARDS and _CARD_PREFIX.match(number) and luhn.is_valid(number):
            yield "card", *match.span()


def _ibans(text: str) -> Iterator[tuple[Kind, int, int]]:
    from stdnum import iban

    for match in _IBAN.finditer(text):
        words = match[0].split(" ")  # a word in capitals may follow the number
        for length in range(len(words), 0, -1):
            number = " ".join(words[:length])
            if iban.is_valid(number):
                yield "iban", match.start(), match.start() + len(number)
                break


def _ssns(text: str) -> Iterator[tuple[Kind, int, int]]:
    from stdnum.us import ssn

    for match in _SSN.finditer(text):
        if match[0] not in _KNOWN_SSNS and ssn.is_valid(match[0]):
            yield "ssn", *match.span()


def _phones(text: str, regions: Sequence[str]) -> Iterator[tuple[Kind, int, int]]:
    from phonenumbers import Leniency, PhoneNumberMatcher

    for candidate in _PHONE.finditer(text):
        groups = re.findall(r"\d+", candidate[0])
        if not 7 <= sum(map(len, groups)) <= _PHONE_DIGITS or len(groups) > _PHONE_GROUPS:
            continue
        begin = max(0, candidate.start() - 16)  # the library looks around a number to tell it from a date or a price
        window = text[begin : candidate.end() + 16]
        for region in (None, *regions):
            for match in PhoneNumberMatcher(window, region, leniency=Leniency.VALID):
                national = str(match.number.national_number)
                fictional = match.number.country_code == 1 and re.search(r"55501\d\d$", national)
                if not fictional and _WRITTEN.match(match.raw_string) and not _IP.match(match.raw_string):
                    yield "phone", begin + match.start, begin + match.end


# -- traces of machines -------------------------------------------------------------------------------------------------

_IP = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)")
_HOME = re.compile(r"(?:/home/|/Users/|\b[A-Z]:\\Users\\)(?P<name>[^\s/\\\"'<>|:]{1,64})")
_NOBODY = {"user", "username", "you", "your-name", "me", "public", "shared", "default", "*", "..."}
_DNS = {"1.1.1.1", "1.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9"}
"""Resolvers that everybody types."""


def _ips(text: str) -> Iterator[tuple[Kind, int, int]]:
    for match in _IP.finditer(text):
        try:
            address = ipaddress.IPv4Address(match[0])
        except ValueError:
            continue
        # A first number below 11 is far more often a version than a machine.
        if address.is_global and match[0] not in _DNS and int(match[0].partition(".")[0]) > 10:
            yield "ip", *match.span()


def _homes(text: str) -> Iterator[tuple[Kind, int, int]]:
    for match in _HOME.finditer(text):
        if match["name"].lower() not in _NOBODY and not match["name"].startswith(("$", "{", "%")):
            yield "path", *match.span("name")


_Finder = Callable[[str], Iterator[tuple[Kind, int, int]]]
_NUMBERS: tuple[_Finder, ...] = (_cards, _ibans, _ssns)
_TRACES: tuple[_Finder, ...] = (_ips, _homes)
