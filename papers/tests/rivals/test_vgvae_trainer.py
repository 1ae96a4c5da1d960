"""VGVAE and CGEN from Python and by the command line: pairs and a folder are enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from generation import bleu_of
from stopped import goes_on_to_the_same_weights

import paraform
from paraform import checkpoint
from paraform.evaluation.bleu import bleu
from paraform.records import InputError, Pair, Sentence
from paraform.training import TrainingConfig
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rivals.vgvae import trainer as vgvae
from paraform_papers.rivals.vgvae.trainer import BY_BLEU, exemplars_of, train_vgvae

WIDTHS: dict[str, int] = {
    "word_width": 12, "semantic_width": 8, "syntax_width": 6, "hidden_width": 12, "encoder_width": 8,
    "decoder_width": 16,
}  # fmt: skip
SMALL: dict[str, Any] = {**WIDTHS, "min_count": 1, "max_tokens": 12, "batch_size": 16, "epochs": 2}
SMALL |= {"word_vectors": "random"}
LOOP = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100, log_every=1)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:64]))


@pytest.mark.parametrize("form", ["lstm", "averages"])
def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    form: Any, pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: None
) -> None:
    """Stopped in the second epoch, where the averages have negatives; noise of words and samples is drawn as before."""
    monkeypatch.setattr("paraform_papers.rivals.vgvae.batches.MEGABATCH", 2)
    config = VgvaeConfig.compact(form, **{**SMALL, "discriminative_start": 2})

    def train(name: str, *, resume: bool = False) -> Any:
        return train_vgvae(
            pairs, tmp_path / name, validation=pairs[:9], config=config, loop=LOOP, validation_rows=3, resume=resume
        )

    whole = goes_on_to_the_same_weights(train, vgvae, tmp_path, at=lambda steps: steps - 2)
    assert whole.step == (8 if form == "lstm" else 6)  # the second epoch of the averages has two mega-batches


def test_validation_by_a_loop(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    """Nats a word of either side by the other's meaning; ranks by directions; BLEU in the form of mined exemplars."""
    config = VgvaeConfig.compact(**{**SMALL, "epochs": 1})
    held = pairs[:9]
    found = train_vgvae(pairs, tmp_path / "run", validation=held, config=config, loop=LOOP, validation_rows=4)
    scores = [record["validation"] for record in found.history if "validation" in record][-1]
    model = checkpoint.load(tmp_path / "run" / "last", device="cpu")
    sides = [[pair.source.text for pair in held], [pair.target.text for pair in held]]
    nats = []
    for own, other in (sides, sides[::-1]):
        posterior, meaning = model.proposal(model.encode(own)), model.proposal(model.encode(other))
        latent = np.concatenate([meaning.semantic.direction_BM.numpy(), posterior.syntax.mean_BZ.detach().numpy()], 1)
        likelihood = model.log_likelihood(own, torch.from_numpy(latent)[None])[0].numpy()
        nats += (-likelihood / np.array(model.lengths(own))).tolist()
    assert scores["nll"] == pytest.approx(np.mean(nats), rel=1e-4)
    cosines, clusters = model.embed(sides[0]) @ model.embed(sides[1]).T, [pair.cluster for pair in held]
    ranks = [
        1 + sum(cosines[row, n] >= cosines[row, row] for n in range(9) if clusters[n] != clusters[row])
        for row in range(9)
    ]
    assert scores["mrr"] == pytest.approx(np.mean(1 / np.array(ranks)))
    likes = [*exemplars_of(held, config, tagger="syntax", seed=2).items()][:4]
    said = model.decode([pair.source.text for pair, _ in likes], [like for _, like in likes])
    assert all(like not in (pair.source.text, pair.target.text) for pair, like in likes)
    assert scores["bleu"] == pytest.approx(bleu(said, [pair.target.text for pair, _ in likes]).value)


