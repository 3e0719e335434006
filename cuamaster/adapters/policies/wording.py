"""One step of a procedure in words, for the thought that goes with it."""

from __future__ import annotations

from cuamaster.records.primitive import ActionTemplate
from cuamaster.records.trajectory import Target

_CLICKS = {
    ("left", 1): "Click",
    ("left", 2): "Double-click",
    ("left", 3): "Triple-click",
    ("right", 1): "Right-click",
    ("middle", 1): "Middle-click",
}


def in_words(template: ActionTemplate) -> str:
    """`say` of the template if it has one, else a short imperative."""
    if template.say:
        return template.say
    args, what = template.args, _name(template.target)
    if template.type == "mouse.click":
        return f"{_CLICKS.get((args.get('button', 'left'), args.get('count', 1)), 'Click')} {what}."
    if template.type == "keyboard.type":
        return f"Type {args['text']!r}{f' into {what}' if template.target else ''}."
    if template.type in ("keyboard.press", "keyboard.hold"):
        return f"Press {'+'.join(args['keys'])}."
    if template.type == "mouse.drag":
        return f"Drag {what} to {_name(template.to)}."
    if template.type == "mouse.scroll":
        return "Scroll."
    if template.type == "shell.exec":
        return f"Run {args['command']}"
    return {"mouse.move": f"Point at {what}.", "wait": "Wait."}.get(template.type, template.type)


def _name(target: Target | None) -> str:
    if target is None:
        return "here"
    if target.text:
        return f'"{target.text}"' + (f" in the {target.role}" if target.role in ("cell", "field") else "")
    return f"the {target.role or 'area'}" + (f' near "{target.near}"' if target.near else "")
