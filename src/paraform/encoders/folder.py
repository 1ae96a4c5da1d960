"""A model's folder as Hugging Face or sentence-transformers writes it: what stands in it, each part read once.

A folder may be a stranger's. Its code is never run (nor is anybody asked whether it may): every class that it names
must be a module of sentence-transformers' own, no setting may name code or weights elsewhere, and of weights only
safetensors are read, never a pickle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, final

from tokenizers import Tokenizer

from paraform.encoders.dense import Dense, is_linear, read_dense
from paraform.encoders.tokenizer import read_tokenizer
from paraform.encoders.types import Pooling
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import sha256

USUAL_LIMIT = 512  # tokens, where neither the positions nor the tokenizer set a limit: T5 was trained on as many
NO_LIMIT = 10**6  # a tokenizer's `model_max_length` above it stands for none
CONFIG, MODULES = "config.json", "modules.json"
WHOLE = "config_sentence_transformers.json"  # what that library was told of the modules together
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
ELMO = ("*options.json", "*weights.hdf5")  # as ELMo's two files are published
SENTENCE_SETTINGS = tuple(  # in the order in which sentence-transformers looks for them
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
LIBRARY = "sentence_transformers."
NETWORKS = {"Transformer", "CLIPModel"}
WEIGHTED = NETWORKS | {
    "CNN", "Dense", "LSTM", "LayerNorm", "StaticEmbedding", "WeightedLayerPooling", "WordEmbeddings",
}  # fmt: skip
ROUTERS = {"Router", "Asym"}  # they hold modules of their own
KNOWN = WEIGHTED | ROUTERS | {"BoW", "Dropout", "Normalize", "Pooling", "WordWeights"}
SETTLED = {"BoW", "CNN", "Dense", "Dropout", "LSTM", "LayerNorm", "Pooling", "WeightedLayerPooling", "WordWeights"}
"""Modules that are nothing without their config.json."""
TOKENIZERS = {"WhitespaceTokenizer", "PhraseTokenizer", "TransformersTokenizerWrapper"}
ARGUMENTS = (  # a Transformer's settings that change what it computes in ways that are not ours
    "processing_kwargs", "model_args", "model_kwargs", "tokenizer_args", "processor_kwargs", "config_args",
    "config_kwargs", "tokenizer_name_or_path",
)  # fmt: skip
ATTENTION = "attn_implementation"
ELSEWHERE = {  # transformers' arguments by which it reads other code or weights than the folder's safetensors
    "_configuration_file", "adapter_kwargs", "allow_all_kernels", "kernel_config", "transformers_weights",
    "use_kernels", "weights_only",
}  # fmt: skip
CROWDS = {"layer": 1_000, "num_labels": 100_000}
"""Parts of settings' names, and the highest count that such a setting may have: transformers makes them one by one."""


class Module(NamedTuple):
    """One module that a folder names: its class in the library, and its own folder."""

    kind: str
    folder: ModelFolder


