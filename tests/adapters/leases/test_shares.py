"""Fair shares, for any number of flows: nobody is passed over, and nobody gets more while another has less and waits."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cuamaster.adapters.leases.shares import Request, grants

FLOWS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(waiting=FLOWS, held=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 6)), free=st.integers(0, 10))
def test_slots_are_shared_evenly(waiting: list[str], held: dict[str, int], free: int) -> None:
    queue = [Request(str(number), flow, ("h",)) for number, flow in enumerate(waiting)]
    given_to = grants({"h": free}, held, queue)
    assert len(given_to) == min(free, len(queue)), "no slot stays empty while somebody waits"
    got = Counter(request.flow for request in queue if request.id in given_to)
    total = Counter(held) + got
    for poor in {request.flow for request in queue if request.id not in given_to}:
        for rich in got:
            assert total[rich] <= total[poor] + 1 or rich == poor
    for flow in got:
        mine = [request.id for request in queue if request.flow == flow]
        assert [name in given_to for name in mine] == sorted((name in given_to for name in mine), reverse=True)


@given(flows=st.integers(1, 6), capacity=st.integers(1, 8), lengths=st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_flows_that_always_want_more_get_the_same_within_one(flows: int, capacity: int, lengths: list[int]) -> None:
    """Also one that arrives late, when everything is taken: it is next."""
    running: list[tuple[int, str]] = []
    served: Counter[str] = Counter()
    names = [f"flow-{number}" for number in range(flows)]
    number = 0
    for now in range(40):
        running = [(end, flow) for end, flow in running if end > now]
        present = names if now >= 10 else names[:1]
        queue = [Request(f"{flow}-{turn}", flow, ("h",)) for flow in present for turn in range(capacity)]
        held = Counter(flow for _, flow in running)
        given_to = grants({"h": capacity - len(running)}, held, queue)
        for request in (item for item in queue if item.id in given_to):
            running.append((now + lengths[number % len(lengths)], request.flow))
            served[request.flow] += 1
            number += 1
        assert len(running) == capacity
        if now >= 10 + max(lengths):
            held = Counter(flow for _, flow in running)
            assert max(held[flow] for flow in names) - min(held[flow] for flow in names) <= 1
    if flows > capacity:
        return  # a flow may hold nothing for a while, but see below
    assert all(served[flow] for flow in names)


def test_with_more_flows_than_slots_all_get_their_turn_when_who_waited_longest_comes_first() -> None:
    queue = [Request(flow, flow, ("h",)) for flow in "abcde"]
    served: Counter[str] = Counter()
    for _ in range(25):
        ((name, _),) = grants({"h": 1}, {}, queue).items()
        served[name] += 1
        first = next(item for item in queue if item.id == name)
        queue.remove(first)
        queue.append(first)  # asks again, at the end of the queue
    assert set(served.values()) == {5}
