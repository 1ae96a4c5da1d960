"""A folder on disk ↔ a model. Never a pickle.

A checkpoint is `paraform.json` (`manifest.py` says what it holds, and why a kill cannot halve the folder),
`model.safetensors`, the model's assets (a vocabulary, say) and `README.md`, its card. The card may be edited; all
else is checked by digest.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast, overload

import torch
from torch import Tensor

from paraform import manifest
from paraform.checkpoint.deprecated import add_methods
from paraform.checkpoint.hub import FOREIGN, one_line, pull
from paraform.checkpoint.vectors import chosen_of
from paraform.decoding import MOST_SEED
from paraform.encoders.names import Variant, parse_name, with_choices
from paraform.fields import kept_fields
from paraform.manifest import CARD, NAME, WEIGHTS, Manifest, Writer
from paraform.models.systems import named_by, system_named
from paraform.records import InputError, require_count, require_kind, require_records, require_text, require_texts
from paraform.score import Score
from paraform.threads import in_threads, loads_alone
from paraform.weights import (
    PathLike,
    device_named,
    load_tensors,
    pretrained_folder,
    require_path,
    require_shapes,
    save_tensors,
    sha256,
    shapes_only,
)

if TYPE_CHECKING:
    from paraform.encoders import Encoder
    from paraform.models.exemplar import ExemplarParaphraser
    from paraform.models.judge import MeaningJudge
    from paraform.models.latent import LatentLanguageModel
    from paraform.models.lm import LMParaphraser
    from paraform.models.retrofit import RetrofittedEncoder

ENCODERS = ("minilm", "smollm2")  # short names that encoders.load knows


class Checkpointable(Protocol):
    """What a model offers to be saved; an `nn.Module` with three more members, and `restore(config, assets)`.

    Args:
        system: the name under which `load` finds its class.
        config: a frozen dataclass of numbers, strings and booleans.
    """

    system: ClassVar[str]

    @property
    def config(self) -> Any: ...
    def assets(self) -> dict[str, str]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any: ...


class System(Protocol):
    """The class of such a model. Models are restored twice, first on torch's meta device, where only shapes exist.

    Args:
        config_class: the dataclass of its config; `restore` is not given what that says to be removed (`kept_fields`).
    """

    config_class: type

    def restore(self, config: dict[str, Any], assets: dict[str, str]) -> Any: ...


def save(
    model: Checkpointable,
    folder: PathLike,
    *,
    card: str = "",
    scores: Sequence[Score] = (),
    data_digests: Mapping[str, str] | None = None,
    seed: int | None = None,
    dtype: str = "float32",
    weights: Mapping[str, Tensor] | None = None,
    extra: Mapping[str, Writer] | None = None,
) -> Path:
    """Write the model's folder; whatever happens, it holds the checkpoint of before or this one, whole.

    Args:
        card: the text of README.md: what the model is, its scores, the terms of its data; "": that nobody has said so.
        data_digests: SHA-256 by name, of the files that it was trained on.
        dtype: "float16" halves the file; `load` gives float32 again.
        weights: `whole_weights(model)`, where many processes had to gather them; None: taken from the model.
        extra: writers of further files by name, which `load` leaves alone.
    Returns: the folder.
    Raises: InputError, and nothing is written, if a weight is not finite (in that dtype), or if the folder holds
        other files of these names. ValueError for a config of more than plain values. OSError if it cannot be written.
    """
    if not isinstance(getattr(model, "system", None), str):
        raise InputError(f"a {type(model).__name__}; expected a model that paraform trains")
    require_path(folder)
    require_text(card, "the card")
    require_records(scores, Score)
    require_kind(data_digests, (Mapping, type(None)), "data_digests")
    for digest in (data_digests or {}).items():
        require_texts(digest)
    if seed is not None:
        require_count(seed, "seed", -MOST_SEED, MOST_SEED)
    require_kind(dtype, str, "dtype")
    if dtype not in ("float32", "float16"):
        raise InputError(f"dtype={str(dtype)[:40]!r}; expected 'float32' or 'float16'")
    config = dataclasses.asdict(model.config)
    for field, value in config.items():
        if not isinstance(value, (bool, int, float, str)) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"config.{field} is {value!r}; expected a finite number, a string or a boolean")
    stored: dict[str, Tensor] = {}
    for name, tensor in (whole_weights(model) if weights is None else weights).items():
        stored[name] = tensor.to(getattr(torch, dtype)) if tensor.is_floating_point() else tensor
        if not torch.isfinite(stored[name]).all():
            raise InputError(f"{folder}: not saved: tensor {name!r} holds NaN or infinity in {dtype}")
    assets = model.assets()
    if not card:
        card = f"# {model.system}\n\nA model of paraform's. Nobody has said what it was trained on, or on what terms.\n"
    writers: dict[str, Writer] = {WEIGHTS: lambda path: save_tensors(stored, path), CARD: manifest.write_text(card)}
    for name, text in assets.items():
        manifest.check_name(name, "assets")
        if name in writers or name in (extra or {}):
            raise ValueError(f"an asset is called {name!r}; expected another name than the checkpoint's own files")
        writers[name] = manifest.write_text(text)
    about = Manifest(
        system=model.system,
        config=config,
        assets=sorted(assets),
        files={},
        dtype=dtype,
        seed=seed,
        data=dict(data_digests or {}),
        scores=[
            {"name": s.name, "value": s.value if math.isfinite(s.value) else None, "signature": s.signature}
            for s in scores
        ],
        versions=dict(manifest.versions()),
        git=manifest.revision(),
    )
    manifest.commit(folder, about, writers | dict(extra or {}))
    return Path(folder)


def absolute_name(name: str) -> str:
    """What `load` takes in a process with another working folder: of a file or folder its absolute path."""
    text, variant = parse_name(name)
    if text in ENCODERS or pretrained_folder(text) is not None or not os.path.exists(text):
        return name
    return with_choices(os.path.abspath(text), dataclasses.asdict(variant))


@overload
def load(name: Literal["compact"], *, device: str | None = None, threads: int | None = None) -> ExemplarParaphraser: ...
@overload
def load(
    name: Literal["latent-compact"], *, device: str | None = None, threads: int | None = None
) -> LatentLanguageModel: ...
@overload
def load(
    name: Literal["minilm", "minilm-disentangled", "smollm2"], *, device: str | None = None, threads: int | None = None
) -> Encoder: ...
@overload
def load(
    name: Literal["minilm-par"], *, device: str | None = None, threads: int | None = None
) -> RetrofittedEncoder: ...
@overload
def load(name: Literal["smollm2-free"], *, device: str | None = None, threads: int | None = None) -> LMParaphraser: ...
@overload
def load(
    name: Literal["minilm-judge", "smollm2-judge", "smollm2-judge-all"],
    *,
    device: str | None = None,
    threads: int | None = None,
) -> MeaningJudge: ...
@overload
def load(
    name: PathLike,
    *,
    device: str | None = None,
    threads: int | None = None,
    systems: Mapping[str, System] | None = None,
) -> Any: ...
@loads_alone
def load(
    name: PathLike,
    *,
    device: str | None = None,
    threads: int | None = None,
    systems: Mapping[str, System] | None = None,
) -> Any:
    """The model of that name: embedded, else a folder on disk, else on the hub; or an encoder.

    Args:
        name: "compact", a checkpoint's folder, a hub id ("owner/name"), or what `encoders.load_embedder` takes:
            "minilm", a folder or hub id that holds a Hugging Face encoder or a model of sentence-transformers and no
            `paraform.json`, or a text file of word vectors. Behind an @ stands what is chosen of it
            (`encoders.Variant`): "minilm@layer=3,pooling=cls", "compact@vectors=style", "minilm@weights=random".
        device: "cpu", "cuda", …; None: the GPU if there is one.
        threads: that compute on a CPU while it is loaded; None: as before (`paraform.threads`).
        systems: classes by system; None: those of `models.systems`.
    Returns: the model in evaluation mode, float32, such as an `ExemplarParaphraser`; or an `Encoder`, or what else
        gives vectors.
    Raises: InputError, of one line with the file's name, if there is none, if anything in it is not as it was saved,
        or if it does not have what is chosen.
    """
    require_path(name)
    text, variant = parse_name(os.fspath(name))
    with in_threads(threads):
        folder = checkpoint_of(text)
        if folder is None or (not (folder / NAME).is_file() and _holds_encoder(folder)):
            return _encoder(text, device, variant)
        return chosen_of(_restore(folder, systems, device, variant.random_seed), text, variant)


def checkpoint_of(text: str) -> Path | None:
    """The folder that `load` reads for a name without what is chosen; None for an encoder's that is no folder.

    Raises: InputError if there is none of that name.
    """
    embedded = pretrained_folder(text)
    if embedded is not None and (embedded / NAME).is_file():
        return embedded
    if text in ENCODERS or embedded is not None or Path(text).is_file():
        return None
    if Path(text).is_dir():
        best = Path(text) / "best"  # a run's folder stands for its best checkpoint
        folder = best if (best / NAME).is_file() else Path(text)
        if not (folder / NAME).is_file() and (last := folder / "last" / NAME).is_file():
            raise InputError(f"{text}: a run without a best checkpoint yet; its latest weights are in {last.parent}")
        return folder
    if text.count("/") == 1 and not text.startswith((".", "/", "~")) and not text.endswith("/"):
        return pull(text)
    known = sorted(path.name for path in (Path(__file__).parents[1] / "pretrained").iterdir() if path.is_dir())
    raise InputError(
        f"{text}: no such model; looked among the embedded ones ({', '.join([*known, *ENCODERS])}) and for a"
        " folder of that name; a hub id reads 'owner/name'"
    )


def checkpoint_digest(name: str) -> str:
    """SHA-256 of what a checkpoint says of itself, the digests of its files among it; "" for an encoder's name.

    Raises: InputError if there is none of that name.
    """
    folder = checkpoint_of(parse_name(name)[0])
    return sha256(folder / NAME) if folder is not None and (folder / NAME).is_file() else ""


def load_weights(model: Checkpointable, folder: PathLike) -> None:
    """Put the weights of a checkpoint into a model of the same config, in place.

    Raises: InputError if the file is damaged, or names and shapes are not the model's.
    """
    _fill(model, manifest.located(folder, manifest.read(folder), WEIGHTS))


def whole_weights(model: Checkpointable) -> dict[str, Tensor]:
    """All weights by name, on the CPU; tied ones once. Under FSDP every process must call it."""
    return {name: whole(tensor).cpu() for name, tensor in _distinct(model.state_dict()).items()}


def whole(tensor: Tensor) -> Tensor:
    """The tensor itself, or, if FSDP spread it over the processes, its gathered copy."""
    tensor = tensor.detach()
    gather = getattr(tensor, "full_tensor", None)  # a DTensor's; importing that class takes a second at every start
    return tensor if gather is None else gather()


def spread(tensor: Tensor, like: Tensor, *, dtype: torch.dtype) -> Tensor:
    """The tensor in that dtype and, if FSDP spread `like` over the processes, this process's part of it."""
    tensor = tensor.to(dtype)
    if hasattr(like, "full_tensor"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        like = cast(DTensor, like)
        return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)
    return tensor