@final
@dataclass(frozen=True)
class ModelFolder:
    """A model's folder; what is asked of it is read when it is first asked for, and once."""

    path: Path
    _read: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def settings(self, name: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object in a file; without the file the default. Raises: InputError if there is none."""
        if name not in self._read:
            if default is not None and not (self.path / name).is_file():
                return default
            self._read[name] = read_json(self.path / name)
        return self._read[name]

    @property
    def config(self) -> dict[str, Any]:
        """What `config.json` says. Raises: InputError if it is not there, or no JSON object."""
        return self.settings(CONFIG)

    @property
    def is_elmo(self) -> bool:
        """Whether it holds ELMo's published files, or one of them."""
        return not (self.path / CONFIG).is_file() and any(any(self.path.glob(kind)) for kind in ELMO)

    def weight_files(self) -> list[Path]:
        """The safetensors that transformers reads: `model.safetensors`, or the several files that its index names.

        Raises: InputError if there are none, or an index names anything else.
        """
        for index in sorted(self.path.glob("*.safetensors.index*.json")):
            named = self.settings(index.name).get("weight_map")
            if not isinstance(named, dict) or not all(str(name).endswith(".safetensors") for name in named.values()):
                raise InputError(
                    f"{index}: names a file that is no safetensors; expected names that end in .safetensors"
                )
        if (self.path / WEIGHTS).is_file():
            return [self.path / WEIGHTS]
        files = [self.path / name for name in sorted(set(self.settings(INDEX, {}).get("weight_map", {}).values()))]
        if lacking := [file for file in files if not file.is_file()]:
            raise InputError(f"{lacking[0]}: no such file; expected each that {INDEX} names")
        if not files:
            raise self._no_weights()
        return files

    @cached_property
    def weights_digest(self) -> str:
        """SHA-256 of the weights: of the one file, or over those of the several."""
        files = self.weight_files()
        return sha256(files[0]) if len(files) == 1 else hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything that is read of it: activations, poolings, prompts and vocabularies count too."""
        kinds = ("safetensors", "json", "txt", "model")
        files = sorted(path for kind in kinds for path in self.path.glob(f"**/*.{kind}"))
        parts = (f"{path.relative_to(self.path).as_posix()} {sha256(path)}\n" for path in files)
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, of which the caller may change the limit. Raises: InputError as `read_tokenizer`."""
        return read_tokenizer(self.path)

    def longest(self, positions: int | None) -> int:
        """The most tokens of a text: what positions, sentence-transformers' setting or the tokenizer's allow."""
        limit = self.sentence_settings.get("max_seq_length")
        limit = limit or self.settings("tokenizer_config.json", {}).get("model_max_length")
        limits = [int(most) for most in (positions, limit) if isinstance(most, int | float) and 0 < most < NO_LIMIT]
        return min(limits, default=USUAL_LIMIT)

    @cached_property
    def sentence_settings(self) -> dict[str, Any]:
        """What sentence-transformers was told of a transformer, in the first of its files that says anything."""
        return next((found for name in SENTENCE_SETTINGS if (found := self.settings(name, {}))), {})

    @cached_property
    def modules(self) -> list[Module]:
        """The modules that `modules.json` names, those within routers too; none without that file.

        Raises: InputError if a class is none of the library's modules, or weights are no safetensors.
        """
        path = self.path / MODULES
        if not path.is_file():
            return []
        listed = _json_in(path, list, "a list of modules")
        if not all(isinstance(entry, dict) for entry in listed) or not listed:
            raise InputError(f"{path}: expected a list of modules, each with its type and path")
        return [
            module for entry in listed for module in self._inside(path, entry.get("type"), str(entry.get("path", "")))
        ]

    def _inside(self, named_in: Path, kind: object, place: str) -> Iterator[Module]:
        """A module that a file names, and those within it."""
        name = _class_name(named_in, kind, KNOWN)
        relative = PurePosixPath(place)
        if relative.is_absolute() or ".." in relative.parts or "\\" in place:
            raise InputError(f"{named_in}: a module at {place!r}; expected a folder inside this one")
        folder = ModelFolder(self.path / relative) if relative.parts else self
        folder.require_no_code()
        if name in NETWORKS:
            folder.require_no_adapter()
            folder.weight_files()
        elif name in WEIGHTED and not (folder.path / WEIGHTS).is_file():
            raise folder._no_weights()
        if name == "WordEmbeddings":
            own = "wordembedding_config.json"
            _class_name(folder.path / own, folder.settings(own).get("tokenizer_class"), TOKENIZERS)
        if name in SETTLED and not (folder.path / CONFIG).is_file():
            raise InputError(f"{folder.path / CONFIG}: no such file; expected each module that {named_in.name} names")
        yield Module(name, folder)
        if name in ROUTERS:
            file = next((file for file in ("router_config.json", CONFIG) if (folder.path / file).is_file()), None)
            types = folder.settings(file).get("types") if file else None
            if file is None or not isinstance(types, dict):
                raise InputError(f"{folder.path}: a {name} without its modules; expected router_config.json with types")
            for route, inner in types.items():
                yield from folder._inside(folder.path / file, inner, str(route))

    @cached_property
    def is_plain(self) -> bool:
        """Whether the vectors are the mean of the last states, or the first of them, a linear map and length 1 aside.

        Then `Encoder` gives them, without the library and without padding.

        Raises: InputError as `modules`.
        """
        if not self.modules:
            return True
        names = [module.kind for module in self.modules]
        if names[:2] != ["Transformer", "Pooling"] or self.modules[0].folder != self:
            return False
        if names[2:] not in ([], ["Normalize"], ["Dense"], ["Dense", "Normalize"]):
            return False
        if "Dense" in names and not is_linear(self.modules[2].folder.settings(CONFIG, {})):
            return False
        settings, whole = self.sentence_settings, self.settings(WHOLE, {})
        modalities = settings.get("modality_config", {"text": {}})
        text = modalities.get("text") if isinstance(modalities, dict) else None
        usual = {
            "do_lower_case": False, "transformer_task": "feature-extraction", "module_output_name": "token_embeddings",
        }  # fmt: skip
        return (
            isinstance(text, dict)
            and pooling_of(self.modules[1].folder.settings(CONFIG, {})) is not None
            and all(settings.get(key, value) == value for key, value in usual.items())
            and text.get("method", "forward") == "forward"
            and text.get("method_output_name", "last_hidden_state") == "last_hidden_state"
            and not any(settings.get(key) for key in ARGUMENTS)
            and not whole.get("default_prompt_name")
            and whole.get("truncate_dim") is None
        )

    @property
    def pooling(self) -> Pooling:
        """The pooling of an encoder: what the folder's `Pooling` module says if it is mean or cls, else mean."""
        inside = [module.folder.settings(CONFIG, {}) for module in self.modules if module.kind == "Pooling"]
        return pooling_of(inside[0] if inside else self.settings(f"1_Pooling/{CONFIG}", {})) or "mean"

    @property
    def normalizes(self) -> bool:
        """Whether an encoder's vectors have length 1: as the folder's modules say, yes where it has none."""
        return not self.modules or any(module.kind == "Normalize" for module in self.modules)

    def dense(self, width: int) -> Dense | None:
        """A plain encoder's linear map; None if it has none, or more modules, and its states alone are used.

        Args:
            width: features of the encoder's states.
        Raises: InputError as `read_dense`.
        """
        inside = [module.folder for module in self.modules if module.kind == "Dense"] if self.is_plain else []
        return read_dense(inside[0].path / WEIGHTS, width) if inside else None

    def require_no_adapter(self) -> None:
        """Raises: InputError for an adapter, which names other weights, to be found elsewhere."""
        if (self.path / "adapter_config.json").is_file():
            raise InputError(f"{self.path / 'adapter_config.json'}: an adapter; merge it into its encoder first")

    def require_no_code(self) -> None:
        """Looks at every setting in its JSON, however deep: arguments for transformers hide in several places.

        An `auto_map` at the top may stay: without trust in it transformers takes its own code, or none.

        Raises: InputError as `no_code_in`.
        """
        for path in sorted(self.path.glob("*.json")):
            if path.name in ("tokenizer.json", "vocab.json"):
                continue  # their keys are words, none of them a setting
            try:
                whole = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError, RecursionError):
                continue  # nor can transformers read it; whoever needs it complains
            no_code_in(whole, str(path))

    def _no_weights(self) -> InputError:
        """The complaint about weights that are not where they are read from."""
        others = sorted(path.name for pattern in (*PICKLES, "*.h5", "*.msgpack") for path in self.path.glob(pattern))
        came = f"weights in {others[0]} only" if others else "no weights"
        return InputError(f"{self.path}: {came}; expected {WEIGHTS} (safetensors hold no code, unlike a pickle)")


