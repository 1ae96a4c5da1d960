"""An encoder as a folder of sentence-transformers, which every tool of that ecosystem loads, and as an ONNX file."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from paraform.encoders.dense import Dense
from paraform.encoders.folder import CONFIG, MODULES, WEIGHTS
from paraform.encoders.transformers_modules import sizes_of
from paraform.records import InputError
from paraform.weights import PathLike, require_path, save_tensors


def save_sentence_transformer(
    module: nn.Module,
    tokenizer: Tokenizer,
    folder: PathLike,
    *,
    max_tokens: int,
    card: str,
    dense: Dense | None = None,
    onnx: bool = False,
) -> Path:
    """Write the mean of the module's last states, at length 1, as a folder that `SentenceTransformer(folder)` reads.

    Args:
        module: an encoder as transformers has it.
        tokenizer: its own.
        folder: the folder to be made; none is replaced, and a kill leaves none.
        max_tokens: a longer text is cut there, special tokens counted.
        card: README.md.
        dense: a linear map between the mean and its length.
        onnx: with `onnx/model.onnx`, the module as that library's ONNX backend reads it; the rest stays the library's.
    Returns: the folder.
    Raises: InputError if there is something of that name, the module is half of a model with a decoder, or what
        writes ONNX is not installed.
    """
    final = require_new(folder)
    model: Any = module
    require_whole(model.config)
    width = sizes_of(model.config, final).width
    modules: dict[str, Mapping[str, Any] | None] = {
        "Transformer": None,
        "Pooling": {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True},
        **({"Dense": dense.settings()} if dense else {}),
        "Normalize": {},
    }
    with new_folder(folder) as unfinished:
        model.save_pretrained(unfinished)
        _save_tokenizer(tokenizer, model.config, max_tokens, unfinished)
        write_modules(unfinished, modules, card)
        limits = {"max_seq_length": max_tokens, "do_lower_case": False}
        write_settings(unfinished / "sentence_bert_config.json", limits)
        if dense:
            save_tensors(dense.tensors(), unfinished / "2_Dense" / WEIGHTS)
        if onnx:
            save_onnx(module, unfinished / "onnx" / "model.onnx", max_tokens=max_tokens)
    return final


@contextlib.contextmanager
def new_folder(folder: PathLike) -> Iterator[Path]:
    """A folder to write into, which gets its name when the block ends: none is replaced, and a kill leaves none.

    Raises: InputError as `require_new`.
    """
    final = require_new(folder)
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{final.name}.", dir=final.parent) as scratch:
        unfinished = Path(scratch) / final.name
        unfinished.mkdir()
        yield unfinished
        os.rename(unfinished, final)


def write_modules(folder: Path, modules: Mapping[str, Mapping[str, Any] | None], card: str) -> None:
    """What makes a folder one of sentence-transformers: modules.json, the modules' settings, and README.md.

    Args:
        modules: their kinds, the first one in the folder itself, and what each one's config.json says; None: no file.
    """
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(list(modules)[1:], start=1))]
    # All versions of the library know these names; 6 writes longer ones, which older ones do not know.
    listed = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(zip(paths, modules, strict=True))
    ]
    write_settings(folder / MODULES, listed)
    for path, settings in zip(paths, modules.values(), strict=True):
        if settings is not None:
            write_settings(folder / path / CONFIG, settings)
    (folder / "README.md").write_text(card, encoding="utf-8")


def write_settings(path: Path, value: Mapping[str, Any] | Sequence[Any]) -> None:
    """As JSON, in a folder that is made if it is not there."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def require_new(folder: PathLike) -> Path:
    """The path of a folder to be made. Raises: InputError if there is something of that name."""
    require_path(folder)
    if Path(folder).exists():
        raise InputError(f"{folder}: is there already; expected the name of a folder to be made")
    return Path(folder)


def require_whole(config: Any) -> None:
    """Raises: InputError for half of a model: that library would make the whole, and draw its weights."""
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"the encoder half of a {config.model_type}: sentence-transformers loads whole models alone; expected one"
            " without a decoder"
        )


def _save_tokenizer(tokenizer: Tokenizer, config: Any, max_tokens: int, folder: Path) -> None:
    """As transformers has it, which wants to be told what its special tokens are called."""
    from transformers import PreTrainedTokenizerFast

    ends = tokenizer.encode("").tokens
    padding = None if config.pad_token_id is None else tokenizer.id_to_token(config.pad_token_id)
    names = {"pad_token": padding, "cls_token": ends[0] if ends else None, "sep_token": ends[-1] if ends else None}
    names |= {"unk_token": getattr(tokenizer.model, "unk_token", None)}
    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_truncation()
    own.no_padding()
    found = {name: token for name, token in names.items() if token is not None}
    made: Any = PreTrainedTokenizerFast  # transformers leaves it untyped
    made(tokenizer_object=own, model_max_length=max_tokens, **found).save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    # transformers 5 writes a name that older ones do not know; all know this
    settings = {**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def save_onnx(module: nn.Module, path: Path, *, max_tokens: int) -> None:
    """Write the module as sentence-transformers' ONNX backend reads it.

    The file maps `input_ids` and `attention_mask`, int64 [B, T], to `last_hidden_state`, float32 [B, T, D].

    Args:
        module: an encoder as transformers has it.
        path: model.onnx; of more than 1.5 GB the weights stand in a second file beside it.
        max_tokens: the most columns that T may be.
    Raises: InputError if what writes ONNX is not installed, or cannot write this module.
    """
    if find_spec("onnxscript") is None:
        raise InputError("writing ONNX needs onnxscript; pip install 'paraform[onnx]'")
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    states = _LastStates(copy.deepcopy(module).cpu()).eval()
    ids_BT, mask_BT = torch.ones(2, 3, dtype=torch.long), torch.tensor([[1, 1, 1], [1, 1, 0]])
    sizes: Any = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=max_tokens)}
    try:
        with _quiet():
            program: Any = torch.onnx.export(
                states,
                (ids_BT, mask_BT),
                input_names=["input_ids", "attention_mask"],
                output_names=["last_hidden_state"],
                dynamic_shapes=(sizes, sizes),
                dynamo=True,
                verbose=False,
            )
    except torch.onnx.errors.OnnxExporterError as error:
        reason = str(error.__cause__ or error).strip().partition("\n")[0]
        raise InputError(f"a {type(module).__name__} cannot be written as ONNX: {reason}") from error
    ClearMetadataAndDocStringPass()(program.model)  # lines of code, with this machine's paths
    path.parent.mkdir(parents=True, exist_ok=True)
    program.save(path)


class _LastStates(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states_BTD: Tensor = self.module(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states_BTD


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch says of itself: axes of one name, torchvision that is not there, graphs that failed."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
