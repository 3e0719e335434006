"""Datasets as trainers read them, one file a profile: pure functions from a stream of samples, tasks, pairs or elements to rows."""

from __future__ import annotations

import importlib

from cuamaster.errors import UnknownName
from cuamaster.exports.profiles.profile import Profile

PROFILES = (
    "trl", "ms-swift", "llama-factory", "verl-sft", "openai-jsonl", "agentnet", "cua-lite",
    "verl", "trl-grpo", "skyrl", "trl-dpo", "grounding",
)  # fmt: skip


def profile(name: str) -> Profile:
    """A profile by name; raises UnknownName."""
    if name not in PROFILES:
        raise UnknownName(f"no profile {name!r}", hint=f"one of {', '.join(PROFILES)}")
    found = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").PROFILE
    assert isinstance(found, Profile)
    return found
