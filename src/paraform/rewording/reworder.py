"""Generate, check, rank: several rewordings of each text, those that lost something thrown away, the best first.

Candidates come from rules (sentence frames, synonyms, the parse), and from a paraphraser where one is given; a language
model tells which synonyms suit a sentence. A text of
several sentences is reworded sentence by sentence; those that no candidate stands in for stay as they are, unless all
do: then the text is given back without a rewording, and with the reason.
"""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any, TypeAlias, Unpack, final

import numpy as np
import torch

from paraform import encoders
from paraform.capabilities import Paraphraser, ReadsBack, SaysOtherwise
from paraform.decoding import Decoding, require_decoding
from paraform.records import Candidate, InputError, Rewording, require_count, require_texts
from paraform.rewording import fluency
from paraform.rewording.checks import CHECKS, Check
from paraform.rewording.column import Batch, Columns, with_best, with_rows
from paraform.rewording.drafts import Draft, framed_drafts, paired_drafts, unsure_drafts
from paraform.rewording.judging import Judge, Tools, tagged
from paraform.rewording.manner import in_manner
from paraform.rewording.parts import parts_of
from paraform.rewording.readable import unreadable
from paraform.rewording.standards import STANDARDS, Change, Standards
from paraform.rewording.tagged import Tagged
from paraform.spans import Span
from paraform.syntax import load_parser, load_tagger
from paraform.syntax.trees import Tree
from paraform.threads import in_threads
from paraform.version import __version__
from paraform.weights import device_named
from paraform.words import STOP_WORDS, tokenize

Rules: TypeAlias = Callable[[Tagged, Mapping[str, str], Tree | None], list[Draft]]
"""A sentence, how words are written inside one (`Tools.cased`), and its tree, to drafts of it in other words."""

Ask: TypeAlias = Callable[[Sequence[int], Sequence[Sequence[Candidate]]], list[list[Draft]]]
"""Which of some sentences, and the candidates that all have so far → drafts of each, by a model."""

Sent: TypeAlias = "Callable[[], tuple[Callable[..., Reworder], tuple[str, Callable[[], Reworder]]]]"
"""What makes the same one again in another process, and what that is given: `made_again`, and its arguments."""

ANSWERS = 10  # of a language model to a sentence
CHANGED_FURTHER, FURTHER = 3, 4  # of those that are hardly another sentence so many are changed further, so often each
FEW = 1000  # characters of texts that one thread rewords as fast as several


