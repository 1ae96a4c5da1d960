"""VGVAE's network against its equations, sentence by sentence; its losses by hand; batches, noise and negatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_vgvae as tiny
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.batching import BOS, EOS, Ragged, SentenceBatch
from paraform.records import InputError
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rivals.vgvae.batches import PairTable, megabatch_sizes, megabatches, picked
from paraform_papers.rivals.vgvae.network import LatentCodes
from paraform_papers.rivals.vgvae.posterior import Noise
from paraform_papers.rivals.vgvae.von_mises_fisher import vmf_kl


def batch_of(rows: list[list[int]]) -> SentenceBatch:
    return SentenceBatch(*Ragged.of(rows).padded(np.arange(len(rows))))


def drawn(network: Any, batch: SentenceBatch, pairs: int) -> tuple[Any, Tensor, Tensor]:
    """The outputs, and the y and z that they are of: the same draws again."""
    rows = len(batch.lengths_B)
    out = network(batch, batch, pairs, Noise(torch.Generator().manual_seed(5), rows))
    posterior = network.posterior(batch, batch)
    noise = Noise(torch.Generator().manual_seed(5), rows)
    z = posterior.syntax.draw(noise.normal(network.config.syntax_width))
    return out, posterior.semantic.draw(noise), z


ROWS = [[5, 6, 7], [8, 5], [9, 10, 11, 12], [6, 9, 9], [7, 7]]  # two pairs, and a sentence of no pair


@pytest.mark.parametrize("name", ["paper", "no codes"])
def test_an_lstm_by_hand(name: str) -> None:
    """Each sentence alone: its posterior, its own words' nats and those by the other side's meaning, and its places."""
    model = tiny.model_of(tiny.CONFIGS[name])
    network = model.network
    assert network.decoder is not None and network.decoder_embedding is not None and network.encoder is not None
    out, y, z = drawn(network, batch_of(ROWS), 2)
    other = [2, 3, 0, 1]
    for at, row in enumerate(ROWS):
        words = torch.tensor(row)
        mean = network.semantic_embedding(words).mean(0)
        torch.testing.assert_close(out.direction_BM[at], F.normalize(network.direction(mean), dim=0))
        kappa = F.softplus(network.concentration(mean)) + 1
        torch.testing.assert_close(out.semantic_kl_B[at], vmf_kl(kappa, 5)[0])
        read = network.syntax_embedding(words)
        if network.codes is not None:
            scores = network.codes.scores(read)
            read = torch.stack([scores[:, 2 * code : 2 * code + 2].softmax(1) for code in range(8)], 1).flatten(1)
        state = network.encoder(read[None])[0][0].mean(0)
        mu, log_variance = network.mean(state), network.log_variance(state)
        kl = 0.5 * (mu**2 + log_variance.exp() - log_variance - 1).sum()
        torch.testing.assert_close(out.syntax_kl_B[at], kl)

        def nats(meaning: Tensor, row: list[int] = row, at: int = at) -> Tensor:
            inputs = network.decoder_embedding(torch.tensor([BOS, *row]))  # type: ignore[misc]
            states = network.decoder(torch.cat([inputs, z[at].expand(len(inputs), -1)], 1)[None])[0][0]  # type: ignore[misc]
            logits = network.output(torch.cat([states, meaning.expand(len(inputs), -1)], 1))
            return F.cross_entropy(logits, torch.tensor([*row, EOS]))

        torch.testing.assert_close(out.nll_B[at], nats(y[at]))
        torch.testing.assert_close(out.crossed_B[at], nats(y[other[at]]) if at < 4 else torch.tensor(0.0))
        places = torch.tensor(0.0)
        for guess, table in zip(network.place, (network.syntax_embedding, network.decoder_embedding), strict=True):
            logits = guess(torch.cat([table(words), z[at].expand(len(row), -1)], 1))
            places = places + F.cross_entropy(logits, torch.arange(len(row)))
        torch.testing.assert_close(out.position_B[at], places)


def test_a_bag_by_hand() -> None:
    model = tiny.model_of(tiny.CONFIGS["averages"])
    network = model.network
    assert network.bag is not None
    out, y, z = drawn(network, batch_of(ROWS), 2)
    other = [2, 3, 0, 1]
    for at, row in enumerate(ROWS):
        words = torch.tensor(row)
        state = network.syntax_embedding(words).mean(0)
        mu, log_variance = network.mean(state), network.log_variance(state)
        torch.testing.assert_close(out.syntax_kl_B[at], 0.5 * (mu**2 + log_variance.exp() - log_variance - 1).sum())
        for found, meaning in ((out.nll_B[at], y[at]), (out.crossed_B[at], y[other[at]] if at < 4 else None)):
            if meaning is not None:
                log_probs = network.output(network.bag(torch.cat([meaning, z[at]]))).log_softmax(0)
                torch.testing.assert_close(found, -log_probs[words].mean())
        logits = network.place[0](torch.cat([network.syntax_embedding(words), z[at].expand(len(row), -1)], 1))
        torch.testing.assert_close(out.position_B[at], F.cross_entropy(logits, torch.arange(len(row))))
    with pytest.raises(ValueError, match="form='averages'"):
        network.step(network.begin(y, z), torch.zeros(5, dtype=torch.long))


def test_steps_are_teacher_forcing() -> None:
    """One word after another gives the same nats as all at once."""
    network = tiny.model_of().network
    batch, y, z = batch_of(ROWS), torch.randn(5, 5), torch.randn(5, 3)
    memory, total = network.begin(y, z), torch.zeros(5)
    for time in range(5):
        tokens = batch.words_BT[:, time - 1] if time else torch.full((5,), BOS)
        features, memory = network.step(memory, tokens)
        wanted = [(*row, EOS)[time] if time <= len(row) else 0 for row in ROWS]
        gold = network.output(features).log_softmax(1).gather(1, torch.tensor(wanted)[:, None])[:, 0]
        total = total - gold * torch.tensor([time <= len(row) for row in ROWS])
    torch.testing.assert_close(total, network.reconstruction(batch, y, z))
    picked_again = memory.select(torch.tensor([3, 0]))
    assert picked_again.y_BM.equal(memory.y_BM[[3, 0]]) and picked_again.hidden_BH.equal(memory.hidden_BH[[3, 0]])


def test_codes_are_distributions() -> None:
    codes = LatentCodes(6, 4, 3)(torch.randn(2, 5, 6)).view(2, 5, 4, 3)
    torch.testing.assert_close(codes.sum(-1), torch.ones(2, 5, 4))


def test_padding_says_nothing() -> None:
    network = tiny.model_of().network
    alone, together = batch_of(ROWS[1:2]), batch_of(ROWS)
    torch.testing.assert_close(network.semantic(alone).direction_BM[0], network.semantic(together).direction_BM[1])
    torch.testing.assert_close(network.syntax(alone).mean_BZ[0], network.syntax(together).mean_BZ[1])


def test_megabatches_follow_the_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair once an epoch; from the epoch of negatives on several batches together, the last fewer."""
    monkeypatch.setattr("paraform_papers.rivals.vgvae.batches.MEGABATCH", 2)
    config = tiny.CONFIGS["averages"]
    model = tiny.model_of(config)
    batches, steps = megabatches(tiny.table(model), replace(config, batch_size=2), seed=1)
    assert steps == 5 + 3 + 3 and megabatch_sizes(5, replace(config, batch_size=2)) == [1] * 5 + [2, 2, 1] * 2
    assert [batches(step).contrasted for step in range(11)] == [False] * 5 + [True] * 6
    for first, last in ((0, 5), (5, 8), (8, 11)):
        seen = torch.cat([batches(step).clusters_M for step in range(first, last)])
        assert sorted(seen.tolist()) == list(range(10))
    again, _ = megabatches(tiny.table(model), replace(config, batch_size=2), seed=1)
    assert torch.equal(again(7).sentences.words_BT, batches(7).sentences.words_BT) and again(7).seed == batches(7).seed
    for step in range(11):
        batch = batches(step)
        half = len(batch.clusters_M)
        words = [model.vocabulary.words[number] for number in batch.sentences.words_BT[half].tolist() if number]
        assert " ".join(words) == tiny.SIDES[int(batch.clusters_M[0])][1]
    with pytest.raises(InputError, match="10 pairs; expected at least one batch of 11"):
        megabatches(tiny.table(model), replace(config, batch_size=11), seed=0)


