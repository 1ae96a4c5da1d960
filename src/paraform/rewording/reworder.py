"""Generate, check, rank: several rewordings of each text, those that lost something thrown away, the best first.

Candidates come from rules (sentence frames, synonyms, the parse), and from a paraphraser where one is given. A text of
several sentences is reworded sentence by sentence; those that no candidate stands in for stay as they are, unless all
do: then the text is given back without a rewording, and with the reason.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import TypeAlias, Unpack, final

import numpy as np
import torch

from paraform import encoders
from paraform.capabilities import Paraphraser, ReadsBack
from paraform.decoding import Decoding, require_decoding
from paraform.records import Candidate, InputError, Rewording, require_count, require_texts
from paraform.rewording import fluency
from paraform.rewording.apostrophes import with_apostrophes
from paraform.rewording.checks import CHECKS, Check
from paraform.rewording.drafts import Draft, framed_drafts
from paraform.rewording.judging import Judge, Tools
from paraform.rewording.readable import unreadable
from paraform.rewording.standards import STANDARDS, Standards
from paraform.rewording.tagged import Tagged
from paraform.syntax import load_parser, load_tagger
from paraform.syntax.trees import Tree
from paraform.weights import device_named
from paraform.words import tokenize

Rules: TypeAlias = Callable[[Tagged, Mapping[str, str], Tree | None], list[Draft]]
"""A sentence, how words are written inside one (`Tools.cased`), and its tree, to drafts of it in other words."""

FEW = 1000  # characters of texts that one thread rewords as fast as several


def reword(
    texts: Sequence[str],
    *,
    num: int = 1,
    force: bool = False,
    model: Paraphraser | None = None,
    device: str | None = None,
    **how: Unpack[Decoding],
) -> list[Rewording]:
    """Each text in other words, every candidate checked; or why it is left alone.

    Args:
        texts: of one or more sentences, cased and untokenised or not.
        num: rewordings of a text, at most, the best first.
        force: try texts too that look like another language, code, shouting or junk.
        model: gives candidates beside those of rules, such as `paraform.load(folder)`; None: rules alone.
        device: "cpu", "cuda", …, for tags, trees and vectors; None: the model's, else the GPU if there is one.
        how: for what the model decodes, as `Paraphraser.decode` has them.
    Raises: InputError for a text that is none, a model that does not paraphrase or has no exemplars of its own, or if
        two ways of decoding are mixed.
    """
    reworder = Reworder.default(device, paraphraser=model)
    return reworder.reword(texts, num=num, force=force, **how)


@final
class Reworder:
    """Rewords texts, and judges what others say in their place.

    Args:
        tools: models that tag, parse and embed; `Reworder.default()` has the embedded ones.
        rules: make drafts of each sentence.
        checks: what each candidate must pass.
        standards: what its figures must reach, and what ranks it.
        paraphraser: gives further drafts, each sentence in the forms of its own exemplars, one a sentence; None: rules
            alone. It is asked only of sentences of which fewer drafts pass than are wanted.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        rules: Rules = framed_drafts,
        checks: Sequence[Check] = CHECKS,
        standards: Standards = STANDARDS,
        paraphraser: Paraphraser | None = None,
    ) -> None:
        if paraphraser is not None and not isinstance(paraphraser, Paraphraser):
            raise InputError(
                f"a model of type {type(paraphraser).__name__}; expected one that paraphrases: paraform.load(folder)"
            )
        if isinstance(paraphraser, ReadsBack):
            tools = replace(tools, source_given=paraphraser.source_given)
        self.tools, self.rules, self.paraphraser = tools, rules, paraphraser
        self._judge = Judge(tools, standards, checks)

    @classmethod
    def default(cls, device: str | torch.device | None = None, *, paraphraser: Paraphraser | None = None) -> Reworder:
        """With the embedded tagger, parser and encoder, which are loaded once a process.

        Args:
            device: theirs; None: the paraphraser's, else the GPU if there is one.
        """
        where = getattr(paraphraser, "device", None) if device is None else device
        return cls(_embedded_tools(device_named(where)), paraphraser=paraphraser)

    def reword(
        self,
        texts: Sequence[str],
        *,
        num: int = 1,
        force: bool = False,
        **how: Unpack[Decoding],
    ) -> list[Rewording]:
        """Each text's best rewordings, at most `num`, or why it has none; arguments as `reword` has them."""
        texts = require_texts(texts)
        require_count(num, "num", 1)
        require_decoding(how)
        language = fluency.load()
        reasons = ["" if force else unreadable(text, language) for text in texts]
        split = [[] if reason else sentences_of(text) for text, reason in zip(texts, reasons, strict=True)]
        different = list(dict.fromkeys(sentence for row in split for sentence in row))
        with encoders.one_thread(sum(map(len, texts)) <= FEW):
            judged = dict(zip(different, self.judge(different, num=num, **how), strict=True))
        out = []
        for text, row, reason in zip(texts, split, reasons, strict=True):
            passed = [[candidate for candidate in judged[sentence] if not candidate.failed] for sentence in row]
            if any(passed):
                out.append(Rewording(text, tuple(_joined(row, passed, num))))
            else:
                found = [candidate for sentence in row for candidate in judged[sentence]]
                out.append(Rewording(text, (), reason or why(found)))
        return out

    def judge(
        self,
        sentences: Sequence[str],
        *,
        num: int = 1,
        thorough: bool = False,
        **how: Unpack[Decoding],
    ) -> list[list[Candidate]]:
        """Candidates of each sentence, those that fail a check too, in the order of their scores.

        Args:
            num: how many must pass, those that only put words around not counted, lest the paraphraser is asked.
            thorough: ask it of all sentences, and make all checks of all candidates; otherwise those that the best and
                `why` need.
        """
        asked = None if self.paraphraser is None else self.paraphraser.exemplars(sentences, seed=how.get("seed", 0))
        sources, trees = self._parsed(sentences)
        drafts = [self.rules(source, self.tools.cased, tree) for source, tree in zip(sources, trees, strict=True)]
        rows = self._judge(sentences, sources, drafts, thorough=thorough)
        if self.paraphraser is not None and asked is not None:
            lacking = [at for at, row in enumerate(rows) if thorough or _passing(row, drafts[at]) < num]
            pairs = [(at, form) for at in lacking for form in asked[at]]
            outputs = self.paraphraser.decode([sentences[at] for at, _ in pairs], [form for _, form in pairs], **how)
            new: dict[int, dict[str, Draft]] = {at: {} for at in lacking}
            for (at, form), text in zip(pairs, outputs, strict=True):
                if all(text != draft.text for draft in drafts[at]):
                    new[at][text] = Draft(text, form, frozenset(), framed=False)
            left, its = [sentences[at] for at in lacking], [sources[at] for at in lacking]
            further = [[*texts.values()] for texts in new.values()]
            for at, row in zip(lacking, self._judge(left, its, further, thorough=thorough), strict=True):
                rows[at] += row
        return [sorted(row, key=lambda candidate: -candidate.score) for row in rows]

    def assess(self, texts: Sequence[str], outputs: Sequence[str], exemplars: Sequence[str]) -> list[Candidate]:
        """Each output, of whatever model, as a candidate for its text, whole texts as one sentence; none is dropped.

        Args:
            exemplars: whose form each output has.
        """
        texts, outputs, exemplars = map(require_texts, (texts, outputs, exemplars))
        if not len(texts) == len(outputs) == len(exemplars):
            raise InputError(
                f"{len(texts)} texts, {len(outputs)} outputs, {len(exemplars)} exemplars; expected as many"
            )
        drafts = [[Draft(*pair, frozenset(), framed=False)] for pair in zip(outputs, exemplars, strict=True)]
        return [candidate for (candidate,) in self._judge(texts, self._tagged(texts), drafts)]

    def _parsed(self, sentences: Sequence[str]) -> tuple[list[Tagged], Sequence[Tree | None]]:
        """Words and tags of sentences, and their trees; a tree has the tags, which are not asked for again."""
        if self.tools.parse is None:
            return self._tagged(sentences), [None] * len(sentences)
        words = [with_apostrophes(tokenize(sentence)) for sentence in sentences]
        trees = self.tools.parse(words)
        return [Tagged(row, tree.tags() if tree else ()) for row, tree in zip(words, trees, strict=True)], trees

    def _tagged(self, sentences: Sequence[str]) -> list[Tagged]:
        words = [with_apostrophes(tokenize(sentence)) for sentence in sentences]
        return [Tagged(*pair) for pair in zip(words, self.tools.tag(words), strict=True)]


@functools.lru_cache(maxsize=2)
def _embedded_tools(device: torch.device) -> Tools:
    lines = (resources.files("paraform.rewording") / "names.txt").read_text(encoding="utf-8").splitlines()
    return Tools(
        tag=load_tagger(device=str(device)),
        embed=encoders.load(device=device).encode,
        parse=load_parser(device=str(device)),
        cased={line.lower(): line for line in lines if not line.startswith("#")},
    )


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


def _passing(candidates: Sequence[Candidate], drafts: Sequence[Draft]) -> int:
    """How many pass, those that only put words around not counted."""
    return sum(not (one.failed or draft.wrapped) for one, draft in zip(candidates, drafts, strict=True))


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
