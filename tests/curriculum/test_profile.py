"""Who is to blame for a failed first attempt, and when nobody is."""

from __future__ import annotations

import pytest

from cuamaster.curriculum.profile import failure_kind, first_attempt, profile
from cuamaster.errors import UnknownName
from cuamaster.records.condition import FileExists, WindowTitle
from cuamaster.records.episode import Branch, Episode, Node
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.profile import ProfileRow
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Action, Observation
from cuamaster.records.verdict import Check, Divergence, Outcome, Verdict

SEEN = Observation(screenshot="0" * 64, width=10, height=10)
WAIT = Action.model_validate({"action": {"type": "wait", "args": {"seconds": 1}}})


def _use(app: str) -> PrimitiveUse:
    done = FileExists(path=f"~/{app}")
    procedure = Procedure(mode="gui", steps=(ActionTemplate(type="wait", args={"seconds": 1}),))
    return PrimitiveUse(
        primitive=Primitive(
            app=app, ability="do-it", instruction="Do it", effects=(done,), verifier=done, procedures=(procedure,)
        )
    )


def _task(*apps: str, domain: str = "office") -> Task:
    return Task(
        instruction="Do it all", environment=Environment(image="i", image_digest="d"), verifier=FileExists(path="~/x"), domain=domain,
        plan=tuple(_use(app) for app in apps), strategy="sequential",
    )  # fmt: skip


def _node(index: int, parent: int, *, use: int = 0, dropped: bool = False, injected: bool = False) -> Node:
    return Node(
        index=index, parent=parent, observation=SEEN, actions=(WAIT,), use=use, dropped=dropped, injected=injected
    )


def _episode(task: Task, outcome: Outcome, *nodes: Node, first: bool | None = None, policy: str = "model") -> Episode:
    dropped = sum(node.dropped for node in nodes)
    verdict = None
    if outcome == "failed":
        holds, missing = (
            Check(condition=c, holds=h) for c, h in ((WindowTitle(title="a"), True), (FileExists(path="~/x"), False))
        )
        verdict = Verdict(status="failed", checks=(holds, missing))
    return Episode(
        id=f"e{len(nodes)}{outcome}", task_id=task.id, policy=policy, mode="gui", outcome=outcome, verdict=verdict, nodes=nodes or (_node(0, -1),),
        rollbacks=dropped, injected_faults=sum(node.injected for node in nodes), first_attempt_passed=first,
    )  # fmt: skip


def _rows(rows: list[ProfileRow], by: str) -> dict[str, tuple[int, int, int, int]]:
    return {row.value: (row.attempts, row.passed, row.injected, row.infra) for row in rows if row.by == by}


def test_success_by_every_dimension() -> None:
    one, two = _task("mousepad"), _task("mousepad", "pcmanfm", domain="files")
    rows = profile(
        [one, two],
        [
            _episode(one, "passed", first=True),
            _episode(two, "failed", first=False),
            _episode(two, "passed", first=True),
        ],
    )
    assert _rows(rows, "domain") == {"office": (1, 1, 0, 0), "files": (2, 1, 0, 0)}
    assert _rows(rows, "k") == {"1": (1, 1, 0, 0), "2": (2, 1, 0, 0)} == _rows(rows, "n")
    assert _rows(rows, "app")["mousepad"] == (3, 2, 0, 0)
    assert _rows(rows, "failure") == {"file.exists": (1, 0, 0, 0)}
    assert next(row for row in rows if row.by == "k" and row.value == "2").rate == 0.5


def test_policies_are_kept_apart() -> None:
    task = _task("mousepad")
    rows = profile(
        [task], [_episode(task, "passed", first=True, policy="a"), _episode(task, "failed", first=False, policy="b")]
    )
    assert {(row.policy, row.passed) for row in rows if row.by == "app"} == {("a", 1), ("b", 0)}


@pytest.mark.parametrize("outcome", ["infra", "setup", "verifier", "drift"])
def test_infrastructure_says_nothing_about_the_policy(outcome: Outcome) -> None:
    task = _task("mousepad")
    rows = profile([task], [_episode(task, outcome, first=False)])
    assert _rows(rows, "app") == {"mousepad": (0, 0, 0, 1)} and _rows(rows, "failure") == {}
    assert rows[0].rate is None


def test_a_retry_that_passes_is_still_a_failed_first_attempt() -> None:
    task = _task("mousepad")
    episode = _episode(task, "passed", _node(0, -1, dropped=True), _node(1, -1), first=False)
    assert first_attempt(episode) == "failed"
    assert first_attempt(episode.model_copy(update={"first_attempt_passed": None})) == "failed"
    assert failure_kind(episode) == "unfinished"
    seen = episode.model_copy(
        update={"divergences": (Divergence(step=0, snapshot="s", feedback="f", detector="rules"),)}
    )
    assert failure_kind(seen) == "diverged-rules"


def test_an_injected_fault_is_not_the_policys_failure() -> None:
    task = _task("mousepad")
    recovered = _episode(
        task, "passed", _node(0, -1, dropped=True, injected=True), _node(1, 0, dropped=True), _node(2, -1), first=False
    )
    assert first_attempt(recovered) == "injected"
    assert _rows(profile([task], [recovered]), "app") == {"mousepad": (0, 0, 1, 0)}
    also_its_own = _episode(
        task, "passed", _node(0, -1, dropped=True, injected=True), _node(1, -1, dropped=True), _node(2, -1), first=False
    )
    assert first_attempt(also_its_own) == "failed"
    gave_up = _episode(task, "failed", _node(0, -1, dropped=True, injected=True), _node(1, -1), first=False)
    assert first_attempt(gave_up) == "failed"


def test_a_fork_that_was_verified_with_more_steps_is_no_failure() -> None:
    task = _task("mousepad")
    longer = Branch(number=1, snapshot="s", node=-1, path=(1, 2), outcome="passed")
    kept = Branch(number=0, snapshot="s", node=-1, path=(3,), outcome="passed", kept=True)
    nodes = [
        _node(0, -1, dropped=True, injected=True),
        _node(1, -1, dropped=True),
        _node(2, 1, dropped=True),
        _node(3, -1),
    ]
    raced = _episode(task, "passed", *nodes, first=False).model_copy(update={"branches": (kept, longer)})
    assert first_attempt(raced) == "injected"
    failed = longer.model_copy(update={"outcome": "failed"})
    assert first_attempt(raced.model_copy(update={"branches": (kept, failed)})) == "failed"


def test_the_application_where_it_broke_off_is_blamed() -> None:
    task = _task("lxterminal", "mousepad", "pcmanfm")
    episode = _episode(task, "failed", _node(0, -1, use=0), _node(1, 0, use=1), first=False)
    assert _rows(profile([task], [episode]), "app") == {"lxterminal": (1, 1, 0, 0), "mousepad": (1, 0, 0, 0)}
    retried = _episode(
        task, "passed", _node(0, -1, use=0), _node(1, 0, use=2, dropped=True), _node(2, 0, use=2), first=False
    )
    assert _rows(profile([task], [retried]), "app")["pcmanfm"] == (1, 0, 0, 0)


def test_unknown_task_is_named() -> None:
    with pytest.raises(UnknownName, match="not among the tasks"):
        profile([], [_episode(_task("mousepad"), "passed")])
