"""A folder of sentence-transformers, whatever modules it has: by that library, unless ours computes the same faster.

A folder may be a stranger's. Before the library is imported, every class that the folder names must be a module of
the library's own, and every module's weights safetensors; so nothing in the folder is run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.encoders.dense import IDENTITY, Dense
from paraform.encoders.encoder import Pooling
from paraform.encoders.hugging_face import (
    PICKLES,
    WEIGHTS,
    no_adapter,
    no_code,
    no_weights,
    quiet,
    read_json,
    read_json_value,
    sentence_settings,
    weight_files,
)
from paraform.progress import is_watched
from paraform.records import InputError, require_count, require_texts
from paraform.score import signature
from paraform.weights import load_tensors, sha256
from paraform.words import tell_cut

MODULES = "modules.json"
LIBRARY = "sentence_transformers."
NETWORKS = {"Transformer", "CLIPModel"}
WEIGHTED = NETWORKS | {
    "CNN", "Dense", "LSTM", "LayerNorm", "StaticEmbedding", "WeightedLayerPooling", "WordEmbeddings",
}  # fmt: skip
ROUTERS = {"Router", "Asym"}  # they hold modules of their own
KNOWN = WEIGHTED | ROUTERS | {"BoW", "Dropout", "Normalize", "Pooling", "WordWeights"}
TOKENIZERS = {"WhitespaceTokenizer", "PhraseTokenizer", "TransformersTokenizerWrapper"}
ARGUMENTS = (  # a Transformer's settings that change what it computes in ways that are not ours
    "processing_kwargs", "model_args", "model_kwargs", "tokenizer_args", "processor_kwargs", "config_args",
    "config_kwargs", "tokenizer_name_or_path",
)  # fmt: skip


class Module(NamedTuple):
    """One module that a folder names: its class in the library, and its own folder."""

    kind: str
    folder: Path


def modules_of(folder: Path) -> list[Module]:
    """The modules that `modules.json` names, those within routers too; none without that file.

    Raises: InputError if a class is none of the library's modules, or weights are no safetensors.
    """
    path = folder / MODULES
    if not path.is_file():
        return []
    listed = read_json_value(path, list, "a list of modules")
    if not all(isinstance(entry, dict) for entry in listed) or not listed:
        raise InputError(f"{path}: expected a list of modules, each with its type and path")
    return [
        module for entry in listed for module in _checked(path, entry.get("type"), folder, str(entry.get("path", "")))
    ]


def _checked(named_in: Path, kind: object, above: Path, inside: str) -> Iterator[Module]:
    """A module that a file names, and those within it."""
    name = _class_name(named_in, kind, KNOWN)
    relative = PurePosixPath(inside)
    if relative.is_absolute() or ".." in relative.parts or "\\" in inside:
        raise InputError(f"{named_in}: a module at {inside!r}; expected a folder inside this one")
    folder = above / relative
    no_code(folder)
    if name in NETWORKS:
        no_adapter(folder)
        weight_files(folder)
    elif name in WEIGHTED and not (folder / WEIGHTS).is_file():
        raise no_weights(folder)
    if name == "WordEmbeddings":
        path = folder / "wordembedding_config.json"
        _class_name(path, read_json(path).get("tokenizer_class"), TOKENIZERS)
    yield Module(name, folder)
    if name in ROUTERS:
        settings_file = next(
            (folder / file for file in ("router_config.json", "config.json") if (folder / file).is_file()), None
        )
        types = read_json(settings_file).get("types") if settings_file else None
        if settings_file is None or not isinstance(types, dict):
            raise InputError(f"{folder}: a {name} without its modules; expected router_config.json with types")
        for route, inner in types.items():
            yield from _checked(settings_file, inner, folder, str(route))


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


def is_plain(folder: Path) -> bool:
    """Whether the vectors are the mean of the last states, or the first of them, a linear map and length 1 aside.

    Then `Encoder` gives them, without the library and without padding.

    Raises: InputError as `modules_of`.
    """
    modules = modules_of(folder)
    if not modules:
        return True
    names = [module.kind for module in modules]
    if names[:2] != ["Transformer", "Pooling"] or modules[0].folder != folder:
        return False
    if names[2:] not in ([], ["Normalize"], ["Dense"], ["Dense", "Normalize"]):
        return False
    if "Dense" in names and not is_linear(modules[2].folder):
        return False
    settings, whole = sentence_settings(folder), read_json(folder / "config_sentence_transformers.json", {})
    modalities = settings.get("modality_config", {"text": {}})
    text = modalities.get("text") if isinstance(modalities, dict) else None
    usual = {"do_lower_case": False, "transformer_task": "feature-extraction", "module_output_name": "token_embeddings"}
    return (
        isinstance(text, dict)
        and pooling_of(modules[1].folder) is not None
        and all(settings.get(key, value) == value for key, value in usual.items())
        and text.get("method", "forward") == "forward"
        and text.get("method_output_name", "last_hidden_state") == "last_hidden_state"
        and not any(settings.get(key) for key in ARGUMENTS)
        and not whole.get("default_prompt_name")
        and whole.get("truncate_dim") is None
    )


def pooling_of(folder: Path) -> Pooling | None:
    """The pooling that a `Pooling` module's folder says: mean where it says none; None if it is neither mean nor cls.

    Newer versions of the library write one `pooling_mode`, older ones a yes or no for each.
    """
    config = read_json(folder / "config.json", {})
    said = config.get("pooling_mode")
    if said is None:
        said = [key for key, value in config.items() if key.startswith("pooling_mode_") and value] or ["mean"]
    modes = said if isinstance(said, list) else [said]
    known: dict[str, Pooling] = {"mean": "mean", "cls": "cls"}
    known |= {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    return known.get(str(modes[0])) if len(modes) == 1 else None


def plain_pooling(folder: Path) -> Pooling:
    """The pooling of an encoder: what the folder's `Pooling` module says if it is mean or cls, else mean."""
    inside = [module.folder for module in modules_of(folder) if module.kind == "Pooling"] or [folder / "1_Pooling"]
    return pooling_of(inside[0]) or "mean"


