"""What a rewording must keep of its source, each check by name.

A check looks at words and Penn Treebank tags. Words that a frame or a synonym brings or takes are exempt: that they say
the same is why they are in the list.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence, Set
from typing import Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from paraform.rewording.roles import LIGHT, OTHERS, PREPOSITIONS, keeps_phrases, keeps_roles
from paraform.rewording.tagged import Tagged

QUESTION_WORDS = {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}
AUXILIARIES = {
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "am",
    "can",
    "could",
    "will",
    "would",
    "should",
    "shall",
}
AUXILIARIES |= {"may", "might", "must", "have", "has", "had", "ca", "wo", "ai"}
NEGATIONS = {"n't", "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "unable"}
NEGATIONS |= {"impossible", "cannot"}
GREETINGS = {"hi", "hello", "hey", "so", "ok", "okay", "well", "but", "and", "please", "also", "then", "now", ","}
MODALS = {"can": "can", "ca": "can", "could": "can", "able": "can", "possible": "can", "should": "should"}
MODALS |= {"must": "must", "need": "must", "required": "must", "necessary": "must", "will": "will", "wo": "will"}
CONTRACTIONS = {"'s": "is", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can"}
CONTRACTIONS |= {"wo": "will", "'d": "would"}
AMOUNTS = {"some", "any", "all", "both", "each", "every", "most", "and", "or"}
SUPPORT = {"do": {"do", "does", "did"}, "there": {"there"}}
SUBJECTS = {"i", "you", "he", "she", "it", "we", "they"}
PERSONS = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"), "1"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves"), "2"),
}
DETERMINING = {"DT", "PDT", "PRP$", "CD", "POS", "WDT", "WP", "WP$"}  # tags
ARTICLES = {"a", "an", "the", "this", "these", "those"}
NUMBER = {"is": "NNS", "was": "NNS", "are": "NN", "were": "NN"}  # a verb, and the noun that it does not go with
KEPT = 2**15  # words of which is remembered what they are
LEAST_CHANGED = 2  # words: fewer is a copy
CHECKS = (
    *("numbers", "names", "negation", "kind", "asked", "agreement", "added", "dropped", "nouns", "prepositions"),
    *("roles", "stutter", "changed"),
)
WORDS_ALONE = ("numbers", "names", "negation", "dropped", "stutter", "changed")  # look at no tag of the output
CONTENT_TAGS = ("NN", "VB", "JJ", "RB", "CD", "FW")

Kind = Literal["question", "command", "statement"]


def check(
    source: Tagged, output: Tagged, exempt: Collection[str] = (), *, framed: bool = False, parsed: bool = False
) -> dict[str, bool]:
    """Whether each check is passed, by name.

    - numbers: the same, in any order (1,000 is 1000);
    - names: every proper noun of the source is there;
    - negation: as many words that deny;
    - kind: a question stays one, a statement and a command too;
    - asked: the same question words (what and which count as one), modal verbs, tense, "do" and "there", as many
      "that" and pronouns behind their verb ("what time it is" is no "what time is it"; nor "or it is" "or is it"), and
      the same `AMOUNTS`;
    - agreement: no "what are the best way", no "a cats", no "a account", no "color of banana" of "a banana", as many
      finite verbs and of "be" as many, of the same number;
    - added, dropped: no content word that the other has not, in any form, numbers aside;
    - nouns: the same ones, each as often and in the same form, and the reader or the writer if the source has them;
    - prepositions: those of the source are there;
    - stutter: no two words stand side by side twice, unless they do so as often in the source;
    - roles: who does what to whom, as `keeps_roles` has it, and no adjective or preposition at another noun;
    - changed: at least two words, contractions and capitals aside, and articles unless framed.

    Args:
        exempt: words that do not count for negation, added and dropped.
        framed: the output comes from a frame of that kind of question, which answers for kind, asked, agreement, nouns
            and prepositions.
        parsed: it was made from the source's tree, which answers for roles.
    """
    known, right = source.lowered, Tagged(*_without(exempt, output))
    passed = _by_words(source, _to_keep_of(source, exempt), output.words, right.words, framed=framed) | {
        "kind": framed or kind(source) == kind(output),
        "asked": framed or _asked(source) == _asked(output),
        "agreement": framed or (_agrees(output) and _verbs_agree(source, output) and _keeps_articles(source, output)),
        "added": all(_has(known, word) for word in content_words(right)),
        "nouns": framed or (_nouns(source) == _nouns(output) and _persons(known) == _persons(output.lowered)),
        "prepositions": framed or not _prepositions(source) - _prepositions(output),
        "roles": parsed or (keeps_roles(source, output) and (framed or keeps_phrases(source, output))),
    }
    return {name: passed[name] for name in CHECKS}


def lost(source: Tagged, words: Sequence[str], exempt: Collection[str] = (), *, framed: bool = False) -> list[str]:
    """The checks that an output of these words fails, whatever their tags are; arguments as `check` has them.

    All that it fails of `WORDS_ALONE`; of asked, nouns and prepositions, those that no tags would save.
    """
    wanted = _to_keep_of(source, exempt)
    kept, _ = _without(exempt, Tagged(words, words))
    passed = _by_words(source, wanted, words, kept, framed=framed)
    if not framed:
        found = Counter(word.lower() for word in words)
        passed["asked"] = wanted.asked == _asked(Tagged(words, [""] * len(words)))
        passed["nouns"] = not wanted.nouns - found
        passed["prepositions"] = not wanted.prepositions - found
    return [name for name in CHECKS if not passed.get(name, True)]


class _ToKeep(NamedTuple):
    """What a source's rewording must have, as its words alone show; `asked` without the tense."""

    numbers: list[str]
    names: set[str]
    denials: int
    content: list[str]
    pairs: Counter[tuple[str, str]]
    asked: list[str]
    nouns: Counter[str]
    prepositions: Counter[str]