@final
class Reworder:
    """Rewords texts, and judges what others say in their place.

    Args:
        tools: models that tag, parse and embed; `Reworder.default()` has the embedded ones.
        rules: make drafts of each sentence.
        checks: what each candidate must pass.
        standards: what its figures must reach, and what ranks it.
        paraphraser: gives further drafts of sentences of which fewer pass than are wanted: a language model in its own
            words (`ANSWERS`), another in the forms of its own exemplars, one a sentence; None: rules alone.
        keep: terms that stay as they are, case and all, however they are given.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        rules: Rules = framed_drafts,
        checks: Sequence[Check] = CHECKS,
        standards: Standards = STANDARDS,
        paraphraser: Paraphraser | SaysOtherwise | None = None,
        keep: Collection[str] = (),
    ) -> None:
        terms = list(keep) if isinstance(keep, Collection) and not isinstance(keep, str) else [""]
        if not all(isinstance(term, str) and term.strip() for term in terms):
            raise InputError(f"keep {str(keep)[:40]!r}; expected a list of terms, none of them empty")
        if paraphraser is not None and not isinstance(paraphraser, (Paraphraser, SaysOtherwise)):
            raise InputError(
                f"a model of type {type(paraphraser).__name__}; expected one that paraphrases: paraform.load(folder)"
            )
        if isinstance(paraphraser, ReadsBack):
            tools = replace(tools, source_given=paraphraser.source_given)
        if isinstance(paraphraser, SaysOtherwise):
            tools = replace(tools, likelihood=paraphraser.likelihood)
        self.tools, self.rules, self.paraphraser = tools, rules, paraphraser
        self.sent: Sent | None = None
        self._judge = Judge(tools, standards, checks, tuple(term.strip() for term in terms))

    @classmethod
    def default(
        cls,
        device: str | torch.device | None = None,
        *,
        paraphraser: Paraphraser | SaysOtherwise | None = None,
        change: Change | None = None,
        keep: Collection[str] = (),
    ) -> Reworder:
        """With the embedded tagger, parser and encoder, which are loaded once a process.

        Args:
            device: theirs; None: the paraphraser's, else the GPU if there is one.
            change: how much of a text is to change, "little" or "much"; None: two words or more, or a synonym.
            keep: terms that stay as they are, case and all, however they are given.
        """
        where = getattr(paraphraser, "device", None) if device is None else device
        standards = Standards.for_change(change)
        made = cls(_embedded_tools(device_named(where)), standards=standards, paraphraser=paraphraser, keep=keep)
        again = functools.partial(cls.default, device, paraphraser=paraphraser, change=change, keep=tuple(keep))
        made.sent = lambda: (made_again, (__version__, again))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """As how it was made, if that is known: the process that gets it has the models already, or loads them."""
        if self.sent is not None:
            return self.sent()
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    def reword(
        self,
        texts: Sequence[str],
        *,
        num: int = 1,
        force: bool = False,
        **how: Unpack[Decoding],
    ) -> list[Rewording]:
        """Each text's best rewordings, at most `num`, or why it has none; arguments as `paraform.reword` has them."""
        texts = require_texts(texts)
        require_count(num, "num", 1)
        require_decoding(how)
        language = fluency.load()
        reasons = ["" if force else unreadable(text, language) for text in texts]
        spans = [[] if reason else parts_of(text) for text, reason in zip(texts, reasons, strict=True)]
        split = [[text[slice(*span)] for span in row] for text, row in zip(texts, spans, strict=True)]
        different = list(dict.fromkeys(sentence for row in split for sentence in row))
        with in_threads(1 if sum(map(len, texts)) <= FEW else None):
            judged = dict(zip(different, self.judge(different, num=num, **how), strict=True))
        out = []
        for text, row, own, reason in zip(texts, split, spans, reasons, strict=True):
            passed = [_different(judged[sentence], num) for sentence in row]
            if any(passed):
                out.append(Rewording(text, tuple(_joined(text, own, passed, num))))
            else:
                found = [candidate for sentence in row for candidate in judged[sentence]]
                out.append(Rewording(text, (), reason or why(found, self._judge.checks)))
        return out

    def column(self, name: str, *, force: bool = False, **how: Unpack[Decoding]) -> Callable[[Batch], Columns]:
        """For `dataset.map(…, batched=True)` of Hugging Face's datasets: a column's texts in other words beside it.

        Of NAME these are two columns: NAME_reworded, "" where there is none, and NAME_reason. Other arguments are
        `reword`'s. Cached results are used again where settings, version and models are the same.
        """
        return functools.partial(with_best, functools.partial(self.reword, force=force, **how), name)

    def rows(
        self, name: str, *, num: int = 1, force: bool = False, **how: Unpack[Decoding]
    ) -> Callable[[Batch], Columns]:
        """As `column`, but rows: each, and behind it up to `num` like it with their text in other words.

        Rewordings that only put words around a text are left out. Those that are a text of another label are not:
        `paraform augment` looks at the whole table.
        """
        return functools.partial(with_rows, functools.partial(self.reword, num=num, force=force, **how), name)

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
        sources, trees = self._parsed(sentences)
        rounds = self._rounds(sentences, sources, trees, how)
        drafts = [self.rules(source, self.tools.cased, tree) for source, tree in zip(sources, trees, strict=True)]
        rows = self._judge(sentences, sources, drafts, thorough=thorough)
        edits = self._judge.standards.edits
        for ask in rounds:
            lacking = [at for at, row in enumerate(rows) if thorough or _passing(row, num, edits) < num]
            if not lacking:
                break
            known = [{draft.text for draft in drafts[at]} for at in lacking]
            more = ask(lacking, rows)
            new = [[one for one in row if one.text not in there] for row, there in zip(more, known, strict=True)]
            left, its = [sentences[at] for at in lacking], [sources[at] for at in lacking]
            for at, further, row in zip(lacking, new, self._judge(left, its, new, thorough=thorough), strict=True):
                rows[at] += row
                drafts[at] = [*drafts[at], *further]
        return [sorted(row, key=lambda candidate: -candidate.score) for row in rows]

    def _rounds(
        self, sentences: Sequence[str], sources: Sequence[Tagged], trees: Sequence[Tree | None], how: Decoding
    ) -> list[Ask]:
        """What the model is asked, one after another, of sentences of which too few drafts pass.

        Raises: InputError if it has no exemplars of its own and needs them.
        """
        model = self.paraphraser
        if isinstance(model, SaysOtherwise):
            own = (_said, _said_further) if self._judge.standards.own_words else ()
            cased, own_rules = self.tools.cased, self.rules is not framed_drafts
            replaced = (
                functools.partial(_replaced, sources, cased, trees),
                functools.partial(_replaced_twice, sources, cased),
            )
            return [*(() if own_rules else replaced), *(functools.partial(ask, model, how, sentences) for ask in own)]
        if model is None:
            return []
        forms = model.exemplars(sentences, seed=how.get("seed", 0))
        return [functools.partial(_decoded, model, how, sentences, forms)]

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
        read = [Tagged.read(sentence) for sentence in sentences]
        trees = self.tools.parse([one.words for one in read])
        rows = zip(read, trees, strict=True)
        return [one._replace(tags=tree.tags() if tree else ()).commanded() for one, tree in rows], trees

    def _tagged(self, sentences: Sequence[str]) -> list[Tagged]:
        return tagged([Tagged.read(sentence) for sentence in sentences], self.tools.tag)


