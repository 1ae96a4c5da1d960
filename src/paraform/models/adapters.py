"""Low-rank adapters (Hu et al. 2022, LoRA): of a linear map W the map W + 2·B·A, where only A and B are trained.

peft trains them inside the model; they are kept here apart from it, and added to its weights to be used.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Self, cast, final

import torch
from torch import Tensor, nn

from paraform.encoders.folder import ModelFolder
from paraform.extensions import needed
from paraform.json_text import parse_json
from paraform.records import InputError

SCALE = 2.0  # alpha / rank
NO_MATTER = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")  # of a base's config


@final
class Adapters(nn.Module):
    """A [rank, inputs] and B [outputs, rank] of each of some linear maps; B is 0 before training.

    Args:
        shapes: of each map (outputs, inputs), by the map's name in the model.
    """

    def __init__(self, shapes: dict[str, tuple[int, int]], rank: int) -> None:
        super().__init__()
        self.shapes, self.rank = shapes, rank
        self.down = nn.ParameterList(torch.empty(rank, inputs) for _, inputs in shapes.values())
        self.up = nn.ParameterList(torch.zeros(outputs, rank) for outputs, _ in shapes.values())
        for weight in self.down:
            nn.init.kaiming_uniform_(weight, a=5**0.5)  # as LoRA's authors draw it

    def inject(self, module: nn.Module) -> None:
        """Put them beside the maps of the module, in place, so that a loss reaches them and nothing else."""
        peft: Any = needed("peft", "training adapters", "train")
        config = peft.LoraConfig(r=self.rank, lora_alpha=SCALE * self.rank, target_modules=list(self.shapes))
        module.requires_grad_(False)
        peft.inject_adapter_in_model(config, module)
        for name, down, up in zip(self.shapes, self.down, self.up, strict=True):
            layer = cast(Any, module.get_submodule(name))
            layer.lora_A["default"].weight, layer.lora_B["default"].weight = down, up

    def merge(self, module: nn.Module) -> None:
        """Add them to the maps of the module, in place."""
        self.add_to({name: cast(Tensor, module.get_submodule(name).weight) for name in self.shapes})

    def merged(self, module: nn.Module) -> nn.Module:
        """A copy of a module that they were put into (`inject`), with them added to its maps."""
        made = copy.deepcopy(module)
        for name in self.shapes:
            made.set_submodule(name, cast(Any, made.get_submodule(name)).base_layer)
        self.merge(made)
        return made

    @torch.no_grad()
    def add_to(self, weights: Mapping[str, Tensor]) -> None:
        """Add them to the weights of maps, by the maps' names, in place."""
        for name, down, up in zip(self.shapes, self.down, self.up, strict=True):
            weights[name].add_((SCALE * (up.float() @ down.float())).to(weights[name]))


class Holder(nn.Module):
    """Computes with modules that are no part of it: neither saved nor counted, but moved and set to training with it.

    Such as a base that adapters are injected into.
    """

    def hold(self, name: str, module: nn.Module) -> None:
        """Make the module an attribute that torch does not see."""
        object.__setattr__(self, name, module)
        object.__setattr__(self, "_held", (*self._holding(), module))

    def _holding(self) -> tuple[nn.Module, ...]:
        held: tuple[nn.Module, ...] = self.__dict__.get("_held", ())
        return held

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        for module in self._holding():
            cast(Any, module)._apply(fn, recurse)
        cast(Any, super())._apply(fn, recurse)
        return self

    def train(self, mode: bool = True) -> Self:
        """As every module's, of what it holds too."""
        for module in self._holding():
            module.train(mode)
        return super().train(mode)


def maps_of(module: nn.Module, layers: int) -> dict[str, tuple[int, int]]:
    """The linear maps of the module's uppermost layers, attention and feed-forward, with their shapes.

    Args:
        layers: how many; 0: all.
    Raises: InputError if it has no list of layers, or fewer.
    """
    count = cast(Any, module).config.num_hidden_layers
    stacks = {
        name: part for name, part in module.named_modules() if isinstance(part, nn.ModuleList) and len(part) == count
    }
    if not stacks or layers > count:
        raise InputError(f"layers {layers}; expected at most the {count} that the model has, in one list")
    stack, layers = min(stacks, key=len), layers or count
    found = {
        f"{stack}.{at}.{name}": (part.out_features, part.in_features)
        for at in range(count - layers, count)
        for name, part in stacks[stack][at].named_modules()
        if isinstance(part, nn.Linear)
    }
    if not found:
        raise InputError(f"a {cast(Any, module).config.model_type} whose layers have no nn.Linear; expected some")
    return found


def digests_of(folder: ModelFolder) -> dict[str, str]:
    """Of a base's weights and tokenizer."""
    tokenizer = folder.tokenizer().to_str()
    return {"weights": folder.weights_digest, "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest()}


def require_base(name: str, folder: ModelFolder, digests: Mapping[str, str]) -> None:
    """Raises: InputError if a base has other weights, or another tokenizer, than adapters were trained on."""
    found = digests_of(folder)
    if what := next((one for one in found if found[one] != digests.get(one)), ""):
        raise InputError(
            f"{name}: {what} {found[what][:12]}; these adapters were trained on {str(digests.get(what))[:12]};"
            " of smollm2 `paraform fetch smollm2` keeps those"
        )


def require_config(came: str, expected: str, name: str) -> None:
    """Raises: InputError if an encoder's config, JSON both, is another than the one that adapters were trained on."""
    found, own = (parse_json(text, name) for text in (came, expected))
    if not isinstance(own, dict):
        raise InputError(f"{name}: {expected[:40]!r} for its config; expected a JSON object")
    keys = sorted({*own, *found} - {*NO_MATTER})
    if wrong := next((key for key in keys if found.get(key) != own.get(key)), ""):
        before = own.get(wrong)
        raise InputError(
            f"{name}: its config has {wrong} {found.get(wrong)!r}; these adapters were trained by {before!r}"
        )