def is_linear(folder: Path) -> bool:
    """Whether the module in this folder is a map as `Dense`, from as many features to as many."""
    config = read_json(folder / "config.json", {})
    own = {"in_features", "out_features", "bias", "activation_function"}
    return (
        set(config) <= own | {"module_input_name", "module_output_name"}
        and config.get("activation_function") == IDENTITY
        and config.get("in_features") == config.get("out_features")
        and config.get("bias", True) is True
        and config.get("module_input_name", "sentence_embedding") == "sentence_embedding"
        and config.get("module_output_name") in (None, "sentence_embedding")
    )


def read_dense(folder: Path, width: int) -> Dense:
    """The map of a module's folder.

    Args:
        width: D, features of the encoder's states.
    Raises: InputError if the weights are not of this shape, or as `load_tensors`.
    """
    tensors = load_tensors(folder / WEIGHTS)
    weight_ED, bias_E = tensors.get("linear.weight"), tensors.get("linear.bias")
    if weight_ED is None or bias_E is None or weight_ED.shape != (width, width) or bias_E.shape != (width,):
        shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
        raise InputError(
            f"{folder / WEIGHTS}: {shapes}; expected linear.weight [{width}, {width}] and linear.bias [{width}]"
        )
    return Dense(weight_ED.float(), bias_E.float())


def dense_folder(folder: Path) -> Path | None:
    """The folder of a plain encoder's linear map; None if it has none."""
    if not is_plain(folder):
        return None  # its states alone are used
    return next((module.folder for module in modules_of(folder) if module.kind == "Dense"), None)


def normalizes(folder: Path) -> bool:
    """Whether an encoder's vectors have length 1: as the folder's modules say, yes where it has none."""
    modules = modules_of(folder)
    return not modules or any(module.kind == "Normalize" for module in modules)


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


def load_pipeline(name: str, folder: Path, device: torch.device) -> ModulePipeline:
    """A model of sentence-transformers, by that library.

    Raises: InputError as `modules_of`, if the library is not installed, or if it cannot read the folder.
    """
    for module in modules_of(folder):
        pickles = sorted(path for pattern in PICKLES for path in module.folder.glob(pattern))
        if pickles and module.kind in WEIGHTED:
            raise InputError(f"{pickles[0]}: a pickle beside {WEIGHTS}; expected none, for the library to find none")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise InputError(f"{folder}: needs sentence-transformers; pip install 'paraform[eval]'") from error
    try:
        with quiet():
            model = SentenceTransformer(
                str(folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            ).eval()
    except Exception as error:  # damaged files end in whatever the libraries trip over
        raise InputError(f"{folder}: {' '.join(str(error).split())[:300]}") from error
    return ModulePipeline(name, _digest(folder), model, _pads(model))


def _pads(model: Any) -> bool:
    """Whether texts of several lengths can stand in one batch; a tokenizer without padding gets its end mark for it."""
    tokenizer: Any = getattr(model, "tokenizer", None)
    if getattr(tokenizer, "pad_token", "") is not None:
        return True
    tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token or tokenizer.unk_token  # the mask hides it
    return tokenizer.pad_token is not None


def _digest(folder: Path) -> str:
    """Settings and tokenizers count too: activations, poolings, prompts, vocabularies."""
    files = sorted(path for kind in ("safetensors", "json", "txt", "model") for path in folder.glob(f"**/*.{kind}"))
    parts = (f"{path.relative_to(folder).as_posix()} {sha256(path)}\n" for path in files)
    return hashlib.sha256("".join(parts).encode()).hexdigest()
