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
from paraform.weights import FLOATS

KEPT = {"Adam": {"step", "exp_avg", "exp_avg_sq"}, "SGD": {"momentum_buffer"}}
KEPT["AdamW"] = KEPT["Adam"]
"""What an optimizer keeps of each parameter, once it has made a step."""


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
        own, kind = packed[name], _kind(optimizer)
        if not isinstance(own, dict) or own.keys() != {"kind", "state"}:
            raise InputError(f"optimizer {name!r} is {str(own)[:60]!r}; expected its kind and its state")
        if own["kind"] != kind:
            raise InputError(f"optimizer {name!r} was {str(own['kind'])[:60]} when the run began and is {kind} now")
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        try:
            saved = unflatten(own["state"], tensors)
            _require_usable(saved, optimizer, parameters, KEPT.get(kind, set()))
            for number, values in saved["state"].items():
                like = parameters[number]
                for key, value in values.items():
                    if isinstance(value, Tensor) and value.shape == like.shape and value.dim() > 0:
                        values[key] = spread(value, like, dtype=value.dtype)
            optimizer.load_state_dict(saved)
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"optimizer {name!r}: saved state is not this optimizer's ({error})") from error


def _require_usable(saved: Any, optimizer: torch.optim.Optimizer, parameters: list[Tensor], kept: set[str]) -> None:
    """Torch takes any state, and stumbles over it in a later step.

    Args:
        kept: what the optimizer keeps of each parameter.
    Raises: as `unflatten`, for a state that can't be.
    """
    states, groups = saved["state"], saved["param_groups"]
    if not (isinstance(states, dict) and all(isinstance(one, dict) for one in (*groups, *states.values()))):
        raise ValueError("expected a state of each parameter, and the settings of each group")
    for group, own in zip(groups, optimizer.state_dict()["param_groups"], strict=True):
        rate = group["lr"]
        tensor = isinstance(own["lr"], Tensor) and isinstance(rate, Tensor) and rate.shape == own["lr"].shape
        if not tensor and (isinstance(rate, bool) or not isinstance(rate, (int, float))):
            raise ValueError(f"lr {str(rate)[:60]!r}; expected a number")
        group |= own | {"lr": rate}  # all other settings are the config's, and the config is the same
    for number, values in states.items():
        if type(number) is not int or not 0 <= number < len(parameters):
            raise ValueError(f"a state of parameter {number!r}; expected 0 to {len(parameters) - 1}")
        if values and not kept <= values.keys():
            raise ValueError(f"{list(values)} of parameter {number}; expected {', '.join(sorted(kept))}")
        for key, value in values.items():
            shape = torch.Size(()) if key == "step" else parameters[number].shape
            if key == "momentum_buffer" and value is None:
                continue
            if not isinstance(value, Tensor) or value.dtype not in FLOATS or value.shape != shape:
                raise ValueError(f"{key} of parameter {number} is {str(value)[:60]!r}; expected floats {list(shape)}")


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
    """Go on with the numbers that were next when `random_state` was called. Raises: InputError for other numbers."""
    waiting, gauss, cached = state["random.normals"].tolist()
    position, has_gauss = state["random.numpy.position"].tolist()
    keys = state["random.numpy"].numpy()
    try:
        if not 0 <= position <= len(keys):  # NumPy does not look, and would read what is beside them
            raise ValueError(f"position {position} of {len(keys)}")
        random.setstate((3, tuple(state["random.python"].tolist()), gauss if waiting else None))
        np.random.set_state(("MT19937", keys.astype(np.uint32), position, has_gauss, cached))
        torch.set_rng_state(state["random.torch"].clone())  # torch reads a row of a larger tensor from that one's start
        if device.type != "cpu" and "random.device" in state:
            torch.get_device_module(device).set_rng_state(state["random.device"].clone())
    except (ValueError, OverflowError, RuntimeError) as error:
        raise InputError(f"the saved run's random state is none: {error}") from error


def random_state_of(
    tensors: Mapping[str, Tensor], processes: int, process: int, device: torch.device, place: object
) -> dict[str, Tensor]:
    """What `random_state` gave in one of the processes whose states `tensors` hold.

    Raises: InputError, naming the place, for one that lacks or is not of the size that it has here.
    """
    found = {}
    for name, own in random_state(device).items():
        tensor = tensors.get(name)
        if tensor is None and name == "random.device":  # the run began without one
            continue
        if tensor is None or tensor.dtype != own.dtype or tensor.shape != (processes, *own.shape):
            came = "missing" if tensor is None else f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
            raise InputError(f"{place}: {name} is {came}; expected {[processes, *own.shape]} of the random state")
        found[name] = tensor[process]
    return found


def _kind(optimizer: torch.optim.Optimizer) -> str:
    return type(getattr(optimizer, "optimizer", optimizer)).__name__  # accelerate wraps it
