"""Drafts to candidates: each is looked at as far as it takes to know whether it passes, and scored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from paraform.records import Candidate
from paraform.rewording import fluency
from paraform.rewording.checks import CHECKS, NEEDS, Check, Compared, Needs, changed_words
from paraform.rewording.drafts import Draft
from paraform.rewording.likely import SAID, said_figures
from paraform.rewording.slots import ENDINGS
from paraform.rewording.standards import STANDARDS, Standards
from paraform.rewording.tagged import Tagged
from paraform.spans import cut
from paraform.syntax.trees import Parser

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
Tag: TypeAlias = Callable[[Sequence[Sequence[str]]], list[list[str]]]
Fact = TypeVar("Fact")

MOST_CHANGED = 6  # words: more is no better
FIGURES = ("content", "grammar", "words", "edits", "beside", *SAID)  # of a candidate


@dataclass(frozen=True)
class Tools:
    """What rewording needs of models.

    Args:
        tag: words to Penn Treebank tags.
        embed: texts to unit vectors.
        parse: words to trees, by which clauses and what stands behind a verb change places; None: they stay.
        source_given: sources and outputs to how much likelier each source is given its output than given itself, by the
            model that decoded them, nats a word; None: not checked.
        likelihood: sources and answers to ln p(answer | source), as `capabilities.SaysOtherwise` has it; None: synonyms
            are as `synonyms.txt` has them, and no model says anything.
        cased: lower-cased word → how it is written inside a sentence.
    """

    tag: Tag
    embed: Embed
    parse: Parser | None = None
    source_given: Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]] | None = None
    likelihood: Callable[[Sequence[str], Sequence[str]], list[NDArray[np.float32]]] | None = None
    cased: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Case:
    """A draft for a sentence, and what is known of it.

    Args:
        output: its words, and its tags once they are known.
        by_likelihood: a language model's likelihoods answer for its words.
        stage: of how many of `NEEDS` its checks are made.
    """

    sentence: str
    source: Tagged
    draft: Draft
    output: Tagged
    by_likelihood: bool
    stage: int = 0
    checks: dict[str, bool] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def fails(self) -> int:
        """How many checks it fails so far."""
        return sum(not passed for passed in self.checks.values())


@dataclass(frozen=True)
class Judge:
    """Checks drafts and scores them.

    Args:
        checks: what each must pass, in the order in which candidates tell them.
        keep: terms that stay as they are.
    """

    tools: Tools
    standards: Standards = STANDARDS
    checks: Sequence[Check] = CHECKS
    keep: Collection[str] = ()

    def __call__(
        self,
        sentences: Sequence[str],
        sources: Sequence[Tagged],
        drafts: Sequence[Sequence[Draft]],
        *,
        thorough: bool = True,
    ) -> list[list[Candidate]]:
        """The drafts of each sentence with their checks and scores.

        Tags are dear, vectors dearer, and a model's likelihood the dearest: a draft is tagged if its words pass,
        embedded if its tags pass, and read back (`Tools.source_given`) if it was decoded and all else passes.

        Args:
            sources: the sentences, tagged.
            thorough: look at all drafts; otherwise, of a sentence of which none passes, at those besides that may come
                nearest to passing, so that the reason is the same. The others are scored −∞.
        """
        known = _Known(self.tools, dict(zip(sentences, sources, strict=True)))
        rows = [
            [_Case(sentence, source, draft, known.read(draft.text), self._by_likelihood(draft)) for draft in row]
            for sentence, source, row in zip(sentences, sources, drafts, strict=True)
        ]
        while wanted := [case for row in rows for case in self._next(row, thorough=thorough)]:
            for needs, cases in _by_needs(wanted).items():
                known.look(cases, needs)
                for case in cases:
                    self._check(case, needs)
        return [[self._candidate(case) for case in row] for row in rows]

    def _by_likelihood(self, draft: Draft) -> bool:
        """Whether a language model's likelihoods answer for its words: a model's own, and synonyms if there is one."""
        return draft.said or (self.tools.likelihood is not None and draft.replaced is not None)

    def _next(self, row: Sequence[_Case], *, thorough: bool) -> list[_Case]:
        """Which drafts of a sentence are looked at next: those that fail least so far, if no other fails less.

        A draft that is looked at further can only fail more.
        """
        open_ = [case for case in row if self._is_open(case)]
        if thorough or not open_:
            return open_
        least = min(case.fails for case in open_)
        if any(case.fails < least for case in row):
            return []
        return [case for case in open_ if case.fails == least]

    def _is_open(self, case: _Case) -> bool:
        if case.stage < NEEDS.index("likelihood"):
            return True
        read_back = self.tools.likelihood if case.by_likelihood else self.tools.source_given
        by_rule = case.draft.framed and not case.by_likelihood
        return case.stage < len(NEEDS) and not (read_back is None or by_rule or case.fails)

    def _check(self, case: _Case, needs: Needs) -> None:
        draft = case.draft
        compared = Compared(
            case.source,
            case.output,
            draft.exempt,
            draft.framed and not case.by_likelihood,
            draft.parsed,
            case.by_likelihood,
            draft.replaced,
            case.figures,
            self.standards,
            self.keep,
        )
        case.checks |= {check.name: check(compared) for check in self.checks if check.needs == needs}
        case.stage += 1

    def _candidate(self, case: _Case) -> Candidate:
        draft, score = case.draft, -inf
        wrapped = draft.wrapped or _holds(case.output.lowered, case.source.lowered)
        checks = {check.name: case.checks[check.name] for check in self.checks if check.name in case.checks}
        figures = {name: case.figures[name] for name in FIGURES if name in case.figures}
        if "content" in figures:
            weighed = {**figures, "changed": min(figures["edits"], MOST_CHANGED)}
            weighed["beside"] = 0.0
            if draft.replaced is not None and "beside" in figures:
                weighed["beside"] = figures["beside"] + self.standards.beside[draft.replaced]
            weighed |= {"framed": float(draft.framed), "wrapped": float(wrapped)}
            weighed["replaced"] = float(draft.replaced is not None)
            weighed["alone"] = float(figures["edits"] < self.standards.edits)
            score = sum(weight * weighed[name] for name, weight in self.standards.weights.items())
        return Candidate(draft.text, draft.form, checks, score, figures, draft.framed, wrapped)


def _holds(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether all the others, but for a mark at their end, stand side by side among the words, and more beside them."""
    run = others[:-1] if others and others[-1] in ENDINGS else others
    starts = range(len(words) - len(run) + 1)
    return len(words) > len(others) and any(list(words[at : at + len(run)]) == list(run) for at in starts)


