"""Text to words and back: the Penn Treebank's tokenisation, and text spaced and cased as a person would write it.

The rules are those of NLTK's word tokeniser (Penn Treebank conventions), which the systems' authors used, without
NLTK's import time; a test compares the two on real questions.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence

from paraform.literals import covered, uncovered
from paraform.records import require_text, require_words

CUT = "%s of %s texts are longer than the %s that %s reads; what is behind is left out"
UNREAD = "%s of %s texts have few words that %s knows; its vectors say little of them"


def _compile(rules: list[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), replacement) for pattern, replacement in rules]


# In this order: a rule may count on the ones above it. Each puts spaces around what is a word of its own.
_PUNCTUATION = _compile(
    [
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r'^"', r"`` "),
        (r'([ (\[{<])("|\'{2})', r"\1 `` "),
        (r"(?i)(?<!\S)'(?=\w)(?!(?:re|ve|ll|m|t|s|d|n|em|tis|twas|cause)\b)", r"' "),
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,}|…)", r" \1 "),
        (r"([;@#$%&?!*])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"([\]\[(){}<>]|--|[—–])", r" \1 "),
    ]
)
_CONTRACTIONS = _compile(
    [
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(gon|wan)(na)\s", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\s", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\s", r" \1 \2 "),
    ]
)
# A typographer's apostrophe inside a word is an apostrophe; elsewhere it is a quotation mark.
_APOSTROPHE = re.compile(r"(?<=\w)’(?=\w)")

# What the treebank cuts and a person writes as one word. Words stand between spaces; a rule only takes spaces away,
# but for can't, won't and shan't, where a model puts n't behind the verb itself.
_WRITTEN = _compile(
    [
        (r"(?<!\S)([Cc]an|CAN) (?:n't|N'T)(?!\S)", r"\1't"),
        (r"(?<!\S)([Ww])ill n't(?!\S)", r"\1on't"),
        (r"(?<!\S)([Ss]ha)ll n't(?!\S)", r"\1n't"),
        (r"(?i)(?<!\S)(can) (not)(?!\S)", r"\1\2"),
        (r"(?i)(?<!\S)(gon|wan) (na)(?!\S)", r"\1\2"),
        (r"(?i)(?<!\S)(got) (ta)(?!\S)", r"\1\2"),
        (r"(?i)(?<!\S)(gim|lem) (me)(?!\S)", r"\1\2"),
        (r"(?i)(?<=[^\W_]) ' (?=(?:s|m|d|t|ll|re|ve)(?!\S))", "'"),  # as some corpora cut them: it ' s, don ' t
        (r"(?<!\S)(\d+) ' (?=\d+ (?:''|\")(?!\S))", r"\1' "),  # 5' 8", feet and inches
        (r"(?i)(?<!\S)(['’]) (?=(?:\d?\d0s|\d\d|bout|cause|cuz|em|round|till?|tis|twas)(?!\S))", r"\1"),  # the '90s
        (r"(?i)(?<!\S)([cf]) #(?!\S)", r"\1#"),  # programming languages; elsewhere # opens a number or a topic
        (r"# (?=[\ufe0f\u20e3])", "#"),  # keycaps
        (r"\* (?=[\ufe0f\u20e3])", "*"),
        (r"(?<!\S)([*@#&<>$]) (?=\1(?!\S))", r"\1"),  # runs; the tokeniser leaves those of full stops whole
        (r"(?<!\S)< ([^\s<>]+) >(?!\S)", r"<\1>"),  # a tag
        (r"(?<!\S)(--?|[=<>]) (?=[=>](?!\S))", r"\1"),  # an arrow, <=
        (r"(?<!\S)< (?=--?(?!\S))", "<"),
        (r"(?i)(?<!\S)(https?|ftp) : (?=//\S)", r"\1:"),
        (r"(?<!\S)([A-Za-z]) : (?=\\)", r"\1:"),
        (r"(?<!\S)([\w.+-]+) @ (?=[\w-]+\.\w)", r"\1@"),  # a mail address
        (r"(?<!\S)@ (?=[^\W\d])", "@"),
        (r"(?<!\S)\$ (?=\.?\d|[A-Z]+\d|[A-Z]{2})", "$"),
        (r"(?<!\S)(AU|CA?|HK|NZ|S|US|(?<=[^\W\d_] )A) (?=\$\d)", r"\1"),
        (r"(?<=[\dXYZ]) ([$%])(?!\S)", r"\1"),
        (r"(?<=\d) – (?=\d)", "–"),
        (r"(?<!\S)([A-Z]{1,3}) & (?=[A-Z](?!\S))", r"\1&"),  # AT&T
        (r"(?<!\S)([A-Z]) & (?=[A-Z]{2,3}(?!\S))", r"\1&"),
        (r"(?<!\S)([b-hj-z]) & (?=(?!i)[a-z](?!\S))", r"\1&"),
        (r"(?<=[^\W_]) \( (s|es|ies|d|ed|n|r|ren) \)(?!\S)", r"(\1)"),  # video(s)
        (r"(?<!\S)((?![aI])[^\W\d_]|\d+) \( ([^\W\d_]) \)(?!\S)", r"\1(\2)"),  # f(x), 401(k)
        (r"(?<=\w\)) \( ([^\W_]) \)(?!\S)", r"(\1)"),  # 501(c)(3)
    ]
)
_QUERY = re.compile(r"(?<=//)(\S+) (?:([?&]) (?=\S+=)|(%) (?=[\dA-Fa-f]{2}))")  # of an address; a mark at a time
_SMILEY = re.compile(r"(?<!\S)([:;]) (- )?([()/]|[DP]$)(?!\S)")

_CLOSING = {".", ",", ":", ";", "?", "!", ")", "]", "}", "''", "”", "’", "»", "…", "n't"}
_CLOSING |= {"'s", "'m", "'d", "'t", "'ll", "'re", "'ve"}
_OPENING = {"(", "[", "{", "#", "`", "“", "‘", "«", "„"}
_DOUBLE = {'"', "``", "''"}  # straight in writing; the tokeniser takes a closing one behind a space for an opening one

_ESCAPED = re.compile(r"-([LR])([RSC])B-", re.IGNORECASE)
_BRACKETS = {"LR": "(", "RR": ")", "LS": "[", "RS": "]", "LC": "{", "RC": "}"}
_PARTNERS = {")": "(", "]": "[", "}": "{"}
_ALL_BRACKETS = {*_PARTNERS, *_PARTNERS.values()}

_CLOSED = (
    "a an the this that these those each every either neither some any no all both such own same other another",
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers",
    "herself it its itself they them their theirs themselves one ones",
    "about above across after against along among around at before behind below beneath beside between beyond by down",
    "during except for from in inside into like near of off on onto out outside over past per since than through",
    "throughout to toward towards under until up upon via with within without",
    "and but or nor so yet if unless because as while whereas although though whether",
    "am is are was were be been being have has had having do does did doing done will would shall should can could",
    "may might must ought who whom whose which what when where why how",
    "not never also too very just only even still again then there here now more most less least much many few",
    "n't 's 'm 'd 'll 're 've ca wo sha",
)
STOP_WORDS = frozenset(word for line in _CLOSED for word in line.split())
"""Lower-cased English words, in the Penn Treebank's tokenisation, that a sentence of any content may have."""


