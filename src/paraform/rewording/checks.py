"""What a rewording must keep of its source: the checks, each by name, in one list.

A new one is a function that looks at a source and an output, a line in `CHECKS`, and a test. Words that a frame or a
synonym brings or takes are exempt: that they say the same is why they are in the list. A language model, where there is
one, tells whether a synonym suits.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rapidfuzz.distance import Levenshtein

from paraform.rewording.agreement import agrees, agrees_as_said
from paraform.rewording.asking import MODALS, QUESTION_WORDS, asked, asking, kind
from paraform.rewording.content import KEPT, NEGATIONS, content_words, has_form_of
from paraform.rewording.copied import ends_as_often, keeps_runs, same_literals
from paraform.rewording.numbers import numbers_of
from paraform.rewording.rewritten import Suits
from paraform.rewording.roles import keeps_phrases, keeps_roles
from paraform.rewording.standards import STANDARDS, Standards
from paraform.rewording.tagged import Tagged
from paraform.words import STOP_WORDS

CONTRACTIONS = {"'s": "is", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can"}
CONTRACTIONS |= {"wo": "will", "'d": "would"}
PERSONS = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"), "1"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves"), "2"),
}
GENDERS = dict.fromkeys(("he", "him", "his", "himself"), "m")
GENDERS |= dict.fromkeys(("she", "her", "hers", "herself"), "f")
ARTICLES = {"a", "an", "the", "this", "these", "those"}

Needs: TypeAlias = Literal["words", "tags", "n-grams", "vectors", "likelihood"]
NEEDS: tuple[Needs, ...] = ("words", "tags", "n-grams", "vectors", "likelihood")
"""What a check can need, the cheapest first; each has what stands before it, too."""


@dataclass(frozen=True)
class Compared:
    """A source and an output, with what is known of them so far.

    Args:
        source: its words and tags.
        output: its words; its tags for checks that need them, else none.
        exempt: words that do not count for negation, added and dropped.
        framed: the output comes from a frame of that kind of question.
        parsed: it was made from the source's tree, which answers for roles.
        said: a language model's likelihoods answer for what words alone would tell of others.
        replaced: as `Draft` has it.
        figures: by name: `grammar` and `words`, nats a word more than the source has; `content`, a cosine; `cycle`,
            nats a word that the source is likelier given the output than given itself.
            Of what a model said those of `likely.said_figures`, of synonyms `beside`, nats: how much likelier the
            output is than the source, given the source.
        standards: what figures must reach.
        keep: terms of the user's that stay as they are.
    """

    source: Tagged
    output: Tagged
    exempt: Collection[str] = ()
    framed: bool = False
    parsed: bool = False
    said: bool = False
    replaced: Suits | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    standards: Standards = STANDARDS
    keep: Collection[str] = ()

    @functools.cached_property
    def before(self) -> list[str]:
        """The source's words without case."""
        return self.source.lowered

    @functools.cached_property
    def after(self) -> list[str]:
        """The output's."""
        return self.output.lowered


@dataclass(frozen=True)
class Check:
    """One thing that a rewording must keep.

    Args:
        name: its key in `Candidate.checks`.
        says: of a rewording that fails it, behind "it".
        needs: the dearest thing that it looks at.
        passes: whether the output keeps it.
        frames_keep: whether a frame answers for it, so that an output which comes from one passes.
        likelihoods_keep: whether a language model's likelihoods answer for it, so that what it said passes.
    """

    name: str
    says: str
    needs: Needs
    passes: Callable[[Compared], bool]
    frames_keep: bool = False
    likelihoods_keep: bool = False

    def __call__(self, compared: Compared) -> bool:
        """Whether the output passes."""
        if (self.frames_keep and compared.framed) or (self.likelihoods_keep and compared.said):
            return True
        return self.passes(compared)


def same_slots(compared: Compared) -> bool:
    """As `same_literals` has it."""
    return same_literals(compared.source.text, compared.output.text)


def keeps_as_written(compared: Compared) -> bool:
    """As `keeps_runs` has it; what a frame replaces is exempt."""
    return keeps_runs(compared.source.text, compared.output.text, compared.exempt)


def keeps_terms(compared: Compared) -> bool:
    """Each of the user's terms is there as often, and as it was, but for the letter that opens a text."""
    return all(_written(term, compared.source.text) == _written(term, compared.output.text) for term in compared.keep)


def as_many_sentences(compared: Compared) -> bool:
    """As `ends_as_often` has it."""
    return ends_as_often(compared.source.text, compared.output.text)


def same_numbers(compared: Compared) -> bool:
    """The same ones, in any order (1,000 is 1000, and five 5; "one" is a pronoun, too, and not looked at)."""
    return numbers_of(compared.before) == numbers_of(compared.after)


def keeps_names(compared: Compared) -> bool:
    """Every proper noun of the source is there."""
    names = (word for word, tag in zip(compared.before, compared.source.tags, strict=True) if tag.startswith("NNP"))
    return {*names} <= {*compared.after}


def denies_as_often(compared: Compared) -> bool:
    """As many words that deny."""
    return _denials(compared.before, compared.exempt) == _denials(compared.after, compared.exempt)


