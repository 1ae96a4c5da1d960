"""The paired bootstrap agrees with sacreBLEU's own, and knows a system from itself."""

from functools import partial

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from paraform.evaluation.bleu import bleu_statistics, bleu_value
from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError

WORDS = np.array(list("abcdefgh"))


def sentences(rows: int, seed: int) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [list(WORDS[generator.integers(8, size=generator.integers(5, 12))]) for _ in range(rows)]


def spoiled(sentence: list[str], every: int) -> list[str]:
    return [word if at % every else "x" for at, word in enumerate(sentence, 1)]


def metric(outputs: list[list[str]], references: list[list[str]]) -> RowMetric:
    return RowMetric("BLEU", bleu_statistics(outputs, references), "tok:none", partial(bleu_value, tokenize="none"))


@pytest.mark.parametrize("rows", [41, 60])
def test_p_value_is_sacrebleus(rows, monkeypatch):
    """Also when the draws come in blocks: the stream of row numbers must be the same as drawn at once."""
    monkeypatch.setattr("paraform.evaluation.bootstrap.DRAWS", 7 * rows)
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    references = sentences(rows, 0)
    first = [spoiled(words, 5 if row % 3 else 3) for row, words in enumerate(references)]
    second = [spoiled(words, 5 if row % 4 else 2) for row, words in enumerate(references)]
    plain = [[" ".join(words) for words in side] for side in (first, second, references)]
    systems = [("second", plain[1]), ("first", plain[0])]
    test = PairedTest(systems, {"BLEU": BLEU(tokenize="none", force=True)}, [plain[2]], test_type="bs", n_samples=300)
    theirs = test()[1]["BLEU"][1]
    ours = paired_bootstrap(metric(first, references), metric(second, references), resamples=300)
    assert 0.01 < theirs.p_value < 0.99  # else nothing is compared
    assert ours.p_value == pytest.approx(theirs.p_value)


def test_a_system_is_not_better_than_itself():
    references = sentences(30, 1)
    same = metric([spoiled(words, 4) for words in references], references)
    found = paired_bootstrap(same, same, resamples=100)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_clearly_better_system_is_significant_and_seeds_repeat():
    generator = np.random.default_rng(2)
    worse = generator.normal(0, 1, 200)
    better = worse + generator.normal(0.5, 0.5, 200)
    metrics = row_mean("ED-E", better, "s"), row_mean("ED-E", worse, "s")
    found = paired_bootstrap(*metrics, seed=3)
    assert found.p_value < 0.01 and found.low > 0
    assert found.difference == pytest.approx(better.mean() - worse.mean())
    # The spread of a mean's resamples is its standard error: 95 % lie within 1.96 of it.
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * (better - worse).std() / np.sqrt(200), rel=0.1)
    assert paired_bootstrap(*metrics, seed=3) == found != paired_bootstrap(*metrics, seed=4)


def test_only_the_same_metric_of_the_same_rows_compares():
    with pytest.raises(ValueError, match="expected the same figure"):
        paired_bootstrap(row_mean("ED-E", np.ones(2), "max_tokens:15"), row_mean("ED-E", np.ones(2), "max_tokens:all"))
    with pytest.raises(ValueError, match="2 first, 3 second"):
        paired_bootstrap(row_mean("ED-E", np.ones(2), "s"), row_mean("ED-E", np.ones(3), "s"))


@pytest.mark.parametrize(("rows", "resamples"), [(0, 5), (5, 0)])
def test_of_nothing_nothing_is_drawn(rows, resamples):
    some = row_mean("ED-E", np.ones(rows), "s")
    for draw in (bootstrap_interval, lambda metric, **how: paired_bootstrap(metric, metric, **how)):
        with pytest.raises(ValueError, match=f"^{resamples} resamples of {rows} rows; expected at least 1 of each$"):
            draw(some, resamples=resamples)


def test_more_resamples_than_are_any_use_are_refused():
    with pytest.raises(InputError, match=r"^resamples 1000000000; expected 0 to 1,000,000$"):
        bootstrap_interval(row_mean("ED-E", np.ones(5), "s"), resamples=10**9)