def made_again(told: str, make: Callable[[], Reworder]) -> Reworder:
    """What `Reworder.sent` names; `told`, of version and models, tells what is kept under pickles' digests apart."""
    return make()


@functools.lru_cache(maxsize=2)
def _embedded_tools(device: torch.device) -> Tools:
    lines = (resources.files("paraform.rewording") / "names.txt").read_text(encoding="utf-8").splitlines()
    return Tools(
        tag=load_tagger(device=str(device)),
        embed=encoders.load(device=device).encode,
        parse=load_parser(device=str(device)),
        cased={line.lower(): line for line in lines if not line.startswith("#")},
    )


def why(candidates: Sequence[Candidate], checks: Sequence[Check] = CHECKS) -> str:
    """Why none of some candidates will do: what is wrong with the nearest to passing, copies of the text aside."""
    if not candidates:
        return "no other form fits"
    nearest = min(candidates, key=lambda one: (len(one.failed), "changed" in one.failed))
    said = next(check.says for check in checks if check.name in nearest.failed)
    return f"its {'only' if len(candidates) == 1 else 'nearest'} rewording {said}"


def _replaced(
    sources: Sequence[Tagged],
    cased: Mapping[str, str],
    trees: Sequence[Tree | None],
    places: Sequence[int],
    rows: Sequence[Sequence[Candidate]],
) -> list[list[Draft]]:
    """Some of the sentences with synonyms, or another order, that a language model is to judge."""
    return [unsure_drafts(sources[at], cased, trees[at]) for at in places]


def _replaced_twice(
    sources: Sequence[Tagged],
    cased: Mapping[str, str],
    places: Sequence[int],
    rows: Sequence[Sequence[Candidate]],
) -> list[list[Draft]]:
    """With two of those synonyms that each will do."""
    known = ([one for one in rows[at] if not one.failed and "beside" in one.figures] for at in places)
    alone = ({one.exemplar: one.figures["beside"] for one in row} for row in known)
    return [paired_drafts(sources[at], cased, forms) for at, forms in zip(places, alone, strict=True)]


def _said(
    model: SaysOtherwise,
    how: Decoding,
    sentences: Sequence[str],
    places: Sequence[int],
    rows: Sequence[Sequence[Candidate]],
) -> list[list[Draft]]:
    """Some of the sentences as a language model says them."""
    chosen = [sentences[at] for at in places]
    answers = model.say(chosen, num=ANSWERS, **how)
    return [_as_said(source, row) for source, row in zip(chosen, answers, strict=True)]


