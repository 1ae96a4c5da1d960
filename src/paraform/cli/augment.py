"""A table's rows and, behind each, rewordings of its text with the other columns as they are: more to train on.

The table is CSV, TSV (nothing quoted) or JSON lines; so is what is written, as --out ends, else as it came. Two columns
are added: paraform_line, the line of the row that it was made from, and paraform_source, that row's text ("" in a row
that was there before). With --label-column no rewording is written that is a text of another label.

Example:
  paraform augment intents.csv --text-column text --per-row 3 --out more.csv
  paraform augment intents.csv --per-row 3 --label-column intent --no-source --out rewordings.jsonl
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.messages import tell
from paraform.cli.options import TABLES, Count, add_text_column
from paraform.cli.output import print_items, print_json
from paraform.cli.paraphrase import add_choices, add_model, forced, load_reworder, more_by_model
from paraform.cli.reading import comes_again, format_of_table, on_disk, parts
from paraform.memory import bound_memory
from paraform.progress import track
from paraform.records import MOST_COUNT, InputError, Origin, Rewording
from paraform.records import counted as plural

if TYPE_CHECKING:
    from paraform.corpora.tables import Row, Table
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
    parser.add_argument("--out", type=str | None, default=None, help="the table to write; null: stdout")
    parser.add_argument("--no-source", action="store_true", help="leave the rows themselves out")
    parser.add_argument("--no-mark", action="store_true", help="leave the two columns out")
    parser.add_argument("--skip-bad-lines", action="store_true", help="count them in a warning instead of stopping")
    parser.add_argument("--wrapped", action="store_true", help="write what only puts words around a text, too")
    add_choices(parser)
    add_model(parser)


def run(options: Namespace) -> int:
    """Write the table."""
    bound_memory()
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


def opened(path: str, options: Namespace) -> tuple[Table, Texts]:
    """The table, at its first row, and all its texts, for which a file is read through before.

    Raises: InputError for a file, a column or, with labels, a row that cannot be used.
    """
    from paraform.corpora.tables import read_table, require_column
    from paraform.rewording.augmentation import Texts, require_unmarked

    format = format_of_table(options.path, options)
    skip = options.skip_bad_lines
    texts = Texts(options.label_column)
    if comes_again(path):
        table = read_table(path, options.text_column, format, skip_bad_lines=True, warn=False)
        if options.label_column is not None:
            require_column(options.label_column, table.columns, Origin(path, 1))
        for row in table.rows:
            texts.add(row.text, row)
    elif options.label_column is not None:
        raise InputError(f"{path}: a pipe; expected a file or - with --label-column, which takes reading twice")
    table = read_table(path, options.text_column, format, skip_bad_lines=skip)
    if not options.no_mark:
        try:
            require_unmarked(table.columns, Origin(path, 1))
        except InputError as error:
            raise InputError(f"{error} (--no-mark)") from error
    return table, texts


def made(table: Table, texts: Texts, reworder: Reworder, tally: Tally, options: Namespace) -> Iterator[Row]:
    """The rows and their rewordings, as many at a time as a part has."""
    from paraform.corpora.tables import require_column
    from paraform.rewording.augmentation import augmented, spans_in

    def reword(some: Sequence[str], number: int) -> list[Rewording]:
        how: dict[str, Any] = {"batch_size": options.batch_size} if options.batch_size else {}
        seed = (options.seed + number) % 2**32  # else every part would draw the same
        # Some are left out, because they say the same or another label's; more than are wanted cost next to nothing.
        num = min(2 * options.per_row + 3, MOST_COUNT)
        return reworder.reword(some, num=num, force=options.force, seed=seed, **how)

    work = parts(table.rows, PART)
    first = next(work, [])
    named = options.span_columns
    if named is not None and len(named) not in (0, 2):
        raise InputError(f"--span-columns has {plural(len(named), 'name')}; expected two, or none")
    spans = spans_in(first, table.text_column) if named is None else tuple(named) or None
    if spans and named is None:
        tell(f"{spans[0]} and {spans[1]} say where a value stands in the text, and move with it (--span-columns)")
    for name in spans or ():
        require_column(name, table.columns, Origin(str(options.path), 1))
    work = itertools.chain([first], work)
    yield from augmented(
        track(work, "rewording", show=True),
        reword,
        table,
        tally,
        per_row=options.per_row,
        texts=texts,
        spans=spans,
        keep_source=not options.no_source,
        mark=not options.no_mark,
        wrapped=options.wrapped,
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
