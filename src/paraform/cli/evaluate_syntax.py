"""Are a parser's trees right: labelled F1 as evalb counts it, and tag accuracy, on any bracketed trees.

The trees' own words are parsed; traces and function tags are left out. A folder's files are genres of their own.

Example:
  paraform evaluate syntax --data ../shared/data/treebank/gum/test --parser syntax-all
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.models import device_of
from paraform.cli.output import show
from paraform.cli.parse import add_parser
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--data", type=str, required=True, help="a file of trees, or a folder of .mrg files")
    add_parser(parser)
    parser.add_argument(
        "--trees", type=str | None, default=None, help="trees of the same words to measure, instead of a parser's"
    )


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.corpora.treebank import read_treebank
    from paraform.evaluation.syntax import by_genre, evaluate_syntax
    from paraform.score import table
    from paraform.syntax.parsing import load_parser, parser_digest
    from paraform.syntax.trees import read_tree, stripped

    sentences = list(read_treebank(options.data))
    kept = [(sentence, tree) for sentence in sentences if (tree := stripped(read_tree(sentence)))]
    gold = [tree for _, tree in kept]
    if options.trees is None:
        digest = parser_digest(options.parser)
        name = options.parser if digest == options.parser else f"{options.parser}-{digest[:8]}"
        found = load_parser(options.parser, device=device_of(options))([tree.words() for tree in gold])
    else:
        name = options.trees
        found = [stripped(read_tree(sentence)) for sentence in read_treebank(options.trees)]
        if len(found) != len(gold):
            raise InputError(f"{name}: {len(found)} trees, expected the {len(gold)} of {options.data}")
        for (sentence, tree), other in zip(kept, found, strict=True):
            if other and other.words() != tree.words():
                place = sentence.origin or options.data
                raise InputError(f"{place}: its words are not those of the tree in {name}; expected the same")
    groups = by_genre(sentence for sentence, _ in kept)
    scores = evaluate_syntax(gold, found, parser=name, data=options.data, groups=groups)
    about = {"data": options.data, "trees": len(gold), "scores": [score.to_json() for score in scores]}
    return show(options, about, table(scores))