def _class_name(named_in: Path, kind: object, known: set[str]) -> str:
    """The class that a dotted path names. Raises: InputError for one that is none of these of the library."""
    if not isinstance(kind, str) or not kind.startswith(LIBRARY):
        raise InputError(
            f"{named_in}: names the class {str(kind)[:80]!r}; expected classes of {LIBRARY.rstrip('.')} alone, since"
            " others are code of the folder's own, which is never run"
        )
    name = kind.rpartition(".")[2]
    if name not in known:
        raise InputError(f"{named_in}: names the class {kind[:80]!r}; expected one of {', '.join(sorted(known))}")
    return name


def pooling_of(config: dict[str, Any]) -> Pooling | None:
    """The pooling that a `Pooling` module's config.json says: mean where it says none; None: neither mean nor cls.

    Newer versions of the library write one `pooling_mode`, older ones a yes or no for each.
    """
    said = config.get("pooling_mode")
    if said is None:
        said = [key for key, value in config.items() if key.startswith("pooling_mode_") and value] or ["mean"]
    modes = said if isinstance(said, list) else [said]
    known: dict[str, Pooling] = {"mean": "mean", "cls": "cls"}
    known |= {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    return known.get(str(modes[0])) if len(modes) == 1 else None


def no_code_in(settings: Any, place: str) -> None:
    """Looks at every setting, however deep.

    Args:
        settings: what JSON said.
        place: it in words, for messages.
    Raises: InputError for attention from the hub, which transformers would fetch and run, for what names code or
        weights elsewhere, and for more layers or labels than any model has, which transformers would make before it
        looks at a weight.
    """
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


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of an encoder's. Raises: InputError if there is none."""
    found: dict[str, Any] = _json_in(path, dict, "a JSON object")
    return found


def _json_in(path: Path, kind: type, expected: str) -> Any:
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