def _restore(folder: Path, systems: Mapping[str, System] | None, device: str | None, seed: int | None) -> Any:
    about = manifest.read(folder)
    made = _class_of(about.system, folder, systems)
    config = kept_fields(made.config_class, about.config, folder / NAME)
    assets: dict[str, str] = {}
    for name in about.assets:
        try:
            assets[name] = manifest.located(folder, about, name).read_bytes().decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{folder / name}: not UTF-8 ({error})") from error
    weights = manifest.located(folder, about, WEIGHTS)  # before a model is built, so that a damaged file is named

    def build() -> Any:
        try:
            return made.restore(dict(config), assets)
        except (TypeError, ValueError, LookupError, RuntimeError) as error:  # what a foreign config or asset sets off
            raise InputError(f"{folder / NAME}: makes no {about.system!r} model: {one_line(error)}") from error

    with shapes_only():  # without memory: what a small file's config makes of it may be larger than any
        require_shapes(weights, _distinct(build().state_dict(keep_vars=True)))
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.default_generator.manual_seed(seed)
        model = build()
    built = dataclasses.asdict(model.config)
    # A field that came later than the checkpoint has its default, which must therefore mean what was before it.
    for field in sorted(config):
        if field not in built or built[field] != config[field]:
            raise InputError(f"{folder / NAME}: config field {field[:80]!r} is none of this system's")
    if seed is None:  # else it keeps the weights that its modules drew
        _fill(model, weights)
    model.eval()
    return model.to(device_named(device))


