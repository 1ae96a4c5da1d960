"""The latent-variable family as tensors: x → h → z → x.

    h = ENC(x), z ~ q(z|h), p(x|z) = Π_t softmax(W DEC(x_<t, z)), or W … + b

Text goes in and comes out in `language_model.py`.

Shape key: B sentences, R rows (views · B in training), T words of the longest, H features of a state, Z latent,
V words of the vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import BOS, EOS, SentenceBatch
from paraform.encoders.causal import states_and_scores
from paraform.models.adapters import Holder
from paraform.models.latent.causal import Base, CausalDecoder, CausalEncoder, twin
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.lstm import LSTMDecoder, LSTMEncoder
from paraform.models.latent.posterior import PosteriorLayer
from paraform.models.sentence_nll import sentence_nll


class Outputs(NamedTuple):
    """What the losses need of R rows: states, z, −ln p(x|z) [R] in nats, and KL in closed form [R], or None."""

    state_RH: Tensor
    z_RZ: Tensor
    reconstruction_R: Tensor
    kl_R: Tensor | None


@final
class LatentNetwork(Holder):
    """Encoder, posterior, decoder. The critics, which have an optimiser of their own, are in `critic.py`.

    Args:
        vocabulary: V, of the network "lstm".
        base: of the network "lm", which is not changed; its output layer scores words, and is no part of this.
    Raises: InputError if the base does more behind its last states than that.
    """

    encoder: LSTMEncoder | CausalEncoder
    decoder: LSTMDecoder | CausalDecoder
    output: nn.Linear

    def __init__(self, config: LatentConfig, vocabulary: int, base: Base | None = None) -> None:
        super().__init__()
        self.config = config
        if base is None:
            self.start, self.stop = BOS, EOS
            self.encoder = LSTMEncoder(config, vocabulary)
        else:
            self.start, self.stop = base.pieces.start, base.pieces.stop
            inner, output = states_and_scores(base.module)
            self.encoder = CausalEncoder(config, twin(inner), self.start)
        self.posterior = PosteriorLayer(config)
        if base is None:
            self.decoder = LSTMDecoder(config, vocabulary)
            self.output = nn.Linear(config.hidden_width, vocabulary, bias=config.output_bias)
        else:
            self.decoder = CausalDecoder(config, twin(inner))
            self.hold("output", output.requires_grad_(False))
        for weight in (self if base is None else self.posterior).parameters():
            nn.init.uniform_(weight, -config.initial_range, config.initial_range)
        if config.tie_embeddings and isinstance(self.decoder, LSTMDecoder):
            self.output.weight = self.decoder.embedding.weight

    def forward(self, source: SentenceBatch, noise_RZ: Tensor, target: SentenceBatch | None = None) -> Outputs:
        """Encode, draw and decode rows; rows of one sentence have dropout masks of their own.

        Args:
            source: sentences to encode.
            noise_RZ: standard normal.
            target: sentences to decode; None: the same.
        """
        state_RH = self.encoder(source.words_BT, source.lengths_B)
        if self.config.kl == "closed":
            gaussian = self.posterior.gaussian(state_RH)
            z_RZ, kl_R = gaussian.draw(noise_RZ), gaussian.kl()
        else:
            z_RZ, kl_R = self.posterior(state_RH, noise_RZ), None
        return Outputs(state_RH, z_RZ, self.reconstruction(source if target is None else target, z_RZ), kl_R)

    def reconstruction(self, batch: SentenceBatch, z_RZ: Tensor) -> Tensor:
        """−ln p(x|z), `</s>` counted: [R] nats."""
        states_RTH = self.decoder(F.pad(batch.words_BT, (1, 0), value=self.start), z_RZ)
        return sentence_nll(self.output, states_RTH, batch, self.stop)
