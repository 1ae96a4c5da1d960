"""Sentence frames that say the same, with slots for what stays: `can i {v} ?`, `is it possible to {v} ?`.

Frames with slots are an old and precise way to reword (Barzilay and Lee 2003, "Learning to Paraphrase"). Those in
`frames.txt` were begun from what Quora's askers really change in a question (`recipes/frames.py` counts it) and written
down by hand. What a slot stands for is in `slots.py`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import NamedTuple, TypeAlias

from paraform.rewording.inflection import third
from paraform.rewording.rewritten import Rewritten
from paraform.rewording.slots import ENDINGS, Form, compiled

_Filling: TypeAlias = dict[str, tuple[Sequence[str], Sequence[str]]]
"""Of each slot, "{v}", its words and their tags."""

_SPACE = re.compile(r"\s")
_JOINING = {"and", "but", "so"}
_BREAKS = {",", "--", "-", ":", ";"}
_STARTERS = {"what", "which", "who", "where", "when", "why", "how", "can", "could", "is", "are", "do", "does", "did"}
_STARTERS |= {"will", "would", "should", "please", "i"}
LONGEST = 60  # words: no frame fits more, and some take time that grows with the cube of them
_NOUNS = {"{n}", "{m}", "{k}", "{h}", "{b}", "{e}", "{l}", "{t}"}
_WRAPPING = {"know", "tell", "think", "true", "explain", "say"}  # what begins with these is wrapped already
_REASON = re.compile(r"\b(as|because|since|while) (i|you|he|she|it|we|they)\b")  # "this payment as I did not make it"
_AUXILIARY = {"is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should", "has", "have"}
_CARRYING = (_AUXILIARY | {"{do}", "{aux}"}) - {"is", "are", "was", "were"}
_SECOND = re.compile(r"\bCC (\w+\$? )?(NN\w*|PRP) (MD|VB[PZD])")  # "hurry up or you miss it"
_SUBJECT = re.compile("PRP|DT|NNP|EX")
_SINGULAR, _PLURAL = {"is", "was", "does", "has"}, {"are", "were", "do", "have"}
_GOVERNING = {"of", "for", "by", "with", "from", "between", "to", "about", "make", "makes", "made", "causes"}
_SUBJECTS, _OBJECTS = {"i", "he", "she", "we", "they"}, {"me", "him", "her", "us", "them"}
_PERSONS = {word: "i" for word in ("i", "me", "my", "mine", "myself")}
_PERSONS |= {word: "we" for word in ("we", "us", "our", "ours", "ourselves")}
_PERSONS |= {word: "you" for word in ("you", "your", "yours", "yourself")}
_ADVISING = _WRAPPING | {"advise", "let", "help"}
_YES_OR_NO = {"true", "idea", "right"}  # what asks for yes or no cannot hold "or", and "any" hardly
_ADVICE = {"should", "ought", "can", "could", "might", "may", "let"}
_CHOICES = {"or", "any", "anyone", "anybody", "anything", "ever", "either"}
_PERFECT = re.compile(r"\b(has|have|'ve)\b.*(\b(been|noticed|stolen|tried|made)\b|\{d\}|\{done\})")
TIMES = re.compile(
    "yesterday|today|tonight|ago|last|when|while|since|until|till|after|before|then|once|already|yet|ever|recently|just|"
    "now|earlier|later|first|during|long|still|always|never|times|(minute|hour|day|week|weekend|month|year)s?|morning|"
    "afternoon|evening|night|century|(mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|"
    r"august|september|october|november|december|1\d{3}|20\d\d",
    re.IGNORECASE,
)
_STOP = re.compile(r"[a-z]{2,}\.")  # a sentence ends within
_LOOSE = {"is", "are", "was", "were", "be", "been", "'s", "'re", "'m", "sorry", "just", "only", "mainly", "mostly"}
_LOOSE |= {"partly", "simply", "all", "not"}


class Frame(NamedTuple):
    """A form of a group.

    Args:
        form: words and slots.
        read, written: whether a sentence of this form may be reworded, and a rewording may have it.
        wrapped: it only puts something around the same words, so that any other is better.
    """

    form: Form
    read: bool
    written: bool
    wrapped: bool


def rewrite(words: Sequence[str], tags: Sequence[str], clauses: Sequence[tuple[int, int]] = ()) -> list[Rewritten]:
    """All rewordings of a sentence by the frames that it, or one of its clauses, fits, in the order of `frames.txt`.

    Args:
        words: in the Penn Treebank's tokenisation, case kept.
        tags: their Penn Treebank tags.
        clauses: where statements of their own begin and end in it, without what joins them.
    """
    size = len(words)
    while size and words[size - 1] in ENDINGS:
        size -= 1
    if size > LONGEST or ":" in words[:size]:  # "Repeat after me: I am free.": what follows is not ours to ask
        return []
    dated = any(TIMES.fullmatch(word) for word in words)
    out: dict[tuple[str, ...], Rewritten] = {}
    for start, end in (*_clauses([word.lower() for word in words[:size]]), *clauses):
        for found in _whole(words[start:end], tags[start:end], "".join(words[end : end + 1]), dated=dated):
            rest = words[end + 1 :] if end < size else []
            changed = [*words[:start], *found.words, *rest]
            lowered = [word.lower() for word in changed]
            if lowered.count("please") > 1 or lowered.count("yet") > max(1, [*map(str.lower, words)].count("yet")):
                continue
            out.setdefault(tuple(word.lower() for word in changed), found._replace(words=changed))
    return list(out.values())


def _clauses(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The whole sentence, and what stands before and behind a comma or dash that a question or a request follows."""
    yield 0, len(words)
    for place, word in enumerate(words):
        if word in _BREAKS and words[place + 1 : place + 2] and words[place + 1] in _STARTERS:
            yield 0, place
            yield place + 1, len(words)


