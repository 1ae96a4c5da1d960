"""Probes on minilm's vectors of SentEval's sets, against scikit-learn run fold by fold on the same vectors.

    python benchmarks/probes.py [--set CR] [--outer 10] [--repeats 1] [--all] [--cache FOLDER]

Logistic: `LogisticRegression` (lbfgs, its own tolerance) for each of the same outer folds, inner folds and L2 values,
then with all training rows of the outer fold; coordinates standardised once an inner fold. MLP: `MLPClassifier` with
as many hidden units, the same activation, batch, rate, L2 (its alpha is l2 · batch), longest patience and share of rows
held out to stop by, for each outer fold and L2; it stops by the accuracy of each epoch, we by that of every fourth.
Time is that of this process, so that what else the machine does counts less, and both have one thread unless --threads
says otherwise: of several, those that wait count as busy, which on a shared machine made scikit-learn 20 times slower.
Bounds: ten times less time, at the same accuracy within two standard errors of it, and all eight sets in the 600
seconds that two cores have in five minutes.
"""

from __future__ import annotations

import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from _measure import Bound, Spread, arguments_of, middle, report
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from paraform import encoders
from paraform.evaluation.embedding.probe_rows import ProbeConfig
from paraform.evaluation.embedding.probes import cross_validate, stratified_folds
from paraform.evaluation.embedding.space import embedded
from paraform.evaluation.embedding.transfer import TransferSet, transfer_sets
from paraform.threads import settle

T = TypeVar("T")


def features(task: TransferSet, cache: Path | None) -> np.ndarray:
    path = cache / f"{task.name}.features.npy" if cache else None
    if path and path.is_file():
        return np.load(path, allow_pickle=False)
    encoder = encoders.load()
    space = embedded(lambda texts: encoder.encode(list(texts)), task.texts(), name="minilm", signature="")
    vectors = task.features(space)
    if path:
        np.save(path, vectors)
    return vectors


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Seconds of this process, all its threads together."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def peer_logistic(vectors: np.ndarray, labels: np.ndarray, test: np.ndarray, config: ProbeConfig) -> float:
    """Accuracy over the test rows of these outer folds."""
    right = 0
    for test_rows in test:
        train = ~test_rows
        inner = stratified_folds(labels, config.folds, config.seed, train)
        scores = np.zeros(len(config.l2))
        for fold in range(config.folds):
            fitted, measured = train & (inner != fold), inner == fold
            seen = standardised(vectors, fitted)
            for at, l2 in enumerate(config.l2):
                peer = LogisticRegression(C=1 / (l2 * fitted.sum())).fit(seen[fitted], labels[fitted])
                scores[at] += peer.score(seen[measured], labels[measured])
        seen = standardised(vectors, train)
        best = LogisticRegression(C=1 / (config.l2[int(scores.argmax())] * train.sum())).fit(seen[train], labels[train])
        right += (best.predict(seen[test_rows]) == labels[test_rows]).sum()
    return right / test.sum()


def peer_mlp(vectors: np.ndarray, labels: np.ndarray, test: np.ndarray, config: ProbeConfig) -> float:
    right = 0
    for test_rows in test:
        seen = standardised(vectors, ~test_rows)
        tried = [
            MLPClassifier(
                (config.hidden,),
                activation="logistic",
                alpha=l2 * config.batch_size,
                batch_size=min(config.batch_size, int((~test_rows).sum() * 0.9)),
                max_iter=config.max_epochs,
                early_stopping=True,
                validation_fraction=config.held_out,
                n_iter_no_change=(config.tenacity + 1) * config.epoch_size,
                tol=0.0,
                random_state=config.seed,
            ).fit(seen[~test_rows], labels[~test_rows])
            for l2 in config.l2
        ]
        best = max(tried, key=lambda peer: peer.best_validation_score_)
        right += (best.predict(seen[test_rows]) == labels[test_rows]).sum()
    return right / test.sum()


def standardised(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    deviation = vectors[rows].std(0)
    return (vectors - vectors[rows].mean(0)) / np.where(deviation > 0, deviation, 1)


def ours(vectors: np.ndarray, labels: np.ndarray, test: np.ndarray, config: ProbeConfig) -> float:
    found = cross_validate(vectors, labels, test, config).predictions_FN
    return ((found == labels) & test).sum() / test.sum()


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder with SentEval's sets")
    parser.add_argument("--set", default="CR", help="one of those without a split: MR, CR, MPQA, SUBJ")
    parser.add_argument("--outer", type=int, default=10, help="of ten outer folds, those that are run")
    parser.add_argument("--rows", type=int, help="every so many rows of the set alone")
    parser.add_argument("--epochs", type=int, default=200, help="most epochs of the MLP")
    parser.add_argument("--repeats", type=int, default=1, help="times that each is run, in turns")
    parser.add_argument("--all", action="store_true", help="also all eight sets, ours alone")
    parser.add_argument("--cache", type=Path, help="a folder for the sets' vectors")
    arguments = parser.parse_args()
    threads = arguments.threads or 1
    settle(threads)
    threadpool_limits(threads)
    (task,) = transfer_sets(arguments.data, [arguments.set])
    step = slice(None, None, arguments.rows)
    vectors, labels = features(task, arguments.cache)[step], task.labels()[step]
    test = stratified_folds(labels, 10, 1111) == np.arange(arguments.outer)[:, None]
    figures: dict[str, object] = {
        "processor": platform.processor() or platform.machine(),
        "set": f"{task.name}, {len(labels)} rows, {vectors.shape[1]} features",
        "outer folds": arguments.outer,
    }
    bounds: dict[str, Bound] = {}
    spread = 2 * np.sqrt(0.25 / test.sum())
    warnings.simplefilter("ignore", ConvergenceWarning)
    kinds = {
        "logistic": (ProbeConfig(), peer_logistic),
        "mlp": (replace(ProbeConfig.mlp(), max_epochs=arguments.epochs), peer_mlp),
    }
    for kind, (config, peer) in kinds.items():
        mine, theirs = [], []
        for _ in range(arguments.repeats):
            seconds, accuracy = timed(lambda config=config: ours(vectors, labels, test, config))
            mine.append(seconds)
            seconds, peer_accuracy = timed(lambda config=config, peer=peer: peer(vectors, labels, test, config))
            theirs.append(seconds)
        figures |= {
            f"{kind}, seconds of a core": middle(mine),
            f"{kind}, scikit-learn": middle(theirs),
            f"{kind} × scikit-learn": Spread.of(mine, theirs),
            f"{kind}, accuracy": float(accuracy),
            f"{kind}, scikit-learn's accuracy": float(peer_accuracy),
            f"{kind}, difference": float(abs(accuracy - peer_accuracy)),
        }
        bounds |= {f"{kind} × scikit-learn": ("at least", 10.0), f"{kind}, difference": ("at most", float(spread))}
    if arguments.all:
        total = 0.0
        for one in transfer_sets(arguments.data):
            there = features(one, arguments.cache)
            seconds, _ = timed(lambda one=one, there=there: one.predictions(there, ProbeConfig()))
            figures[f"{one.name}, seconds of a core"] = seconds
            total += seconds
        figures["all sets, seconds of a core"] = total
        bounds["all sets, seconds of a core"] = ("at most", 600.0)
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
