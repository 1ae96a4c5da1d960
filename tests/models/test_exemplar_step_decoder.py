"""The decoder word by word against teacher forcing; its memory; a narrow copy."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paraform import decoding
from paraform.batching import BOS, EOS, PAD, UNK
from paraform.models.exemplar.batches import StyleInput
from paraform.models.exemplar.network import ExemplarNetwork, Memory
from paraform.models.exemplar.step_decoder import StepDecoder
from paraform.models.writing import decoding_batches


@pytest.mark.parametrize("name", ["copying", "coverage", "both", "states", "paper", "reference"])
def test_teacher_forcing_is_decoding_of_the_gold_words(name: str, tiny: ModuleType) -> None:
    """p(y_t | y_<t) by a step on one triple at a time; `<unk>`, which it never says, is made unlikely beforehand."""
    model = tiny.paraphraser(tiny.CONFIGS[name]).network.eval()
    with torch.no_grad():
        model.output.bias[[PAD, UNK, BOS]] = -1e4
    batch = tiny.whole_batch(model.config)
    with torch.inference_mode():
        out = model(batch)
        parts = torch.split(out.log_probs_N, out.lengths_B.tolist())
        copied = compared = 0
        for row, found in enumerate(parts):
            alone = tiny.one_row(batch, row)
            source, target = alone.source_BT[0].tolist(), alone.target_BT[0].tolist()
            decoder = StepDecoder(model, alone.source_BT.shape[1])
            memory = decoder.begin(
                alone.source_BT, alone.source_lengths_B, alone.exemplar, torch.tensor([0]), alone.source_states
            )
            last = BOS
            for said, word in zip(found.tolist(), [*target, EOS], strict=True):
                log_probs, memory = decoder.step(memory, torch.tensor([last]))
                assert log_probs.exp().sum().item() == pytest.approx(1.0, abs=1e-5)
                if word < model.vocabulary:
                    assert said == pytest.approx(log_probs[0, word].item(), abs=1e-4)
                    compared += 1
                elif model.config.copy and word in source:
                    column = model.vocabulary + source.index(word)
                    assert said == pytest.approx(log_probs[0, column].item(), abs=1e-4)
                    last, copied = column, copied + 1
                    continue
                else:
                    assert said < -80  # only `<unk>` could be said here
                last = word if word < model.vocabulary else UNK
    assert compared > 100 and (copied > 5 or not model.config.copy)


def begun(
    tiny: ModuleType, name: str, dtype: torch.dtype = torch.float32, moved: torch.dtype = torch.float32
) -> tuple[StepDecoder, Memory]:
    """A decoder, and its memory of every source of the tiny table; the network was `moved` to a dtype before."""
    model = tiny.paraphraser(tiny.CONFIGS[name]).network.eval().to(moved)
    batch = tiny.whole_batch(model.config)
    decoder = StepDecoder(model, batch.source_BT.shape[1], dtype)
    every = torch.arange(len(batch.source_BT))
    states = batch.source_states
    return decoder, decoder.begin(batch.source_BT, batch.source_lengths_B, batch.exemplar, every, states)


@pytest.mark.parametrize("name", ["copying", "coverage"])
@torch.inference_mode()
def test_memory_picks_rows(name: str, tiny: ModuleType) -> None:
    decoder, memory = begun(tiny, name)
    words = memory.source_BS[:, 0]
    rows = torch.tensor([5, 0, 5])
    shared, after = decoder.step(memory, words)
    log_probs = shared.clone()
    picked, picked_after = decoder.step(memory.select(rows), words[rows])
    torch.testing.assert_close(picked, log_probs[rows])
    for found, expected in zip(picked_after, after.select(rows), strict=True):
        torch.testing.assert_close(found, expected)
    coverage_BS = (memory.source_BS == words[:, None]).long()
    assert torch.equal(after.coverage_BS, coverage_BS if name == "coverage" else torch.zeros_like(coverage_BS))
    assert not np.isnan(log_probs.numpy()).any()
    assert np.isfinite(log_probs[:, EOS : decoder.network.vocabulary].numpy()).all()


@torch.inference_mode()
def test_the_scores_of_a_step_last_until_the_next(tiny: ModuleType) -> None:
    """One piece of memory serves all steps."""
    decoder, memory = begun(tiny, "copying")
    words = torch.full((len(memory.source_BS),), BOS)
    first, _ = decoder.step(memory, words)
    second, _ = decoder.step(memory.select(torch.arange(3)), words[:3])
    assert second.data_ptr() == first.data_ptr() and len(second) == 3


@pytest.mark.parametrize("name", ["copying", "states"])
@pytest.mark.parametrize("constrained", [False, True])
@torch.inference_mode()
def test_searches_live_with_shared_scores(constrained: bool, name: str, tiny: ModuleType) -> None:
    """They say what they say where each step has scores of its own."""
    decoder, memory = begun(tiny, name)
    rows = len(memory.source_BS)
    ends = {"start": BOS, "stop": EOS, "max_tokens": 6}

    def own(memory: Memory, tokens: Tensor) -> tuple[Tensor, Memory]:
        log_probs, memory = decoder.step(memory, tokens)
        return log_probs.clone(), memory

    state = decoding.Constrained.of(memory, memory.source_BS) if constrained else memory
    said = []
    for step in (decoder.step, own):
        step = decoding.constrain_repetition(step, stop=EOS) if constrained else step
        drawn = {"top_p": 0.9, "generator": torch.Generator().manual_seed(0)}
        likeliest = decoding.greedy(step, state, rows, **ends)
        random = decoding.sample(step, state, rows, **drawn, **ends)
        said.append([likeliest, random, *decoding.beam(step, state, rows, width=3, **ends)])
    assert all(torch.equal(one, other) for one, other in zip(*said, strict=True))


@torch.inference_mode()
def test_states_are_read_row_by_row(tiny: ModuleType) -> None:
    """Rows that a packed GRU gave in order come interleaved: every later product would gather them again."""
    model = tiny.paraphraser(tiny.CONFIGS["copying"]).network.eval()
    batch = tiny.whole_batch()
    source_BS = batch.source_BT
    lengths_B = torch.full_like(batch.source_lengths_B, source_BS.shape[1])
    content = model.encode_content(source_BS, lengths_B)
    assert not content.states.is_contiguous()
    every = torch.arange(len(source_BS))
    memory = StepDecoder(model, source_BS.shape[1]).begin(source_BS, lengths_B, batch.exemplar, every)
    assert memory.content.is_contiguous() and torch.equal(memory.content, content.states)


@pytest.mark.parametrize("name", ["copying", "coverage", "paper", "states"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@torch.inference_mode()
def test_a_network_of_any_width(name: str, dtype: torch.dtype, tiny: ModuleType) -> None:
    """One that was moved to another dtype says what it says in float32, to the accuracy of its numbers."""
    decoder, memory = begun(tiny, name)
    words = torch.full((len(memory.source_BS),), BOS)
    expected, _ = decoder.step(memory, words)
    moved, less = begun(tiny, name, moved=dtype)
    assert moved.network.embedding.weight.dtype == torch.float32
    found, _ = moved.step(less, words)
    tolerance = 0.02 if dtype == torch.bfloat16 else 1e-5
    torch.testing.assert_close(found.exp(), expected.exp(), atol=tolerance, rtol=0)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), max_size=60), st.integers(1, 70))
def test_every_row_is_said_once(lengths: list[tuple[int, int]], size: int) -> None:
    """In batches of at most `size`; within a batch no source is followed by a longer one, as packing wants it."""
    exemplars, sources = [one for one, _ in lengths], [two for _, two in lengths]
    batches = decoding_batches(exemplars, sources, size)
    assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
    assert all(0 < len(rows) <= size for rows in batches)
    if len(lengths) <= size:
        assert all([sources[i] for i in rows] == sorted((sources[i] for i in rows), reverse=True) for rows in batches)


@pytest.mark.parametrize("name", ["copying", "coverage", "paper", "states"])
@torch.inference_mode()
def test_a_narrow_copy_says_nearly_the_same(name: str, tiny: ModuleType) -> None:
    """In bfloat16, whose numbers have 8 bits; the output layer keeps its float32."""
    (wide, memory), (narrow, less) = (begun(tiny, name, dtype) for dtype in (torch.float32, torch.bfloat16))
    assert narrow.network is not wide.network and less.content.dtype == torch.bfloat16
    assert all(value.dtype == torch.bfloat16 for value in narrow.network.state_dict().values())
    words = torch.full((len(memory.source_BS),), BOS)
    for _ in range(3):
        expected, memory = wide.step(memory, words)
        found, less = narrow.step(less, words)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.exp(), expected.exp(), atol=0.02, rtol=0)
        assert not torch.equal(found, expected)
        words = expected.argmax(-1)


@pytest.mark.parametrize("name", ["coverage", "paper"])
@torch.inference_mode()
def test_a_fine_tuned_style_encoder_is_cast_too(name: str, tiny: ModuleType) -> None:
    """It reads piece numbers, and its own weights stay what they were."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
    bert = BertModel(BertConfig(vocab_size=20, **sizes)).eval()
    bert.register_buffer("seen", torch.tensor(3))
    config = replace(tiny.CONFIGS[name], style_trainable=True, style_layer=-1)
    model = ExemplarNetwork(config, 20, 8, bert).eval()
    forms = StyleInput(torch.tensor([[2, 5, 6, 7, 3], [2, 9, 3, 0, 0]]), torch.tensor([5, 3]))
    sources = torch.tensor([[7, 8, 7], [9, 6, 0]]), torch.tensor([3, 2])
    said = []
    for dtype in (torch.float32, torch.bfloat16):
        decoder = StepDecoder(model, 3, dtype)
        cast: Any = decoder.network.style_module
        assert cast.embeddings.word_embeddings.weight.dtype == dtype and cast.seen.dtype == torch.int64
        memory = decoder.begin(*sources, forms, torch.tensor([1, 0]))
        assert memory.style.dtype == dtype
        said.append(decoder.step(memory, torch.tensor([BOS, BOS]))[0].exp())
    torch.testing.assert_close(said[0], said[1], atol=0.02, rtol=0)
    assert not torch.equal(said[0], said[1])
    assert bert.embeddings.word_embeddings.weight.dtype == torch.float32
