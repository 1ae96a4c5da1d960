"""Generate, check, rank: several rewordings of each text, those that lost something thrown away, the best first.

Candidates come from sentence frames and synonyms, and from a paraphraser in the forms that sources like this one were
really reworded into. A text of several sentences is reworded sentence by sentence; those that no candidate stands in
for stay as they are, unless all do: then the text is given back without a rewording, and with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.records import InputError, require_count, require_texts
from paraform.rewording import fluency
from paraform.rewording.apostrophes import with_apostrophes
from paraform.rewording.checks import changed_words, check, lost
from paraform.rewording.drafts import Draft, framed_drafts
from paraform.rewording.readable import unreadable
from paraform.rewording.records import Candidate, Rewording
from paraform.rewording.tagged import Tagged
from paraform.rewording.transformations import Transformations
from paraform.syntax.trees import Parser, Tree
from paraform.words import tokenize

Decode: TypeAlias = Callable[[Sequence[str], Sequence[str]], list[str]]
"""Source i in the form of exemplar i."""
Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
Tag: TypeAlias = Callable[[Sequence[Sequence[str]]], list[list[str]]]

MOST_CHANGED = 6  # words: more is no better


@dataclass(frozen=True)
class Standards:
    """What a candidate must reach, and what ranks it. Set on development data: docs/rewording.md has what each adds.

    Args:
        forms: forms of the bank that the paraphraser decodes in, for each sentence.
        longest: words of a sentence that it decodes; longer ones it garbles.
        content: least cosine of the encoder between a sentence and its rewording.
        content_decoded: the same, where the paraphraser decoded it.
        grammar: how much less likely than the source's the rewording's grammar may be, nats a word.
        grammar_decoded: the same, where the paraphraser decoded it.
        words_decoded: the same of its words, where the paraphraser decoded it.
        cycle: how much less likely the source may be given what was decoded than given itself, nats a word.
        weights: of what a candidate's score adds up: content, grammar, words (both in nats a word more than the
            source's), changed (words, 6 at most), framed (1 for a frame), wrapped (1 for one that puts words around).
    """

    forms: int = 12
    longest: int = 15
    content: float = 0.75
    content_decoded: float = 0.95
    grammar: float = 3.0
    grammar_decoded: float = 0.0
    words_decoded: float = 0.0
    cycle: float = 0.5
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "content": 4.0,
            "grammar": 0.3,
            "words": 0.1,
            "changed": 0.05,
            "framed": 0.5,
            "wrapped": -0.5,
        }
    )


@dataclass(frozen=True)
class Tools:
    """What rewording needs of models.

    Args:
        tag: words to Penn Treebank tags.
        embed: texts to unit vectors.
        parse: words to trees, which adverbials are moved and questions made indirect by; None: neither is done.
        decode: the paraphraser; None: frames and synonyms alone.
        source_given: sources and outputs to how much likelier each source is given its output than given itself, by the
            paraphraser, nats a word; None: not checked.
        bank: what sources like these were reworded into.
        cased: lower-cased word → how it is written inside a sentence.
    """

    tag: Tag
    embed: Embed
    parse: Parser | None = None
    decode: Decode | None = None
    source_given: Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]] | None = None
    bank: Transformations = field(default_factory=Transformations)
    cased: Mapping[str, str] = field(default_factory=dict)


_Place: TypeAlias = tuple[int, int]
"""The row of a sentence, and where in it a draft stands."""


def reword(
    texts: Sequence[str],
    tools: Tools,
    *,
    num: int = 1,
    force: bool = False,
    standards: Standards = Standards(),
) -> list[Rewording]:
    """Each text's best rewordings, at most `num`, or why it has none. Raises: InputError if `num` is below 1.

    Args:
        force: try texts too that look like another language, code, shouting or junk.
    """
    require_count(num, "num", 1)
    language = fluency.load()
    reasons = ["" if force else unreadable(text, language) for text in texts]
    split = [[] if reason else sentences_of(text) for text, reason in zip(texts, reasons, strict=True)]
    different = list(dict.fromkeys(sentence for row in split for sentence in row))
    judged = dict(zip(different, judge(different, tools, standards, num=num), strict=True))
    out = []
    for text, row, reason in zip(texts, split, reasons, strict=True):
        if reason:
            out.append(Rewording(text, (), reason))
            continue
        passed = [[candidate for candidate in judged[sentence] if not candidate.failed] for sentence in row]
        if any(passed):
            out.append(Rewording(text, tuple(_joined(row, passed, num))))
        else:
            out.append(Rewording(text, (), why([candidate for sentence in row for candidate in judged[sentence]])))
    return out


def why(candidates: Sequence[Candidate]) -> str:
    """Why none of some candidates will do: the check that the nearest to passing failed most."""
    if not candidates:
        return "no other form fits"
    least = min(len(candidate.failed) for candidate in candidates)
    counts = Counter(name for one in candidates if len(one.failed) == least for name in one.failed)
    return f"every candidate fails a check, most often: {counts.most_common(1)[0][0]}"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, in order."""
    from sentencex import segment

    found = segment("en", " ".join(text.split()))
    # A capital need not follow: "what is it ? where is it".
    return [part for sentence in found for part in re.split(r"(?<=\w[?]) |(?<=\w [?]) ", sentence.strip()) if part]


