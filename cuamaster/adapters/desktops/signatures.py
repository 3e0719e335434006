"""What two state signatures differ in, in words; and the signature of a guest of which only the screen is seen."""

from __future__ import annotations

import hashlib

from cuamaster.ports import Image
from cuamaster.records.trajectory import StateSignature, Window


def difference(expected: StateSignature, seen: StateSignature) -> str:
    """What differs between two signatures, in words."""
    parts = []
    if expected.active != seen.active:
        parts.append(f"active window {_name(expected.active)} became {_name(seen.active)}")
    if expected.windows != seen.windows:
        parts.append(
            f"windows {[_name(item) for item in expected.windows]} became {[_name(item) for item in seen.windows]}"
        )
    changed = [path for path in expected.files if expected.files[path] != seen.files.get(path)]
    if changed:
        parts.append(f"files differ: {', '.join(changed)}")
    return "; ".join(parts) or (
        "controller data differ" if expected.controller == seen.controller else "another screen"
    )


def screen_signature(image: Image) -> StateSignature:
    """All that is known of a guest that nobody can ask: what its screen shows."""
    return StateSignature(active=None, controller={"screen": hashlib.sha256(image.tobytes()).hexdigest()})


def _name(window: Window | None) -> str:
    if window is None:
        return "none"
    return f"{window.app} {window.title!r} {window.width}x{window.height}+{window.x}+{window.y}"
