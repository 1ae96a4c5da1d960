"""Weights and arrays in and out: safetensors and .npy, checked digests, writes that a kill cannot halve."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import itertools
import math
import os
import secrets
import shutil
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from paraform.records import InputError

PathLike = str | os.PathLike[str]
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """A temporary file near `path`; it takes the place of `path` when the block ends, and is removed if it fails.

    So a kill, a full disk or an error leaves the old file or the new one, never half of one; what a kill leaves of the
    temporary file, the next write beside it removes. A link stays one.

    Raises: InputError if `path` is a device, a folder, or a link that leads nowhere.
    """
    final = _final(path)
    with _workplace(final) as folder:
        unfinished = folder / final.name
        unfinished.touch(exist_ok=False)
        mode = unfinished.stat().st_mode  # what the umask says, as of any new file
        yield unfinished
        with open(unfinished, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(unfinished, mode)  # a library may have put a file of its own there
        os.replace(unfinished, final)


def require_writable(path: PathLike) -> None:
    """For what takes long: raises now what `atomic_path` would raise at the end; makes the folder and no file."""
    with _workplace(_final(path)):
        pass


def _final(path: PathLike) -> Path:
    """Where the file will stand, in a folder that is there and clean. Folders are made of names, never of links."""
    final = Path(os.path.realpath(path))
    lost = lost_link(path)
    if lost and (final.is_symlink() or not final.parent.is_dir()):
        raise InputError(f"{lost}: a link that leads nowhere; expected one into a folder that is there")
    if final.exists() and not final.is_file():
        raise InputError(f"{path}: not a regular file; expected the name of one to write")
    final.parent.mkdir(parents=True, exist_ok=True)
    _sweep(final.parent)
    return final


def require_path(path: object) -> None:
    """Raises: InputError for what is no path, or what no file system could hold."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"a {type(path).__name__} where the path of a file or folder is expected")
    try:
        nul = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        raise InputError(
            "half of a surrogate pair in the path of a file or folder; expected whole characters"
        ) from None
    if nul:
        raise InputError("a NUL in a path; expected none")
    if not os.fspath(path):  # which would be the folder one is in
        raise InputError("an empty name where the path of a file or folder is expected")


def lost_link(path: PathLike) -> Path | None:
    """The link that leads nowhere (to what is not there, or in circles): the path itself, or a folder on its way."""
    places = (Path(path), *Path(path).parents)
    return next((place for place in places if place.is_symlink() and not place.exists()), None)


@contextlib.contextmanager
def _workplace(final: Path) -> Iterator[Path]:
    """A folder beside a file, for it and for what a library puts beside it while it writes (safetensors does).

    Its lock says that its process lives: the operating system frees it, however the process ends.
    """
    lock = None
    while True:
        folder = final.with_name(f".{final.name}.{secrets.token_hex(4)}.unfinished")
        folder.mkdir()
        try:
            lock = _lock(folder)
        except (BlockingIOError, FileNotFoundError):  # swept away by another process before it was locked
            continue
        except OSError:  # a system without such locks, where nothing is swept either
            pass
        break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """The folder, made if there is none; whoever else asks for it waits until the block ends, or its process.

    A system without locks lets all in.
    """
    held = None
    while held is None:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            held = _lock(folder, wait=True)
        except FileNotFoundError:  # whoever had it has removed it
            continue
        except OSError:
            break
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _sweep(place: Path) -> None:
    """Remove the workplaces of dead processes: those whose lock is free."""
    for folder in place.glob(".*.unfinished"):
        with contextlib.suppress(OSError):  # a living process has it, or it is gone, or there are no locks
            lock = _lock(folder)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int:
    """A descriptor that locks the folder until it is closed or its process dies. Raises: OSError if that cannot be."""
    held = os.open(folder, os.O_RDONLY)  # which Windows refuses, that has no fcntl
    import fcntl

    try:
        fcntl.flock(held, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(held), os.stat(folder)):  # removed by whoever had it, and made again
            raise FileNotFoundError(folder)
    except OSError:
        os.close(held)
        raise
    return held


