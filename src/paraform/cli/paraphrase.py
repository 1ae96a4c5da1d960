"""Say each text in other words, or in the form of an exemplar.

Without --like, each text is said in other words, by rules and, where these do not do, by a language model (once
`paraform fetch smollm2` was run); every candidate is checked (numbers, names, negation, kind, who does what, meaning,
grammar), and the best is printed; a text that no candidate does justice to is left out, and counted with the reason.
--model rules leaves the language model out; another one that paraphrases takes its place. Of a table (CSV, TSV, JSON
lines) --text-column says which column the texts are in; --json has the line and the other columns of each.

--out NAME.jsonl has what --json has of each text, a line a paraphrase, or a line with the reason that there is none.
--out FOLDER, a name without an ending, has the same in shards of 512 texts, which all cores or a Ray cluster make of
one file; a job that was killed goes on. Of Parquet the shards are Parquet: the columns as they came, and more.

With --like, texts and exemplars pair up when there are as many of one as of the other; one exemplar serves all texts;
--each gives every combination. Nothing is dropped but what --min-content says; how many may say something else is told
on stderr, and --json has the checks. --template takes trees in the exemplars' place, of a model that writes by trees
(train scpn, sgcp, seq2seq, disentangled); one that has templates of its own (train scpn) takes the --num commonest of
these where no form is given. --height says how much of an exemplar's tree is read, of a model that reads it (train
sgcp, seq2seq).

Example:
  paraform paraphrase "Can I use my card abroad?" --num 3
  paraform paraphrase questions.txt --otherwise copy --json > reworded.json
  paraform paraphrase questions.txt --out reworded --engine ray --address auto
  paraform paraphrase "how can i earn money online ?" --like "what is the best way to reduce weight ?"
  paraform paraphrase questions.txt --template "(SBARQ (WHNP) (SQ) (.))" --model runs/mine
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import add_drawing, add_search, decoding_of, repetition_of
from paraform.cli.messages import tell
from paraform.cli.models import checkpoint_named, device_of, load_paraphraser
from paraform.cli.options import Cosine, add_engine, add_texts, engine_of, is_folder, require_no_engine
from paraform.cli.output import print_json, print_rewordings, show
from paraform.cli.reading import one_file, read_texts, rows_of
from paraform.cli.sharding import PARQUET, arrow_of, is_parquet, require_no_parquet, setting_of, shards_in_words
from paraform.memory import bound_memory
from paraform.records import InputError, counted

if TYPE_CHECKING:
    from paraform.corpora.columns import Columns
    from paraform.decoding import Decoding
    from paraform.jobs.counts import Counts
    from paraform.jobs.rewording import Wanted
    from paraform.rewording.reworder import Reworder

LIKE_MODEL = "compact"


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser, tables=True)
    parser.add_argument(
        "--like", nargs="+", type=str, metavar="EXEMPLAR", help="sentences whose form to take, or a file of them"
    )
    parser.add_argument(
        "--template",
        nargs="+",
        type=str,
        metavar="TREE",
        help="forms to take, trees cut at any height: (S (NP) (VP))",
    )
    parser.add_argument(
        "--height",
        type=Literal["full", "best"] | PositiveInt | None,
        default=None,
        metavar="LEVELS",
        help="of exemplars' trees: so many levels, full, or best, the one of several whose output is nearest the text",
    )
    parser.add_argument("--each", action="store_true", help="every text with every exemplar")
    parser.add_argument("--num", type=PositiveInt, default=1, help="rewordings of each text, at most")
    parser.add_argument("--min-content", type=Cosine | None, default=None, help="drop outputs of a lower content score")
    parser.add_argument(
        "--otherwise", choices=("skip", "copy"), default="skip", help="what becomes of a text without a rewording"
    )
    parser.add_argument(
        "--out", type=str | None, default=None, help="JSON lines to write, or a folder of shards; null: stdout"
    )
    add_choices(parser)
    add_model(parser, f", {LIKE_MODEL} where a form is given")
    add_search(parser)
    add_drawing(parser)
    add_engine(parser)


def run(options: Namespace) -> int:
    """Print the paraphrases."""
    bound_memory()
    wanted = wanted_of(options)
    more = more_by_model(options)
    if is_folder(options.out):
        return write_shards(options, wanted, more)
    require_no_engine(options, "a name without an ending")
    require_no_parquet(options.text)
    rows = list(rows_of(options.text, options, whole=True))
    reworder = load_reworder(options)
    from paraform.jobs.rewording import about, items_of, paraphrased, shown, write_lines
    from paraform.weights import atomic_path

    with bad_values():
        found, told = paraphrased(rows, reworder, wanted, options.model)
    report(told, options, more)
    if options.out is not None:
        with atomic_path(options.out) as unfinished:
            write_lines(items_of(rows, found, copy=wanted.copy), unfinished)
        return show(options, about_file(told, options), f"{options.out}: {in_words(told)}")
    pairs = [(row, one) for row, each in zip(rows, found, strict=True) for one in shown(each, wanted.copy)]
    if options.json:
        skips = [{**about(row), "reason": one.reason} for row, one in zip(rows, found, strict=True) if one.reason]
        paraphrases = [{**about(row), **candidate.to_dict()} for row, candidate in pairs]
        print_json({"paraphrases": paraphrases, "skipped": skips, "model": options.model})
    else:
        texts = [(row.text, candidate.text) for row, candidate in pairs]
        print_rewordings(texts, alone=len({row.text for row in rows}) <= 1)
    return 0


def wanted_of(options: Namespace) -> Wanted:
    """What is to be said. Raises: InputError if the options do not fit together."""
    how: Decoding = {**decoding_of(options), **repetition_of(options)}
    if options.like is not None and options.template is not None:
        raise InputError("--like and --template; expected one of them")
    forms = options.template or options.like
    if forms is not None and options.num > 1:
        raise InputError("--num is of rewordings without --like; leave one out, or give --like more exemplars")
    if options.height is not None and options.like is None:
        raise InputError("--height needs --like: it is of exemplars' trees")
    if options.each and forms is None:
        raise InputError("--each needs --like")
    if forms is not None:
        options.model = options.model or LIKE_MODEL
    from paraform.jobs.rewording import Wanted

    like = options.template if options.like is None else read_texts(options.like, options, "exemplar")
    return Wanted(
        num=options.num,
        force=options.force,
        change=options.change,
        keep=tuple(terms_of(options.keep, options)),
        copy=options.otherwise == "copy",
        least=options.min_content,
        forms=None if like is None else tuple(like),
        trees=options.template is not None,
        each=options.each,
        height=options.height,
        how=how,
    )


def write_shards(options: Namespace, wanted: Wanted, more: str) -> int:
    """Make the shards of a folder that are not there yet."""
    from paraform.corpora.columns import read_parquet, with_columns
    from paraform.jobs.rewording import COLUMNS, Paraphrases, paraphrase_shards

    path = one_file(options.text, options, "or --out NAME.jsonl")
    engine = engine_of(options)
    name_model(options)
    parquet = is_parquet(path)

    def columns() -> Columns:
        if parquet:
            return read_parquet(path, options.text_column, skip_bad_lines=options.skip_bad_lines)
        rows = rows_of([path], options, whole=True)
        given = ((row.text, row.line, json.dumps(row.fields) if row.fields else None) for row in rows)
        return with_columns(given, {"line": int, "fields": str})

    source, arrow = arrow_of(path, options, ("paraphrase", options.text_column), columns)
    setting = setting_of(source, arrow, PARQUET if parquet else ".jsonl", options, list(COLUMNS))
    wanted = replace(wanted, how=wanted.how | {"progress": False})  # workers tell nobody
    work = Paraphrases(setting, wanted, text_column_of(path, options) if parquet else None)
    with bad_values():
        told = paraphrase_shards(work, engine=engine, progress="rewording")
    report(told, options, more)
    about = about_file(told, options) | {"shards": len(setting.folder)}
    return show(options, about, f"{options.out}: {shards_in_words(setting)} of {in_words(told)}")


def name_model(options: Namespace) -> None:
    """The device and the model, as workers call it, which may run elsewhere.

    Raises: InputError for a model that does not paraphrase.
    """
    from paraform.checkpoint.folder import absolute_name
    from paraform.default_call import RULES, default_model

    options.device = options.device or "cpu"  # of which every worker has one
    if options.model is None:
        options.model = default_model()
    elif options.model != RULES:
        load_paraphraser(options)
        options.model = absolute_name(checkpoint_named(options.model))


def text_column_of(path: str, options: Namespace) -> str:
    """The column of a Parquet file's texts."""
    from paraform.corpora.columns import read_parquet
    from paraform.corpora.tables import choose_column
    from paraform.records import Origin

    return choose_column(read_parquet(path, options.text_column).schema.names, options.text_column, Origin(path, 1))


