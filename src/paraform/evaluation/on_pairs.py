"""Measure a model on pairs: mine exemplars near the references, draw blind ones, call the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, Unpack

import torch

from paraform import encoders
from paraform.capabilities import Embed, Embedder, JudgesMeaning, Paraphraser, embed_by
from paraform.corpora import clusters
from paraform.decoding import Decoding
from paraform.encoders.torch_settings import products_on
from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.generation import GenerationSettings, evaluate_generation
from paraform.evaluation.metrics import RowMetric
from paraform.evaluation.protocols import PROTOCOLS, GenerationRow, Protocol, blind_exemplars
from paraform.evaluation.report import GenerationReport
from paraform.evaluation.style import StyleReport, StyleSettings, evaluate_style
from paraform.records import InputError, Pair, Triple
from paraform.score import Score, signature
from paraform.syntax.mining import mined_exemplars, why_none
from paraform.syntax.parsing import load_parser, parser_digest
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.syntax.tagging import load_tagger, tagger_digest

Signed = TypeVar("Signed", Score, RowMetric, Comparison)


@dataclass(frozen=True)
class EvaluationSet:
    """Rows to evaluate on, and what they come from.

    Args:
        rows: each with exemplars, a blind exemplar and a cluster.
        signature: how exemplars were chosen, and of how many pairs these are the rows that have one.
        tagger, max_tokens, seed: the arguments of `evaluation_set`.
    """

    rows: tuple[GenerationRow, ...]
    signature: str
    tagger: str
    max_tokens: int
    seed: int


def evaluation_set(
    records: Sequence[Pair | Triple],
    *,
    tagger: str = DEFAULT,
    max_tokens: int = 15,
    exemplars: int = 5,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationSet:
    """Rows from pairs (exemplars are mined from the targets of the same split) or triples (exemplars are given).

    Mining is Algorithm 1 as the authors' code has it (targets, lengths within 2 words, ties drawn by seed), except that
    nothing of the reference's own cluster can come up. Blind exemplars are drawn from the other clusters' targets.
    Triples of one source and target make one row.

    Args:
        tagger: a name that `load_tagger` knows.
        max_tokens: words of each sentence that are compared.
        exemplars: the most that are kept for each row.
        seed: the seed of every draw.
    Raises: InputError if there are no records, pairs and triples are mixed, or no row has an exemplar.
    """
    given = sum(isinstance(record, Triple) for record in records)
    if given not in (0, len(records)):
        raise InputError(f"{given} triples among {len(records)} records; expected pairs alone, or triples alone")
    pairs = clusters(Pair(record.source, record.target) for record in records)
    if given:
        likes = [[record.exemplar.text] for record in records if isinstance(record, Triple)]
        chosen = signature(exemplar="given")
    else:
        rules = MiningConfig(keep=exemplars, seed=seed)
        mined = mined_exemplars(pairs, rules, max_tokens, tagger=tagger, progress=progress)
        likes = [[mined.pool[row].text for row in kept if row >= 0] for kept in mined.exemplars.tolist()]
        chosen = signature(
            exemplar="mined",
            pool=rules.pool,
            length_gap=rules.length_gap,
            own_cluster=False,
            tags=tagger_name(tagger),
            seed=seed,
        )
    merged: dict[tuple[str, str, int | None, int], list[str]] = {}
    for number, (pair, like) in enumerate(zip(pairs, likes, strict=True)):
        key = (pair.source.text, pair.target.text, pair.cluster, 0 if given else number)
        merged.setdefault(key, []).extend(like)
    kept = {key: tuple(dict.fromkeys(like))[:exemplars] for key, like in merged.items() if like}
    if not kept:
        why = "no triple has one" if given else why_none(mined.pairs, rules)
        raise InputError(f"none of {len(pairs)} pairs has an exemplar among the targets: {why}")
    blind = _blind([(source, cluster) for source, _, cluster, _ in kept], pairs, seed)
    rows = tuple(
        GenerationRow(source, target, like, drawn, cluster)
        for ((source, target, cluster, _), like), drawn in zip(kept.items(), blind, strict=True)
    )
    chosen += "|" + signature(blind="targets", rows=f"{len(rows)} of {len(merged)}")
    return EvaluationSet(rows, chosen, tagger, max_tokens, seed)


def evaluate_paraphraser(
    model: Paraphraser,
    on: EvaluationSet,
    *,
    name: str = "model",
    rivals: Mapping[str, Paraphraser] | None = None,
    protocols: Sequence[Protocol] = PROTOCOLS,
    bleu_tokenize: str = "none",
    resamples: int = 1000,
    parser: str | None = None,
    judge: JudgesMeaning | None = None,
    judge_name: str = "unnamed",
    **how: Unpack[Decoding],
) -> GenerationReport:
    """Every metric of `evaluate_generation` for a model on pairs or triples.

    Args:
        rivals: further models by name, measured on the same rows and compared with this one.
        protocols, bleu_tokenize, resamples: arguments of `evaluate_generation`.
        parser: a name that `load_parser` knows, for TED-E and TED-R; None: without these.
        judge: a judge of meaning, for *says the same*; None: without it. `judge_name`: how its signature calls it.
        how: arguments of `Paraphraser.decode`; every signature carries them.
    """

    def decode_by(system: Paraphraser) -> Callable[[list[str], list[str]], list[str]]:
        return lambda sources, likes: system.decode(sources, likes, **how)

    content, style = (_vectors(model, name) for name in ("content", "style"))
    report = evaluate_generation(
        decode_by(model),
        on.rows,
        systems={rival: decode_by(system) for rival, system in (rivals or {}).items()},
        tag=load_tagger(on.tagger, device=str(model.device)),
        embed=encoders.load(device=model.device).encode,
        content=content,
        style=style,
        parse=None if parser is None else load_parser(parser, device=str(model.device)),
        same=None if judge is None else lambda pairs: judge.judge(pairs, progress=True).same,
        settings=GenerationSettings(
            protocols,
            name,
            on.max_tokens,
            bleu_tokenize,
            resamples,
            on.seed,
            tagger_name=tagger_name(on.tagger),
            encoder_name="minilm",
            parser_name="none" if parser is None else head_name(parser, parser_digest(parser)),
            judge_name=judge_name,
        ),
    )
    everyone = {name: model, **(rivals or {})}
    decoded = {one: signature(**system.decoding_settings(**how)) for one, system in everyone.items()}
    return _signed(report, decoded, decoded[name], on.signature, precision_of(model.device))


def evaluate_embedder(
    model: Embedder,
    records: Sequence[Pair | Triple],
    *,
    name: str = "model",
    tagger: str = DEFAULT,
    max_tokens: int = 15,
    queries: int = 200,
    seed: int = 0,
) -> StyleReport:
    """CMA by content vectors and retrieval by style vectors; a model whose vectors are of one kind is asked both."""
    pairs = clusters(Pair(record.source, record.target) for record in records)
    report = evaluate_style(
        [pair.source.text for pair in pairs],
        [pair.target.text for pair in pairs],
        [pair.cluster for pair in pairs],
        content=embed_by(model, "content"),
        style=embed_by(model, "style"),
        tag=load_tagger(tagger, device=str(model.device)),
        settings=StyleSettings(name, max_tokens, queries, seed=seed, tagger_name=tagger_name(tagger)),
    )
    device = model.device
    signed = (replace(score, signature=f"{score.signature}|{precision_of(device)}") for score in report.scores)
    return replace(report, scores=tuple(signed))


def _vectors(model: object, name: str) -> Embed | None:
    return embed_by(model, name) if isinstance(model, Embedder) and name in model.vector_names else None


def precision_of(device: torch.device, own: torch.dtype | None = None) -> str:
    """A signature's word on what the encoders multiply: tags and vectors differ a little between processors.

    Args:
        own: what one of them multiplies on every device (`Encoder.dtype`).
    """
    return signature(precision=str(own).removeprefix("torch.") if own else products_on(device))


def tagger_name(tagger: str) -> str:
    """A tagger's name in a signature, with the beginning of its digest: other weights give other tags."""
    return head_name(tagger, tagger_digest(tagger))


