"""VGVAE and CGEN as tensors: words → (y, z) → words.

    y ~ vMF(μ(x), κ(x)), μ = f(mean of e(w_t)) at length 1, κ = softplus(g(mean of e(w_t))) + 1
    z ~ N(m(x), diag s²(x)), of a mean over the states of a BiLSTM ("lstm") or over words ("averages")
    p(x|y, z) = Π_t softmax(W [h_t; y] + b), h = LSTM([e(x_{t−1}); z]); or Π_t softmax(W f([y; z]) + b), a bag

Text goes in and comes out in `autoencoder.py`.

Shape key: B sentences, T words of the longest, D features, M dimensions of the semantic sphere's space, Z syntactic
latent, C codes, K classes of a code, P places, H features of a decoder's state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import BOS, PAD, SentenceBatch
from paraform.models.latent.posterior import Diagonal
from paraform.models.layers import leaky_layers, run_lstm
from paraform.models.sentence_nll import sentence_nll
from paraform_papers.rivals.vgvae.config import VgvaeConfig
from paraform_papers.rivals.vgvae.posterior import Noise, Product, VonMisesFisher
from paraform_papers.rivals.vgvae.von_mises_fisher import MOST_CONCENTRATION
from paraform_papers.rivals.vgvae.word_position import word_position_nll

CODES, CLASSES = 8, 2  # latent codes of a word, and the classes of each


class Outputs(NamedTuple):
    """What the losses need of B sentences; nats, [B] each, and directions [B, M].

    Args:
        nll_B: −ln p(x_i|y_i, z_i), a mean over words.
        crossed_B: −ln p(x_i|y_j, z_i), j the other side; 0 where there is none.
        position_B: the word position loss, of the encoder's words and the decoder's together.
    """

    nll_B: Tensor
    crossed_B: Tensor
    semantic_kl_B: Tensor
    syntax_kl_B: Tensor
    position_B: Tensor
    direction_BM: Tensor


@final
class Memory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`).

    Args:
        source_BS: words of a source, where their repetition is constrained.
    """

    y_BM: Tensor
    z_BZ: Tensor
    hidden_BH: Tensor
    cell_BH: Tensor
    source_BS: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(*(part[rows_N] for part in self))