def _said_further(
    model: SaysOtherwise,
    how: Decoding,
    sentences: Sequence[str],
    places: Sequence[int],
    rows: Sequence[Sequence[Candidate]],
) -> list[list[Draft]]:
    """What it says once more of those answers that lack nothing but a change, the likeliest of them."""
    if how.get("temperature"):
        return [[] for _ in places]
    slight = {at: [one.text for one in rows[at] if one.failed == ["changed"]][:CHANGED_FURTHER] for at in places}
    every = [(at, text) for at in places for text in slight[at]]
    sources, onto = [sentences[at] for at, _ in every], [text for _, text in every]
    answers = iter(model.say(sources, num=FURTHER, onto=onto, **how) if every else ())
    return [_as_said(sentences[at], [text for _ in slight[at] for text in next(answers)]) for at in places]


def _as_said(source: str, answers: Sequence[str]) -> list[Draft]:
    said = dict.fromkeys(in_manner(text, source) for text in answers)
    return [Draft(text, "", frozenset(), framed=False, said=True) for text in said if text]


def _decoded(
    model: Paraphraser,
    how: Decoding,
    sentences: Sequence[str],
    forms: Sequence[Sequence[str]],
    places: Sequence[int],
    rows: Sequence[Sequence[Candidate]],
) -> list[list[Draft]]:
    """Some of the sentences in the forms that each has."""
    pairs = [(at, form) for at in places for form in forms[at]]
    outputs = model.decode([sentences[at] for at, _ in pairs], [form for _, form in pairs], **how)
    new: dict[int, dict[str, Draft]] = {at: {} for at in places}
    for (at, form), text in zip(pairs, outputs, strict=True):
        new[at][text] = Draft(text, form, frozenset(), framed=False)
    return [[*row.values()] for row in new.values()]


def _different(candidates: Sequence[Candidate], num: int) -> list[Candidate]:
    """Those that pass, at most so many; of those with the same content words in the same order the first.

    Of those that put words around the text, too.
    """
    chosen: dict[tuple[str, ...] | None, Candidate] = {}
    for one in candidates:
        if not one.failed and len(chosen) < num:
            words = [word for word in tokenize(one.text.lower()) if word not in STOP_WORDS]
            says = tuple(word for word in words if any(letter.isalnum() for letter in word))
            chosen.setdefault(None if one.wrapped else says, one)
    return list(chosen.values())


def _passing(candidates: Sequence[Candidate], num: int, edits: int) -> int:
    """How many of them `_different` gives, those that only put words around or change fewer words not counted."""
    return len(_different([one for one in candidates if not one.wrapped and one.figures["edits"] >= edits], num))


def _joined(text: str, spans: Sequence[Span], passed: Sequence[Sequence[Candidate]], num: int) -> list[Candidate]:
    """Whole texts: the best candidate of every sentence, then the second best, and so on; between them what was there.

    Args:
        spans: of the text's sentences.
    """
    out = []
    for rank in range(min(num, max(map(len, passed)))):
        parts = [row[min(rank, len(row) - 1)] if row else None for row in passed]
        chosen = [part for part in parts if part]
        said, end = "", 0
        for (start, after), part in zip(spans, parts, strict=True):
            said += text[end:start] + (part.text if part else text[start:after])
            end = after
        names = {name: None for part in chosen for name in part.checks}
        checks = {name: all(part.checks.get(name, True) for part in chosen) for name in names}
        known = [name for name in chosen[0].figures if all(name in part.figures for part in chosen)]
        figures = {name: min(part.figures[name] for part in chosen) for name in known}
        forms = "; ".join(part.exemplar for part in chosen)
        score = float(np.mean([part.score for part in chosen]))
        framed, wrapped = all(part.framed for part in chosen), all(part.wrapped for part in chosen)
        out.append(Candidate(said + text[end:], forms, checks, score, figures, framed, wrapped))
    return out
