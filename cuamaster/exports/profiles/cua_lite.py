"""CUA-Lite's canonical rows: `images`, and `messages` and `metadata` as JSON text, coordinates integers 0-1000.

Shape as its validators ask for it (cua-lite/cua-lite: lite/data/utils/rows.py, lite/core/tools/action_space/base.py and
lite/data/preproc/opencua/use.py): GUI actions ride in one `computer` call a step, everything else is a call of its own that
`metadata.extra_tool_schemas` declares; each call is answered by a `tool` message that carries the next screenshot; no
`terminate` is kept: a trajectory ends with the screen after its last action and a text, which is the answer or only `Done.`
(`structural_final_message`, `finalize_use_messages` in lite/data/utils/messages.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen
from cuamaster.dialects.dialect import Screen, Writer
from cuamaster.errors import InvalidAction
from cuamaster.exports.columns import IMAGES, STRING, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.pictures import Picture
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.turns import Message, Row, spoken
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Step

_DONE = "Done."
_COLUMNS: Columns = {"images": IMAGES, "messages": STRING, "metadata": STRING}


def _rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    if options.history is not None:
        raise InvalidAction("cua-lite rows are whole trajectories", field="history", hint="export without a history")
    steps, answer = _ended(spoken(sample.steps, options))
    messages: list[Message] = [{"role": "user", "content": [_image(0), _text(sample.instruction)]}]
    declared: set[str] = set()
    for index, step in enumerate(steps):
        made = calls([item.action for item in step.actions], index)
        declared |= {call["function"]["name"] for call in made} - {"computer"}
        told = [{"type": "action_description", "text": step.thought}] if step.thought else []
        messages.append({"role": "assistant", "tool_calls": made, **({"content": told} if told else {})})
        messages += _results(made, sample.steps[index + 1 : index + 2], index + 1)
    messages.append({"role": "assistant", "content": [_text(answer or _DONE)]})
    metadata = {
        "metadata_kind": "cua",
        "dims": ["desktop", "use"],
        "extra_tool_schemas": [tool for tool in qwen.tools(sample.mode) if tool["function"]["name"] in declared],
        "valid_actions": None,
        "others": {
            "id": sample.id,
            "task_id": sample.task.id if sample.task else sample.id,
            "resolution": [sample.steps[0].observation.width, sample.steps[0].observation.height],
            "os": "linux",
            "source": "cuamaster",
            "source_id": sample.id,
            "domain": sample.task.domain if sample.task else None,
            "round": sample.round,
            "status": "success",
        },
    }
    yield {
        "id": sample.id,
        "images": [Picture.of(step.observation) for step in sample.steps],
        "messages": json.dumps(messages, ensure_ascii=False),
        "metadata": json.dumps(metadata, ensure_ascii=False),
    }


def _ended(steps: Sequence[Step]) -> tuple[Sequence[Step], str]:
    """The steps without the finish, and its answer."""
    last = steps[-1]
    answer = str(last.actions[-1].action.args.get("answer", ""))
    if len(last.actions) > 1:
        return [*steps[:-1], last.model_copy(update={"actions": last.actions[:-1]})], answer
    if len(steps) == 1:
        raise InvalidAction("nothing was done before the task was called done", field="actions")
    return steps[:-1], answer


_WRITER = Writer(qwen.QWEN3_VL.space, Screen(1000, 1000))


def calls(actions: Sequence[CUAAction], step: int) -> list[dict[str, Any]]:
    """A step's calls: neighbouring GUI actions in one `computer` batch; raises InvalidAction for what has no words."""
    found: list[tuple[str, dict[str, Any]]] = []
    for action in (part for whole in actions for part in qwen.lower(whole)):
        if action.type in ("shell.exec", "tool.call"):
            (call,) = qwen.QWEN3_VL.encode(action, _WRITER)
            found.append((call["name"], call["arguments"]))
            continue
        if not found or found[-1][0] != "computer":
            found.append(("computer", {"actions": []}))
        found[-1][1]["actions"] += _gui(action)
    return [
        {"id": f"call_{step:04d}_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(found)
    ]


def _gui(action: CUAAction) -> list[dict[str, Any]]:
    """Children of a `computer` call for one lowered action."""
    args = action.to_dict()["args"]
    point = {"coordinate": [args["x"], args["y"]]} if "x" in args else {}
    move = [{"action": "mouse_move", **point}] if point else []
    spoken_as: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "mouse.click": lambda: [{"action": "click", **point, "button": args.get("button", "left"), "clicks": args.get("count", 1)}],
        "mouse.move": lambda: move,
        "mouse.down": lambda: [*move, {"action": "mouse_down"}],
        "mouse.up": lambda: [*move, {"action": "mouse_up"}],
        "mouse.drag": lambda: [{"action": "drag", "start_coordinate": args["path"][0], "coordinate": args["path"][-1]}],
        "mouse.scroll": lambda: [{"action": "scroll", **_scroll(args), **point}],
        "keyboard.type": lambda: [{"action": "type", "text": args["text"]}],
        "keyboard.press": lambda: [{"action": "key", "keys": args["keys"]}],
        "keyboard.down": lambda: [{"action": "key_down", "keys": [args["key"]]}],
        "keyboard.up": lambda: [{"action": "key_up", "keys": [args["key"]]}],
        "wait": lambda: [{"action": "wait", "duration": args["seconds"]}],
    }  # fmt: skip
    if action.type not in spoken_as:
        raise InvalidAction(f"CUA-Lite has no word for {action.type} here", field="type")
    return spoken_as[action.type]()


def _scroll(args: dict[str, Any]) -> dict[str, Any]:
    axis = "dy" if "dy" in args else "dx"
    names = {"dy": ("down", "up"), "dx": ("right", "left")}[axis]
    return {"direction": names[args[axis] < 0], "amount": abs(int(args[axis]))}


def _results(calls: Sequence[dict[str, Any]], after: Sequence[Step], image: int) -> list[Message]:
    """One result a call; the last one carries what was seen and answered in the step `after`, if there is one."""
    seen = [
        part
        for step in after
        for part in [*([_text(step.observation.response)] if step.observation.response else []), _image(image)]
    ]
    contents: list[list[dict[str, Any]]] = [*([[_text(_DONE)]] * (len(calls) - 1)), seen or [_text(_DONE)]]
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": content}
        for call, content in zip(calls, contents, strict=True)
    ]


def _image(index: int) -> dict[str, Any]:
    return {"type": "image", "index": index}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


PROFILE = Profile(
    name="cua-lite", stream="trajectories", rows=_rows, columns=lambda _: _COLUMNS,
    use="`pandas.read_parquet`, then `json.loads` of `messages` and `metadata`; `index` in a message counts `images`",
)  # fmt: skip
