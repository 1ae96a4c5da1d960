"""A causal language model, whole: from its folder, or its shapes alone from its config.

No code of the folder is run (`folder.py`).
"""

from __future__ import annotations

import json
from typing import Any, cast

import torch
from torch import Tensor, nn

from paraform.encoders.folder import CONFIG, ModelFolder
from paraform.encoders.transformers_modules import by_own_code, config_of, config_of_json, made_of, quiet
from paraform.records import InputError
from paraform.weights import is_finite


def load_causal(folder: ModelFolder, dtype: torch.dtype) -> nn.Module:
    """The model as a transformers module with its output layer, in evaluation mode, on the CPU.

    Raises: InputError if it is none that goes on from a text, its weights are no safetensors, not all or not finite.
    """
    from transformers import AutoModelForCausalLM

    if getattr(config_of(folder), "is_encoder_decoder", False):
        raise InputError(f"{folder.path / CONFIG}: a model with an encoder; expected a causal language model")
    folder.require_no_adapter()
    folder.weight_files()
    options: dict[str, Any] = {"use_safetensors": True, "local_files_only": True, "dtype": dtype}
    with torch.device("cpu"), torch.inference_mode(False):  # whatever the caller is in
        module, found = by_own_code(AutoModelForCausalLM, folder, output_loading_info=True, **options)
    if lacking := sorted(found["missing_keys"]):  # which transformers draws
        raise InputError(
            f"{folder.path}: weights lack {lacking[0]!r} and {len(lacking) - 1} more; expected the model's"
        )
    for name, weight in module.state_dict().items():
        if not is_finite(weight):
            raise InputError(f"{folder.path}: {name!r} holds NaN or infinity; expected finite weights")
    made: nn.Module = module.eval()
    return made


class BothWays(nn.Module):
    """A causal language model whose states see all of their text, as an encoder's do.

    Args:
        module: as transformers has it, without its output layer.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    @property
    def config(self) -> Any:
        """The module's."""
        return cast(Any, self.module).config

    @property
    def dtype(self) -> torch.dtype:
        """Of its weights."""
        return next(self.module.parameters()).dtype

    def get_input_embeddings(self) -> nn.Module:
        """The module's."""
        embeddings: nn.Module = cast(Any, self.module).get_input_embeddings()
        return embeddings

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **how: Any) -> Any:
        """As the module's; `attention_mask` [B, T] says which pieces are seen, None: all."""
        there_BT = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        seen_B1TT = there_BT[:, None, None].bool().expand(-1, 1, input_ids.shape[1], -1)
        mask_B1TT = torch.zeros_like(seen_B1TT, dtype=self.dtype).masked_fill(~seen_B1TT, torch.finfo(self.dtype).min)
        return self.module(input_ids=input_ids, attention_mask=mask_B1TT, use_cache=False, **how)


def described(module: nn.Module) -> str:
    """JSON of the model's config, from which `causal_of_json` makes it again."""
    config: dict[str, Any] = json.loads(cast(Any, module).config.to_json_string(use_diff=False))
    config.pop("_name_or_path", None)  # a folder of whoever trained it
    return json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def causal_of_json(text: str, place: str) -> nn.Module:
    """The network that a config describes, float32, weights as transformers draws them.

    Raises: InputError if it is none of transformers' own, or names code elsewhere, which transformers would run.
    """
    from transformers import AutoModelForCausalLM

    with quiet():
        made: nn.Module = made_of(AutoModelForCausalLM, config_of_json(text, place), place, dtype=torch.float32)
    return made


def states_and_scores(module: nn.Module) -> tuple[Any, Any]:
    """The part that makes states of pieces, and the layer that scores each piece of the vocabulary by a state.

    Raises: InputError if one after the other is not the model: Gemma's scores, say, are bent behind that layer.
    """
    model = cast(Any, module)
    inner, scores = model.base_model, model.get_output_embeddings()
    if scores is not None and not next(module.parameters()).is_meta:
        ids_BT = torch.tensor([[1, 2, 3]], device=next(module.parameters()).device)
        was = module.training
        module.eval()  # without dropout, which differs from pass to pass
        with torch.no_grad():
            whole: Tensor = model(input_ids=ids_BT, use_cache=False).logits
            parts: Tensor = scores(inner(input_ids=ids_BT, use_cache=False).last_hidden_state)
        module.train(was)
        if not torch.allclose(whole, parts, rtol=1e-5, atol=1e-6):  # small scores, of fresh weights, are bent little
            scores = None
    if scores is None:
        raise InputError(f"a {model.config.model_type}, which does more behind its last states; expected such as Llama")
    return inner, scores
