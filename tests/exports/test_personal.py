"""Secrets and personal data are found where they stand, and examples, labels and numbers are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.exports.preflight.personal import Span, find_personal

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nxyz=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Call +1 (650) 253-0000 now", "phone", "+1 (650) 253-0000"),
        ("Call 650-253-0000 now", "phone", "650-253-0000"),
        ("tel:+493012345678", "phone", "+493012345678"),
        ("My SSN 536-22-1234 ok", "ssn", "536-22-1234"),
        ("pay with 4539 1488 0343 6467 today", "card", "4539 1488 0343 6467"),
        ("IBAN DE89 3704 0044 0532 0130 00 PLEASE", "iban", "DE89 3704 0044 0532 0130 00"),
        ("mail bob.smith+x@gmail.com.", "email", "bob.smith+x@gmail.com"),
        ("von ä.b@firma.de kam", "email", "ä.b@firma.de"),
        ("password: hunter22", "secret", "hunter22"),
        ("the password is swordfish9", "secret", "swordfish9"),
        ("export API_KEY=abcd1234efgh", "secret", "abcd1234efgh"),
        ("db_password = 'correct horse'", "secret", "correct horse"),
        ("AKIAIOSFODNN7EXAMPLF", "secret", "AKIAIOSFODNN7EXAMPLF"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "secret", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
        ("sk_live_0123456789abcdefghijklmn", "secret", "sk_live_0123456789abcdefghijklmn"),
        ("Authorization: Bearer abcdefghijklmnop1234", "secret", "abcdefghijklmnop1234"),
        ("git clone https://bob:pw123@host.org/x", "secret", "pw123"),
        ("curl -u me:passw0rd http://x", "secret", "passw0rd"),
        (f"x {KEY} y", "secret", KEY),
        (f"t={JWT};", "secret", JWT),
        ("ssh root@93.184.216.34", "ip", "93.184.216.34"),
        ("cat /home/alice/notes", "path", "alice"),
        ("C:\\Users\\Bob\\x", "path", "Bob"),
    ],
)  # fmt: skip
def test_found_where_it_stands(text: str, kind: str, value: str) -> None:
    assert [(span.kind, text[span.start : span.end]) for span in find_personal(text)] == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "write to a@example.com or root@localhost", "user@desk: ~", "phone 415-555-0142", "test card 4111 1111 1111 1111", "id 123-45-6789",
        "2026-11-30 12:30:45 at 1280x800", "1600 1200 800 600 1024 768", "click (512, 400) then 0.123456789", "Python 3.11.7, 1.2.3.4, 2026.11.30",
        "ping 8.8.8.8 or 192.168.0.1 or 203.0.113.4", "Password: required", "token: none", "the secret is out there", "/home/user/report.txt",
        "~/notes", "task-562fd397d24445db", "7e3b9b1c0a5d4e2f8a6b7c8d9e0f1a2b", "light-desktop@d8b9c8f1d96998865b99e459d3242e98b79d368d23dc26ef71c603e5cc7d5544",
        "=SUM(B2:B14)*1234567/89", "Type 12345678 in cell B2", "key: enter", "In Mousepad, type \"milk, eggs and bread\" and save it as \"groceries.txt\".",
    ],
)  # fmt: skip
def test_left_alone(text: str) -> None:
    assert find_personal(text) == ()


def test_long_texts_are_read_across_windows() -> None:
    filler = "The quick brown fox saves the document. "
    for length in (32_760, 33_000, 65_530):
        text = (filler * 2000)[:length] + " bob@gmail.com " + filler * 1000
        assert [text[span.start : span.end] for span in find_personal(text)] == ["bob@gmail.com"]


@pytest.mark.timeout(60)  # a pattern that tries every beginning with every end would take hours
@pytest.mark.parametrize(
    "part",
    ["a", "1 ", "password ", "a@b.", "1.1.", "://a:", "key=", "-----BEGIN PRIVATE KEY-----", "curl -u ", "AB12 "],
)
def test_no_text_blows_up_a_pattern(part: str) -> None:
    find_personal(part * (100_000 // len(part)))


@given(
    st.text(max_size=300),
    st.sampled_from(["bob@gmail.com", "+1 650 253 0000", "password=hunter22", ""]),
    st.text(max_size=300),
)
def test_spans_are_in_order_and_apart(before: str, value: str, after: str) -> None:
    text = before + value + after
    spans = find_personal(text)
    ends = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    assert ends == sorted(ends) and all(span.start < span.end for span in spans)
    assert spans == find_personal(text)


def test_the_graver_kind_has_the_text() -> None:
    assert find_personal("password=bob1@gmail.com") == (Span("secret", 9, 23),)
