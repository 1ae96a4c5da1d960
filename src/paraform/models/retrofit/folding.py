"""M written into a table of word embeddings, so that it costs nothing at inference."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from paraform.encoders.elmo import Elmo
from paraform.encoders.torch_settings import float32_products
from paraform.records import InputError

LEAST = 1e-6  # of the largest singular value: a direction that is shrunk more is lost in float32
ROUNDINGS = 1000  # of the largest state, in its kind of number: what two ways to one product may differ by


def fold(module: nn.Module, matrix_KK: Tensor, *, untie: bool = False) -> nn.Module:
    """A copy of a Hugging Face model, or of an ELMo, that reads M e wherever it read a word's embedding e.

    The states are those of the model with M before it, to 1e-5; positions, types and norms are as they were.

    Args:
        module: a model of transformers', of any kind that reads numbers of word pieces; or an `Elmo`, where e is what
            its characters' last projection gives, W f + b, so that M W f + M b takes its place.
        matrix_KK: M, [K, K] with K the width of its word embeddings.
        untie: if its output layer has the embeddings for weights, that layer keeps them as they were, as weights of
            its own; else such a model is refused.
    Raises: InputError if M is not of that width, is not finite or is singular, if other weights are tied to the
        embeddings, or if the model does not read them as a table of rows.
    """
    require_matrix(matrix_KK)
    made: Any = copy.deepcopy(module)
    if isinstance(made, Elmo):
        return _folded_elmo(made, matrix_KK)
    embeddings = table_of(made)
    table_VK = embeddings.weight
    width = table_VK.shape[1]
    _require_width(matrix_KK, width, "the embeddings' width")
    output = made.get_output_embeddings()
    tied = output is not None and output.weight is table_VK
    if tied and not untie:
        raise InputError(
            f"a {made.config.model_type} whose output layer has the word embeddings for weights: M would change what it"
            " predicts; expected fold(module, M, untie=True), which leaves that layer as it is"
        )
    owners = {name: part for name, part in made.named_modules() if getattr(part, "weight", None) is table_VK}
    owners = {name: part for name, part in owners.items() if part is not output}  # T5's encoder has two names for one
    for name in owners:
        if "decoder" in name.split("."):
            raise InputError(
                f"a {made.config.model_type} whose {name!r} has the word embeddings for weights, too; expected a model"
                " without a decoder, such as module.get_encoder()"
            )
    exact_VK = table_VK.detach().double() @ matrix_KK.detach().to(table_VK.device).double().T
    folded_VK = nn.Parameter(exact_VK.to(table_VK.dtype), requires_grad=table_VK.requires_grad)
    for part in owners.values():
        part.weight = folded_VK
    if tied:
        made.config.tie_word_embeddings = False
        made.all_tied_weights_keys = {}  # what transformers 5 saves and loads by
        for name, weight in output.named_parameters(recurse=False):  # its bias may have a second name, too
            setattr(output, name, nn.Parameter(weight.detach().clone(), requires_grad=weight.requires_grad))
    _require_same(module, made, matrix_KK)
    folded: nn.Module = made
    return folded


def table_of(module: nn.Module) -> nn.Embedding:
    """The module's word embeddings. Raises: InputError if it has none as a table of rows."""
    model: Any = module
    found = model.get_input_embeddings()
    if not isinstance(found, nn.Embedding):
        raise InputError(f"a {model.config.model_type} without a table of word embeddings; expected one that has it")
    return found


def require_finite(matrix_KK: Tensor) -> None:
    """Raises: InputError if M is not square, or holds NaN or infinity."""
    if matrix_KK.ndim != 2 or matrix_KK.shape[0] != matrix_KK.shape[1]:
        raise InputError(f"M is of shape {list(matrix_KK.shape)}; expected a square matrix")
    if not torch.isfinite(matrix_KK).all():
        raise InputError("M holds NaN or infinity; expected finite numbers: train with a lower learning rate")


def require_matrix(matrix_KK: Tensor) -> None:
    """Raises: InputError as `require_finite`, or if M is singular."""
    require_finite(matrix_KK)
    singular_K = torch.linalg.svdvals(matrix_KK.detach().double())
    if singular_K[-1] <= LEAST * singular_K[0]:
        raise InputError(
            f"M is singular (its singular values go from {singular_K[0]:.3g} to {singular_K[-1]:.3g}): different words"
            " would become one; expected an M that keeps all directions: a larger orthogonality_weight, or 'exact'"
        )


@torch.no_grad()
def _folded_elmo(elmo: Elmo, matrix_KK: Tensor) -> Elmo:
    """The ELMo itself, with M in its characters' last projection."""
    projection = elmo.characters.projection
    _require_width(matrix_KK, projection.out_features, "the width of the characters' projection")
    exact_KK = matrix_KK.detach().to(projection.weight.device).double()
    for part in (projection.weight, projection.bias):
        part.copy_(exact_KK @ part.double())
    return elmo


def _require_width(matrix_KK: Tensor, width: int, what: str) -> None:
    if len(matrix_KK) != width:
        raise InputError(f"M is {len(matrix_KK)} × {len(matrix_KK)}; expected {width} × {width}: {what}")


@torch.no_grad()
def _require_same(module: Any, made: Any, matrix_KK: Tensor) -> None:
    """The folded model has the states that the other has with M before it."""
    embeddings, modes = table_of(module), (module.training, made.training)
    padding = getattr(module.config, "pad_token_id", None)  # RoBERTa counts no position for it
    some = [number for number in range(min(8, embeddings.num_embeddings)) if number != padding]
    ids = torch.tensor([some], device=embeddings.weight.device)
    try:
        module.eval(), made.eval()
        with float32_products(ids.device):  # rounded factors set the two apart, where training is in bfloat16
            # the module's own dtype, which may be bfloat16
            given = embeddings(ids) @ matrix_KK.detach().to(embeddings.weight).T
            before, after = (_states(out) for out in (module(inputs_embeds=given), made(input_ids=ids)))
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"a {module.config.model_type} does not take word embeddings from outside: {reason}"
        ) from error
    finally:
        module.train(modes[0]), made.train(modes[1])
    apart = ROUNDINGS * torch.finfo(embeddings.weight.dtype).eps * max(1.0, float(before.abs().max()))
    if not torch.allclose(before, after, rtol=0, atol=apart):
        raise InputError(f"a {module.config.model_type} does not read its word embeddings row by row; cannot fold M")


def _states(out: Any) -> Tensor:
    """The last states, or of a model with a head what comes out of it."""
    states: Tensor = (out.last_hidden_state if hasattr(out, "last_hidden_state") else out[0]).float()
    return states
