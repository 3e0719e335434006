"""Budgets follow failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.curriculum.plan import first_plan, next_plan
from cuamaster.errors import UnknownName
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.profile import ProfileRow

DOMAINS = {"mousepad": "office", "pcmanfm": "files", "galculator": "office", "gimp": "graphics", "blender": "graphics"}


def _plan(**k: int) -> RoundPlan:
    cells = tuple(
        PlanCell(app=app, domain=DOMAINS[app], videos=4, tasks=6, k=value, n=1, reason="r") for app, value in k.items()
    )
    return RoundPlan(round=1, cells=cells)


def _row(app: str, attempts: int, passed: int, policy: str = "p") -> ProfileRow:
    return ProfileRow(policy=policy, by="app", value=app, attempts=attempts, passed=passed)


def _tasks(plan: RoundPlan) -> dict[str, int]:
    return {cell.app: cell.tasks for cell in plan.cells}


def test_more_to_what_failed_less_to_what_is_saturated() -> None:
    previous = _plan(mousepad=2, pcmanfm=2)
    plan = next_plan(previous, [_row("mousepad", 6, 6), _row("pcmanfm", 6, 1)], DOMAINS)
    assert plan.round == 2
    assert _tasks(plan)["pcmanfm"] > 6 > _tasks(plan)["mousepad"] >= 1
    swapped = next_plan(previous, [_row("mousepad", 6, 1), _row("pcmanfm", 6, 6)], DOMAINS)
    assert _tasks(swapped)["mousepad"] > 6 > _tasks(swapped)["pcmanfm"]
    assert sum(_tasks(plan).values()) == sum(_tasks(previous).values()) == 12


def test_difficulty_follows_success() -> None:
    rows = [_row("mousepad", 6, 6), _row("pcmanfm", 6, 1), _row("galculator", 6, 3)]
    cells = {cell.app: cell for cell in next_plan(_plan(mousepad=2, pcmanfm=3, galculator=3), rows, DOMAINS).cells}
    assert (cells["mousepad"].k, cells["mousepad"].n) == (3, 2) and "saturated" in cells["mousepad"].reason
    assert cells["pcmanfm"].k == 2 and "1 of 6" in cells["pcmanfm"].reason
    assert cells["galculator"].k == 3
    once = next_plan(_plan(mousepad=2), [_row("mousepad", 1, 1)], DOMAINS)
    assert next(cell for cell in once.cells if cell.app == "mousepad").k == 2


def test_unexplored_applications_get_a_floor() -> None:
    plan = next_plan(_plan(mousepad=2, pcmanfm=2), [_row("mousepad", 6, 0)], DOMAINS)
    new = [cell for cell in plan.cells if cell.reason == "unexplored"]
    assert len(new) == 2 and all(cell.tasks == 1 and (cell.k, cell.n) == (2, 1) for cell in new)
    assert {cell.domain for cell in new} == {"office", "graphics"}


def test_applications_that_cannot_run_get_videos_only() -> None:
    plan = next_plan(_plan(mousepad=2, pcmanfm=2), [], DOMAINS, runnable={"mousepad", "pcmanfm"})
    assert all(cell.tasks == 0 and cell.videos for cell in plan.cells if cell.app not in ("mousepad", "pcmanfm"))
    assert any(cell.app not in ("mousepad", "pcmanfm") for cell in plan.cells)
    assert all(cell.n <= 2 for cell in plan.cells)


def test_policy_can_be_chosen() -> None:
    rows = [
        _row("mousepad", 9, 0, "weak"),
        _row("mousepad", 9, 9, "strong"),
        _row("pcmanfm", 9, 4, "weak"),
        _row("pcmanfm", 9, 4, "strong"),
    ]
    weak, strong = (
        _tasks(next_plan(_plan(mousepad=2, pcmanfm=2), rows, DOMAINS, policy=name)) for name in ("weak", "strong")
    )
    assert weak["mousepad"] > strong["mousepad"]


def test_unknown_applications_are_named() -> None:
    with pytest.raises(UnknownName, match="'emacs'"):
        next_plan(_plan(mousepad=2), [_row("emacs", 2, 1)], DOMAINS)
    with pytest.raises(UnknownName, match="'pcmanfm'"):
        next_plan(_plan(pcmanfm=2), [], {"mousepad": "office"})


def test_first_plan_spreads_over_domains() -> None:
    plan = first_plan(DOMAINS, videos=3, tasks=7)
    assert sum(_tasks(plan).values()) == 7 and sum(cell.videos for cell in plan.cells) == 3
    assert len({cell.domain for cell in plan.cells if cell.videos}) == 3
    assert first_plan(DOMAINS, videos=3, tasks=7) == plan
    assert first_plan({}, videos=3, tasks=3).cells == ()


@given(
    attempts=st.dictionaries(
        st.sampled_from(sorted(DOMAINS)), st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5
    ),
    k=st.dictionaries(st.sampled_from(sorted(DOMAINS)), st.integers(1, 40), min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
def test_budgets_are_kept_and_plans_are_deterministic(
    attempts: dict[str, tuple[int, int]], k: dict[str, int], seed: int
) -> None:
    rows = [_row(app, passed + failed, passed) for app, (passed, failed) in attempts.items()]
    previous = _plan(**k)
    plan = next_plan(previous, rows, DOMAINS, seed=seed)
    assert plan == next_plan(previous, rows, DOMAINS, seed=seed)
    for field in ("videos", "tasks"):
        assert sum(getattr(cell, field) for cell in plan.cells) == sum(getattr(cell, field) for cell in previous.cells)
    assert all(cell.k >= cell.n for cell in plan.cells)


def _ability(name: str, attempts: int, passed: int) -> ProfileRow:
    return ProfileRow(policy="p", by="ability", value=name, attempts=attempts, passed=passed)


def test_abilities_that_fail_most_are_searched_for_by_name() -> None:
    rows = [
        _ability("mousepad.save-as", 9, 1), _ability("mousepad.find-text", 4, 2), _ability("mousepad.open", 9, 9), _ability("mousepad.undo-all", 1, 0),
        _ability("mousepad.replace-text", 9, 0), _ability("pcmanfm.open-folder", 9, 9),
    ]  # fmt: skip
    cells = {cell.app: cell for cell in next_plan(_plan(mousepad=2, pcmanfm=2), rows, DOMAINS).cells}
    assert cells["mousepad"].capabilities == ("replace text", "save as", "undo all")
    assert cells["pcmanfm"].capabilities == ()


def test_the_poorest_applications_are_explored_first() -> None:
    kept = {"gimp": 5, "galculator": 0, "blender": 2}
    plan = next_plan(_plan(mousepad=2, pcmanfm=2), [], DOMAINS, kept=kept)
    explored = {cell.app for cell in plan.cells if cell.reason == "unexplored"}
    assert "galculator" in explored and "gimp" not in explored
    first = first_plan(DOMAINS, videos=2, tasks=0, round_number=4, kept={"mousepad": 1, "gimp": 1, "blender": 9})
    assert first.round == 4 and {cell.app for cell in first.cells} == {"pcmanfm", "galculator"}