def _to_keep_of(source: Tagged, exempt: Collection[str]) -> _ToKeep:
    return _to_keep(tuple(source.words), tuple(source.tags), frozenset(exempt))


@functools.lru_cache(maxsize=2**8)  # the candidates of a source come one after another
def _to_keep(words: tuple[str, ...], tags: tuple[str, ...], exempt: frozenset[str]) -> _ToKeep:
    source, left = Tagged(words, tags), Tagged(*_without(exempt, Tagged(words, tags)))
    return _ToKeep(
        numbers=_numbers(words),
        names={word.lower() for word, tag in zip(words, tags, strict=True) if tag.startswith("NNP")},
        denials=_denials(left.words),
        content=content_words(left),
        pairs=_pairs(source.lowered),
        asked=_asked(Tagged(words, [""] * len(words))),
        nouns=_nouns(source),
        prepositions=_prepositions(source),
    )


def _by_words(
    source: Tagged, wanted: _ToKeep, words: Sequence[str], kept: Sequence[str], *, framed: bool
) -> dict[str, bool]:
    """The checks of `WORDS_ALONE`.

    Args:
        kept: the output's words without those that are exempt.
    """
    found = [word.lower() for word in words]
    return {
        "numbers": wanted.numbers == _numbers(words),
        "names": wanted.names <= set(found),
        "negation": wanted.denials == _denials(kept),
        "dropped": all(_has(found, word) for word in wanted.content),
        "stutter": all(times <= max(1, wanted.pairs[pair]) for pair, times in _pairs(found).items()),
        "changed": changed_words(source.words, words, aside=set() if framed else ARTICLES) >= LEAST_CHANGED,
    }


