"""A folder of sentence-transformers, whatever modules it has, by that library; what `Encoder` computes is left to it.

A folder may be a stranger's: `ModelFolder.modules` looks at all of it before the library is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.encoders.folder import PICKLES, WEIGHTED, WEIGHTS, ModelFolder
from paraform.encoders.transformers_modules import quiet
from paraform.progress import is_watched
from paraform.records import InputError, require_count, require_texts
from paraform.score import signature
from paraform.words import tell_cut


@final
@dataclass(frozen=True, eq=False)
class ModulePipeline:
    """A model of sentence-transformers with all its modules; make one with `load_pipeline`.

    Args:
        name: as it was given.
        digest: SHA-256 over the weights, settings and tokenizers of all modules.
    """

    kind: ClassVar[str] = "a sentence-transformers model"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    digest: str
    _model: Any
    _padded: bool

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return torch.device(self._model.device)

    @property
    def signature(self) -> str:
        """What of the model changes a vector: its name, and the beginning of its digest."""
        return signature(model=self.name, modules="all", weights=self.digest[:12])

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """The library's own vectors, the default prompt before each text if the folder has one."""
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        if not texts:
            return np.zeros((0, int(self._model.get_embedding_dimension() or 0)), np.float32)
        size = (batch_size or 32) if self._padded else 1
        self._tell_cut(texts)
        bar = progress and is_watched()  # elsewhere the library's own would be a line for each of its steps
        found = self._model.encode(texts, batch_size=size, show_progress_bar=bar, convert_to_numpy=True)
        return np.asarray(found, np.float32)

    def _tell_cut(self, texts: Sequence[str]) -> None:
        """The library says nothing of it; prompts are not counted."""
        most, tokenizer = self._model.max_seq_length, self._model.tokenizer
        long = [text for text in texts if most and len(text) > most // 2]  # few tokens have less than a character
        if not long or not hasattr(tokenizer, "num_special_tokens_to_add"):  # none of transformers'
            return
        lengths = [len(numbers) for numbers in tokenizer(long, truncation=False, verbose=False)["input_ids"]]
        tell_cut(sum(length > most for length in lengths), len(texts), f"{most} tokens", self.name)


def load_pipeline(name: str, folder: ModelFolder, device: torch.device) -> ModulePipeline:
    """A model of sentence-transformers, by that library.

    Raises: InputError as `ModelFolder.modules`, if the library is not installed, or if it cannot read the folder.
    """
    for module in folder.modules:
        pickles = sorted(path for pattern in PICKLES for path in module.folder.path.glob(pattern))
        if pickles and module.kind in WEIGHTED:
            raise InputError(f"{pickles[0]}: a pickle beside {WEIGHTS}; expected none, for the library to find none")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise InputError(f"{folder.path}: needs sentence-transformers; pip install 'paraform[eval]'") from error
    try:
        with quiet():
            model = SentenceTransformer(
                str(folder.path),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            ).eval()
    except Exception as error:  # damaged files end in whatever the libraries trip over
        raise InputError(f"{folder.path}: {' '.join(str(error).split())[:300]}") from error
    return ModulePipeline(name, folder.digest, model, _pads(model))


def _pads(model: Any) -> bool:
    """Whether texts of several lengths can stand in one batch; a tokenizer without padding gets its end mark for it."""
    tokenizer: Any = getattr(model, "tokenizer", None)
    if getattr(tokenizer, "pad_token", "") is not None:
        return True
    tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token or tokenizer.unk_token  # the mask hides it
    return tokenizer.pad_token is not None
