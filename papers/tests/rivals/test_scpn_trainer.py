"""SCPN from Python and by the command line: pairs and a folder are enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generation import bleu_of
from stopped import goes_on_to_the_same_weights

import paraform
from paraform import checkpoint
from paraform.evaluation.bleu import bleu
from paraform.models.disentangled.table import trees_of
from paraform.records import InputError, Pair, Sentence
from paraform.training import TrainingConfig
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.scpn import trainer as scpn
from paraform_papers.rivals.scpn.batches import parts_of
from paraform_papers.rivals.scpn.table import pair_table, template_of
from paraform_papers.rivals.scpn.trainer import BY_BLEU, train_scpn

WIDTHS: dict[str, int] = {
    "word_width": 12, "label_width": 8, "encoder_width": 8, "decoder_width": 12,
    "generator_label_width": 8, "generator_width": 12,
}  # fmt: skip
SMALL: dict[str, Any] = {**WIDTHS, "min_count": 1, "max_tokens": 12, "batch_size": 16, "epochs": 2, "parser": "syntax"}
LOOP = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:64]))


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    pairs: list[Pair],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    own_cache: None,
) -> None:
    """Stopped in the second epoch; dropout and the batches' directions are drawn as if it had not been."""
    same = Pair(Sentence("how do i learn it ?"), Sentence("how do i teach it ?"), cluster=999)
    config = ScpnConfig.compact(**SMALL)

    def train(name: str, *, resume: bool = False) -> Any:
        return train_scpn(
            [*pairs, same], tmp_path / name, validation=pairs[:9], config=config, loop=LOOP, validation_rows=3,
            resume=resume,
        )  # fmt: skip

    whole = goes_on_to_the_same_weights(train, scpn, tmp_path, at=lambda steps: steps // 2 + 1)
    assert whole.step == 2 * (len(pairs) // 16)
    assert "1 of 65 pairs have one parse on both sides; left out" in caplog.text


def test_validation_by_a_loop(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    """Nats a unit and a symbol of all pairs at once; BLEU of the first rows, each in its target's template."""
    config = ScpnConfig.compact(**{**SMALL, "epochs": 1})
    found = train_scpn(pairs, tmp_path / "run", validation=pairs[:9], config=config, loop=LOOP, validation_rows=4)
    scores = [record["validation"] for record in found.history if "validation" in record][-1]
    model = checkpoint.load(tmp_path / "run" / "last", device="cpu")
    trees = trees_of(pairs[:9], parser="syntax")
    (batch,) = parts_of(pair_table(pairs[:9], trees, config, model.vocabulary, model.symbols), 99)
    said = [written.log_probs_N for written in model.network(batch)]
    assert [scores["nll"], scores["parse_nll"]] == pytest.approx([-each.mean().item() for each in said], rel=1e-5)
    forms = [template_of(trees[pair.target.text]) for pair in pairs[:4]]
    outputs = model.decode_trees([pair.source.text for pair in pairs[:4]], forms, strict=False)
    assert scores["bleu"] == pytest.approx(bleu(outputs, [pair.target.text for pair in pairs[:4]]).value)


def test_the_command_trains_writes_and_measures(
    question_pairs: Path, tmp_path: Path, command: Callable[..., Any], own_cache: None
) -> None:
    """By a template, an exemplar, the model's own templates; and `evaluate generation` as of every other."""
    run = tmp_path / "run"
    given = [word for name, value in SMALL.items() for word in (f"--config.{name}", value)]
    done = command("train", "scpn", "--data", question_pairs, "--out", run, "--device", "cpu", "--json", *given)
    assert done.status == 0, done.err
    assert json.loads(done.out)["metric"] == "bleu"
    assert "validation" in (run / "best" / "README.md").read_text(encoding="utf-8").lower()
    model = paraform.load(run, device="cpu")
    assert 1 <= len(model.templates) <= 10
    say = ["paraphrase", "how do i learn chess ?", "is it hard ?", "--model", run, "--device", "cpu", "--json"]
    own = json.loads(command(*say, "--num", 2).out)["paraphrases"]
    assert [row["exemplar"] for row in own] == [str(tree) for tree in model.templates[:2]] * 2
    (first, *_) = (str(tree) for tree in model.templates)
    named = json.loads(command(*say, "--template", first, "--beam", 2).out)["paraphrases"]
    assert [row["source"] for row in named] == ["how do i learn chess ?", "is it hard ?"]
    assert command(*say, "--like", "Should anyone learn poker this year?").status == 0
    for wrong, message in (
        (["--template", "(S (NP"], "template 1: character 6: the end, with 2 brackets open"),
        (["--template", "(ROOT (NOPE (NP) (VP)))"], "label 'NOPE' in no tree of training; the nearest is"),
        (["--template", first, "--num", 2], "--num is of rewordings without --like"),
    ):
        refused = command(*say[:-1], *wrong)
        assert refused.status == 2 and message in refused.err and len(refused.err.splitlines()) == 1, refused.err
    score = bleu_of(run, question_pairs, tmp_path / "test.tsv", command)
    assert "decode:beam 2" in score["signature"] and "form:template" in score["signature"]
    again = command("train", "scpn", "--data", question_pairs, "--out", run, "--resume", "--device", "cpu", *given)
    assert again.status == 0 and "the run was over" in again.err
    refused = command("export", run, "--out", tmp_path / "it")
    assert refused.status == 2 and "an SCPN model; expected a model that is exported" in refused.err


def test_what_cannot_be_trained(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    config = ScpnConfig.compact(**SMALL)
    for loop in (TrainingConfig(metric="bleu"), replace(BY_BLEU, metric="nll")):
        with pytest.raises(InputError, match=r"expected bleu \(higher is better\), nll \(lower is better\)"):
            train_scpn([], tmp_path / "run", loop=loop)
    with pytest.raises(InputError, match="no parser 'nowhere'"):
        train_scpn(pairs, tmp_path / "run", config=replace(config, parser="nowhere"))
    same = [Pair(Sentence(f"how do i {verb} it ?"), Sentence(f"how do we {verb} it ?")) for verb in ("learn", "teach")]
    with pytest.raises(InputError, match="none of 1 pairs has sides of different parses"):
        train_scpn(same, tmp_path / "run", config=config)
    with pytest.raises(InputError, match="64 pairs of different parses; expected at least one batch of 99"):
        train_scpn(pairs, tmp_path / "run", validation=pairs[:3], config=replace(config, batch_size=99))
    with pytest.raises(InputError, match="pair 2 has an empty side"):
        train_scpn([pairs[0], Pair(Sentence("a"), Sentence(" "))], tmp_path / "run", config=config)
    assert not (tmp_path / "run").exists()
