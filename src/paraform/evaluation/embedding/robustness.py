"""Is a paraphrase told from other pairs whatever its form: easy and hard halves of labelled pairs (ParaBART, 4.4).

Easy are paraphrases with the same top-level constituents, hard those with different ones; both stand beside the same
pairs that are none. PAWS, whose pairs have the same words in another order, punishes what Hard may reward: forgetting
the form altogether.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from paraform.corpora.labelled_pairs import read_labelled_pairs, require_both_labels
from paraform.corpora.locating import folder_name, highest
from paraform.evaluation.embedding.detection import METRICS as DETECTION
from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.retrieval import METRICS as RETRIEVAL
from paraform.evaluation.embedding.retrieval import RetrievalSet, cluster_of, clustered, retrieval_set
from paraform.evaluation.embedding.space import PairSpace, tf_idf
from paraform.evaluation.embedding.task import Choices, Family, Headline
from paraform.evaluation.on_pairs import head_name
from paraform.records import InputError, Pair, Sentence, counted, texts_of
from paraform.score import Score, signature, table
from paraform.syntax.annotation import annotate
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, top_constituents
from paraform.weights import PathLike

Tops: TypeAlias = Callable[[Sequence[str]], list[tuple[str, ...]]]
"""Texts to the labels of their top-level constituents."""

FILES = (  # a set's name, how the folder of its files is called if they have common names, train or dev, and test
    ("PAN", "", "pan-train.labels", "pan-test.labels"),
    ("MRPC", "", "msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
    ("Quora", "quora", "dev.tsv", "test.tsv"),
    ("PAWS", "paws", "dev.tsv", "test.tsv"),
    ("PAWS", "paws", "", "dev.tsv"),
)
KNOWN = ", ".join(f"{folder}/{test}" if folder else test for _, folder, _, test in FILES)
PARSED = 512  # pairs parsed at once, while paraphrases of one kind or the other are still wanted
SEARCHED = 512  # sentences whose neighbours are searched at once


class Halves(NamedTuple):
    """Paraphrases with the same top-level constituents, and with different ones."""

    easy: list[Pair]
    hard: list[Pair]


def robustness_sets(
    path: PathLike, draw: Choices | None = None, *, columns: Sequence[str] | None = None, tuning: PathLike | None = None
) -> list[PairSet | RetrievalSet]:
    """The sets of a labelled file, or of PAN, MRPC, Quora and PAWS below a folder: whole, easy, hard, and retrieval.

    As many paraphrases as other pairs are drawn, at most `draw.size`; easy and hard have the same others, and are of
    one size, so that chance is 50 throughout. Of a file without labels all pairs are paraphrases, and the others are
    mined. The threshold is tuned on the train or dev part beside a test file, which must be there; of PAWS's dev part
    alone, and of a file that is named itself, on one half of the pairs, and measured on the other.

    Args:
        draw: size, parser, seed and progress; None: `Choices()`.
        columns: those of a table, as `read_labelled_pairs` takes them.
        tuning: for a file: another one, to tune the threshold on.
    Raises: InputError if there is none, or a file cannot be used.
    """
    draw = draw or Choices()
    if not Path(path).is_dir():
        if tuning and os.path.realpath(tuning) == os.path.realpath(path):
            raise InputError(f"{tuning}: to tune the threshold on what it is measured on; expected other pairs")
        return _sets(set_name(Path(path)), Path(path), Path(tuning) if tuning else None, draw, columns)
    if columns or tuning:
        raise InputError(f"{path}: a folder; expected a file, if columns or pairs to tune on are named")
    sets: list[PairSet | RetrievalSet] = []
    done, lost = set(), {}
    for name, folder, others, test in FILES:
        if name in done or not (found := highest(path, test, folder)):
            continue
        if others and not found.with_name(others).is_file():
            lost[name] = f"{found.with_name(others)}: no such file; expected it beside {test}, for the threshold"
            continue
        sets += _sets(name, found, found.with_name(others) if others else None, draw, columns)
        done.add(name)
    without = [message for name, message in lost.items() if name not in done]
    if without and not sets:
        raise InputError(f"{'; '.join(without)}; or name the file of the test pairs itself")
    for message in without:
        logging.getLogger("paraform").warning("%s; this set is left out", message)
    if not sets:
        raise InputError(f"{path}: no labelled pairs; expected one of {KNOWN} in it, or a file")
    return sets


def halves(pairs: Sequence[Pair], tops: Tops, size: int) -> Halves:
    """The first `size` pairs of each half, or all there are; no more is parsed than that takes."""
    found = Halves([], [])
    for start in range(0, len(pairs), PARSED):
        part = pairs[start : start + PARSED]
        labels = tops(texts_of(part))
        for pair, left, right in zip(part, labels[::2], labels[1::2], strict=True):
            (found.easy if left == right else found.hard).append(pair)
        if min(map(len, found)) >= size:
            break
    return Halves(found.easy[:size], found.hard[:size])


def tops_by(parser: str, *, progress: bool = False) -> Tops:
    """Top-level constituents by a parser's trees, which are kept on disk; each different text is parsed once."""
    known: dict[str, tuple[str, ...]] = {}

    def tops(texts: Sequence[str]) -> list[tuple[str, ...]]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for sentence in annotate(new, parser=parser, progress=progress):
            known[sentence.text] = top_constituents(Tree.parse(sentence.tree)) if sentence.tree else ()
        return [known[text] for text in texts]

    return tops


