"""Likelihoods and decoding beside transformers' own; what padding changes (nothing); models that do not serve."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tiny_seq2seq as tiny
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from paraform.batching import SentenceBatch
from paraform.decoding import beam, greedy
from paraform.encoders.folder import ModelFolder
from paraform.encoders.seq2seq import add_piece, described, embeddings_of, is_tied, load_seq2seq, seq2seq_of_json
from paraform.models.seq2seq.batches import PairBatch, pair_batches
from paraform.models.seq2seq.network import Seq2SeqNetwork, StepDecoder
from paraform.records import InputError


def every(model: Any) -> PairBatch:
    return tiny.table(model).batch(np.arange(len(tiny.PAIRS)))


def written(batch: PairBatch) -> list[list[int]]:
    """The outputs of a batch, without padding."""
    lengths = batch.target.lengths_B.tolist()
    return [row[:length] for row, length in zip(batch.target.words_BT.tolist(), lengths, strict=True)]


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_the_loss_is_transformers_own(kind: str) -> None:
    model = tiny.paraphraser(kind=kind)
    batch = every(model)
    labels_BT = batch.target.words_BT.masked_fill(~batch.target.there(), -100)
    mask_BS = batch.source.there().long()
    theirs = model.network.module(input_ids=batch.source.words_BT, attention_mask=mask_BS, labels=labels_BT)
    torch.testing.assert_close(-model.network(batch).mean(), theirs.loss)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_padding_changes_nothing(kind: str) -> None:
    model = tiny.paraphraser(kind=kind)
    table, whole = tiny.table(model), every(model)
    together = torch.split(model.network(whole), whole.target.lengths_B.tolist())
    for row, found in enumerate(together):
        torch.testing.assert_close(model.network(table.batch(np.array([row]))), found, atol=1e-4, rtol=1e-4)
    padded = SentenceBatch(torch.nn.functional.pad(whole.source.words_BT, (0, 9), value=3), whole.source.lengths_B)
    torch.testing.assert_close(model.network(whole._replace(source=padded)), torch.cat(together), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_step_says_what_the_whole_says(kind: str) -> None:
    """ln p of each gold piece, one after another with keys and values kept, rows picked on the way."""
    model = tiny.paraphraser(kind=kind)
    batch, network = every(model), model.network
    whole_N = network(batch)
    lengths = batch.target.lengths_B
    memory, step = network.begin(batch.source), StepDecoder(network, ()).step
    tokens_N, alive = torch.full((len(lengths),), network.start), torch.arange(len(lengths))
    found: list[list[float]] = [[] for _ in lengths]
    for time in range(int(lengths.max())):
        scores_NV, memory = step(memory, tokens_N)
        tokens_N = batch.target.words_BT[alive, time]
        for row, score in zip(alive.tolist(), scores_NV.gather(1, tokens_N[:, None])[:, 0].tolist(), strict=True):
            found[row].append(score)
        kept = (lengths[alive] > time + 1).nonzero()[:, 0].flip(0)
        alive, tokens_N, memory = alive[kept], tokens_N[kept], memory.select(kept)
    np.testing.assert_allclose(np.concatenate(found), whole_N.detach(), atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_greedy_decoding_is_transformers_own(kind: str) -> None:
    model = tiny.paraphraser(kind=kind)
    batch, network, stop = every(model), model.network, model.pieces.stop
    never = model._never()
    ours_BT = greedy(
        StepDecoder(network, never).step, network.begin(batch.source), 10, start=network.start, stop=stop, max_tokens=20
    )
    module: Any = network.module
    theirs_BT = module.generate(
        input_ids=batch.source.words_BT, attention_mask=batch.source.there().long(), num_beams=1, do_sample=False,
        max_new_tokens=20, suppress_tokens=never, eos_token_id=stop, pad_token_id=stop, forced_eos_token_id=None,
        decoder_start_token_id=network.start,
    )[:, 1:]  # fmt: skip
    assert len({tuple(row) for row in ours_BT.tolist()}) > 3
    for ours, theirs in zip(ours_BT.tolist(), theirs_BT.tolist(), strict=True):
        end = theirs.index(stop) + 1 if stop in theirs else len(theirs)
        assert ours[:end] == theirs[:end]


class Prefix(NamedTuple):
    """The slow way to decode: all that was written is read again at each step."""

    source: SentenceBatch
    written_NT: Tensor

    def select(self, rows_N: Tensor) -> Prefix:
        return Prefix(SentenceBatch(*(part[rows_N] for part in self.source)), self.written_NT[rows_N])


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_beam_is_that_of_reading_all_again(kind: str) -> None:
    """Hypotheses change places within their sentence, and sentences that have ended go: with keys and values kept."""
    model = tiny.paraphraser(kind=kind)
    batch, network = every(model), model.network
    never = torch.tensor(model._never())

    @torch.no_grad()
    def step(state: Prefix, tokens_N: Tensor) -> tuple[Tensor, Prefix]:
        written_NT = torch.cat([state.written_NT, tokens_N[:, None]], 1)
        mask_NS = state.source.there().long()
        out = network._module(
            input_ids=state.source.words_BT, attention_mask=mask_NS, decoder_input_ids=written_NT, use_cache=False
        )
        return out.logits[:, -1].index_fill(1, never, -torch.inf).log_softmax(-1), state._replace(written_NT=written_NT)

    how: dict[str, Any] = {"start": network.start, "stop": model.pieces.stop, "max_tokens": 20, "width": 3}
    ours_BWT, scores_BW = beam(StepDecoder(network, model._never()).step, network.begin(batch.source), 10, **how)
    slow_BWT, slow_BW = beam(step, Prefix(batch.source, torch.zeros(10, 0, dtype=torch.long)), 10, **how)
    assert torch.equal(ours_BWT, slow_BWT)
    torch.testing.assert_close(scores_BW, slow_BW, atol=1e-3, rtol=1e-4)
    assert len({tuple(row) for row in ours_BWT[:, 0].tolist()}) > 3


def test_what_hypotheses_read_is_not_moved_within_their_sentence() -> None:
    model = tiny.paraphraser()
    step = StepDecoder(model.network, ()).step
    memory = model.network.begin(every(model).source).select(torch.arange(10).repeat_interleave(2))
    _, memory = step(memory, torch.full((20,), model.network.start))
    kept = memory.keys.cross_attention_cache.layers[0].keys
    again = memory.select(torch.arange(20).view(10, 2).flip(1).flatten())
    assert again.keys.cross_attention_cache.layers[0].keys is kept and again.states_BSD is memory.states_BSD
    fewer = memory.select(torch.tensor([3, 2, 2, 9]))
    assert fewer.source_B.tolist() == [1, 1, 1, 4]
    assert torch.equal(fewer.keys.cross_attention_cache.layers[0].keys, kept[[3, 2, 2, 9]])


def test_batches_are_of_a_seed_and_a_step() -> None:
    """Every pair once an epoch, processes' shares are parts of the whole batch, and parts of those say the same."""
    table = tiny.table(tiny.paraphraser())
    batches, steps = pair_batches(table, batch_size=2, seed=3)
    assert steps == 5
    rows = [row for at in range(steps) for row in written(batches(at))]
    assert sorted(rows) == sorted(written(table.batch(np.arange(10))))
    shares = [pair_batches(table, batch_size=2, seed=3, rank=rank, world=2)[0](1) for rank in (0, 1)]
    assert torch.equal(torch.cat([one.source.lengths_B for one in shares]), batches(1).source.lengths_B)
    whole = table.batch(np.arange(10))
    parts = whole.parts(4)
    assert [len(part.source.lengths_B) for part in parts] == [3, 3, 3, 1]
    assert all(part.source.words_BT.shape[1] == part.source.lengths_B.max() for part in parts)
    assert torch.equal(torch.cat([part.target.lengths_B for part in parts]), whole.target.lengths_B)
    with pytest.raises(InputError, match="10 pairs; expected at least one batch of 11"):
        pair_batches(table, batch_size=11, seed=0)


