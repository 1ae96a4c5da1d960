"""A table's rows and, behind each, rewordings of its text with the other columns as they are: more to train on.

The table is CSV, TSV (nothing quoted) or JSON lines; so is what is written, as --out ends, else as it came. Two columns
are added: paraform_line, the line of the row that it was made from, and paraform_source, that row's text ("" in a row
that was there before). With --label-column no rewording is written that is a text of another label.

--out FOLDER, a name without an ending, is for a table of any size, and for Parquet: the same rows in shards, each with
a header of its own, of 512 rows of the table. All cores or a Ray cluster make them; a job that was killed goes on.

Example:
  paraform augment intents.csv --text-column text --per-row 3 --out more.csv
  paraform augment intents.csv --per-row 3 --label-column intent --no-source --out rewordings.jsonl
  paraform augment intents.parquet --label-column intent --out more --engine ray --address auto
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.messages import tell
from paraform.cli.options import (
    TABLES,
    Count,
    add_engine,
    add_text_column,
    engine_of,
    is_folder,
    require_no_engine,
)
from paraform.cli.output import print_items, print_json, show
from paraform.cli.paraphrase import (
    add_choices,
    add_model,
    forced,
    load_reworder,
    more_by_model,
    name_model,
    terms_of,
)
from paraform.cli.reading import comes_again, format_of_table, on_disk, one_file, parts
from paraform.cli.sharding import PARQUET, arrow_of, is_parquet, require_no_parquet, setting_of, shards_in_words
from paraform.memory import bound_memory
from paraform.progress import track
from paraform.records import InputError, Origin
from paraform.records import counted as plural

if TYPE_CHECKING:
    from paraform.corpora.tables import Row, Table
    from paraform.jobs.augmenting import Wanted
    from paraform.jobs.table_files import TableFile
    from paraform.rewording.augmentation import Tally, Texts
    from paraform.rewording.reworder import Reworder

PART = 256  # rows whose rewordings are made at once


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("path", type=str, metavar="FILE", help="the table, or - for stdin")
    parser.add_argument("--format", choices=TABLES, default=None, help="the table's; null: as its name ends")
    add_text_column(parser)
    parser.add_argument("--label-column", type=str | None, default=None, help="that of what the texts are trained for")
    parser.add_argument(
        "--span-columns",
        type=str,
        nargs="*",
        default=None,
        metavar="COLUMN",
        help="two that say where a part of the text begins and ends, and move with it; null: those that show it;"
        " none named: there are none",
    )
    parser.add_argument("--per-row", type=Count, default=1, help="rewordings of a row, at most")
    parser.add_argument(
        "--out", type=str | None, default=None, help="the table to write, or a folder of shards; null: stdout"
    )
    parser.add_argument("--no-source", action="store_true", help="leave the rows themselves out")
    parser.add_argument("--no-mark", action="store_true", help="leave the two columns out")
    parser.add_argument("--skip-bad-lines", action="store_true", help="count them in a warning instead of stopping")
    parser.add_argument("--wrapped", action="store_true", help="write what only puts words around a text, too")
    add_choices(parser)
    add_model(parser)
    add_engine(parser)


def run(options: Namespace) -> int:
    """Write the table."""
    bound_memory()
    if is_folder(options.out):
        return write_shards(options)
    require_no_engine(options, "a name without an ending")
    require_no_parquet([options.path])
    from paraform.corpora.table_lines import dialect_for, table_lines, write_table
    from paraform.rewording.augmentation import MARKS, Tally

    tally, more = Tally(), more_by_model(options)
    with on_disk(options.path) as path, bad_values():
        table, texts = opened(path, options)
        rows = made(table, texts, load_reworder(options), tally, options)
        columns = [*table.columns, *([] if options.no_mark else MARKS)]
        dialect = dialect_for(options.out, table.dialect)
        if options.out is not None:
            write_table(rows, options.out, columns, dialect, read=table)
            if options.json:
                print_json({"out": options.out, **counts(tally), "model": options.model})
        elif options.json:
            rest: dict[str, Any] = {"model": options.model}
            print_items("augmented", counted(rows, tally, rest), rest)
        else:
            for line in table_lines(rows, columns, dialect, read=table):
                print(line, end="")
    report(tally, more)
    return 0


def write_shards(options: Namespace) -> int:
    """Make the shards of a folder that are not there yet."""
    from paraform.jobs.augmenting import augment_shards
    from paraform.jobs.table_files import LineTable, ParquetTable
    from paraform.rewording.augmentation import Tally

    path, parquet = one_file([options.path], options, "or --out NAME.csv"), is_parquet(options.path)
    engine, more = engine_of(options), more_by_model(options)
    name_model(options)
    given = path, options.text_column
    how = options.skip_bad_lines, not options.no_mark
    source: TableFile
    source = ParquetTable(*given, *how) if parquet else LineTable(*given, format_of_table(path, options), *how)
    texts = texts_of(source.read(warn=False), options)
    digest, arrow = arrow_of(path, options, ("augment", options.text_column), source.columns)
    table = source.read(warn=False)
    require_new_columns(table, options)
    wanted = wanted_of(options, table, list(itertools.islice(table.rows, PART)))
    if isinstance(source, ParquetTable):
        source = replace(source, arrow=arrow, spans=wanted.spans)
    suffix = PARQUET if parquet else f".{table.dialect.format}"
    setting = setting_of(digest, arrow, suffix, options)
    told = augment_shards(setting, wanted, source, texts, engine=engine, progress="rewording")
    tally = Tally(told["rows"], told["rewordings"], Counter(told["without"]), Counter(told["left_out"]))
    shards = len(setting.folder)
    about = {"out": options.out, **counts(tally), "model": options.model, "shards": shards}
    show(
        options, about, f"{options.out}: {shards_in_words(setting)} of {plural(tally.rows, 'row')} and their rewordings"
    )
    report(tally, more)
    return 0


def opened(path: str, options: Namespace) -> tuple[Table, Texts]:
    """The table, at its first row, and all its texts, for which a file is read through before.

    Raises: InputError for a file, a column or, with labels, a row that cannot be used.
    """
    from paraform.corpora.tables import read_table
    from paraform.rewording.augmentation import Texts

    how = path, options.text_column, format_of_table(options.path, options)
    if comes_again(path):
        texts = texts_of(read_table(*how, skip_bad_lines=True, warn=False), options)
    elif options.label_column is not None:
        raise InputError(f"{path}: a pipe; expected a file or - with --label-column, which takes reading twice")
    else:
        texts = Texts()
    table = read_table(*how, skip_bad_lines=options.skip_bad_lines)
    require_new_columns(table, options)
    return table, texts


def texts_of(table: Table, options: Namespace) -> Texts:
    """All texts of a table, which is read through.

    Raises: InputError for a column or, with labels, a row that cannot be used.
    """
    from paraform.corpora.tables import require_column
    from paraform.rewording.augmentation import Texts

    texts = Texts(options.label_column)
    if options.label_column is not None:
        require_column(options.label_column, table.columns, Origin(options.path, 1))
    for row in table.rows:
        texts.add(row.text, row)
    return texts


def require_new_columns(table: Table, options: Namespace) -> None:
    """Raises: InputError if a table has one of the columns that are added."""
    from paraform.rewording.augmentation import require_unmarked

    if not options.no_mark:
        try:
            require_unmarked(table.columns, Origin(options.path, 1))
        except InputError as error:
            raise InputError(f"{error} (--no-mark)") from error


def made(table: Table, texts: Texts, reworder: Reworder, tally: Tally, options: Namespace) -> Iterator[Row]:
    """The rows and their rewordings, as many at a time as a part has."""
    work = parts(table.rows, PART)
    first = next(work, [])
    wanted = wanted_of(options, table, first)
    work = track(itertools.chain([first], work), "rewording", show=True)
    yield from wanted.augmented(work, lambda some, number: wanted.reworded(some, reworder, number), table, tally, texts)


def wanted_of(options: Namespace, table: Table, first: Sequence[Row]) -> Wanted:
    """What is to be made of the table.

    Args:
        first: its first part, which says which columns are spans.
    """
    from paraform.corpora.tables import require_column
    from paraform.jobs.augmenting import Wanted
    from paraform.rewording.augmentation import spans_in

    named = options.span_columns
    if named is not None and len(named) not in (0, 2):
        raise InputError(f"--span-columns has {plural(len(named), 'name')}; expected two, or none")
    spans = spans_in(first, table.text_column) if named is None else tuple(named) or None
    if spans and named is None:
        tell(f"{spans[0]} and {spans[1]} say where a value stands in the text, and move with it (--span-columns)")
    for name in spans or ():
        require_column(name, table.columns, Origin(str(options.path), 1))
    return Wanted(
        per_row=options.per_row,
        spans=spans,
        keep_source=not options.no_source,
        mark=not options.no_mark,
        wrapped=options.wrapped,
        force=options.force,
        change=options.change,
        keep=tuple(terms_of(options.keep, options)),
        seed=options.seed,
        batch_size=options.batch_size,
        part=PART,
        text_column=table.text_column,
        label_column=options.label_column,
    )


def counted(rows: Iterator[Row], tally: Tally, rest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows as JSON objects; the counts are told to `rest` when they have all come."""
    for row in rows:
        yield dict(row.fields)
    rest.update(counts(tally))


def counts(tally: Tally) -> dict[str, Any]:
    """What --json says of a tally."""
    return {
        "rows": tally.rows,
        "rewordings": tally.rewordings,
        "without": dict(tally.without.most_common()),
        "left_out": dict(tally.left_out.most_common()),
    }


def report(tally: Tally, more: str) -> None:
    """The tally on stderr, in one line or three; more: behind why rows got none."""
    tell(f"{plural(tally.rows, 'row')}, {plural(tally.rewordings, 'rewording')}")
    if tally.without:
        why = by_reason(tally.without) + forced(tally.without, more)
        tell(f"{tally.without.total():,} of {tally.rows:,} rows got none: {why}")
    if tally.left_out:
        tell(f"{plural(tally.left_out.total(), 'rewording')} left out: {by_reason(tally.left_out)}")


def by_reason(found: Counter[str]) -> str:
    """The reasons, the most common first."""
    most = 5
    shown = [f"{count:,} × {reason}" for reason, count in found.most_common(most)]
    return "; ".join(shown + ([f"{len(found) - most:,} other reasons"] if len(found) > most else []))
