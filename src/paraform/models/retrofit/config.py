"""Every number and choice of PAR, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paraform.fields import Amount, Count, Positive, Whole, require_types, with_fields
from paraform.records import InputError

ELMO_DISTANCE = 3.97
"""Mean L2 distance of ELMo's shared words in non-paraphrases (PAR, Table 4, MRPC): the unit of the paper's margins."""


@dataclass(frozen=True)
class RetrofitConfig:
    """PAR, paraphrase-aware retrofitting (Shi et al. 2019); the defaults are what we recommend.

    Fields on which paper and code disagree (REFERENCE items in brackets):

    Args:
        optimiser: [1] "sgd" (paper) or "adam" (code).
        learning_rate: [1] the optimiser's; 0.005 in the paper, 0.001 in the code.
        batch_size: [1] pairs a step, over all processes; 128 in the paper, 256 in the code.
        epochs: [1] passes over the pairs, at most; 10 to 20 in the paper, 100 in the code.
        margin: [1] of the hinge; 2 or 3 in the paper, 4 in the code. γ is `margin` × (the mean distance to negatives
            before training / 3.97, ELMo's in Table 4), since encoders differ in scale.
        early_stop: [1] the run ends when the loop's patience is at its end; in the paper that with the accuracy of the
            paraphrase classifier (`BY_ACCURACY` of `trainers.retrofit`).
        hinge_reduction: the hinge's "sum" over all shared words of a step (paper) or their "mean" (code).
        negatives: [2] the context that a shared word is told from: "substitute", a random sentence of another cluster
            with that word in the place of either side (paper); "labelled", every other time a sentence that a pair
            labelled 0 sets against a side, if it has the word (code); "batch", a substitute that stands in the same
            step if one does, which costs no further sentence to encode (ours).
        sample: [2b] of more than `most_pairs` a "random" part (paper) or the "first" of them (code).
        skip_stopwords: [3] words of closed classes, and those with a digit, are not compared (code).
        max_tokens, min_tokens: [3] pairs with a side of more, or of fewer, words are left out; 0: no limit. 40 and 3 in
            the code.
        states: [4] what a word's vector is: its state at the "last" layer (or the one that `encoder` names), or, of
            "all" layers from the embeddings on, the mean that ELMo weights (the paper's "all layers"; it does not say
            how they count).
        train_mix: [4] the weights of that mean and its factor are trained (code), which can shrink all distances.

    Fields they agree on:

    Args:
        encoder: any Hugging Face encoder with mean pooling, or language model, or a folder with ELMo's published files,
            as in the paper; `NAME@layer=3` reads another layer than the last.
        orthogonality: [5] how M stays orthogonal: "penalty" (both); "exact" and "free" are ours.
        orthogonality_weight: λ on ‖I − MᵀM‖_F with "penalty".
        most_pairs: paraphrases that are trained on; 0: all. The paper draws 20,000 from Quora.
        classifier_pairs: training pairs that each validation's paraphrase classifier learns from, at most; 0: all.

    Beyond the paper:

    Args:
        push: whether the hinge is met by pushing a negative "further" off (paper), or by no more than the distance that
            it had at the "start": then words of paraphrases have to come nearer, since nothing is won by spreading all
            words. Each sentence is read once more for it, before training, and each word's state is kept in memory: of
            118,183 pairs of Quora 1.3 million, 1.9 GiB of `minilm`'s.
        place: M stands "before" the encoder, at its word embeddings (paper), or "after" it, at its states, which are
            then read once.
        fit: "descent" (paper), or "whitening" in closed form by the scatter of words within paraphrases.
    """

    optimiser: Literal["sgd", "adam"] = "adam"
    learning_rate: Amount = 1e-3
    batch_size: Count = 32
    epochs: Count = 10
    margin: Positive = 3.0
    early_stop: bool = True
    hinge_reduction: Literal["sum", "mean"] = "mean"
    negatives: Literal["substitute", "labelled", "batch"] = "batch"
    sample: Literal["random", "first"] = "random"
    skip_stopwords: bool = False
    max_tokens: Whole = 0
    min_tokens: Whole = 0
    states: Literal["last", "all"] = "last"
    train_mix: bool = False

    encoder: str = "minilm"
    orthogonality: Literal["penalty", "exact", "free"] = "penalty"
    orthogonality_weight: Amount = 1.0
    most_pairs: Whole = 0
    classifier_pairs: Whole = 2000

    push: Literal["further", "start"] = "start"
    place: Literal["before", "after"] = "before"
    fit: Literal["descent", "whitening"] = "descent"

    removed: ClassVar[Mapping[str, object]] = {"rank": 0, "relative_margin": True, "shrinkage": 0.1}
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    def __post_init__(self) -> None:
        require_types(self)
        if self.train_mix and self.states != "all":
            raise InputError("train_mix with states 'last'; expected states 'all', whose mean it weights")
        if self.train_mix and self.push == "start":
            raise InputError("train_mix with push 'start'; expected 'further': where a negative was moves with the mix")
        if self.train_mix and self.place == "after":
            raise InputError("train_mix with place 'after', where the mean is read once; expected 'before'")
        if self.fit == "whitening" and (self.place, self.states, self.orthogonality) != ("after", "last", "free"):
            raise InputError("fit 'whitening'; expected place 'after', states 'last' and orthogonality 'free' with it")

    @classmethod
    def paper(cls, corpus: Literal["mrpc", "pan", "quora"] = "mrpc", **fields: Any) -> RetrofitConfig:
        """As the paper's text says, with the margin and the epochs of that corpus (section 4.1)."""
        margin, epochs = {"mrpc": (3.0, 20), "pan": (2.0, 14), "quora": (3.0, 10)}[corpus]
        preset = cls(
            optimiser="sgd",
            learning_rate=0.005,
            batch_size=128,
            epochs=epochs,
            margin=margin,
            hinge_reduction="sum",
            negatives="substitute",
            states="all",
            push="further",
        )
        return with_fields(preset, fields)

    @classmethod
    def reference(cls, **fields: Any) -> RetrofitConfig:
        """As the authors' released code behaves."""
        preset = cls(
            batch_size=256,
            epochs=100,
            margin=4.0,
            early_stop=False,
            negatives="labelled",
            sample="first",
            skip_stopwords=True,
            max_tokens=40,
            min_tokens=3,
            states="all",
            train_mix=True,
            push="further",
        )
        return with_fields(preset, fields)