def mined_others(pairs: Sequence[Pair], size: int, seed: int) -> list[Pair]:
    """Pairs that are no paraphrases as far as is known: drawn sentences, each with its nearest of another cluster.

    "Nearest" is TF-IDF's cosine over all sentences here, whatever is measured afterwards, so that the pairs are the
    same for all. They are hard for TF-IDF above all, and some are paraphrases that no one has labelled;
    texts that differ in case, spaces and punctuation alone are of one cluster (`clustered`).

    Raises: InputError if the pairs are of one cluster.
    """
    known = {side.text: cluster_of(pair) for pair in clustered(pairs) for side in (pair.source, pair.target)}
    texts, clusters_P = list(known), np.array(list(known.values()))
    if len(set(clusters_P)) < 2:
        place = next((f"{pair.origin}: " for pair in pairs if pair.origin), "")
        came = f"{place}{counted(len(pairs), 'pair')} of paraphrases, all of one cluster"
        raise InputError(f"{came}; expected two clusters or more, to mine others")
    space = tf_idf(texts)
    drawn = np.random.default_rng(seed).permutation(len(texts))
    mined: dict[frozenset[str], Pair] = {}
    for start in range(0, len(drawn), SEARCHED):
        rows = drawn[start : start + SEARCHED]
        near_QP = space.block([texts[row] for row in rows], texts)
        near_QP[clusters_P[rows][:, None] == clusters_P] = -1
        for row, at in zip(rows, near_QP.argmax(axis=1), strict=True):
            pair = Pair(Sentence(texts[row]), Sentence(texts[at]), label=0)
            mined.setdefault(frozenset((texts[row], texts[at])), pair)  # two may be each other's nearest
        if len(mined) >= size:
            break
    return list(mined.values())[:size]


def robustness_table(
    sets: Sequence[PairSet | RetrievalSet], spaces: Sequence[PairSpace], scores: Sequence[Score]
) -> str:
    """A table of paraphrase detection and one of retrieval, and below them what each set and space is."""
    parts = []
    for metrics in (DETECTION, RETRIEVAL):
        # The settings of sets and spaces are told once, below.
        shown = [replace(score, signature=metrics[score.name]) for score in scores if score.name in metrics]
        parts.append(table(shown))
    about = [f"{one.name}: {one.settings}" for one in sets] + [f"{space.name}: {space.signature}" for space in spaces]
    return "\n\n".join([*parts, "\n".join(about)])


