"""Hypothesis strategies for conditions over few subjects, so that implications and conflicts really occur."""

from __future__ import annotations

from hypothesis import strategies as st

from cuamaster.records.condition import (
    All,
    AnyOf,
    AppRunning,
    ClipboardText,
    CommandOutput,
    Condition,
    DocumentCell,
    DocumentSheets,
    DocumentTable,
    EpisodeFinish,
    FileExists,
    FileJson,
    FileTable,
    FileText,
    ImageSize,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)

paths = st.sampled_from(["~/a", "~/a/b.txt", "~/a/c", "~/d.txt"])
texts = st.sampled_from(["", "one", "one two", "two", "one\n", "one\ntwo"])
apps = st.sampled_from(["editor", "files"])
any_app = st.sampled_from(["", "editor", "files"])
leaf_conditions: st.SearchStrategy[Condition] = st.one_of(
    st.builds(FileExists, path=paths, type=st.sampled_from(["file", "dir", "any"])),
    st.builds(FileText, path=paths, text=texts, match=st.sampled_from(["equals", "contains", "regex"])),
    st.builds(FileTable, path=paths, row=st.integers(1, 2), column=st.just(1), value=texts),
    st.builds(
        FileJson,
        path=paths,
        keys=st.sampled_from([(), ("a",), ("a", "b")]),
        value=st.sampled_from(["1", "1.0", "true", "{"]),
    ),
    st.builds(
        DocumentCell, path=paths, cell=st.sampled_from(["A1", "B2"]), value=texts, sheet=st.sampled_from(["", "S"])
    ),
    st.builds(
        DocumentTable,
        path=paths,
        rows=st.lists(st.lists(st.sampled_from(["", "1", "1.0", "x"]), max_size=2).map(tuple), max_size=2).map(tuple),
        sheet=st.sampled_from(["", "S"]),
        whole=st.booleans(),
    ),
    st.builds(DocumentSheets, path=paths, names=st.sampled_from([("S",), ("S", "T")])),
    st.builds(EpisodeFinish, status=st.sampled_from(["success", "failure", "infeasible"])),
    st.builds(AppRunning, app=apps),
    st.builds(WindowTitle, title=texts, app=any_app, active=st.booleans()),
    st.builds(
        SettingValue,
        schema_id=st.just("s"),
        key=st.sampled_from(["k", "l"]),
        value=st.sampled_from(["true", "false", "uint32 4", "4"]),
    ),
    st.builds(ClipboardText, text=texts),
    st.builds(
        CommandOutput, command=st.sampled_from(["x", "y"]), text=texts, match=st.sampled_from(["equals", "contains"])
    ),
    st.builds(ImageSize, path=paths, width=st.integers(1, 2), height=st.just(1)),
    st.builds(ScreenText, text=texts.filter(bool), app=any_app),
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    leaf_conditions,
    lambda inner: st.one_of(
        st.builds(Not, of=inner),
        st.builds(All, of=st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, of=st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)
