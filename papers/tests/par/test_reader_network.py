"""The reader's attention, GRUs and spans against loops, and texts that do not change when others stand beside them."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch import Tensor

from paraform.fields import kept_fields
from paraform.models.layers import BiGRU
from paraform.records import InputError
from paraform.training import TrainingConfig, make_accelerator
from paraform.weights import load_tensors
from paraform_papers.par.reader import Reader, ReaderConfig, make_update
from paraform_papers.par.reader.batches import ReaderBatch
from paraform_papers.par.reader.network import ReaderNetwork, Spans, TrilinearAttention, TwoWayGRU, best_spans
from paraform_papers.par.reader.trainer import load_reader

TINY = ReaderConfig(inputs=5, width=3, linear=4, dropout=0.5, batch_size=2)


def batch(contexts: list[int], questions: list[int]) -> ReaderBatch:
    """Texts of those lengths, with garbage where padded."""
    torch.manual_seed(sum(contexts))
    rows = len(contexts)
    return ReaderBatch(
        torch.randn(rows, max(contexts), 5), torch.tensor(contexts),
        torch.randn(rows, max(questions), 5), torch.tensor(questions),
        torch.zeros(rows).long(), torch.zeros(rows).long(),
    )  # fmt: skip


@torch.no_grad()
def test_attention_word_by_word() -> None:
    """a = w₁·h + w₂·k + w₃·(h ∘ k), a softmax over what is seen, and the sum of what is read."""
    torch.manual_seed(0)
    attention = TrilinearAttention(4)
    queries, keys = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    seen = torch.rand(2, 3, 5) < 0.6
    seen[0, 1] = False  # this one may read nothing
    read, scores = attention(queries, keys, seen)
    of_query, of_key, of_both = attention.of_query.weight[0], attention.of_key.weight[0], attention.of_both
    for row, query in itertools.product(range(2), range(3)):
        h, exponents = queries[row, query], {}
        for key in range(5):
            k = keys[row, key]
            score = sum(float(of_query[d] * h[d] + of_key[d] * k[d] + of_both[d] * h[d] * k[d]) for d in range(4))
            assert float(scores[row, query, key]) == pytest.approx(score, abs=1e-5)
            if seen[row, query, key]:
                exponents[key] = math.exp(score)
        expected = sum((keys[row, key] * part for key, part in exponents.items()), torch.zeros(4))
        expected = expected / (sum(exponents.values()) or 1)
        torch.testing.assert_close(read[row, query], expected, atol=1e-5, rtol=0)


def test_rows_that_are_turned_are_those_of_packed_ones() -> None:
    torch.manual_seed(0)
    peer, own = BiGRU(5, 3), TwoWayGRU(5, 3)
    weights = peer.gru.state_dict()
    own.onward.load_state_dict({name: values for name, values in weights.items() if "reverse" not in name})
    own.back.load_state_dict(
        {name.removesuffix("_reverse"): values for name, values in weights.items() if "reverse" in name}
    )
    lengths = torch.tensor([4, 7, 1])
    inputs = torch.randn(3, 7, 5)
    expected, found = peer(inputs, lengths)[0], own(inputs, lengths)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(found[row, :length], expected[row, :length])


@pytest.mark.parametrize("longest", [1, 3, 50])
def test_the_best_span_of_all_that_are_allowed(longest: int) -> None:
    torch.manual_seed(longest)
    start, end = torch.randn(20, 9).log_softmax(-1), torch.randn(20, 9).log_softmax(-1)
    start[3, 4:], end[3, 4:] = -torch.inf, -torch.inf
    first, last = best_spans(Spans(start, end), longest=longest)
    for row in range(20):
        allowed = [(i, j) for i in range(9) for j in range(i, min(9, i + longest))]
        best = max(allowed, key=lambda span: float(start[row, span[0]] + end[row, span[1]]))
        assert (int(first[row]), int(last[row])) == best


def by_hand(network: ReaderNetwork, context: Tensor, question: Tensor) -> tuple[Tensor, Tensor]:
    """One question alone, without padding, by the paper's equations; GRUs and attention are tested above."""

    def gru(module: TwoWayGRU, words: Tensor) -> Tensor:
        return module(words[None], torch.tensor([len(words)]))[0]

    def softmax(scores: list[float]) -> list[float]:
        total = sum(map(math.exp, scores))
        return [math.exp(score) / total for score in scores]

    def attended(module: TrilinearAttention, one: Tensor, other: Tensor) -> list[list[float]]:
        of_query, of_key, of_both = module.of_query.weight[0], module.of_key.weight[0], module.of_both
        return [[float(of_query @ h + of_key @ k + of_both @ (h * k)) for k in other] for h in one]

    h, q = gru(network.words, context), gru(network.words, question)
    scores = attended(network.attention, h, q)
    whole = sum(part * h[i] for i, part in enumerate(softmax([max(row) for row in scores])))
    merged = []
    for i, row in enumerate(scores):
        read = sum(part * q[j] for j, part in enumerate(softmax(row)))
        merged.append(torch.relu(network.merge(torch.cat([h[i], read, h[i] * read, whole * read]))))
    again = gru(network.again, torch.stack(merged))
    own = []
    for i, row in enumerate(attended(network.self_attention, again, again)):
        others = [j for j in range(len(again)) if j != i]
        shares = softmax([row[j] for j in others]) if others else []
        read = sum((part * again[j] for part, j in zip(shares, others, strict=True)), torch.zeros(again.shape[1]))
        own.append(torch.relu(network.merge_self(torch.cat([again[i], read, again[i] * read]))))
    both = torch.stack(merged) + torch.stack(own)
    starts = gru(network.starts, both)
    ends = gru(network.ends, torch.cat([both, starts], -1))
    return network.start(starts)[:, 0].log_softmax(0), network.end(ends)[:, 0].log_softmax(0)


