"""What decoders share that copy units of their source: teacher forcing, and a step's scores (See et al. 2017).

Shape key: B sentences, T units of the longest target, S of the longest source, N gold units of all targets end to end,
or hypotheses of a step, V units of the vocabulary, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import EOS, UNK, Vocabulary
from paraform.losses.sequence_nll import copy_log_probs

COMMONEST = 50  # words of the vocabulary that a sentence may well hold twice: "the", "of", "?"


def unconstrained(vocabulary: int) -> int:
    """What `decoding.constrain_repetition` takes as `free`: of so many words the commonest, and none that is copied."""
    return min(COMMONEST + EOS + 1, vocabulary)


class Forced(NamedTuple):
    """What teacher forcing reads and wants: [B, T + 1] each, and [B]; the end is a target too."""

    previous_BT: Tensor
    gold_BT: Tensor
    there_BT: Tensor
    lengths_B: Tensor


def forced(target_BT: Tensor, lengths_B: Tensor, *, start: int, stop: int) -> Forced:
    """The units before each gold unit, the gold units, which of them there are, and how many.

    Args:
        target_BT: zeros behind a target's last unit.
    """
    device, (rows, width) = target_BT.device, target_BT.shape
    lengths_B = lengths_B.to(device)
    gold_BT = torch.cat([target_BT, target_BT.new_zeros(rows, 1)], 1)
    gold_BT[torch.arange(rows, device=device), lengths_B] = stop
    previous_BT = torch.cat([gold_BT.new_full((rows, 1), start), target_BT], 1)
    there_BT = torch.arange(width + 1, device=device) < lengths_B[:, None] + 1
    return Forced(previous_BT, gold_BT, there_BT, lengths_B + 1)


def gold_log_probs(
    logits_NV: Tensor,
    gate_BT: Tensor | None,
    copy_BTS: Tensor | None,
    source_BS: Tensor,
    target: Forced,
) -> Tensor:
    """Log-probabilities [N] of the gold units, nats.

    Args:
        logits_NV: of the gold units' places alone: the costly layer sees no padding.
        gate_BT: logits of copying; None, as `copy_BTS`: nothing is copied.
        copy_BTS: log-weights of the source's units.
        source_BS: numbers ≥ V are units that the vocabulary lacks, the same in both sides.
    """
    gold_N, vocabulary = target.gold_BT[target.there_BT], logits_NV.shape[1]
    in_vocabulary_N = gold_N < vocabulary
    log_probs_N = -F.cross_entropy(logits_NV, gold_N.where(in_vocabulary_N, UNK), reduction="none")
    if gate_BT is None or copy_BTS is None:
        return log_probs_N
    same_NS = (target.gold_BT[:, :, None] == source_BS[:, None, :])[target.there_BT]
    mass_N = (copy_BTS[target.there_BT].exp() * same_NS).sum(-1)
    # A unit that neither the vocabulary nor the source holds can only be generated as <unk>.
    generated_N = in_vocabulary_N | ~same_NS.any(-1)
    return copy_log_probs(log_probs_N, gate_BT[target.there_BT], mass_N, generated_N)


def units_at(columns: Sequence[int], source: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The units of columns of a step's scores, those behind the vocabulary's being the source's (`source_columns`)."""
    known = len(vocabulary)
    return [vocabulary.words[column] if column < known else source[column - known] for column in columns]


def source_columns(source_BS: Tensor, vocabulary: int) -> Tensor:
    """The columns of a step's scores that the source's units have, [B, S].

    A unit's column is its number or, where the vocabulary lacks it, V + where it first stands.
    """
    first_BS = (source_BS[:, :, None] == source_BS[:, None, :]).int().argmax(-1)
    return source_BS.where(source_BS < vocabulary, vocabulary + first_BS)


@final
class Scorer:
    """The output layer of a step: scores [N, V + S], good until the next step, in float32.

    Args:
        output: its weights are taken as they are now.
        copied: S, columns behind the vocabulary's that are only copied; 0: nothing is copied.
        never: columns of the vocabulary that are never written.
    """

    def __init__(self, output: nn.Linear, copied: int, never: Sequence[int]) -> None:
        weight, bias = output.weight.detach().float(), output.bias.detach().float()
        # Columns that are never generated, or only copied, have weights of their own, so that no pass over [N, V] puts
        # −inf there.
        self._weight = torch.cat([weight, weight.new_zeros(copied, weight.shape[1])]) if copied else weight
        self._bias = torch.cat([bias, bias.new_full((copied,), float("-inf"))])
        self._barred = torch.zeros(len(self._bias), dtype=torch.bool, device=bias.device)
        self._barred[torch.tensor(list(never), dtype=torch.long, device=bias.device)] = True
        self._bias.masked_fill_(self._barred, float("-inf"))
        # One buffer for all steps: memory from the system costs as much as the product.
        self._scores = weight.new_empty(0, 0)

    def __call__(
        self, features_ND: Tensor, gate_N: Tensor | None, copy_NS: Tensor | None, columns_NS: Tensor
    ) -> Tensor:
        """Log-probabilities of the next unit; column V + s is the s-th of the source, where the vocabulary lacks it.

        Args:
            gate_N: logits of copying; None, as `copy_NS`: nothing is copied.
            copy_NS: log-weights of the source's units.
            columns_NS: their columns (`source_columns`).
        """
        if len(self._scores) < len(features_ND):
            self._scores = self._weight.new_empty(len(features_ND), len(self._weight))
        log_probs_NV = self._scores[: len(features_ND)]
        torch.mm(features_ND.to(self._weight.dtype), self._weight.t(), out=log_probs_NV)
        torch.log_softmax(log_probs_NV.add_(self._bias), -1, out=log_probs_NV)
        if gate_N is None or copy_NS is None:
            return log_probs_NV
        gate_N1, weights_NS = gate_N.float()[:, None], copy_NS.float().exp()
        log_probs_NV += F.logsigmoid(-gate_N1)
        # As probabilities, to which copies add; those of a unit that stands twice in the source add up.
        probs_NS = log_probs_NV.gather(1, columns_NS).exp_()
        log_probs_NV.scatter_(1, columns_NS, probs_NS)
        log_probs_NV.scatter_add_(1, columns_NS, gate_N1.sigmoid() * weights_NS)
        mixed_NS = log_probs_NV.gather(1, columns_NS).clamp_min_(torch.finfo(torch.float32).tiny).log_()
        # Padding, or what stands in the source and is never written, such as its own <unk>.
        mixed_NS = mixed_NS.masked_fill_(self._barred[columns_NS], float("-inf"))
        return log_probs_NV.scatter_(1, columns_NS, mixed_NS)
