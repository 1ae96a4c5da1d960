"""Every number and choice of CRL-EGPG, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from paraform.fields import Amount, Between, Count, Dropout, Positive, Whole, Width, Words, require_types, with_fields
from paraform.records import InputError

MOST_DEALS = 100


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
            style encoder's last layer (of a word's first piece); "states": these are its own states, without a BiGRU,
            and c is a linear map of their mean.
        style_pooling: "cls" (paper); "gru": the style vector is the last states of a BiGRU over the style states;
            "mean": a linear map of their mean.
        style_width: one direction of that BiGRU, or half of that map, in features.
        style_attention: the decoder attends over the exemplar's states too.
        copy: source words can be copied (pointer-generator, See et al. 2017), known to the vocabulary or not.
        coverage: attention and the pointer know how often each source word has been generated, and the decoder reads
            the mean state of those that have not been (Tu et al. 2016; counted in words, so that all steps train at
            once).
        pool_size: the training pairs are dealt into pools of about this many, each target's exemplar is searched in its
            own, so that it is no nearer than what a user or a test split has to offer; 0: one pool.
        both_directions: each pair is trained on from source to target and from target to source.
        decoder_layers: with 2 a second GRU reads what the first one attended to.
        exemplar_deals: how often the pairs are dealt into pools, and exemplars searched in these; epochs take turns, so
            that a target meets others in each.
        tie_embeddings: the output layer shares the word embeddings.
        dropout: on embeddings and before the output layer.
        mask_clusters: members of one duplicate cluster are no negatives of each other.
        schedule: "constant" (paper) or "linear" decay to 0 after a short warm-up.
        clip_norm: largest gradient norm; 0: not clipped.
    """

    exemplar_choice: Literal["first", "oracle"] = "first"
    contrastive_scale: Amount = 2.0
    contrastive_reduction: Literal["mean", "sum"] = "mean"
    nll_reduction: Literal["mean", "sum"] = "mean"
    similarity: Literal["dot", "cosine"] = "cosine"
    attention: bool = True
    initial_state: Literal["concat", "linear"] = "linear"
    mask_padding: bool = True
    pool: Literal["sources", "targets"] = "targets"
    length_gap: Whole = 2
    ties: Count = 5
    drop_perplexity: Amount = 0.0

    max_tokens: Words = 15
    min_count: Count = 2
    word_vectors: str = "random"
    word_width: Width = 300
    content_width: Width = 512
    decoder_width: Width = 512
    style_encoder: str = "minilm"
    style_layer: int = -1
    style_trainable: bool = True
    temperature: Positive = 0.5
    content_weight: Amount = 0.1
    style_weight: Amount = 0.1
    learning_rate: Amount = 1e-4
    batch_size: Annotated[int, Between(2, math.inf)] = 128
    epochs: Count = 45

    content_input: Literal["words", "both", "states"] = "words"
    style_pooling: Literal["cls", "gru", "mean"] = "cls"
    style_width: Width = 128
    style_attention: bool = False
    copy: bool = False
    coverage: bool = False
    pool_size: Whole = 0
    both_directions: bool = False
    decoder_layers: Literal[1, 2] = 1
    exemplar_deals: Annotated[int, Between(1, MOST_DEALS)] = 1
    tie_embeddings: bool = False
    dropout: Dropout = 0.0
    mask_clusters: bool = False
    schedule: Literal["constant", "linear"] = "constant"
    clip_norm: Amount = 0.0

    removed: ClassVar[Mapping[str, object]] = {
        "units": "words", "style_tags": False, "decoder": "gru", "decoder_heads": 12, "decoder_start": "random",
        "copy_onward": False, "spell": False, "same_facts": False, "content_layer": -1,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    def __post_init__(self) -> None:
        require_types(self)
        if self.copy and not self.attention:
            raise InputError("copy=True with attention=False; copying points with attention: set attention=True")
        if self.coverage and not self.copy:
            raise InputError(
                "coverage=True with copy=False; words beyond the vocabulary could not be generated: set copy=True"
            )
        if self.exemplar_deals > 1 and self.pool_size == 0:
            raise InputError(f"exemplar_deals {self.exemplar_deals} with pool_size 0, one pool; expected a pool_size")
        if self.content_input != "words" and self.style_trainable:
            raise InputError(
                f"content_input={self.content_input!r} with style_trainable=True; expected a frozen encoder: set"
                " style_trainable=False"
            )

    @property
    def constrain_repetition(self) -> bool:
        """Whether repetition is, where nobody says: where words can be copied, since copying is what stutters."""
        return self.copy

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
