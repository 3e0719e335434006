"""The loopback servers of the adapters' tests, for the conformance suites."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location(
    "loopback_fixtures", Path(__file__).resolve().parents[1] / "adapters" / "conftest.py"
)
assert _SPEC is not None and _SPEC.loader is not None
_FIXTURES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FIXTURES)
chat_server = _FIXTURES.chat_server
site = _FIXTURES.site