def _whole(words: Sequence[str], tags: Sequence[str], ending: str, *, dated: bool) -> Iterator[Rewritten]:
    known = {word.lower() for word in words}
    begun = _WRAPPING & {word.lower() for word in words[:5]}
    tagged = "".join(f"{_SPACE.sub('_', word)}\t{tag}\n" for word, tag in zip(words, tags, strict=True))
    for group in frames():
        for frame in group:
            if not (frame.read and _literals(frame.form) <= known):
                continue
            found = compiled(frame.form).fullmatch(tagged)
            filling = _filling(found, words, tags) if found else {}
            if not (found and _whole_slots(filling)):
                continue
            for other in group:
                if not other.written or other is frame or (other.wrapped and begun):
                    continue
                if dated and bool(_PERFECT.search(" ".join(frame.form))) != bool(_PERFECT.search(" ".join(other.form))):
                    continue  # "was sent on Monday" is no "has been sent on Monday"
                if ending == "?" != frame.form[-1] and _last_slot(frame.form) != _last_slot(other.form):
                    continue  # the question that it ends with: "I stay because it rains, is that right?"
                if _fits(frame.form, other.form, filling):
                    filled = list(_filled(other.form, filling))
                    if ending in _BREAKS or ending in _JOINING:
                        filled = [word for word in filled if word != "?"]
                    if filled[-1] != "?" and ending:
                        filled.append("." if ending == "?" and "?" in frame.form else ending)
                    literals = _literals(frame.form) | _literals(other.form)
                    yield Rewritten(filled, shown(other.form), literals, other.wrapped)


def _filling(found: re.Match[str], words: Sequence[str], tags: Sequence[str]) -> _Filling:
    """Words and tags of each slot; a line of the matched text is a word."""
    out: _Filling = {}
    for name in found.groupdict():
        start, end = (found.string.count("\n", 0, place) for place in found.span(name))
        out["{" + name + "}"] = (words[start:end], tags[start:end])
    return out


