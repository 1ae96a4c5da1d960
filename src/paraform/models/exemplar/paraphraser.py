"""CRL-EGPG on text: sentences in, paraphrases, content vectors and style vectors out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Unpack, final, overload

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform import encoders
from paraform.batching import BOS, EOS, UNK, Vocabulary, prepare_all
from paraform.decoding import Decoding, search_name
from paraform.encoders import Encoder
from paraform.encoders.encoder_facts import FACTS, EncoderFacts
from paraform.models.base import AbstractParaphraser, require_words
from paraform.models.copying import unconstrained, units_at
from paraform.models.exemplar.batches import StyleInput, TripleBatch
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.inputs import content_states, exemplar_texts, style_inputs, word_numbers
from paraform.models.exemplar.network import ExemplarNetwork, Memory
from paraform.models.exemplar.step_decoder import StepDecoder
from paraform.models.writing import Ends, as_written, written_rows
from paraform.records import InputError, Texts, listed, require_count, require_texts
from paraform.words import drop_stray_brackets


@final
class ExemplarParaphraser(AbstractParaphraser):
    """Says a source sentence in the form of an exemplar (CRL-EGPG, Yang et al. 2021).

    Args:
        config: sizes and choices.
        vocabulary: words of the decoder and the content encoder.
        bank: exemplars to draw from where the caller names none.
        style_features: width of one state of the style encoder; None: ask the encoder.
        facts: of the style encoder, where it is frozen and reads sources too; its weights are not the model's.
    """

    system: ClassVar[str] = "exemplar"
    config_class: ClassVar[type] = ExemplarConfig
    kind: ClassVar[str] = "an exemplar model"
    copies: ClassVar[bool] = True
    vector_names: ClassVar[tuple[str, ...]] = ("content", "style")
    asks: ClassVar[str] = ""  # exemplars are drawn from the bank
    config: ExemplarConfig

    def __init__(
        self,
        config: ExemplarConfig,
        vocabulary: Vocabulary,
        bank: Sequence[str] = (),
        style_features: int | None = None,
        facts: EncoderFacts | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.bank = tuple(bank)
        self.facts = facts
        style_features = style_features or (facts.width if facts else None)
        module = None
        if config.style_trainable:
            module = encoders.load_module(config.style_encoder, layer=config.style_layer)
            style_features = encoders.width_of(module)
        self.style_features = style_features or encoders.dimension_of(config.style_encoder)
        self.network = ExemplarNetwork(config, len(vocabulary), self.style_features, module)

    @property
    def decoder_dtype(self) -> torch.dtype:
        """What decoding computes in, all but the output layer: on a CPU what it multiplies fastest, else float32."""
        # A step on a GPU waits for its kernels to start more than for what they compute.
        return encoders.best_dtype(self.device) if self.device.type == "cpu" else torch.float32

    @cached_property
    def encoder(self) -> Encoder:
        """The style encoder's tokenizer, and its states if it is frozen.

        Raises: InputError if it is not to be had, or is another one than in training.
        """
        found = encoders.load(self.config.style_encoder, device=self.device)
        if self.facts is not None:
            self.facts.require(EncoderFacts.of(found), self.config.style_encoder, trained="this model")
        return found

    @overload
    def paraphrase(
        self,
        sources: str,
        like: str | Sequence[str] | None = None,
        *,
        each: Literal[False] = False,
        num: Literal[1] = 1,
        **how: Unpack[Decoding],
    ) -> str: ...
    @overload
    def paraphrase(
        self,
        sources: Texts,
        like: str | Sequence[str] | None = None,
        *,
        each: Literal[False] = False,
        num: Literal[1] = 1,
        **how: Unpack[Decoding],
    ) -> list[str]: ...
    @overload
    def paraphrase(
        self,
        sources: str,
        like: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        **how: Unpack[Decoding],
    ) -> str | list[str]: ...
    @overload
    def paraphrase(
        self,
        sources: Texts,
        like: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        **how: Unpack[Decoding],
    ) -> list[str] | list[list[str]]: ...
    def paraphrase(
        self,
        sources: str | Texts,
        like: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        **how: Unpack[Decoding],
    ) -> str | list[str] | list[list[str]]:
        """Each source in the form of its exemplar.

        Args:
            sources: a sentence or several, cased and untokenised or not.
            like: one exemplar a source; one for all; a list of exemplars a source; None: `num` drawn from the bank.
            each: every source with every exemplar of `like`.
            num: exemplars drawn from the bank a source, if `like` is None.
            how: as `decoding.Decoding` has them. Batches are of 512; repetition is constrained where words can be
                copied, since copying is what stutters.
        Returns: list[str], or list[list[str]] where a source has a list of exemplars (nested `like`, `each`, num > 1);
            of one source that is no list str, or list[str].
        Raises: InputError if a sentence is empty, an exemplar is one word, the numbers of sources and exemplars do not
            match, or two ways of decoding are mixed.
        """
        texts = require_texts(listed(sources))
        require_count(num, "num", 1)
        likes = [like] if isinstance(like, str) else like
        chosen = self.exemplars(texts, likes, each=each, num=num, seed=how.get("seed", 0))
        flat = [(source, exemplar) for source, row in zip(texts, chosen, strict=True) for exemplar in row]
        out = self.decode([source for source, _ in flat], [exemplar for _, exemplar in flat], **how)
        several = each or num > 1 or (likes is not None and any(not isinstance(item, str) for item in likes))
        if not several:
            return out[0] if isinstance(sources, str) else out
        left = iter(out)
        rows = [[next(left) for _ in row] for row in chosen]
        return rows[0] if isinstance(sources, str) else rows

    @torch.inference_mode()
    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        self.eval()
        read = require_words([*prepare_all(sources, self.config.max_tokens, tell=self.kind)], "source")
        words = [_lowered(row) for row in read]
        forms = exemplar_texts(exemplars, self.config.max_tokens)
        lengths = [len(row) for row in words]
        decoder = StepDecoder(self.network, max(lengths, default=0), self.decoder_dtype)
        left = Counter(forms)
        states: dict[str, npt.NDArray[np.float32]] = {}  # of forms that a later batch reads again

        def begin(rows: Sequence[int]) -> Memory:
            read = [forms[i] for i in rows]
            source_BS, lengths_B, states_BSF = self._source([words[i] for i in rows])
            memory = decoder.begin(source_BS, lengths_B, *self._forms(read, states), states_BSF)
            left.subtract(read)
            for form in [form for form in states if not left[form]]:
                del states[form]
            return memory

        ends = Ends(BOS, EOS, self.config.max_tokens + 1, room=0)
        free = unconstrained(len(self.vocabulary)) if self._constrains(how) else None
        sizes = [len(form.split()) for form in forms], lengths
        with encoders.bfloat16_products(self.device):
            how = {"batch_size": 512, **how}
            rows = written_rows(begin, decoder.step, sizes, how, ends, self.device, free=free)
        return [
            as_written(drop_stray_brackets(units_at(columns, row, self.vocabulary)), self.vocabulary.cased, source)
            for columns, row, source in zip(rows, words, sources, strict=True)
        ]

    @torch.inference_mode()
    def log_likelihood(
        self, targets: Sequence[str], sources: Sequence[str], exemplars: Sequence[str], *, batch_size: int = 512
    ) -> npt.NDArray[np.float32]:
        """log p(target | source, exemplar) by teacher forcing, nats a word, mean of each target and its end: [N].

        Raises: InputError if a text is empty, or there are not as many of each.
        """
        targets, sources, exemplars = map(require_texts, (targets, sources, exemplars))
        if not len(targets) == len(sources) == len(exemplars):
            raise InputError(f"{len(targets)} targets, {len(sources)} sources, {len(exemplars)} exemplars; expected N")
        self.eval()
        sides = [[_lowered(row) for row in prepare_all(some, self.config.max_tokens)] for some in (sources, targets)]
        if not all(all(side) for side in sides):
            raise InputError("an empty text; expected a sentence")
        forms = exemplar_texts(exemplars, self.config.max_tokens)

        def nats(rows: list[int]) -> Tensor:
            beyond: dict[str, int] = {}  # a word that the vocabulary lacks has one number on both sides
            some = [[side[row] for row in rows] for side in sides]
            source, target = (word_numbers(side, self.vocabulary, beyond) for side in some)
            unique, form_B = self._forms([forms[row] for row in rows])
            exemplar, clusters_B = unique.rows(form_B), torch.arange(len(rows))
            states = map(self._states, some)
            batch = TripleBatch(*source, *target, exemplar, exemplar, clusters_B, *states).to(self.device)
            found = self.network(batch)
            return torch.segment_reduce(found.log_probs_N, "mean", lengths=found.lengths_B, axis=0)

        return self._in_order([len(row) for row in sides[1]], batch_size, nats)

    def source_given(self, sources: Sequence[str], outputs: Sequence[str]) -> npt.NDArray[np.float32]:
        """How much likelier each source is given its output than given itself, in its own form; nats a word: [N]."""
        different = list(dict.fromkeys(sources))
        own = dict(zip(different, self.log_likelihood(different, different, different), strict=True))
        given = self.log_likelihood(sources, outputs, sources)
        return given - np.array([own[source] for source in sources], np.float32)

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {
            "decode": search_name(how),
            "decoder": str(self.decoder_dtype).removeprefix("torch."),
            "constrain_repetition": self._constrains(how),
        }

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> npt.NDArray[np.float32]:
        """The vectors of that name, "content" or "style", as every model that embeds is asked."""
        require_count(batch_size, "batch_size")
        vectors = self.style if name == "style" else self.content
        return vectors(texts, batch_size=batch_size or 512)

    def unread(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """As `capabilities.TellsUnread` has it: by the encoder, if it reads sources, else by the vocabulary."""
        if self.config.content_input != "words":
            return self.encoder.unread(texts)
        words = map(_lowered, prepare_all(texts, self.config.max_tokens))
        unknown = [(self.vocabulary.encode(row).count(UNK), len(row)) for row in words]
        return np.array([0 < count <= 2 * lost for lost, count in unknown], bool)

    @torch.inference_mode()
    def content(self, texts: Sequence[str], *, batch_size: int = 512) -> npt.NDArray[np.float32]:
        """Content vectors c (eq. 1): float32 [N, C]."""
        self.eval()
        words = [_lowered(row) or ["?"] for row in prepare_all(texts, self.config.max_tokens, tell=self.kind)]
        if not words:
            return self.content(["?"], batch_size=batch_size)[:0]

        def encode(rows: list[int]) -> Tensor:
            return self.network.encode_content(*self._source([words[i] for i in rows])).vector

        return self._in_order([len(row) for row in words], batch_size, encode)

    @torch.inference_mode()
    def style(self, texts: Sequence[str], *, batch_size: int = 512) -> npt.NDArray[np.float32]:
        """Style vectors s (eq. 2): float32 [N, F]."""
        self.eval()
        forms = exemplar_texts(texts, self.config.max_tokens, tell=self.kind)
        if not forms:
            return self.style(["?"], batch_size=batch_size)[:0]
        lengths = [len(form.split()) for form in forms]

        def encode(rows: list[int]) -> Tensor:
            unique, form_B = self._forms([forms[i] for i in rows])
            return self.network.encode_style(unique).vector[form_B]

        return self._in_order(lengths, batch_size, encode)

    def _in_order(
        self, lengths: Sequence[int], batch_size: int, encode: Callable[[list[int]], Tensor]
    ) -> npt.NDArray[np.float32]:
        """What is made of all rows, in their order, by batches of rows that are about as long."""
        require_count(batch_size, "batch_size", 1)
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        parts = [encode(order[start : start + batch_size]).float().cpu() for start in range(0, len(order), batch_size)]
        found = torch.cat(parts).numpy() if parts else np.empty(0, np.float32)
        out = np.empty_like(found)
        out[order] = found
        return out

    def _source(self, sentences: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor, Tensor | None]:
        """What `encode_content` takes of lower-cased words."""
        source_BS, lengths_B = word_numbers(sentences, self.vocabulary)
        return source_BS.to(self.device), lengths_B, self._states(sentences)

    def _states(self, sentences: Sequence[Sequence[str]]) -> Tensor | None:
        """The frozen encoder's states of lower-cased words [B, S, D]; None if the content encoder reads none."""
        if self.config.content_input == "words":
            return None
        return content_states(sentences, self.encoder).to(self.device)

    def _forms(
        self, read: Sequence[str], known: dict[str, npt.NDArray[np.float32]] | None = None
    ) -> tuple[StyleInput, Tensor]:
        """As `style_inputs` has them, on the model's device."""
        layer = None if self.config.style_trainable else self.config.style_layer
        form, rows = style_inputs(read, self.encoder, layer, {} if known is None else known)
        return form.to(self.device), rows.to(self.device)

    def assets(self) -> dict[str, str]:
        """The vocabulary, the bank of exemplars, and what is said of an encoder that is read."""
        return {
            "vocabulary.json": self.vocabulary.to_json(),
            "bank.txt": "".join(f"{text}\n" for text in self.bank),
            **({FACTS: self.facts.to_json()} if self.facts else {}),
        }

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> ExemplarParaphraser:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if the vocabulary is missing or a field is unknown.
        """
        unknown = sorted(set(config) - set(ExemplarConfig.__dataclass_fields__))
        if unknown or "vocabulary.json" not in assets:
            raise InputError(f"exemplar checkpoint with unknown fields {unknown} or no vocabulary.json")
        bank = assets.get("bank.txt", "").split("\n")[:-1]
        facts = EncoderFacts.read(assets[FACTS]) if FACTS in assets else None
        vocabulary = Vocabulary.from_json(assets["vocabulary.json"])
        return cls(ExemplarConfig(**config), vocabulary, bank, facts=facts)


def _lowered(words: Sequence[str]) -> list[str]:
    return [word.lower() for word in words]
