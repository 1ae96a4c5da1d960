"""−ln p of whole sentences by a decoder's states, which several systems share.

Shape key: R sentences, T words of the longest and its end, H features of a state, N words of all sentences, V words of
the vocabulary.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import EOS, SentenceBatch
from paraform.encoders import product_dtype
from paraform.losses.vocabulary import vocabulary_nll


def sentence_nll(output: nn.Linear, states_RTH: Tensor, batch: SentenceBatch, stop: int = EOS) -> Tensor:
    """−Σ_t ln softmax(W h_t + b)_{x_t}, `</s>` counted: [R] nats.

    Args:
        output: W and perhaps b.
        states_RTH: [R, T + 1, H], before each word and the end.
        stop: the number of the end.
    """
    words_RT, lengths_R = batch.words_BT, batch.lengths_B.to(batch.words_BT.device)
    gold_RT = F.pad(words_RT, (0, 1)).scatter(1, lengths_R[:, None], stop)
    real_RT = torch.arange(gold_RT.shape[1], device=gold_RT.device) <= lengths_R[:, None]
    weight_VH, dtype = output.weight, product_dtype(states_RTH.device)
    features_NH = states_RTH[real_RT].to(weight_VH.dtype if dtype == torch.float32 else dtype)
    if output.bias is not None:  # b, as the weights of one more feature, which is always 1
        weight_VH = torch.cat([weight_VH, output.bias[:, None]], 1)
        features_NH = F.pad(features_NH, (0, 1), value=1.0)
    nll_N = vocabulary_nll(features_NH, weight_VH, gold_RT[real_RT])
    nll_RT = nll_N.new_zeros(gold_RT.shape).masked_scatter(real_RT, nll_N)
    return nll_RT.sum(1)
