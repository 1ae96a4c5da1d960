"""Texts that say the same in other words: pairs whose vectors are near, and clusters of these, as JSON lines.

A line is {"pair": [3, 17], "similarity": 0.93, "texts": […]}, the nearest first, or, behind all of these,
{"cluster": [3, 17, 20], "texts": […]}: texts that pairs join, directly or not, and copies, which are joined before
anything is encoded. Numbers are those of the lines of one file; of several, the texts are counted through, from 1.

Texts that the model cannot read, such as a Thai one of an English encoder, are near others whatever they say: they are
compared by their letters alone, and how many there are is said.

Without --threshold it is the one at which 95 % of the pairs found among held-out questions were of one labelled
cluster (docs/duplicates.md); in a larger file the share is lower. Up to 200,000 different texts are compared each with
each; for more an index finds nearly all pairs (extra `search`).

With --first, texts that differ in a number, a name, a denial ("turn on", "turn off") or in who does what are no pair,
however near they are, and are counted; --keep-apart says which of these, or none. --verify has a judge of meaning
(`paraform same`) read both texts of each pair that is left, tells how likely it is that they say the same, as "same",
and leaves out those below --verify-threshold; they are counted, too.

--out NAME with an ending is one file, of texts that fit into memory with their vectors; any other --out is a folder,
for a corpus of any size: every step is done in pieces there, by all cores or a Ray cluster, and a job that was killed
goes on. Its found.jsonl has the same lines up to 200,000 different texts, but for the last digit of a similarity; an
index there has cells of its own, and what it misses is not the same. It needs no extra. A file may be a Parquet one,
too, whose rows are counted from 1. Another --threshold, --keep-apart or --verify in the same folder goes on with the
vectors that are there, and writes found.jsonl anew.

Example:
  paraform duplicates questions.txt --out found.jsonl
  paraform duplicates questions.txt --model minilm-disentangled --threshold 0.85 --first kept.txt --out found.jsonl
  paraform duplicates intents.csv --text-column text --json
  paraform duplicates corpus.parquet --text-column body --out found/ --engine ray --address auto
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.duplicates_found import Summary, columns_of, told, write_lines
from paraform.cli.embed import require_vectors
from paraform.cli.latent import readable
from paraform.cli.messages import tell
from paraform.cli.models import EMBEDDERS, load_able, load_embedder
from paraform.cli.options import Share, add_engine, add_texts, is_folder, require_no_engine
from paraform.cli.output import print_items, show
from paraform.cli.reading import rows_of
from paraform.cli.sharding import require_no_parquet
from paraform.memory import bound_memory
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.neighbours.duplicates import Duplicates

KINDS = ("numbers", "names", "negation", "roles")  # those of neighbours.apart, which would bring torch along


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser, tables=True)
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument("--model", type=str, default="minilm", help="as above")
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument(
        "--threshold", type=Share | None, default=None, help="the least cosine of a pair; null: an embedded encoder's"
    )
    parser.add_argument(
        "--search", choices=("auto", "exact", "index"), default="auto", help="auto: exact up to 200,000 texts"
    )
    parser.add_argument(
        "--out", type=str | None, default=None, help="the file of JSON lines, or a folder; null: stdout"
    )
    parser.add_argument(
        "--first",
        type=str | None,
        default=None,
        metavar="FILE",
        help="write the texts there, of each cluster the first",
    )
    parser.add_argument(
        "--keep-apart",
        nargs="*",
        choices=KINDS,
        default=None,
        metavar="KIND",
        help=f"near texts that differ in one of these are no pair: {', '.join(KINDS)}; null: all of them with --first",
    )
    parser.add_argument(
        "--verify",
        type=str | None,
        default=None,
        metavar="JUDGE",
        help="keep the pairs that say the same, by minilm-judge, another of `paraform same`, or a folder",
    )
    parser.add_argument(
        "--verify-threshold",
        type=Share | None,
        default=None,
        help="how likely that has to be; null: 0.82, where nine of ten pairs do by minilm-judge; lower finds more",
    )
    parser.add_argument(
        "--label-column", type=str | None, default=None, help="of a table: pairs of two labels are told"
    )
    parser.add_argument("--id-column", type=str | None, default=None, help="of a table: goes with each text")
    add_engine(parser)


def run(options: Namespace) -> int:
    """Print or write what was found."""
    bound_memory()
    from paraform.capabilities import LatentSpace
    from paraform.neighbours.duplicates import VERIFIED, duplicates, usual_threshold
    from paraform.weights import require_writable

    if options.keep_apart is None:
        options.keep_apart = list(KINDS) if options.first is not None else []
    if options.verify is None and options.verify_threshold is not None:
        raise InputError("--verify-threshold without --verify; expected both, or neither")
    if is_folder(options.out):
        from paraform.cli.duplicates_on_disk import write_folder

        return write_folder(options)
    require_no_engine(options, "a name without an ending")
    require_no_parquet(options.text)
    for path in (options.out, options.first):
        if path is not None:
            require_writable(path)
    rows = rows_of(options.text, options)
    judge = None
    if options.verify is not None:
        from paraform.capabilities import JudgesMeaning

        judge = load_able(options, JudgesMeaning, "a judge of meaning", "verify")
    model = load_embedder(options)
    require_vectors(model, options)
    threshold = options.threshold or usual_threshold(model, options.model, options.vectors or "")
    if isinstance(model, LatentSpace):
        rows = readable(model, rows, options, lambda row: row.text)
    texts, numbers, columns = [], [], []
    for count, row in enumerate(rows, start=1):
        texts.append(row.text)
        numbers.append(count if row.line is None or len(options.text) > 1 else row.line)
        columns.append(columns_of(row, options))
    found = duplicates(
        texts,
        model,
        threshold=threshold,
        vectors=options.vectors or "",
        search=options.search,
        batch_size=options.batch_size or 0,
        seed=options.seed,
        keep_apart=options.keep_apart,
        verify=judge,
        verify_threshold=options.verify_threshold or VERIFIED,
        progress=True,
    )
    if options.first is not None:
        dropped = {number for cluster in found.clusters for number in cluster[1:]}
        write_lines((f"{text}\n" for number, text in enumerate(texts) if number not in dropped), options.first)
    return report(found, texts, numbers, columns, options)


def report(
    found: Duplicates,
    texts: Sequence[str],
    numbers: Sequence[int],
    columns: Sequence[dict[str, Any]],
    options: Namespace,
) -> int:
    """Lines to --out or stdout, or all in one object; how much was found is said beside it."""
    labels = [] if options.label_column is None else [one["label"] for one in columns]
    two_labels = sum(labels[one] != labels[other] for one, other in found.pairs) if labels else 0
    summary = Summary(
        texts=len(texts),
        different=found.different,
        pairs=len(found.pairs),
        clusters=len(found.clusters),
        in_clusters=sum(map(len, found.clusters)),
        threshold=found.threshold,
        search=found.search,
        apart=found.apart,
        two_labels=two_labels,
        unread=len(found.unread),
        first_unread=(numbers[found.unread[0]], texts[found.unread[0]]) if found.unread else (0, ""),
    )
    about, line = told(summary, options)
    about["unread"] = [numbers[one] for one in found.unread]
    lines = lines_of(found, texts, numbers, columns)
    if options.out is not None:
        write_lines((json.dumps(one, ensure_ascii=False) + "\n" for one in lines), options.out)
        return show(options, {"out": options.out, **about}, f"{options.out}: {line}")
    if options.json:
        print_items("found", lines, about)
        return 0
    for one in lines:
        print(json.dumps(one, ensure_ascii=False))
    tell(line)
    return 0


def lines_of(
    found: Duplicates, texts: Sequence[str], numbers: Sequence[int], columns: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The pairs, the nearest first, and the clusters, as objects."""

    def about(some: Sequence[int]) -> dict[str, Any]:
        more = {f"{key}s": [columns[one][key] for one in some] for key in columns[some[0]]}
        return {"texts": [texts[one] for one in some], **more}

    for at, (one, other) in enumerate(found.pairs):
        pair = {"pair": [numbers[one], numbers[other]], "similarity": round(float(found.cosines[at]), 4)}
        judged = {} if found.same is None else {"same": round(float(found.same[at]), 4)}
        yield pair | judged | about([one, other])
    for cluster in found.clusters:
        yield {"cluster": [numbers[one] for one in cluster], **about(cluster)}
