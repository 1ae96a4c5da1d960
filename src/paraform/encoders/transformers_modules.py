"""Encoders as transformers' own modules: of a folder, or made again from a config alone; to run, to train, to cut.

Of a model that writes (BART, T5) it is the encoder half: the decoder is dropped as soon as the weights are read. No
code of a folder is run (`folder.py`).

Shape key: N tokens of all sentences, B sentences of one length, T their tokens, D features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from paraform.encoders.folder import CONFIG, WEIGHTS, ModelFolder, no_code_in
from paraform.encoders.locating import MINILM_SHA256, locate
from paraform.encoders.tokenizer import require_pieces
from paraform.encoders.types import Forward
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import is_finite, sha256


def config_of(folder: ModelFolder) -> Any:
    """The encoder's config, as transformers reads it. Raises: InputError if it is none that transformers knows."""
    from transformers import AutoConfig

    return by_own_code(AutoConfig, folder)


def module_of(folder: ModelFolder, **options: Any) -> Any:
    """The encoder as a transformers module; options as `AutoModel.from_pretrained` has them.

    Raises: InputError if its architecture is none of transformers' own, or its weights are no safetensors or not all.
    """
    from transformers import AutoModel

    folder.require_no_adapter()
    folder.weight_files()
    model, found = by_own_code(AutoModel, folder, use_safetensors=True, output_loading_info=True, **options)
    # transformers draws what the file lacks; of that, only what makes no token's state may be missing
    if lacking := sorted(name for name in found["missing_keys"] if "pooler" not in name and "decoder." not in name):
        raise InputError(
            f"{folder.path}: weights lack {lacking[0]!r} and {len(lacking) - 1} more; expected the encoder's"
        )
    return encoder_half(model)


def decoder_of(folder: ModelFolder) -> Any:
    """The decoder half of a model that has one, as `module_of` reads the other; None: it has none."""
    from transformers import AutoModel

    if not getattr(config_of(folder), "is_encoder_decoder", False):
        return None
    folder.weight_files()
    return by_own_code(AutoModel, folder, use_safetensors=True).get_decoder()


def random_module(folder: ModelFolder, seed: int) -> Any:
    """The same network with random weights, as transformers draws them for that config.

    Raises: InputError if its architecture is none of transformers' own.
    """
    from transformers import AutoModel

    config, auto = config_of(folder), cast(Any, AutoModel)
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(seed)
        try:
            return encoder_half(auto.from_config(config, trust_remote_code=False, dtype=torch.float32))
        except Exception as error:  # whatever transformers or torch trips over
            raise InputError(f"{folder.path / CONFIG}: {' '.join(str(error).split())[:300]}") from error


def encoder_half(model: Any) -> Any:
    """The encoder of a model with a decoder; any other as it is."""
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