def _sets(
    name: str, test: Path, tuning: Path | None, draw: Choices, columns: Sequence[str] | None
) -> list[PairSet | RetrievalSet]:
    generator = np.random.default_rng(draw.seed)
    pairs, origin = _labelled(test, draw, columns)
    retrieval = retrieval_set(f"{name} retrieval", [pair for pair in pairs if pair.label == 1])
    drawn = [[pairs[row] for row in generator.permutation(len(pairs)) if pairs[row].label == label] for label in (1, 0)]
    if tuning is None:
        if min(map(len, drawn)) < 2:
            raise InputError(
                f"{test}: one pair of a label; expected at least two of each, as one half sets the threshold"
            )
        (paraphrases, for_tuning), (others, other_tuning) = ((part[::2], part[1::2]) for part in drawn)
        tuned_on = "the other half"
    else:
        paraphrases, others = drawn
        rest, _ = _labelled(tuning, draw, columns)
        rest = [rest[row] for row in generator.permutation(len(rest))]
        for_tuning, other_tuning = ([pair for pair in rest if pair.label == label] for label in (1, 0))
        tuned_on = tuning.name

    most = min(draw.size, len(for_tuning), len(other_tuning))
    held_out = [*for_tuning[:most], *other_tuning[:most]]

    def pair_set(named: str, chosen: Sequence[Pair], count: int, **more: str) -> PairSet:
        drawn_of = signature(paraphrases=count, others=f"{count} {origin}", **more, seed=draw.seed)
        settings = f"{drawn_of}|{signature(tuned_on=tuned_on, tuning=len(held_out))}"
        return PairSet(named, [*chosen[:count], *others[:count]], held_out, settings)

    made: list[PairSet | RetrievalSet] = [pair_set(name, paraphrases, min(draw.size, len(paraphrases), len(others)))]
    parted = halves(paraphrases, tops_by(draw.parser, progress=draw.progress), min(draw.size, len(others)))
    count = min(len(others), *map(len, parted))
    if count:
        parser = head_name(draw.parser, parser_digest(draw.parser))
        for half, chosen in zip(("Easy", "Hard"), parted, strict=True):
            made.append(pair_set(f"{name}-{half}", chosen, count, trees=parser))
    else:
        warning = "%s: of the paraphrases %d have the same top-level constituents, %d others; no halves of such a file"
        logging.getLogger("paraform").warning(warning, test, *map(len, parted))
    return [*made, retrieval]


def _labelled(path: Path, draw: Choices, columns: Sequence[str] | None) -> tuple[list[Pair], str]:
    """The pairs of a file with labels, and where those labelled 0 come from."""
    pairs = list(read_labelled_pairs(path, columns))
    if any(pair.label is None for pair in pairs):
        others = mined_others(pairs, 2 * draw.size, draw.seed)  # one half may be for tuning
        return [*(replace(pair, label=1) for pair in pairs), *others], "mined by TF-IDF"
    require_both_labels(pairs, path)
    return pairs, "labelled"


def set_name(path: Path) -> str:
    """What the file's set is called: as `FILES` does, else by the file's name."""
    for name, folder, _, test in FILES:
        if path.name == test and folder in folder_name(path):
            return name
    return path.stem


def _counts(score: Score) -> str:
    """Hard halves count for form forgotten, PAWS for the order of words kept."""
    if score.name != "accuracy":
        return ""
    return "hard" if score.subset.endswith("-Hard") else "paws" if score.subset == "PAWS" else ""


_family = partial(
    Family,
    expected="pan-test.labels, msr_paraphrase_test.txt, quora/test.tsv or paws/dev.tsv",
    find=lambda folder: folder if any(highest(folder, test, parent) for _, parent, _, test in FILES) else None,
    read=robustness_sets,
    command="evaluate robustness",
    options=lambda tasks, choices: choices.typed("size", "parser", "seed"),
)
FAMILIES = (
    _family(
        name="robustness",
        title="Robustness",
        about="Paraphrases told from other pairs, in percent: of all forms, of the same form (Easy), of another (Hard);"
        " PAWS has the same words in another order. Accuracy is by a threshold tuned on other pairs.",
        headlines=(Headline("accuracy"), Headline("AP")),
        kind=PairSet,
        counts=_counts,
    ),
    _family(
        name="retrieval",
        title="Retrieval",
        about="A sentence's paraphrase among all sentences, in percent.",
        headlines=(Headline("R@1"), Headline("MRR")),
        kind=RetrievalSet,
    ),
)