@pytest.mark.parametrize("own_output", [False, True])
def test_the_separator_begins_as_the_mean(own_output: bool, tmp_path: Path) -> None:
    """Of a T5 1.1, too, whose output layer is not its embeddings; its states are not scaled."""
    folder = tiny.write_seq2seq("t5", tmp_path / "it", own_output=own_output)
    module: Any = load_seq2seq(ModelFolder(folder))
    before = [part.weight.detach().clone() for part in embeddings_of(module)]
    given = {"input_ids": torch.tensor([[4, 5, 1]]), "decoder_input_ids": torch.tensor([[0, 6, 7]])}
    logits = module.eval()(**given).logits
    add_piece(module)
    after = [part.weight for part in embeddings_of(module)]
    for old, new in zip(before, after, strict=True):
        assert torch.equal(new[:-1], old)
        torch.testing.assert_close(new[-1], old.mean(0))
    assert module.config.vocab_size == len(after[0]) and (after[0] is not after[1]) == own_output
    torch.testing.assert_close(module(**given).logits[..., :-1], logits)
    again: Any = seq2seq_of_json(described(module)).eval()
    again.load_state_dict(module.state_dict())
    assert is_tied(again) != own_output
    torch.testing.assert_close(again(**given).logits[..., :-1], logits)


def test_a_model_without_a_beginning() -> None:
    module: Any = BertModel(BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
    module.config.decoder_start_token_id = None
    with pytest.raises(InputError, match="no decoder_start_token_id; expected the piece that an output begins with"):
        Seq2SeqNetwork(module)
