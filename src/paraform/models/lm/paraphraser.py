"""A language model on text: sentences in, other words for them out, in a form where one is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack, cast, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from paraform import encoders
from paraform.decoding import Decoding, require_decoding, search_name
from paraform.encoders import Encoder
from paraform.encoders.causal import causal_of_json, described, load_causal
from paraform.encoders.folder import ModelFolder
from paraform.encoders.locating import locate
from paraform.encoders.torch_settings import best_dtype
from paraform.fields import require_restorable
from paraform.json_text import parse_json
from paraform.models.adapters import Adapters, digests_of, maps_of, require_base
from paraform.models.base import AbstractParaphraser, require_words
from paraform.models.lm.batches import StyleTable
from paraform.models.lm.config import LMConfig
from paraform.models.lm.decoding import ROWS, Softened, branched, log_probs, written
from paraform.models.lm.network import CausalNetwork
from paraform.models.lm.prompts import Fitted, Marks, Prompts
from paraform.models.lm.style import Soft, StyleNetwork, style_states
from paraform.records import InputError, require_count, require_texts
from paraform.syntax import load_parser, load_tagger
from paraform.syntax.parsing import parsed
from paraform.syntax.trees import below_one_root, linearized, template
from paraform.words import tell_cut, tokenize

BASE = "base.json"
MOST_ANSWERS = 1_000  # to a source, of which most are alike


@final
class LMParaphraser(AbstractParaphraser):
    """Says a sentence in other words, and in the form of an exemplar if it was trained with a guide.

    A checkpoint holds the adapters alone; the base is looked for where it was, and must have the same weights.

    Args:
        config: sizes and choices.
        base: JSON of the base's config.
        digests: SHA-256 of the base's weights, and of its tokenizer.
    """

    system: ClassVar[str] = "lm"
    config_class: ClassVar[type] = LMConfig
    kind: ClassVar[str] = "a language model"
    asks: ClassVar[str] = ""
    config: LMConfig

    def __init__(self, config: LMConfig, base: str, digests: Mapping[str, str]) -> None:
        super().__init__()
        self.config, self.base, self.digests = config, base, dict(digests)
        self._network: list[CausalNetwork] = []  # in a list: its weights are not this model's own
        with torch.device("meta"):
            shapes = causal_of_json(base, BASE)
        self.adapters = Adapters(maps_of(shapes, config.layers), config.rank) if config.rank else None
        self.whole = None if config.rank else causal_of_json(base, BASE)
        self.style: StyleNetwork | None = None
        if config.guide == "style":
            width: int = cast(Any, shapes).config.hidden_size
            inputs = encoders.dimension_of(config.style_encoder)
            self.style = StyleNetwork(inputs, config.style_width, config.style_pieces, width)

    @classmethod
    def of(cls, config: LMConfig) -> Self:
        """A model before its first step. Raises: InputError if its base is not to be had."""
        folder = ModelFolder(locate(config.base))
        module = load_causal(folder, torch.float32)
        digests = digests_of(folder)
        if config.guide == "style":
            digests["style encoder"] = encoders.load(config.style_encoder).digest
        made = cls(config, described(module), digests)
        if made.whole is not None:
            made.whole.load_state_dict(module.state_dict())
        return made

    @cached_property
    def prompts(self) -> Prompts:
        """What makes prompts of texts, by the base's tokenizer. Raises: InputError as `network`."""
        about = parse_json(self.base, BASE)
        marks = Marks.of(about.get("bos_token_id"), about.get("eos_token_id"))
        return Prompts(self._folder.tokenizer(), marks)

    @property
    def network(self) -> CausalNetwork:
        """The base with the adapters added to its weights, loaded when it is first asked for.

        Raises: InputError if the base is not to be had, or has other weights than in training.
        """
        if self.whole is not None:
            return CausalNetwork(self.whole, self.style)
        if not self._network:
            module = self._loaded(best_dtype(self.device))
            assert self.adapters is not None
            self.adapters.merge(module)
            self._network.append(CausalNetwork(module, self.style))
        return self._network[0].to(self.device)

    def trainable(self) -> CausalNetwork:
        """The base with the adapters beside its weights, in float32: what is trained."""
        if self.whole is not None:
            return CausalNetwork(self.whole, self.style)
        module = self._loaded(torch.float32)
        assert self.adapters is not None
        self.adapters.inject(module)
        self._network[:] = [CausalNetwork(module, self.style)]
        return self._network[0]

    def _loaded(self, dtype: torch.dtype) -> nn.Module:
        return load_causal(self._folder, dtype).to(self.device)

    @cached_property
    def _folder(self) -> ModelFolder:
        """The base's, read and compared once, which has the weights and the tokenizer of training."""
        folder = ModelFolder(locate(self.config.base))
        require_base(self.config.base, folder, self.digests)
        return folder

    def exemplars(
        self,
        sources: Sequence[str],
        like: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        seed: int = 0,
    ) -> list[list[str]]:
        """As every paraphraser's; without `like` "", which stands for no guide."""
        if like is None:
            return [[""] * num for _ in require_texts(sources)]
        if self.config.guide == "none":
            raise InputError(f"{self.kind} that was trained without a guide; leave exemplars out")
        return super().exemplars(sources, like, each=each, num=num, seed=seed)

    def guides(self, exemplars: Sequence[str]) -> list[str] | list[int] | None:
        """What the prompt says of each exemplar, or how many soft pieces it has, "" or 0 of none.

        None, of a model without a guide.
        """
        if self.config.guide == "none":
            return None
        if self.config.guide == "style":
            return [self.config.style_pieces if text else 0 for text in exemplars]
        there = [text for text in dict.fromkeys(exemplars) if text]
        if self.config.guide == "text":
            said = {text: text for text in there}
        elif self.config.guide == "tags":
            tags = load_tagger(device=str(self.device))([tokenize(text) for text in there])
            said = {text: " ".join(row) for text, row in zip(there, tags, strict=True)}
        else:
            trees = parsed(there, lambda: load_parser(device=str(self.device)), "exemplar")
            cut = [template(below_one_root(tree), self.config.height) for tree in trees]
            said = {text: linearized(tree) for text, tree in zip(there, cut, strict=True)}
        return [said.get(text, "") for text in exemplars]

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of exemplar i, or, where that is "", in other words; all else as every paraphraser's."""
        texts, likes = require_texts(sources), require_texts(exemplars)
        if len(texts) != len(likes):
            raise InputError(f"{len(texts)} sources, {len(likes)} exemplars; expected one each")
        require_decoding(how, copies=self.copies)
        return self._like(texts, likes, how)

    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        require_words([source.split() for source in sources], "source")
        read = self._read(sources, self.guides(exemplars))
        numbers, soft = [one.numbers for one in read], self._softened(exemplars, read)
        keys, longest = list(zip(sources, exemplars, strict=True)), self.config.max_written
        found = written(self.network, self.prompts, numbers, keys, how, longest, soft=soft)
        return [self.prompts.text(row) for row in found]

    @cached_property
    def style_encoder(self) -> Encoder:
        """The frozen encoder that style vectors are made by.

        Raises: InputError unless it has the weights of training.
        """
        encoder = encoders.load(self.config.style_encoder, device=self.device)
        if (wanted := self.digests.get("style encoder", encoder.digest)) != encoder.digest:
            raise InputError(
                f"{self.config.style_encoder}: weights {encoder.digest[:12]}; this model was trained with {wanted[:12]}"
            )
        return encoder

    def _softened(self, exemplars: Sequence[str], read: Sequence[Fitted]) -> Softened:
        """What makes the soft pieces of some rows."""
        if (style := self.style) is None:
            return lambda rows: None
        table = StyleTable(style_states(self.style_encoder, exemplars), None)

        def soft(rows: Sequence[int]) -> Soft | None:
            batch = table.batch(np.array(rows, np.int64))
            if batch is None:
                return None
            found = batch.to(self.device)
            ends = torch.tensor([read[rows[at]].source_end for at in batch.rows_R.tolist()], device=self.device)
            return Soft(style.soft(style(*found.exemplars)), found.rows_R, ends + 1)

        return soft

    def _read(self, sources: Sequence[str], guides: Sequence[str] | Sequence[int] | None) -> list[Fitted]:
        """Their prompts; a warning counts those that are cut."""
        read = self.prompts.prompts(sources, guides, self.config)
        tell_cut(sum(one.cut for one in read), len(read), f"{self.config.max_pieces} pieces of a prompt", self.kind)
        return read

    def say(
        self, sources: Sequence[str], *, num: int = 8, onto: Sequence[str] | None = None, **how: Unpack[Decoding]
    ) -> list[list[str]]:
        """Each source in other words, at most `num` times, the likeliest first; answers that are equal stand once.

        Args:
            num: 1 to `MOST_ANSWERS`.
            onto: an answer to each source, which those that are given change further, behind where it leaves its
                source; None: the source itself.
            how: as `decoding.Decoding` has them. With a temperature answers are drawn; without, each leaves the text
                that it follows at one of the pieces where that is likeliest (`decoding.branched`).
        """
        texts = require_texts(sources)
        require_count(num, "num", 1, MOST_ANSWERS)
        require_words([source.split() for source in texts], "source")
        require_decoding(how, copies=self.copies)
        if how.get("beam", 1) > 1:
            raise InputError("say gives several answers by itself; leave beam out, or ask decode")
        read = [one.numbers for one in self._read(texts, None)]
        if not how.get("temperature"):
            rows = self._branched(texts, texts if onto is None else require_texts(onto), read, num, how)
            return [list(dict.fromkeys(map(self.prompts.text, row))) for row in rows]
        if onto is not None:
            raise InputError("onto with a temperature; what is drawn follows no answer, leave one of them out")
        every = [at for at in range(len(texts)) for _ in range(num)]
        drawn = written(
            self.network,
            self.prompts,
            [read[at] for at in every],
            [(texts[at], "") for at in every],
            how,
            self.config.max_written,
            [number for _ in texts for number in range(num)],
        )
        said = [self.prompts.text(row) for row in drawn]
        return [list(dict.fromkeys(said[at * num : (at + 1) * num])) for at in range(len(texts))]

    def _branched(
        self, sources: list[str], onto: list[str], read: list[list[int]], num: int, how: Decoding
    ) -> list[list[list[int]]]:
        if len(onto) != len(sources):
            raise InputError(f"{len(sources)} sources, onto {len(onto)}; expected one each")
        own, followed = ([one.numbers for one in self.prompts.targets(some, self.config)] for some in (sources, onto))
        first = [_alike(*pair) if pair[0] != pair[1] else 0 for pair in zip(own, followed, strict=True)]
        return branched(self.network, self.prompts, read, followed, first, num, how, self.config.max_written)

    def likelihood(
        self, sources: Sequence[str], targets: Sequence[str], *, batch_size: int = ROWS // 2
    ) -> list[NDArray[np.float32]]:
        """ln p(target i | source i), of each character the share of its piece, nats; behind the last one its end's.

        Of a target that is longer than the model writes (`config.max_written`), 0 where it is not read.
        """
        texts = require_texts(targets)
        read = [one.numbers for one in self.prompts.prompts(require_texts(sources), None, self.config)]
        pieces = [one.numbers for one in self.prompts.targets(texts, self.config)]
        out = [np.zeros(len(text) + 1, np.float32) for text in texts]
        found = log_probs(self.network, self.prompts, read, pieces, batch_size)
        for shares, spans, row in zip(out, self.prompts.spans(texts, self.config), found, strict=True):
            for (start, end), nats in zip(spans, row, strict=True):
                shares[start:end] += nats / max(1, end - start)
        return out

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {"decode": search_name(how), "guide": self.config.guide, "base": self.digests["weights"][:12]}

    def assets(self) -> dict[str, str]:
        """The base's config, and which weights and tokenizer it has."""
        about = {"config": json.loads(self.base), "digests": self.digests}
        return {BASE: json.dumps(about, indent=2, sort_keys=True) + "\n"}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> LMParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if the asset is missing or damaged, or a field is unknown.
        """
        require_restorable(LMConfig, config, assets, (BASE,))
        about = parse_json(assets[BASE], BASE)
        found: dict[str, Any] = about if isinstance(about, dict) else {}
        base, digests = found.get("config"), found.get("digests")
        if not isinstance(base, dict) or not isinstance(digests, dict):
            raise InputError(f"{BASE}: {str(about)[:40]!r}; expected the base's config and digests")
        return cls(LMConfig(**config), json.dumps(base), digests)


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many pieces both have before and where they first differ."""
    return 1 + next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one) - 1)
