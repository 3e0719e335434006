"""Generated candidates for benchmarks/sift.py: titles and descriptions as sites show them, with planted copies, edits and near misses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cuamaster.records.record import content_id
from cuamaster.records.taxonomy import App, Taxonomy

COPIES = 0.12
"""Share of rows that are copies of an earlier row."""
BLOCK = 5_000
"""Rows made from one seed, so that row n is the same whatever the total."""


@dataclass(frozen=True)
class Speech:
    """Words of one language that titles are put together from; {v} verb, {o} object, {c} context, {a} application."""

    verbs: str
    objects: str
    contexts: str
    titles: tuple[str, ...]
    noise: tuple[str, ...]
    about: tuple[str, ...]


SPEECH = {
    "en": Speech(
        "insert|remove|rename|export|align|merge|split|resize|rotate|duplicate|protect|format|sort|filter|group|hide|convert|import|share|record|crop|print|animate|schedule",
        "tables|columns|rows|pages|layers|charts|images|headers|footnotes|comments|shapes|masks|brushes|invoices|reports|contacts|calendars|tasks|branches|breakpoints|vectors|audio tracks|subtitles|slides|formulas|cells|templates|backgrounds|textures|folders",
        "from a csv file|on the second page|without plugins|with the keyboard|for a report|in dark mode|for printing|from another project|on Linux|on Windows|on a Mac|for large files|with a template|from the command line|in one click|for your team|between two files|in bulk",
        ("How to {v} {o} {c} in {a}", "{a}: {v} {o} {c}", "{a} tutorial - {v} {o} {c}", "{v} {o} {c} | {a} tips", "{a} for beginners: how to {v} {o} {c}", "{v} {o} {c} ({a} basics)"),
        ("{a} review - {o} {c}, is it worth it?", "I tried {a} for 30 days and {v} {o} {c}", "{a} vs the rest: {o} {c}", "{a} news: {o} {c} announced", "My week with {a}: {v} {o} {c} #vlog", "{a} {o} {c} - official music video"),
        ("In this video I show how to {v} {o} {c} with {a}.", "A short lesson about {o} in {a}: {v}, {c}.", "Everything you need to know about {o} {c}."),
    ),
    "de": Speech(
        "einfügen|entfernen|umbenennen|exportieren|ausrichten|verbinden|teilen|vergrößern|drehen|kopieren|schützen|formatieren|sortieren|filtern|gruppieren",
        "Tabellen|Spalten|Zeilen|Seiten|Ebenen|Diagramme|Bilder|Kopfzeilen|Fußnoten|Kommentare|Formen|Masken|Pinsel|Rechnungen|Berichte|Kontakte|Kalender|Aufgaben|Vorlagen",
        "aus einer CSV-Datei|auf der zweiten Seite|ohne Plugins|mit der Tastatur|für einen Bericht|im dunklen Modus|zum Drucken|aus einem anderen Projekt|unter Linux|unter Windows|am Mac|für große Dateien",
        ("{a}: {o} {c} {v}", "{o} {c} {v} in {a} - Tutorial", "So kannst du {o} {c} {v} | {a}", "{a} Anleitung: {o} {c} {v}"),
        ("{a} im Test: {o} {c}", "Lohnt sich {a}? {o} {c}", "Mein Alltag mit {a}: {o} {c}"),
        ("In diesem Video zeige ich, wie man {o} {c} mit {a} {v} kann.", "Kurze Anleitung zu {o} in {a}, {c}."),
    ),
    "es": Speech(
        "insertar|eliminar|renombrar|exportar|alinear|combinar|dividir|ampliar|girar|duplicar|proteger|ordenar|filtrar|agrupar",
        "tablas|columnas|filas|páginas|capas|gráficos|imágenes|encabezados|notas al pie|comentarios|formas|máscaras|pinceles|facturas|informes|contactos|plantillas",
        "desde un archivo csv|en la segunda página|sin complementos|con el teclado|para un informe|en modo oscuro|para imprimir|desde otro proyecto|en Linux|en Windows|en Mac",
        ("Cómo {v} {o} {c} en {a}", "{a}: {v} {o} {c}", "Tutorial de {a} - {v} {o} {c}", "{v} {o} {c} paso a paso | {a}"),
        ("{a}: reseña, {o} {c}", "¿Vale la pena {a}? {o} {c}", "Mi día con {a}: {o} {c} #vlog"),
        ("En este video te enseño a {v} {o} {c} con {a}.", "Curso corto de {a}: {o} {c}."),
    ),
    "zh": Speech(
        "插入|删除|重命名|导出|对齐|合并|拆分|缩放|旋转|复制|保护|排序|筛选|分组|隐藏|转换",
        "表格|列|行|页面|图层|图表|图片|页眉|脚注|批注|形状|蒙版|笔刷|发票|报表|联系人|日历|模板|背景|文件夹",
        "从CSV文件|在第二页|不用插件|用快捷键|做报告|深色模式下|打印时|从别的项目|在Linux上|在Windows上|在Mac上|批量",
        ("【{a}教程】{c}{v}{o}", "{a}怎么{c}{v}{o}", "{a}入门：{c}{v}{o}", "{c}{v}{o} | {a}技巧"),
        ("{a}评测：{o}{c}", "我用{a}{c}{v}{o}结果……", "{a}发布会：{o}{c}"),
        ("本视频教你用{a}{c}{v}{o}。", "{a}零基础教程，讲解{o}，{c}。"),
    ),
    "ja": Speech(
        "を挿入する|を削除する|の名前を変える|を書き出す|を揃える|を結合する|を分割する|を拡大する|を回転する|を複製する|を保護する|を並べ替える",
        "表|列|行|ページ|レイヤー|グラフ|画像|ヘッダー|脚注|コメント|図形|マスク|ブラシ|請求書|レポート|連絡先|テンプレート",
        "CSVから|2ページ目で|プラグインなしで|キーボードで|報告書用に|ダークモードで|印刷用に|別のプロジェクトから|Linuxで|Windowsで|Macで|一括で",
        ("{a}の使い方：{c}{o}{v}方法", "【{a}】{c}{o}{v}", "{a}入門 {c}{o}{v}", "{c}{o}{v}には？ {a}講座"),
        ("{a}レビュー {o}{c}", "{a}で{c}{o}{v}配信", "{a} {o}{c} 歌ってみた"),
        ("この動画では{a}で{c}{o}{v}方法を解説します。", "{a}の{o}について。{c}"),
    ),
    "ko": Speech(
        "삽입하기|삭제하기|이름 바꾸기|내보내기|정렬하기|병합하기|나누기|확대하기|회전하기|복제하기|보호하기|필터하기",
        "표|열|행|페이지|레이어|차트|이미지|머리글|각주|메모|도형|마스크|브러시|송장|보고서|연락처|템플릿",
        "CSV 파일에서|두 번째 페이지에서|플러그인 없이|키보드로|보고서용으로|다크 모드에서|인쇄용으로|다른 프로젝트에서|리눅스에서|윈도우에서|맥에서",
        ("{a} 강좌 - {c} {o} {v}", "{a} 사용법: {c} {o} {v}", "{c} {o} {v} | {a} 기초"),
        ("{a} 리뷰: {o} {c}", "{a} 써보니 {o} {c} #브이로그"),
        ("이 영상에서는 {a}로 {c} {o} {v} 방법을 알려드립니다.", "{a} {o} 강의, {c}."),
    ),
}  # fmt: skip
_SHARES = {"en": 50, "zh": 14, "es": 12, "ja": 10, "de": 8, "ko": 6}
_CHANNEL = (
    "Subscribe for more! https://example.com/{n}",
    "Follow me: https://example.com/u{n} #tutorial",
    "Music by {n}. Contact: mail{n}@example.com",
    "",
)
_DECORATED = (
    "{t} [HD]",
    "【高清】{t}",
    "{t} #shorts #{a}",
    "🔥 {t} 🔥",
    "{t} (Official)",
    "{u} - {t}",
    "{t} ‼️",
    "{t} \u200b",
)
_ADDED = ("{t} easily", "new: {t} (reupload)", "{t} step by step explained", "{t} 完整版 搬运", "full course {t}")


def candidates(count: int, taxonomy: Taxonomy, seed: int = 0) -> Iterator[dict[str, Any]]:
    """`count` rows with the columns of `Video` and, beside them, `truth` (the recording it is) and `planted` (how it was made)."""
    apps = taxonomy.apps
    for begin in range(0, count, BLOCK):
        rng = random.Random(f"{seed} {begin}")
        made: list[dict[str, Any]] = []
        for index in range(begin, min(count, begin + BLOCK)):
            copied = made and rng.random() < COPIES
            made.append(_copy(rng, made, index) if copied else _fresh(rng, apps, index, made))
        yield from made


def _fresh(rng: random.Random, apps: tuple[App, ...], index: int, made: list[dict[str, Any]]) -> dict[str, Any]:
    if made and rng.random() < 0.12:
        return _sibling(rng, made, index)
    language = rng.choices(tuple(_SHARES), tuple(_SHARES.values()))[0]
    speech, app = SPEECH[language], rng.choice(apps)
    words = {
        "v": rng.choice(speech.verbs.split("|")),
        "o": rng.choice(speech.objects.split("|")),
        "c": rng.choice(speech.contexts.split("|")),
        "a": rng.choice(app.names),
    }
    noisy = rng.random() < 0.3
    title = rng.choice(speech.noise if noisy else speech.titles).format(**words)
    owner = f"channel {int(rng.paretovariate(0.9)) % 40_000}"
    about = (
        rng.choice(speech.about).format(**words) + "\n" + rng.choice(_CHANNEL).format(n=owner)
        if rng.random() < 0.9
        else ""
    )
    return _row(
        rng, index, title=title, about=about, owner=owner, app=app.id, duration=rng.lognormvariate(5.8, 0.9), day=rng.randrange(5000),
        language=language if rng.random() < 0.5 else None, query=f"{app.name} tutorial", planted="noise" if noisy else "fresh",
    )  # fmt: skip


def _row(rng: random.Random, index: int, *, title: str, about: str, owner: str, app: str, duration: float | None, day: int,
         language: str | None, query: str, planted: str, truth: int | None = None) -> dict[str, Any]:  # fmt: skip
    source, source_id = rng.choice(
        (("youtube", f"{index:011d}"), ("bilibili", f"BV{index:010d}"), ("tiktok", f"{index}"))
    )
    url = {"youtube": f"https://www.youtube.com/watch?v={source_id}", "bilibili": f"https://www.bilibili.com/video/{source_id}",
           "tiktok": f"https://www.tiktok.com/@a/video/{source_id}"}[source]  # fmt: skip
    return {
        "source": source, "source_id": source_id, "url": url, "title": title, "description": about, "uploader": owner,
        "duration": None if duration is None or rng.random() < 0.1 else round(max(2.0, duration), rng.choice((0, 0, 3))),
        "upload_date": None if rng.random() < 0.1 else _day(day),
        "language": language, "license": None, "categories": rng.choice(([], [], ["Education"], ["Howto & Style"], ["Science & Technology"], ["Gaming"])),
        "availability": rng.choice((None, None, None, "public", "public", "unlisted", "private")) if rng.random() < 0.5 else None,
        "view_count": rng.randrange(100_000), "app": app, "query": query,
        "truth": index if truth is None else truth, "planted": planted, "length": duration, "day": day,
        "id": content_id("video", source, source_id),
    }  # fmt: skip


def _day(day: int) -> str:
    return f"{2012 + day // 360}-{day % 360 // 30 + 1:02d}-{day % 28 + 1:02d}"


def _sibling(rng: random.Random, made: list[dict[str, Any]], index: int) -> dict[str, Any]:
    """Looks like a copy and is none: the next part, another version, another object of the same uploader."""
    of = rng.choice(made)
    title = of["title"]
    kind = rng.choice(("part", "version", "object"))
    if kind == "part":
        title = f"{title} part {rng.randrange(2, 40)}"
    elif kind == "version":
        title = f"{title} {rng.choice((2013, 2016, 2019, 2021, 365))}"
    else:
        speech = next(
            (item for item in SPEECH.values() if any(word in title for word in item.objects.split("|"))), SPEECH["en"]
        )
        there = max((word for word in speech.objects.split("|") if word in title), key=len, default="")
        title = (
            title.replace(there, rng.choice([word for word in speech.objects.split("|") if word != there]))
            if there
            else f"{title} 2"
        )
    length = (of["length"] or 200.0) * rng.choice((1.0, 1.0, 0.7, 1.4)) + rng.uniform(3, 60)
    return _row(
        rng, index, title=title, about=of["description"], owner=of["uploader"], app=of["app"], duration=length,
        day=min(4999, of["day"] + 7), language=of["language"], query=of["query"], planted=f"sibling-{kind}",
    )  # fmt: skip


def _copy(rng: random.Random, made: list[dict[str, Any]], index: int) -> dict[str, Any]:
    of = rng.choice(made)
    kind = rng.choice(("again", "decorated", "typo", "added", "order"))
    if kind == "again":
        return {**of, "query": f"{of['query']} again", "planted": "again"}
    title: str = of["title"]
    if kind == "decorated":
        title = rng.choice(_DECORATED).format(t=title, a=of["app"], u=of["uploader"])
    elif kind == "added":
        title = rng.choice(_ADDED).format(t=title)
    elif kind == "typo":
        title = _typo(rng, title)
    else:
        words = title.split(" ")
        cut = rng.randrange(1, len(words)) if len(words) > 2 else 0
        title = " ".join(words[cut:] + words[:cut])
    if "part " in title and kind == "order":
        title, kind = of["title"] + "!", "decorated"
    other = rng.random() < 0.7
    about = (
        of["description"] if rng.random() < 0.8 else of["description"][: len(of["description"]) // 2] + " reuploaded"
    )
    length = (of["length"] or 200.0) + rng.uniform(-0.9, 0.9)
    return _row(
        rng, index, title=title, about=about, owner=f"mirror {rng.randrange(2000)}" if other and not title.startswith(of["uploader"]) else of["uploader"],
        app=of["app"], duration=length, day=min(4999, of["day"] + rng.randrange(1, 300)), language=of["language"], query=of["query"],
        planted=kind, truth=of["truth"],
    )  # fmt: skip


def _typo(rng: random.Random, title: str) -> str:
    """One letter of a long word doubled, dropped or swapped; a title in characters gets an exclamation mark."""
    words = title.split(" ")
    long = [index for index, word in enumerate(words) if len(word) > 5 and word.isalpha() and word.isascii()]
    if not long:
        return title + "！"
    index = rng.choice(long)
    word, at = words[index], rng.randrange(2, len(words[index]) - 1)
    words[index] = rng.choice(
        (
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )
    return " ".join(words)
