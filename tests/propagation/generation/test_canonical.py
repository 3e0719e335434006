"""One meaning, one entry: ability synonyms, parameter names, order and evidence do not count; P, E and V do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.errors import InvalidInput, UnknownName
from cuamaster.propagation.generation.canonical import canonical_ability, meaning
from cuamaster.propagation.generation.library import Library
from cuamaster.records.primitive import Evidence, Parameter, Primitive
from tests.propagation.generation import primitives_made as made


def _renamed(primitive: Primitive, old: str, new: str) -> Primitive:
    return Primitive.model_validate_json(
        primitive.model_dump_json().replace(f'"name":"{old}"', f'"name":"{new}"').replace(f"{{{old}}}", f"{{{new}}}")
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("create-folder", "make-a-new-directory"),
        ("find-and-replace", "replace"),
        ("delete-file", "remove-document"),
        ("save-file-as", "save-as"),
        ("compute", "calculate"),
        ("create-folder", "create_folder"),
        ("turn-on-word-wrap", "enable-word-wrap"),
    ],
)
def test_synonyms(one: str, other: str) -> None:
    assert canonical_ability(one) == canonical_ability(other)


@pytest.mark.parametrize(
    ("one", "other"), [("save", "save-as"), ("open-file", "open-folder"), ("enable-x", "disable-x"), ("copy", "cut")]
)
def test_different_abilities_stay_apart(one: str, other: str) -> None:
    assert canonical_ability(one) != canonical_ability(other)


@given(st.from_regex(r"[a-z]{1,8}(-[a-z]{1,8}){0,3}", fullmatch=True))
def test_canonical_names_are_stable(ability: str) -> None:
    assert canonical_ability(canonical_ability(ability)) == canonical_ability(ability)


def test_parameter_names_order_and_evidence_do_not_count() -> None:
    other = _renamed(_renamed(made.RENAME, "filename", "old"), "newname", "fresh")
    other = other.model_copy(
        update={
            "preconditions": tuple(reversed(other.preconditions)),
            "effects": tuple(reversed(other.effects)),
            "evidence": (Evidence(kind="video", source="v"),),
            "instruction": "Give {old} the name {fresh}",
        }
    )
    assert other.preconditions != made.RENAME.preconditions
    assert meaning(other) == meaning(made.RENAME)


def test_swapped_roles_of_parameters_are_another_meaning() -> None:
    swapped = _renamed(_renamed(_renamed(made.RENAME, "filename", "tmp"), "newname", "filename"), "tmp", "newname")
    assert meaning(swapped) == meaning(made.RENAME)  # all names changed consistently
    half = made.RENAME.model_copy(update={"effects": swapped.effects})
    assert meaning(half) != meaning(made.RENAME)


@pytest.mark.parametrize("field", ["preconditions", "effects", "verifier", "requires"])
def test_variants_that_differ_in_p_e_or_v_stay_apart(field: str) -> None:
    more = made.file("~/marker")
    changed = {
        "preconditions": (*made.DELETE.preconditions, more),
        "effects": (*made.DELETE.effects, more),
        "verifier": more,
        "requires": ("app:files", "network"),
    }[field]
    variant = made.DELETE.model_copy(update={field: changed})
    library = Library([made.DELETE])
    assert library.add(variant) == "added"
    assert len(library) == 2


def test_evidence_of_one_meaning_is_merged() -> None:
    library = Library([made.CREATE_FOLDER])
    seen = Evidence(kind="video", source="video-1", t_start=1.0, t_end=2.0)
    other = _renamed(made.CREATE_FOLDER, "dirname", "name").model_copy(
        update={"ability": "make-directory", "evidence": (seen,)}
    )
    assert library.knows(other)
    assert library.add(other) == "merged"
    assert library.add(other) == "merged"
    (entry,) = library
    assert entry.id == made.CREATE_FOLDER.id
    assert entry.evidence == (*made.SEEN, seen)


def test_without_evidence_there_is_no_entry() -> None:
    library = Library()
    with pytest.raises(InvalidInput, match="no evidence"):
        library.add(made.DELETE.model_copy(update={"evidence": ()}))
    assert len(library) == 0


def test_looking_up() -> None:
    library = Library(made.EVERYTHING)
    assert library.get(made.COPY.id) == made.COPY
    assert library.apps == ("files", "editor", "clip")
    assert library.of_app("clip") == [made.OPEN_CLIP, made.KEEP]
    with pytest.raises(UnknownName):
        library.get("files.nothing.00000000")


def test_examples_do_not_change_the_meaning() -> None:
    other = made.DELETE.model_copy(
        update={"parameters": (Parameter(name="filename", kind="filename", examples=("z.txt",)),)}
    )
    assert meaning(other) == meaning(made.DELETE)
