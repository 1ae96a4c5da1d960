"""Train and measure every row of a table of a paper; a row that was begun goes on, one that is done is kept.

Tables: crl-table2 (CRL-EGPG's Tables 2 and 3 and Figure 2: full, without CCL, without SCL, without both).

Example:
  paraform reproduce crl-table2 --scale smoke --corpus quora --data ../shared/data --out runs/crl
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import bad_values, device_of
from paraform.cli.output import print_json
from paraform.records import InputError

TABLES = {"crl-table2": "paraform.recipes.crl_table2"}


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("table", type=str, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument(
        "--scale", choices=("smoke", "small", "full"), default="smoke", help="seconds, one machine, or the paper's"
    )
    parser.add_argument("--corpus", choices=("quora", "paranmt"), default="quora", help="folder of --data")
    parser.add_argument("--data", type=str, default="../shared/data", metavar="DIR", help="holds CORPUS/train.tsv …")
    parser.add_argument("--out", type=str, default="runs/crl", metavar="DIR", help="of the rows' runs")


def run(options: Namespace) -> int:
    """Print the table."""
    name = options.table.replace("_", "-")
    if name not in TABLES:
        raise InputError(f"no table {options.table!r}; expected one of {', '.join(TABLES)}")
    if not Path(options.data, options.corpus).is_dir():
        raise InputError(f"{Path(options.data, options.corpus)}: no such folder; expected train.tsv, dev.tsv, test.tsv")
    device = device_of(options)
    recipe: Any = importlib.import_module(TABLES[name])
    with bad_values():
        result = recipe.run(
            scale=options.scale,
            corpus=options.corpus,
            data=Path(options.data),
            out=Path(options.out),
            seed=options.seed,
            device=device,
        )
    if options.json:
        print_json(result.to_json())
    else:
        print(result.table("plain"))
    return 0
