"""Turns of phrase that say what a sentence of narration is for, in the languages that operations are read in (and some more)."""

from __future__ import annotations

import re

from cuamaster.records.lexicon import word_set


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


CLOSING = _any(
    r"\b(thank(s| you) (you )?(very much |so much |all )?for (watching|your)|thanks everyone|see you|good ?bye|bye bye|next (video|time|tutorial)"
    r"|that('s| is| was) (all|it|everything)( for| folks|\.|,|$)|that concludes|until next|have a (nice|great|good)|hope (this|you)|end of (this|the) (video|tutorial)"
    r"|danke für|bis zum nächsten|gracias por|hasta la|merci d'avoir|obrigado por)",
    r"谢谢|再见|下期|ありがとうございました|感谢|감사합니다|спасибо за",
)
APPEAL = _any(
    r"\b(subscribe|like button|(hit|click|ring|press) the bell|notification|(leave|write) (me )?a comment|comments? (below|section)|patreon|channel"
    r"|abonnier\w*|ein abo\b|glocke|kommentar|suscr[ií]b\w*|campana|comentario|abonnez|inscreva)",
    r"订阅|点赞|チャンネル登録|구독|подпи(ш|с)\w*",
)
PAID = _any(
    r"\b(sponsor\w*|brought to you by|paid (for (this|the) (video|episode)|promotion|part\w*)|(our|my) partner|promo(tion)? ?code|discount code|coupon code"
    r"|link (is )?in the description|special offer"
    r"|werbung|anzeige:|gesponsert|unterstützt von|(rabatt|gutschein)code|link .{0,25}in der beschreibung"
    r"|patrocin\w*|publicidad|posible gracias a|enlace .{0,25}en la descripción|código (de descuento|promocional)"
    r"|code promo|lien .{0,25}en description|offert par|parceria paga|cupom)",
    r"赞助|优惠码|折扣码|链接在简介|ご提供|提供でお送り|クーポンコード|概要欄のリンク|협찬|промокод|спонсор\w*|ссылка в описании",
)
"""Somebody paid for what is said."""
PAID_TOO = _any(
    r"\b(discount|coupon|the code \w+|percent off|% off|free (trial|month|of charge)|(months?|weeks?|days?) (free|for free)|sign up|visit"
    r"|(dot|\.) ?(com|example|net|org)\b|check-?out|subscription|the app"
    r"|rabatt|gutschein|prozent|sparen|kostenlos|(punkt|\.) ?de\b|die app"
    r"|código|descuento|por ciento|gratis|(punto|\.) ?(es|com|example)\b|la aplicación"
    r"|gratuit|réduction|grátis|desconto)",
    r"折扣|优惠|免费|割引|無料|할인|무료|скидк\w*|бесплатн\w*",
)
"""It goes on selling; by itself any tutorial may say so."""
RETURN = _any(
    r"\b(back to (our|the|my|where|work|business)|(let('s| us)|we|and) (get |go |are |now )*back\b|where (were we|we were|we left)|let('s| us) (go on|continue|carry on)"
    r"|moving on|anyway|(zurück|weiter) (zu|zum|zur|im|mit|geht)|wo waren wir|seguimos|volvamos|continuamos|por dónde íbamos|revenons|voltando)",
    r"言归正传|回到|我们继续|本題に|戻りましょう|다시 돌아|вернёмся|вернемся|продолж\w*",
)
TOLD = _any(
    r"\b((i|we|you)('ve| have| had) (just |already |now )|in the (last|first|previous) (lesson|video|part|episode)|last (time|week)|to (sum up|recap)"
    r"|(schon|bereits|gestern|vorhin|eben) (\w+ )*(ge\w+t|\w+ge\w+t)\b|(hemos|he) (ya )?(visto|hecho|\w+[aei]do)\b|acab(o|amos) de|(nous avons|j'ai) (déjà )?\w+é\b)",
    r"刚才|已经|先ほど|さっき|방금|уже",
)
"""What was done before, or is summed up."""
DONE = _any(
    r"^(good|great|perfect|done|excellent|nice|voil[aà]|there (we|you) (go|have)|very good|fine|super|fertig|listo)\b|\b(is|are|has been|have been) "
    r"(now|already|successfully)\b|\bnow (stored|saved|done|finished|ready|complete)\b|\bthat('s| is) how\b|\bas you can see\b|\bwe('ve| have) (now |just |successfully )?"
    r"(created|made|saved|finished|added|done|learned|seen)\b|\bfinished\b",
    r"^(gut|sehr gut|perfekt|geschafft|muy bien|perfecto|hecho|parfait|好了|完成|できました)",
)
GOAL = _any(
    r"\b(let('s| us)|next (we|up|task|thing|topic|example|i)|now (we|i|let)|we (will|want|still|can now|need to|are going)|i (will|want|am going)|i'll|we'll|how to|another|"
    r"second (task|part|example|thing)|third (task|part|example|thing)|moving on|last (task|thing|part)|task|but wait|also want|jetzt (wollen|kommt|machen)|als nächstes|"
    r"ahora vamos|a continuación|maintenant)\b",
    r"接下来|下面|次は|다음",
)
NEW_TASK = _any(
    r"\b(next|second|third|another|new|last|final) (task|part|topic|example|exercise|lesson|chapter|tip)\b|\b(task|part|tip|example|lesson) (number )?"
    r"(two|three|four|five|six|[2-9])\b|\bmoving on\b|\bnow let('s| us) (see|look|learn) (at )?how\b|\b(nächste|zweite|dritte|letzte)r? (aufgabe|teil|schritt|übung)\b"
    r"|\b(siguiente|segund[oa]|tercer[oa]?|últim[oa]) (tarea|parte|ejercicio|ejemplo|paso)\b",
    r"第[二三四五]|下一个|次の",
)
PAST_FORMS = word_set("chose chosen wrote written went ran held")
"""Irregular past forms among the English operation verbs; hit and put may be commands."""