def _joined(sentences: Sequence[str], passed: Sequence[Sequence[Candidate]], num: int) -> list[Candidate]:
    """Whole texts: the best candidate of every sentence, then the second best, and so on."""
    out = []
    for rank in range(min(num, max(map(len, passed)))):
        parts = [row[min(rank, len(row) - 1)] if row else None for row in passed]
        chosen = [part for part in parts if part]
        text = " ".join(part.text if part else sentence for part, sentence in zip(parts, sentences, strict=True))
        names = {name: None for part in chosen for name in part.checks}
        checks = {name: all(part.checks.get(name, True) for part in chosen) for name in names}
        figures = {name: min(part.figures[name] for part in chosen) for name in chosen[0].figures}
        forms = "; ".join(part.exemplar for part in chosen)
        score, framed = float(np.mean([part.score for part in chosen])), all(part.framed for part in chosen)
        out.append(Candidate(text, forms, checks, score, figures, framed))
    return out


def judge(
    sentences: Sequence[str],
    tools: Tools,
    standards: Standards = Standards(),
    *,
    num: int = 1,
    thorough: bool = False,
) -> list[list[Candidate]]:
    """Candidates of each sentence, those that fail a check too, in the order of their scores.

    Decoding takes three quarters of the time and gives one answer in a hundred, so that it is for sentences of which
    fewer than `num` other candidates pass, those that only put words around not counted.

    Args:
        thorough: decode all sentences, and make all checks of all candidates; otherwise those that the best and `why`
            need.
    """
    sources, trees = _parsed(sentences, tools)
    drafts = [framed_drafts(source, tools.cased, tree) for source, tree in zip(sources, trees, strict=True)]
    rows = _weighed(sentences, sources, drafts, tools, standards, thorough=thorough)
    passed = [
        sum(not (candidate.failed or draft.wrapped) for candidate, draft in zip(*both, strict=True))
        for both in zip(rows, drafts, strict=True)
    ]
    lacking = [at for at, count in enumerate(passed) if thorough or count < num]
    left, its = [sentences[at] for at in lacking], [sources[at] for at in lacking]
    more = [
        list({draft.text: draft for draft in some if draft.text not in {one.text for one in drafts[at]}}.values())
        for at, some in zip(lacking, _decoded(left, its, tools, standards), strict=True)
    ]
    for at, row in zip(lacking, _weighed(left, its, more, tools, standards, thorough=thorough), strict=True):
        rows[at] += row
    return [sorted(row, key=lambda candidate: -candidate.score) for row in rows]


def assess(
    texts: Sequence[str],
    outputs: Sequence[str],
    exemplars: Sequence[str],
    tools: Tools,
    *,
    standards: Standards = Standards(),
) -> list[Candidate]:
    """Each output, of whatever model, as a candidate for its text, whole texts as one sentence.

    Args:
        exemplars: whose form each output has.
    """
    texts, outputs, exemplars = map(require_texts, (texts, outputs, exemplars))
    if not len(texts) == len(outputs) == len(exemplars):
        raise InputError(f"{len(texts)} texts, {len(outputs)} outputs, {len(exemplars)} exemplars; expected as many")
    drafts = [[Draft(*pair, frozenset(), framed=False)] for pair in zip(outputs, exemplars, strict=True)]
    sources = _tagged(texts, tools)
    return [candidate for (candidate,) in _weighed(texts, sources, drafts, tools, standards)]