def same_kind(compared: Compared) -> bool:
    """A question stays one, a statement and a command too."""
    return kind(compared.source) == kind(compared.output)


def asks_the_same(compared: Compared) -> bool:
    """The same question words (what and which count as one), modal verbs, tense, "do" and "there".

    As many "that" and pronouns behind their verb ("what time it is" is no "what time is it"; nor "or it is" "or is
    it"), and the same `AMOUNTS`.
    """
    return asked(compared.source) == asked(compared.output)


def asks_as_said(compared: Compared) -> bool:
    """Of what a language model said of a question: one by a question word stays one, and no "how many" comes to it."""
    if not compared.said or kind(compared.source) != "question":
        return True
    before, after = ({*asking(words)} for words in (compared.before, compared.after))
    return bool(before) == bool(after) and {word for word in after if word not in QUESTION_WORDS} <= before


def keeps_persons(compared: Compared) -> bool:
    """Of what a language model said, the writer and the reader are there as before, and what can be or should be.

    The one that comes first comes first again: "can you tell me" is not "can I tell you". Nor does "she" become "he".

    A frame answers for these, and a synonym for nearly all sentences; of what is decoded with a form `asks_the_same`
    and `same_nouns` look at more.
    """
    if not compared.said or compared.replaced == "nearly all":
        return True
    modals = [{MODALS[word] for word in words if word in MODALS} for words in (compared.before, compared.after)]
    genders = [{GENDERS[word] for word in words if word in GENDERS} for words in (compared.before, compared.after)]
    persons = [[*_persons(words)] for words in (compared.before, compared.after)]
    return modals[0] == modals[1] and genders[0] == genders[1] and persons[0] == persons[1]


def keeps_tense(compared: Compared) -> bool:
    """Of what a language model said: what is past stays past; "I have lost it" is between the two."""
    if not compared.said:
        return True
    before, after = (_tenses(sentence) for sentence in (compared.source, compared.output))
    return before == after or "perfect" in before | after


def words_agree(compared: Compared) -> bool:
    """As `agrees` has it, of what a language model said `agrees_as_said`."""
    return (agrees_as_said if compared.said else agrees)(compared.source, compared.output)


def adds_nothing(compared: Compared) -> bool:
    """No content word that the source has not, in any form, numbers aside."""
    return all(has_form_of(compared.before, word) for word in content_words(_without(compared.exempt, compared.output)))


def drops_nothing(compared: Compared) -> bool:
    """No content word of the source is missing, in any form, numbers aside."""
    return all(has_form_of(compared.after, word) for word in content_words(_without(compared.exempt, compared.source)))


def same_nouns(compared: Compared) -> bool:
    """Each as often and in the same form, and the reader or the writer if the source has them."""
    source, output = compared.source, compared.output
    return _nouns(source) == _nouns(output) and _persons(compared.before) == _persons(compared.after)


def keeps_prepositions(compared: Compared) -> bool:
    """Those of the source are there."""
    return not _prepositions(compared.source) - _prepositions(compared.output)


def same_roles(compared: Compared) -> bool:
    """Who does what to whom, as `keeps_roles` has it, and no adjective or preposition at another noun."""
    source, output = compared.source, compared.output
    kept = compared.parsed or keeps_roles(source, output, adverbials_move=compared.said)
    return kept and (compared.parsed or compared.framed or keeps_phrases(source, output))


def never_stutters(compared: Compared) -> bool:
    """No two words stand side by side twice, unless they do so as often in the source."""
    known = _pairs(compared.before)
    return all(times <= max(1, known[pair]) for pair, times in _pairs(compared.after).items())


def changes_enough(compared: Compared) -> bool:
    """As many words as the standards ask for, contractions, capitals and blanks aside ("any more").

    Articles do not count either, unless the output is framed; and where one word is enough, function words. Of
    synonyms, `edits_replaced` words that are no function words are enough.
    """
    if _letters(compared.source) == _letters(compared.output):
        return False
    standards, words = compared.standards, (compared.source.words, compared.output.words)
    aside: Set[str] = set() if compared.framed else ARTICLES
    if standards.edits == 1:  # then it must be one that says something
        aside = STOP_WORDS
    enough = changed_words(*words, aside=aside) >= max(standards.edits, standards.share * len(words[0]))
    return enough or bool(compared.replaced and changed_words(*words, aside=STOP_WORDS) >= standards.edits_replaced)


def is_fluent(compared: Compared) -> bool:
    """Grammar as likely as the source's, but for what the standards allow; of what was decoded the words, too."""
    figures, standards = compared.figures, compared.standards
    if compared.framed or compared.said:
        return figures["grammar"] >= -standards.grammar
    return figures["grammar"] >= -standards.grammar_decoded and figures["words"] >= -standards.words_decoded


def means_the_same(compared: Compared) -> bool:
    """The vectors' cosine is what the standards ask for; or a frame says it of the very same nouns, verbs and so on.

    Of short sentences a frame alone makes the vectors far: "Could you please delete my account?" has 0.62.
    """
    standards = compared.standards
    if compared.framed and _same_content(compared):
        return True
    decoded = not (compared.framed or compared.said)
    return compared.figures["content"] >= (standards.content_decoded if decoded else standards.content)


