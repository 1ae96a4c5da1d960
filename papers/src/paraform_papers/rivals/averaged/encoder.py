"""sp-average on text: its subwords, and sentences to vectors.

Shape key: R sentences, N subwords of all sentences end to end, D features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor, nn

from paraform.batching import Ragged
from paraform.fields import require_restorable
from paraform.progress import track
from paraform.records import InputError, require_count, require_texts
from paraform_papers.rivals.averaged.batches import Bags
from paraform_papers.rivals.averaged.config import AveragedConfig

Array: TypeAlias = npt.NDArray[np.float32]

ASSET = "tokenizer.json"
UNKNOWN = "<unk>"
ALPHABET = 1000  # characters, at most, that subwords are made of
AT_ONCE = 1024  # texts that are averaged together
SPREAD = 0.1  # standard deviation of subword vectors at the start; the authors' is not known to us


@final
class AveragedNetwork(nn.Module):
    """A vector for each subword; a sentence's is their mean, 0 without any."""

    def __init__(self, pieces: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(pieces, width))
        nn.init.normal_(self.weight, std=SPREAD)

    def forward(self, bags: Bags) -> Tensor:
        """[R, D]; each depends on its own subwords alone."""
        mean_RD: Tensor = F.embedding_bag(bags.pieces_N, self.weight, bags.offsets_R[:-1], mode="mean")
        return mean_RD


@final
class AveragedEncoder(nn.Module):
    """Sentence vectors that are means of subword vectors, trained by a margin on hard negatives (Wieting et al. 2021).

    Args:
        config: sizes and choices.
        tokenizer: texts to subwords.
    """

    system: ClassVar[str] = "averaged"
    config_class: ClassVar[type] = AveragedConfig
    kind: ClassVar[str] = "an average of subwords"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, config: AveragedConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.config, self.tokenizer = config, tokenizer
        self.network = AveragedNetwork(tokenizer.get_vocab_size(), config.width)

    @classmethod
    def start(cls, config: AveragedConfig, texts: Iterable[str]) -> AveragedEncoder:
        """With random vectors of the subwords that these texts are made of."""
        return cls(config, learnt_subwords(texts, config.vocabulary_size))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.network.weight.device

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of each text's subwords."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(list(texts))]

    @torch.no_grad()
    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> Array:
        """Sentence vectors of length 1, of a text without any subword 0: float32 [R, D]."""
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        size = batch_size or AT_ONCE
        out_RD = np.empty((len(texts), self.config.width), np.float32)
        starts = range(0, len(texts), size)
        for start in track(starts, "embedding", show=progress):
            table = Ragged.of(self.pieces(texts[start : start + size]))
            values, offsets = torch.from_numpy(table.values.astype(np.int64)), torch.from_numpy(table.offsets)
            vectors_RD = self.network(Bags(values.to(self.device), offsets.to(self.device)))
            out_RD[start : start + size] = F.normalize(vectors_RD, dim=-1).cpu().numpy()
        return out_RD

    def assets(self) -> dict[str, str]:
        """The subwords."""
        return {ASSET: self.tokenizer.to_str()}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> AveragedEncoder:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if an asset is missing or damaged, or a field is unknown.
        """
        require_restorable(AveragedConfig, config, assets, (ASSET,))
        try:
            tokenizer = Tokenizer.from_str(assets[ASSET])
        except Exception as error:  # the library raises bare Exceptions
            raise InputError(f"{ASSET}: {' '.join(str(error).split())[:200]}; expected a tokenizer's JSON") from error
        return cls(AveragedConfig(**config), tokenizer)


def learnt_subwords(texts: Iterable[str], size: int) -> Tokenizer:
    """Byte-pair encoding of lower-cased words and punctuation (Sennrich et al. 2016), learnt from the texts.

    Accents are left out, and white space counts once. The same texts have the same subwords, so that a run can go on.

    Args:
        size: subwords, at most; every character of the texts is one of them, up to a thousand.
    """
    made = Tokenizer(models.BPE(unk_token=UNKNOWN, fuse_unk=True))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Punctuation("isolated")]
    )
    made.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size, min_frequency=2, limit_alphabet=ALPHABET, special_tokens=[UNKNOWN], show_progress=False
        ),
    )
    return made