def head_name(name: str, digest: str) -> str:
    """The same of a tagger or a parser whose digest is known."""
    return name if digest == name else f"{name}-{digest[:8]}"


def _blind(asked: Sequence[tuple[str, int | None]], pairs: Sequence[Pair], seed: int) -> list[str]:
    sources = [source for source, _ in asked]
    cluster_of = {pair.target.text: pair.cluster for pair in pairs}
    if len(set(cluster_of.values())) < 2:
        raise InputError("targets of a single cluster; expected others, to draw blind exemplars from")
    drawn = blind_exemplars(sources, list(cluster_of), seed=seed)
    again = seed
    while stale := [row for row, like in enumerate(drawn) if cluster_of[like] == asked[row][1]]:
        again += 1  # a draw from the row's own cluster would not be blind
        for row, like in zip(
            stale, blind_exemplars([sources[row] for row in stale], list(cluster_of), seed=again), strict=True
        ):
            drawn[row] = like
    return drawn


def _signed(
    report: GenerationReport, decoded: Mapping[str, str], usual: str, rows: str, precision: str
) -> GenerationReport:
    """The report with further settings in the signature of every metric that an exemplar plays a part in.

    Args:
        decoded: how each system decodes; of others (the floors, and comparisons of two), `usual`.
    """

    def sign(metric: Signed, system: str = "") -> Signed:
        changes: dict[str, Any] = {"signature": f"{metric.signature}|{decoded.get(system, usual)}|{rows}|{precision}"}
        return replace(metric, **changes)

    return replace(
        report,
        scores=tuple(
            sign(score, score.system) if score.protocol else replace(score, signature=f"{score.signature}|{precision}")
            for score in report.scores
        ),
        comparisons=tuple(map(sign, report.comparisons)),
        outputs=tuple(
            replace(outputs, metrics={name: sign(metric, outputs.system) for name, metric in outputs.metrics.items()})
            for outputs in report.outputs
        ),
    )
