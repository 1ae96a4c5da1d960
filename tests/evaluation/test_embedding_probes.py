"""Shape key: N rows, D features, K fits, C classes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import asdict, replace
from typing import Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from paraform.evaluation.embedding.adam_probes import adam_probes, initial_layers
from paraform.evaluation.embedding.logistic import logistic_optimum
from paraform.evaluation.embedding.probe_rows import ProbeConfig, standardised_rows
from paraform.evaluation.embedding.probes import Folds, _held_out, cross_validate, fit_probes, stratified_folds

HOW: tuple[Literal["consecutive"], Literal["total"]] = ("consecutive", "total")
QUICK = {"max_epochs": 6, "epoch_size": 2}


def clouds(
    classes: int, rows: int = 240, features: int = 6, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Gaussian clouds that overlap, coordinates of different scale, none about 0."""
    generator = np.random.default_rng(seed)
    labels_N = np.arange(rows) % classes
    centres_CD = generator.normal(size=(classes, features))
    vectors_ND = centres_CD[labels_N] + generator.normal(size=(rows, features))
    return (vectors_ND * np.geomspace(0.1, 3, features) + 1).astype(np.float32), labels_N


def folds_of(labels_N: NDArray[np.int64], count: int) -> Folds:
    fold_N = stratified_folds(labels_N, count, 0)
    test_FN = fold_N == np.arange(count)[:, None]
    dev_FN = fold_N == (np.arange(count)[:, None] + 1) % count
    return Folds(~test_FN & ~dev_FN, dev_FN, test_FN)


def standardised(vectors_ND: NDArray[np.float32], train_N: NDArray[np.bool_]) -> NDArray[np.float64]:
    wide_ND = vectors_ND.astype(np.float64)
    result: NDArray[np.float64] = (wide_ND - wide_ND[train_N].mean(0)) / wide_ND[train_N].std(0)
    return result


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("standardise", [True, False])
def test_all_fits_are_scikit_learn_s_optimum(classes: int, standardise: bool) -> None:
    """C = 1 / (l2 · training rows); logits but for what all classes share, to 0.001 of the largest."""
    vectors_ND, labels_N = clouds(classes)
    folds = folds_of(labels_N, 3)
    l2_values = [1e-3, 1e-1]
    train = torch.from_numpy(folds.train_FN)
    rows = standardised_rows(torch.from_numpy(vectors_ND), train, standardise)
    fold_K, l2_K = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor(l2_values * 3)
    found = logistic_optimum(rows, torch.from_numpy(labels_N), train, fold_K, l2_K, classes)
    for fit, (fold, l2) in enumerate(zip(fold_K.tolist(), l2_K.tolist(), strict=True)):
        train_N = folds.train_FN[fold]
        seen_ND = standardised(vectors_ND, train_N) if standardise else vectors_ND.astype(np.float64)
        peer = LogisticRegression(C=1 / (l2 * train_N.sum()), tol=1e-9, max_iter=20_000)
        wanted = peer.fit(seen_ND[train_N], labels_N[train_N]).decision_function(seen_ND)
        logits_NO = (rows.vectors_ND @ found.weights_KOD[fit].T + found.bias_KO[fit]).double().numpy()
        logits = logits_NO[:, 0] if classes == 2 else logits_NO - logits_NO.mean(1, keepdims=True)
        assert np.abs(logits - wanted).max() < 1e-3 * np.abs(wanted).max()


def test_without_eigenvectors_the_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAPACK finds none of TF-IDF's coordinates of few rows, most of which are 0 throughout."""

    def failing(_: torch.Tensor) -> None:
        raise torch.linalg.LinAlgError("failed to converge")

    monkeypatch.setattr(torch.linalg, "eigh", failing)
    test_all_fits_are_scikit_learn_s_optimum(4, standardise=True)


