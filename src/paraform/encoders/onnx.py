"""An encoder as an ONNX file, which onnxruntime computes without torch."""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from paraform.records import InputError


class _LastStates(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states_BTD: Tensor = self.module(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states_BTD


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
