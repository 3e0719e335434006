"""Clauses, operation verbs and what they are about, from sentences people say in tutorials."""

from __future__ import annotations

import pytest

from cuamaster.records.speech import operation_verb, operations, split_clauses, spread
from cuamaster.records.spoken import drag_ends, named_place, named_target, scroll_direction, typed_text
from cuamaster.records.spoken_keys import spoken_keys
from cuamaster.records.transcript import Word


def clauses(text: str, language: str = "en") -> list[str]:
    return [item.text for item in split_clauses(spread(text, 0, 10), language)]


def said(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [
        (item.kind, item.clause.words[item.position].text.strip(".,").lower())
        for item in operations(spread(text, 0, 10), language)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Click the Search menu, then choose Find and Replace.",
            ["Click the Search menu", "then choose Find and Replace."],
        ),
        ("Click in the page and type milk, eggs and bread.", ["Click in the page", "and type milk, eggs and bread."]),
        (
            "Type the name notes.txt and then press Enter. Done.",
            ["Type the name notes.txt", "and then press Enter.", "Done."],
        ),
        ("In the next cell type Amount and press enter", ["In the next cell type Amount", "and press enter"]),
        ("Click Next and choose Cut and Paste", ["Click Next", "and choose Cut and Paste"]),
        (
            "go to edit click preferences choose fonts and hit enter",
            ["go to edit", "click preferences", "choose fonts", "and hit enter"],
        ),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


def test_a_pause_ends_a_clause_and_times_are_those_of_its_words() -> None:
    words = [
        Word(text="open", start=0, end=0.4),
        Word(text="it", start=0.4, end=0.6),
        Word(text="click", start=2, end=2.4),
        Word(text="ok", start=2.4, end=3),
    ]
    first, second = split_clauses(words)
    assert (first.start, first.end, second.start, second.end) == (0, 0.6, 2, 3)
    assert split_clauses([]) == []


@pytest.mark.parametrize(
    ("clause", "kind"),
    [
        ("Click the Save button", "click"), ("now left click on File", "click"), ("Right-click the folder", "right_click"),
        ("then right click on the desktop", "right_click"), ("double click the icon", "double_click"), ("Double-click report.txt", "double_click"),
        ("type hello world", "type"), ("enter your name in the box", "type"), ("Press Enter", "key"), ("press Ctrl+S to save", "key"),
        ("hit the tab key", "key"), ("press OK to close the dialog", "click"), ("hit Save", "click"), ("scroll down a little", "scroll"),
        ("Select the cells by dragging from A1 to B1", "drag"), ("drag the file into the folder", "drag"), ("tick Wrap text", "click"),
        ("Open the Format menu", "click"), ("In the menu, open Tools", "click"), ("I'm going to click on Insert", "click"),
        ("let's open the Edit menu", "click"), ("use control c", "key"), ("rename it to final.txt", "type"), ("hover over the chart", "hover"),
    ],
)  # fmt: skip
def test_operation_verbs(clause: str, kind: str) -> None:
    found = operation_verb(clause)
    assert found is not None and found[0] == kind


@pytest.mark.parametrize(
    "clause",
    [
        "We will write a grocery list", "If you click Save", "don't press this button", "never type your password", "the file type is text",
        "a right click menu appears", "Our list is now stored in the home folder", "let's create something beautiful", "check that it works",
        "I opened a shop last year", "Thank you for watching", "You have to be careful with this data type", "",
    ],
)  # fmt: skip
def test_what_is_no_operation(clause: str) -> None:
    assert operation_verb(clause) is None


def test_plans_spread_over_their_clauses_and_menus_may_be_elided() -> None:
    assert said("We will write a grocery list, save it, and then correct one word.") == []
    assert said("Open the Format menu, then Sheet.") == [("click", "open"), ("click", "then")]
    assert said("Open the door, then we talk about it.") == [("click", "open")]


def test_a_verb_may_be_meant_again_for_a_button_or_a_key() -> None:
    assert said("Now press 8, followed by the equals button.") == [("key", "press"), ("click", "followed")]
    assert said("Press Tab, then Enter.") == [("key", "press"), ("key", "enter")]
    assert said("Press Control S, then Tab.") == [("key", "press"), ("key", "then")]
    assert said("Press Tab, then it is done.") == [("key", "press")]
    assert said("Click Next, then the Finish button.") == [("click", "click"), ("click", "then")]


def test_other_languages() -> None:
    assert said("Klicke auf Datei und dann wähle Speichern.", "de-DE") == [("click", "klicke"), ("click", "wähle")]
    assert said("Selecciona Archivo, luego escribe el nombre.", "es") == [("click", "selecciona"), ("type", "escribe")]
    assert [kind for kind, _ in said("双击 图标 然后 输入 名称", "zh-Hans")] == ["double_click", "type"]
    assert [kind for kind, _ in said("右クリック します。 次に 入力 します。", "ja")] == ["right_click", "type"]


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        ("type milk, eggs and bread.", "milk, eggs and bread"), ("Type the name groceries.txt", "groceries.txt"), ("Type budget as the name", "budget"),
        ("In the Search for field type bread", "bread"), ('type "hello, world" in the box', "hello, world"), ("type notes dot txt as the file name", "notes.txt"),
        ("rename it to final.txt", "final.txt"), ("name it invoices", "invoices"), ("type your name in the field", None), ("click Save", None),
        ("Type Month.", "Month"), ("write the word cheese", "cheese"),
    ],
)  # fmt: skip
def test_typed_text(clause: str, text: str | None) -> None:
    assert typed_text(clause) == text


