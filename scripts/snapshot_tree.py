"""Draws an episode's tree of snapshots, as its journal tells it: `python -m scripts.snapshot_tree JOURNAL [EPISODE]` prints Mermaid.

Boxes are snapshots at stable boundaries, with how many uses of the plan were complete; solid arrows are steps that were kept,
dashed ones attempts that failed, each with the detector's step; a thick arrow leads back to the snapshot that was restored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cuamaster.adapters.journals.jsonl import JsonlJournal


def mermaid(events: Iterable[Mapping[str, Any]]) -> str:
    """The flowchart of one episode's events; the outcome stands at the end of the kept path."""
    lines = ["flowchart TD"]
    here, steps, injected, dropped, diverged = "", 0, 0, 0, ""
    restored: dict[str, str] = {}
    labels: list[str] = []
    for event in events:
        match event["event"]:
            case "boundary":
                boundary = event["boundary"]
                name = f"b{len(labels)}"
                labels.append(boundary["label"])
                lines.append(f'  {name}["{boundary["label"]}<br/>{boundary["use"]} uses"]')
                if here:
                    lines.append(f"  {here} -->|{_steps(steps)}| {name}")
                here, steps, injected = name, 0, 0
                restored[boundary["label"]] = name
            case "node":
                steps += 1
                injected += bool(event["node"]["injected"])
            case "divergence":
                diverged = f"step {int(event['divergence']['step']) + 1} was wrong"
            case "rollback":
                dropped += 1
                name = f"x{dropped}"
                lines.append(f'  {name}("{diverged}")')
                lines.append(f"  {here} -.->|{_steps(steps)}{', fault injected' if injected else ''}| {name}")
                here = restored[event["label"]]
                lines.append(f"  {name} ==>|rolled back| {here}")
                steps = injected = 0
            case "end":
                lines.append(f'  end_(["{event["result"]["outcome"]}"])')
                lines.append(f"  {here} -->|{_steps(steps)}| end_")
    return "\n".join(lines)


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def main() -> int:
    """Print the tree of the journal's last episode, or of the named one."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    events = JsonlJournal(Path(sys.argv[1])).events()
    wanted = sys.argv[2] if len(sys.argv) > 2 else (events[-1]["episode"] if events else "")
    found = [event for event in events if event["episode"] == wanted]
    if not found:
        print(f"no episode {wanted!r} in {sys.argv[1]}", file=sys.stderr)
        return 1
    print(mermaid(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