def _whole_slots(filling: _Filling) -> bool:
    """Whether each slot holds one thing: no second question, no comma at the end, nothing that belongs to the next."""
    for slot, (cased, tags) in filling.items():
        words = [word.lower() for word in cased]
        known = {*words}
        if words[-1] in _BREAKS or _two_questions(words, tags):
            return False
        if slot == "{c}" and (words[-1] in _LOOSE or known & {"would", "might"}):  # "I would have, but I did not know"
            return False
        if slot == "{f}" and tags[0].startswith("VB"):  # "but failed every time": without a subject
            return False
        if slot in ("{t}", "{n}") and _REASON.search(" ".join(words)):
            return False
        if slot == "{f}" and tags[-1] in ("IN", "TO", "CD"):  # "I have worked since six this morning"
            return False
        if slot in ("{p}", "{t}") and {"called", "named"} & {*words[1:]}:  # "what is the dot on the i called"
            return False
        if slot in ("{o}", "{v}", "{g}", "{p}", "{a}", "{c}") and _SECOND.search(" ".join(tags)):
            return False
        if slot == "{o}" and "please" in known:
            return False
        if slot == "{t}" and tags[-1] == "VBG":  # "where are the transfers coming"
            return False
        if any(_STOP.fullmatch(word) for word in words[:-1]):
            return False
        if slot in _NOUNS | {"{np}"} and _two_phrases(words, tags):
            return False
    return True


