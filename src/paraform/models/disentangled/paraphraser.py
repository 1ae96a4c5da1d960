"""ParaBART on text: sentences to vectors that keep meaning, and to paraphrases of a given form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, Unpack, cast, final

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import nn

from paraform.decoding import Decoding, require_decoding, search_name
from paraform.encoders import Encoder, ModelFolder, locate
from paraform.encoders.causal import BothWays
from paraform.encoders.dense import Dense
from paraform.encoders.encoder import COUNTED
from paraform.encoders.export import save_sentence_transformer
from paraform.encoders.folder import USUAL_LIMIT
from paraform.encoders.loading import encoder_of
from paraform.encoders.transformers_modules import module_of_config, sizes_of, start_of
from paraform.fields import require_restorable
from paraform.json_text import parse_json
from paraform.models.adapters import require_base, require_config
from paraform.models.base import AbstractParaphraser, require_words
from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.erasure import least_squares_erasure
from paraform.models.disentangled.network import Adversary, DisentangledNetwork
from paraform.models.disentangled.pairs import Trees
from paraform.models.disentangled.start import semantic_module
from paraform.models.disentangled.step_decoder import Memory, StepDecoder
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.writing import Ends, as_cased, numbers_batch, written_rows
from paraform.records import InputError, require_text
from paraform.syntax.parsing import load_parser, parsed
from paraform.syntax.trees import Tree, delexicalized
from paraform.weights import PathLike
from paraform.words import tell_cut

Array: TypeAlias = npt.NDArray[np.float32]
BATCH = 128  # sentences that are decoded together, if the caller does not say
BASE = "base.json"  # digests of an encoder that stands beside a checkpoint


@final
class DisentangledParaphraser(AbstractParaphraser):
    """Sentence vectors without form, and sentences said in the form of a tree (ParaBART, Huang et al. 2021).

    Exemplars are parsed by the offline parser. Nothing is copied, so that repetition is never constrained.

    Args:
        config: sizes and choices.
        tokenizer: the semantic encoder's.
        encoder_config: its config, JSON as transformers writes it.
        symbols: what trees are written with.
        pieces: numbers of the pieces that can be written, ascending; (): all.
        cased: word → its usual form inside a sentence, where that is not the word itself.
        module: the semantic encoder itself; None: made from its config, with weights yet to be loaded.
        digests: with adapters, those of the encoder's weights and tokenizer.
    """

    system: ClassVar[str] = "disentangled"
    config_class: ClassVar[type] = DisentangledConfig
    kind: ClassVar[str] = "a disentangled model"
    vector_names: ClassVar[tuple[str, ...]] = ("semantic",)
    asks: ClassVar[str] = "like=[exemplar] (--like), or a template (--template)"
    config: DisentangledConfig

    def __init__(
        self,
        config: DisentangledConfig,
        tokenizer: Tokenizer,
        encoder_config: str,
        symbols: TreeSymbols,
        pieces: Sequence[int] = (),
        cased: dict[str, str] | None = None,
        module: nn.Module | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.tokenizer = tokenizer
        self.encoder_config = encoder_config
        self.symbols = symbols
        self.pieces = tuple(pieces)
        self.cased = cased or {}
        self.digests = dict(digests or {})
        module = module_of_config(encoder_config) if module is None else module
        if config.both_ways:
            module = BothWays(module)
        self.limit = sizes_of(module.config).tokens or USUAL_LIMIT
        written = torch.tensor(self.pieces or range(tokenizer.get_vocab_size()))
        self.network = DisentangledNetwork(config, module, written, len(symbols))
        width = sizes_of(module.config).width
        norm, bag = config.adversary_norm, symbols.bag_size(config.bag_of_tags)
        self.adversary = Adversary(width, bag, norm=norm) if config.adversary_weight else None
        self.erasure: nn.Linear | None = None
        if config.erased != "nothing":
            self.erasure = nn.Linear(width, width).requires_grad_(False)
            nn.init.eye_(self.erasure.weight)
            nn.init.zeros_(self.erasure.bias)
        self._encoder: Encoder | None = None

    def train(self, mode: bool = True) -> Self:
        """As every module's; the weights may change from here on."""
        self._encoder = None
        return super().train(mode)

    @property
    def encoder(self) -> Encoder:
        """The semantic encoder alone, as fast as any."""
        if self.training:
            self.eval()
        if self._encoder is None or self._encoder.device != self.device:
            self._encoder = encoder_of(
                self._merged(), self.tokenizer, name=self.system, max_tokens=self.limit, dense=self._dense
            )
        return self._encoder

    def _merged(self) -> nn.Module:
        """The semantic encoder, with the adapters added to its weights if it has some."""
        adapters, module = self.network.adapters, self.network.semantic
        return module if adapters is None else adapters.merged(module)

    @property
    def _dense(self) -> Dense | None:
        return None if self.erasure is None else Dense(self.erasure.weight.detach(), self.erasure.bias.detach())

    def erase(self, texts: Sequence[str], concepts_NC: torch.Tensor) -> None:
        """Fit the erasure to the vectors that the encoder has of texts now, and what is to be erased of each."""
        if self.erasure is None:
            raise ValueError("erased 'nothing'; expected a model that erases")
        plain = replace(self.encoder, dense=None, normalize=False)
        weight_DD, bias_D = least_squares_erasure(torch.from_numpy(self._pooled(plain, texts)), concepts_NC)
        self.erasure.weight.data.copy_(weight_DD)
        self.erasure.bias.data.copy_(bias_D)
        self._encoder = None  # it holds the erasure as it was

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> Array:
        """Semantic vectors ū, as every model that embeds is asked: float32 [N, D], of length 1."""
        return self._pooled(self.encoder, texts, batch_size=batch_size, progress=progress)

    @property
    def max_tokens(self) -> int:
        """As `Encoder.max_tokens`."""
        return self.encoder.max_tokens

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """As `Encoder.lengths`."""
        return self.encoder.lengths(texts)

    def unread(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """As `Encoder.unread`."""
        return self.encoder.unread(texts)

    def _pooled(self, encoder: Encoder, texts: Sequence[str], *, batch_size: int = 0, progress: bool = False) -> Array:
        """The encoder's vectors of texts; the states of special tokens count as the config says."""
        if self.config.pool_special:
            return encoder.embed(texts, batch_size=batch_size, progress=progress)
        return encoder.mean_of_words(texts, batch_size=batch_size, progress=progress)

    def export(self, folder: PathLike, *, onnx: bool = False, terms: str = "") -> Path:
        """Write the semantic encoder alone, as `capabilities.Exports` has it."""
        if start_of(cast(Any, self.network.semantic).config) is not None:
            raise InputError(COUNTED)
        if not self.config.pool_special:
            raise InputError("pool_special=False: sentence-transformers' mean counts the special tokens; expected True")
        names = ("layers", "adversary_weight", "generation_weight", "contrast_weight", "syntax", "erased")
        fields = ", ".join(f"{name} {getattr(self.config, name)}" for name in names)
        card = (
            f"# {Path(folder).name}\n\nThe semantic encoder of a ParaBART (Huang et al. 2021), trained by paraform from"
            f" `{self.config.encoder}` ({fields}). Its vectors are for use under the terms of that encoder and of the"
            " data that it was trained on.\n"
        )
        if require_text(terms, "terms"):
            card += f"\n**Terms of the training data.** {terms}\n"
        return save_sentence_transformer(
            self._merged(),
            self.tokenizer,
            folder,
            max_tokens=self.limit,
            card=card,
            dense=self._dense,
            onnx=onnx,
        )

    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        # A label that only the parser has is read as one never seen; who writes a template is told.
        trees = parsed(exemplars, lambda: load_parser(device=str(self.device)), "exemplar")
        return self._decode(sources, trees, how)

    def decode_trees(self, sources: Sequence[str], trees: Sequence[Tree], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of tree i, whole or a template; words in it are not read.

        Raises: InputError for a model without a decoder, an empty source, or a label that no tree of training had.
        """
        for tree in set(map(delexicalized, trees)):
            self.symbols.require_known(tree)
        return self._decode(sources, trees, how)

    @torch.inference_mode()
    def _decode(self, sources: Sequence[str], trees: Sequence[Tree], how: Decoding) -> list[str]:
        if not self.config.generation_weight or not self.config.syntax:
            raise InputError(
                "this model was trained without trees to write by; expected generation_weight and syntax, as in"
                " --preset compact-paper"
            )
        if len(sources) != len(trees):
            raise InputError(f"{len(sources)} sources, {len(trees)} trees; expected a tree a source")
        require_decoding(how, copies=self.copies)
        self.eval()
        require_words([source.split() for source in sources], "source")
        if not sources:
            return []
        most = self.config.max_symbols
        rows = [self.symbols.encode(tree)[0] for tree in trees]
        tell_cut(sum(len(row) > most for row in rows), len(rows), f"{most} symbols of a form's tree", self.kind)
        rows = [row[:most] for row in rows]
        vectors_ND = self._vectors(sources)
        decoder = StepDecoder(self.network, self._never())

        def begin(part: Sequence[int]) -> Memory:
            form = numbers_batch([rows[row] for row in part], self.device)
            trees = Trees(form.words_BT, form.lengths_B.to(self.device), torch.empty(0))
            return decoder.begin(vectors_ND[part], trees)

        how = {"batch_size": BATCH, **how}
        lengths = [len(row) for row in rows], [0] * len(rows)
        ends = Ends(*self._ends(), self.config.max_tokens + 1, room=0)
        written = written_rows(begin, decoder.step, lengths, how, ends, self.device)
        return [self._text(columns, source) for columns, source in zip(written, sources, strict=True)]

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {"decode": search_name(how), "decoder": "float32", "parser": "syntax"}

    def _vectors(self, sources: Sequence[str]) -> torch.Tensor:
        """ū of each source as it was in training: not of length 1, and cut as there."""
        numbers = piece_rows(self.tokenizer, sources, self.config.max_tokens, tell=self.kind)
        order, parts = np.argsort([len(row) for row in numbers], kind="stable"), []
        for at in range(0, len(order), BATCH):
            some = numbers_batch([numbers[row] for row in order[at : at + BATCH]], self.device)
            parts.append(self.network.encode(some.words_BT, some.lengths_B.to(self.device)))
        return torch.cat(parts)[torch.from_numpy(np.argsort(order, kind="stable"))]

    def _ends(self) -> tuple[int, int]:
        """Columns of the piece that a sentence begins with, and of that which it ends with."""
        first, last = torch.tensor(self.tokenizer.encode("").ids)[[0, -1]].to(self.device)
        return int(self.network.columns(first)), int(self.network.columns(last))

    def _never(self) -> torch.Tensor:
        """Columns that are not written: special pieces but the end's, and what stands for all that cannot be."""
        _, stop = self._ends()
        special = [number for number, token in self.tokenizer.get_added_tokens_decoder().items() if token.special]
        columns = self.network.columns(torch.tensor([0, *special], device=self.device))
        return columns[columns != stop]

    def _text(self, columns: Sequence[int], source: str) -> str:
        text = self.tokenizer.decode(self.network.written_V[torch.tensor(columns, dtype=torch.long)].tolist())
        return as_cased(text.strip(), self.cased, source)

    def assets(self) -> dict[str, str]:
        """The encoder's config and tokenizer, the symbols of trees, and the pieces and cases of words."""
        base = {BASE: json.dumps(self.digests, indent=1) + "\n"} if self.config.adapters else {}
        return {
            **base,
            "encoder.json": self.encoder_config,
            "tokenizer.json": self.tokenizer.to_str(),
            "symbols.tsv": self.symbols.write(),
            "words.json": json.dumps({"pieces": self.pieces, "cased": self.cased}, ensure_ascii=False) + "\n",
        }

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> DisentangledParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if an asset is missing or damaged, or a field is unknown; with adapters, if the encoder is
        not to be had, or is another one.
        """
        needed = ["encoder.json", "tokenizer.json", "symbols.tsv", "words.json"]
        require_restorable(DisentangledConfig, config, assets, [*needed, BASE] if config.get("adapters") else needed)
        try:
            tokenizer = Tokenizer.from_str(assets["tokenizer.json"])
            words = parse_json(assets["words.json"], "words.json")
            pieces, cased = [int(number) for number in words["pieces"]], dict(words["cased"])
        except Exception as error:  # the tokenizers library raises bare Exceptions
            raise InputError(f"disentangled checkpoint: {' '.join(str(error).split())[:200]}") from error
        if sorted(set(pieces)) != pieces or not set(pieces) <= set(tokenizer.get_vocab().values()):
            raise InputError("disentangled checkpoint: pieces to write: expected numbers of the tokenizer's, ascending")
        made = DisentangledConfig(**config)
        symbols = TreeSymbols.read(assets["symbols.tsv"], brackets=made.brackets)
        module, digests = None, None
        if made.adapters:
            digests = parse_json(assets[BASE], BASE)
            if not isinstance(digests, dict):
                raise InputError(f"{BASE}: {str(digests)[:40]!r}; expected the encoder's digests")
            if not torch.empty(0).is_meta:  # else shapes are wanted alone
                require_base(made.encoder, ModelFolder(locate(made.encoder)), digests)
                module = semantic_module(made)
                require_config(cast(Any, module).config.to_json_string(), assets["encoder.json"], made.encoder)
        return cls(made, tokenizer, assets["encoder.json"], symbols, pieces, cased, module, digests)


def piece_rows(tokenizer: Tokenizer, texts: Sequence[str], most: int, *, tell: str = "") -> list[list[int]]:
    """Numbers of each text's pieces, the special two around at most so many others.

    Args:
        tell: what reads them; a warning says how many texts are cut. "": none, as in training.
    """
    tokenizer.no_padding()
    tokenizer.enable_truncation(most + 2)
    encodings = tokenizer.encode_batch_fast(list(texts))
    if tell:
        tell_cut(sum(bool(one.overflowing) for one in encodings), len(encodings), f"{most} tokens", tell)
    return [encoding.ids for encoding in encodings]