@pytest.mark.parametrize(
    ("clause", "keys"),
    [
        ("press enter", ("enter",)), ("press Ctrl+Shift+S", ("ctrl", "shift", "s")), ("hit control c", ("ctrl", "c")), ("press the down arrow key", ("down",)),
        ("press F5", ("f5",)), ("press alt f4", ("alt", "f4")), ("press page down", ("pagedown",)), ("press control plus S", ("ctrl", "s")),
        ("press the Save button", None),
    ],
)  # fmt: skip
def test_spoken_keys(clause: str, keys: tuple[str, ...] | None) -> None:
    assert spoken_keys(clause) == keys


@pytest.mark.parametrize(
    ("clause", "text", "role"),
    [
        ("Click the Search menu", "Search", "menu"), ("choose Find and Replace.", "Find and Replace", ""), ("click the Save button", "Save", "button"),
        ("Right click on cell A3", "A3", "cell"), ("double click the folder reports to open it", "reports", "item"), ("choose Format Cell.", "Format Cell", ""),
        ("In the dialog click the Alignment tab", "Alignment", "tab"), ("choose Folder", "Folder", ""), ("choose folder", "folder", ""),
        ("Click in the empty page", "", "area"), ("Press OK to close the dialog.", "OK", ""), ("Tick Hide Gridlines to remove the lines.", "Hide Gridlines", ""),
        ('click on "Save As..."', "Save As...", ""),
    ],
)  # fmt: skip
def test_named_target(clause: str, text: str, role: str) -> None:
    found = named_target(clause)
    assert found is not None and (found.text, found.role) == (text, role)


def test_places_ends_and_directions() -> None:
    place = named_place("In the Search for field")
    assert place is not None and (place.text, place.role) == ("Search for", "field")
    assert named_place("and then") is None
    assert drag_ends("select them by dragging the mouse from A1 to B1.") == ("A1", "B1")
    assert drag_ends("drag report.txt into the archive folder") == ("report.txt", "archive folder")
    assert drag_ends("drag it around") is None
    assert [scroll_direction(text) for text in ("scroll down", "scroll back up", "scroll to the right", "scroll")] == [
        "down",
        "up",
        "right",
        "down",
    ]


def test_menu_chains_alternatives_and_idioms() -> None:
    assert said("Go to File, Open.") == [("click", "go"), ("click", "open")]
    assert said("Go to File and Export As, give it a name, I'll call it cropped dot PNG, and click Export.") == [
        ("click", "go"), ("click", "and"), ("type", "call"), ("click", "click"),
    ]  # fmt: skip
    assert said("Open the format menu, and sheet. Then we rest.") == [("click", "open"), ("click", "and")]
    assert said("Open the format menu and take a look at it.") == [("click", "open")]
    assert said("Click the crop tool, or you can press Shift C.") == [("click", "click")]
    assert said("Now click and drag over the area you want to keep.") == [("drag", "drag")]
    assert typed_text("I'll call it cropped dot PNG") == "cropped.PNG"
    assert drag_ends("drag over the area you want to keep") is None


def test_automatic_captions_are_cut_where_people_begin_anew() -> None:
    text = (
        "hello and welcome today we'll learn how to sort data so here i have a list i'm going to select the table click on sort choose age and "
        "click ok and as you can see it is sorted that's it thanks for watching"
    )
    assert said(text) == [("click", "select"), ("click", "click"), ("click", "choose"), ("click", "click")]


@pytest.mark.parametrize(
    ("clause", "keys"),
    [
        ("Press Ctrl-Shift-S to save it", ("ctrl", "shift", "s")), ("press control sea", ("ctrl", "c")), ("hit Ctrl-Shift Tea", ("ctrl", "shift", "t")),
        ("Press Ctrl-Shift Test to save it", None), ("hold the shift key", ("shift",)), ("press control and V", ("ctrl", "v")),
        ("Drücken Sie Strg und S", ("ctrl", "s")), ("drücken Sie die Eingabetaste", ("enter",)), ("Pulsa la tecla Escape", ("escape",)),
        ("按下回车键", ("enter",)), ("按下 Ctrl+S 键", ("ctrl", "s")), ("エンターキーを押します", ("enter",)),
    ],
)  # fmt: skip
def test_keys_as_recognizers_write_them_and_in_other_languages(clause: str, keys: tuple[str, ...] | None) -> None:
    assert spoken_keys(clause) == keys


