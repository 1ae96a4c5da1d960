"""SCPN on text: sentences in, paraphrases in the form of a template, a parse or an exemplar out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Unpack, final

import torch

from paraform.batching import BOS, PAD, UNK, Vocabulary
from paraform.decoding import Decoding, require_decoding, search_name
from paraform.fields import require_restorable
from paraform.models.by_tree import AbstractTreeParaphraser, as_text, require_forms, source_units
from paraform.models.copying import unconstrained
from paraform.models.disentangled.symbols import PAD as NO_SYMBOL
from paraform.models.disentangled.symbols import UNKNOWN, TreeSymbols
from paraform.models.writing import Ends, numbers_batch, written_rows
from paraform.records import InputError
from paraform.syntax.trees import MAX_DEPTH, Tree, delexicalized
from paraform.words import tell_cut
from paraform_papers.rivals.scpn.config import ScpnConfig
from paraform_papers.rivals.scpn.network import Guided, Memory, ScpnNetwork
from paraform_papers.rivals.scpn.step_decoder import StepDecoder
from paraform_papers.rivals.scpn.table import MOST_SYMBOLS, TEMPLATE_LEVELS


class _Asked(NamedTuple):
    """What one of the networks writes from: numbers of the source's units, of its form, and of its own parse."""

    source: Sequence[int]
    form: Sequence[int]
    own: Sequence[int]


