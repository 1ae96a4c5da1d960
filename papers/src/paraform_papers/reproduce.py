"""Train and measure every row of a table of a paper; a row that was begun goes on, one that is done is kept.

What was measured is not measured again while code, data, settings and weights are the same; the figures are in
OUT/…/SCALE/TABLE.json too, each with its settings, the paper's beside ours; those of a whole table at scale full are
in a checkout's papers/results, too.

Tables: crl/table2 (CRL-EGPG's Tables 2 and 3 and Figure 2: full, without CCL, without SCL, without both; and sentences
to read, as its Tables 4, 6 and 7), crl/table5 (rating by people: makes the sheet, and reports once it is rated);
clvae/table1 (language modelling on PTB: the latent-variable family by both protocols), /table2 (on Yahoo and Yelp),
/table3 (contrast on h or z), /table4 (forward and reverse perplexity), /dropout (Figure 4), /augment (Table 7),
/language_model (rows of /table1 on `smollm2`), /toy (Table 5: spaces of 4, 8 and 16 categories as they are learnt);
parabart/table1 (ParaBART's semantic similarity), /table2 and /table5 (probing for syntax), /table3 (pairs to read),
/table4 (paraphrases of the same form and of another), /development (what chose among its rows), of each also --row
sp-average infersent, two rivals; par/table1 (PAR: the printed pairs, its Tables 1 and 5), /table2 (classification,
similarity and probing), /table3 (adversarial SQuAD, by a reader trained on a part of SQuAD), /table4 (distances of
shared words); encoders (ours: what `minilm`, each of its layers and the embedded models know, and how much form is left
in them).

Example:
  paraform reproduce crl/table2 --scale smoke --corpus quora --data ../shared/data --out runs/crl
  paraform reproduce clvae/table1 --scale small --row clvae+_mi vae
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.models import device_of
from paraform.cli.output import show
from paraform.records import InputError

TABLES: dict[str, tuple[str, ...]] = {  # PAPER/TABLE is the module PAPER.TABLE; the corpora that it knows
    "crl/table2": ("quora", "paranmt"),
    "crl/table5": ("quora", "paranmt"),
    "clvae/table1": ("ptb",),
    "clvae/table2": ("yahoo", "yelp"),
    "clvae/table3": ("ptb",),
    "clvae/table4": ("ptb",),
    "clvae/dropout": ("ptb",),
    "clvae/augment": ("ptb",),
    "clvae/language_model": ("ptb",),
    "clvae/toy": (),
    **{f"parabart/table{number}": () for number in range(1, 6)},
    "parabart/development": (),
    **{f"par/table{number}": () for number in range(1, 5)},
    "encoders": (),
}


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("table", type=str, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument(
        "--scale",
        choices=("smoke", "small", "long", "full"),
        default="smoke",
        help="seconds, an hour or two, days, or the paper's own",
    )
    parser.add_argument("--corpus", type=str | None, default=None, help="folder of --data; null: the table's first")
    parser.add_argument("--data", type=str, default="../shared/data", metavar="DIR", help="holds CORPUS/train.tsv …")
    parser.add_argument("--row", nargs="+", type=str, default=[], help="only these; none: all but the slowest")
    for name, value, help in (
        ("--out", "DIR", "the runs' folder; null: runs/…"),
        ("--results", "FILE", "for the figures as JSON; null: none, of scale full one in papers/results of a checkout"),
        ("--seq2seq", "FOLDER", "a Hugging Face seq2seq model, for the row seq2seq of crl/table2; null: no such row"),
    ):
        parser.add_argument(name, type=str | None, default=None, metavar=value, help=help)


def run(options: Namespace) -> int:
    """Print the table."""
    from paraform_papers import tables

    name = options.table
    if name not in TABLES:
        raise InputError(f"no table {options.table!r}; expected one of {', '.join(TABLES)}")
    corpora = TABLES[name]
    corpus = options.corpus or next(iter(corpora), None)
    if corpus and corpus not in corpora:
        raise InputError(f"--corpus {corpus}: {name} is of {' or '.join(corpora) or 'no corpus'}")
    if corpus and not Path(options.data, corpus).is_dir():
        raise InputError(f"{Path(options.data, corpus)}: no such folder; expected the train, validation and test files")
    if options.batch_size:
        raise InputError("--batch-size: a table's rows have their own; leave it out")
    device = device_of(options)
    paper, _, module = name.rpartition("/")
    table = importlib.import_module(f"paraform_papers.{paper or 'shipped'}.{module}").TABLE
    if options.seq2seq is not None and not table.seq2seq:
        raise InputError(f"--seq2seq: {name} has no such row; leave it out")
    out = Path(options.out or f"runs/{name.partition('/')[0]}")
    row, data = tuple(options.row), Path(options.data)
    asked = tables.Asked(options.scale, corpus or "", data, out, row, options.seed, device, options.seq2seq)
    with bad_values():
        made = tables.run(table, asked, Path(options.results) if options.results else None)
    return show(options, dict(made.figures), made.text)
