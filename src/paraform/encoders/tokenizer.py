"""The tokenizer beside an encoder's weights: `tokenizer.json`, or a SentencePiece model made into one."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from tokenizers import Tokenizer
from torch import Tensor

from paraform.records import InputError

SENTENCEPIECE = ("spiece.model", "sentencepiece.bpe.model", "spm.model", "sentencepiece.model", "tokenizer.model")
"""Names of SentencePiece models in the folders of T5, XLM-R, DeBERTa and others."""


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of an encoder's folder.

    Raises: InputError if there is none, it is damaged, or the extra that converts it is not installed.
    """
    fast = folder / "tokenizer.json"
    if fast.is_file():
        try:
            made = Tokenizer.from_file(str(fast))
        except Exception as error:  # the library raises bare Exceptions
            raise InputError(f"{fast}: {' '.join(str(error).split())[:300]}; expected a tokenizer's JSON") from error
        _require_known_tokens(made, fast)
        return made
    pieces = next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)
    if pieces is None:
        raise InputError(f"{fast}: no such file; expected a fast tokenizer or a SentencePiece model beside the weights")
    return _converted(folder, pieces)


def require_pieces(ids: Tensor, rows: int) -> None:
    """Raises: InputError for a piece beyond the `rows` of embeddings: the tokenizer is another's, or damaged."""
    if ids.numel() and (highest := int(ids.max())) >= rows:
        raise InputError(f"the tokenizer has a piece {highest:,}; expected numbers below {rows:,}, as the encoder has")


def _require_known_tokens(tokenizer: Tokenizer, path: Path) -> None:
    """What a template puts around a text must be in its own table: else the library panics at the first text.

    Raises: InputError that names such a token.
    """
    if tokenizer.post_processor is None:
        return
    whole = json.loads(tokenizer.post_processor.__getstate__())
    for one in whole.get("processors", [whole]):
        if one["type"] == "TemplateProcessing":
            pieces = [*one["single"], *one["pair"]]
            for name in (piece["SpecialToken"]["id"] for piece in pieces if "SpecialToken" in piece):
                if name not in one["special_tokens"]:
                    raise InputError(f"{path}: {name[:40]!r} around a text; expected one of its special_tokens")


def _converted(folder: Path, pieces: Path) -> Tokenizer:
    """By transformers' own converter, which knows what each architecture adds to its SentencePiece model."""
    if importlib.util.find_spec("sentencepiece") is None:
        raise InputError(f"{pieces}: a SentencePiece model; pip install 'paraform[sentencepiece]' to read it")
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoTokenizer

    try:
        SentencePieceProcessor(model_file=str(pieces))  # of a damaged one transformers makes a tokenizer without words
        made = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True, use_fast=True)
        tokenizer: Tokenizer = made.backend_tokenizer
    except Exception as error:  # damaged files end in whatever the libraries trip over
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{pieces}: makes no tokenizer: {reason}") from error
    return tokenizer
