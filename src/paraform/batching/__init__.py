"""Records to tensors: vocabulary, ragged tables of ids or states, batches by length.

The last place that sees strings in training.
"""

from paraform.batching.epochs import epoch_steps
from paraform.batching.ragged import Ragged
from paraform.batching.sentences import SentenceBatch, sentence_batches
from paraform.batching.states import cached_states
from paraform.batching.vocabulary import BOS, EOS, PAD, SPECIAL, UNK, Vocabulary, prepare

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIAL",
    "UNK",
    "Ragged",
    "SentenceBatch",
    "Vocabulary",
    "cached_states",
    "epoch_steps",
    "prepare",
    "sentence_batches",
]
