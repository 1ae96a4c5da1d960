"""A static encoder: a vector for each piece of text, and of a text their mean. sentence-transformers has it, too.

Reading a text is its tokenizer, a gather and a mean. Nothing of a piece's vector depends on the pieces beside it, so
that word order is not read at all.

Shape key: B texts, N pieces of all texts end to end, V pieces of the vocabulary, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from paraform.encoders.export import new_folder, write_modules, write_settings
from paraform.encoders.folder import WEIGHTS, WHOLE, ModelFolder
from paraform.encoders.tokenizer import require_pieces
from paraform.encoders.unread import are_unread, unread_texts
from paraform.progress import track
from paraform.records import InputError, require_count, require_texts
from paraform.score import signature
from paraform.weights import PathLike, load_tensors, save_tensors, tensor_names
from paraform.words import tell_cut, tell_unread

TABLE = "embedding.weight"  # as torch's EmbeddingBag calls it
TEXTS, CHARACTERS = 4096, 2**22  # whose pieces are held at once
LARGE = 1e15  # sums of such numbers, and their squares, would overflow


@final
@dataclass(frozen=True, eq=False)
class StaticEncoder:
    """The mean of the vectors of a text's pieces; make one with `load_static`.

    Args:
        name: as it was given.
        digest: SHA-256 over the folder's weights, settings and tokenizer.
        normalize: whether each text's vector has length 1.
    """

    kind: ClassVar[str] = "a static encoder"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    digest: str
    normalize: bool
    _tokenizer: Tokenizer
    _table_VD: Tensor

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._table_VD.device

    @property
    def signature(self) -> str:
        """What of the encoder changes a vector: its name, its vectors' length, and the beginning of its digest."""
        length = 1 if self.normalize else "own"
        return signature(model=self.name, pooling="mean", length=length, weights=self.digest[:12])

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """One vector a text, float32 [B, D]; of a text without a piece zeros.

        Texts that are longer than the tokenizer's limit, if it has one, and those that are `unread` are counted in
        warnings.
        """
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        unique = list(dict.fromkeys(texts))
        row = {text: number for number, text in enumerate(unique)}
        out_BD = np.empty((len(unique), self._table_VD.shape[1]), np.float32)
        cut, unread = set[str](), set[str]()
        ends = [0, *part_ends(unique, batch_size or TEXTS)]
        for at, end in track(list(pairwise(ends)), "embedding", show=progress):
            some = unique[at:end]
            encodings = self._tokenizer.encode_batch_fast(some, add_special_tokens=False)
            out_BD[at:end] = self._means(encodings)
            cut |= {text for text, encoding in zip(some, encodings, strict=True) if encoding.overflowing}
            unread |= {some[number] for number in unread_texts(self._tokenizer, some, encodings)}
        most = (self._tokenizer.truncation or {}).get("max_length")
        tell_cut(sum(text in cut for text in texts), len(texts), f"{most} tokens", self.name)
        tell_unread(sum(text in unread for text in texts), len(texts), self.name)
        return out_BD[[row[text] for text in texts]] if len(unique) < len(texts) else out_BD

    def unread(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """As `capabilities.TellsUnread` has it; `encoders.unread` says which words count."""
        return are_unread(self._tokenizer, require_texts(texts))

    def _means(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        ids = [encoding.ids for encoding in encodings]
        ids_N = torch.tensor(list(chain.from_iterable(ids)), dtype=torch.long)
        require_pieces(ids_N, len(self._table_VD))
        lengths_B = torch.tensor([len(row) for row in ids])
        offsets_B = lengths_B.cumsum(0) - lengths_B
        means_BD = torch.nn.functional.embedding_bag(
            ids_N.to(self.device), self._table_VD, offsets_B.to(self.device), mode="mean"
        )
        if self.normalize:
            means_BD = torch.nn.functional.normalize(means_BD, dim=-1)
        return means_BD.cpu().numpy()


def part_ends(texts: Sequence[str], most: int) -> list[int]:
    """Where parts of so many texts at most end, of `CHARACTERS` but for their last text."""
    ends, count, characters = [], 0, 0
    for number, text in enumerate(texts, start=1):
        count, characters = count + 1, characters + len(text)
        if count == most or characters >= CHARACTERS or number == len(texts):
            ends.append(number)
            count, characters = 0, 0
    return ends


def is_static(folder: ModelFolder) -> bool:
    """Whether sentence-transformers reads the folder as a table of pieces' vectors and their mean, and nothing else.

    Raises: InputError as `ModelFolder.modules`, and if the table cannot be read.
    """
    kinds = [module.kind for module in folder.modules]
    whole = folder.settings(WHOLE, {})
    return (
        kinds in (["StaticEmbedding"], ["StaticEmbedding", "Normalize"])
        and TABLE in tensor_names(folder.modules[0].folder.path / WEIGHTS)  # model2vec has its own name for it
        and not whole.get("default_prompt_name")
        and whole.get("truncate_dim") is None
    )


def load_static(name: str, folder: ModelFolder, device: torch.device) -> StaticEncoder:
    """The encoder of a folder that `is_static`, without sentence-transformers.

    Raises: InputError if its table or its tokenizer is none.
    """
    inside = folder.modules[0].folder
    table_VD = load_tensors(inside.path / WEIGHTS)[TABLE]
    if table_VD.ndim != 2 or not table_VD.is_floating_point():
        came = f"{TABLE} {str(table_VD.dtype).removeprefix('torch.')} {list(table_VD.shape)}"
        raise InputError(f"{inside.path / WEIGHTS}: {came}; expected floats, a row for each piece")
    table_VD = table_VD.float()
    if len(table_VD) and not table_VD.abs().max() < LARGE:
        raise InputError(f"{inside.path / WEIGHTS}: {TABLE} holds numbers of {LARGE:g} or more; are they damaged?")
    tokenizer = inside.tokenizer()
    tokenizer.no_padding()
    if tokenizer.truncation is not None:  # its other settings can end the process
        longest = tokenizer.truncation["max_length"]
        if longest < 1:
            raise InputError(f"{inside.path}: a tokenizer that cuts texts at {longest} pieces; expected 1 at least")
        tokenizer.enable_truncation(longest)
    return StaticEncoder(name, folder.digest, folder.normalizes, tokenizer, table_VD.to(device))


def save_static(table_VD: Tensor, tokenizer: Tokenizer, folder: PathLike, *, card: str) -> Path:
    """Write a folder that `SentenceTransformer(folder)` reads: the mean of a text's pieces, at length 1.

    Args:
        table_VD: a row for each of the tokenizer's pieces.
        tokenizer: it is not changed; what is written cuts and pads nothing.
        folder: to be made; none is replaced, and a kill leaves none.
        card: README.md.
    Returns: the folder.
    Raises: InputError if there is something of that name.
    """
    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_truncation()
    own.no_padding()
    with new_folder(folder) as unfinished:
        save_tensors({TABLE: table_VD}, unfinished / WEIGHTS)
        own.save(str(unfinished / "tokenizer.json"))
        write_modules(unfinished, {"StaticEmbedding": None, "Normalize": {}}, card)
        write_settings(unfinished / WHOLE, {"similarity_fn_name": "cosine"})
    return Path(folder)
