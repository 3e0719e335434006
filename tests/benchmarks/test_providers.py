"""The benchmark of the providers runs, on a small input."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "providers.py"


@pytest.mark.slow
def test_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("bench_providers", _SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ProcessPoolExecutor", _InThisProcess)  # its functions are found by file name only
    found = module.measure(20, 8)
    assert len(found) == 6 and all(rate > 0 for rate in found.values())


class _InThisProcess:
    def __init__(self, *_: object) -> None:
        self.map = map

    def __enter__(self) -> _InThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass
