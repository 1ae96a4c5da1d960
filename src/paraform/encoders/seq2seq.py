"""A seq2seq model of the user's own, whole: from a folder on this machine, or made again from its config alone.

No code of the folder is run, and nothing is fetched: its config by transformers' own classes, weights of safetensors.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from paraform.encoders.folder import CONFIG, ModelFolder
from paraform.encoders.transformers_modules import by_own_code, config_of, config_of_json, made_of, quiet
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import PathLike, is_finite, require_path

KEPT = ("tie_word_embeddings",)  # as transformers' own classes set it: other weights of the network hang on it
DRAWN = ("final_logits_bias",)  # zeros, which a model that was saved without its output layer has not


def seq2seq_folder(name: PathLike) -> ModelFolder:
    """The folder of that name. Raises: InputError if there is none: nothing is looked for on the hub."""
    require_path(name)
    if not Path(name).is_dir():
        raise InputError(f"{name}: no such folder; expected one with a Hugging Face seq2seq model, such as BART's")
    return ModelFolder(Path(name))


def load_seq2seq(folder: ModelFolder) -> nn.Module:
    """The model as a transformers module with its output layer, float32, on the CPU.

    Raises: InputError if it is no encoder with a decoder that transformers knows, its weights are no safetensors, not
        all or not finite, or what names code elsewhere is among its settings.
    """
    from transformers import AutoModelForSeq2SeqLM

    config = config_of(folder)
    if not getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"{folder.path / CONFIG}: a {config.model_type}, which has no encoder with a decoder; expected a seq2seq"
            " model, such as BART or T5"
        )
    folder.require_no_adapter()
    folder.weight_files()
    with torch.device("cpu"), torch.inference_mode(False):  # whatever the caller is in
        options: dict[str, Any] = {"use_safetensors": True, "local_files_only": True, "dtype": torch.float32}
        module, found = by_own_code(AutoModelForSeq2SeqLM, folder, output_loading_info=True, **options)
    # transformers draws what the file lacks
    if lacking := sorted(name for name in found["missing_keys"] if not name.endswith(DRAWN)):
        raise InputError(
            f"{folder.path}: weights lack {lacking[0]!r} and {len(lacking) - 1} more; expected the model's"
        )
    if others := sorted(found["unexpected_keys"]):
        logging.getLogger("paraform").warning(
            "%s: %d weights are none of the model that config.json describes, such as %r; left out",
            folder.path, len(others), others[0],
        )  # fmt: skip
    for name, weight in module.state_dict().items():  # what is no parameter too, such as BART's final_logits_bias
        if not is_finite(weight):
            raise InputError(f"{folder.path}: {name!r} holds NaN or infinity; expected finite weights")
    made: nn.Module = module
    return made


def described(module: nn.Module) -> str:
    """JSON of what `seq2seq_of_json` makes the network again from."""
    config: dict[str, Any] = json.loads(cast(Any, module).config.to_json_string(use_diff=False))
    config.pop("_name_or_path", None)  # a folder of whoever trained it
    about = {"config": config, "tied": is_tied(module)}
    return json.dumps(about, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def seq2seq_of_json(text: str) -> nn.Module:
    """The network that `described` describes, float32, weights as transformers draws them.

    Raises: InputError if it is none of transformers' own, or names code elsewhere, which transformers would run.
    """
    from transformers import AutoModelForSeq2SeqLM

    place = "seq2seq.json"
    about = parse_json(text, place)
    if not isinstance(about, dict) or not isinstance(about.get("config"), dict):
        raise InputError(f"{place}: {str(about)[:40]!r}; expected a config and whether its embeddings are tied")
    with quiet():
        config = config_of_json(json.dumps(about["config"]), place)
        # Of some fields transformers makes others anew, of `tie_word_embeddings` T5's `scale_decoder_outputs`.
        for name, value in about["config"].items():
            if name not in KEPT and isinstance(value, (bool, int, float)) and getattr(config, name, None) != value:
                setattr(config, name, value)
        module: nn.Module = made_of(AutoModelForSeq2SeqLM, config, place, dtype=torch.float32)
    inputs, outputs = embeddings_of(module)
    if is_tied(module) != about.get("tied") and outputs is not None:
        outputs.weight = inputs.weight if about.get("tied") else nn.Parameter(outputs.weight.detach().clone())
    return module


def embeddings_of(module: nn.Module) -> tuple[Any, Any]:
    """The layers that embed pieces and that score them; the second is None if there is no layer of its kind."""
    model = cast(Any, module)
    return model.get_input_embeddings(), model.get_output_embeddings()


def is_tied(module: nn.Module) -> bool:
    """Whether pieces are scored by their embeddings; T5 1.1 has weights of their own for it, whatever its config says
    once transformers has read it."""
    inputs, outputs = embeddings_of(module)
    return outputs is not None and outputs.weight is inputs.weight


@torch.no_grad()
def add_piece(module: nn.Module) -> None:
    """One more piece behind all others; it begins as the mean of them, as near to each as can be.

    Raises: InputError if the architecture does not let its embeddings grow.
    """
    model = cast(Any, module)
    inputs, outputs = embeddings_of(module)
    rows, own = len(inputs.weight), None if is_tied(module) else outputs.weight.detach().clone()
    try:
        with quiet():
            model.resize_token_embeddings(rows + 1, mean_resizing=False)
    except Exception as error:  # NotImplementedError, or whatever an architecture says
        raise InputError(f"{model.config.model_type}: its embeddings do not grow; expected such as BART") from error
    inputs, outputs = embeddings_of(module)
    inputs.weight[rows] = inputs.weight[:rows].mean(0)
    if own is not None:  # which a T5 has lost by now: transformers tied it
        outputs.weight = nn.Parameter(torch.cat([own, own.mean(0, keepdim=True)]))
