"""The latent-variable family as tensors: x → h → z → x.

    h = ENC(x), z ~ q(z|h), p(x|z) = Π_t softmax(W DEC(x_<t, z)), or W … + b

Text goes in and comes out in `language_model.py`.

Shape key: B sentences, R rows (views · B in training), T words of the longest, H features of a state, Z latent,
V words of the vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import BOS, EOS, SentenceBatch
from paraform.encoders import product_dtype
from paraform.losses.vocabulary import vocabulary_nll
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.lstm import LSTMDecoder, LSTMEncoder
from paraform.models.latent.posterior import PosteriorLayer
from paraform.models.latent.transformer import TransformerDecoder, TransformerEncoder


class Outputs(NamedTuple):
    """What the losses need of R rows: states, z, −ln p(x|z) [R] in nats, and KL in closed form [R], or None."""

    state_RH: Tensor
    z_RZ: Tensor
    reconstruction_R: Tensor
    kl_R: Tensor | None


@final
class LatentNetwork(nn.Module):
    """Encoder, posterior, decoder. The critics, which have an optimiser of their own, are in `critic.py`."""

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        lstm = config.network == "lstm"
        self.encoder = (LSTMEncoder if lstm else TransformerEncoder)(config, vocabulary)
        self.posterior = PosteriorLayer(config)
        self.decoder = (LSTMDecoder if lstm else TransformerDecoder)(config, vocabulary)
        self.output = nn.Linear(config.hidden_width, vocabulary, bias=config.output_bias)
        if lstm:
            for weight in self.parameters():
                nn.init.uniform_(weight, -config.initial_range, config.initial_range)
        if config.tie_embeddings:
            if not lstm:  # scores of about 1 at the beginning, as those of an output layer of its own
                nn.init.normal_(self.decoder.embedding.weight, std=config.hidden_width**-0.5)
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
        words_RT, lengths_R = batch.words_BT, batch.lengths_B.to(batch.words_BT.device)
        inputs_RT = F.pad(words_RT, (1, 0), value=BOS)
        states_RTH = self.decoder(inputs_RT, z_RZ)
        gold_RT = F.pad(words_RT, (0, 1)).scatter(1, lengths_R[:, None], EOS)
        real_RT = torch.arange(gold_RT.shape[1], device=gold_RT.device) <= lengths_R[:, None]
        weight_VH, dtype = self.output.weight, product_dtype(states_RTH.device)
        features_NH = states_RTH[real_RT].to(weight_VH.dtype if dtype == torch.float32 else dtype)
        if self.output.bias is not None:  # b, as the weights of one more feature, which is always 1
            weight_VH = torch.cat([weight_VH, self.output.bias[:, None]], 1)
            features_NH = F.pad(features_NH, (0, 1), value=1.0)
        nll_N = vocabulary_nll(features_NH, weight_VH, gold_RT[real_RT])
        nll_RT = nll_N.new_zeros(gold_RT.shape).masked_scatter(real_RT, nll_N)
        return nll_RT.sum(1)
