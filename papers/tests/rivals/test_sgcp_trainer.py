"""SGCP from Python and by the command line: pairs and a folder are enough."""

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
from paraform.syntax.trees import Tree
from paraform.training import TrainingConfig
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.sgcp import trainer as sgcp
from paraform_papers.rivals.sgcp.batches import parts_of
from paraform_papers.rivals.sgcp.table import pair_table
from paraform_papers.rivals.sgcp.trainer import BY_BLEU, train_sgcp

SMALL: dict[str, Any] = {
    "word_width": 12, "width": 12, "min_count": 1, "max_tokens": 12, "batch_size": 32, "epochs": 2, "parser": "syntax",
}  # fmt: skip
LOOP = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:64]))


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: None
) -> None:
    """Stopped in the second epoch; dropout, heights and what the decoder reads are drawn as if it had not been."""
    monkeypatch.setattr("paraform_papers.rivals.sgcp.batches.TEACHER_FORCING", 0.5)
    config = SgcpConfig.compact(**SMALL)

    def train(name: str, *, resume: bool = False) -> Any:
        return train_sgcp(
            pairs, tmp_path / name, validation=pairs[:9], config=config, loop=LOOP, validation_rows=3, resume=resume
        )

    whole = goes_on_to_the_same_weights(train, sgcp, tmp_path, at=lambda steps: steps // 2 + 1)
    assert whole.step == 2 * (2 * len(pairs) // 32)  # both directions


def test_validation_by_a_loop(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    """Nats a unit and a place of all pairs at once; BLEU of the first rows, each in its target's whole tree."""
    config = SgcpConfig.compact(**{**SMALL, "epochs": 1})
    found = train_sgcp(pairs, tmp_path / "run", validation=pairs[:9], config=config, loop=LOOP, validation_rows=4)
    scores = [record["validation"] for record in found.history if "validation" in record][-1]
    model = checkpoint.load(tmp_path / "run" / "last", device="cpu")
    trees = trees_of(pairs[:9], parser="syntax")
    (batch,) = parts_of(pair_table(pairs[:9], trees, config, model.vocabulary, model.symbols), 99)
    said = model.network(batch)
    assert [scores["nll"], scores["pop_nll"]] == pytest.approx([-each.mean().item() for each in said], rel=1e-5)
    forms = [trees[pair.target.text] for pair in pairs[:4]]
    outputs = model.decode_trees([pair.source.text for pair in pairs[:4]], forms, strict=False)
    assert scores["bleu"] == pytest.approx(bleu(outputs, [pair.target.text for pair in pairs[:4]]).value)


def test_the_command_trains_writes_and_measures(
    question_pairs: Path, tmp_path: Path, command: Callable[..., Any], own_cache: None
) -> None:
    """By an exemplar at any height and by a tree; and `evaluate generation` as of every other."""
    run = tmp_path / "run"
    given = [word for name, value in SMALL.items() for word in (f"--config.{name}", value)]
    done = command("train", "sgcp", "--data", question_pairs, "--out", run, "--device", "cpu", "--json", *given)
    assert done.status == 0, done.err
    assert json.loads(done.out)["metric"] == "bleu"
    assert "validation" in (run / "best" / "README.md").read_text(encoding="utf-8").lower()
    model = paraform.load(run, device="cpu")
    say = ["paraphrase", "how do i learn chess ?", "is it hard ?", "--model", run, "--device", "cpu", "--json"]
    like = "Should anyone learn poker this year?"
    for height in ("full", "best", 3):
        named = json.loads(command(*say, "--like", like, "--height", height).out)["paraphrases"]
        assert [row["paraphrase"] for row in named] == model.decode_at(say[1:3], [like] * 2, height)
    named = json.loads(command(*say, "--like", like, "--beam", 2).out)["paraphrases"]
    assert [row["paraphrase"] for row in named] == model.decode(say[1:3], [like] * 2, beam=2)
    tree = str(model.parser([like.split()])[0])
    assert command(*say, "--template", tree).status == 0
    own = json.loads(command(*say, "--template", "(S)", "--no-ration").out)["paraphrases"]  # one label is a form
    whole = Tree.parse("(S)")
    assert [row["paraphrase"] for row in own] == model.decode_trees(say[1:3], [whole] * 2, constrain_repetition=False)
    assert [row["paraphrase"] for row in own] != model.decode_trees(say[1:3], [whole] * 2)
    for wrong, message in (
        (["--template", "(S (NP"], "template 1: character 6: the end, with 2 brackets open"),
        (["--template", "(ROOT (NOPE (NP) (VP)))"], "label 'NOPE' in no tree of training; the nearest is"),
        (["--template", tree, "--height", 3], "--height needs --like"),
        (["--template", "(ROOT)"], "a template of a root alone, '(ROOT)'"),
        (["--like", like, "--height", 99], "height 99 is beyond the tree of exemplar 1, which has"),
        (["--like", like, "--height", "some"], "--height"),
        ([], "an SGCP model needs a form"),
    ):
        refused = command(*say[:-1], *wrong)
        assert refused.status == 2 and message in refused.err and len(refused.err.splitlines()) == 1, refused.err
    refused = command("paraphrase", "is it hard ?", "--like", like, "--height", 3, "--device", "cpu")
    assert refused.status == 2 and "--height expects a model that reads exemplars' trees" in refused.err
    score = bleu_of(run, question_pairs, tmp_path / "test.tsv", command)
    assert "decode:beam 2" in score["signature"] and "height:full" in score["signature"]
    again = command("train", "sgcp", "--data", question_pairs, "--out", run, "--resume", "--device", "cpu", *given)
    assert again.status == 0 and "the run was over" in again.err
    refused = command("export", run, "--out", tmp_path / "it")
    assert refused.status == 2 and "an SGCP model; expected a model that is exported" in refused.err


def test_what_cannot_be_trained(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    config = SgcpConfig.compact(**SMALL)
    for loop in (TrainingConfig(metric="bleu"), replace(BY_BLEU, metric="nll")):
        with pytest.raises(InputError, match=r"expected bleu \(higher is better\), nll \(lower is better\)"):
            train_sgcp([], tmp_path / "run", loop=loop)
    with pytest.raises(InputError, match="no parser 'nowhere'"):
        train_sgcp(pairs, tmp_path / "run", config=replace(config, parser="nowhere"))
    with pytest.raises(InputError, match="128 pairs, both directions counted; expected at least one batch of 129"):
        train_sgcp(pairs, tmp_path / "run", validation=pairs[:3], config=replace(config, batch_size=129))
    with pytest.raises(InputError, match="pair 2 has an empty side"):
        train_sgcp([pairs[0], Pair(Sentence("a"), Sentence(" "))], tmp_path / "run", config=config)
    assert not (tmp_path / "run").exists()


def test_trees_that_came_with_the_pairs_are_told(
    pairs: list[Pair], tmp_path: Path, own_cache: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Exemplars are parsed by `config.parser`, whatever parser the file's trees are from."""
    own = Pair(Sentence("we go", tree="(TOP (CL (PRP we) (VBP go)))"), Sentence("stop"), cluster=999)
    config = SgcpConfig.compact(**{**SMALL, "epochs": 1})
    train_sgcp([*pairs, own], tmp_path / "run", validation=pairs[:3], config=config, loop=LOOP)
    told = [line for line in caplog.messages if "came with trees" in line]
    assert len(told) == 1 and told[0].startswith("1 of ") and "exemplars are parsed by 'syntax'" in told[0]
    caplog.clear()
    train_sgcp(pairs, tmp_path / "other", validation=pairs[:3], config=config, loop=LOOP)
    assert "came with trees" not in caplog.text


def test_trees_of_other_words_are_refused(pairs: list[Pair], tmp_path: Path, own_cache: None) -> None:
    """As another parser's tokens would be."""
    wrong = Pair(
        Sentence("we don't go", tree="(ROOT (S (NP (PRP we)) (VP (VBP dont) (VP (VB go)))))"), Sentence("stop")
    )
    with pytest.raises(InputError, match="a tree of other words than its sentence"):
        train_sgcp([*pairs, wrong], tmp_path / "run", validation=pairs[:3], config=SgcpConfig.compact(**SMALL))
