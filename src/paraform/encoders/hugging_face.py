"""Any Hugging Face encoder, and as a `Forward` without padding: batches of one length each.

Of a model that writes (BART, T5) it is the encoder half: the decoder is dropped as soon as the weights are read.

A folder may be a stranger's: its code is never run (nor is anybody asked whether it may), and of weights only
safetensors are read, never a pickle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from paraform.encoders.encoder import Forward
from paraform.encoders.tokenizing import require_pieces
from paraform.records import InputError, parse_json
from paraform.weights import sha256

USUAL_LIMIT = 512  # tokens, where neither the positions nor the tokenizer set a limit: T5 was trained on as many
NO_LIMIT = 10**6  # a tokenizer's `model_max_length` above it stands for none
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
SENTENCE_SETTINGS = tuple(  # in the order in which sentence-transformers looks for them
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
ATTENTION = "attn_implementation"
ELSEWHERE = {  # transformers' arguments by which it reads other code or weights than the folder's safetensors
    "_configuration_file", "adapter_kwargs", "allow_all_kernels", "kernel_config", "transformers_weights",
    "use_kernels", "weights_only",
}  # fmt: skip

CROWDS = {"layer": 1_000, "num_labels": 100_000}
"""Parts of settings' names, and the highest count that such a setting may have: transformers makes them one by one."""


def config_of(folder: Path) -> Any:
    """The encoder's config, as transformers reads it. Raises: InputError if it is none that transformers knows."""
    from transformers import AutoConfig

    return by_own_code(AutoConfig, folder)


def module_of(folder: Path, **options: Any) -> Any:
    """The encoder as a transformers module; options as `AutoModel.from_pretrained` has them.

    Raises: InputError if its architecture is none of transformers' own, or its weights are no safetensors or not all.
    """
    from transformers import AutoModel

    no_adapter(folder)
    weight_files(folder)
    model, found = by_own_code(AutoModel, folder, use_safetensors=True, output_loading_info=True, **options)
    # transformers draws what the file lacks; of that, only what makes no token's state may be missing
    if lacking := sorted(name for name in found["missing_keys"] if "pooler" not in name and "decoder." not in name):
        raise InputError(f"{folder}: weights lack {lacking[0]!r} and {len(lacking) - 1} more; expected the encoder's")
    return encoder_half(model)


def decoder_of(folder: Path) -> Any:
    """The decoder half of a model that has one, as `module_of` reads the other; None: it has none."""
    from transformers import AutoModel

    if not getattr(config_of(folder), "is_encoder_decoder", False):
        return None
    weight_files(folder)
    return by_own_code(AutoModel, folder, use_safetensors=True).get_decoder()


def random_module(folder: Path, seed: int) -> Any:
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
            raise InputError(f"{folder / 'config.json'}: {' '.join(str(error).split())[:300]}") from error


def encoder_half(model: Any) -> Any:
    """The encoder of a model with a decoder; any other as it is."""
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


def no_adapter(folder: Path) -> None:
    """Raises: InputError for an adapter, which names other weights, to be found elsewhere."""
    if (folder / "adapter_config.json").is_file():
        raise InputError(f"{folder / 'adapter_config.json'}: an adapter; merge it into its encoder first")


def weight_files(folder: Path) -> list[Path]:
    """The safetensors that transformers reads: `model.safetensors`, or the several files that its index names.

    Raises: InputError if there are none, or an index names anything else.
    """
    for index in sorted(folder.glob("*.safetensors.index*.json")):
        named = read_json(index).get("weight_map")
        if not isinstance(named, dict) or not all(str(name).endswith(".safetensors") for name in named.values()):
            raise InputError(f"{index}: names a file that is no safetensors; expected names that end in .safetensors")
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    files = [folder / name for name in sorted(set(read_json(folder / INDEX, {}).get("weight_map", {}).values()))]
    if lacking := [file for file in files if not file.is_file()]:
        raise InputError(f"{lacking[0]}: no such file; expected each that {INDEX} names")
    if not files:
        raise no_weights(folder)
    return files


def weights_digest(folder: Path) -> str:
    """SHA-256 of a folder's weights: of the one file, or over those of the several."""
    files = weight_files(folder)
    return sha256(files[0]) if len(files) == 1 else hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def no_weights(folder: Path) -> InputError:
    """The complaint about a folder whose weights are not where they are read from."""
    others = sorted(path.name for pattern in (*PICKLES, "*.h5", "*.msgpack") for path in folder.glob(pattern))
    came = f"weights in {others[0]} only" if others else "no weights"
    return InputError(f"{folder}: {came}; expected {WEIGHTS} (safetensors hold no code, unlike a pickle)")


def by_own_code(auto: Any, folder: Path, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of the folder, by transformers' own code."""
    from transformers.utils import logging

    cast(Any, logging).disable_progress_bar()  # weights are read in a moment
    read_json(folder / "config.json")
    no_code(folder)
    try:
        with quiet():
            return auto.from_pretrained(folder, trust_remote_code=False, **options)
    except Exception as error:  # damaged files end in whatever transformers, safetensors or torch trips over
        reason = " ".join(str(error).split())
        if "custom code" in reason:
            reason = "its architecture is code of its own, which is never run; expected one of transformers' own"
        elif "ignore_mismatched_sizes" in reason:  # which goes on about a report that was never printed
            reason = "it makes weights of other shapes than the file has; expected the config that belongs to them"
        raise InputError(f"{folder / 'config.json'}: {reason[:300]}") from error


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


def no_code(folder: Path) -> None:
    """Looks at every setting in the folder's JSON, however deep: arguments for transformers hide in several places.

    An `auto_map` at the top may stay: without trust in it transformers takes its own code, or none.

    Raises: InputError for attention from the hub, which transformers would fetch and run, for what names code or
        weights elsewhere, and for more layers or labels than any model has, which transformers would make before it
        looks at a weight.
    """
    for path in sorted(folder.glob("*.json")):
        if path.name in ("tokenizer.json", "vocab.json"):
            continue  # their keys are words, none of them a setting
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue  # nor can transformers read it; whoever needs it complains
        no_code_in(whole, str(path))


def no_code_in(settings: Any, place: str) -> None:
    """The same of settings that have been read."""
    unread = [("", settings)]
    while unread:
        name, value = unread.pop()
        if isinstance(value, str) and ATTENTION in name and "/" in value:
            raise InputError(f"{place}: attention by {value!r}; expected none, or transformers' own")
        if isinstance(value, int) and (most := next((CROWDS[part] for part in CROWDS if part in name), value)) < value:
            raise InputError(f"{place}: {name} {value:,}; expected at most {most:,}")
        if isinstance(value, list):
            unread += [(name, inner) for inner in value]
        if isinstance(value, dict):
            own = {key for key in value if key in ELSEWHERE or (key == "auto_map" and value is not settings)}
            if own:
                raise InputError(f"{place}: has {min(own)!r}; expected no setting that names code or other weights")
            unread += [(name if ATTENTION in name else key, inner) for key, inner in value.items()]


class Sizes(NamedTuple):
    """An encoder's: features of a state, layers, and the most tokens that it takes, None if it does not say."""

    width: int
    layers: int
    tokens: int | None


def sizes_of(config: Any, folder: Path) -> Sizes:
    """Its sizes, by whatever names its architecture gives them. Raises: InputError if it has none."""

    def first(*names: str) -> int | None:
        return next((int(value) for name in names if (value := getattr(config, name, None)) is not None), None)

    width, layers = first("hidden_size", "d_model"), first("encoder_layers", "num_encoder_layers", "num_hidden_layers")
    if width is None or layers is None:
        raise InputError(f"{folder / 'config.json'}: a {config.model_type}; expected an encoder of text, with layers")
    # RoBERTa's positions start after its padding id, so two fewer tokens fit than the table has rows.
    like_roberta = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}
    tokens = first("max_encoder_position_embeddings", "max_position_embeddings")
    return Sizes(width, layers, tokens and tokens - (2 if config.model_type in like_roberta else 0))


def longest(folder: Path, positions: int | None) -> int:
    """The most tokens of a text: what the positions, sentence-transformers' setting or the tokenizer's allow."""
    limit = sentence_settings(folder).get("max_seq_length")
    limit = limit or read_json(folder / "tokenizer_config.json", {}).get("model_max_length")
    known = [int(tokens) for tokens in (positions, limit) if isinstance(tokens, int | float) and 0 < tokens < NO_LIMIT]
    return min(known, default=USUAL_LIMIT)


def sentence_settings(folder: Path) -> dict[str, Any]:
    """What sentence-transformers was told of a transformer, in the first of its files that says anything."""
    return next((found for name in SENTENCE_SETTINGS if (found := read_json(folder / name, {}))), {})


def hugging_face(model: Any, device: torch.device, width: int) -> Forward:
    """The forward pass of any other encoder, by transformers; nothing is padded or masked."""
    rows = len(model.get_input_embeddings().weight)

    @torch.inference_mode()
    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        parts: list[list[Tensor]] = [[torch.zeros(0, width, device=device, dtype=model.dtype)] for _ in wanted]
        for length, run in groupby(sentences, key=len):
            if length == 0:
                continue  # a text without a token, where the tokenizer adds none of its own
            ids_BT = torch.tensor([list(ids) for ids in run])
            require_pieces(ids_BT, rows)
            hidden = model(input_ids=ids_BT.to(device), output_hidden_states=True).hidden_states
            for part, layer in zip(parts, wanted, strict=True):
                part.append(hidden[layer].flatten(0, 1))
        return [torch.cat(part) for part in parts]

    return forward


def read_json(path: Path, default: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON object in a file of an encoder's; without the file the default. Raises: InputError if there is none."""
    if default is not None and not path.is_file():
        return default
    found: dict[str, Any] = read_json_value(path, dict, "a JSON object")
    return found


def read_json_value(path: Path, kind: type, expected: str) -> Any:
    """The JSON in a file of an encoder's. Raises: InputError if there is none of that kind."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"), path, "the encoder's JSON")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}; expected the encoder's JSON") from error
    if not isinstance(value, kind):
        raise InputError(f"{path}: a {type(value).__name__}; expected {expected}")
    return value
