"""Optimiser and random state ↔ `training.safetensors` + `training.json`, bit for bit and without a pickle.

Accelerate's `save_state` pickles, so a checkpoint from a stranger could run code; tensors and JSON cannot.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paraform.checkpoint.folder import spread, whole
from paraform.records import InputError


def flatten(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """`value` as plain JSON; each tensor in it goes into `tensors` under a name that begins with `name`.

    Args:
        value: numbers, strings, booleans, None and tensors, in dicts, lists and tuples.
    Raises: TypeError for anything else.
    """
    if isinstance(value, Tensor):
        tensors[name] = whole(value).cpu().clone()  # a later step must not write into what is being saved
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[key, flatten(inner, f"{name}.{key}", tensors)] for key, inner in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [flatten(inner, f"{name}.{number}", tensors) for number, inner in enumerate(value)]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}; expected numbers, strings and tensors")


def unflatten(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """What `flatten` took apart. Raises: KeyError, TypeError or ValueError for what it did not write."""
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "tensor":
        return tensors[inner]
    if kind == "dict":
        return {key: unflatten(held, tensors) for key, held in inner}
    if kind not in ("list", "tuple"):
        raise ValueError(f"{kind!r}; expected tensor, dict, list or tuple")
    held = [unflatten(each, tensors) for each in inner]
    return held if kind == "list" else tuple(held)


def pack_optimizers(optimizers: Mapping[str, torch.optim.Optimizer], tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Their kind and state as plain JSON, by name; the tensors go into `tensors`.

    Under FSDP every process must call it.
    """
    return {
        name: {"kind": _kind(each), "state": flatten(each.state_dict(), f"optimizer.{name}", tensors)}
        for name, each in optimizers.items()
    }


def unpack_optimizers(
    optimizers: Mapping[str, torch.optim.Optimizer], packed: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> None:
    """Put that state into new optimisers over the same parameters.

    Raises: InputError, naming the optimiser, if it is of another kind or over other parameters.
    """
    for name in sorted(optimizers.keys() ^ packed.keys()):
        raise InputError(f"optimizer {name!r} is in {'the new' if name in optimizers else 'the saved'} run only")
    for name, optimizer in optimizers.items():
        if (kind := packed[name]["kind"]) != _kind(optimizer):
            raise InputError(f"optimizer {name!r} was {kind} when the run began and is {_kind(optimizer)} now")
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        try:
            saved = unflatten(packed[name]["state"], tensors)
            for number, values in saved["state"].items():
                like = parameters[number]
                for key, value in values.items():
                    if isinstance(value, Tensor) and value.shape == like.shape and value.dim() > 0:
                        values[key] = spread(value, like, dtype=value.dtype)
            optimizer.load_state_dict(saved)
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"optimizer {name!r}: saved state is not this optimizer's ({error})") from error


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The state of this process's generators: Python's, NumPy's, torch's, and the device's own if it has one."""
    _, words, gauss = random.getstate()
    _, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    state = {
        "random.python": torch.tensor(words),
        "random.numpy": torch.from_numpy(np.asarray(keys).astype(np.int64)),
        "random.numpy.position": torch.tensor([position, has_gauss]),
        # Python says None for "no second normal number is waiting"; NaN would be refused on reading
        "random.normals": torch.tensor([gauss is not None, gauss or 0.0, cached], dtype=torch.float64),
        "random.torch": torch.get_rng_state(),
    }
    if device.type != "cpu":
        state["random.device"] = torch.get_device_module(device).get_rng_state()
    return state


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Go on with the numbers that were next when `random_state` was called."""
    waiting, gauss, cached = state["random.normals"].tolist()
    position, has_gauss = state["random.numpy.position"].tolist()
    random.setstate((3, tuple(state["random.python"].tolist()), gauss if waiting else None))
    keys = state["random.numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, position, has_gauss, cached))
    torch.set_rng_state(state["random.torch"].clone())  # torch reads a row of a larger tensor from that one's start
    if device.type != "cpu" and "random.device" in state:
        torch.get_device_module(device).set_rng_state(state["random.device"].clone())


def _kind(optimizer: torch.optim.Optimizer) -> str:
    return type(getattr(optimizer, "optimizer", optimizer)).__name__  # accelerate wraps it