def plain_loop(
    vectors_ND: NDArray[np.float64],
    labels_N: NDArray[np.int64],
    folds: Folds,
    fold: int,
    l2: float,
    config: ProbeConfig,
) -> tuple[list[torch.Tensor], int]:
    """One fold and one L2: the network, optimiser and loop of SentEval's classifier.py in torch's own words."""
    classes, features = int(labels_N.max()) + 1, vectors_ND.shape[1]
    layers: list[torch.nn.Module] = [torch.nn.Linear(features, config.hidden or classes)]
    if config.hidden:
        layers += [torch.nn.Sigmoid(), torch.nn.Linear(config.hidden, classes)]
    model = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for parameter, value in zip(
            model.parameters(), initial_layers(features, classes, config.hidden, config.seed), strict=True
        ):
            parameter.copy_(value)
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate, weight_decay=l2)
    inputs, targets = torch.from_numpy(vectors_ND).float(), torch.from_numpy(labels_N)
    used = np.flatnonzero(folds.train_FN.any(0))
    step = round(config.batch_size / folds.train_FN[:, used].mean())
    generator = torch.Generator().manual_seed(config.seed + 1)
    best, failures, epoch, kept, kept_epoch = -1.0, 0, 0, [], 0
    while epoch <= config.max_epochs:
        for _ in range(config.epoch_size):
            order = used[torch.randperm(len(used), generator=generator).numpy()]
            for start in range(0, len(order), step):
                rows = order[start : start + step]
                batch = rows[folds.train_FN[fold, rows]]
                loss = torch.nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        epoch += config.epoch_size
        dev = folds.dev_FN[fold]
        accuracy = float((model(inputs[dev]).argmax(1) == targets[dev]).float().mean())
        if accuracy > best:
            best, kept, kept_epoch = accuracy, [p.detach().clone() for p in model.parameters()], epoch
            failures = 0 if config.failures == "consecutive" else failures
        elif failures >= config.tenacity:
            break
        else:
            failures += 1
    return kept, kept_epoch


COUNTED = replace(
    ProbeConfig.paper(),
    failures="consecutive",
    tenacity=3,
    epoch_size=1,
    max_epochs=40,
    batch_size=16,
    learning_rate=0.05,
)


