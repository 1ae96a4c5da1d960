"""A seq2seq on text: sentences in, paraphrases in the form of an exemplar's tree or of a given one out."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack, final

import torch
from tokenizers import Tokenizer
from torch import nn

from paraform.decoding import Decoding, require_decoding, search_name
from paraform.encoders.seq2seq import described, seq2seq_of_json
from paraform.fields import require_restorable
from paraform.json_text import parse_json
from paraform.models.base import require_words
from paraform.models.by_tree import AbstractTreeParaphraser, require_forms
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.selection import require_one_each
from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.models.seq2seq.network import Memory, Seq2SeqNetwork, StepDecoder
from paraform.models.seq2seq.pieces import Fitted, Pieces, Said, inputs
from paraform.models.writing import Ends, as_cased, numbers_batch, written_rows
from paraform.records import InputError
from paraform.syntax.heights import said_at
from paraform.syntax.trees import Tree, below_one_root, delexicalized, depth, template
from paraform.words import tell_cut

HYPOTHESES = 128
"""As many are decoded together, if the caller does not say: of BART-base, by inputs of 150 pieces and outputs of 110,
their keys and values take 1.2 GB; of 256 sentences by a beam of 4 they took 10."""


@final
class Seq2SeqParaphraser(AbstractTreeParaphraser):
    """Says a sentence in the form of an exemplar's tree, cut at `config.height` (AESOP's way, Sun et al. 2021).

    An output that ends before its paraphrase begins is what could be read of it, perhaps "", and a warning counts
    those. Nothing is copied, so that repetition is never constrained.

    Args:
        config: sizes and choices.
        tokenizer: the model's own.
        module: it itself, with one more piece than the tokenizer has, the last one, for the separator.
        symbols: labels of trees.
        digest: of the parser in training (`parser_digest`); "": it is not checked.
        cased: word → its usual form inside a sentence, where that is not the word itself.
    """

    system: ClassVar[str] = "seq2seq"
    config_class: ClassVar[type] = Seq2SeqConfig
    kind: ClassVar[str] = "a seq2seq model"
    config: Seq2SeqConfig

    def __init__(
        self,
        config: Seq2SeqConfig,
        tokenizer: Tokenizer,
        module: nn.Module,
        symbols: TreeSymbols,
        digest: str = "",
        cased: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.symbols = symbols
        self.digest = digest
        self.cased = dict(cased or {})
        self.network = Seq2SeqNetwork(module)
        self.pieces = Pieces(tokenizer, self.network.rows - 1)
        for name, most in zip(("max_pieces", "max_written"), self.network.longest, strict=True):
            if most is not None and getattr(config, name) > most:
                raise InputError(f"{name} {getattr(config, name)}; the model takes {most} pieces at most")

    def _in_trees(self, sources: list[str], trees: list[Tree], how: Decoding) -> list[str]:
        return self._texts(sources, [template(below_one_root(tree), self.config.height) for tree in trees], None, how)

    def decode_at(
        self,
        sources: Sequence[str],
        exemplars: Sequence[str],
        height: int | str,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """As `decode`, the trees cut at that height: levels with ROOT's; "full", or "best": of several heights the one
        whose output is nearest the source (`syntax.heights`). It was trained at `config.height` alone.

        Raises: InputError as `decode` does, and for a height beyond an exemplar's tree.
        """
        sources, exemplars = require_one_each(sources, exemplars)
        return self.decode_trees(sources, self.trees_of(exemplars, "exemplar"), height=height, strict=False, **how)

    def decode_trees(
        self,
        sources: Sequence[str],
        trees: Sequence[Tree],
        *,
        height: int | str | None = None,
        source_trees: Sequence[Tree] | None = None,
        strict: bool = True,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of tree i, whole or a template; words in it are not read.

        Args:
            height: as `decode_at` has it; None: trees are cut at `config.height` if they are higher, which is told.
            source_trees: the sources' own; None: they are parsed, if the model reads them.
            strict: refuse a label that no tree of training had.
            how: as `decoding.Decoding` has them.
        Raises: InputError for an empty source, such a label, other numbers of both, or a height beyond a tree.
        """
        texts, given = require_forms(sources, trees, self.symbols, strict=strict)
        whole = [delexicalized(below_one_root(tree)) for tree in given]
        if height is None:
            most = self.config.height
            tell_cut(sum(depth(tree) > most for tree in whole), len(whole), f"{most} levels of a tree", self.kind)
            return self._texts(texts, [template(tree, most) for tree in whole], source_trees, how)

        def say(rows: list[int], forms: list[Tree]) -> list[str]:
            own = None if source_trees is None else [source_trees[row] for row in rows]
            return self._texts([texts[row] for row in rows], forms, own, how)

        return said_at(texts, whole, height, say)

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {
            "decode": search_name(how),
            "decoder": "float32",
            "height": self.config.height,
            "parser": self.config.parser,
        }

    def _texts(
        self, sources: Sequence[str], forms: Sequence[Tree], own: Sequence[Tree] | None, how: Decoding
    ) -> list[str]:
        """What is said of each, and how many outputs are none."""
        found = self.said(sources, forms, own, **how)
        torn, empty = sum(not one.whole for one in found), sum(not one.text for one in found)
        warn = logging.getLogger("paraform").warning
        if torn:
            warn(
                "%d of %d outputs have no separator behind their tree; what stands behind its last bracket was taken",
                torn, len(found),
            )  # fmt: skip
        if empty:
            warn("%d of %d outputs say nothing", empty, len(found))
        return [one.text for one in found]

    def said(
        self,
        sources: Sequence[str],
        forms: Sequence[Tree],
        source_trees: Sequence[Tree] | None = None,
        **how: Unpack[Decoding],
    ) -> list[Said]:
        """Source i in the form of tree i, which is read as it is, and the tree that the model wrote for it.

        Args:
            source_trees, how: as `decode_trees` has them.
        Raises: InputError for an empty source or other numbers of both.
        """
        require_decoding(how, copies=self.copies)
        require_words([source.split() for source in sources], "source")
        if self.config.source_tree == "none":
            source_trees = None
        elif source_trees is None:
            source_trees = self.trees_of(sources, "source")
        given = forms if source_trees is None else source_trees
        if not len(sources) == len(forms) == len(given):
            raise InputError(
                f"{len(sources)} sources, {len(forms)} forms, {len(given)} trees of the sources; expected as many"
            )
        own = None if source_trees is None else [below_one_root(tree) for tree in source_trees]
        read = inputs(sources, own, forms, self.pieces, self.config)
        tell_cut(sum(one.cut for one in read), len(read), f"{self.config.max_pieces} pieces of an input", self.kind)
        rows = self._write(read, how)
        found = [self.pieces.said(row) for row in rows]
        return [
            one._replace(text=as_cased(one.text, self.cased, source))
            for one, source in zip(found, sources, strict=True)
        ]

    @torch.inference_mode()
    def _write(self, read: Sequence[Fitted], how: Decoding) -> list[list[int]]:
        """What is written of each input, without its end."""
        self.eval()
        if not read:
            return []
        decoder = StepDecoder(self.network, self._never(), ranked=how.get("beam", 1) > 1)

        def begin(rows: Sequence[int]) -> Memory:
            return self.network.begin(numbers_batch([read[row].numbers for row in rows], self.device))

        how = {"batch_size": max(1, HYPOTHESES // how.get("beam", 1)), **how}
        lengths = [len(one.numbers) for one in read]
        ends = Ends(self.network.start, self.pieces.stop, self.config.max_written - 1)
        return written_rows(begin, decoder.step, (lengths, lengths), how, ends, self.device)

    def _never(self) -> list[int]:
        """Pieces that are not written: marks but those around an output, and numbers that the tokenizer has not."""
        tokenizer, written = self.pieces.tokenizer, {*self.pieces.before, *self.pieces.behind}
        marks = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
        beyond = set(range(self.pieces.separator)) - set(tokenizer.get_vocab().values())
        return sorted((marks | beyond) - written)

    def assets(self) -> dict[str, str]:
        """The module's config and tokenizer, the labels of trees, cases of words, and what tells the parser."""
        return {
            "seq2seq.json": described(self.network.module),
            "tokenizer.json": self.pieces.tokenizer.to_str(),
            "symbols.tsv": self.symbols.write(),
            "words.json": json.dumps({"cased": self.cased}, ensure_ascii=False) + "\n",
            "parser.txt": f"{self.digest}\n",
        }

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Seq2SeqParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if an asset is missing or damaged, or a field is unknown.
        """
        needed = ("seq2seq.json", "tokenizer.json", "symbols.tsv", "words.json", "parser.txt")
        require_restorable(Seq2SeqConfig, config, assets, needed)
        try:
            tokenizer = Tokenizer.from_str(assets["tokenizer.json"])
            cased = dict(parse_json(assets["words.json"], "words.json")["cased"])
        except Exception as error:  # the tokenizers library raises bare Exceptions
            raise InputError(f"seq2seq checkpoint: {' '.join(str(error).split())[:200]}") from error
        symbols = TreeSymbols.read(assets["symbols.tsv"], brackets=False)
        module = seq2seq_of_json(assets["seq2seq.json"])
        return cls(Seq2SeqConfig(**config), tokenizer, module, symbols, assets["parser.txt"].strip(), cased)
