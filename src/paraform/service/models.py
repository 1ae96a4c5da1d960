"""The models that a service has, loaded once, and what each does with what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embedder, JudgesMeaning, Paraphraser, SaysOtherwise, TellsLengths
from paraform.checkpoint.abilities import load_able
from paraform.default_call import default_model, paraphraser_named
from paraform.neighbours.search_index import SearchIndex
from paraform.records import Sentence, to_json
from paraform.rewording.reworder import Reworder
from paraform.rewording.standards import Change
from paraform.service.gathering import Work
from paraform.syntax.annotation import Annotate, Annotator

NONE = "none"  # in the place of a model's name: leave that out

# Characters computed at once: as many as keep the machine busy and do not let others wait for long.
REWORDED, DECODED, JUDGED, EMBEDDED, PARSED = 4_000, 4_000, 8_000, 16_000, 8_000


class Names(NamedTuple):
    """Which models a service has; `NONE`: it does without that.

    Args:
        paraphrase: as `paraform.reword` takes it; None: what is asked where none is named.
        like: says texts in the form of others.
        same: judges meaning.
        embeddings: embed texts, the usual one first.
        parse: as `load_parser` takes it.
        search: folders of `SearchIndex`, the usual one first.
    """

    paraphrase: str | None = None
    like: str = "compact"
    same: str = "minilm-judge"
    embeddings: tuple[str, ...] = ("minilm",)
    parse: str = "syntax"
    search: tuple[str, ...] = ()


class Embedded(NamedTuple):
    """A text's vector, float32 [D], and how many tokens it has; 0, where the model counts none.

    The vector is None of a text that is longer than the model reads, and was not to be cut.
    """

    vector: NDArray[np.float32] | None
    tokens: int


@dataclass(frozen=True)
class Asked:
    """How texts are to be reworded, as `paraform.reword` has it."""

    num: int = 1
    change: Change | None = None
    keep: tuple[str, ...] = ()
    force: bool = False


@final
@dataclass(frozen=True)
class Models:
    """The models of a service by their names, and the works that they do. Not for several threads at once.

    Args:
        rewords: the name of what rewords, and the model; None for both: nothing does; for the model: rules alone.
        like: says texts in the form of others; None: nothing does.
        judge: tells whether two texts say the same; None: nothing does.
        embedders: the usual one first.
        annotate: gives words, tags and trees; None: nothing does.
        indexes: by their folders' names, the usual one first.
        names: of `like`, `judge` and `annotate`, for who asks which models there are.
        device: of what rewords.
    """

    rewords: tuple[str, Paraphraser | SaysOtherwise | None] | None = None
    like: Paraphraser | None = None
    judge: JudgesMeaning | None = None
    embedders: Mapping[str, Embedder] = field(default_factory=dict)
    annotate: Annotate | None = None
    indexes: Mapping[str, SearchIndex] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None

    @classmethod
    def load(cls, names: Names, device: str | None = None) -> Models:
        """All that are named. Raises: InputError for one that is not there, or cannot do what it is named for."""

        def able(name: str, ability: Any, expected: str) -> Any:
            return load_able(name, ability, expected, device)

        rewords = names.paraphrase or default_model()
        return cls(
            # Named, it is loaded now, and not when a sentence needs it.
            rewords=None if rewords == NONE else (rewords, paraphraser_named(rewords, device)),
            like=None if names.like == NONE else able(names.like, Paraphraser, "a model that paraphrases"),
            judge=None if names.same == NONE else able(names.same, JudgesMeaning, "a judge of meaning"),
            embedders={name: able(name, Embedder, "a model that embeds") for name in names.embeddings if name != NONE},
            annotate=None if names.parse == NONE else Annotator(parser=names.parse, device=device).open(),
            indexes={Path(folder).resolve().name: SearchIndex.load(folder, device=device) for folder in names.search},
            names={"paraphrase like": names.like, "same": names.same, "parse": names.parse},
            device=device,
        )

    def known(self) -> dict[str, str]:
        """Each model's name, and what it does."""
        found = {} if self.rewords is None else {self.rewords[0]: "paraphrase"}
        found |= {name: use for use, name in self.names.items() if name != NONE}
        return found | dict.fromkeys(self.embedders, "embeddings") | dict.fromkeys(self.indexes, "search")

    def warm(self) -> list[None]:
        """Each work once, so that nobody waits for what is loaded and compiled when it is first used."""
        text = "The kitchen was tiny, so we ate on the balcony."  # which frames do not answer
        if self.rewords is not None:
            self.rewording(Asked()).compute([text])
        if self.like is not None:
            self.forming().compute([(text, "Is it hard to learn chess?")])
        if self.judge is not None:
            self.judging().compute([(text, text)])
        for name in self.embedders:
            self.embedding(name).compute([text])
        if self.annotate is not None:
            self.parsing().compute([text])
        for name in self.indexes:
            self.searching(name, 1, None).compute([text])
        return [None]

    def rewording(self, asked: Asked) -> Work:
        """Texts to what `Rewording.to_dict` says."""

        def compute(texts: list[str]) -> list[dict[str, Any]]:
            found = self._reworder(asked).reword(texts, num=asked.num, force=asked.force)
            return [one.to_dict() for one in found]

        return Work("paraphrase", asked, compute, len, REWORDED)

    def forming(self) -> Work:
        """Pairs of a text and an exemplar to the same, of one candidate each."""

        def compute(pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
            assert self.like is not None
            texts, exemplars = ([pair[at] for pair in pairs] for at in (0, 1))
            outputs = self.like.decode(texts, exemplars)
            candidates = Reworder.default(self.device).assess(texts, outputs, exemplars)
            rows = zip(texts, candidates, strict=True)
            return [{"source": text, "candidates": [one.to_dict()], "reason": ""} for text, one in rows]

        return Work("paraphrase like", None, compute, _both, DECODED)

    def judging(self) -> Work:
        """Pairs of texts to what is thought of them."""

        def compute(pairs: list[tuple[str, str]]) -> list[dict[str, float]]:
            assert self.judge is not None
            found = self.judge.judge(pairs)._asdict()
            rows = zip(*found.values(), strict=True)
            return [{name: round(float(value), 4) for name, value in zip(found, row, strict=True)} for row in rows]

        return Work("same", None, compute, _both, JUDGED)

    def embedding(self, name: str, cut: bool = False) -> Work:
        """Texts to their vectors, and how many tokens each has.

        Args:
            cut: embed those, too, that are longer than the model reads.
        """
        model, most = self.embedders[name], self.most_tokens(name)

        def compute(texts: list[str]) -> list[Embedded]:
            counts = model.lengths(texts) if isinstance(model, TellsLengths) else [0] * len(texts)
            whole = [cut or most is None or count <= most for count in counts]
            vectors = iter(model.embed([text for text, fits in zip(texts, whole, strict=True) if fits]))
            return [Embedded(next(vectors) if fits else None, count) for fits, count in zip(whole, counts, strict=True)]

        return Work("embeddings", (name, cut), compute, len, EMBEDDED)

    def parsing(self) -> Work:
        """Texts to their words, tags and trees."""

        def compute(texts: list[str]) -> list[dict[str, Any]]:
            assert self.annotate is not None
            return [to_json(sentence) for sentence in self.annotate([Sentence(text) for text in texts])]

        return Work("parse", None, compute, len, PARSED)

    def searching(self, name: str, num: int, least: float | None) -> Work:
        """Questions to what an index finds."""

        def compute(questions: list[str]) -> list[list[dict[str, Any]]]:
            return [[hit._asdict() for hit in row] for row in self.indexes[name].search(questions, num, least)]

        return Work("search", (name, num, least), compute, len, EMBEDDED)

    def most_tokens(self, name: str) -> int | None:
        """As many of a text an embedder reads; None: all, or it does not say."""
        model = self.embedders[name]
        return model.max_tokens if isinstance(model, TellsLengths) else None

    def _reworder(self, asked: Asked) -> Reworder:
        assert self.rewords is not None
        _, paraphraser = self.rewords
        return Reworder.default(self.device, paraphraser=paraphraser, change=asked.change, keep=asked.keep)


def _both(pair: tuple[str, str]) -> int:
    return len(pair[0]) + len(pair[1])
