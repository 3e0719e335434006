"""What the lines on a screen say about its text and its language."""

from __future__ import annotations

import pytest

from cuamaster.records.trajectory import TextBox
from cuamaster.vision.legibility import language_of, reading_of


def test_lines_without_words_do_not_count() -> None:
    boxes = [
        TextBox(text=text, x0=0, y0=0, x1=50, y1=height, score=score)
        for text, height, score in [
            ("File Edit", 20, 0.99),
            ("12:30", 90, 0.2),
            ("Save As", 16, 0.9),
            ("x", 70, 0.1),
            ("Open", 18, 0.95),
        ]
    ]
    reading = reading_of(boxes)
    assert (reading.lines, reading.words, reading.height, reading.confidence) == (3, 5, 18.0, 0.95)
    assert reading_of([]).words == 0 and reading_of(boxes[1:2]).height == 0.0


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("Datei Bearbeiten Ansicht Favoriten Gehe zu Werkzeuge Hilfe", "de"), ("File Edit View Insert Format Tools Help Select All Paste", "en"),
        ("Archivo Editar Ver Insertar Formato Herramientas Datos Ayuda", "es"), ("文件 编辑 搜索 视图 文档 帮助 查找下一个 全部高亮", "zh"),
        ("ファイル 編集 表示 挿入 ツール ヘルプ 新しいフォルダー", "ja"), ("Файл Правка Вид Вставка Формат Сервис Справка", "ru"), ("OK Tab", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_language_of_an_interface(words: str, language: str) -> None:
    assert language_of(words.split()) == language