@pytest.mark.parametrize(
    "config",
    [
        replace(ProbeConfig.paper(), max_epochs=40, tenacity=1, batch_size=16),
        replace(ProbeConfig.paper(5), max_epochs=40, tenacity=1, batch_size=16),
        replace(ProbeConfig.mlp(5), **QUICK),
        replace(ProbeConfig.paper(), standardise=True, failures="consecutive", tenacity=0, max_epochs=60),
        COUNTED,
    ],
    ids=["logistic", "mlp", "standardised mlp", "standardised", "counted anew"],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_all_fits_side_by_side_are_the_plain_loop_weight_by_weight(config: ProbeConfig, classes: int) -> None:
    vectors_ND, labels_N = clouds(classes, rows=120)
    folds = folds_of(labels_N, 3)
    l2_values = [1e-4, 1e-1]
    train, dev = torch.from_numpy(folds.train_FN), torch.from_numpy(folds.dev_FN)
    rows = standardised_rows(torch.from_numpy(vectors_ND), train, config.standardise)
    fold_K, l2_K = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor(l2_values * 3)
    found = adam_probes(rows, torch.from_numpy(labels_N), train, dev, fold_K, l2_K, classes, config)
    for fit, (fold, l2) in enumerate(zip(fold_K.tolist(), l2_K.tolist(), strict=True)):
        seen_ND = standardised(vectors_ND, folds.train_FN[fold]) if config.standardise else vectors_ND
        wanted, epochs = plain_loop(seen_ND, labels_N, folds, fold, l2, config)
        assert found.epochs_K[fit] == epochs
        for mine, theirs in zip(found.parameters, wanted, strict=True):
            torch.testing.assert_close(mine[fit].detach(), theirs, rtol=1e-3, atol=1e-4)


def test_fits_stop_at_different_times() -> None:
    """Without which the test above would say nothing of the fits that leave the tensor, or count failures anew."""
    vectors_ND, labels_N = clouds(3, rows=120)
    folds = folds_of(labels_N, 3)
    stopped = {how: plain_loop(vectors_ND, labels_N, folds, 0, 1e-4, replace(COUNTED, failures=how))[1] for how in HOW}
    assert stopped["consecutive"] > stopped["total"]
    config = replace(ProbeConfig.paper(), max_epochs=40, tenacity=1, batch_size=16)
    train, dev = torch.from_numpy(folds.train_FN), torch.from_numpy(folds.dev_FN)
    rows = standardised_rows(torch.from_numpy(vectors_ND), train, config.standardise)
    fits = (torch.arange(3), torch.full((3,), 1e-4), 3)
    found = adam_probes(rows, torch.from_numpy(labels_N), train, dev, *fits, config)
    assert len(set(found.epochs_K.tolist())) > 1


PROBES = [ProbeConfig(), replace(ProbeConfig.mlp(8), l2=(1e-4,)), replace(ProbeConfig.paper(), l2=(1e-4,))]


@pytest.mark.parametrize("config", PROBES, ids=["optimum", "mlp", "paper"])
def test_a_label_in_one_coordinate_is_found_and_noise_stays_at_chance(config: ProbeConfig) -> None:
    generator = np.random.default_rng(1)
    labels_N = generator.permutation(600) % 3
    noise_ND = generator.normal(size=(600, 8)).astype(np.float32)
    folds = folds_of(labels_N, 3)
    chance = fit_probes(noise_ND, labels_N, folds, config).test_accuracy_F.mean()
    assert abs(chance - 1 / 3) < 3 * np.sqrt(1 / 3 * 2 / 3 / 600)
    told_ND = np.concatenate([noise_ND, np.eye(3, dtype=np.float32)[labels_N] * 4], axis=1)
    assert fit_probes(told_ND, labels_N, folds, config).test_accuracy_F.min() > 0.97


@pytest.mark.parametrize("config", PROBES[:2], ids=["optimum", "mlp"])
@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_standardised_vectors_may_be_of_any_length(config: ProbeConfig, factor: float) -> None:
    vectors_ND, labels_N = clouds(3)
    folds = folds_of(labels_N, 3)
    plain, scaled = (fit_probes(v, labels_N, folds, config) for v in (vectors_ND, vectors_ND * np.float32(factor)))
    assert (plain.predictions_FN != scaled.predictions_FN).mean() < 0.005
    assert np.abs(plain.test_accuracy_F - scaled.test_accuracy_F).max() < 0.02


def test_what_is_left_of_a_coordinate_is_found_however_small() -> None:
    """Shrinking is no forgetting, even where the square of a coordinate is nothing in float32."""
    labels_N = np.arange(90) % 2
    vectors_ND = np.stack([labels_N * 1e-30, np.ones(90)], axis=1).astype(np.float32)
    assert fit_probes(vectors_ND, labels_N, folds_of(labels_N, 3), ProbeConfig()).test_accuracy_F.min() == 1


def test_a_coordinate_that_is_constant_in_training_says_nothing() -> None:
    """In the rows that no probe is trained on it may be anything."""
    vectors_ND, labels_N = clouds(2, rows=90)
    folds = Folds.split(["train"] * 50 + ["dev"] * 20 + ["test"] * 20)
    more_ND = np.concatenate([vectors_ND, np.full((90, 1), 0.1, np.float32)], axis=1)
    more_ND[50:, -1] = 1e9
    with_it, without = (fit_probes(v, labels_N, folds, ProbeConfig()).predictions_FN for v in (more_ND, vectors_ND))
    assert (with_it == without).all()


@pytest.mark.parametrize("config", PROBES, ids=["optimum", "mlp", "paper"])
def test_vectors_that_are_all_the_same_are_at_chance(config: ProbeConfig) -> None:
    labels_N = np.arange(90) % 2
    found = fit_probes(np.ones((90, 4), np.float32), labels_N, folds_of(labels_N, 3), config)
    assert found.test_accuracy_F == pytest.approx([0.5] * 3)


def test_the_same_weights_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits beyond the bound on memory wait, and rows come in blocks: neither changes a prediction."""
    vectors_ND, labels_N = clouds(3)
    folds = folds_of(labels_N, 3)
    configs = (ProbeConfig(), replace(ProbeConfig.mlp(4), **QUICK))
    whole = [fit_probes(vectors_ND, labels_N, folds, config) for config in configs]
    monkeypatch.setattr("paraform.evaluation.embedding.probes.MOST_WEIGHTS", 50)
    monkeypatch.setattr("paraform.evaluation.embedding.probe_rows.BLOCK", 300)
    for config, before in zip(configs, whole, strict=True):
        after = fit_probes(vectors_ND, labels_N, folds, config)
        assert (after.predictions_FN == before.predictions_FN).mean() > 0.995
        assert after.l2_F.tolist() == before.l2_F.tolist()


def test_nested_folds_choose_as_a_loop_over_scikit_learn_would() -> None:
    """The L2 by the mean over inner folds, then all training rows: here by three loops."""
    vectors_ND, labels_N = clouds(2, rows=150)
    config = ProbeConfig(folds=3, l2=(1e-4, 1e-2, 1.0))
    fold_N = stratified_folds(labels_N, 3, config.seed)
    found = cross_validate(vectors_ND, labels_N, fold_N == np.arange(3)[:, None], config)
    for fold in range(3):
        train_N = fold_N != fold
        inner_N = stratified_folds(labels_N, 3, config.seed, train_N)
        means = [
            np.mean([_peer(vectors_ND, labels_N, train_N & (inner_N != at), inner_N == at, l2)[0] for at in range(3)])
            for l2 in config.l2
        ]
        best = config.l2[int(np.argmax(np.round(means, 4)))]
        accuracy, predicted = _peer(vectors_ND, labels_N, train_N, ~train_N, best)
        assert found.l2_F[fold] == best
        assert found.test_accuracy_F[fold] == pytest.approx(accuracy)
        assert found.predictions_FN[fold].tolist() == predicted.tolist()


def _peer(
    vectors_ND: NDArray[np.float32],
    labels_N: NDArray[np.int64],
    train_N: NDArray[np.bool_],
    measured_N: NDArray[np.bool_],
    l2: float,
) -> tuple[float, NDArray[np.int64]]:
    seen_ND = standardised(vectors_ND, train_N)
    peer = LogisticRegression(C=1 / (l2 * train_N.sum()), tol=1e-8, max_iter=1000).fit(
        seen_ND[train_N], labels_N[train_N]
    )
    return peer.score(seen_ND[measured_N], labels_N[measured_N]), peer.predict(seen_ND)


def test_a_held_out_share_has_its_part_of_each_label_and_no_row_that_is_measured() -> None:
    """Only the held-out rows choose the L2: the same as `fit_probes` on these folds."""
    vectors_ND, labels_N = clouds(2, rows=200)
    test_FN = stratified_folds(labels_N, 4, 0) == np.arange(4)[:, None]
    config = ProbeConfig(selection="held-out", held_out=0.1)
    found = cross_validate(vectors_ND, labels_N, test_FN, config)
    folds = _held_out(~test_FN, test_FN, labels_N, config)
    for dev_N, test_N in zip(folds.dev_FN, test_FN, strict=True):
        assert np.abs(np.bincount(labels_N[dev_N]) - 7.5).max() <= 1 and not (dev_N & test_N).any()
    assert (fit_probes(vectors_ND, labels_N, folds, config).predictions_FN == found.predictions_FN).all()
    assert _held_out(np.ones((1, 2), bool), np.zeros((1, 2), bool), np.arange(2), config).dev_FN.sum() == 1


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.5])
def test_the_share_that_is_held_out_is_the_one_that_was_asked_for(share: float) -> None:
    """Of each label's training rows: 200 of one, 100 of the other; no row outside them."""
    labels_N = np.repeat([0, 1], [240, 120])
    test_FN = (np.arange(360) % 6 == 0)[None]
    folds = _held_out(~test_FN, test_FN, labels_N, ProbeConfig(selection="held-out", held_out=share))
    assert np.abs(np.bincount(labels_N[folds.dev_FN[0]]) - share * np.array([200, 100])).max() <= 1
    assert (folds.train_FN | folds.dev_FN == ~test_FN).all() and not (folds.train_FN & folds.dev_FN).any()


def test_folds_are_as_even_as_scikit_learn_s() -> None:
    labels_N = np.repeat([0, 1, 2], [31, 17, 25])
    mine = stratified_folds(labels_N, 5, 3)
    sizes = {tuple(np.bincount(labels_N[mine == fold], minlength=3).tolist()) for fold in range(5)}
    peer = StratifiedKFold(5).split(labels_N, labels_N)
    theirs = {tuple(np.bincount(labels_N[test], minlength=3).tolist()) for _, test in peer}
    assert {max(sums) - min(sums) for sums in zip(*sizes, strict=True)} <= {0, 1}
    assert {max(sums) - min(sums) for sums in zip(*theirs, strict=True)} <= {0, 1}
    assert max(np.bincount(mine)) - min(np.bincount(mine)) <= 1


def test_paper_and_the_default_differ_in_these_fields_alone() -> None:
    def differences(one: ProbeConfig, other: ProbeConfig) -> set[str]:
        return {name for name, value in asdict(one).items() if asdict(other)[name] != value}

    assert differences(ProbeConfig.paper(), ProbeConfig()) == {"optimiser", "standardise", "l2", "held_out", "failures"}
    assert differences(ProbeConfig.paper(50), ProbeConfig.mlp()) == {
        "standardise",
        "l2",
        "selection",
        "held_out",
        "failures",
    }


def test_every_setting_of_a_metric_stands_in_its_signature() -> None:
    changed = {"batch_size": 8, "tenacity": 1, "learning_rate": 0.1, "seed": 2}
    for name, value in changed.items():
        assert replace(ProbeConfig.mlp(), **{name: value}).signature != ProbeConfig.mlp().signature


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vectors": np.full((60, 4), np.nan, np.float32)}, "row 1 holds NaN"),
        ({"labels": np.zeros(60)}, "all 60 labels are 0.0; expected two classes"),
        ({"labels": np.arange(61) % 2}, "61 labels"),
        ({"config": ProbeConfig.mlp()}, "without dev rows"),
    ],
)
def test_what_no_probe_can_be_trained_on(change: dict[str, object], said: str) -> None:
    given = {"vectors": np.zeros((60, 4), np.float32), "labels": np.arange(60) % 2, "config": ProbeConfig()} | change
    folds = Folds.split(["train"] * 30 + ["test"] * 30)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=said):
        fit_probes(given["vectors"], given["labels"], folds, given["config"])  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"hidden": 5}, "expected 0, or adam"),
        ({"l2": ()}, "numbers above 0"),
        ({"l2": (0.0,)}, "numbers above 0"),
        ({"folds": 1}, "folds is 1; expected at least 2"),
        ({"held_out": 1.0}, "expected a share below 1"),
    ],
)
def test_settings_that_make_no_probe(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ProbeConfig(**fields)  # type: ignore[arg-type]  # wrong on purpose


def test_masks_that_are_no_folds() -> None:
    with pytest.raises(ValueError, match="'valid'; expected train, dev or test"):
        Folds.split(["train", "valid"])
    with pytest.raises(ValueError, match="stands in two parts"):
        Folds(np.ones((1, 2), bool), np.ones((1, 2), bool), np.zeros((1, 2), bool))
    with pytest.raises(ValueError, match="no training row"):
        Folds.split(["dev", "test"])


def test_a_label_with_fewer_rows_than_folds() -> None:
    with pytest.raises(ValueError, match="label of this row has 1 of 20 rows; expected one a fold, 10"):
        stratified_folds(np.array([0] * 19 + [1]), 10, 0)


def test_a_step_of_adam_does_not_import_torchs_compiler() -> None:
    """It takes seconds, once a process; an optimiser of `torch.optim` does."""
    program = """
import sys, torch
from paraform.evaluation.embedding.adam_probes import Adam
weight = torch.zeros(2, requires_grad=True)
Adam([weight], 0.1).step([torch.ones(2)])
assert torch.allclose(weight, torch.tensor(-0.1)) and "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
