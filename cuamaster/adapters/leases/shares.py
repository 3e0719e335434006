"""Who gets the next free slot: pure. The flow that holds the fewest comes first, and within a flow who has waited longest.

This is max-min fairness without taking anything away: a flow alone gets everything; a second one gets every slot that comes
free until both hold the same; a third one that arrives holds nothing and is therefore next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """One collector waiting for a slot on any of `hosts`."""

    id: str
    flow: str
    hosts: tuple[str, ...]


def grants(free: Mapping[str, int], held: Mapping[str, int], waiting: Sequence[Request]) -> dict[str, str]:
    """Request id -> host, for all that get a slot now.

    `free`: slots by host; `held`: slots by flow; `waiting`: longest first. The host with the most free slots is taken.
    """
    left, shares, queue = Counter(free), Counter(held), list(waiting)
    given: dict[str, str] = {}
    while chosen := [(request, host) for request in queue if (host := _freest(request.hosts, left)) is not None]:
        request, host = min(chosen, key=lambda item: shares[item[0].flow])  # the first of equals has waited longest
        given[request.id] = host
        left[host] -= 1
        shares[request.flow] += 1
        queue.remove(request)
    return given


def _freest(hosts: Sequence[str], left: Mapping[str, int]) -> str | None:
    best = max(hosts, key=lambda host: left.get(host, 0), default=None)
    return best if best is not None and left.get(best, 0) > 0 else None
