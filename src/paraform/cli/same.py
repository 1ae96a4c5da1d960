"""Whether two texts say the same, 0 to 1, and, apart, whether each says all of the other.

Of two texts, or of every pair of files (-, stdin), a line a pair: how likely it is that both say the same, that the
first says all of the second, that the second says all of the first, and the texts. What the second text adds makes the
one low, what it leaves out makes the other low. A judge reads English, and of both texts together about 140 words; what
is behind does not count, and a warning says of how many pairs.

--model is smollm2-judge, whose base `paraform fetch smollm2` fetches, minilm-judge, which needs none, is fifteen times
as fast and knows less, smollm2-judge-all, which has terms, or a folder that `paraform train judge` wrote.
With --threshold there is a last column, "same" or "other", and --out FILE has the pairs that say the same.
--out FOLDER, a name without an ending, has what is thought of all pairs of one file, in shards that all cores or a Ray
cluster make; a job that was killed goes on. They are JSON lines, as --json has them; of Parquet they are Parquet, the
columns as they came and the numbers behind them.

Example:
  paraform same "The train leaves before noon." "Before noon, the train departs."
  paraform same pairs.tsv --threshold 0.5 --out kept.tsv --json
  paraform same pairs.parquet --columns question1 question2 --out judged --engine ray --address auto
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.models import chosen_name, load_able
from paraform.cli.options import Share, add_engine, add_reading, engine_of, is_folder, require_no_engine
from paraform.cli.output import print_items, show
from paraform.cli.reading import is_readable, on_disk, one_file, read_pairs
from paraform.cli.sharding import PARQUET, arrow_of, is_parquet, require_no_parquet, setting_of, shards_in_words
from paraform.memory import bound_memory
from paraform.records import InputError, counted

if TYPE_CHECKING:
    from paraform.capabilities import JudgesMeaning
    from paraform.corpora.columns import Columns
    from paraform.jobs.judging import Wanted

FILE = r"\S+\.(tsv|csv|txt|jsonl?)"  # what is a file's name rather than a text


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument(
        "text", nargs="*", type=str, default=[], metavar="A B|PAIRS|-", help="two texts, or files of pairs"
    )
    add_reading(parser, "pairs")
    parser.add_argument("--model", type=str, default="smollm2-judge", help="as above")
    parser.add_argument("--threshold", type=Share | None, default=None, help="from it on a pair says the same")
    parser.add_argument(
        "--out", type=str | None, default=None, help="the file of pairs that say the same, or a folder for all pairs"
    )
    parser.add_argument(
        "--columns",
        type=str,
        nargs=2,
        default=None,
        metavar="NAME",
        help="of a table (CSV, TSV, JSON lines, Parquet), those of both texts",
    )
    add_engine(parser)


def run(options: Namespace) -> int:
    """Print what is thought of each pair."""
    bound_memory()
    if is_folder(options.out):
        return write_shards(options)
    require_no_engine(options, "a name without an ending")
    require_no_parquet(options.text)
    if options.out is not None and options.threshold is None:
        raise InputError("--out FILE without --threshold; expected both, the threshold alone, or --out FOLDER")
    if options.out is not None:
        from paraform.weights import require_writable

        require_writable(options.out)
    pairs = given_pairs(options)
    from paraform.jobs.judging import judged

    items = list(judged(load_judge(options), pairs, wanted_of(options), progress=True))
    if options.out is not None:
        write_kept(items, options.out)
    if options.json:
        print_items("pairs", items, {"model": options.model})
        return 0
    for item in items:
        figures = [f"{item[name]:.2f}" for name in ("same", "forth", "back")]
        said = [] if options.threshold is None else ["same" if item["says_the_same"] else "other"]
        print("\t".join([*figures, *(" ".join(text.split()) for text in item["texts"]), *said]))
    return 0


def load_judge(options: Namespace) -> JudgesMeaning:
    """The model, if it judges meaning. Raises: InputError otherwise."""
    from paraform.capabilities import JudgesMeaning

    model: JudgesMeaning = load_able(options, JudgesMeaning, "a judge of meaning")
    return model


def wanted_of(options: Namespace, columns: tuple[str, str] | None = None) -> Wanted:
    """How the pairs are judged."""
    from paraform.jobs.judging import Wanted

    return Wanted(options.batch_size or 64, options.threshold, columns)


def write_shards(options: Namespace) -> int:
    """Make the shards of a folder that are not there yet."""
    from paraform.checkpoint.folder import absolute_name
    from paraform.corpora.columns import read_parquet, with_columns
    from paraform.jobs.judging import FIGURES, SAYS, TARGET, Verdicts, judge_shards

    path = one_file(options.text, options, "or no --out")
    engine = engine_of(options)
    options.device = options.device or "cpu"  # of which every worker has one
    options.model = absolute_name(chosen_name(options.model, options))  # workers may run elsewhere
    load_judge(options)
    parquet = is_parquet(path)
    names = tuple(options.columns or ("source", "target")) if parquet else None

    def columns() -> Columns:
        if names:
            return read_parquet(path, names[0], second=names[1], skip_bad_lines=options.skip_bad_lines)
        return with_columns(pairs_of(path, options), {TARGET: str})

    source, arrow = arrow_of(path, options, ("same", options.columns), columns)
    setting = setting_of(source, arrow, PARQUET if parquet else ".jsonl", options, (*FIGURES, SAYS))
    work = Verdicts(setting, wanted_of(options, names))
    told = judge_shards(work, engine=engine, progress="judging")
    said = f", {told[SAYS]:,} of which say the same" if SAYS in told else ""
    about = {"out": options.out, "model": options.model, "shards": len(setting.folder), **told}
    return show(options, about, f"{options.out}: {shards_in_words(setting)} of {counted(told['pairs'], 'pair')}{said}")


def pairs_of(path: str, options: Namespace) -> Iterator[tuple[str, str]]:
    """The pairs of a file, of whatever label; with `--columns` those of a table."""
    if options.columns is not None:
        from paraform.corpora.tables import pair_rows

        with on_disk(path) as file:
            for row in pair_rows(file, options.columns, skip_bad_lines=options.skip_bad_lines):
                yield row.source.text, row.target.text
        return
    for pair in read_pairs(path, options, others=True):
        yield pair.source.text, pair.target.text


def given_pairs(options: Namespace) -> list[tuple[str, str]]:
    """The two texts, or the pairs of the files. Raises: InputError for one text, or more than two."""
    texts = options.text or ["-"]
    files = [text == "-" or is_readable(text) for text in texts]
    if all(files):
        return [pair for path in texts for pair in pairs_of(path, options)]
    named = [text for text, file in zip(texts, files, strict=True) if not file and re.fullmatch(FILE, text)]
    if named:
        raise InputError(f"{named[0]}: no such file; expected files of pairs, or two texts")
    if len(texts) != 2 or any(files):
        found = counted(files.count(False), "text") + (f" and {counted(sum(files), 'file')}" if any(files) else "")
        raise InputError(f"{found}; expected two texts, or files of pairs (--format {options.format})")
    if not all(text.strip() for text in texts):
        raise InputError("an empty text; expected two texts")
    return [(texts[0], texts[1])]


def write_kept(items: Sequence[dict[str, Any]], path: str) -> None:
    """The texts of the pairs that say the same, TAB separated, white space as a blank; whole or not at all."""
    from paraform.weights import atomic_path

    kept = (item["texts"] for item in items if item["says_the_same"])
    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        file.writelines("\t".join(" ".join(text.split()) for text in texts) + "\n" for texts in kept)