def about_file(told: Counts, options: Namespace) -> dict[str, Any]:
    """What --json says of what was written."""
    counts = {"texts": told["texts"], "paraphrases": told["kept"], "without": told["without"]}
    return {"out": options.out, **counts, "model": options.model}


def in_words(told: Counts) -> str:
    """What was written, in words."""
    return f"{counted(told['kept'], 'paraphrase')} of {counted(told['texts'], 'text')}"


def report(told: Counts, options: Namespace, more: str) -> None:
    """The counts on stderr; more: behind why texts got none."""
    if told["dropped"]:
        why_not = ", ".join(f"{number} × {reason}" for reason, number in most_common(told["dropped"]))
        tell(f"{sum(told['dropped'].values())} of {told['outputs']} paraphrases dropped: {why_not}")
    if told["drifted"]:
        why = ", ".join(f"{count} {name}" for name, count in most_common(told["drifting"]))
        tell(
            f"{told['drifted']} of {told['kept']} paraphrases may say something else or read badly ({why});"
            " --json has their checks"
        )
    if without := told["without"]:
        done = "left out" if options.otherwise == "skip" else "copied"
        reasons = ", ".join(f"{count} {why}" for why, count in most_common(without))
        tell(f"{sum(without.values())} of {told['texts']} texts {done}: {reasons}{forced(without, more)}")


def most_common(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The reasons, the commonest first."""
    return Counter(counts).most_common()


def add_choices(parser: ArgumentParser) -> None:
    """The options of a command that rewords: which texts, how much of them, and what stays."""
    parser.add_argument(
        "--force", action="store_true", help="try texts too that look like another language, code, shouting or junk"
    )
    parser.add_argument(
        "--change",
        type=Literal["little", "much"] | None,
        default=None,
        help="how much of a text; null: two words, or a synonym",
    )
    parser.add_argument(
        "--keep", nargs="+", type=str, default=(), metavar="TERM", help="words that stay as they are, or a file of them"
    )


def forced(reasons: Iterable[str], more: str) -> str:
    """Behind the reasons of some texts: what lets those through that were not tried, and `more` if others are there."""
    from paraform.rewording.readable import FORCED

    found = {*reasons}
    return (" (--force tries them)" if found & {*FORCED} else "") + (more if found - {*FORCED} else "")


def more_by_model(options: Namespace) -> str:
    """How to get what rewords more, where no model is named and none is there; "" elsewhere."""
    from paraform.default_call import MORE, RULES, default_model

    return f"; {MORE}" if options.model is None and default_model() == RULES else ""


def add_model(parser: ArgumentParser, otherwise: str = "") -> None:
    """The option of a command that rewords.

    Args:
        otherwise: what else null stands for.
    """
    usual = "null: smollm2-free where smollm2 was fetched"
    parser.add_argument(
        "--model", type=str | None, default=None, help=f"embedded, a folder, a hub id, or rules; {usual}{otherwise}"
    )


def load_reworder(options: Namespace) -> Reworder:
    """What rewords and judges: rules, and the model that is named, or the default one; `options.model` says which.

    Raises: InputError for a model that does not paraphrase.
    """
    from paraform.default_call import RULES, default_model, paraphraser_named
    from paraform.rewording.reworder import Reworder

    if options.model is None:
        model, options.model = paraphraser_named(None, device_of(options)), default_model()
    else:
        model = None if options.model == RULES else load_paraphraser(options)
    return Reworder.default(
        device_of(options), paraphraser=model, change=options.change, keep=terms_of(options.keep, options)
    )


def terms_of(given: Sequence[str], options: Namespace) -> list[str]:
    """The terms that arguments give, or name the files of, one a line, whatever the texts are in.

    Raises: InputError as `read_texts`.
    """
    plain = copy.copy(options)
    plain.format, plain.text_column, plain.skip_bad_lines = "text", None, False
    return read_texts(given, plain, "term") if given else []
