"""What systems share that write by trees: the parser of training; and what those share that copy: units, and text."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal, Protocol

import torch

from paraform import encoders
from paraform.batching import Vocabulary, prepare_all
from paraform.decoding import Decoding
from paraform.models.base import AbstractParaphraser, require_words
from paraform.models.copying import units_at
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.disentangled.table import trees_of
from paraform.models.writing import as_written
from paraform.records import InputError, Pair, require_records, require_texts
from paraform.syntax.parsing import load_parser, parsed, parser_digest
from paraform.syntax.trees import ROOTS, Parser, Tree, delexicalized
from paraform.words import drop_stray_brackets, join_pieces


class AbstractTreeParaphraser(AbstractParaphraser):
    """A paraphraser that reads an exemplar's tree; `config.parser` names what parses.

    Args:
        symbols: what trees are written with.
        digest: of the parser in training (`parser_digest`); "": it is not checked.
    """

    asks: ClassVar[str] = "like=[exemplar] (--like), or a tree (--template)"
    symbols: TreeSymbols
    digest: str

    @cached_property
    def parser(self) -> Parser:
        """What parses sources and exemplars.

        Raises: InputError if it is not to be had, or is another one than in training.
        """
        return trained_parser(self.config.parser, self.digest, self.device)

    def trees_of(self, texts: Sequence[str], what: str) -> list[Tree]:
        """The tree of each text. Raises: InputError for an empty one, by the name that `what` gives it."""
        return parsed(texts, lambda: self.parser, what)

    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        # A label that only this exemplar has is read as one never seen; who writes a tree is told.
        return self._in_trees(sources, self.trees_of(exemplars, "exemplar"), how)

    @abstractmethod
    def _in_trees(self, sources: list[str], trees: list[Tree], how: Decoding) -> list[str]:
        """Source i in the form of its exemplar's tree i."""


class CountsUnits(Protocol):
    """What a system's config says of the units that its networks count."""

    @property
    def units(self) -> Literal["pieces", "words"]: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def min_count(self) -> int: ...
    @property
    def most_units(self) -> int: ...


def units_of_words(sentences: Sequence[Sequence[str]], config: CountsUnits) -> list[list[list[str]]]:
    """What a network counts of each word: itself, lower-cased, or the offline encoder's pieces of it, one or more."""
    lowered = [[word.lower() for word in words] for words in sentences]
    if config.units == "words":
        return [[[word] for word in row] for row in lowered]
    return [[[piece for piece, _ in pieces] for pieces in row] for row in encoders.load().placed_pieces(lowered)]


def units_of(sentences: Sequence[Sequence[str]], config: CountsUnits) -> list[list[str]]:
    """The same of each sentence, end to end."""
    return [[unit for units in row for unit in units] for row in units_of_words(sentences, config)]


def vocabulary_of(texts: Sequence[str], config: CountsUnits) -> Vocabulary:
    """The commonest units of texts, and how their words are cased."""
    words = prepare_all(texts, config.max_tokens)
    return Vocabulary.build(
        words,
        min_count=config.min_count,
        size=config.most_units,
        units=None if config.units == "words" else units_of(words, config),
    )


def trained_parser(name: str, digest: str, device: torch.device) -> Parser:
    """The parser of that name, on that device.

    Args:
        digest: of the parser in training (`parser_digest`); "": it is not checked.
    Raises: InputError if it is not to be had, or is another one than in training.
    """
    if digest and (found := parser_digest(name)) != digest:
        raise InputError(f"parser {name!r} is {found[:12]}, and in training it was {digest[:12]}; expected the same")
    return load_parser(name, device=str(device))


def trees_to_train_on(pairs: Sequence[Pair], parser: str, *, progress: bool = False) -> dict[str, Tree]:
    """The tree of every text of the pairs (`trees_of`); a warning counts those that the file brought.

    What is written from later is parsed by `parser`, whose trees may be of another kind.
    """
    trees = trees_of(pairs, parser=parser, progress=progress)
    brought = {side.text for pair in pairs for side in (pair.source, pair.target) if side.tree}
    if brought:
        logging.getLogger("paraform").warning(
            "%s of %s sentences came with trees, which are trained on; exemplars are parsed by %r: expected the same",
            f"{len(brought):,}", f"{len(trees):,}", parser,
        )  # fmt: skip
    return trees


def require_forms(
    sources: Sequence[str], trees: Sequence[Tree], symbols: TreeSymbols, *, strict: bool
) -> tuple[list[str], list[Tree]]:
    """The sources and the trees whose forms they are to take.

    Args:
        strict: refuse a label that no tree of training had.
    Raises: InputError for other numbers of both, what are no trees, a root alone, or such a label.
    """
    texts, given = require_texts(sources), require_records(trees, Tree)
    if len(texts) != len(given):
        raise InputError(f"{len(texts)} sources, {len(given)} trees; expected a tree a source")
    for tree in dict.fromkeys(map(delexicalized, given)):
        if tree.label in ROOTS and not tree.children:
            raise InputError(f"a template of a root alone, {str(tree)[:40]!r}; expected such as (ROOT (S (NP) (VP)))")
        if strict:
            symbols.require_known(tree)
    return texts, given


def source_units(sources: Sequence[str], config: CountsUnits, kind: str) -> list[list[str]]:
    """The units of each source.

    Args:
        kind: the model's, for the warning that counts the texts that are cut.
    Raises: InputError for an empty source.
    """
    words = require_words(prepare_all(sources, config.max_tokens, tell=kind), "source")
    return units_of(words, config)


def as_text(
    columns: Sequence[int], units: Sequence[str], source: str, vocabulary: Vocabulary, config: CountsUnits
) -> str:
    """What columns of a step's scores say, as a person would write it.

    Args:
        units: of the source, which columns behind the vocabulary's are.
    """
    said = units_at(columns, units, vocabulary)
    words = join_pieces(said) if config.units == "pieces" else said
    return as_written(drop_stray_brackets(words), vocabulary.cased, source)