def sha256(path: PathLike) -> str:
    """The file's SHA-256, in hexadecimal."""
    with open(path, "rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over tensors by name, in hexadecimal: their shapes, kinds of numbers, and values."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def save_tensors(tensors: Mapping[str, Tensor], path: PathLike) -> str:
    """Write a safetensors file atomically; returns its SHA-256."""
    with atomic_path(path) as unfinished:
        try:
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, unfinished)
        except SafetensorError as error:  # it wraps the operating system's own, such as a full disk
            raise OSError(f"{path}: could not be written: {error}") from error
    return sha256(path)


def load_tensors(path: PathLike, digest: str | None = None, device: str = "cpu") -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Args:
        digest: the SHA-256 that the file must have; None: not checked.
    Raises: InputError if the file is missing, cut, not safetensors, of another digest, or holds NaN, infinity, or
            numbers of another kind than `FLOATS` and `WHOLE`.
    """
    if digest is not None and Path(path).is_file() and (found := sha256(path)) != digest:
        raise InputError(f"{path}: SHA-256 is {found}, expected {digest}; the file is damaged or another version")
    with _opened(path, device) as data:
        tensors = {name: data.get_tensor(name) for name in data.keys()}  # noqa: SIM118 (not a mapping)
    for name, tensor in tensors.items():
        if tensor.dtype not in (*FLOATS, *WHOLE):  # float8, say, which torch can read and hardly work with
            kind = str(tensor.dtype).removeprefix("torch.")
            raise InputError(f"{path}: tensor {name!r} is of {kind}; expected floats of 16 bits or more, or integers")
        if tensor.is_floating_point() and not is_finite(tensor):
            raise InputError(f"{path}: tensor {name!r} holds NaN or infinity; expected finite weights")
    return tensors


def tensor_names(path: PathLike) -> list[str]:
    """The names of a safetensors file's tensors; nothing else is read. Raises: InputError if it is no such file."""
    with _opened(path) as data:
        return list(data.keys())


def is_finite(tensor: Tensor) -> bool:
    """Whether no number is NaN or infinite, by the least and the greatest: far faster than `torch.isfinite` of all."""
    return not tensor.numel() or bool(torch.isfinite(torch.stack(tensor.aminmax())).all())


# What numpy raises for a damaged header, which it reads as Python.
BAD_HEADER = (ValueError, TypeError, KeyError, EOFError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)


def map_array(path: PathLike) -> NDArray[Any]:
    """The array of a .npy file, mapped and not read: no memory is taken for it, however large it is.

    Raises: InputError if the file is missing, no regular one (a pipe would be waited for), or not what `numpy.save`
        writes of numbers; also if its size is not what its header says.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file; expected a .npy file of numbers")
    try:
        with open(path, "rb") as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(file)
            wanted, size = file.tell() + math.prod(shape) * dtype.itemsize, os.fstat(file.fileno()).st_size
        if dtype.hasobject or size != wanted:
            raise ValueError(f"{dtype} {list(shape)} in {size:,} bytes")
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except BAD_HEADER as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: {reason}; expected a .npy file of numbers") from error


def write_rows(path: PathLike, parts: Iterable[NDArray[Any]], dtype: Any = "<f4") -> None:
    """Write a .npy file of that type, [N, …], a part of its rows at a time, at least one. An error leaves no file."""
    parts = iter(parts)
    first = next(parts)
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header: dict[str, Any] = {"descr": descr, "fortran_order": False, "shape": (0, *first.shape[1:])}
    with atomic_path(path) as unfinished, open(unfinished, "wb") as out:
        np.lib.format.write_array_header_1_0(out, header)
        begin, count = out.tell(), 0
        for rows in itertools.chain([first], parts):
            out.write(np.ascontiguousarray(rows, dtype=dtype).tobytes())
            count += len(rows)
        out.seek(0)  # NumPy leaves room in a header for any number of rows
        np.lib.format.write_array_header_1_0(out, header | {"shape": (count, *first.shape[1:])})
        assert out.tell() == begin


def require_shapes(path: PathLike, own: Mapping[str, Tensor]) -> None:
    """Compare a model's tensors with the header of a safetensors file; of both, nothing else is read.

    Args:
        own: the model's tensors; on torch's meta device they take no memory, however large they are.
    Raises: InputError that names a tensor which only one of the two has, or which has another shape.
    """
    with _opened(path) as data:
        found = {name: data.get_slice(name).get_shape() for name in data.keys()}  # noqa: SIM118
    for name in sorted(own.keys() ^ found.keys()):
        raise InputError(f"{path}: {'no' if name in own else 'unknown'} tensor {name!r}; expected the model's own")
    for name, shape in found.items():
        if shape != list(own[name].shape):
            raise InputError(f"{path}: tensor {name!r} is {shape}; its config makes it {list(own[name].shape)}")


def device_named(device: str | torch.device | None) -> torch.device:
    """The device of that name; None: the GPU if there is one. Raises: InputError for one that torch can't use here."""
    try:
        made = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device is None else device)
        if torch.empty(0, device=made).is_meta:
            raise ValueError("it holds no numbers")
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:  # torch asserts that it has CUDA
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"device {str(device)[:40]!r}: {reason[:200]}; 'cpu' always works") from error
    return made