def kind(sentence: Tagged) -> Kind:
    """What a sentence does."""
    words = sentence.lowered
    start = next((place for place, word in enumerate(words) if word not in GREETINGS), 0)
    first, after = words[start : start + 1], sentence.tags[start + 1 : start + 2]
    by_what = first[0] in PREPOSITIONS | OTHERS and words[start + 1] in QUESTION_WORDS if after else False
    inverted = bool(first) and first[0] in AUXILIARIES and after not in (["VBG"], ["VBN"])
    if words[-1:] == ["?"] or (first and first[0] in QUESTION_WORDS) or by_what or inverted:
        return "question"
    return "command" if list(sentence.tags[start : start + 1]) in (["VB"], ["VBP"]) else "statement"


def content_words(sentence: Tagged) -> list[str]:
    """Nouns, verbs, adjectives and adverbs, lower-cased, without those that say little, and what has digits."""
    return [
        word.lower()
        for word, tag in zip(*sentence, strict=True)
        if tag.startswith(CONTENT_TAGS) and _tells(word.lower())
    ]


@functools.lru_cache(maxsize=KEPT)
def _tells(word: str) -> bool:
    return word not in LIGHT | NEGATIONS and bool(re.search(r"\w{2}", word)) and not re.search(r"\d", word)


def changed_words(source: Sequence[str], output: Sequence[str], *, aside: Set[str] = frozenset()) -> int:
    """Edits from the one to the other in words, contractions, capitals and punctuation aside.

    Args:
        aside: lower-cased words that do not count either.
    """
    bare = ([bare for word in words if (bare := _bare(word)) and bare not in aside] for words in (source, output))
    return Levenshtein.distance(*bare)


@functools.lru_cache(maxsize=KEPT)
def _bare(word: str) -> str:
    """Without case, and a contraction as the word that it stands for; "" for punctuation."""
    return CONTRACTIONS.get(word.lower(), word.lower()) if re.search(r"\w", word) else ""


def _asked(sentence: Tagged) -> list[str]:
    words = sentence.lowered
    out = []
    for place, word in enumerate(words):
        following = words[place + 1] if word == "how" and place + 1 < len(words) else ""
        degree = following if following in {"many", "much", "long", "often", "far", "old", "big"} else ""
        if word in QUESTION_WORDS:
            out.append({"which": "what", "whom": "who"}.get(word, word) + degree)
    out += {MODALS[word] for word in words if word in MODALS}
    out += ["must"] * any(pair in (("have", "to"), ("has", "to"), ("had", "to")) for pair in _pairs(words))
    out += [name for name, some in SUPPORT.items() if some.intersection(words)]
    behind = itertools.pairwise(word for word in words if word not in {"n't", "not"})
    out += ["or inverted"] * any(one == "or" and other in AUXILIARIES for one, other in _pairs(words))
    out += [f"inverted {sum(verb in AUXILIARIES and subject in SUBJECTS for verb, subject in behind)}"]
    # "The longest payment will show pending" has lost one.
    out += [word for word, tag in zip(words, sentence.tags, strict=True) if (word, tag) == ("that", "WDT")]
    out += ["past"] * any(tag == "VBD" for tag in sentence.tags)
    present = {word for word, tag in zip(words, sentence.tags, strict=True) if tag in ("VBZ", "VBP")}
    out += ["present be"] * bool({"is", "are", "am", "'s", "'re", "'m"} & present)
    counted = [word for word in words if word == "?" or word in AMOUNTS]
    return sorted([*set(out), *counted, f"{sum(word in QUESTION_WORDS for word in words)} asking"])


def _agrees(sentence: Tagged) -> bool:
    """Whether no "is" or "are" stands before "the" or "some", adjectives and a noun of the other number.

    Nor "a" before a plural, adjectives between them or not, or before a vowel, "one" and "European" aside.
    """
    words, tags = sentence.lowered, sentence.tags
    tagged = "".join(f"{'A' if word in ('a', 'an') else tag} " for word, tag in zip(words, tags, strict=True))
    if re.search(r"(^| )A (JJ\w? )*NNS ", tagged) or re.search(r"(^| )a [aeio](?!ne|ur)", " ".join(words)):
        return False
    for place, word in enumerate(words):
        if word in NUMBER and words[place + 1 : place + 2] in (["the"], ["some"]):
            end = place + 2
            while end < len(tags) and tags[end].startswith(("JJ", "RB")):
                end += 1
            while tags[end : end + 1] and "".join(tags[end + 1 : end + 2]).startswith("NN"):  # "sex stories"
                end += 1
            several = NUMBER[word] == "NN" and list(tags[end + 1 : end + 2]) == ["CC"]  # "are the cat and the dog"
            if list(tags[end : end + 1]) == [NUMBER[word]] and not several:
                return False
    return True


