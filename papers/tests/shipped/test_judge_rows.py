"""Rows of judges of meaning: figures in closed form; what was measured is left alone; cross-attention over states."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from paraform import corpora
from paraform.capabilities import Verdicts
from paraform.evaluation.embedding.detection import roc_auc
from paraform.records import InputError, Pair, Sentence
from paraform.trainers.judge import BY_NLL
from paraform_papers.shipped import judge_rows
from paraform_papers.shipped.judge_figures import by_sentence, calibration_error, figures, more_than, table, with_bounds
from paraform_papers.shipped.judge_rows import by_bleu, measured
from paraform_papers.shipped.judge_sets import JudgedSet, counts_of, rated, sick, written_ways
from paraform_papers.shipped.judge_states import StatesJudge, load_states, train_states
from paraform_papers.shipped.judge_trained import CONFIGS, taught_by


def test_calibration_error_in_closed_form() -> None:
    """Of ten at 0.85 nine are right, of ten at 0.25 five: (0.05 · 10 + 0.25 · 10) / 20."""
    found = np.repeat([0.85, 0.25], 10)
    labels = np.array([True] * 9 + [False] + [True] * 5 + [False] * 5)
    assert calibration_error(found, labels) == pytest.approx(0.15)
    assert calibration_error(np.ones(4), np.ones(4, np.bool_)) == 0


def test_figures_of_a_set() -> None:
    """Every pair that says the same is above the "roles" and below the "day"."""
    values = {"s": 0.5, "r": 0.1, "d": 0.9}
    pairs = [("s", "x")] * 16 + [("r", "x")] * 8 + [("d", "x")] * 8 + [("r", "x")]
    one = JudgedSet("set", pairs, [True] * 16 + [False] * 17, [""] * 16 + ["roles"] * 8 + ["day"] * 8 + ["rare"])
    found = np.array([values[a] for a, _ in pairs])
    report = figures(found, one, 0.4, calibrated=True)
    assert report["AUC by kind"] == {"day": 0, "roles": 100}
    assert report["AUC"][0] == pytest.approx(100 * 9 / 17, abs=0.01)
    assert report["accuracy"] == pytest.approx(100 * 25 / 33, abs=0.01)
    assert report["calibration error"] == pytest.approx((16 * 0.5 + 9 * 0.1 + 8 * 0.9) / 33, abs=1e-4)
    assert counts_of(one) == "16 the same, 17 not"


def test_rows_differ_in_the_base_and_what_suits_it() -> None:
    own = CONFIGS["small"]
    for name, config in CONFIGS.items():
        changed = {one.name for one in fields(config) if getattr(config, one.name) != getattr(own, one.name)}
        assert changed <= {"base", "rank", "layers", "learning_rate", "warmup"}, name


def test_what_is_taught_is_what_the_teacher_thinks() -> None:
    class Teacher:
        def judge(self, pairs: list[tuple[str, str]], **_: object) -> Verdicts:
            forth = np.array([len(one) / 10 for one, _ in pairs], np.float32)
            return Verdicts(forth * 0.5, forth, np.full(len(pairs), 0.5, np.float32))

    pairs = [Pair(Sentence("one"), Sentence("a"), label=1, cluster=3), Pair(Sentence("three"), Sentence("b"), label=0)]
    found = taught_by(Teacher(), pairs)  # type: ignore[arg-type]
    assert [(one.label, one.cluster, one.back) for one in found] == [(None, 3, 0.5), (None, None, 0.5)]
    assert [one.forth for one in found] == pytest.approx([0.3, 0.5])


def test_bleu_is_of_both_ways() -> None:
    pair = ("The old man slept well there.", "The old man slept.")
    found = by_bleu([("We met there.", "we met there ."), pair, pair[::-1], ("One.", "Two three.")], "same")
    assert found[0] == pytest.approx(100) and found[1] == found[2] and found[3] < 20 < found[1] < 100


def test_what_is_measured_is_left_alone_and_stands_in_the_table(tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    more = {"AP": 88, "accuracy": 83.25, "calibration error": 0.0412}
    report = {"threshold": 0.5, "MRPC": {"AUC": [81.25, 80, 82]}, "PAN": {"AUC": [90, 89, 91], **more}}
    (tmp_path / "0" / "small.json").write_text(json.dumps(report))
    measured("small", tmp_path, tmp_path, tmp_path, 0)
    assert table(tmp_path) == [
        "| AUC | small, 0 |",
        "| --- | ---: |",
        "| MRPC | 81.2 (80.0 to 82.0) |",
        "| PAN | 90.0 (89.0 to 91.0) |",
        "",
        "| small, 0 | AP | accuracy | calibration error |",
        "| --- | ---: | ---: | ---: |",
        "| PAN | 88.0 | 83.2 | 0.041 |",
    ]
    with pytest.raises(InputError, match=r"train\.jsonl"):
        measured("small", tmp_path, tmp_path, tmp_path, 1)


def test_the_page_has_what_was_measured() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "meaning.md").read_text(encoding="utf-8").splitlines()
    lines = table(root / "papers" / "results" / "judge-rows")
    assert len(lines) > 8 and {*lines} <= {*page}


def test_the_sets_are_written_for_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [JudgedSet("ways, one direction", [("a b", "b a"), ("c", "d")], [True, False])]
    monkeypatch.setattr(judge_rows, "sets_of", lambda data: sets)
    monkeypatch.setattr("sys.argv", ["judge_rows", str(tmp_path), "--texts", str(tmp_path / "sets")])
    judge_rows.main()
    (file,) = (tmp_path / "sets").iterdir()
    read = [*corpora.read_jsonl(file)]
    assert file.name == "ways-one-direction.jsonl"
    assert [(one.source.text, one.target.text) for one in read if isinstance(one, Pair)] == sets[0].pairs


def test_rated_outputs_are_of_both_kinds() -> None:
    found = rated()
    assert 100 < sum(found.labels) < len(found.labels) - 100 and all(a != b for a, b in found.pairs)


def test_written_ways_are_asked_by_kind_and_of_each_direction() -> None:
    whole, one_way = written_ways()
    assert (whole.asks, one_way.asks) == ("same", "forth") and {*(whole.kinds or ())} >= {"", "other 1", "less", "more"}
    assert len(whole.pairs) > 1_000 and sum(whole.labels) == (whole.kinds or []).count("") > 400
    less = next(pair for pair, kind in zip(whole.pairs, whole.kinds or (), strict=True) if kind == "less")
    says = dict(zip(one_way.pairs, one_way.labels, strict=True))
    assert says[less] and not says[less[::-1]]


def test_sick_is_asked_of_one_direction(tmp_path: Path) -> None:
    rows = "sentence_A\tsentence_B\tentailment_judgment\na b\ta\tENTAILMENT\na\ta b\tNEUTRAL\n"
    (tmp_path / "sick.txt").write_text(rows, encoding="utf-8")
    one = sick(tmp_path / "sick.txt")
    assert (one.pairs, one.labels, one.asks) == ([("a b", "a"), ("a", "a b")], [True, False], "forth")


def test_intervals_keep_a_sentences_pairs_together() -> None:
    """Of three sentences the first has all that is wrong: in an eighth of the draws by sentence it is not there."""
    pairs = [("a", str(at)) for at in range(8)] + [("b", "x"), ("c", "x")] * 4
    one = JudgedSet("set", pairs, [at % 2 == 0 for at in range(8)] + [True, True] * 4)
    found = np.array([float(at % 4) for at in range(8)] + [4.0, 4.0] * 4)
    metric = by_sentence(roc_auc(found, np.array(one.labels)), one)
    assert metric.rows.shape == (3, 0)
    assert metric.over() == pytest.approx(roc_auc(found, np.array(one.labels)).over())
    first = roc_auc(found[:8], np.array(one.labels[:8])).over()
    assert metric.of_sums(np.array([3.0, 0.0, 0.0]), 3) == pytest.approx(first)
    low, high = with_bounds(metric)[1:]
    assert low < high and low <= metric.over() <= high
    assert more_than(found, found, one) == [0, 0, 0]
    better = np.where(one.labels, found + 9, found)
    assert more_than(better, found, one)[0] == pytest.approx(100 - metric.over(), abs=0.01)


def test_states_are_told_by_what_the_other_text_has(tmp_path: Path) -> None:
    """Both directions are one head's, so that the other way round it thinks the same; and it learns and is loaded."""
    words = ["how", "do", "i", "pay", "for", "my", "card", "the", "cat", "sat", "on", "mat"]
    drawn = np.random.default_rng(0)
    pairs = []
    for at in range(64):
        text = " ".join(words[row] for row in drawn.permutation(len(words))[:4])
        whole, part = Sentence(text), Sentence(" ".join(text.split()[:2]))
        pairs.append(Pair(whole, whole if at % 2 else part, label=at % 2, forth=1.0, back=float(at % 2), cluster=at))
    config = replace(CONFIGS["states"], batch_size=8, warmup=1, epochs=2, learning_rate=1e-3)
    loop = replace(BY_NLL, device="cpu", tensorboard=False, evaluate_every=100)
    train_states(pairs[:56], tmp_path / "run", validation=pairs[56:], config=config, loop=loop)
    model = load_states(tmp_path / "run")
    sides = [(pair.source.text, pair.target.text) for pair in pairs]
    logits, turned = model.logits(sides), model.logits([side[::-1] for side in sides], size=7)
    assert torch.allclose(logits, turned.flip(1), atol=0.05)  # products may be of bfloat16
    assert StatesJudge.restore({}, {}).config.base == "minilm"
    assert logits[::2, 1].mean() < logits[1::2, 1].mean() and model.judge(sides).same.shape == (64,)
