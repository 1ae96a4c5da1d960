"""SGCP on text: sentences in, paraphrases in the form of an exemplar's tree or of a given one out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack, final

import numpy as np
import torch

from paraform.batching import BOS, EOS, Ragged, Vocabulary
from paraform.decoding import Decoding, require_decoding, search_name
from paraform.fields import require_restorable
from paraform.models.by_tree import AbstractTreeParaphraser, as_text, require_forms, source_units
from paraform.models.copying import unconstrained
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.selection import require_one_each
from paraform.models.writing import Ends, numbers_batch, written_rows
from paraform.syntax.heights import said_at
from paraform.syntax.trees import Tree, below_one_root, delexicalized
from paraform.words import tell_cut
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.forms import cut, of_first_words
from paraform_papers.rivals.sgcp.network import Memory, SgcpNetwork
from paraform_papers.rivals.sgcp.step_decoder import StepDecoder
from paraform_papers.rivals.sgcp.table import tree_nodes


@final
class SgcpParaphraser(AbstractTreeParaphraser):
    """Says a sentence in the form of an exemplar's tree, cut as `config.height` says (SGCP, Kumar et al. 2020).

    Args:
        config: sizes and choices.
        vocabulary: units that are read and written.
        symbols: labels of trees.
        digest: of the parser in training (`parser_digest`); "": it is not checked.
    """

    system: ClassVar[str] = "sgcp"
    config_class: ClassVar[type] = SgcpConfig
    kind: ClassVar[str] = "an SGCP model"
    copies: ClassVar[bool] = True
    config: SgcpConfig

    def __init__(self, config: SgcpConfig, vocabulary: Vocabulary, symbols: TreeSymbols, digest: str = "") -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.symbols = symbols
        self.digest = digest
        self.network = SgcpNetwork(config, len(vocabulary), len(symbols))

    def _in_trees(self, sources: list[str], trees: list[Tree], how: Decoding) -> list[str]:
        return self._decode(sources, trees, self.config.height, how)

    def decode_at(
        self,
        sources: Sequence[str],
        exemplars: Sequence[str],
        height: int | str,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """As `decode`, the trees cut at that height: levels with ROOT's; or "full" or "best", as `SgcpConfig` has them.

        Raises: InputError as `decode` does, and for a height beyond an exemplar's tree.
        """
        sources, exemplars = require_one_each(sources, exemplars)
        return self._decode(sources, self.trees_of(exemplars, "exemplar"), height, how)

    def decode_trees(
        self,
        sources: Sequence[str],
        trees: Sequence[Tree],
        *,
        height: int | str = "full",
        strict: bool = True,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of tree i; words in it are not read.

        Args:
            height: as `decode_at` has it; unless told otherwise the whole tree is read.
            strict: refuse a label that no tree of training had; else it is read as one never seen.
            how: as `decode` has them.
        Raises: InputError for an empty source, such a label, other numbers of both, or a height beyond a tree.
        """
        texts, given = require_forms(sources, trees, self.symbols, strict=strict)
        return self._decode(texts, given, height, how)

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {
            "decode": search_name(how),
            "decoder": "float32",
            "constrain_repetition": self._constrains(how),
            "height": self.config.height,
            "parser": self.config.parser,
        }

    def _decode(self, sources: Sequence[str], trees: Sequence[Tree], height: int | str, how: Decoding) -> list[str]:
        require_decoding(how)
        units = source_units(sources, self.config, self.kind)
        numbers = [self.vocabulary.encode(row, {}) for row in units]
        most = self.config.max_tokens
        tell_cut(sum(len(tree.words()) > most for tree in trees), len(trees), f"{most} words", self.kind)
        whole = [delexicalized(of_first_words(below_one_root(tree), most)) for tree in trees]

        def say(rows: list[int], forms: list[Tree]) -> list[str]:
            columns = self._write([numbers[row] for row in rows], forms, how)
            return [
                as_text(written, units[row], sources[row], self.vocabulary, self.config)
                for row, written in zip(rows, columns, strict=True)
            ]

        return said_at(sources, whole, height, say)

    @torch.inference_mode()
    def _write(self, sources: Sequence[Sequence[int]], forms: Sequence[Tree], how: Decoding) -> list[list[int]]:
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
        ends = Ends(BOS, EOS, self.config.most_written)
        free = unconstrained(len(self.vocabulary)) if self._constrains(how) else None
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
        require_restorable(SgcpConfig, config, assets, ("vocabulary.json", "symbols.tsv", "parser.txt"))
        symbols = TreeSymbols.read(assets["symbols.tsv"], brackets=False)
        vocabulary = Vocabulary.from_json(assets["vocabulary.json"])
        return cls(SgcpConfig(**config), vocabulary, symbols, assets["parser.txt"].strip())
