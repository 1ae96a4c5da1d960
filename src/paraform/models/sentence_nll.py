"""−ln p of whole sentences by a decoder's states, which several systems share.

Shape key: R sentences, T words of the longest and its end, H features of a state, M of what a whole sentence is given,
N words of all sentences, V words of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import EOS, SentenceBatch
from paraform.encoders import product_dtype
from paraform.losses.vocabulary import vocabulary_nll, vocabulary_nll_of_views


def sentence_nll(output: nn.Linear, states_RTH: Tensor, batch: SentenceBatch) -> Tensor:
    """−Σ_t ln softmax(W h_t + b)_{x_t}, `</s>` counted: [R] nats.

    Args:
        output: W and perhaps b.
        states_RTH: [R, T + 1, H], before each word and the end.
    """
    gold_RT, real_RT = _gold(batch)
    weight_VH, dtype = output.weight, product_dtype(states_RTH.device)
    features_NH = states_RTH[real_RT].to(weight_VH.dtype if dtype == torch.float32 else dtype)
    if output.bias is not None:  # b, as the weights of one more feature, which is always 1
        weight_VH = torch.cat([weight_VH, output.bias[:, None]], 1)
        features_NH = F.pad(features_NH, (0, 1), value=1.0)
    nll_N = vocabulary_nll(features_NH, weight_VH, gold_RT[real_RT])
    nll_RT = nll_N.new_zeros(gold_RT.shape).masked_scatter(real_RT, nll_N)
    return nll_RT.sum(1)


def sentence_nll_of_each(
    output: nn.Linear, states_RTH: Tensor, given: Sequence[Tensor], batch: SentenceBatch
) -> list[Tensor]:
    """`sentence_nll` of [h_t; y] for each y that is given, in about the time of one.

    Args:
        output: W, of H + M features, and b.
        states_RTH: [R, T + 1, H], before each word and the end.
        given: y [R, M], one a sentence.
    Returns: [R] nats of each.
    """
    gold_RT, real_RT = _gold(batch)
    dtype = product_dtype(states_RTH.device)
    features_NH = states_RTH[real_RT].to(output.weight.dtype if dtype == torch.float32 else dtype)
    weight_VH, weight_VM = output.weight.tensor_split([states_RTH.shape[2]], 1)
    shift_KRV = torch.stack([F.linear(y_RM.to(weight_VM.dtype), weight_VM, output.bias) for y_RM in given])
    rows_N = torch.arange(len(gold_RT), device=gold_RT.device)[:, None].expand_as(gold_RT)[real_RT]
    nll_KN = vocabulary_nll_of_views(features_NH, weight_VH, shift_KRV, rows_N, gold_RT[real_RT])
    return [nll_N.new_zeros(len(gold_RT)).index_add(0, rows_N, nll_N) for nll_N in nll_KN]


def _gold(batch: SentenceBatch) -> tuple[Tensor, Tensor]:
    """Each sentence's words and its end, [R, T + 1], and which of them there are."""
    words_RT, lengths_R = batch.words_BT, batch.lengths_B.to(batch.words_BT.device)
    gold_RT = F.pad(words_RT, (0, 1)).scatter(1, lengths_R[:, None], EOS)
    return gold_RT, torch.arange(gold_RT.shape[1], device=gold_RT.device) <= lengths_R[:, None]
