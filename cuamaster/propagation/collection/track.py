"""The track of one episode or branch: what was seen and done on the way, each step journalled before it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cuamaster.ports import Decision, Desktop, Frame, Journal, Policy, ScreenReader, Store
from cuamaster.propagation.collection.acting import await_reaction, observe, perform, pointers_of, shows, with_effect
from cuamaster.propagation.collection.journal import drop_after
from cuamaster.propagation.collection.progress import begins_execution
from cuamaster.propagation.collection.race import Race
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.primitive import Mode
from cuamaster.records.trajectory import Observation, StateSignature
from cuamaster.records.verdict import Check


@dataclass
class Track:
    """Nodes and boundaries, oldest first; `clock` gives seconds, `begun` is when the episode began by it.

    `elements`: each observation keeps the accessibility tree as well, where the image has one. Methods raise DesktopFault when
    the desktop does not play along, StoreFull when frames or journal cannot be written.
    """

    id: str
    desktop: Desktop
    reader: ScreenReader
    journal: Journal
    store: Store
    clock: Callable[[], float]
    begun: float
    race: Race
    snapshots: Snapshots
    elements: bool = False
    number: int = 0
    """Of the branch; 0 is the one that the episode began with."""
    nodes: list[Node] = field(default_factory=list)
    hint: str = ""
    """What was told after the last rollback, until the next boundary."""
    state: StateSignature | None = None
    """The desktop's state while nothing has been done since it was attested."""

    def forked(self, number: int, desktop: Desktop) -> Track:
        """The same track so far, for a branch that goes on from here on a fork of the desktop."""
        snapshots = self.snapshots.forked(desktop, f"{self.id}-b{number}")
        return replace(self, number=number, desktop=desktop, nodes=list(self.nodes), snapshots=snapshots)

    @property
    def seconds(self) -> float:
        """Since the episode began."""
        return self.clock() - self.begun

    def path(self) -> list[Node]:
        """The steps of the branch that were not dropped."""
        return [node for node in self.nodes if not node.dropped]

    def begins(self, decision: Decision) -> bool:
        """Whether the decision begins another execution of a primitive."""
        return begins_execution(decision.use, self._parent(), self.nodes[-1] if self.nodes else None)

    def observe(self) -> tuple[Frame, Observation]:
        """The screen now, and what is kept of it."""
        path = self.path()
        return observe(
            self.desktop,
            self.store,
            t=self.seconds,
            response=path[-1].answer if path else "",
            feedback=self.hint,
            state=self.state,
            elements=self.elements,
        )

    def act(self, decision: Decision, observation: Observation, frame: Frame, mode: Mode) -> Node:
        """Journal the intent, perform, journal the node: only then does it count."""
        index = self.race.step()
        ids = [f"{self.id}-{index}-{position}" for position in range(len(decision.actions))]
        self.log("intent", node=index, ids=ids, actions=[item.model_dump(mode="json") for item in decision.actions])
        tried, receipts = perform(
            decision.actions,
            ids,
            mode=mode,
            desktop=self.desktop,
            reader=self.reader,
            clock=lambda: self.seconds,
        )
        if shows(tried):
            earlier = [place for node in self.path() for place in pointers_of(node.actions)][-1:]
            if await_reaction(frame.image, self.desktop, self.clock, [*earlier, *pointers_of(tried)]):
                receipts = with_effect(tried, receipts)
        self.state = None
        node = Node(
            index=index,
            parent=self._parent(),
            observation=observation,
            actions=tried,
            receipts=receipts,
            thought=decision.thought,
            use=decision.use,
            injected=decision.injected,
        )
        self.nodes.append(node)
        self.log("node", node=node.model_dump(mode="json"))
        return node

    def boundary(self, use: int, checks: Sequence[Check], policy: Policy) -> Boundary:
        """A snapshot where `use` uses are complete and `checks` were found."""
        node = self.nodes[-1].index if self.nodes else -1
        self.hint = ""
        boundary = self.snapshots.take(node, use, checks, policy)
        self.state = boundary.signature
        if self.nodes:
            self.nodes[-1] = self.nodes[-1].model_copy(update={"snapshot_after": boundary.label})
        self.log("boundary", boundary=boundary.model_dump(mode="json"))
        return boundary

    def returned(self, boundary: Boundary, hint: str) -> None:
        """The desktop stands at `boundary` again: the steps after it are dropped, `hint` goes with the next observations."""
        self.nodes = drop_after(self.nodes, boundary.node)
        self.state, self.hint = boundary.signature, hint

    def log(self, event: str, **data: object) -> None:
        """One line of the journal, fsynced."""
        branch = {"branch": self.number} if self.number else {}
        self.journal.append({"event": event, "episode": self.id, "t": self.seconds, **branch, **data})

    def _parent(self) -> int:
        path = self.path()
        return path[-1].index if path else -1