@pytest.mark.parametrize(
    ("language", "clause", "kind"),
    [
        ("en", "Click on the icon with the right mouse button", "right_click"), ("en", "With control H we hide them again", "key"),
        ("en", "Press Ctrl-Shift Test to save it", "key"), ("de", "Klicken Sie mit der rechten Maustaste auf das Bild", "right_click"),
        ("de", "Machen Sie einen Rechtsklick auf das Bild", "right_click"), ("de", "Geben Sie den Namen Berta ein", "type"),
        ("de", "Mit Strg S speichern wir das Bild", "key"), ("de", "Drücken Sie die Eingabetaste", "key"), ("de", "Klicken Sie doppelt auf das Symbol", "double_click"),
        ("de", "Öffnen Sie das Menü Bearbeiten", "click"), ("de", "Drücken Sie auf die Schaltfläche Weiter", "click"),
        ("es", "Haz doble clic en el icono", "double_click"), ("es", "Pulsa con el botón derecho sobre la imagen", "right_click"),
        ("es", "Pulsa el botón Aceptar", "click"), ("es", "Pulsa la tecla Tabulador", "key"), ("zh", "点击确定按钮", "click"),
        ("zh", "用鼠标右键点击图片", "right_click"), ("zh", "按 Ctrl+V 粘贴", "key"), ("zh", "按回车键", "key"),
    ],
)  # fmt: skip
def test_manners_and_keys_in_other_languages(language: str, clause: str, kind: str) -> None:
    found = operation_verb(clause, language)
    assert found is not None and found[0] == kind


@pytest.mark.parametrize(
    ("language", "clause"),
    [
        ("de", "Geben Sie acht"), ("de", "Wenn Sie auf Speichern klicken"), ("de", "Wir wollen einen Brief schreiben"), ("es", "No pulses nada"),
        ("es", "Si haces clic en Guardar"), ("zh", "如果点击确定"), ("zh", "这个按钮在右边"),
    ],
)  # fmt: skip
def test_what_is_no_operation_in_other_languages(language: str, clause: str) -> None:
    assert operation_verb(clause, language) is None


@pytest.mark.parametrize(
    ("language", "clause", "text"),
    [
        ("de", "Geben Sie den Namen Berta ein", "Berta"), ("de", "tippen Sie rechnung.pdf in das Feld Name ein", "rechnung.pdf"), ("de", "Schreiben Sie Guten Tag", "Guten Tag"),
        ("de", "Geben Sie Ihren Namen ein", None), ("es", "escribe el nombre casa.txt", "casa.txt"), ("es", "escribe Hola en el campo Asunto", "Hola"),
        ("es", "escribe tu nombre", None), ("zh", "输入名称 report.doc", "report.doc"), ("zh", "在标题框中输入你好", "你好"), ("zh", "输入你的名字", None),
        ("ja", "名前に report と入力します", "report"),
    ],
)  # fmt: skip
def test_typed_text_in_other_languages(language: str, clause: str, text: str | None) -> None:
    assert typed_text(clause, language) == text


@pytest.mark.parametrize(
    ("language", "clause", "text", "role"),
    [
        ("de", "Öffnen Sie das Menü Bearbeiten", "Bearbeiten", "menu"), ("de", "klicken Sie auf Neuer Ordner", "Neuer Ordner", ""),
        ("de", "Klicken Sie mit der rechten Maustaste auf urlaub.png", "urlaub.png", ""), ("de", "Klicken Sie auf die leere Seite", "", "area"),
        ("de", "Jetzt wollen wir auf Weiter klicken", "Weiter", ""), ("de", "Wählen Sie den Ordner Musik", "Musik", "item"),
        ("es", "Haz clic en el botón Aceptar", "Aceptar", "button"), ("es", "Haz clic con el botón derecho en la celda C4", "C4", "cell"),
        ("es", "Abre el menú Ver", "Ver", "menu"), ("es", "Abre el menú Archivo", "Archivo", "menu"), ("de", "Öffnen Sie das Menü Datei", "Datei", "menu"),
        ("es", "Haz clic en la pestaña Página", "Página", "tab"), ("de", "Klicken Sie auf das Menü Seite", "Seite", "menu"), ("zh", "打开视图菜单", "视图", "menu"), ("zh", "点击确定按钮", "确定", "button"), ("zh", "点击桌面", "", "area"),
        ("ja", "表示メニューをクリックします", "表示", "menu"), ("en", "Click on Trash with the right mouse button", "Trash", ""),
    ],
)  # fmt: skip
def test_named_target_in_other_languages(language: str, clause: str, text: str, role: str) -> None:
    found = named_target(clause, language)
    assert found is not None and (found.text, found.role) == (text, role)


def test_drags_scrolls_and_elided_labels_in_other_languages() -> None:
    assert drag_ends("Ziehen Sie das Bild von A1 nach C3", "de") == ("A1", "C3")
    assert drag_ends("Arrastra desde A1 hasta C3", "es") == ("A1", "C3")
    assert [scroll_direction(text, language) for text, language in (
        ("Scrollen Sie nach oben", "de"), ("Desplaza la página hacia abajo", "es"), ("Desplaza la página hacia arriba", "es"), ("向上滚动", "zh"),
    )] == ["up", "down", "up", "up"]  # fmt: skip
    assert [kind for kind, _ in said("Wählen Sie Datei und dann Drucken.", "de")] == ["click", "click"]