def _weighed(
    sentences: Sequence[str],
    sources: Sequence[Tagged],
    drafts: Sequence[Sequence[Draft]],
    tools: Tools,
    standards: Standards,
    *,
    thorough: bool = True,
) -> list[list[Candidate]]:
    """The drafts of each sentence with their checks and scores.

    Tags are dear, vectors dearer, and the paraphraser's likelihood the dearest: a draft is tagged if its words pass,
    embedded if its tags pass, and read back (`source_given`) if it was decoded and all else passes.

    Args:
        thorough: look at all drafts; otherwise, of a sentence of which none passes, at those besides that may come
            nearest to passing, so that `why` says the same. The others keep what they are known to fail, scored −∞.
    """
    words = {text: tokenize(text) for text in dict.fromkeys(draft.text for row in drafts for draft in row)}
    known = _Known(dict(zip(sentences, sources, strict=True)))
    rows: list[list[Candidate]] = []
    for source, row in zip(sources, drafts, strict=True):
        fails = [[] if thorough else lost(source, words[one.text], one.exempt, framed=one.framed) for one in row]
        rows.append(
            [Candidate(one.text, one.form, dict.fromkeys(f, False), -inf) for one, f in zip(row, fails, strict=True)]
        )
    passed: dict[_Place, dict[str, bool]] = {}
    figures: dict[_Place, dict[str, float]] = {}
    while True:
        wanted = [(at, place) for at, row in enumerate(rows) for place in _further(row, thorough=thorough)]
        if not wanted:
            if not _read_back(sentences, drafts, rows, tools, standards):
                return rows
            continue
        ripe = [pair for pair in wanted if pair in passed]
        known.embed([text for at, place in ripe for text in (sentences[at], drafts[at][place].text)], tools.embed)
        fresh = [pair for pair in wanted if pair not in passed]
        known.read([text for at, place in fresh for text in (sentences[at], drafts[at][place].text)], words, tools.tag)
        for at, place in wanted:
            draft, sentence = drafts[at][place], sentences[at]
            if (at, place) in passed:
                content = float(known.vectors[draft.text] @ known.vectors[sentence])
                figures[at, place] = {"content": content, **figures[at, place]}
            else:
                source, output = known.tagged[sentence], known.tagged[draft.text]
                passed[at, place] = check(source, output, draft.exempt, framed=draft.framed, parsed=draft.parsed)
                figures[at, place] = {
                    "grammar": known.grammar[draft.text] - known.grammar[sentence],
                    "words": known.language[draft.text] - known.language[sentence],
                    "edits": float(changed_words(source.words, output.words)),
                }
            rows[at][place] = _candidate(draft, figures[at, place], passed[at, place], standards)


def _read_back(
    sentences: Sequence[str],
    drafts: Sequence[Sequence[Draft]],
    rows: Sequence[list[Candidate]],
    tools: Tools,
    standards: Standards,
) -> bool:
    """Puts `cycle` into decoded candidates that pass all else; whether there was one without it."""
    places = [
        (at, place)
        for at, row in enumerate(rows)
        for place, candidate in enumerate(row)
        if not (drafts[at][place].framed or "cycle" in candidate.checks or candidate.failed)
    ]
    if tools.source_given is None or not places:
        return False
    found = tools.source_given([sentences[at] for at, _ in places], [rows[at][place].text for at, place in places])
    for (at, place), figure in zip(places, found, strict=True):
        checks = {**rows[at][place].checks, "cycle": bool(figure >= -standards.cycle)}
        rows[at][place] = replace(rows[at][place], checks=checks)
    return True


def _further(row: Sequence[Candidate], *, thorough: bool) -> list[int]:
    """Which drafts of a sentence are to be looked at next: those that fail least so far, if no other fails less.

    A draft that is looked at further can only fail more.
    """
    open_ = [place for place, candidate in enumerate(row) if "content" not in candidate.figures]
    if thorough or not open_:
        return open_
    fails = [len(candidate.failed) for candidate in row]
    least = min(fails[place] for place in open_)
    if any(known < least for known in fails):
        return []
    return [place for place in open_ if fails[place] == least]


