"""SGCP on text: sentences in, paraphrases in the form of an exemplar's tree or of a given one out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Unpack, final

import numpy as np
import torch
from torch import nn

from paraform.batching import BOS, EOS, Ragged, Vocabulary
from paraform.decoding import Decoding, require_decoding, search_name
from paraform.models.by_tree import as_text, parsed, require_forms, source_units, trained_parser
from paraform.models.copying import unrationed
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.exemplar.selection import require_one_each, select_exemplars
from paraform.models.writing import Ends, numbers_batch, written_rows
from paraform.records import InputError
from paraform.syntax.trees import Parser, Tree, delexicalized, template
from paraform.words import tell_cut
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.forms import below_one_root, cut, of_first_words
from paraform_papers.rivals.sgcp.heights import heights_of, nearest
from paraform_papers.rivals.sgcp.network import Memory, SgcpNetwork
from paraform_papers.rivals.sgcp.step_decoder import StepDecoder
from paraform_papers.rivals.sgcp.table import tree_nodes


@final
class SgcpParaphraser(nn.Module):
    """Says a sentence in the form of an exemplar's tree, cut at a height (SGCP, Kumar et al. 2020).

    Args:
        config: sizes and choices.
        vocabulary: units that are read and written.
        symbols: labels of trees.
        digest: of the parser in training (`parser_digest`); "": it is not checked.
    """

    system: ClassVar[str] = "sgcp"
    kind: ClassVar[str] = "an SGCP model"

    def __init__(self, config: SgcpConfig, vocabulary: Vocabulary, symbols: TreeSymbols, digest: str = "") -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.symbols = symbols
        self.digest = digest
        self.network = SgcpNetwork(config, len(vocabulary), len(symbols))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.network.embedding.weight.device

    @cached_property
    def parser(self) -> Parser:
        """What parses exemplars.

        Raises: InputError if it is not to be had, or is another one than in training.
        """
        return trained_parser(self.config.parser, self.digest, self.device)

    def exemplars(
        self,
        sources: Sequence[str],
        like: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        seed: int = 0,
    ) -> list[list[str]]:
        """The exemplars that each source gets, as `ExemplarParaphraser.paraphrase` has the arguments.

        Raises: InputError if there are none: this model has no sentences of its own.
        """
        if like is None:
            raise InputError("an SGCP model needs a form: like=[exemplar] (--like), or a tree (--template)")
        return select_exemplars(sources, like, (), each=each, num=num, seed=seed)

    def decode(
        self,
        sources: Sequence[str],
        exemplars: Sequence[str],
        *,
        ration: bool | None = None,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of exemplar i: of its tree, whole or cut as `config.height` says.

        Args:
            ration: see `SgcpConfig.ration`; None: as the config says.
            how: as `decoding.Decoding` has them.
        Raises: InputError for an empty text, other numbers of both, or a parser that is not to be had.
        """
        return self.decode_at(sources, exemplars, self.config.height, ration=ration, **how)

    def decode_at(
        self,
        sources: Sequence[str],
        exemplars: Sequence[str],
        height: int | str,
        *,
        ration: bool | None = None,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """The same, the trees cut at that height: levels with ROOT's; or "full" or "best", as `SgcpConfig` has them.

        Raises: InputError as `decode` does, and for a height beyond an exemplar's tree.
        """
        sources, exemplars = require_one_each(sources, exemplars)
        # A label that only this exemplar has is read as one never seen; who writes a tree is told.
        trees = parsed(exemplars, lambda: self.parser, "exemplar")
        return self._decode(sources, trees, height, ration, how)

    def decode_trees(
        self,
        sources: Sequence[str],
        trees: Sequence[Tree],
        *,
        height: int | str = "full",
        strict: bool = True,
        ration: bool | None = None,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of tree i; words in it are not read.

        Args:
            height: as `decode_at` has it; unless told otherwise the whole tree is read.
            strict: refuse a label that no tree of training had; else it is read as one never seen.
            ration, how: as `decode` has them.
        Raises: InputError for an empty source, such a label, other numbers of both, or a height beyond a tree.
        """
        texts, given = require_forms(sources, trees, self.symbols, strict=strict)
        return self._decode(texts, given, height, ration, how)

    def decoding_settings(self, *, ration: bool | None = None, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {
            "decode": search_name(how, self.config.length_penalty),
            "decoder": "float32",
            "ration": self._rations(ration),
            "height": self.config.height,
            "parser": self.config.parser,
        }

    def _rations(self, asked: bool | None) -> bool:
        return self.config.ration if asked is None else asked

    def _decode(
        self, sources: Sequence[str], trees: Sequence[Tree], height: int | str, ration: bool | None, how: Decoding
    ) -> list[str]:
        require_decoding(how)
        words, units = source_units(sources, self.config, self.kind)
        numbers = [self.vocabulary.encode(row, {}) for row in units]
        most = self.config.max_tokens
        tell_cut(sum(len(tree.words()) > most for tree in trees), len(trees), f"{most} words", self.kind)
        read = [of_first_words(below_one_root(tree), most) for tree in trees]
        whole = [delexicalized(tree) for tree in read]
        candidates = [
            [template(tree, levels) for levels in heights_of(tree, height, number)]
            for number, tree in enumerate(whole, start=1)
        ]
        of = [row for row, some in enumerate(candidates) for _ in some]
        forms = [form for some in candidates for form in some]
        columns = self._write([numbers[row] for row in of], forms, how, ration=self._rations(ration))
        said: list[list[str]] = [[] for _ in sources]
        for row, written in zip(of, columns, strict=True):
            said[row].append(as_text(written, units[row], words[row], self.vocabulary, self.config))
        return [some[nearest(source, some)] for source, some in zip(sources, said, strict=True)]

    @torch.inference_mode()
    def _write(
        self, sources: Sequence[Sequence[int]], forms: Sequence[Tree], how: Decoding, *, ration: bool
    ) -> list[list[int]]:
        """What is written of each source in the form of a whole tree, as columns of scores, without its end."""
        self.eval()
        if not sources:
            return []
        decoder = StepDecoder(self.network, max(map(len, sources)))
        nodes = [tree_nodes(form, self.vocabulary, self.symbols) for form in forms]
        labels, parents, levels = (Ragged.of(each) for each in zip(*nodes, strict=True))
        deepest = int(levels.values.max())

        def begin(rows: Sequence[int]) -> Memory:
            some = np.array(rows, np.int64)
            trees, _ = cut(labels, parents, levels, some, np.full(len(some), deepest))
            return decoder.begin(numbers_batch([sources[row] for row in rows], self.device), trees.to(self.device))

        lengths = [len(one.labels) for one in nodes], [len(source) for source in sources]
        ends = Ends(BOS, EOS, self.config.most_written, self.config.length_penalty)
        free = unrationed(len(self.vocabulary)) if ration else None
        return written_rows(begin, decoder.step, lengths, how, ends, self.device, free=free)

    def assets(self) -> dict[str, str]:
        """The vocabulary, the labels of trees, and what tells the parser from others."""
        return {
            "vocabulary.json": self.vocabulary.to_json(),
            "symbols.tsv": self.symbols.write(),
            "parser.txt": f"{self.digest}\n",
        }

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> SgcpParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if an asset is missing or damaged, or a field is unknown.
        """
        unknown = sorted(set(config) - set(SgcpConfig.__dataclass_fields__))
        lacking = sorted({"vocabulary.json", "symbols.tsv", "parser.txt"} - set(assets))
        if unknown or lacking:
            raise InputError(f"SGCP checkpoint with unknown fields {unknown}, without {lacking}")
        symbols = TreeSymbols.read(assets["symbols.tsv"], brackets=False)
        vocabulary = Vocabulary.from_json(assets["vocabulary.json"])
        return cls(SgcpConfig(**config), vocabulary, symbols, assets["parser.txt"].strip())
