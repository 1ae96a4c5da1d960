"""How well a system says a source like an exemplar: every metric, under each protocol, beside its floors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.decoding import MOST_SEED
from paraform.evaluation.bleu import bleu_metric
from paraform.evaluation.content import Vectors, content_kept, embed_unique
from paraform.evaluation.following import different_outputs, distinct_value, words_taken
from paraform.evaluation.meteor import find_wordnet, meteor_metric
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.evaluation.preparation import metric_words, words_signature
from paraform.evaluation.protocols import (
    PROTOCOLS,
    Decoded,
    GenerationRow,
    Paraphrase,
    Protocol,
    check_protocols,
    check_rows,
    decode,
)
from paraform.evaluation.report import GenerationReport, Outputs, compare
from paraform.evaluation.rouge import rouge_metrics
from paraform.evaluation.style import (
    StyleReport,
    StyleSettings,
    Tag,
    edit_distances,
    evaluate_style,
    tag_unique,
    tree_distance,
)
from paraform.evaluation.subsets import SETTING, THIRDS, subsets
from paraform.records import InputError, require_callable, require_count, require_kind, require_records, require_text
from paraform.score import Score, signature
from paraform.syntax.trees import Parser, Tree

SaysTheSame: TypeAlias = Callable[[Sequence[tuple[str, str]]], Any]
"""Pairs of texts → how likely each says the same, [N]."""


def copy_source(sources: list[str], exemplars: list[str]) -> list[str]:
    """The floor of a system that changes nothing."""
    return sources


def copy_exemplar(sources: list[str], exemplars: list[str]) -> list[str]:
    """The floor of a system that says nothing of the source."""
    return exemplars


FLOORS: Mapping[str, Paraphrase] = {"copy source": copy_source, "copy exemplar": copy_exemplar}


@dataclass(frozen=True)
class GenerationSettings:
    """How a paraphraser is measured.

    Args:
        protocols: which exemplar each source is given.
        name: how table and signatures call the system; `tagger_name`, `encoder_name`, `parser_name`, `judge_name`:
            `tag`, `embed`, `parse` and `same`.
        max_tokens: words of each text that count; None counts all. Content is compared on the texts as they are.
        bleu_tokenize: see `bleu`.
        resamples: draws of the paired bootstrap between `name` and every other system, of BLEU on the third of least
            overlap, too; 0 leaves it out.
        seed: the seed of the bootstrap and of the sentences that style retrieval asks for.
    Raises: InputError for what cannot be.
    """

    protocols: Sequence[Protocol] = PROTOCOLS
    name: str = "model"
    max_tokens: int | None = 15
    bleu_tokenize: str = "none"
    resamples: int = 1000
    seed: int = 0
    tagger_name: str = "unnamed"
    encoder_name: str = "unnamed"
    parser_name: str = "unnamed"
    judge_name: str = "unnamed"

    def __post_init__(self) -> None:
        for name in ("name", "tagger_name", "encoder_name", "parser_name", "judge_name"):
            require_text(getattr(self, name), name)
        require_count(self.resamples, "resamples")
        require_count(self.seed, "seed", 0, MOST_SEED)
        check_protocols(self.protocols)


def evaluate_generation(
    paraphrase: Paraphrase,
    rows: Sequence[GenerationRow],
    *,
    tag: Tag,
    embed: Embed,
    content: Embed | None = None,
    style: Embed | None = None,
    parse: Parser | None = None,
    same: SaysTheSame | None = None,
    systems: Mapping[str, Paraphrase] | None = None,
    settings: GenerationSettings | None = None,
) -> GenerationReport:
    """BLEU, ROUGE, METEOR, ED-E, ED-R, content kept, words taken and distinct-n of a paraphraser and of the floors.

    With `parse`, also TED-E and TED-R: labels to insert, delete or rename to make the output's tree that of the
    exemplar (of the tree asked for, where a system reads one), or of the reference; words are no labels.

    With `same`, also *says the same*: how likely it is that source and output do, which is no overlap with a reference.

    Words taken are content words that come from the exemplar, and not from the source; under `oracle` it is said, too,
    what share of a source's outputs, one for each exemplar, are different. Under `first` and `oracle` every metric is
    given; under `blind`, whose exemplar has nothing to do with the reference, only ED-E, content kept and words taken.
    Each is given for all rows and by thirds of source–reference overlap.

    Args:
        paraphrase: (sources, exemplars) → one output a source; it is called once, with every pair that is needed.
        rows: with up to 5 exemplars each, a blind one if the protocols have "blind", and clusters if `content` or
            `style` is given.
        tag: sentences of words → their tags. embed: texts → vectors, [N, D], for the content kept.
        content, style: the system's own vectors; with them CMA and retrieval by style are measured too.
        parse: sentences of words → their trees. same: pairs of texts → how likely they say the same, [N].
        systems: further systems by name, measured and compared by the same code; the two floors always are.
        settings: None: `GenerationSettings()`.
    Raises: InputError if a row lacks what a protocol needs or the extra `eval` is not installed, an argument
        cannot be, or a callable does not answer one for one.
    """
    rows = require_records(rows, GenerationRow)
    for said, call in (("paraphrase", paraphrase), ("tag", tag), ("embed", embed)):
        require_callable(call, said)
    for said, optional in (("content", content), ("style", style), ("parse", parse), ("same", same)):
        if optional is not None:
            require_callable(optional, said)
    settings = GenerationSettings() if settings is None else settings
    require_kind(settings, GenerationSettings, "settings")
    name, protocols, max_tokens = settings.name, settings.protocols, settings.max_tokens
    check_rows(rows, protocols)
    everyone = {name: paraphrase, **(systems or {}), **FLOORS}
    if len(everyone) != 1 + len(systems or {}) + len(FLOORS):
        raise InputError(f"systems {[name, *(systems or {}), *FLOORS]}; expected different names")
    decoded = {system: decode(call, rows, protocols, max_tokens=max_tokens) for system, call in everyone.items()}
    sources, references = tuple(row.source for row in rows), tuple(row.reference for row in rows)
    measure = _Measure(
        sources,
        references,
        [each for by in decoded.values() for each in by.values()],
        tag,
        embed,
        max_tokens,
        parse,
        same,
    )
    shared = signature(exemplars=max(len(row.exemplars) for row in rows), thirds=SETTING)
    overlap: list[RowMetric] = []
    if set(protocols) != {"blind"}:
        overlap = measure.overlap_metrics(settings.bleu_tokenize)
    edit_settings = words_signature(max_tokens, tags=settings.tagger_name, average="rows")
    tree_settings = words_signature(max_tokens, trees=settings.parser_name, average="rows")
    taken_settings = words_signature(max_tokens, stop="closed-class", average="rows")
    different_settings = signature(case="lc", over="exemplars", average="rows")
    distinct = f"{words_signature(max_tokens, over='corpus')}|{shared}"
    kept_settings = signature(similarity="cosine", encoder=settings.encoder_name, text="as-written", average="rows")
    same_settings = signature(judge=settings.judge_name, text="as-written", average="rows")
    parts = subsets([measure.words[text] for text in sources], [measure.words[text] for text in references])
    outputs: list[Outputs] = []
    scores: list[Score] = []
    for protocol in protocols:
        metrics: dict[str, list[RowMetric]] = {}
        for system in everyone:
            given = decoded[system][protocol]
            measured = [row_mean("ED-E", measure.distances(given.texts, given.exemplars), edit_settings)]
            if protocol != "blind":
                measured = [*measure.pick(overlap, given.texts), *measured]
                measured.append(row_mean("ED-R", measure.distances(given.texts, references), edit_settings))
            if parse is not None:
                measured.append(row_mean("TED-E", measure.tree_distances(given.texts, given.exemplars), tree_settings))
                if protocol != "blind":
                    measured.append(row_mean("TED-R", measure.tree_distances(given.texts, references), tree_settings))
            measured.append(row_mean("content kept", measure.kept(given.texts), kept_settings, digits=3))
            if same is not None:
                measured.append(row_mean("says the same", measure.says_the_same(given.texts), same_settings, digits=3))
            measured.append(
                row_mean("words taken", measure.taken(given.texts, given.exemplars), taken_settings, digits=3)
            )
            if given.all_texts:
                different = np.array([different_outputs(texts) for texts in given.all_texts])
                measured.append(row_mean("different outputs", different, different_settings, digits=3))
            metrics[system] = [replace(metric, signature=f"{metric.signature}|{shared}") for metric in measured]
            named = {metric.name: metric for metric in metrics[system]}
            outputs.append(Outputs(system, protocol, sources, references, given.exemplars, given.texts, named))
        for part, chosen in parts.items():
            for system, measured in metrics.items():
                scores += [metric.score(chosen, system=system, protocol=protocol, subset=part) for metric in measured]
                if protocol != "blind":
                    texts = decoded[system][protocol].texts
                    words = [measure.words[texts[row]] for row in chosen]
                    for n in (1, 2):
                        value = distinct_value(words, n)
                        scores.append(Score(f"distinct-{n}", value, distinct, system, protocol, part, digits=3))
    comparisons = []
    if settings.resamples:
        how: dict[str, Any] = {"resamples": settings.resamples, "seed": settings.seed}
        for first, other in itertools.product(outputs, outputs):
            if first.system == name and other.system != name and first.protocol == other.protocol:
                comparisons += [compare(first, other, metric, **how) for metric in first.metrics]
                if "BLEU" in first.metrics and (least := THIRDS[0]) in parts:
                    comparisons.append(compare(first, other, part=(least, parts[least]), **how))
    found = StyleReport((), ())
    if content is not None or style is not None:
        found = evaluate_style(
            sources,
            references,
            [row.cluster for row in rows],
            content=content,
            style=style,
            tag=tag,
            settings=StyleSettings(name, max_tokens, seed=settings.seed, tagger_name=settings.tagger_name),
        )
    return GenerationReport((*scores, *found.scores), tuple(outputs), tuple(comparisons), found.retrieved)


class _Measure:
    """Every text split, tagged and embedded once, and every output held against its reference once."""

    def __init__(
        self,
        sources: tuple[str, ...],
        references: tuple[str, ...],
        decoded: Sequence[Decoded],
        tag: Tag,
        embed: Embed,
        max_tokens: int | None,
        parse: Parser | None,
        same: SaysTheSame | None,
    ) -> None:
        self.sources, self.references, self.max_tokens = sources, references, max_tokens
        written = [text for each in decoded for text in each.texts]
        likes = [text for each in decoded for text in each.exemplars]
        texts = list(dict.fromkeys([*sources, *references, *written, *likes]))
        words = metric_words(texts, max_tokens)
        self.words = dict(zip(texts, words, strict=True))
        self.tags = dict(zip(texts, tag_unique(tag, words), strict=True))
        self.trees: dict[str, Tree | None] = {}
        if parse is not None:
            asked = [text for text in texts if self.words[text]]
            self.trees = dict(zip(asked, parse([self.words[text] for text in asked]), strict=True))
        embedded = list(dict.fromkeys([*sources, *written]))
        self._vectors = embed_unique(embed, embedded)
        self._vector_of = {text: at for at, text in enumerate(embedded)}
        self._sources_ND = self._embedded(sources)
        self._same: dict[tuple[str, str], float] = {}
        if same is not None:
            said = dict.fromkeys(pair for each in decoded for pair in zip(sources, each.texts, strict=True))
            judged = [pair for pair in said if pair[0].strip() and pair[1].strip()]
            self._same = dict(zip(judged, _shares(same, judged), strict=True))
        pairs = dict.fromkeys(pair for each in decoded for pair in zip(each.texts, references, strict=True))
        self._pair_at = {pair: at for at, pair in enumerate(pairs)}

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        return self._vectors[[self._vector_of[text] for text in texts]]

    def overlap_metrics(self, bleu_tokenize: str) -> list[RowMetric]:
        """BLEU, ROUGE and METEOR of every different pair of an output and its reference."""
        outputs = [self.words[text] for text, _ in self._pair_at]
        references = [self.words[reference] for _, reference in self._pair_at]
        cut = self.max_tokens
        return [
            bleu_metric(outputs, references, max_tokens=cut, tokenize=bleu_tokenize),
            *rouge_metrics(outputs, references, max_tokens=cut),
            meteor_metric(outputs, references, max_tokens=cut, wordnet=find_wordnet()),
        ]

    def pick(self, metrics: Sequence[RowMetric], texts: Sequence[str]) -> list[RowMetric]:
        """Those metrics of these outputs, row by row."""
        at = [self._pair_at[pair] for pair in zip(texts, self.references, strict=True)]
        return [replace(metric, rows=metric.rows[at]) for metric in metrics]

    def distances(self, texts: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
        """Edit distances of the tags of each row, [N]."""
        return edit_distances([self.tags[text] for text in texts], [self.tags[text] for text in wanted])

    def tree_distances(self, texts: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
        """Tree edit distances of each row, [N]; what has no tree is as far from a tree as that has nodes."""
        pairs = list(zip(texts, wanted, strict=True))
        known = {pair: tree_distance(self.trees.get(pair[0]), self.trees.get(pair[1])) for pair in dict.fromkeys(pairs)}
        return np.array([known[pair] for pair in pairs], dtype=np.int64)

    def taken(self, texts: Sequence[str], exemplars: Sequence[str]) -> NDArray[np.float64]:
        """Words taken over from its exemplar, of each row, [N]."""
        rows = zip(texts, self.sources, exemplars, strict=True)
        return np.array([words_taken(*(self.words[text] for text in row)) for row in rows])

    def kept(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Content kept of each row, [N]."""
        return content_kept(self._sources_ND, self._embedded(texts))

    def says_the_same(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """How likely each source and its output say the same, [N]; an empty output says nothing."""
        return np.array([self._same.get(pair, 0.0) for pair in zip(self.sources, texts, strict=True)])


def _shares(same: SaysTheSame, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Raises: InputError unless it is a number from 0 to 1 for each pair."""
    found = np.asarray(same(pairs) if pairs else [], np.float64)
    if found.shape != (len(pairs),) or not ((found >= 0) & (found <= 1)).all():
        raise InputError(f"same gave shape {list(found.shape)} for {len(pairs)} pairs; expected [N], from 0 to 1")
    shares: list[float] = found.tolist()
    return shares
