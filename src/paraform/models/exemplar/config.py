"""Every number and choice of CRL-EGPG, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from paraform.fields import MOST_STEPS, MOST_WIDTH, require_between, require_types, with_fields
from paraform.records import InputError

MOST_DEALS = 100
WEIGHTS = ("contrastive_scale", "content_weight", "style_weight")
AT_LEAST_0 = (*WEIGHTS, "length_gap", "drop_perplexity", "learning_rate", "clip_norm")


@dataclass(frozen=True)
class ExemplarConfig:
    """CRL-EGPG (Yang et al. 2021); the defaults are `fixed`, what we recommend at the paper's size.

    Fields on which paper and code disagree (REFERENCE items in brackets):

    Args:
        exemplar_choice: [1] which of the stored exemplars a test sentence gets: "first", fixed before decoding, or
            "oracle", the one whose output shares most words with the reference.
        contrastive_scale: [2] factor on both contrastive losses; the code multiplies by τ / 0.07. With means over 2B
            anchors and B sentences, 2 gives the paper's ratio of contrast to NLL.
        contrastive_reduction: [2] over the 2B anchors: "sum" (eqs. 8, 11) or "mean" (code).
        nll_reduction: [2, 10] over the batch: "sum" (eq. 12) or "mean" (code).
        similarity: [3] "dot" (paper) or "cosine" (code).
        attention: [4] the decoder attends over the content encoder's states (code).
        initial_state: [4] h0 = [c; s] ("concat", paper) or a linear map of it ("linear", code).
        mask_padding: [5] padding is masked; in the code it is attended, and the style encoder gets no mask.
        pool: [6] where exemplars are searched: "sources" (Algorithm 1) or "targets" (code).
        length_gap: [6] largest difference of length between exemplar and target, in words.
        ties: [6] how many of the exemplars tied at the smallest distance are kept; one is drawn each step.
        drop_perplexity: [8] sentences of at least this perplexity are left out of the validation's mean; 0: none.

    Fields they agree on:

    Args:
        max_tokens: longer sentences are cut there, in words.
        min_count: words seen less often, in sources and targets of all triples (with `both_directions` each pair
            counts twice), are unknown.
        units: "words", or the word "pieces" of the style encoder's tokenizer.
        word_vectors: "random", "encoder" (the offline encoder's vector of the word alone) or a GloVe text file.
        word_width, content_width, decoder_width: sizes of word embeddings, one direction of the content encoder's
            BiGRU, the decoder's GRU (with `initial_state="linear"`), in features.
        style_encoder: any Hugging Face encoder; BERT-base in the paper, here the offline encoder stands in.
        style_layer: whose states are the style features, negative from the end.
        style_trainable: fine-tuned, or frozen (then its states are computed once and cached).
        temperature: τ of both contrastive losses.
        content_weight, style_weight: λ1 and λ2; 0 leaves the loss out.
        learning_rate: Adam's.
        batch_size: triples a step, over all processes.
        epochs: passes over the pairs.

    Beyond the paper:

    Args:
        content_input: what E_c reads: "words", their embeddings (paper); "both", these beside the states of the frozen
            style encoder's tokens (of a word's first piece); "states": these are its own states, without a BiGRU, and c
            is a linear map of their mean.
        content_layer: whose states these are, negative from the end.
        style_pooling: "cls" (paper); "gru": the style vector is the last states of a BiGRU over the style states;
            "mean": a linear map of their mean.
        style_width: one direction of that BiGRU, or half of that map, in features.
        style_tags: E_s reads, beside each state of the frozen encoder, the part-of-speech tag of its word, by the
            embedded tagger; for `style_pooling="gru"`.
        style_attention: the decoder attends over the exemplar's states too.
        copy: source words can be copied (pointer-generator, See et al. 2017), known to the vocabulary or not.
        coverage: attention and the pointer know how often each source word has been generated, and the decoder reads
            the mean state of those that have not been (Tu et al. 2016; counted in words, so that all steps train at
            once).
        pool_size: the training pairs are dealt into pools of about this many, each target's exemplar is searched in its
            own, so that it is no nearer than what a user or a test split has to offer; 0: one pool.
        both_directions: each pair is trained on from source to target and from target to source.
        decoder: "gru" (paper), or a "transformer" of which each layer attends to [W [c; s]; the content states; the
            style states] (`attention` and `style_attention` are part of it).
        decoder_layers: a second GRU reads what the first one attended to; a Transformer has 1 to 4.
        decoder_heads: of a Transformer's attention.
        decoder_start: what a Transformer starts from: "random", or layers, positions and embeddings of the style
            "encoder", whatever `word_vectors` says (Rothe et al. 2020); its cross-attention is new.
        copy_onward: the Transformer's pointer and gate know which word of the source follows the one just written, so
            that a name of several pieces is copied whole (what CopyNet's selective read is for, Gu et al. 2016).
        spell: the vocabulary has every piece of one character, alone and inside words, however often it stands in
            training, so that any word can be spelled; for `units="pieces"`.
        exemplar_deals: how often the pairs are dealt into pools, and exemplars searched in these; epochs take turns, so
            that a target meets others in each.
        same_facts: pairs of which one side has a number or a name that the other lacks are not trained on.
        tie_embeddings: the output layer shares the word embeddings.
        dropout: on embeddings and before the output layer.
        mask_clusters: members of one duplicate cluster are no negatives of each other.
        schedule: "constant" (paper) or "linear" decay to 0 after a short warm-up.
        clip_norm: largest gradient norm; 0: not clipped.
    """

    exemplar_choice: Literal["first", "oracle"] = "first"
    contrastive_scale: float = 2.0
    contrastive_reduction: Literal["mean", "sum"] = "mean"
    nll_reduction: Literal["mean", "sum"] = "mean"
    similarity: Literal["dot", "cosine"] = "cosine"
    attention: bool = True
    initial_state: Literal["concat", "linear"] = "linear"
    mask_padding: bool = True
    pool: Literal["sources", "targets"] = "targets"
    length_gap: int = 2
    ties: int = 5
    drop_perplexity: float = 0.0

    max_tokens: int = 15
    min_count: int = 2
    units: Literal["words", "pieces"] = "words"
    word_vectors: str = "random"
    word_width: int = 300
    content_width: int = 512
    decoder_width: int = 512
    style_encoder: str = "minilm"
    style_layer: int = -1
    style_trainable: bool = True
    temperature: float = 0.5
    content_weight: float = 0.1
    style_weight: float = 0.1
    learning_rate: float = 1e-4
    batch_size: int = 128
    epochs: int = 45

    content_input: Literal["words", "both", "states"] = "words"
    content_layer: int = -1
    style_pooling: Literal["cls", "gru", "mean"] = "cls"
    style_width: int = 128
    style_tags: bool = False
    style_attention: bool = False
    copy: bool = False
    coverage: bool = False
    pool_size: int = 0
    both_directions: bool = False
    decoder: Literal["gru", "transformer"] = "gru"
    decoder_layers: Literal[1, 2, 3, 4] = 1
    decoder_heads: int = 12
    decoder_start: Literal["random", "encoder"] = "random"
    copy_onward: bool = False
    spell: bool = False
    exemplar_deals: int = 1
    same_facts: bool = False
    tie_embeddings: bool = False
    dropout: float = 0.0
    mask_clusters: bool = False
    schedule: Literal["constant", "linear"] = "constant"
    clip_norm: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        if self.temperature <= 0 or self.max_tokens < 2 or self.batch_size < 2:
            raise InputError(
                f"temperature {self.temperature}, max_tokens {self.max_tokens}, batch_size {self.batch_size}; "
                "expected temperature > 0, max_tokens >= 2, batch_size >= 2"
            )
        if self.max_tokens > MOST_STEPS:
            raise InputError(f"max_tokens {self.max_tokens}; expected at most {MOST_STEPS}")
        for name in ("word_width", "content_width", "decoder_width", "style_width"):
            if not 1 <= getattr(self, name) <= MOST_WIDTH:
                raise InputError(f"{name} {getattr(self, name)}; expected 1 to {MOST_WIDTH}")
        if self.copy and not self.attention:
            raise InputError("copy=True with attention=False; copying points with attention: set attention=True")
        if self.coverage and not self.copy:
            raise InputError(
                "coverage=True with copy=False; words beyond the vocabulary could not be generated: set copy=True"
            )
        require_between(self, dict.fromkeys(("epochs", "min_count", "ties"), (1, math.inf)))
        require_between(self, dict.fromkeys(AT_LEAST_0, (0, math.inf)) | {"dropout": (0, 0.99)})
        if self.pool_size < 0:
            raise InputError(f"pool_size {self.pool_size}; expected 0 (one pool) or more")
        if not 1 <= self.exemplar_deals <= MOST_DEALS:
            raise InputError(f"exemplar_deals {self.exemplar_deals}; expected 1 to {MOST_DEALS}")
        if self.exemplar_deals > 1 and self.pool_size == 0:
            raise InputError(f"exemplar_deals {self.exemplar_deals} with pool_size 0, one pool; expected a pool_size")
        if self.content_input != "words" and self.style_trainable:
            raise InputError(
                f"content_input={self.content_input!r} with style_trainable=True; expected a frozen encoder: set"
                " style_trainable=False"
            )
        if self.style_tags and (self.style_trainable or self.style_pooling != "gru"):
            raise InputError(
                f"style_tags=True with style_trainable={self.style_trainable}, style_pooling={self.style_pooling!r};"
                ' expected a frozen encoder and "gru", which reads them'
            )
        if self.spell and self.units == "words":
            raise InputError('spell=True with units="words"; expected units="pieces"')
        if self.copy_onward and not (self.copy and self.decoder == "transformer"):
            raise InputError(
                f"copy_onward=True with copy={self.copy}, decoder={self.decoder!r}; expected a transformer that copies"
            )
        self._require_decoder()

    def _require_decoder(self) -> None:
        if self.decoder == "gru":
            if self.decoder_layers > 2 or self.decoder_start != "random":
                raise InputError(
                    f"decoder_layers {self.decoder_layers}, decoder_start {self.decoder_start!r} of a GRU; expected"
                    ' 1 or 2 from "random", or decoder="transformer"'
                )
            return
        wrong = [
            f"{name}={getattr(self, name)!r}"
            for name, right in (("coverage", False), ("attention", True), ("initial_state", "linear"))
            if getattr(self, name) != right
        ]
        if wrong:
            raise InputError(f"{', '.join(wrong)} of a Transformer, which attends to what it has written; leave it out")
        if self.word_width != self.decoder_width or self.decoder_heads < 1 or self.decoder_width % self.decoder_heads:
            raise InputError(
                f"word_width {self.word_width}, decoder_width {self.decoder_width}, decoder_heads"
                f" {self.decoder_heads} of a Transformer; expected equal widths that the heads divide"
            )
        if self.decoder_start == "encoder" and self.units != "pieces":
            raise InputError('decoder_start="encoder" with units="words"; expected units="pieces"')

    @property
    def most_units(self) -> int:
        """The most words or pieces that are written of a sentence."""
        return self.max_tokens * (2 if self.units == "pieces" else 1)

    @classmethod
    def paper(cls, **fields: Any) -> ExemplarConfig:
        """As the paper's text says (its BERT-base and GloVe are named where they are at hand)."""
        preset = cls(
            contrastive_scale=1.0,
            contrastive_reduction="sum",
            nll_reduction="sum",
            similarity="dot",
            attention=False,
            initial_state="concat",
            pool="sources",
            ties=1,
        )
        return with_fields(preset, fields)

    @classmethod
    def reference(cls, **fields: Any) -> ExemplarConfig:
        """As the authors' released code behaves on QQP-Pos."""
        preset = cls(
            exemplar_choice="oracle",
            contrastive_scale=0.5 / 0.07,
            mask_padding=False,
            drop_perplexity=200.0,
        )
        return with_fields(preset, fields)

    @classmethod
    def compact(cls, **fields: Any) -> ExemplarConfig:
        """A configuration that trains on two cores: frozen style encoder, tied output layer, copying."""
        preset = cls(
            max_tokens=30,
            min_count=16,
            word_vectors="encoder",
            word_width=256,
            content_width=256,
            decoder_width=512,
            style_layer=3,
            style_trainable=False,
            temperature=0.1,
            content_weight=0.02,
            learning_rate=1e-3,
            epochs=4,
            style_pooling="gru",
            style_attention=True,
            copy=True,
            coverage=True,
            pool_size=40_000,
            both_directions=True,
            decoder_layers=2,
            tie_embeddings=True,
            dropout=0.2,
            mask_clusters=True,
            schedule="linear",
            clip_norm=1.0,
        )
        return with_fields(preset, fields)

    def without(self, *, content: bool = False, style: bool = False) -> ExemplarConfig:
        """The ablations of Table 2: without the content contrast, the style contrast, or both."""
        return replace(
            self,
            content_weight=0.0 if content else self.content_weight,
            style_weight=0.0 if style else self.style_weight,
        )
