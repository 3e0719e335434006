"""One step against the desktop: observe it, and perform a batch of actions exactly once each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from cuamaster.action_space import to_pixel
from cuamaster.errors import InvalidAction
from cuamaster.ports import Desktop, Frame, Image, ScreenReader, Store
from cuamaster.propagation.collection.tools import call_tool
from cuamaster.records.episode import Receipt
from cuamaster.records.primitive import Mode
from cuamaster.records.scene import Scene
from cuamaster.records.trajectory import Action, Observation, StateSignature
from cuamaster.vision.changes import changed_mask, gray

QUIET_S = 0.3
SETTLE_S = 6.0
"""The screen is taken as it is after this long: something on it may move for ever."""
REACTION_S = 3.0
"""How long a mouse or keyboard action may take to show its first effect: a screen is not settled before it has moved."""
_FORBIDDEN: dict[Mode, str] = {"gui": "cli", "cli": "gui", "mixed": ""}


def observe(
    desktop: Desktop,
    store: Store,
    *,
    t: float,
    response: str,
    feedback: str,
    state: StateSignature | None = None,
    elements: bool = False,
) -> tuple[Frame, Observation]:
    """The settled screen with its windows, and the observation with the stored picture; `t` seconds since the begin.

    `state`: the signature when it is known already, because nothing was done since it was taken. `elements`: keep the
    accessibility tree, windows and pointer beside the picture, where the image has an accessibility bus.
    """
    shown = desktop.settle(timeout=SETTLE_S, quiet=QUIET_S)
    state = state or known_state(desktop)
    active = state.active
    frame = dataclasses.replace(shown, active=active, windows=state.windows)
    height, width = frame.image.shape[:2]
    observation = Observation(
        screenshot=store.put(shown.png),
        width=width,
        height=height,
        t=t,
        active_window=active.title if active else "",
        response=response,
        feedback=feedback,
        scene=_scene(state, desktop, store) if elements and "accessibility" in desktop.capabilities else "",
    )
    return frame, observation


def known_state(desktop: Desktop) -> StateSignature:
    """The desktop's state, without anything in it where a guest has a screen only and nobody can be asked."""
    return desktop.state() if "shell" in desktop.capabilities else StateSignature(active=None)


def _scene(state: StateSignature, desktop: Desktop, store: Store) -> str:
    scene = Scene(active=state.active, windows=state.windows, pointer=desktop.pointer, tree=desktop.elements())
    return store.put(scene.to_json().encode())


def shows(actions: Sequence[Action]) -> bool:
    """Whether one of the actions should be seen on the screen."""
    return any(item.action.category == "gui" and item.action.type != "mouse.move" for item in actions)


def await_reaction(
    before: Image, desktop: Desktop, clock: Callable[[], float], pointers: Sequence[tuple[float, float]] = ()
) -> bool:
    """True once the screen differs from `before`, False after REACTION_S: an action that changed nothing.

    `pointers`: where the pointer was and is now (0-1000); the pointer's own move is no reaction.
    """
    height, width = before.shape[:2]
    hidden = [
        (to_pixel(x, width) - 8, to_pixel(y, height) - 8, to_pixel(x, width) + 24, to_pixel(y, height) + 28)
        for x, y in pointers
    ]
    was, deadline = gray(before), clock() + REACTION_S
    now = desktop.screenshot()
    while not changed_mask(was, gray(now.image), hidden).any():
        if clock() >= deadline:
            return False
        now = desktop.settle(timeout=0.1, quiet=0.1)
    return True


def with_effect(actions: Sequence[Action], receipts: Sequence[Receipt]) -> tuple[Receipt, ...]:
    """The receipts of a batch after which the screen changed: the last mouse or keyboard action that was sent had an effect."""
    marked = list(receipts)
    for index in range(len(marked) - 1, -1, -1):
        if actions[index].action.category == "gui" and marked[index].status == "sent":
            marked[index] = marked[index].model_copy(update={"status": "effect_seen"})
            break
    return tuple(marked)


def pointers_of(actions: Sequence[Action]) -> list[tuple[float, float]]:
    """Every place (0-1000) at which the actions put the pointer, in order."""
    places: list[tuple[float, float]] = []
    for item in actions:
        args = item.action.args
        places += [(args["x"], args["y"])] if "x" in args else []
        places += [(x, y) for x, y in args.get("path", ())]
    return places


def perform(
    actions: Sequence[Action],
    ids: Sequence[str],
    *,
    mode: Mode,
    desktop: Desktop,
    reader: ScreenReader,
    clock: Callable[[], float],
) -> tuple[tuple[Action, ...], tuple[Receipt, ...]]:
    """The actions that were tried, in order, with a receipt each; stops after a rejected one. Never sends anything twice.

    `finish` gets a receipt and no deed. An action of a category that the mode excludes is rejected. Raises DesktopFault.
    """
    tried: list[Action] = []
    receipts: list[Receipt] = []
    for item, action_id in zip(actions, ids, strict=True):
        begun = clock()
        try:
            receipt = _one(item, action_id, mode, desktop, reader)
        except InvalidAction as exc:
            receipt = Receipt(action_id=action_id, status="rejected", response=str(exc))
        tried.append(item.model_copy(update={"t_start": begun, "t_end": clock()}))
        receipts.append(receipt)
        if receipt.status == "rejected":
            break
    return tuple(tried), tuple(receipts)


def _one(item: Action, action_id: str, mode: Mode, desktop: Desktop, reader: ScreenReader) -> Receipt:
    action = item.action
    action.validate()
    if action.category == _FORBIDDEN[mode]:
        raise InvalidAction(f"{action.type} is not available in mode {mode}", field="type")
    if action.type == "finish":
        return Receipt(action_id=action_id, status="sent")
    if action.type == "tool.call":
        answer = call_tool(action.args["name"], action.args.get("arguments", {}), desktop, reader)
        return Receipt(action_id=action_id, status="effect_seen", response=answer)
    return desktop.act(action, action_id)
