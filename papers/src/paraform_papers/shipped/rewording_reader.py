"""How texts become what `compact` learns from: restored, fit to be read, and of use."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraform.corpora.leaks import normalised
from paraform.records import Pair, Sentence
from paraform.rewording.checks import changed_words
from paraform.rewording.content import NEGATIONS
from paraform.rewording.parts import sentences_of
from paraform.words import tokenize
from paraform_papers.shipped.restored import restored, unusable
from paraform_papers.shipped.rewording_corpora import ALONE, kind_of, sentences, sources_of
from paraform_papers.shipped.rewording_counts import Counts

MOST_WORDS = 30  # as `ExemplarConfig.compact` has it, tokenised: what stands behind them would be cut


@dataclass(frozen=True)
class Reader:
    """How texts are read.

    Args:
        usual: lower-cased word → how it is mostly written inside sentences.
        language: English words, lower-cased.
        seed: of all that is drawn.
        part: of every corpus such a share is taken, drawn.
    """

    usual: Mapping[str, str]
    language: Container[str]
    seed: int
    part: float

    def pairs(self, pairs: Sequence[Pair], corpus: str, counts: Counts) -> Iterator[Pair]:
        """A share of the pairs, restored, each once; none that is unusable, has the same words twice or denies once."""
        seen: set[frozenset[str]] = set()
        for pair in random.Random(self.seed).sample(pairs, round(self.part * len(pairs))):
            counts.add(corpus, "read")
            one, other = (restored(side.text, self.usual) for side in (pair.source, pair.target))
            both = frozenset((normalised(one), normalised(other)))
            why = self.why_not(one) or self.why_not(other)
            if not why and not changed_words(tokenize(one), tokenize(other)):
                why = "same words"
            if not why and _denials(one) != _denials(other):
                why = "negation"
            if why or both in seen:
                counts.add(corpus, why or "repeated")
                continue
            seen.add(both)
            yield Pair(Sentence(one), Sentence(other), label=1, origin=pair.origin)

    def alone(self, data: Path, corpus: str, kept_out: Mapping[str, str], counts: Counts) -> list[Pair]:
        """Sentences without a partner as the targets of what is made from them.

        Args:
            kept_out: `normalised` text → why it may stand on neither side.
        """
        setting, row = ALONE[corpus], f"{corpus} alone"
        kept: dict[str, Sentence] = {}
        for one in sentences(data, corpus, seed=self.seed, part=self.part):
            if setting.most and len(kept) >= self.part * setting.most:
                break
            counts.add(row, "read")
            text = restored(one.text, self.usual, setting.ending)
            why = self.why_not(text)
            if not why and not setting.least_words <= len(tokenize(text)) <= setting.most_words:
                why = "too long" if len(tokenize(text)) > setting.most_words else "too short"
            if not why and len(sentences_of(text)) > 1:
                why = "several sentences"
            why = why or kept_out.get(normalised(text), "")
            if why:
                counts.add(row, why)
                continue
            kept[text] = one
        made = sources_of(list(kept), self.usual, seed=self.seed, framed=setting.framed)
        pairs = [
            Pair(Sentence(source), Sentence(text), origin=one.origin)
            for source, (text, one) in zip(made, kept.items(), strict=True)
        ]
        free = [pair for pair in pairs if normalised(pair.source.text) not in kept_out]
        changed = [pair for pair in free if changed_words(tokenize(pair.source.text), tokenize(pair.target.text))]
        counts.add(row, "in a test", len(pairs) - len(free))
        counts.add(row, "same words", len(free) - len(changed))
        counts.add(row, "→ sentence", len(changed))
        for pair in changed:
            counts.add(row, f"{kind_of(pair.target.text)}s")
        return changed

    def why_not(self, text: str) -> str:
        """Why nothing is learned from a restored text; "" if there is no reason."""
        found = unusable(text, self.language, most_words=MOST_WORDS)
        return found if found in ("", "too long", "a mark for a word") else "unreadable"


def _denials(text: str) -> int:
    return sum(word.lower() in NEGATIONS for word in tokenize(text))