@final
class ScpnParaphraser(AbstractTreeParaphraser):
    """Says a sentence in the form of a template or of a whole parse (SCPN, Iyyer et al. 2018).

    An exemplar gives what `exemplar_form` says: its "template", of which the generator makes a parse for the source
    (what CRL-EGPG compares with, as far as we know), or its whole "parse" (as Chen et al. 2019 compare).

    Args:
        config: sizes and choices.
        vocabulary: units of the paraphraser.
        symbols: what parses are written with.
        templates: forms that training sentences mostly had, the commonest first, for who names none.
        digest: of the parser in training (`parser_digest`); "": it is not checked.
    """

    system: ClassVar[str] = "scpn"
    config_class: ClassVar[type] = ScpnConfig
    kind: ClassVar[str] = "an SCPN model"
    copies: ClassVar[bool] = True
    asks: ClassVar[str] = "like=[exemplar] (--like), or a template (--template)"
    config: ScpnConfig
    exemplar_form: Literal["template", "parse"] = "template"

    def __init__(
        self,
        config: ScpnConfig,
        vocabulary: Vocabulary,
        symbols: TreeSymbols,
        templates: Sequence[Tree] = (),
        digest: str = "",
    ) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.symbols = symbols
        self._templates = tuple(templates)
        self.digest = digest
        self.network = ScpnNetwork(config, len(vocabulary), len(symbols))

    @property
    def templates(self) -> tuple[Tree, ...]:
        """Forms that training sentences mostly had, the commonest first."""
        return self._templates

    def _in_trees(self, sources: list[str], trees: list[Tree], how: Decoding) -> list[str]:
        if self.exemplar_form not in ("template", "parse"):
            raise InputError(f"exemplar_form {self.exemplar_form!r}; expected template or parse")
        by_template = self.exemplar_form == "template"
        forms = self._symbols(trees, cut=by_template)
        return self._decode(sources, forms, [not by_template] * len(forms), None, how)

    def decode_trees(
        self,
        sources: Sequence[str],
        trees: Sequence[Tree],
        *,
        source_trees: Sequence[Tree] | None = None,
        strict: bool = True,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of tree i; words in it are not read.

        A tree with a leaf that is a constituent, such as (S (NP) (VP)), is a template; one whose leaves are all tags is
        a whole parse, which no generator completes. A template is read down to two levels below ROOT.

        Args:
            source_trees: the sources' own parses; None: they are parsed here.
            strict: refuse a label that no parse of training had; else it is read as one never seen.
            how: as `decode` has them; of the parse that is generated, too, whose repetition is free.
        Raises: InputError for an empty source, a label that no parse of training had, or other numbers of both.
        """
        sources, forms, whole = self._asked(sources, trees, strict=strict)
        return self._decode(sources, forms, whole, source_trees, how)

    def parses(
        self,
        sources: Sequence[str],
        trees: Sequence[Tree],
        *,
        source_trees: Sequence[Tree] | None = None,
        **how: Unpack[Decoding],
    ) -> list[Tree]:
        """The parse that source i is said in: the one that is generated from template i, or tree i if that is whole.

        The arguments and errors are those of `decode_trees`.
        """
        sources, forms, whole = self._asked(sources, trees, strict=True)
        require_decoding(how, copies=False)
        own = self._own(sources, source_trees)
        return [self.symbols.decode(row) for row in self._completed(own, forms, whole, how)]

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {
            "decode": search_name(how),
            "decoder": "float32",
            "constrain_repetition": self._constrains(how),
            "form": self.exemplar_form,
            "parser": self.config.parser,
        }

    def _asked(
        self, sources: Sequence[str], trees: Sequence[Tree], *, strict: bool
    ) -> tuple[list[str], list[list[int]], list[bool]]:
        """The sources, the symbols of their forms, and which of these are whole parses."""
        texts, given = require_forms(sources, trees, self.symbols, strict=strict)
        whole = {
            tree: not any(leaf.label in self.symbols.constituents for leaf in tree.leaves())
            for tree in set(map(delexicalized, given))
        }
        kinds = [whole[delexicalized(tree)] for tree in given]
        cut, uncut = self._symbols(given, cut=True), self._symbols(given, cut=False)
        lost = sum(len(part) < len(all_) for part, all_, kind in zip(cut, uncut, kinds, strict=True) if not kind)
        tell_cut(lost, len(given), f"{TEMPLATE_LEVELS} levels of a template", self.kind)
        forms = [all_ if kind else part for part, all_, kind in zip(cut, uncut, kinds, strict=True)]
        return texts, forms, kinds

    def _symbols(self, trees: Sequence[Tree], *, cut: bool) -> list[list[int]]:
        """Symbols of each tree, or of its template, at most so many as are read."""
        levels = TEMPLATE_LEVELS if cut else MAX_DEPTH
        return [
            [number for number, level in zip(*self.symbols.encode(tree), strict=True) if level <= levels][:MOST_SYMBOLS]
            for tree in trees
        ]

    def _own(self, sources: Sequence[str], trees: Sequence[Tree] | None) -> list[list[int]]:
        """Symbols of the sources' own parses."""
        if trees is None:
            trees = self.trees_of(sources, "source")
        if len(trees) != len(sources):
            raise InputError(f"{len(sources)} sources, {len(trees)} trees of theirs; expected a tree a source")
        return self._symbols(trees, cut=False)

    def _completed(
        self, own: Sequence[list[int]], forms: Sequence[list[int]], whole: Sequence[bool], how: Decoding
    ) -> list[list[int]]:
        """The forms, each template completed to a parse for its source."""
        asked = [_Asked(source, form, ()) for source, form, known in zip(own, forms, whole, strict=True) if not known]
        different = {(tuple(one.source), tuple(one.form)): one for one in asked}
        network, never = self.network.generator, (NO_SYMBOL, UNKNOWN)
        rows = self._write(network, list(different.values()), how, never, MOST_SYMBOLS, constrained=False)
        written = dict(zip(different, rows, strict=True))
        return [
            form if known else written[tuple(source), tuple(form)]
            for source, form, known in zip(own, forms, whole, strict=True)
        ]

    def _decode(
        self,
        sources: Sequence[str],
        forms: Sequence[list[int]],
        whole: Sequence[bool],
        source_trees: Sequence[Tree] | None,
        how: Decoding,
    ) -> list[str]:
        require_decoding(how)
        units = source_units(sources, self.config, self.kind)
        own = self._own(sources, source_trees)
        parses = self._completed(own, forms, whole, how)
        asked = [
            # What comes of a template may be nothing; its first symbol is then the template's.
            _Asked(self.vocabulary.encode(row, {}), parse or form[:1], source)
            for row, parse, form, source in zip(units, parses, forms, own, strict=True)
        ]
        never, longest = (PAD, UNK, BOS), self.config.most_written
        rows = self._write(self.network.paraphraser, asked, how, never, longest, constrained=self._constrains(how))
        return [
            as_text(columns, own, source, self.vocabulary, self.config)
            for columns, own, source in zip(rows, units, sources, strict=True)
        ]

    @torch.inference_mode()
    def _write(
        self,
        network: Guided,
        asked: Sequence[_Asked],
        how: Decoding,
        never: Sequence[int],
        longest: int,
        *,
        constrained: bool,
    ) -> list[list[int]]:
        """What a network writes of each, as columns of its scores (`copying.source_columns`), without its end."""
        self.eval()
        if not asked:
            return []
        decoder = StepDecoder(network, max(len(one.source) for one in asked), never)

        def begin(rows: Sequence[int]) -> Memory:
            source, form = (numbers_batch([asked[row][side] for row in rows], self.device) for side in (0, 1))
            reads = network.sizes.reads_source_form
            own = numbers_batch([asked[row].own for row in rows], self.device) if reads else None
            return decoder.begin(source, form, own)

        lengths = [len(one.form) for one in asked], [len(one.source) for one in asked]
        ends = Ends(network.sizes.start, network.sizes.stop, longest)
        free = unconstrained(len(self.vocabulary)) if constrained else None
        return written_rows(begin, decoder.step, lengths, how, ends, self.device, free=free)

    def assets(self) -> dict[str, str]:
        """The vocabulary, the symbols of parses, the templates, and what tells the parser from others."""
        return {
            "vocabulary.json": self.vocabulary.to_json(),
            "symbols.tsv": self.symbols.write(),
            "templates.txt": "".join(f"{tree}\n" for tree in self.templates),
            "parser.txt": f"{self.digest}\n",
        }

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> ScpnParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if an asset is missing or damaged, or a field is unknown.
        """
        needed = ("vocabulary.json", "symbols.tsv", "templates.txt", "parser.txt")
        require_restorable(ScpnConfig, config, assets, needed)
        made = ScpnConfig(**config)
        symbols = TreeSymbols.read(assets["symbols.tsv"], brackets=made.brackets)
        templates = [Tree.parse(line) for line in assets["templates.txt"].splitlines()]
        vocabulary = Vocabulary.from_json(assets["vocabulary.json"])
        return cls(made, vocabulary, symbols, templates, assets["parser.txt"].strip())