def _fill(model: Checkpointable, path: Path) -> None:
    own = _distinct(model.state_dict())
    require_shapes(path, own)
    found = load_tensors(path)
    model.load_state_dict(
        {name: spread(tensor, own[name], dtype=own[name].dtype) for name, tensor in found.items()}, strict=False
    )


def _class_of(system: str, folder: Path, systems: Mapping[str, System] | None) -> System:
    if systems is not None and system in systems:
        return systems[system]
    try:
        if systems is not None:
            raise InputError(f"system {system!r}; expected one of {', '.join(sorted(systems))}")
        found: System = named_by(system_named(system).model)
    except InputError as error:
        raise InputError(f"{folder / NAME}: {error}") from error
    if system == "exemplar":
        add_methods(found)
    return found


def _holds_encoder(folder: Path) -> bool:
    from paraform.encoders.folder import ModelFolder

    return any((folder / file).is_file() for file in FOREIGN) or ModelFolder(folder).is_elmo


def _encoder(name: str, device: str | None, variant: Variant) -> Any:
    from paraform import encoders

    return encoders.load_embedder(name, device=device, variant=variant)


def _distinct(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Without the second names of tied weights, which safetensors refuses and loading fills by the first name."""
    seen: set[tuple[int, torch.Size | None]] = set()
    kept: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
        key = (id(local), None) if local.is_meta else (local.data_ptr(), local.shape)
        if key not in seen or local.numel() == 0:
            kept[name] = tensor
        seen.add(key)
    return kept