class _Undrawn(TorchFunctionMode):
    """Leaves weights as they are where a module would draw them from a normal distribution."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in (torch.nn.init.normal_, Tensor.normal_):
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def shapes_only() -> Iterator[None]:
    """A model that is built inside has shapes alone: on torch's meta device, without memory.

    Nothing is drawn: for a normal distribution of no numbers torch imports its compiler, a second of every start.
    """
    with torch.device("meta"), _Undrawn():
        yield


@contextlib.contextmanager
def _opened(path: PathLike, device: str = "cpu") -> Iterator[Any]:
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file; expected safetensors weights")
    try:
        with safe_open(path, framework="pt", device=device) as data:
            yield data
    except SafetensorError as error:
        raise InputError(f"{path}: not a readable safetensors file ({error})") from error


def pretrained_folder(name: str) -> Path | None:
    """The folder of an embedded model of that name inside the package, or None."""
    folder = Path(__file__).parent / "pretrained" / name
    return folder if name == Path(name).name not in ("", "..") and folder.is_dir() else None


def packaged_folder(package: str, inside: str) -> Path | None:
    """A folder that an installed package carries, found without importing that package; None if not installed."""
    found = importlib.util.find_spec(package)
    for root in (found.submodule_search_locations or []) if found else []:
        if (folder := Path(root) / inside).is_dir():
            return folder
    return None


def cache_folder() -> Path:
    """Where computed features are kept: `$PARAFORM_CACHE`, else `$XDG_CACHE_HOME/paraform`, else ~/.cache/paraform."""
    if (own := os.environ.get("PARAFORM_CACHE")) is not None:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")  # a user without a name or HOME, as in a container, has no home
    return (Path.home() / ".cache" if shared is None else Path(shared)) / "paraform"


def cached_file(kind: str, content: Iterable[str], suffix: str, cache: Path | None = None) -> Path:
    """Where what is computed of that content is kept: `CACHE/KIND/KEY.SUFFIX`, KEY a SHA-256 of all its parts.

    Args:
        content: texts on which the result depends, in their order; settings and digests too.
        cache: the folder of all caches; None: `cache_folder()`.
    """
    key = hashlib.sha256()
    for part in content:
        encoded = part.encode(errors="surrogatepass")
        key.update(f"{len(encoded)} ".encode() + encoded)  # so that no two lists of parts read alike
    return (cache or cache_folder()) / kind / f"{key.hexdigest()[:32]}.{suffix}"


def write_kept(path: PathLike, content: bytes) -> None:
    """Write a file of a cache, with its digest in the first line."""
    with atomic_path(path) as unfinished:
        unfinished.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def read_kept(path: PathLike) -> bytes | None:
    """What `write_kept` wrote; None if nothing is there or it is damaged: whoever keeps it can make it again."""
    if not Path(path).is_file():
        return None
    digest, _, content = Path(path).read_bytes().partition(b"\n")
    return content if digest == hashlib.sha256(content).hexdigest().encode() else None