def unescape(word: str) -> str:
    """A treebank's word as it is in the text: `-LRB-`, in any case, is a bracket."""
    if "-" not in word:
        return word
    return _ESCAPED.sub(lambda found: _BRACKETS[(found[1] + found[2]).upper()], word)


def escape(word: str) -> str:
    """A word as a treebank writes it: round brackets are the tree's own."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def tell_cut(cut: int, texts: int, most: str, model: str) -> None:
    """Warn, through the logger "paraform", of texts whose ends a model does not read.

    Of none it is information, which nobody hears but who sums up parts (`cli.messages.Teller`).

    Args:
        most: what it reads, such as "256 tokens".
    """
    logging.getLogger("paraform").log(logging.WARNING if cut else logging.INFO, CUT, cut, texts, most, model)


def tell_unread(unread: int, texts: int, model: str) -> None:
    """Warn, as `tell_cut` does, of texts whose words a model does not know."""
    logging.getLogger("paraform").log(logging.WARNING if unread else logging.INFO, UNREAD, unread, texts, model)


def tokenize(text: str) -> list[str]:
    """The words of a text, case kept, in the Penn Treebank's tokenisation (`don't` → `do n't`); [] for white space.

    What `literals` finds is one word as it stands, `_` for a blank in it: `{{_name_}}`.
    Raises: InputError for what is no string, and half of a surrogate pair.
    """
    require_text(text, "the text")
    rest, found = covered(text)
    if not found:
        return _cut(text)
    return uncovered(_cut(rest), (re.sub(r"\s", "_", literal) for literal in found))


def _cut(text: str) -> list[str]:
    spaced = " ".join(_APOSTROPHE.sub("'", text).split())
    for rule, replacement in _PUNCTUATION:
        spaced = rule.sub(replacement, spaced)
    spaced = f" {spaced} "  # a contraction ends at a space, the last one too
    for rule, replacement in _CONTRACTIONS:
        spaced = rule.sub(replacement, spaced)
    return spaced.split()


def detokenize(words: Sequence[str]) -> str:
    """The words as one text, spaced as a person would write it: `do n't you ?` → `don't you?`.

    A treebank's brackets are brackets (`-lrb-`). Where writers differ and the words do not tell, it is the way of most:
    `can not` → `cannot`, `50 %` → `50%`, `R & D` → `R&D`, `a -- b`. Raises: InputError for a word that is no string.
    """
    (words,) = require_words([words])
    pieces: list[str] = []
    quoted = {'"': False, "'": False}  # which quotation marks are open
    glue = True  # nothing stands between this word and the one before
    whole = _as_written([unescape(word) for word in words])
    for position, word in enumerate(whole):
        previous = whole[position - 1].lower() if position else ""
        opening = word in _OPENING
        closing = word.lower() in _CLOSING or word.startswith("..")
        if word in _DOUBLE:
            closing = quoted['"'] or word == "''"
            opening = quoted['"'] = not closing
        elif word == "'":
            opening = not quoted["'"] and _opens(whole[position + 1 :], previous)
            closing = not opening
        if word in {"'", "`"}:
            quoted["'"] = opening
        if not (glue or closing):
            pieces.append(" ")
        pieces.append('"' if word in _DOUBLE else word)
        glue = opening
    return "".join(pieces)


def _as_written(words: Sequence[str]) -> list[str]:
    """The words, those that a person writes as one put together: `can not` → `cannot`."""
    text = " ".join(words)
    for rule, replacement in _WRITTEN:
        text = rule.sub(replacement, text)
    while "//" in text and (longer := _QUERY.sub(r"\1\2\3", text)) != text:
        text = longer
    return _SMILEY.sub(_smiley, text).split()


def _smiley(found: re.Match[str]) -> str:
    """`: )` as `:)`, unless it is a bracket that closes or opens something."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    bracket = (found[3] == ")" and before.count("(") > before.count(")")) or (found[3] == "(" and ")" in after)
    return found[0] if bracket else found[0].replace(" ", "")


