"""A judge of meaning: against transformers with the adapters added by hand; both orders; saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_judge import new_judge, write_base
from transformers import AutoModel

import paraform
from paraform import checkpoint
from paraform.batching import Ragged, SentenceBatch
from paraform.capabilities import JudgesMeaning
from paraform.models.judge import JudgeConfig, MeaningJudge
from paraform.models.judge.batches import JudgeBatch, PieceMaker
from paraform.records import InputError

PAIRS = [
    ("how do i pay ?", "how do i pay for it ?"),
    ("the cat sat on the mat", "the mat sat on the cat"),
    ("who are you ?", "you"),
    ("a dog", "a dog in rome"),
    ("a dog in rome", "a dog in rome"),
]


@pytest.fixture(scope="module", params=["encoder", "causal"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("bases") / str(request.param), str(request.param))


@pytest.fixture(scope="module")
def model(base: Path) -> MeaningJudge:
    return new_judge(base)


def row_of(model: MeaningJudge, one: str, other: str) -> tuple[list[int], int]:
    """The pieces of a pair, put together by hand, and where the second text begins."""

    def pieces(text: str) -> list[int]:
        return model.pieces.tokenizer.encode(text, add_special_tokens=False).ids

    if model.causal:
        before = [1, *pieces("user\nRewrite:\n"), *pieces(one), 2, *pieces("\n"), 1, *pieces("assistant\n")]
        return [*before, *pieces(other), 2], len(before)
    before = [2, *pieces(one), 3]  # [CLS] … [SEP]
    return [*before, *pieces(other), 3], len(before)


@torch.no_grad()
def logits_of(model: MeaningJudge, module: Any, one: str, other: str) -> torch.Tensor:
    row, second = row_of(model, one, other)
    ids = torch.tensor([row])
    types = {} if model.causal else {"token_type_ids": (torch.arange(len(row)) >= second).long()[None]}
    states = module(input_ids=ids, **types).last_hidden_state[0]
    read = (states[:second].mean(0), states[second:].mean(0), states[-1 if model.causal else 0])
    x, y, z = ((one - one.mean()) / (one.var(correction=0) + 1e-5).sqrt() for one in read)
    more = [] if model.causal else [x, (x - y).abs(), x * y]
    out: torch.Tensor = model.head(torch.cat([y, z, *more]))
    return out


@torch.no_grad()
def test_it_is_the_base_with_the_adapters_a_causal_one_read_in_both_orders(model: MeaningJudge, base: Path) -> None:
    module: Any = AutoModel.from_pretrained(base).eval()
    weights = dict(module.named_parameters())
    for name, down, up in zip(model.adapters.shapes, model.adapters.down, model.adapters.up, strict=True):
        weights[f"{name}.weight"].data += 2 * up @ down
    found = model.judge(PAIRS, batch_size=3)
    for at, (one, other) in enumerate(PAIRS):
        forwards, backwards = logits_of(model, module, one, other), logits_of(model, module, other, one).flip(0)
        sorted_way = forwards if one < other else backwards
        read = (forwards + backwards) / 2 if model.causal or one == other else sorted_way
        first, second = paraform.load("minilm", device="cpu").embed([one, other])
        forth, back = (0.5 * read - 0.25 + 1.5 * float(first @ second)).sigmoid().tolist()
        assert found.forth[at] == pytest.approx(forth, abs=2e-3) and found.back[at] == pytest.approx(back, abs=2e-3)
        assert found.same[at] == pytest.approx(forth * back, abs=2e-3)


def test_the_other_way_round_it_thinks_the_same(model: MeaningJudge) -> None:
    """Bit by bit, whatever stands beside a pair, however often it stands there."""
    found, turned = model.judge(PAIRS), model.judge([(b, a) for a, b in PAIRS])
    assert np.array_equal(found.same, turned.same) and np.array_equal(found.forth, turned.back)
    again = model.judge([*PAIRS, PAIRS[0], PAIRS[0][::-1]])
    assert again.same[[0, -2, -1]].tolist() == [found.same[0]] * 3
    alone = [float(model.judge([pair]).same[0]) for pair in PAIRS]
    assert found.same == pytest.approx(alone, abs=2e-3)  # vectors are rounded by what stands beside them
    assert [len(part) for part in model.judge([])] == [0, 0, 0]


def test_cosines_that_are_known_are_taken(model: MeaningJudge) -> None:
    first, second = (paraform.load("minilm", device="cpu").embed([pair[side] for pair in PAIRS]) for side in (0, 1))
    known = (first * second).sum(1)
    assert model.judge(PAIRS, cosines=known).same == pytest.approx(model.judge(PAIRS).same, abs=1e-3)
    assert (model.judge(PAIRS, cosines=known - 1).same < model.judge(PAIRS).same).all()
    for wrong in (known[:1], [[0.5]] * len(PAIRS), [float("nan")] * len(PAIRS), ["a"] * len(PAIRS)):
        with pytest.raises(InputError, match=r"cosines of shape .* expected 5 finite numbers"):
            model.judge(PAIRS, cosines=wrong)  # type: ignore[arg-type] # what the test is of


def test_what_is_trained_says_what_is_used(model: MeaningJudge) -> None:
    """The network with the adapters beside the weights, in batches with padding, and the merged one."""
    rows, seconds, _ = model.pieces.rows(PAIRS)
    batch = JudgeBatch(
        SentenceBatch(*Ragged.of(rows).padded(np.arange(len(rows)))), torch.tensor(seconds), torch.empty(0)
    )
    network = model.trainable().eval()
    with torch.no_grad():
        trained = network(batch)
    model.forget()
    with torch.inference_mode():
        assert torch.allclose(trained, model._read(batch), atol=1e-4)
    assert {name for name, weight in network.named_parameters() if weight.requires_grad and "lora" not in name} == {
        "head.weight",
        "head.bias",
    }


def test_it_is_saved_and_loaded(model: MeaningJudge, tmp_path: Path) -> None:
    paraform.save(model, tmp_path / "judge")
    loaded = paraform.load(tmp_path / "judge", device="cpu")
    assert isinstance(loaded, JudgesMeaning) and loaded.calibration.tolist() == [0.5, -0.25, 1.5]
    assert np.array_equal(loaded.judge(PAIRS).same, model.judge(PAIRS).same)
    assert np.array_equal(paraform.same(PAIRS, model=str(tmp_path / "judge"), device="cpu"), loaded.judge(PAIRS).same)


def test_long_texts_are_cut_the_longer_one_first(model: MeaningJudge, caplog: pytest.LogCaptureFixture) -> None:
    short, long = "the cat sat", "the cat sat on the mat " * 20
    room = model.config.max_pieces - len(model.pieces.before) - len(model.pieces.between) - len(model.pieces.after)
    for pair in ((short, long), (long, short), (long, long)):
        (row,), (second,), cut = model.pieces.rows([pair])
        assert len(row) == model.config.max_pieces and cut == 1
        first = second - len(model.pieces.before) - len(model.pieces.between)
        own = [len(model.pieces.tokenizer.encode(text, add_special_tokens=False).ids) for text in pair]
        assert first == (room // 2 if pair == (long, long) else own[0] if pair[0] == short else room - own[1])
    model.judge([(short, long), (short, short)])
    assert caplog.text.count("1 of 2") == 1 and "pieces of both texts" in caplog.text


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("a text", "expected a list of pairs"),
        ([("a", "b"), ("a",)], "pair 2: .* expected two texts"),
        (["ab"], "pair 1: 'ab'; expected two texts"),
        ([("a", " ")], "pair 1 has an empty side"),
        ([("a", 3)], "a side of pair 1"),
    ],
)
def test_what_is_no_pair(model: MeaningJudge, pairs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.judge(pairs)


def test_a_base_that_cannot_be_used(base: Path, tmp_path: Path, model: MeaningJudge) -> None:
    with pytest.raises(InputError, match="max_pieces 9999; expected at most"):
        new_judge(base, max_pieces=9999)
    with pytest.raises(InputError, match="expected at most the 3"):
        new_judge(base, layers=4)
    other = MeaningJudge(model.config, {**model.about, "digests": {**model.about["digests"], "weights": "0" * 64}})
    with pytest.raises(InputError, match="were trained on 000000000000"):
        other.judge(PAIRS)


@pytest.mark.parametrize(
    "asset", ["{}", "[1]", '{"maps": {"x": [1, 10000000]}, "width": 4, "ends": null, "digests": {}}',
              '{"maps": {"x": [1, true]}, "width": 4, "ends": null, "digests": {}}',
              '{"maps": {"x": [1, 2]}, "width": 4, "ends": ["a", 2], "digests": {}}'],
)  # fmt: skip
def test_a_damaged_asset(asset: str) -> None:
    with pytest.raises(InputError, match=r"base\.json: .*expected the base's maps, width, ends and digests"):
        MeaningJudge.restore({"base": "minilm"}, {"base.json": asset})


def test_other_models_do_not_judge() -> None:
    with pytest.raises(InputError, match="an encoder; expected a judge of meaning"):
        paraform.same(PAIRS, model="minilm", device="cpu")
    assert JudgeConfig.lm().base == "smollm2" and not isinstance(checkpoint.load("minilm"), JudgesMeaning)


def test_a_checkpoint_that_does_not_fit_its_base(model: MeaningJudge) -> None:
    """What a stranger's file says is looked at before anything is computed by it."""
    about, first = model.about, next(iter(model.about["maps"]))
    others = {name: shape for name, shape in about["maps"].items() if name != first}
    for changed in (
        {"maps": {"nowhere": about["maps"][first], **others}},
        {"maps": {first: [3, 5], **others}},
        {"width": 7},
        *([{"ends": [-1, 2]}, {"ends": [1, 10**9]}] if model.causal else []),
    ):
        with pytest.raises(InputError, match=r"base\.json: "):
            MeaningJudge(model.config, {**about, **changed}).judge(PAIRS)


def test_marks_that_leave_no_room(model: MeaningJudge) -> None:
    marks = len(model.pieces.before) + len(model.pieces.between) + len(model.pieces.after)
    ends = tuple(model.about["ends"]) if model.causal else None
    with pytest.raises(InputError, match=f"max_pieces {marks + 1}: the marks leave room for 1"):
        PieceMaker(model.pieces.tokenizer, ends, marks + 1)
