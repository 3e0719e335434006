"""Primitives in YAML: what is wrong is told by file, line and field; evidence is written back without touching the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput
from cuamaster.propagation.generation.canonical import meaning
from cuamaster.propagation.generation.library import Library
from cuamaster.propagation.generation.prove import plan_for
from cuamaster.propagation.generation.yaml_primitives import read_primitives, write_evidence
from cuamaster.records.primitive import Evidence

GOOD = """\
# a comment that must survive
app: notes
primitives:
  - ability: type-text   # another one
    instruction: Type {text}
    parameters: [{name: text, examples: [hello]}]
    effects: [{kind: screen.text, text: "{text}", app: notes}]
    verifier: {kind: screen.text, text: "{text}", app: notes}
    procedures:
      - mode: gui
        steps: [{type: keyboard.type, args: {text: "{text}"}}]

  - ability: close
    instruction: Close it
    effects: [{kind: not, of: {kind: window.title, app: notes}}]
    verifier: {kind: not, of: {kind: window.title, app: notes}}
    procedures: [{mode: gui, steps: [{type: keyboard.press, args: {keys: [alt, f4]}}]}]
    evidence: [{kind: demonstration, source: image}]
"""


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "notes.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reading_gives_primitives_and_their_lines(tmp_path: Path) -> None:
    first, second = read_primitives(_written(tmp_path, GOOD), evidence=False)
    assert (first.primitive.app, first.primitive.ability, first.primitive.requires) == (
        "notes",
        "type-text",
        ("app:notes",),
    )
    assert (first.first_line, second.first_line, second.last_line) == (4, 13, 18)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("app: notes\n", "app: notes\nauthor: me\n", 3, "author: unknown field"),
        ("app: notes\nprimitives", "primitives", 1, "app: missing"),
        ("ability: close\n", "ability: Close it!\n", 13, "ability"),
        ("instruction: Close it\n", "instruktion: Close it\n", 14, "instruktion"),
        ('kind: screen.text, text: "{text}", app: notes}]', 'kind: screen.tekst, text: "{text}"}]', 7, "effects.0"),
        (
            "mode: gui\n        steps: [{type: keyboard.type",
            "mode: guy\n        steps: [{type: keyboard.type",
            10,
            "procedures.0.mode",
        ),
        ("type: keyboard.press", "type: keyboard.smash", 17, "unknown action type 'keyboard.smash'"),
        ("instruction: Type {text}", "instruction: Type {word}", 5, "parameter 'word' is not declared"),
        (
            "{name: text, examples: [hello]}",
            "{name: text, examples: [hello]}, {name: spare, examples: [x]}",
            6,
            "parameter 'spare' is used nowhere",
        ),
        ("    evidence: [{kind: demonstration, source: image}]\n", "", 13, "has none"),
    ],
)
def test_mistakes_are_told_with_file_line_and_field(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    path = _written(tmp_path, GOOD.replace(old, new))
    only_evidence = "has none" in words
    with pytest.raises(InvalidInput) as caught:
        for written in read_primitives(path, evidence=False):
            if only_evidence and not written.primitive.evidence and written.primitive.ability == "close":
                read_primitives(
                    _written(
                        tmp_path,
                        GOOD.replace(old, new).replace(
                            "  - ability: type-text", "  - ability: type-text\n    evidence: [{kind: video, source: v}]"
                        ),
                    )
                )
    text = str(caught.value)
    assert words in text
    assert f"{path}:{line + 1 if only_evidence else line}" in text


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"notes.yaml: not valid YAML(.|\n)*line 4"):
        read_primitives(_written(tmp_path, GOOD.replace("  - ability: type-text ", "  - ability: [type-text ")))


def test_evidence_is_written_into_its_block_only(tmp_path: Path) -> None:
    path = _written(tmp_path, GOOD)
    found = (Evidence(kind="demonstration", source="gui on image", t_start=0.5, t_end=2.0, frames=("a", "b")),)
    write_evidence(path, {4: found})
    text = path.read_text(encoding="utf-8")
    assert "# a comment that must survive" in text
    assert "# another one" in text
    first, second = read_primitives(path)
    assert first.primitive.evidence == found
    assert second.primitive.evidence[0].source == "image"
    write_evidence(path, {4: found, second.first_line: found})
    assert [item.primitive.evidence for item in read_primitives(path)] == [found, found]
    assert path.read_text(encoding="utf-8").count("evidence:") == 2


def test_the_curated_library_is_sound() -> None:
    files = sorted(asset_folder("primitives").glob("*.yaml"))
    everything = [item.primitive for path in files for item in read_primitives(path, evidence=False)]
    assert len(everything) >= 30
    assert len({primitive.app for primitive in everything}) >= 4
    assert len({meaning(primitive) for primitive in everything}) == len(everything)
    assert len({primitive.id for primitive in everything}) == len(everything)
    assert all(primitive.procedure("gui") is not None for primitive in everything)
    assert sum(primitive.procedure("cli") is not None for primitive in everything) >= 20
    unreachable = [primitive.id for primitive in everything if plan_for(primitive, everything) is None]
    assert unreachable == []


def test_what_the_bundled_tutorials_teach_is_not_there_yet() -> None:
    abilities = {
        (item.primitive.app, item.primitive.ability)
        for path in asset_folder("primitives").glob("*.yaml")
        for item in read_primitives(path, evidence=False)
    }
    assert not any(app == "mousepad" and "replace" in ability for app, ability in abilities)
    assert not any(
        app == "pcmanfm" and ability.startswith(("create-folder", "new-folder", "make-folder"))
        for app, ability in abilities
    )


def test_every_curated_primitive_has_evidence_with_frames() -> None:
    folder = asset_folder("primitives")
    for primitive in Library.load(folder):
        for evidence in primitive.evidence:
            assert evidence.frames
            assert all((folder / "evidence" / f"{frame}.jpg").is_file() for frame in evidence.frames)
    size = sum(path.stat().st_size for path in (folder / "evidence").glob("*.jpg"))
    assert size < 2 << 20