def _same_content(compared: Compared) -> bool:
    before, after = {*content_words(compared.source)}, {*content_words(compared.output)}
    return before <= {*compared.after} and after - before <= {*compared.exempt}


def is_likely(compared: Compared) -> bool:
    """Of what a language model said, that it is likely given the source, the source given it, and each new word.

    Of synonyms, that the output is hardly less likely than the source itself, given the source.
    """
    figures, standards = compared.figures, compared.standards
    if compared.said and compared.replaced:
        return figures["beside"] >= -standards.beside[compared.replaced]
    return not compared.said or all(figures[name] >= least for name, least in standards.said.items())


def leads_back(compared: Compared) -> bool:
    """The source is as likely given the output as given itself, but for what the standards allow."""
    return "cycle" not in compared.figures or compared.figures["cycle"] >= -compared.standards.cycle


CHECKS = (
    Check("numbers", "has another number", "words", same_numbers),
    Check("names", "lacks a name", "words", keeps_names),
    Check("negation", "denies more or less often", "words", denies_as_often),
    Check("slots", "lacks a slot or an address", "words", same_slots),
    Check("verbatim", "writes a name or a number otherwise", "words", keeps_as_written),
    Check("kept", "lacks a term that was to be kept", "words", keeps_terms),
    Check("sentences", "has another number of sentences", "words", as_many_sentences),
    Check("kind", "is another kind of sentence", "tags", same_kind, frames_keep=True),
    Check("asked", "asks for something else", "tags", asks_the_same, frames_keep=True, likelihoods_keep=True),
    Check("question", "asks in another way", "tags", asks_as_said),
    Check("persons", "is about another person, or what can be or should be", "words", keeps_persons),
    Check("tense", "tells of another time", "tags", keeps_tense),
    Check("agreement", "has words that do not agree", "tags", words_agree, frames_keep=True),
    Check("added", "adds a word", "tags", adds_nothing, likelihoods_keep=True),
    Check("dropped", "lacks a word", "words", drops_nothing, likelihoods_keep=True),
    Check("nouns", "has other nouns", "tags", same_nouns, frames_keep=True, likelihoods_keep=True),
    Check("prepositions", "lacks a preposition", "tags", keeps_prepositions, frames_keep=True, likelihoods_keep=True),
    Check("roles", "exchanges who does what", "tags", same_roles),
    Check("stutter", "says two words twice", "words", never_stutters),
    Check("changed", "is hardly another", "words", changes_enough),
    Check("fluent", "reads badly", "n-grams", is_fluent),
    Check("meaning", "says something else", "vectors", means_the_same),
    Check("likely", "may say something else", "likelihood", is_likely),
    Check("cycle", "does not lead back to the text", "likelihood", leads_back),
)
"""In the order in which they are told, by which of two that fail as often the first is the reason. They are made in the
order of `NEEDS`."""


def check(
    source: Tagged, output: Tagged, exempt: Collection[str] = (), *, framed: bool = False, parsed: bool = False
) -> dict[str, bool]:
    """Whether each check that words and tags answer is passed, by name; arguments as `Compared` has them."""
    compared = Compared(source, output, exempt, framed, parsed)
    return {check.name: check(compared) for check in CHECKS if check.needs in ("words", "tags")}


def _letters(sentence: Tagged) -> str:
    return "".join(map(_bare, sentence.words))


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


def _written(term: str, text: str) -> Counter[str]:
    opened = text[:1].lower() + text[1:] if text[1:2].islower() else text
    found = re.findall(rf"(?<!\w){re.escape(term)}(?!\w)", opened, re.IGNORECASE)
    return Counter(found)


def _persons(words: Sequence[str]) -> KeysView[str]:
    """The writer and the reader, as far as they are there, in the order in which they first come."""
    return dict.fromkeys(PERSONS[word] for word in words if word in PERSONS).keys()


def _pairs(words: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(itertools.pairwise(words))


def _prepositions(sentence: Tagged) -> Counter[str]:
    return Counter(word for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag == "IN")


def _nouns(sentence: Tagged) -> Counter[str]:
    return Counter(word for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag.startswith("NN"))


def _tenses(sentence: Tagged) -> set[str]:
    """ "past", if a verb is in it, and "perfect", if one is behind "have"."""
    perfect = {"have", "has", "'ve", "had"} & {*sentence.lowered} and "VBN" in sentence.tags
    there = {"past": "VBD" in sentence.tags, "perfect": bool(perfect)}
    return {name for name, found in there.items() if found}


def _denials(words: Sequence[str], exempt: Collection[str]) -> int:
    return sum(word in NEGATIONS and word not in exempt for word in words)


def _without(exempt: Collection[str], sentence: Tagged) -> Tagged:
    if not exempt:
        return sentence
    kept = [(word, tag) for word, tag in zip(sentence.words, sentence.tags, strict=True) if word.lower() not in exempt]
    return Tagged([word for word, _ in kept], [tag for _, tag in kept])