def by_own_code(auto: Any, folder: ModelFolder, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of the folder, by transformers' own code."""
    from transformers.utils import logging

    cast(Any, logging).disable_progress_bar()  # weights are read in a moment
    folder.settings(CONFIG)
    folder.require_no_code()
    try:
        with quiet():
            return auto.from_pretrained(folder.path, trust_remote_code=False, **options)
    except Exception as error:  # damaged files end in whatever transformers, safetensors or torch trips over
        reason = " ".join(str(error).split())
        if "custom code" in reason:
            reason = "its architecture is code of its own, which is never run; expected one of transformers' own"
        elif "ignore_mismatched_sizes" in reason:  # which goes on about a report that was never printed
            reason = "it makes weights of other shapes than the file has; expected the config that belongs to them"
        raise InputError(f"{folder.path / CONFIG}: {reason[:300]}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, transformers says nothing on stderr: what we need to tell of a folder is one line, and ours."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


class Sizes(NamedTuple):
    """An encoder's: features of a state, layers, and the most tokens that it takes, None if it does not say."""

    width: int
    layers: int
    tokens: int | None


def sizes_of(config: Any, folder: Path = Path()) -> Sizes:
    """Its sizes, by whatever names its architecture gives them. Raises: InputError if it has none."""

    def first(*names: str) -> int | None:
        return next((int(value) for name in names if (value := getattr(config, name, None)) is not None), None)

    width, layers = first("hidden_size", "d_model"), first("encoder_layers", "num_encoder_layers", "num_hidden_layers")
    if width is None or layers is None:
        raise InputError(f"{folder / CONFIG}: a {config.model_type}; expected an encoder of text, with layers")
    # RoBERTa's positions start after its padding id, so two fewer tokens fit than the table has rows.
    like_roberta = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}
    tokens = first("max_encoder_position_embeddings", "max_position_embeddings")
    return Sizes(width, layers, tokens and tokens - (2 if config.model_type in like_roberta else 0))


def start_of(config: Any, folder: Path = Path()) -> int | None:
    """The piece that a causal language model begins with; None: the config is of another model, or names none.

    Whatever stands first takes the attention that has nowhere to go, and has features so large that a mean would be
    little else (Xiao et al. 2024, attention sinks): that should be no piece of the text.

    Raises: InputError for a piece that the model has not.
    """
    names, start = getattr(config, "architectures", None), getattr(config, "bos_token_id", None)
    causal = isinstance(names, list) and any(str(name).endswith("ForCausalLM") for name in names)
    if not causal or start is None:
        return None
    if not 0 <= start < config.vocab_size:
        raise InputError(f"{folder / CONFIG}: bos_token_id {start}; expected null, or 0 to {config.vocab_size - 1:,}")
    return int(start)


def forward_of(model: Any, device: torch.device, width: int, start: int | None = None) -> Forward:
    """The forward pass of any other encoder, by transformers; nothing is padded or masked.

    Args:
        start: a piece that is put before each sentence and whose states are left out; None: none.
    """
    rows = len(model.get_input_embeddings().weight)
    before = [] if start is None else [start]

    @torch.inference_mode()
    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        parts: list[list[Tensor]] = [[torch.zeros(0, width, device=device, dtype=model.dtype)] for _ in wanted]
        for length, run in groupby(sentences, key=len):
            if length == 0:
                continue  # a text without a token, where the tokenizer adds none of its own
            ids_BT = torch.tensor([[*before, *ids] for ids in run])
            require_pieces(ids_BT, rows)
            hidden = model(input_ids=ids_BT.to(device), output_hidden_states=True).hidden_states
            for part, layer in zip(parts, wanted, strict=True):
                part.append(hidden[layer][:, len(before) :].flatten(0, 1))
        return [torch.cat(part) for part in parts]

    return forward


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


def first_layers(module: nn.Module, count: int) -> nn.Module:
    """The module itself, without the layers above its first so many, in place.

    Raises: InputError if it has fewer, or its last state is not then what that layer's was.
    """
    found = sizes_of(module.config)
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


def load_module(name: str, *, layer: int = -1) -> nn.Module:
    """The encoder as a transformers module, for fine-tuning: `module(input_ids, attention_mask).last_hidden_state`.

    Args:
        name: an encoder's, as `load` takes it.
        layer: whose states are used. Weights that they do not depend on (higher layers, a pooler) are frozen: no loss
            would reach them, and DDP wants a gradient for every weight that may have one.
    Raises: InputError as `load`, if a weight is not finite, or if there is no such layer.
    """
    folder = ModelFolder(locate(name))
    if name == "minilm" and (found := sha256(folder.path / WEIGHTS)) != MINILM_SHA256:
        raise InputError(f"{folder.path / WEIGHTS}: SHA-256 is {found}, expected {MINILM_SHA256}")
    with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        module: nn.Module = module_of(folder)
        for weight_name, weight in module.named_parameters():
            if not is_finite(weight):
                raise InputError(f"{folder.path}: {weight_name!r} holds NaN or infinity; expected finite weights")
        out = module(input_ids=torch.tensor([[1, 2]]), output_hidden_states=layer != -1)
        if layer != -1 and not -len(out.hidden_states) <= layer < len(out.hidden_states):
            raise InputError(f"layer {layer} of {name!r}; expected 0 to {len(out.hidden_states) - 1}")
        states = out.last_hidden_state if layer == -1 else out.hidden_states[layer]
        weights = [weight for weight in module.parameters() if weight.requires_grad]
        reached = torch.autograd.grad(states.sum(), weights, allow_unused=True)
    for weight, gradient in zip(weights, reached, strict=True):
        weight.requires_grad_(gradient is not None)
    return module


def width_of(module: nn.Module) -> int:
    """Features of one state of a module that `load_module` made."""
    return sizes_of(module.config).width


def dimension_of(name: str) -> int:
    """Features of one state of an encoder, without loading its weights."""
    if name == "minilm":
        return 384
    folder = ModelFolder(locate(name))
    return sizes_of(config_of(folder), folder.path).width
