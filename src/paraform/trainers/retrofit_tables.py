"""The words that PAR's pairs share, as tables: those to train on, with warnings of what is left out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from paraform.models.retrofit import RetrofittedEncoder
from paraform.models.retrofit.contexts import ContextTable
from paraform.models.retrofit.table import context_table
from paraform.records import InputError, Pair, counted
from paraform.trainers.source_files import groups_of

AT_ONCE = 512  # shared words that are measured together


def training_table(
    pairs: Sequence[Pair], model: RetrofittedEncoder, files: Mapping[str, int] | None = None
) -> ContextTable:
    """The table of the pairs; warnings say what is left out. Raises: InputError if nothing is left."""
    config = model.config
    table = table_of_pairs(pairs, model, files, training=True)
    asked = sum(pair.label != 0 for pair in pairs)
    log = logging.getLogger("paraform")
    if not asked:
        raise InputError(f"{counted(len(pairs), 'pair')}, all labelled 0; expected paraphrases to train on")
    if table.without_words == asked:
        limits = f" ({config.min_tokens} to {config.max_tokens} words a side)" if config.max_tokens else ""
        raise InputError(
            f"none of {counted(asked, 'pair')} has a word in both sides{limits}; expected paraphrases that share words"
        )
    if not len(table):
        raise InputError(
            f"no shared word of {counted(asked, 'pair')} stands in a sentence of another cluster, to be told from;"
            " expected more pairs"
        )
    if table.without_words:
        log.warning(
            "%s of %s have no word to compare in both sides; left out", table.without_words, counted(asked, "pair")
        )
    if table.without_negatives:
        total = table.without_negatives + len(table.source_W)
        log.warning(
            "%s of %s stand in no sentence of another cluster; left out",
            f"{table.without_negatives:,}",
            counted(total, "shared word"),
        )
    return table


def table_of_pairs(
    pairs: Sequence[Pair], model: RetrofittedEncoder, files: Mapping[str, int] | None = None, *, training: bool = False
) -> ContextTable:
    """The table of the pairs by the model's tokenizer and config; groups are the files by these numbers.

    Args:
        training: as `RetrofitNetwork.known` has it.
    """
    config = model.config
    table = context_table(
        pairs,
        model.tokenizer,
        skip_stopwords=config.skip_stopwords,
        min_tokens=config.min_tokens,
        max_tokens=config.max_tokens,
        groups=groups_of(pairs, files) if files else (),
    )
    return model.network.known(table, training=training)