def _verbs_agree(source: Tagged, output: Tagged) -> bool:
    """As many finite verbs; "is" is no "are"; none of "be", "been" and "being" goes or comes.

    The nouns are the same ones, so that a verb of the other number fits none of them or not the right one.
    """
    one, other = _numbers_of_be(source), _numbers_of_be(output)
    bare = [sum(word in {"be", "been", "being"} for word in sentence.lowered) for sentence in (source, output)]
    return _finite(source) == _finite(output) and bare[0] == bare[1] and (not one or not other or one == other)


def _keeps_articles(source: Tagged, output: Tagged) -> bool:
    """Whether no noun in the singular stands bare that "a" or "the", or another determiner, stood before."""
    (determined, _), (_, bare) = _by_article(source), _by_article(output)
    return not determined & bare


def _by_article(sentence: Tagged) -> tuple[set[str], set[str]]:
    """Nouns in the singular: those that a determiner stands before, and those that none does."""
    found: tuple[set[str], set[str]] = (set(), set())
    bare = True
    for word, tag in zip(sentence.lowered, sentence.tags, strict=True):
        if tag in DETERMINING:
            bare = False
        elif tag == "NN":
            found[bare].add(word)
        elif not tag.startswith(("NN", "JJ", "RB", "VBN", "VBG", "HYPH", "CC")):  # "my bread and butter"
            bare = True
    return found[0] - found[1], found[1]


def _numbers_of_be(sentence: Tagged) -> set[str]:
    forms = {"'s": "is", "'re": "are"}
    finite = (
        forms.get(word, word) for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag[:2] == "VB"
    )
    return {NUMBER[word] for word in finite if word in NUMBER}


def _finite(sentence: Tagged) -> int:
    return sum(tag in ("VBZ", "VBP", "VBD", "MD") for tag in sentence.tags)


def _persons(words: Sequence[str]) -> set[str]:
    return {PERSONS[word] for word in words if word in PERSONS}


def _pairs(words: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(itertools.pairwise(words))


def _prepositions(sentence: Tagged) -> Counter[str]:
    return Counter(word for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag == "IN")


def _nouns(sentence: Tagged) -> Counter[str]:
    return Counter(word for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag.startswith("NN"))


def _numbers(words: Sequence[str]) -> list[str]:
    return sorted(number for word in words if (number := _number(word)))


@functools.lru_cache(maxsize=KEPT)
def _number(word: str) -> str:
    """A word with digits, 1,000 as 1000; "" for another."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word.lower()).strip(".,") if re.search(r"\d", word) else ""


def _denials(words: Sequence[str]) -> int:
    return sum(word.lower() in NEGATIONS for word in words)


def _without(exempt: Collection[str], sentence: Tagged) -> tuple[list[str], list[str]]:
    kept = [(word, tag) for word, tag in zip(*sentence, strict=True) if word.lower() not in exempt]
    return [word for word, _ in kept], [tag for _, tag in kept]


def _has(words: Sequence[str], word: str) -> bool:
    """Whether one of the words is the word, or another form of it: both begin alike."""
    return word in words or any(_same_stem(other, word) for other in words)


def _same_stem(one: str, other: str) -> bool:
    if one[:3] != other[:3]:  # nearly all
        return False
    alike = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return alike >= 3 and alike >= min(len(one), len(other)) - 2 and max(len(one), len(other)) - alike <= 4
