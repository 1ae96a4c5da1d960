"""Texts as a folder that `paraform search` asks: their vectors are made once, and kept with the texts.

A text a line, or a column of a table (--text-column, --format csv or tsv, or a file named .csv). With each text that is
found the other columns of its row come back and, of one file, the line on which it begins, as "line", unless a column
is named so. Texts that are there again are encoded once, and each is found. Texts that the model cannot read, such as a
Thai one of an English encoder, are counted: only a question of the same letters finds them.

The folder names the model and its weights, and is asked with the same. A kill leaves the index as it was before.

Example:
  paraform index questions.txt --out questions.index
  paraform search questions.index "how can i lose weight quickly ?"
  paraform index intents.csv --text-column text --model minilm-disentangled --out intents.index
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.embed import require_vectors
from paraform.cli.latent import readable
from paraform.cli.messages import tell
from paraform.cli.models import EMBEDDERS, chosen_name, load_embedder
from paraform.cli.options import add_texts
from paraform.cli.output import show
from paraform.cli.reading import rows_of
from paraform.memory import bound_memory
from paraform.records import InputError, counted

if TYPE_CHECKING:
    from paraform.corpora.tables import Value


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser, tables=True)
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument("--model", type=str, default="minilm", help="as above")
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument("--out", type=str, required=True, metavar="INDEX", help="the folder of the index")


def run(options: Namespace) -> int:
    """Write the folder."""
    bound_memory()
    from pathlib import Path

    from paraform.capabilities import LatentSpace
    from paraform.manifest import NAME
    from paraform.memory import keep_freed_memory
    from paraform.neighbours.search_folder import require_free
    from paraform.neighbours.search_index import SearchIndex

    keep_freed_memory()
    if os.path.isfile(os.path.join(options.out, NAME)) and not options.overwrite:
        raise InputError(f"--out {options.out}: is there already; expected a new name, or --overwrite")
    require_free(Path(options.out))
    rows = rows_of(options.text, options)
    model = load_embedder(options)
    require_vectors(model, options)
    if isinstance(model, LatentSpace):
        rows = readable(model, rows, options, lambda row: row.text)
    texts: list[str] = []
    fields: list[dict[str, Value]] = []
    for row in rows:
        texts.append(row.text)
        line = {} if row.line is None or len(options.text) > 1 else {"line": row.line}
        fields.append({**line, **row.fields})
    index = SearchIndex.build(
        texts,
        model,
        fields=fields,
        name=chosen_name(options.model, options),
        vectors=options.vectors or "",
        batch_size=options.batch_size or 0,
        progress=True,
    )
    index.save(options.out)
    about: dict[str, Any] = {
        "model": options.model,
        "rows": len(index),
        "dimension": index.dimension,
        "different": len(set(texts)),
        "unread": [row + 1 for row in index.unread_rows],
    }
    if about["unread"]:
        first = about["unread"][0]
        tell(
            f"{counted(len(about['unread']), 'text')} found by letters alone, since {options.model} knows few of their"
            f" words; the first is {first:,}, {texts[first - 1][:40]!r}"
        )
    summary = f"{counted(len(index), 'text')} by {options.model}, vectors of {index.dimension} numbers"
    return show(options, {"out": options.out, **about}, f"{options.out}: {summary}")
