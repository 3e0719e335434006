"""Primitives of the simulated record-keeping applications: every operation on every kind, by buttons and by command."""

from __future__ import annotations

from itertools import product

from cuamaster.adapters.desktops.simulated import DIGEST
from cuamaster.adapters.desktops.simulated_records import EXCHANGE, OPERATIONS, RECORD_APPS
from cuamaster.records.condition import Condition, FileExists, FileText, Not, WindowTitle
from cuamaster.records.primitive import ActionTemplate, Evidence, Parameter, Primitive, Procedure, SetupStep
from cuamaster.records.trajectory import Target

_COLORS = ("amber", "azure", "coral", "ebony", "hazel", "ivory", "jade", "khaki", "lilac", "mauve", "ochre", "olive")
_PLACES = ("lake", "ridge", "grove", "brook", "cliff", "field", "marsh", "shore", "dune", "glade", "creek", "harbor")
NAMES = tuple(f"{color}-{place}" for color, place in product(_COLORS, _PLACES))
_WHO = ("Anna", "Boris", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Irene", "Jonas", "Klara", "Luca")
_WHAT = (
    "pays in cash",
    "comes on Monday",
    "wants a copy",
    "sends it back",
    "needs two more",
    "signs the form",
    "calls at noon",
)
TEXTS = tuple(f"{who} {what}" for who, what in product(_WHO, _WHAT))


def records_library() -> list[Primitive]:
    """All of them, applications in order; each can be started, and each operation has a button and a command."""
    found = []
    for app, kinds in RECORD_APPS.items():
        found.append(_open(app))
        found += [_operation(app, kind, operation) for kind in kinds for operation in (*OPERATIONS, *EXCHANGE)]
    return found


def _open(app: str) -> Primitive:
    front = WindowTitle(app=app, active=True)
    icon = Target(text=app.capitalize(), window="screen")
    return Primitive(
        app=app,
        ability="open-application",
        instruction=f"Start {app.capitalize()}",
        preconditions=(Not(of=WindowTitle(app=app)),),
        requires=(f"app:{app}",),
        effects=(front,),
        verifier=front,
        procedures=(
            Procedure(mode="gui", steps=(ActionTemplate(type="mouse.click", target=icon),)),
            Procedure(mode="cli", steps=(ActionTemplate(type="shell.exec", args={"command": app}),)),
        ),
        evidence=_EVIDENCE,
    )


def _operation(app: str, kind: str, operation: str) -> Primitive:
    home = f"~/{app.capitalize()}"
    record, shared, done = f"{home}/{kind}-{{name}}.txt", "~/Shared/{name}.txt", f"{home}/Done/{kind}-{{name}}.txt"
    renamed = f"{home}/{kind}-{{other}}.txt"
    source = shared if operation == "fetch" else record
    needs: tuple[Condition, ...] = (FileText(path=source, text="{text}"),)
    gone = Not(of=FileExists(path=record))
    line, words = "{name}", f"{operation.capitalize()} the {kind} {{name}} of {app.capitalize()}"
    effects: tuple[Condition, ...]
    match operation:
        case "new":
            needs, effects = (gone,), (FileText(path=record, text="{text}"),)
            line, words = "{name}:{text}", f'Add to {app.capitalize()} the {kind} {{name}} with the text "{{text}}"'
        case "complete":
            effects = (FileText(path=done, text="{text}"), gone)
        case "rename":
            effects = (FileText(path=renamed, text="{text}"), gone)
            line, words = "{name}:{other}", f"Rename the {kind} {{name}} of {app.capitalize()} to {{other}}"
        case "note":
            effects = (FileText(path=record, text="{text}\n{remark}"),)
            line, words = "{name}:{remark}", f'Add the note "{{remark}}" to the {kind} {{name}} of {app.capitalize()}'
        case "remove":
            effects = (gone,)
        case "share":
            needs, effects = (*needs, Not(of=FileExists(path=shared))), (FileText(path=shared, text="{text}"),)
            words = f"Share the {kind} {{name}} of {app.capitalize()} with the other applications"
        case _:
            needs, effects = (*needs, gone), (FileText(path=record, text="{text}"),)
            words = f"Fetch {{name}} from the shared records into {app.capitalize()} as a {kind}"
    button = Target(text=f"{operation.capitalize()} {kind}", role="button")
    steps = (
        ActionTemplate(type="mouse.click", target=button),
        ActionTemplate(type="keyboard.type", args={"text": line}),
        ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),
    )
    command = ActionTemplate(type="shell.exec", args={"command": f"{app} {operation} {kind} {line}"})
    launch = SetupStep(kind="app.launch", app=app)
    written = () if operation == "new" else (SetupStep(kind="file.write", path=source, text="{text}\n"),)
    used = [
        name for name in ("name", "text", "other", "remark") if f"{{{name}}}" in f"{line} {words} {needs} {effects}"
    ]
    return Primitive(
        app=app,
        ability=f"{operation}-{kind}",
        instruction=words,
        parameters=tuple(_PARAMETERS[name] for name in used),
        preconditions=(WindowTitle(app=app, active=True), *needs),
        requires=(f"app:{app}",),
        effects=effects,
        verifier=effects[0],
        procedures=(Procedure(mode="gui", steps=steps), Procedure(mode="cli", steps=(command,))),
        setup=(*written, launch),
        evidence=_EVIDENCE,
    )


_EVIDENCE = (Evidence(kind="demonstration", source=DIGEST),)
_PARAMETERS = {
    "name": Parameter(name="name", examples=NAMES),
    "other": Parameter(name="other", examples=NAMES),
    "text": Parameter(name="text", examples=TEXTS),
    "remark": Parameter(name="remark", examples=TEXTS),
}