def test_word_noise_keeps_tags_and_lengths() -> None:
    """A share of the words are drawn evenly from those of their tag; a tag without words keeps its own."""
    words = Ragged.of([[10, 20, 11, 1], [20, 10]])
    tags = np.array([0, 1, 0, 2, 1, 0])
    of_tag = Ragged.of([[10, 11, 12, 13], [20, 21], []])
    rows = np.arange(2)
    table = PairTable(words, tags, of_tag, rows, rows, rows)
    plain, random = table.sentences(np.array([0, 1])), np.random.default_rng(0)
    for share in (0.0, 0.5, 1.0):
        found = [table.noised(np.array([0, 1]), share, random).words_BT for _ in range(2000)]
        all_of = torch.stack(found)
        assert bool((all_of[:, 0, 3] == 1).all()) and bool((all_of[:, 1, 2:] == 0).all())
        changed = (all_of != plain.words_BT).float().mean(0)
        assert changed[0, 0].item() == pytest.approx(0.75 * share, abs=0.05)  # one in four is the word itself
        assert changed[1, 0].item() == pytest.approx(0.5 * share, abs=0.05)
        assert set(all_of[:, 0, 0].tolist()) <= {10, 11, 12, 13} and set(all_of[:, 0, 1].tolist()) <= {20, 21}
    assert table.noised(np.array([1]), 0.0, random).words_BT.tolist() == [[20, 10]]


