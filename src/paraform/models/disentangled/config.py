"""Every number and choice of ParaBART, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from paraform.fields import Amount, Between, Count, Dropout, Length, Positive, Share, Whole, require_types, with_fields
from paraform.records import InputError


@dataclass(frozen=True)
class DisentangledConfig:
    """ParaBART (Huang et al. 2021); the defaults are what we recommend at the paper's size.

    Fields on which paper and code disagree (REFERENCE items in brackets):

    Args:
        adversary_loss: [1] "softmax" cross-entropy (paper) or "sigmoid", binary cross-entropy (code).
        bag_of_tags: [2] what the adversary tells: "constituents", their shares of a tree (paper), or "symbols", the
            shares of everything that the linearised tree is written with, brackets, ROOT and tags too, each counted
            from one (code).
        directions: [3] "both": each pair is reworded from source to target and from target to source in one step
            (code); "one" (paper).
        adversary_start: [4] epochs before the encoder begins to fool the adversary; 1 in the code.
        adversary_norm: [6] the adversary reads vectors normalised by mean and variance (code).
        tie_output: [6] the output layer shares the target's word embeddings; in the code it does not.
        pool_special: [6] the mean over states counts the first and the last token's, which are no words (code).
        drop_special: [6] word dropout may drop these two as well (code).

    Fields they agree on:

    Args:
        encoder: any Hugging Face encoder, the encoder half of a model with a decoder (BART-base in the paper), or a
            causal language model, whose texts are read between its marks of a begin and an end.
        layers: the encoder's first so many layers are the semantic encoder; 0: all.
        max_tokens: longer sentences are cut there, in word pieces without the two special ones.
        max_symbols: longer linearised trees are cut there, in symbols.
        word_dropout: share of the source's tokens that the semantic encoder does not see.
        adversary_weight: λ_adv; 0: no adversary.
        syntax: the decoder reads the target's tree; without it, it rewords by meaning alone (Table 1, "w/o AL and SG").
        learning_rate: AdamW's, of the semantic encoder and the adversary (paper).
        decoder_learning_rate: of everything else.
        adversary_learning_rate: of the adversary, if not the encoder's; 0: the encoder's.
        batch_size: pairs a step, over all processes.
        epochs: passes over the pairs.

    Beyond the paper:

    Args:
        adapters: rank of low-rank adapters beside the maps of the encoder's layers, all that is then trained of it; a
            checkpoint has these alone, and names the encoder. 0: its own weights are trained.
        both_ways: a causal language model's states see what stands behind them, too.
        freeze_embeddings: the encoder's embeddings stay as they came.
        memory_norm: the decoder reads ū normalised by mean and variance, so that it is as large as the tree's states.
        fooled: what the encoder wants of the adversary: "loss", that it is wrong (the paper; that has no bound);
            "prior", that it says what it would say without reading, the mean bag.
        generation_weight: factor on the paraphrase loss; 0: no decoder; trees are parsed for bags,
            erasure and negatives alone.
        contrast_weight: factor on NT-Xent between the two sides of a batch's pairs; 0 leaves it out.
        temperature: τ of that contrast, which is of cosines.
        distance_weight: factor on the mean squared change of cosines against the encoder as it came; 0 leaves it out.
        form_negatives, role_negatives: share of the pairs that have a further negative in the contrast: a sentence with
            the target's tags and other words; the source with two of its phrases exchanged. 0 to 1.
        erased: what a linear map takes from the vectors that are given out, so that no linear adversary can tell it;
            it is fitted anew at each validation. "nothing"; "constituents", their shares of the tree; "form", these
            and which of them stand at the top. The decoder reads ū as it is without.
        brackets: whether trees are written with both brackets as symbols of their own around each label (paper); else
            a constituent's label opens it and a tag stands alone, which takes less than half as many symbols.
        output_pieces: pieces that can be written: "all", or those "seen" in training.
        schedule: "constant" (paper) or "linear" decay to 0 after a short warm-up.
    """

    adversary_loss: Literal["softmax", "sigmoid"] = "softmax"
    bag_of_tags: Literal["constituents", "symbols"] = "constituents"
    directions: Literal["one", "both"] = "both"
    adversary_start: Whole = 1
    adversary_norm: bool = True
    tie_output: bool = False
    pool_special: bool = True
    drop_special: bool = False

    encoder: str = "minilm"
    layers: Annotated[int, Between(0, 1000)] = 0
    max_tokens: Length = 40
    max_symbols: Length = 160
    word_dropout: Dropout = 0.2
    adversary_weight: Amount = 0.1
    syntax: bool = True
    learning_rate: Amount = 2e-5
    decoder_learning_rate: Amount = 1e-4
    adversary_learning_rate: Amount = 0.0
    adapters: Whole = 0
    both_ways: bool = False
    freeze_embeddings: bool = False
    memory_norm: bool = False
    fooled: Literal["loss", "prior"] = "loss"
    batch_size: Annotated[int, Between(2, math.inf)] = 64
    epochs: Count = 10

    generation_weight: Amount = 1.0
    contrast_weight: Amount = 0.0
    temperature: Positive = 0.05
    distance_weight: Amount = 0.0
    form_negatives: Share = 0.0
    role_negatives: Share = 0.0
    erased: Literal["nothing", "constituents", "form"] = "nothing"
    brackets: bool = True
    output_pieces: Literal["all", "seen"] = "all"
    schedule: Literal["constant", "linear"] = "constant"

    removed: ClassVar[Mapping[str, object]] = {
        "syntax_layers": 1, "heads": 0, "weight_decay": 0.01, "clip_norm": 1.0, "cut_trees": 0.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    def __post_init__(self) -> None:
        require_types(self)
        if self.generation_weight == 0 and self.contrast_weight == 0:
            raise InputError("generation_weight 0 and contrast_weight 0; expected one above 0, else nothing is learned")
        if (self.form_negatives or self.role_negatives) and self.contrast_weight == 0:
            raise InputError(
                "form_negatives or role_negatives with contrast_weight 0; expected contrast_weight above 0"
            )

    @classmethod
    def paper(cls, **fields: Any) -> DisentangledConfig:
        """As the paper's text says (its BART-base is named where it is at hand)."""
        return with_fields(
            cls(directions="one", adversary_start=0, adversary_norm=False, pool_special=False, tie_output=True), fields
        )

    @classmethod
    def reference(cls, **fields: Any) -> DisentangledConfig:
        """As the authors' released code behaves."""
        return with_fields(cls(adversary_loss="sigmoid", bag_of_tags="symbols", drop_special=True), fields)

    @classmethod
    def compact(cls, **fields: Any) -> DisentangledConfig:
        """What makes the best vectors on two cores that we know, from an encoder that knows sentences already.

        Contrast brings the sides of a pair together; the same words in other roles, and the cosines of the encoder as
        it came, hold it; form is erased in closed form. Nothing learns to write: for that see `compact_paper`.
        """
        preset = cls(
            freeze_embeddings=True,
            learning_rate=3e-5,
            schedule="linear",
            epochs=1,
            adversary_weight=0.0,
            generation_weight=0.0,
            contrast_weight=1.0,
            distance_weight=1000.0,
            role_negatives=1.0,
            erased="form",
        )
        return with_fields(preset, fields)

    @classmethod
    def compact_paper(cls, **fields: Any) -> DisentangledConfig:
        """The paper's own losses, on two cores, the adversary bounded. It writes, but after as few steps not usably.

        What it writes has the form that was asked for and hardly the source's content (docs/results/parabart.md).
        """
        preset = cls(
            brackets=False,
            output_pieces="seen",
            tie_output=True,
            memory_norm=True,
            freeze_embeddings=True,
            decoder_learning_rate=5e-4,
            schedule="linear",
            epochs=2,
            adversary_weight=0.02,
            adversary_learning_rate=1e-3,
            adversary_start=0,
            fooled="prior",
        )
        return with_fields(preset, fields)

    def without(self, *, adversary: bool = False, syntax: bool = False) -> DisentangledConfig:
        """The ablations of Table 1: without the adversary, without the target's tree, or without both."""
        return replace(
            self,
            adversary_weight=0.0 if adversary else self.adversary_weight,
            syntax=self.syntax and not syntax,
        )