@final
class LatentCodes(nn.Module):
    """Soft codes of each word [B, T, C · K] in its embedding's place: of each code a distribution over its classes."""

    def __init__(self, inputs: int, codes: int, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.scores = nn.Linear(inputs, codes * classes)

    def forward(self, words_BTD: Tensor) -> Tensor:
        """The LSTM's own input weights are the vectors of the classes."""
        scores_BTC: Tensor = self.scores(words_BTD)
        return scores_BTC.view(*scores_BTC.shape[:-1], -1, self.classes).softmax(-1).flatten(-2)


@final
class VgvaeNetwork(nn.Module):
    """Both encoders, the decoder, and what guesses words' places."""

    def __init__(self, config: VgvaeConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        width, hidden = config.word_width, config.hidden_width
        semantic, syntax = config.semantic_width, config.syntax_width
        lstm = config.form == "lstm"
        self.dropout = nn.Dropout(config.dropout)
        self.semantic_embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        self.direction = leaky_layers(width, hidden, 1, semantic)
        self.concentration = leaky_layers(width, hidden, 1, 1)
        self.syntax_embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        self.codes = LatentCodes(width, CODES, CLASSES) if config.latent_codes else None
        read = CODES * CLASSES if config.latent_codes else width
        self.encoder = nn.LSTM(read, config.encoder_width, batch_first=True, bidirectional=True) if lstm else None
        state = 2 * config.encoder_width if lstm else width
        self.mean = leaky_layers(state, hidden, 1, syntax)
        self.log_variance = leaky_layers(state, hidden, 1, syntax)
        self.decoder_embedding = nn.Embedding(vocabulary, width, padding_idx=PAD) if lstm else None
        self.decoder = nn.LSTM(width + syntax, config.decoder_width, batch_first=True) if lstm else None
        self.bag = None if lstm else nn.Sequential(leaky_layers(semantic + syntax, hidden, 1, hidden), nn.LeakyReLU())
        self.output = nn.Linear(config.decoder_width + semantic if lstm else hidden, vocabulary)
        guesses = 0 if not config.position_weight else 2 if lstm else 1
        self.place = nn.ModuleList([leaky_layers(width + syntax, hidden, 2, config.max_tokens) for _ in range(guesses)])

    def embeddings(self) -> list[nn.Embedding]:
        """All tables of words."""
        tables = [self.semantic_embedding, self.syntax_embedding, self.decoder_embedding]
        return [table for table in tables if table is not None]

    def semantic(self, batch: SentenceBatch) -> VonMisesFisher:
        """q(y|x); any direction for a sentence without words."""
        mean_BD = _mean(self.dropout(self.semantic_embedding(batch.words_BT)), batch.lengths_B)
        # In float32 under autocast, too: a rounded direction has not length 1.
        concentration_B = F.softplus(self.concentration(mean_BD).squeeze(-1).float()) + self.config.least_concentration
        direction_BM = F.normalize(self.direction(mean_BD).float(), dim=-1)
        return VonMisesFisher(direction_BM, concentration_B.clamp_max(MOST_CONCENTRATION))

    def syntax(self, batch: SentenceBatch) -> Diagonal:
        """q(z|x) of sentences with at least a word each."""
        return self._syntax(self.dropout(self.syntax_embedding(batch.words_BT)), batch.lengths_B)

    def _syntax(self, words_BTD: Tensor, lengths_B: Tensor) -> Diagonal:
        if self.codes is not None:
            words_BTD = self.codes(words_BTD)
        if self.encoder is not None:
            words_BTD, _ = run_lstm(self.encoder, words_BTD, lengths_B)
        state_BD = _mean(words_BTD, lengths_B)
        return Diagonal(self.mean(state_BD).float(), self.log_variance(state_BD).float())

    def posterior(self, batch: SentenceBatch, read: SentenceBatch) -> Product:
        """q(y|x) q(z|x), the syntactic encoder reading perhaps other words."""
        return Product(self.semantic(batch), self.syntax(read))

    def forward(self, batch: SentenceBatch, read: SentenceBatch, pairs: int, noise: Noise) -> Outputs:
        """Encode, draw, and decode each sentence by its own meaning and by the other side's.

        Args:
            batch: the sources of `pairs` pairs, their targets, and perhaps further sentences, without other sides.
            read: what the syntactic encoder reads of them.
            noise: of all rows.
        """
        words_BTD = self.dropout(self.syntax_embedding(read.words_BT))
        semantic, syntax = self.semantic(batch), self._syntax(words_BTD, read.lengths_B)
        z_BZ = syntax.draw(noise.normal(self.config.syntax_width))
        y_BM = semantic.draw(noise)
        placed = [words_BTD]
        both = 2 * pairs
        other_BM = torch.cat([y_BM[pairs:both], y_BM[:pairs]])
        if self.decoder is not None:
            # Further sentences have no other side; what is said of them by their own once more counts nothing.
            before_BTD = self._before(batch)
            placed.append(before_BTD[:, 1:])
            states_BTH = self._states(before_BTD, z_BZ)
            nll_B = self._nll(states_BTH, y_BM, batch)
            crossed_B = self._nll(states_BTH, torch.cat([other_BM, y_BM[both:]]), batch)[:both]
        else:
            first = SentenceBatch(batch.words_BT[:both], batch.lengths_B[:both])
            nll_B, crossed_B = self.bag_nll(batch, y_BM, z_BZ), self.bag_nll(first, other_BM, z_BZ[:both])
        counted_B = self.counted(batch)
        crossed_B = F.pad(crossed_B / counted_B[:both], (0, len(nll_B) - both))
        nll_B = nll_B / counted_B
        places_B = self._positions(placed, batch.lengths_B, z_BZ) if len(self.place) else torch.zeros_like(nll_B)
        return Outputs(nll_B, crossed_B, semantic.kl(), syntax.kl(), places_B, semantic.direction_BM)

    def reconstruction(self, batch: SentenceBatch, y_BM: Tensor, z_BZ: Tensor) -> Tensor:
        """−ln p(x|y, z), [B] nats: of a bag its words, otherwise `</s>` too."""
        if self.decoder is None:
            return self.bag_nll(batch, y_BM, z_BZ)
        return self._nll(self._states(self._before(batch), z_BZ), y_BM, batch)

    def _nll(self, states_BTH: Tensor, y_BM: Tensor, batch: SentenceBatch) -> Tensor:
        """−ln p of each sentence by the decoder's states and a meaning, [B] nats."""
        seen_BTM = (self.config.semantic_scale * y_BM)[:, None].expand(-1, states_BTH.shape[1], -1)
        return sentence_nll(self.output, torch.cat([states_BTH, seen_BTM], -1), batch)

    def counted(self, batch: SentenceBatch) -> Tensor:
        """Words of each sentence that `reconstruction` is of."""
        ends = 0 if self.decoder is None else 1
        return (batch.lengths_B.to(self.output.weight.device) + ends).clamp_min(1)

    def bag_nll(self, batch: SentenceBatch, y_BM: Tensor, z_BZ: Tensor) -> Tensor:
        """−Σ_t ln softmax(W f([y; z]) + b)_{x_t}, [B] nats."""
        if self.bag is None:
            raise ValueError("form='lstm'; expected form='averages', which has a bag")
        features_BH = self.dropout(self.bag(torch.cat([self.config.semantic_scale * y_BM, z_BZ], -1)))
        log_probs_BV = torch.log_softmax(self.output(features_BH), -1)
        return -(log_probs_BV.gather(1, batch.words_BT) * batch.there()).sum(1)

    def begin(self, y_BM: Tensor, z_BZ: Tensor) -> Memory:
        """The decoder's memory before the first word."""
        zeros_BH = y_BM.new_zeros(len(y_BM), self.config.decoder_width)
        return Memory(y_BM, z_BZ, zeros_BH, zeros_BH, zeros_BH[:, :0].long())

    def step(self, memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
        """Features [B, H + M] that the next word is scored by, and the memory with this one."""
        if self.decoder is None or self.decoder_embedding is None:
            raise ValueError("form='averages'; expected form='lstm', which writes sentences")
        inputs_B1D = torch.cat([self.decoder_embedding(tokens_N), memory.z_BZ], -1)[:, None]
        states_B1H, (hidden, cell) = self.decoder(inputs_B1D, (memory.hidden_BH[None], memory.cell_BH[None]))
        features_BH = torch.cat([states_B1H[:, 0], self.config.semantic_scale * memory.y_BM], -1)
        return features_BH, memory._replace(hidden_BH=hidden[0], cell_BH=cell[0])

    def _before(self, batch: SentenceBatch) -> Tensor:
        """The embeddings of the start and of each word, [B, T + 1, D]."""
        if self.decoder_embedding is None:
            raise ValueError("form='averages'; expected form='lstm', which writes sentences")
        words_BTD: Tensor = self.dropout(self.decoder_embedding(F.pad(batch.words_BT, (1, 0), value=BOS)))
        return words_BTD

    def _states(self, before_BTD: Tensor, z_BZ: Tensor) -> Tensor:
        """h before each word and the end, [B, T + 1, H]; y plays no part in them."""
        if self.decoder is None:
            raise ValueError("form='averages'; expected form='lstm', which writes sentences")
        z_BTZ = z_BZ[:, None].expand(-1, before_BTD.shape[1], -1)
        states_BTH: Tensor = self.dropout(self.decoder(torch.cat([before_BTD, z_BTZ], -1))[0])
        return states_BTH

    def _positions(self, placed: Sequence[Tensor], lengths_B: Tensor, z_BZ: Tensor) -> Tensor:
        """The word position losses: of the words that the encoder read, and of those that the decoder writes."""
        z_BTZ = z_BZ[:, None].expand(-1, placed[0].shape[1], -1)
        losses = [
            word_position_nll(guess(torch.cat([words_BTD, z_BTZ], -1)), lengths_B)
            for guess, words_BTD in zip(self.place, placed, strict=True)
        ]
        return torch.stack(losses).sum(0)


def _mean(words_BTD: Tensor, lengths_B: Tensor) -> Tensor:
    """Over the words that are there, whose padding is 0 or left out: [B, D]; 0 without any."""
    lengths_B = lengths_B.to(words_BTD.device)
    there_BT = torch.arange(words_BTD.shape[1], device=words_BTD.device) < lengths_B[:, None]
    return (words_BTD * there_BT[..., None]).sum(1) / lengths_B.clamp_min(1)[:, None]