def test_tags_are_of_the_words(own_cache: None) -> None:
    """Determiners are replaced by determiners: what the tagger says, by the words of the training sentences."""
    config = replace(tiny.CONFIGS["paper"], word_noise=1.0)
    model = tiny.model_of(config)
    table = tiny.table(model)
    the, a, dog = (model.vocabulary.words.index(word) for word in ("the", "a", "dog"))
    place = int(np.flatnonzero(table.words.values == the)[0])
    of_the = table.of_tag.padded(np.array([table.tags[place]]))[0][0].tolist()
    assert the in of_the and a in of_the and dog not in of_the


def test_what_is_picked_is_as_wide_as_its_longest() -> None:
    found = picked(batch_of(ROWS), torch.tensor([4, 1]))
    assert found.words_BT.tolist() == [[7, 7], [8, 5]] and found.lengths_B.tolist() == [2, 2]


def test_forms_have_their_parts() -> None:
    assert tiny.model_of(VgvaeConfig.paper(**{**tiny.COMMON, "position_weight": 0.0})).network.place is not None
    names = {name.split(".")[0] for name, _ in tiny.model_of(tiny.CONFIGS["averages"]).network.named_parameters()}
    assert "decoder" not in names and "encoder" not in names and "bag" in names


@pytest.mark.parametrize("name", ["paper", "averages"])
def test_what_compact_adds(name: str) -> None:
    """y is scaled before every decoder; κ begins above another number than 1."""
    plain = tiny.model_of(tiny.CONFIGS[name]).network
    changed = tiny.model_of(replace(tiny.CONFIGS[name], semantic_scale=3.0, least_concentration=20.0)).network
    batch, y, z = batch_of(ROWS), torch.randn(5, 5), torch.randn(5, 3)
    torch.testing.assert_close(changed.reconstruction(batch, y, z), plain.reconstruction(batch, 3 * y, z))
    if name == "paper":
        tokens = torch.full((5,), BOS)
        (one, _), (other, _) = changed.step(changed.begin(y, z), tokens), plain.step(plain.begin(3 * y, z), tokens)
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(changed.semantic(batch).concentration_B, plain.semantic(batch).concentration_B + 19)