def test_a_batch_is_its_questions_one_by_one() -> None:
    torch.manual_seed(0)
    network = ReaderNetwork(TINY).eval()
    contexts, questions = [6, 1, 3], [2, 4, 1]
    given = batch(contexts, questions)
    with torch.no_grad():
        found = network(given)
        for row, (words, asked) in enumerate(zip(contexts, questions, strict=True)):
            start, end = by_hand(network, given.context_BTD[row, :words], given.question_BSD[row, :asked])
            torch.testing.assert_close(found.start_BT[row, :words], start, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(found.end_BT[row, :words], end, atol=1e-5, rtol=1e-5)
            assert (found.start_BT[row, words:] == -torch.inf).all() and (found.end_BT[row, words:] == -torch.inf).all()


def test_every_weight_has_a_gradient_also_where_all_contexts_are_one_word() -> None:
    torch.manual_seed(0)
    for contexts in ([5, 3], [1, 1]):
        network = ReaderNetwork(TINY)
        spans = network(batch(contexts, [2, 1]))
        (-spans.start_BT[:, 0].sum() - spans.end_BT[:, 0].sum()).backward()
        for name, weight in network.named_parameters():
            assert weight.grad is not None and torch.isfinite(weight.grad).all(), name
            if contexts == [5, 3] and name != "self_attention.of_query.weight":  # a softmax ignores what is the same
                assert name.endswith(".bias") or weight.grad.abs().max() > 0, name


def test_dropout_is_the_same_for_all_words_of_a_text() -> None:
    network = ReaderNetwork(TINY)
    torch.manual_seed(0)
    found = network.dropped(torch.ones(4, 6, 8))
    assert torch.equal(found, found[:, :1].expand(-1, 6, -1)) and set(found.unique().tolist()) == {0, 2}
    assert torch.equal(network.eval().dropped(torch.ones(4, 6, 8)), torch.ones(4, 6, 8))


def test_what_dropout_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    """What GRUs and attentions read (Clark and Gardner, section 4.2): vectors, states, merged features."""
    network, dropped = ReaderNetwork(TINY), list[int]()

    def note(states: Tensor) -> Tensor:
        dropped.append(states.shape[-1])
        return states

    monkeypatch.setattr(network, "dropped", note)
    network(batch([5, 3], [2, 1]))
    inputs, states, merged = TINY.inputs, 2 * TINY.width, TINY.linear
    assert dropped == [inputs, inputs, states, states, merged, states, merged, merged + states]


@torch.no_grad()
def test_the_scale_is_of_contexts_and_of_questions() -> None:
    torch.manual_seed(0)
    network, given = ReaderNetwork(TINY).eval(), batch([5, 3], [2, 1])
    expected = network(given._replace(context_BTD=3 * given.context_BTD, question_BSD=3 * given.question_BSD))
    network.scale.fill_(3)
    torch.testing.assert_close(network(given), expected)


def test_a_step_clips_the_gradient_and_says_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for clip_norm in (0.01, 1e6):
        monkeypatch.setattr("paraform_papers.par.reader.update.CLIP_NORM", clip_norm)
        torch.manual_seed(0)
        model = Reader(TINY)
        update, _ = make_update(model, TINY, make_accelerator(TrainingConfig(device="cpu")))
        said = update(batch([5, 3], [2, 1]), 0)["gradient_norm"]
        found = math.sqrt(
            sum(float((weight.grad**2).sum()) for weight in model.parameters() if weight.grad is not None)
        )
        assert said > 0.1 and found == pytest.approx(min(clip_norm, said), rel=1e-3)


def test_configs_that_are_none() -> None:
    for fields, said in (
        ({"width": 0}, "width 0; expected 1 to 100000"),
        ({"batch_size": 0}, "batch_size 0; expected 1 or more"),
        ({"dropout": 1.0}, "dropout 1.0; expected 0 to 0.99"),
        ({"learning_rate": 0.0}, "learning_rate 0.0; expected a number above 0"),
        ({"epochs": "3"}, "epochs is '3' of type str"),
    ):
        with pytest.raises(ValueError, match=said):
            ReaderConfig(**fields)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inputs 0; expected the features"):
        Reader(ReaderConfig())


def test_the_fields_of_0_1_0_are_read_where_they_say_what_is_done_today() -> None:
    today = asdict(TINY)
    before = today | {"states": "own", "most_words": 300, "longest_answer": 17, "clip_norm": 5.0}
    assert kept_fields(ReaderConfig, before, "folder") == today
    with pytest.raises(InputError, match=r"folder: config.clip_norm is 1.0, .* version 0.1.0 does"):
        kept_fields(ReaderConfig, before | {"clip_norm": 1.0}, "folder")


def test_a_folder_of_0_1_0_is_read() -> None:
    """Written by the code of commit 3ec3979; later code reads it, which never makes it anew."""
    model = load_reader(Path(__file__).with_name("reader_0_1_0"), device="cpu")
    assert (model.config.width, model.config.linear, model.training) == (4, 6, False)
    stored = load_tensors(Path(__file__).with_name("reader_0_1_0") / "model.safetensors")
    assert all(torch.equal(weight, stored[name]) for name, weight in model.state_dict().items())
