"""Trees as numbers against the house's own trees: linearised, cut, counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import tiny_disentangled as tiny

from paraform.models.disentangled.symbols import CLOSE, FIRST, OPEN, PAD, ROOT, UNKNOWN, TreeSymbols
from paraform.records import InputError
from paraform.syntax.trees import Tree, bag_of_constituents, delexicalized, linearized, template, without_root


def written(symbols: TreeSymbols, numbers: list[int]) -> str:
    """The numbers as the tree is written, without white space."""
    return "".join({OPEN: "(", CLOSE: ")"}.get(number) or symbols.labels[number - FIRST] for number in numbers)


@pytest.mark.parametrize("text", tiny.TEXTS)
def test_with_brackets_the_symbols_are_the_linearised_tree(text: str) -> None:
    tree = tiny.parsed()[text]
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=True)
    below = "".join(linearized(node) for node in without_root(tree)).replace(" ", "")
    assert written(symbols, symbols.encode(tree)[0]) == below


def test_without_brackets_a_constituent_opens_and_a_tag_stands() -> None:
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=False)
    numbers, levels = symbols.encode(Tree.parse("(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ runs))))"))
    labels = [symbols.labels[number - FIRST] if number >= FIRST else ")" for number in numbers]
    assert labels == ["S", "NP", "DT", "NN", ")", "VP", "VBZ", ")", ")"]
    assert levels == [1, 2, 3, 3, 2, 2, 3, 2, 1]


@pytest.mark.parametrize("brackets", [True, False])
@pytest.mark.parametrize("height", [1, 2, 3, 9])
def test_cut_behind_a_level_they_are_the_template_s(height: int, brackets: bool) -> None:
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=brackets)
    for tree in tiny.parsed().values():
        (top,) = without_root(tree)
        numbers, levels = symbols.encode(tree)
        kept = [number for number, level in zip(numbers, levels, strict=True) if level <= height]
        assert kept == symbols.encode(template(top, height))[0]


def test_bags_are_the_trees_counts() -> None:
    """Shares of constituents; of all symbols, each counted from one, ROOT and the brackets of ROOT too."""
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=True)
    for tree in tiny.parsed().values():
        bag = bag_of_constituents(tree)
        expected = [bag[label] / sum(bag.values()) for label in symbols.constituents]
        assert symbols.constituent_shares(tree) == pytest.approx(expected)
        atoms = linearized(tree).replace("(", " ( ").replace(")", " ) ").split()
        counts = Counter(atoms)
        whole = np.array([1 + counts[atom] for atom in ("(", ")", *symbols.labels)])
        assert symbols.symbol_shares(tree) == pytest.approx(whole / whole.sum())
    assert symbols.bag_size("constituents") == len(symbols.constituents)
    assert symbols.bag_size("symbols") == 2 + len(symbols.labels)


def test_they_are_read_as_they_are_written() -> None:
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=False)
    again = TreeSymbols.read(symbols.write(), brackets=False)
    assert (again.labels, again.constituents, again.brackets) == (symbols.labels, symbols.constituents, False)


@pytest.mark.parametrize("text", ["S", "S\t2\n", "\t1\n", "S\t1\tx\n"])
def test_what_is_no_list_of_symbols(text: str) -> None:
    with pytest.raises(InputError, match="tree symbols, line 1"):
        TreeSymbols.read(text, brackets=True)


def test_a_label_twice() -> None:
    with pytest.raises(InputError, match="a label twice"):
        TreeSymbols.read("S\t1\nS\t0\n", brackets=True)


def test_a_label_of_no_training_tree_is_named_with_the_nearest() -> None:
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=True)
    strange = Tree.parse("(S (NP) (SBARQ))")
    assert UNKNOWN in symbols.encode(strange)[0]
    with pytest.raises(InputError, match="label 'SBARQ' in no tree of training; the nearest is 'SQ'"):
        symbols.require_known(strange)
    symbols.require_known(Tree.parse("(S (NP) (VP))"))


@pytest.mark.parametrize("brackets", [True, False])
@pytest.mark.parametrize("height", [2, 3, 9])
def test_symbols_are_read_back_as_the_tree(height: int, brackets: bool) -> None:
    """Whole trees and templates, which are their uppermost levels."""
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=brackets)
    for tree in tiny.parsed().values():
        cut = template(tree, height)
        assert symbols.decode(symbols.encode(cut)[0]) == delexicalized(cut)


def test_symbols_that_are_no_tree_are_read_as_far_as_they_go() -> None:
    symbols = TreeSymbols.of(tiny.parsed().values(), brackets=True)
    s, np_ = (FIRST + symbols.labels.index(label) for label in ("S", "NP"))
    expected = Tree(ROOT, (Tree("S", (Tree("NP"),)),))
    for numbers in ([OPEN, s, OPEN, np_], [CLOSE, OPEN, s, OPEN, np_, CLOSE, CLOSE, CLOSE, PAD]):
        assert symbols.decode(numbers) == expected
    assert symbols.decode([]) == Tree(ROOT) and symbols.decode([OPEN, UNKNOWN, CLOSE]).children == (Tree("?"),)
    with pytest.raises(InputError, match="symbol 99; expected 0 to"):
        symbols.decode([99])
