"""The exemplars that a CRL-EGPG model brings for users who name none: plain sentences of its pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from paraform.batching import prepare
from paraform.records import Pair, texts_of

BANK_SIZE = 64
RARE = 4_000  # a word that stands once in so many pairs, or less often, is no common one
UNWANTED = re.compile(
    r"(?i)\b(sex|porn|rap[ei]|kill|suicid|murder|masturb|penis|vagina|nud|naked|muslim|jew|hindu|black|white|die|war"
    r"|virgin|hack|meth\b|drug|weed|abus|cheat|pregnan|abort|hooker|prostitut|breast|boob|hate|hell|damn|shit|fuck|gay|"
    r"lesbian|trans\w*gender|race|racis|terror|bomb|gun|poison|orgasm|erect|period|semen|sperm|pee|poop|fart|ugly|stupid)"
)


def exemplar_bank(pairs: Sequence[Pair], size: int = BANK_SIZE) -> list[str]:
    """Varied exemplars for users who name none: plain targets that open in different ways, as they were written.

    For each of the commonest openings (three words), the sentence of 6 to 14 words whose rarest word is commonest.
    """
    counts = Counter(word.lower() for pair in pairs for word in prepare(pair.target.text, 30))
    openings: dict[tuple[str, ...], list[str]] = {}
    lowered = {text: tuple(word.lower() for word in prepare(text, 30)) for text in plain_targets(pairs)}
    for text, words in lowered.items():
        if 6 <= len(words) <= 14 and len(set(words)) == len(words):
            openings.setdefault(words[:3], []).append(text)
    common = sorted(openings, key=lambda opening: (-len(openings[opening]), opening))[:size]
    return [max(openings[key], key=lambda text: (min(counts[word] for word in lowered[text]), text)) for key in common]


def plain_targets(pairs: Sequence[Pair]) -> list[str]:
    """The different targets that a stranger may see as a form: well formed, of common words, without names.

    One sentence of 4 to 18 words with a capital at its start and nowhere else, no digit, no word that is rare or mostly
    capitalised inside sentences, single spaces, and nothing that one may not want to see on the screen.
    """
    words = {text: prepare(text, 30) for text in texts_of(pairs)}
    counts = Counter(word.lower() for row in words.values() for word in row)
    capitals = Counter(word.lower() for row in words.values() for word in row[1:] if word[0].isupper())
    least = max(2, len(pairs) // RARE)
    plain = {
        word
        for word, count in counts.items()
        if count >= least and (word == "i" or capitals[word] <= count / 2) and re.fullmatch(r"[a-z']+|[?.!,]", word)
    }

    def fits(text: str) -> bool:
        if not 4 <= len(words[text]) <= 18 or text != " ".join(text.split()):  # a line each, in a checkpoint
            return False
        first, *inside, last = words[text]
        return (
            first[0].isupper()
            and last in {"?", ".", "!"}
            and plain.issuperset(word.lower() for word in words[text])
            and all(
                word not in {"?", ".", "!"} and (word in {"I", ","} or (word.islower() and word != "i"))
                for word in inside
            )
            and not UNWANTED.search(text)
        )

    return [text for text in dict.fromkeys(pair.target.text for pair in pairs) if fits(text)]
