"""German, Spanish, Chinese and Japanese: the verbs of operations and the words around them, as `lexicon.py` holds them for English.

From the languages' grammars and the usual names of widgets and keys in translated programs.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from cuamaster.records.lexicon_tables import Lexicon, Nouns, word_set


def _forms(kind: str, forms: str) -> dict[str, str]:
    return dict.fromkeys(forms.split(), kind)


GERMAN = Lexicon(
    strong=MappingProxyType(
        _forms("click", "klicke klicken klickt klick klickst anklicken angeklickt wähle wählen wählt auswählen markiere markieren markiert")
        | _forms("double_click", "doppelklick doppelklicke doppelklicken doppelklickt")
        | _forms("right_click", "rechtsklick rechtsklicke rechtsklicken rechtsklickt")
        | _forms("type", "tippe tippen tippt eintippen eingeben")
        | _forms("press", "drücke drücken drückt betätige betätigen")
        | _forms("scroll", "scrolle scrollen scrollt scroll") | _forms("drag", "ziehe ziehen zieht")
    ),
    weak=MappingProxyType(
        _forms("click", "öffne öffnen öffnet schließe schließen schließt speichere speichern aktiviere aktivieren deaktiviere deaktivieren")
        | _forms("type", "schreibe schreiben schreibt gib gebe geben gebt benenne benennen")
    ),
    connectives=("und dann", "dann", "danach", "anschließend", "als nächstes", "zum schluss", "schließlich", "gefolgt von"),
    conjunctions=("und",),
    elides=("und dann", "dann", "danach", "gefolgt von"),
    nominal=word_set("klick rechtsklick doppelklick"),
    subjects=word_set("sie wir ich du ihr man"),
    hedges=word_set("nicht nie ohne wenn falls sobald bevor könnte könnten würde statt"),
    plans=word_set("wollen will möchten möchte werden werde lassen lasst"),
    fillers=word_set("jetzt nun zuerst zunächst dann danach bitte also und so hier nochmal wieder einfach schließlich zuletzt zum schluss als nächstes"),
    needs=MappingProxyType({form: word_set("ein") for form in ("gib", "gebe", "geben", "gebt")}
                           | {form: word_set("um") for form in ("benenne", "benennen")}),
    manners=(
        (re.compile(r"\b(?:mit )?(?:der )?rechten? maustaste\b", re.IGNORECASE), "right_click"),
        (re.compile(r"\b(?:mit )?(?:einem )?(?:rechtsklick|rechts)\b(?= auf\b)", re.IGNORECASE), "right_click"),
        (re.compile(r"\b(?:doppelt|zweimal)\b(?= auf\b)", re.IGNORECASE), "double_click"),
        (re.compile(r"\b(?:mit )?(?:der )?linken? maustaste\b", re.IGNORECASE), ""),
    ),
    instruments=word_set("mit per mittels"),
    up=word_set("hoch oben aufwärts zurück rauf"), left=word_set("links"), right=word_set("rechts"),
    nouns=Nouns(
        roles=MappingProxyType({
            "menü": "menu", "untermenü": "menu", "schaltfläche": "button", "knopf": "button", "button": "button",
            "registerkarte": "tab", "reiter": "tab", "kontrollkästchen": "checkbox", "kästchen": "checkbox", "feld": "field",
            "eingabefeld": "field", "textfeld": "field", "eintrag": "menuitem", "menüpunkt": "menuitem", "menüeintrag": "menuitem",
            "option": "menuitem", "symbol": "icon", "icon": "icon", "zelle": "cell", "bereich": "area", "fläche": "area", "seite": "area",
            "ordner": "item", "datei": "item", "zeile": "item",
        }),
        leading=True,
        skip=word_set("auf in im ins an am zu zum zur über den die das dem der ein eine einen einem einer sie wir du ich ihr noch mal dort hier"),
        articles=word_set("den die das dem der ein eine einen diesen dieses diese folgenden folgende sie wir du ich ihr neuen neue als"),
        carriers=word_set("namen name wort wörter text zeile titel wert zahl dateinamen nachricht befehl buchstaben satz"),
        links=word_set("in im ins als für"),
        places=word_set("feld eingabefeld textfeld zelle seite dokument fenster dialog editor name namen dateiname dateinamen spalte zeile hier"),
        generic=word_set("freie freien leere leeren weiße weißen seite fläche bereich fenster dokument bildschirm arbeitsfläche stelle irgendwo hier text"),
        particles=word_set("ein aus an um auf"),
        described=word_set("ihren ihre deinen irgendeinen etwas beliebigen"),
        tail=re.compile(r",?\s+(?:um|damit|sodass)\s.*$|\s+(?:in|aus|auf|unter) (?:dem|der|den|das|die) .*$", re.IGNORECASE),
        drag_from=re.compile(r"\bvon (?:der |dem )?(?P<a>[^,]+?) (?:nach|bis|auf|zu|in) (?:zur |zum |den |die |das )?(?P<b>[^,]+)$", re.IGNORECASE),
    ),
)  # fmt: skip

SPANISH = Lexicon(
    strong=MappingProxyType(
        _forms("click", "clic click clickea cliquea selecciona seleccionamos seleccione seleccionar elige elegimos elija elegir escoge marca marcamos marque")
        | _forms("press", "pulsa pulsamos pulse pulsar presiona presionamos presione presionar")
        | _forms("type", "escribe escribimos escriba escribir teclea tecleamos introduce introducimos introduzca")
        | _forms("scroll", "desplaza desplazamos desplázate") | _forms("drag", "arrastra arrastramos arrastre arrastrar")
    ),
    weak=MappingProxyType(
        _forms("click", "abre abrimos abra cierra cerramos cierre guarda guardamos guarde activa activamos desactiva")
    ),
    connectives=("y luego", "luego", "después", "a continuación", "entonces", "por último", "finalmente", "seguido de"),
    conjunctions=("y", "e"),
    elides=("y luego", "luego", "y después", "seguido de"),
    subjects=word_set("tú usted nosotros yo"),
    hedges=word_set("no nunca sin si cuando antes puede podría quizás"),
    plans=word_set("vamos voy queremos quiero vais"),
    fillers=word_set("ahora primero luego después entonces y por favor último finalmente también haz hacemos haga simplemente de nuevo a continuación"),
    manners=(
        (re.compile(r"\b(?:con )?(?:el )?botón derecho(?: del ratón)?\b|(?<=\bclic )derecho\b|(?<=\bclick )derecho\b", re.IGNORECASE), "right_click"),
        (re.compile(r"\bdoble(?= cli(?:c|ck)\b)|\bdos veces\b", re.IGNORECASE), "double_click"),
        (re.compile(r"\b(?:con )?(?:el )?botón izquierdo(?: del ratón)?\b", re.IGNORECASE), ""),
    ),
    instruments=word_set("con mediante usando"),
    up=word_set("arriba subir sube inicio principio"), left=word_set("izquierda"), right=word_set("derecha"),
    nouns=Nouns(
        roles=MappingProxyType({
            "menú": "menu", "submenú": "menu", "botón": "button", "pestaña": "tab", "casilla": "checkbox", "campo": "field", "cuadro": "field",
            "opción": "menuitem", "elemento": "menuitem", "entrada": "menuitem", "icono": "icon", "celda": "cell", "área": "area",
            "zona": "area", "página": "area", "carpeta": "item", "archivo": "item", "fichero": "item", "enlace": "item", "fila": "item",
        }),
        leading=True,
        skip=word_set("en el la los las un una al del de a sobre lo aquí ahí"),
        articles=word_set("el la los las un una este esta lo siguiente nuevo nueva"),
        carriers=word_set("nombre palabra palabras texto línea título valor número mensaje frase orden comando letra"),
        links=word_set("en como para"),
        places=word_set("campo cuadro celda página documento ventana diálogo editor nombre archivo columna fila aquí"),
        generic=word_set("vacía vacío página zona área ventana documento pantalla hoja escritorio fondo aquí ahí blanco en texto"),
        described=word_set("tu su algún cualquier algo"),
        tail=re.compile(r",?\s+(?:para|así que|de modo que)\s.*$|\s+(?:en|de|del|dentro de) (?:el|la|los|las|este|esta) .*$", re.IGNORECASE),
        drag_from=re.compile(r"\bdesde (?:el |la )?(?P<a>[^,]+?) hasta (?:el |la )?(?P<b>[^,]+?)(?: para .*)?$", re.IGNORECASE),
    ),
)  # fmt: skip

CHINESE = Lexicon(
    strong=MappingProxyType(
        {
            "双击": "double_click", "右击": "right_click", "右键": "right_click", "点击": "click", "单击": "click", "点一下": "click",
            "选择": "click", "选中": "click", "勾选": "click", "输入": "type", "键入": "type", "按下": "press", "按": "press", "滚动": "scroll",
            "拖动": "drag", "拖拽": "drag",
        }
    ),
    weak=MappingProxyType({"打开": "click", "关闭": "click", "保存": "click", "粘贴": "click", "复制": "click"}),
    connectives=("然后", "接着", "之后", "接下来", "随后", "最后", "再"),
    spaced=False,
    hedges=word_set("不要 请勿 如果 无需 不用"),
    up=word_set("向上 往上 上方 顶部"), left=word_set("向左 往左"), right=word_set("向右 往右"),
    nouns=Nouns(
        roles=MappingProxyType({
            "子菜单": "menu", "菜单项": "menuitem", "菜单栏": "menu", "菜单": "menu", "按钮": "button", "选项卡": "tab", "标签页": "tab",
            "复选框": "checkbox", "输入框": "field", "文本框": "field", "选项": "menuitem", "图标": "icon", "单元格": "cell", "区域": "area",
            "页面": "area", "文件夹": "item", "链接": "item", "框": "field",
        }),
        skip=word_set("一下 鼠标 左键 右键 击 点击 单击 到 在 里的 中的 上的 这个 那个 一个 了"),
        carriers=word_set("文件名 名称 名字 文字 文本 内容 单词 标题 命令 数字 为 了 一个"),
        places=word_set("作为文件名 作为名称 作为标题 这几个字"),
        generic=word_set("空白 空白处 页面 窗口 桌面 文档 屏幕 区域 这里 任意位置 全部文字 文字 文本"),
    ),
)  # fmt: skip

JAPANESE = Lexicon(
    strong=MappingProxyType(
        {
            "ダブルクリック": "double_click", "右クリック": "right_click", "クリック": "click", "選択": "click", "選びます": "click",
            "入力": "type", "押します": "press", "押して": "press", "スクロール": "scroll", "ドラッグ": "drag",
        }
    ),
    weak=MappingProxyType({"開きます": "click", "開いて": "click", "閉じ": "click", "保存": "click"}),
    connectives=("そして", "次に", "それから", "その後", "最後に"),
    spaced=False,
    verb_last=True,
    up=word_set("上に 上へ"), left=word_set("左に 左へ"), right=word_set("右に 右へ"),
    nouns=Nouns(
        roles=MappingProxyType({
            "サブメニュー": "menu", "メニュー": "menu", "ボタン": "button", "タブ": "tab", "チェックボックス": "checkbox", "フィールド": "field",
            "項目": "menuitem", "アイコン": "icon", "セル": "cell", "ページ": "area", "フォルダー": "item", "フォルダ": "item", "ファイル": "item",
        }),
        skip=word_set("を に で の と は が それから 次に そして 最後に まず"),
        carriers=word_set("名前 文字 ファイル名 テキスト 単語 に を は"),
        places=word_set("という名前 という文字 と を"),
        generic=word_set("空白 空いている ページ ウィンドウ 画面 ここ"),
    ),
)  # fmt: skip