@dataclass
class _Known:
    """What is known of texts: their words and tags; nats a word by both models of fluency; vectors."""

    tagged: dict[str, Tagged]
    grammar: dict[str, float] = field(default_factory=dict)
    language: dict[str, float] = field(default_factory=dict)
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def read(self, texts: Sequence[str], words: Mapping[str, list[str]], tag: Tag) -> None:
        """Tags, and what is computed of them."""
        new = [text for text in dict.fromkeys(texts) if text not in self.tagged]
        for text, tags in zip(new, tag([words[text] for text in new]), strict=True):
            self.tagged[text] = Tagged(words[text], tags)
        new = [text for text in dict.fromkeys(texts) if text not in self.grammar]
        rules = fluency.load("grammar")
        classes = [fluency.classes(*self.tagged[text], rules) for text in new]
        self.grammar.update(zip(new, _means(rules, classes), strict=True))
        words_alone = [self.tagged[text].words for text in new]
        self.language.update(zip(new, _means(fluency.load(), words_alone), strict=True))

    def embed(self, texts: Sequence[str], embed: Embed) -> None:
        """Vectors."""
        if new := [text for text in dict.fromkeys(texts) if text not in self.vectors]:
            self.vectors.update(zip(new, embed(new), strict=True))


def _candidate(draft: Draft, figures: dict[str, float], passed: dict[str, bool], standards: Standards) -> Candidate:
    content = standards.content if draft.framed else standards.content_decoded
    grammar = standards.grammar if draft.framed else standards.grammar_decoded
    fluent = figures["grammar"] >= -grammar and (draft.framed or figures["words"] >= -standards.words_decoded)
    checks = {**passed, "fluent": fluent}
    if "content" not in figures:
        return Candidate(draft.text, draft.form, checks, -inf, framed=draft.framed)
    checks["meaning"] = figures["content"] >= content
    weighed = {**figures, "changed": min(figures["edits"], MOST_CHANGED)}
    weighed |= {"framed": float(draft.framed), "wrapped": float(draft.wrapped)}
    score = sum(weight * weighed[name] for name, weight in standards.weights.items())
    return Candidate(draft.text, draft.form, checks, score, figures, draft.framed)


def _parsed(sentences: Sequence[str], tools: Tools) -> tuple[list[Tagged], Sequence[Tree | None]]:
    """Words and tags of sentences, and their trees; a tree has the tags, which are not asked for again."""
    if tools.parse is None:
        return _tagged(sentences, tools), [None] * len(sentences)
    words = [with_apostrophes(tokenize(sentence)) for sentence in sentences]
    trees = tools.parse(words)
    return [Tagged(row, tree.tags() if tree else ()) for row, tree in zip(words, trees, strict=True)], trees


def _tagged(sentences: Sequence[str], tools: Tools) -> list[Tagged]:
    words = [with_apostrophes(tokenize(sentence)) for sentence in sentences]
    return [Tagged(*pair) for pair in zip(words, tools.tag(words), strict=True)]


def _decoded(sentences: Sequence[str], sources: list[Tagged], tools: Tools, standards: Standards) -> list[list[Draft]]:
    """The sentences that the paraphraser reads whole, in forms of the bank."""
    if tools.decode is None:
        return [[] for _ in sentences]
    rows = [row for row, source in enumerate(sources) if len(source.words) <= standards.longest]
    chosen = tools.bank.forms([sources[row].tags for row in rows], standards.forms)
    pairs = [(row, form) for row, some in zip(rows, chosen, strict=True) for form in some]
    outputs = tools.decode([sentences[row] for row, _ in pairs], [form for _, form in pairs])
    out: list[list[Draft]] = [[] for _ in sentences]
    for (row, form), text in zip(pairs, outputs, strict=True):
        out[row].append(Draft(text, form, frozenset(), framed=False))
    return out


def _means(model: fluency.NGrams, sentences: Sequence[Sequence[str]]) -> list[float]:
    """Log-probability of a word, nats, mean of each sentence."""
    return [float(part.mean()) for part in model.log_probs(sentences)]