def _by_needs(cases: Iterable[_Case]) -> dict[Needs, list[_Case]]:
    """The cases by what their next checks need."""
    out: dict[Needs, list[_Case]] = {}
    for case in cases:
        out.setdefault(NEEDS[case.stage], []).append(case)
    return out


class _Known:
    """What is known of texts, each found once: words and tags; nats a word by both models of fluency; vectors."""

    def __init__(self, tools: Tools, tagged: dict[str, Tagged]) -> None:
        self._tools = tools
        self._tagged = tagged
        self._grammar: dict[str, float] = {}
        self._language: dict[str, float] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def read(self, text: str) -> Tagged:
        """A text's words."""
        if text in self._tagged:
            return self._tagged[text]._replace(tags=())
        found = cut(text)
        return Tagged(found.words, (), found)

    def look(self, cases: Sequence[_Case], needs: Needs) -> None:
        """Tell the cases what checks of that need look at."""
        texts = [text for case in cases for text in (case.sentence, case.draft.text)]
        if needs == "words":
            for case in cases:
                case.figures["edits"] = float(changed_words(case.source.words, case.output.words))
        elif needs == "tags":
            read = {case.draft.text: case.output for case in cases}
            _learn(self._tagged, read, lambda new: tagged([read[text] for text in new], self._tools.tag))
            for case in cases:
                case.output = self._tagged[case.draft.text]
        elif needs == "n-grams":
            rules, language, known = fluency.load("grammar"), fluency.load(), self._tagged

            def classes(one: Tagged) -> Sequence[str]:
                return fluency.classes(one.words, one.tags, rules)

            _learn(self._grammar, texts, lambda new: _means(rules, [classes(known[text]) for text in new]))
            _learn(self._language, texts, lambda new: _means(language, [known[text].words for text in new]))
            for case in cases:
                case.figures["grammar"] = self._grammar[case.draft.text] - self._grammar[case.sentence]
                case.figures["words"] = self._language[case.draft.text] - self._language[case.sentence]
        elif needs == "vectors":
            _learn(self._vectors, texts, self._tools.embed)
            for case in cases:
                case.figures["content"] = float(self._vectors[case.draft.text] @ self._vectors[case.sentence])
        elif self._tools.likelihood is not None and (said := [case for case in cases if case.by_likelihood]):
            own = [case for case in said if not case.draft.replaced]
            pairs = [(case.sentence, case.draft.text) for case in said]
            pairs += [(case.draft.text, case.sentence) for case in own]
            pairs += [(case.sentence, case.sentence) for case in said if case.draft.replaced]
            pairs = list(dict.fromkeys(pairs))
            nats = dict(zip(pairs, self._tools.likelihood(*zip(*pairs, strict=True)), strict=True))
            for case in said:
                forth = nats[case.sentence, case.draft.text]
                if case.draft.replaced:
                    copied = nats[case.sentence, case.sentence]
                    ended = forth[-2:].any() and copied[-2:].any()  # of a long one the model does not read all
                    case.figures["beside"] = float(forth.sum() - copied.sum()) if ended else -inf
                else:
                    back = nats[case.draft.text, case.sentence]
                    case.figures.update(said_figures(case.source, case.output, forth, back))
        elif self._tools.source_given is not None:
            leads = self._tools.source_given([case.sentence for case in cases], [case.draft.text for case in cases])
            for case, figure in zip(cases, leads, strict=True):
                case.figures["cycle"] = float(figure)


def tagged(sentences: Sequence[Tagged], tag: Tag) -> list[Tagged]:
    """The same sentences with their tags."""
    tags = tag([sentence.words for sentence in sentences])
    return [sentence._replace(tags=found).commanded() for sentence, found in zip(sentences, tags, strict=True)]


def _learn(known: dict[str, Fact], texts: Iterable[str], find: Callable[[list[str]], Iterable[Fact]]) -> None:
    if new := [text for text in dict.fromkeys(texts) if text not in known]:
        known.update(zip(new, find(new), strict=True))


def _means(model: fluency.NGrams, sentences: Sequence[Sequence[str]]) -> list[float]:
    """Log-probability of a word, nats, mean of each sentence."""
    return [float(part.mean()) for part in model.log_probs(sentences)]