def test_the_command_trains_writes_and_measures(
    question_pairs: Path, tmp_path: Path, command: Callable[..., Any], own_cache: None
) -> None:
    """Paraphrases, vectors of both kinds, a latent space and its figures: each by the command of every other system."""
    run = tmp_path / "run"
    given = [word for name, value in SMALL.items() for word in (f"--config.{name}", value)]
    train = ["train", "vgvae", "--data", question_pairs, "--out", run, "--device", "cpu", *given]
    done = command(*train, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["metric"] == "bleu"
    assert "validation" in (run / "best" / "README.md").read_text(encoding="utf-8").lower()
    again = command(*train, "--resume")
    assert again.status == 0 and "the run was over" in again.err
    common = ["--model", run, "--device", "cpu"]
    said = command("paraphrase", "how do i learn chess ?", "--like", "is it hard to learn ?", *common, "--json")
    assert json.loads(said.out)["paraphrases"][0]["exemplar"] == "is it hard to learn ?"
    for wrong, message in (
        (["paraphrase", "how do i learn chess ?", *common], "a VGVAE model needs a form"),
        (["paraphrase", "a b ?", "--template", "(S (NP) (VP))", *common], "expects a model that writes by trees"),
        (["export", run, "--out", tmp_path / "it"], "a VGVAE model; expected a model that is exported"),
    ):
        refused = command(*wrong)
        assert refused.status == 2 and message in refused.err and len(refused.err.splitlines()) == 1, refused.err
    (tmp_path / "texts.txt").write_text("how do i learn chess ?\nis it hard ?\n")
    for kind, width in (("content", 8), ("style", 6)):
        out = tmp_path / f"{kind}.npy"
        embedded = command("embed", tmp_path / "texts.txt", "--out", out, "--vectors", kind, *common)
        assert embedded.status == 0, embedded.err
        assert np.load(out).shape == (2, width)
    score = bleu_of(run, question_pairs, tmp_path / "test.tsv", command)
    assert "decode:beam 2" in score["signature"] and "constrain_repetition:yes" in score["signature"]
    latent = command(
        "evaluate", "latent", "--data", tmp_path / "texts.txt", "--samples", 8, "--no-refit", "--json", *common
    )
    assert latent.status == 0, latent.err
    found = {(s["protocol"], s["name"]): s for s in json.loads(latent.out)["scores"]}
    assert found["honest", "KL"]["value"] > 0 and "kl:closed" in found["honest", "KL"]["signature"]
    style = command("evaluate", "style", "--data", tmp_path / "test.tsv", "--json", *common)
    assert style.status == 0 and "vectors:style" in style.out, style.err
    assert command("sample", "--num", 2, *common).status == 0


def test_averages_by_the_command(
    question_pairs: Path, tmp_path: Path, command: Callable[..., Any], own_cache: None
) -> None:
    """Chosen by ranks, since a bag writes no sentence."""
    run = tmp_path / "run"
    given = ["--config.epochs", 3, "--config.word_vectors", "random", "--config.batch_size", 16]
    train = [
        "train",
        "vgvae",
        "--preset",
        "compact-averages",
        "--data",
        question_pairs,
        "--out",
        run,
        "--device",
        "cpu",
    ]
    done = command(*train, *given, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["metric"] == "mrr"
    refused = command("paraphrase", "how do i learn ?", "--like", "is it hard ?", "--model", run, "--device", "cpu")
    assert refused.status == 2 and "a VGVAE model of averages" in refused.err


def test_what_cannot_be_trained(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    config = VgvaeConfig.compact(**SMALL)
    for loop in (TrainingConfig(metric="bleu"), replace(BY_BLEU, metric="development")):
        with pytest.raises(InputError, match=r"expected bleu \(higher is better\), mrr .*, nll \(lower is better\)"):
            train_vgvae([], tmp_path / "run", loop=loop)
    with pytest.raises(InputError, match="no tagger 'nowhere'"):
        train_vgvae(pairs, tmp_path / "run", config=config, tagger="nowhere")
    with pytest.raises(InputError, match="64 pairs; expected at least one batch of 99"):
        train_vgvae(pairs, tmp_path / "run", validation=pairs[:9], config=replace(config, batch_size=99))
    with pytest.raises(InputError, match="pair 2 has an empty side"):
        train_vgvae([pairs[0], Pair(Sentence("a"), Sentence(" "))], tmp_path / "run", config=config)
    with pytest.raises(InputError, match="validation: none of 1 pairs has an exemplar"):
        train_vgvae(pairs[1:], tmp_path / "run", validation=pairs[:1], config=config)
    assert not (tmp_path / "run").exists()
