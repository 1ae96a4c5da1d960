"""What ParaBART starts from: an encoder, or a causal language model with its marks around each text."""

from __future__ import annotations

from typing import Any, cast

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import nn

from paraform.encoders import load_module
from paraform.encoders.causal import BothWays
from paraform.encoders.transformers_modules import first_layers, start_of
from paraform.models.disentangled.config import DisentangledConfig
from paraform.records import InputError


def semantic_module(config: DisentangledConfig) -> nn.Module:
    """The encoder that a config names, in float32, without the layers that it leaves out.

    Raises: InputError as `load_module` and `first_layers`, or if `both_ways` is asked of what is no language model.
    """
    module = load_module(config.encoder).float()
    if config.both_ways:
        if start_of(cast(Any, module).config) is None:
            raise InputError(f"both_ways of {config.encoder}; expected a causal language model with a mark of a begin")
        require_opens(BothWays(module), config.encoder)
    return first_layers(module, config.layers) if config.layers else module


@torch.no_grad()
def require_opens(opened: BothWays, name: str) -> None:
    """Raises: InputError if a model's first state does not see what follows, though it is to."""
    try:
        states = [opened.eval()(input_ids=torch.tensor([[1, 2, last]])).last_hidden_state[0, 0] for last in (0, 1)]
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        raise InputError(
            f"both_ways of {name}: {' '.join(str(error).split())[:200]}; expected both_ways false"
        ) from error
    if torch.equal(*states):
        raise InputError(
            f"both_ways of {name}, whose mask is not opened by one of 4 dimensions; expected both_ways false"
        )


def with_ends(tokenizer: Tokenizer, own: Any, name: str) -> Tokenizer:
    """The tokenizer; a causal language model's puts its marks of a begin and an end around a text.

    What stands first takes attention that has nowhere to go (`start_of`): that should be no word.

    Args:
        own: the encoder's config, as transformers has it.
    Raises: InputError if a causal language model names no end, or a mark that its tokenizer has not.
    """
    start, end = start_of(own), getattr(own, "eos_token_id", None)
    if start is None:
        return tokenizer
    end = end[0] if isinstance(end, list) and end else end
    marks = {one: tokenizer.id_to_token(one) for one in (start, end) if isinstance(one, int) and one >= 0}
    if end not in marks or None in marks.values():
        raise InputError(
            f"{name}: its marks are {start} and {end}; expected pieces of its tokenizer, a begin and an end"
        )
    single = f"{marks[start]} $A {marks[end]}"
    ends = [(token, number) for number, token in marks.items()]
    tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=ends)
    return tokenizer


def require_ends(tokenizer: Tokenizer, config: DisentangledConfig, own: Any) -> None:
    """Raises: InputError for a tokenizer without a special token on either side, if the config needs these; and if a
    causal language model's would count.

    Args:
        own: the encoder's config, as transformers has it.
    """
    if config.pool_special and start_of(own) is not None:
        raise InputError(
            f"{config.encoder}: a causal language model, whose start is no word; expected pool_special False"
        )
    tokenizer.no_padding()
    special = tokenizer.encode("a").special_tokens_mask
    whole = len(special) > 2 and special == [1, *[0] * (len(special) - 2), 1]
    if not whole and (config.generation_weight or not config.pool_special):
        raise InputError(
            f"{config.encoder}: its tokenizer puts {sum(special)} special tokens around a text; expected one before and"
            " one after, as BERT's and BART's do, or generation_weight 0 with pool_special"
        )