def _two_phrases(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a clause without "that" begins inside: "the buildings the school built", "the last one Khan took"."""
    without_that = any(tag.startswith("NN") and its in ("DT", "PRP$") for tag, its in itertools.pairwise(tags))
    behind = zip(words, tags, tags[1:], strict=False)
    return without_that or any(
        word in ("one", "ones") and not (tag == "CD" and its in ("NN", "NNS", "JJ")) for word, tag, its in behind
    )  # "one pound" is a noun phrase


def _two_questions(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a conjunction joins a question, or a clause turned around: "my card, and what should I do"."""
    joined = [*zip(words, tags, strict=True), ("", "")]
    for (_, tag), (word, its), (_, behind) in zip(joined, joined[1:], joined[2:], strict=False):
        if tag == "CC" and (its[:2] in ("WP", "WR", "WD") or (word in _AUXILIARY and _SUBJECT.match(behind))):
            return True
    return len(tags) > 1 and tags[-2] == "CC" and tags[-1][:2] in ("WP", "WR")


def _fits(old: Form, new: Form, filling: _Filling) -> bool:
    """Whether the other form can hold what the slots of this one hold.

    Verbs agree, pronouns keep their case, nobody is asked what they know of themselves, and whose it is stays.
    """
    if not _slots(new) <= _slots(old):
        return False
    inside = {word.lower() for slot in filling for word in filling[slot][0]}
    persons = {_PERSONS[word] for word in inside & _PERSONS.keys()}
    if _asks_you(new) and not _asks_you(old) and "you" in persons:
        return False
    if _YES_OR_NO & {*new} - {*old} and (inside & _CHOICES or ("true" in new and "you" in persons)):
        return False
    if "going" in new and "{v}" in filling and filling["{v}"][1][0].startswith("RB"):
        return False  # "am i going to ever be"
    if _pairs_of(new, "possible", "that") and "possible" not in old and inside & _ADVICE:
        return False  # "maybe we should wait"
    if new[-3:] == ("to", "me", "?") and new[-3:] != old[-3:] and "to" in inside:
        return False  # "explain it to a child in two words to me"
    if old[:3] == ("do", "you", "{v}") and filling["{v}"][0][0].lower() == "mind":
        return False  # "can you tell me if you mind if I smoke"
    if "{v}" in new and filling["{v}"][0][0].lower() == "not" and not (_behind_to(new) or _CARRYING & {*new}):
        return False  # "the reason you not offer it"
    if "{v}" in new and _behind_to(new) and not _behind_to(old) and _perfect(filling["{v}"][1], filling["{v}"][0]):
        return False  # "is it possible to have done better", of what could have been
    if "true" in new and "true" not in old and [*filling.get("{n}", ("",))[0]] == ["it"]:
        return False  # "is it true that it is worth it"
    brought = {_PERSONS.get(word, word) for word in new if word in _PERSONS or word == "one"}
    brought -= {_PERSONS.get(word, word) for word in old}
    if brought and persons - brought and not (_ADVISING & {*new} or "you" in new[1:2]):
        return False  # "How do I improve our lives"
    if "{aux}" in old[1:2] and "{n}" in old and filling["{n}"][1][0] == "VBG":
        return False  # "who is paying teachers": its verb
    if old[:2] == ("what", "{aux}") and "{p}" in old and _participle(filling["{p}"][1]):
        return False  # "What are the tips to teenagers living in a hostel": it belongs to the noun
    for place, slot in enumerate(new):
        if slot == "{v+s}" and _coordinated(filling["{v}"][1]):
            return False
        if slot not in _NOUNS:
            continue
        words, tags = filling[slot]
        pronoun = words[0].lower() if len(words) == 1 else ""
        before = old.index(slot)
        if pronoun in _SUBJECTS | _OBJECTS and _governed(old, before) != _governed(new, place):
            return False
        beside = _beside(new, place) - _beside(old, before)
        plural = _plural(words, tags)
        if beside & (_SINGULAR if plural else _PLURAL) or (pronoun == "i" and beside & {"is", "was", "are", "were"}):
            return False
    return True


def _pairs_of(form: Form, one: str, other: str) -> bool:
    return (one, other) in itertools.pairwise(form)


def _behind_to(form: Form) -> bool:
    return _pairs_of(form, "to", "{v}")


def _perfect(tags: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a predicate is "have" and a participle: "have done"."""
    return words[0].lower() == "have" and next((tag for tag in tags[1:] if tag != "RB"), "") == "VBN"


def _participle(tags: Sequence[str]) -> bool:
    """Whether the first word that is no adverb is a participle."""
    return next((tag for tag in tags if not tag.startswith("RB")), "") in ("VBG", "VBN")


def _asks_you(form: Form) -> bool:
    """Whether it asks what "you" know or think."""
    text = " ".join(form)
    return re.search(r"\bdo you (know|think)\b|would you say|anybody who knows|in your opinion", text) is not None


def _beside(form: Form, place: int) -> set[str]:
    return {*form[max(0, place - 1) : place], *form[place + 1 : place + 2]}


def _governed(form: Form, place: int) -> bool:
    before = form[place - 1] if place else ""
    return before in _GOVERNING or (before == "and" and "between" in form)


def _plural(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a verb agrees with the noun phrase as with "they"."""
    if tags[0] == "PRP":
        return words[0].lower() in {"i", "you", "we", "they", "me", "us", "them"}
    end = next((at for at, tag in enumerate(tags) if tag in ("IN", "TO")), len(tags))
    return tags[end - 1] in ("NNS", "NNPS") if end else False


def _coordinated(tags: Sequence[str]) -> bool:
    """Whether a conjunction joins a second verb, whose form nobody knows: "go home and eat"."""
    return re.search(r"\b(CC|,) (RB )*VB[PDN]?\b", " ".join(tags)) is not None


def shown(form: Form) -> str:
    """A form as a person reads it."""
    return " ".join("…" if word.startswith("{") else word for word in form)


@functools.cache
def frames() -> tuple[tuple[Frame, ...], ...]:
    """The groups of `frames.txt`."""
    groups: list[tuple[Frame, ...]] = []
    for block in (resources.files("paraform.rewording") / "frames.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            groups.append(tuple(_frame(line) for line in lines))
    return tuple(groups)


def _frame(line: str) -> Frame:
    mark = line[0] if line[0] in "<>~" else ""
    read = mark not in (">", "~") and "+s" not in line
    return Frame(tuple(line.removeprefix(mark).split()), read, mark != "<", mark == "~")


@functools.cache
def _literals(form: Form) -> frozenset[str]:
    return frozenset(word for word in form if not word.startswith("{")) - ENDINGS


@functools.cache
def _slots(form: Form) -> set[str]:
    return {word.replace("+s", "") for word in form if word.startswith("{")}


def _last_slot(form: Form) -> str:
    return next((word for word in reversed(form) if word.startswith("{")), "")


def _filled(form: Form, filling: _Filling) -> Iterator[str]:
    singular = True
    for word in form:
        if not word.startswith("{"):
            yield word
            continue
        words, tags = filling[word.replace("+s", "")]
        if word in _NOUNS:
            singular = not _plural(words, tags)
        yield from third_person(words, tags) if word == "{v+s}" and singular else words


def third_person(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """A predicate whose first word but for adverbs is a base verb, with that verb in the third person."""
    place = next((at for at, tag in enumerate(tags) if not tag.startswith("RB")), 0)
    if "not" in [word.lower() for word in words[:place]]:
        return ["does", *words]
    return [*words[:place], third(words[place].lower()), *words[place + 1 :]]