def _opens(following: Sequence[str], previous: str) -> bool:
    """Whether a lone ' opens a quotation or a number; otherwise it is a plural's (`the students' books`)."""
    more = following.count("'")
    plural = previous.endswith("s") and previous != "'s"
    number = len(following) > 0 and following[0][0].isdigit() and not previous[-1:].isdigit()
    return (more > 0 and not (plural and more % 2 == 0)) or (number and not plural)


def drop_stray_brackets(words: Sequence[str]) -> list[str]:
    """A model's words without the brackets that have no partner and those with nothing between them.

    Smileys stay (`: )`), and so do the brackets of a list (`a ) this or b ) that`).
    """
    out = [unescape(word) for word in words]
    opened: list[int] = []
    paired: set[int] = set()
    for position, word in enumerate(out):
        if word in _PARTNERS.values():
            opened.append(position)
        partner = next((start for start in reversed(opened) if out[start] == _PARTNERS.get(word)), None)
        if partner is not None:
            opened = [start for start in opened if start < partner]
            if any(inner in paired or out[inner] not in _ALL_BRACKETS for inner in range(partner, position)):
                paired |= {partner, position}
    return [
        word
        for position, word in enumerate(out)
        if word not in _ALL_BRACKETS or position in paired or _stands_alone(out, position)
    ]


def _stands_alone(words: Sequence[str], position: int) -> bool:
    """Whether the round bracket there is a smiley's or a list's."""
    previous = words[position - 1] if position else ""
    if words[position] in {"(", ")"} and previous in {":", ";"}:
        return True
    follows = words[position + 1 : position + 2]
    listed = (len(previous) == 1 and previous.isalpha()) or (previous.isdigit() and len(previous) < 3)
    return words[position] == ")" and listed and any(word[:1].isalnum() for word in follows)


def join_pieces(pieces: Sequence[str]) -> list[str]:
    """WordPieces as words: `["para", "##form"]` → `["paraform"]`; words pass as they are."""
    words: list[str] = []
    for piece in pieces:
        if piece.startswith("##") and len(piece) > 2 and words:
            words[-1] += piece[2:]
        else:
            words.append(piece)
    return words


def recase(words: Sequence[str], usual: Mapping[str, str], models: Sequence[str] = ()) -> list[str]:
    """Lower-cased words as a person would case them.

    Args:
        words: lower-cased.
        usual: lower-cased word → how the training text writes it inside a sentence (`paris` → `Paris`).
        models: words of the source as its writer cased them; they come first, except for its sentence openings.
    Returns: the same words, the first of each sentence with a capital.
    """
    written = dict(usual)
    # An acronym that the training text knows is no sign of text in capitals throughout, where case says nothing.
    shouting = sum(word.isupper() and usual.get(word.lower()) != word for word in models) > len(models) / 2
    opens = True
    for word in models:
        # Nor does a capital after a full stop say anything of the word.
        if word.lower() != word and not shouting and (not opens or not word.istitle()):
            written[word.lower()] = word
        opens = opens_sentence(word, opens)
    if "a" in models:
        written.pop("a", None)  # as in "an A in a test"
    own = {word.lower(): word for word in models}
    out: list[str] = []
    opens = True
    for place, word in enumerate(map(unescape, words)):
        address = "@" in (*out[-1:], *words[place + 1 : place + 2])
        cased = own.get(word, word) if address else "I" if word == "i" else written.get(word, word)
        if opens and cased.islower() and not cased.startswith(("http", "www.")) and not address and out[-1:] != ["#"]:
            cased = cased[0].upper() + cased[1:]
        opens = opens_sentence(word, opens)
        out.append(cased)
    return out


def opens_sentence(word: str, opens: bool) -> bool:
    """Whether a sentence opens behind the word, where one did or did not open before it."""
    return word in {".", "?", "!"} or (opens and not any(letter.isalnum() for letter in word))
