"""Relatedness by a tree-LSTM over the frozen vectors of words, as PAR learns SICK-R (Tai, Socher and Manning 2015).

Shape key: N words of all texts, D features of a word, G grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform.evaluation.embedding.correlation import ALL, correlations
from paraform.evaluation.embedding.distances import WordSystem
from paraform.evaluation.embedding.regression import GRADES, pearson, require_on_scale, two_points
from paraform.evaluation.embedding.similarity import Splits
from paraform.evaluation.embedding.task import Finding, signed_finding
from paraform.records import InputError, Pair, texts_of
from paraform.score import signature
from paraform.syntax.trees import Parser, Tree
from paraform.words import tokenize
from paraform_papers.par.tree_lstm import Forest, TreeRelatedness


@dataclass(frozen=True)
class TreeConfig:
    """How it is trained; the defaults are the paper's (section 5.3), but for the epochs, which it does not say.

    Args:
        width: of a state.
        hidden: of the comparison.
        learning_rate: Adagrad's.
        l2: weight of the squared weights.
        batch_size: pairs a step.
        max_epochs: at most; after each the dev pairs are looked at.
        tenacity: training stops after that many looks without a higher Pearson.
        seed: of weights and order.
    """

    width: int = 150
    hidden: int = 50
    learning_rate: float = 0.05
    l2: float = 1e-4
    batch_size: int = 25
    max_epochs: int = 15
    tenacity: int = 3
    seed: int = 0

    @property
    def signature(self) -> str:
        """All settings that change a metric."""
        return signature(regression="softmax-5", features="child-sum tree-LSTM", **vars(self))


@final
@dataclass(frozen=True, eq=False)
class ParsedTexts:
    """Texts as trees, and the frozen vectors of their words.

    Args:
        row: of each text its number.
        vectors_ND, offsets: text i has the words offsets[i] to offsets[i + 1].
    """

    row: dict[str, int]
    trees: Sequence[Tree]
    vectors_ND: Tensor
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str], system: WordSystem, parser: Parser) -> ParsedTexts:
        """Each different text once, in the Penn Treebank's words.

        Raises: InputError for a text without words, or of more words than the encoder reads.
        """
        different = list(dict.fromkeys(texts))
        words = [tokenize(text) for text in different]
        for text, some, most in zip(different, words, system.fitting(words), strict=True):
            if not some or most < len(some):
                came = f"{len(some)} words, of which {system.name} reads {most}"
                raise InputError(f"{text[:60]!r}: {came}; expected a sentence that is read whole")
        trees = [tree for tree in parser(words) if tree is not None]
        found = system.words(words)
        row = {text: number for number, text in enumerate(different)}
        return cls(row, trees, found.states_NLD.flatten(1).float().cpu(), found.offsets)

    def batch(self, pairs: Sequence[Pair]) -> tuple[Tensor, Forest]:
        """Words' vectors and trees, of all left sentences and then of all right ones."""
        sides = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
        rows = [self.row[text] for side in sides for text in side]
        words = np.concatenate([np.arange(self.offsets[row], self.offsets[row + 1]) for row in rows])
        return self.vectors_ND[torch.from_numpy(words)], Forest.of([self.trees[row] for row in rows])


def tree_relatedness(
    name: str,
    parts: Splits,
    lowest: float,
    highest: float,
    system: WordSystem,
    parser: Parser,
    *,
    parsed_by: str,
    config: TreeConfig | None = None,
) -> list[Finding]:
    """Pearson and Spearman × 100 of the test pairs' scores.

    Args:
        name: the set's.
        lowest, highest: the ends of its scale.
        parsed_by: the parser and its digest, for the signature.
        config: None: the paper's.
    Raises: InputError as `ParsedTexts.of`, and for a score outside the scale.
    """
    config = config or TreeConfig()
    require_on_scale(name, parts, lowest, highest)
    texts = texts_of(pair for part in parts for pair in part)
    parsed = ParsedTexts.of(texts, system, parser)
    gold_N = np.array([pair.score for pair in parts[2]], dtype=np.float64)
    found_N = fit_trees(parts, parsed, lowest, highest, config)
    metrics = correlations([found_N], [gold_N], f"{config.signature}|{signature(parser=parsed_by)}")
    return [signed_finding(metrics[kind, ALL], system, name, "tree-LSTM") for kind in ("Pearson", "Spearman")]


def fit_trees(
    parts: Splits, parsed: ParsedTexts, lowest: float, highest: float, config: TreeConfig
) -> NDArray[np.float64]:
    """What the tree-LSTM says of the test pairs, Σ r p_r, r = 1 … 5; its weights are those of the best dev Pearson."""
    train, dev, test = parts
    scores_N = np.array([pair.score for pair in train], dtype=np.float64)
    targets_NG = torch.from_numpy(two_points(1 + (GRADES - 1) * (scores_N - lowest) / (highest - lowest)))
    gold_N = np.array([pair.score for pair in dev], dtype=np.float64)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(config.seed)
        model = TreeRelatedness(parsed.vectors_ND.shape[1], config.width, config.hidden, GRADES)
        optimiser = torch.optim.Adagrad(model.parameters(), lr=config.learning_rate, weight_decay=config.l2)
        best, stale, found_N = -math.inf, 0, np.zeros(len(test))
        for _ in range(config.max_epochs):
            for rows_B in torch.split(torch.randperm(len(train)), config.batch_size):
                log_p_BG = model(*parsed.batch([train[row] for row in rows_B.tolist()]))
                optimiser.zero_grad()
                # KL but for the entropy of the targets, which has no gradient
                loss = -(targets_NG[rows_B] * log_p_BG).sum(1).mean()
                loss.backward()
                optimiser.step()
            found = pearson(expected(model, parsed, dev, config.batch_size), gold_N)
            stale = 0 if found > best else stale + 1
            if found > best:
                best, found_N = found, expected(model, parsed, test, config.batch_size)
            if stale >= config.tenacity:
                break
    return found_N


@torch.no_grad()
def expected(
    model: TreeRelatedness, parsed: ParsedTexts, pairs: Sequence[Pair], batch_size: int
) -> NDArray[np.float64]:
    """Σ r p_r of each pair."""
    grades_G = torch.arange(1.0, GRADES + 1)
    parts = [pairs[at : at + batch_size] for at in range(0, len(pairs), batch_size)]
    means = torch.cat([model(*parsed.batch(some)).exp() @ grades_G for some in parts])
    found: NDArray[np.float64] = means.double().numpy()
    return found
