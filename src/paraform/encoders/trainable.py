"""An encoder as a module to train, made again from its config alone, and the fast `Encoder` of such a module."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import torch
from tokenizers import Tokenizer
from torch import nn

from paraform.encoders.bert import PackedBert, can_run
from paraform.encoders.dense import Dense
from paraform.encoders.encoder import Encoder, Forward
from paraform.encoders.hugging_face import encoder_half, hugging_face, no_code_in, sizes_of
from paraform.encoders.precision import best_dtype
from paraform.records import InputError, parse_json
from paraform.weights import tensors_digest


def first_layers(module: nn.Module, count: int) -> nn.Module:
    """The module itself, without the layers above its first so many, in place.

    Raises: InputError if it has fewer, or its last state is not then what that layer's was.
    """
    found = sizes_of(module.config, Path())
    if not 1 <= count <= found.layers:
        raise InputError(f"layers {count}; expected 1 to {found.layers}, or 0 for all")
    stack = next(
        (part for part in module.modules() if isinstance(part, nn.ModuleList) and len(part) == found.layers), None
    )
    if stack is None:
        raise InputError(f"layers {count}: a {cast(Any, module).config.model_type} is not cut; expected layers 0, all")
    was = module.training
    module.eval()
    ids = torch.tensor([[1, 2, 3]])
    with torch.inference_mode(False), torch.no_grad():
        before = module(input_ids=ids, output_hidden_states=True).hidden_states[count]
        del stack[count:]
        set_layers(module.config, count)
        after = module(input_ids=ids).last_hidden_state
    module.train(was)
    if not torch.allclose(before, after, atol=1e-5):
        raise InputError(
            f"layers {count}: a {cast(Any, module).config.model_type} puts more behind its last layer; expected 0, all"
        )
    return module


def set_layers(config: Any, count: int) -> None:
    """Say in a config of transformers' that its encoder has so many layers."""
    for name in ("num_hidden_layers", "encoder_layers", "num_layers", "n_layers"):
        if getattr(config, name, None) is not None:
            setattr(config, name, count)


def module_of_config(text: str) -> nn.Module:
    """The network that a config describes, weights as transformers draws them.

    Args:
        text: JSON, as `module.config.to_json_string()` writes it.
    Raises: InputError if it is none of transformers' own, or names code elsewhere, which transformers would run.
    """
    from transformers import AutoModel

    place = "encoder's config"
    made: nn.Module = encoder_half(made_of(AutoModel, config_of_json(text, place), place))
    return made


def config_of_json(text: str, place: str) -> Any:
    """The config of transformers' that JSON describes.

    Args:
        place: the JSON in words, for messages.
    Raises: InputError as `module_of_config` does.
    """
    from transformers import AutoConfig

    try:
        values = parse_json(text, place)
        no_code_in(values, place)
        kind = values.pop("model_type")
        return AutoConfig.for_model(kind, **{k: v for k, v in values.items() if k != "auto_map"})
    except InputError:
        raise
    except Exception as error:  # whatever JSON or transformers trips over
        raise InputError(f"{place}: {' '.join(str(error).split())[:300]}") from error


def made_of(auto: Any, config: Any, place: str, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of a config, by transformers' own code.

    Args:
        options: as the class's `from_config` has them.
    Raises: InputError as `module_of_config` does.
    """
    try:
        return auto.from_config(config, trust_remote_code=False, **options)
    except Exception as error:  # whatever transformers or torch trips over
        raise InputError(f"{place}: {' '.join(str(error).split())[:300]}") from error


def encoder_of(
    module: nn.Module, tokenizer: Tokenizer, *, name: str, max_tokens: int, dense: Dense | None = None
) -> Encoder:
    """A frozen `Encoder` of the module's weights as they are now, on its device: the mean of its last layer.

    Args:
        tokenizer: the encoder's own; it is not changed.
        dense: a linear map behind the mean.
    """
    weights = dict(module.state_dict())
    device = next(iter(weights.values())).device
    config = cast(Any, module).config
    sizes = sizes_of(config, Path())
    dtype = best_dtype(device)
    forward: Forward
    if config.model_type == "bert" and can_run(config.to_dict()):
        forward = PackedBert(weights, config.to_dict()).to(device, dtype).states
    else:
        forward = hugging_face(module, device, sizes.width)
    own = Tokenizer.from_str(tokenizer.to_str())
    own.no_padding()
    own.enable_truncation(max_tokens)
    return Encoder(
        name=name,
        dimension=sizes.width,
        num_layers=sizes.layers,
        max_tokens=max_tokens,
        layer=-1,
        pooling="mean",
        normalize=True,
        digest=tensors_digest(weights),
        seed=None,
        device=device,
        _tokenizer=own,
        _forward=forward,
        dense=dense,
    )
