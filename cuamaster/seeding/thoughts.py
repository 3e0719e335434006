"""An action in words, as the thought of its step."""

from __future__ import annotations

from cuamaster.records.trajectory import Action

_CLICKS = {("left", 1): "Click", ("left", 2): "Double-click", ("right", 1): "Right-click"}


def in_words(action: Action) -> str:
    """One imperative sentence: `Click "File" (menu).`"""
    args, kind = action.action.args, action.action.type
    what = _what(action)
    match kind:
        case "mouse.click":
            return f"{_CLICKS.get((args.get('button', 'left'), args.get('count', 1)), 'Click')} {what}."
        case "keyboard.type":
            return f"Type {args['text']!r}" + (f" into {what}." if action.target else ".")
        case "keyboard.press":
            return f"Press {'+'.join(args['keys'])}."
        case "mouse.scroll":
            return f"Scroll {'up' if args.get('dy', 0) < 0 else 'down' if args.get('dy', 0) else 'sideways'}."
        case "mouse.drag":
            return f"Drag from {what}."
        case _:
            return f"Move the pointer to {what}."


def _what(action: Action) -> str:
    target = action.target
    if target is None:
        return "here"
    if target.text:
        return f'"{target.text}"' + (f" ({target.role})" if target.role else "")
    return f"the {target.role or 'area'}"
