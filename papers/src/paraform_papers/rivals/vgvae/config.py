"""Every number and choice of VGVAE and CGEN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from paraform.fields import Amount, Between, Count, Dropout, Share, Whole, Width, Words, require_types, with_fields
from paraform.records import InputError

Form: TypeAlias = Literal["lstm", "averages"]
"""CGEN's network, which writes sentences, or VGVAE's, whose encoders are averages and whose decoder is a bag."""


@dataclass(frozen=True)
class VgvaeConfig:
    """CGEN (Chen et al. 2019b, ACL), and by `form` VGVAE (Chen et al. 2019a, NAACL); the defaults are at their size.

    Where paper and code disagree: docs/systems/vgvae.md.

    Args:
        latent_codes: the syntactic LSTM reads eight soft codes of each word, not its embedding (paper).
        word_noise: share of words that the syntactic encoder reads as another word of the same tag, in training; the
            paper's 0.9 is what the author recalls ("0.8 or 0.9").
        form: "lstm" (CGEN): the syntactic encoder is a BiLSTM, mean-pooled, the decoder an LSTM; or "averages" (VGVAE):
            both encoders average words, and the decoder is a bag of words, which writes no sentence.
        max_tokens: longer sentences are cut there, in words.
        min_count: words seen less often are unknown, and none is written.
        vocabulary_size: the most words that are known, the commonest; 0: all.
        word_width: word embeddings, of each encoder and of the decoder its own.
        semantic_width: dimensions of the space that the semantic sphere is in, 3 or more.
        syntax_width: the syntactic Gaussian.
        hidden_width: the layers between what an encoder read and its posterior, and those of a bag and of places.
        encoder_width: one direction of the syntactic LSTM.
        decoder_width: the decoder's LSTM.
        position_weight: of the word position loss, of the encoder's words and, in the form "lstm", the decoder's.
        discriminative_weight: of the hinge by which paraphrases are nearer than the hardest negative; 0: none.
        discriminative_start: the epoch, counted from 1, from which on it is learnt.
        learning_rate: Adam's.
        batch_size: pairs an optimisation step, over all processes.
        epochs: passes over the pairs.

    Beyond the papers:

    Args:
        word_vectors: what embeddings start from: "random", "encoder" (the offline encoder's vector of the word alone)
            or a GloVe text file of that width, as CGEN's do.
        least_concentration: what κ is softplus of a number above; 1 in paper and code, where a sphere in M dimensions
            begins as noise (the mean of y is about κ / M long), and says something only once κ has grown to about M.
        semantic_scale: what y, of length 1, is multiplied by before the decoder reads it; 1 in paper and code.
        constrain_repetition: no word is written twice running, or more often than the source has it.
        dropout: on embeddings and before the output layer.
        clip_norm: largest gradient norm; 0: not clipped.
    """

    removed: ClassVar[Mapping[str, object]] = {
        "positions": 0, "codes": 8, "code_classes": 2, "paraphrase_weight": 1.0, "semantic_kl_weight": 1e-4,
        "syntax_kl_weight": 1e-3, "margin": 0.4, "megabatch": 20, "length_penalty": 1.0,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""
    renamed: ClassVar[Mapping[str, str]] = {"ration": "constrain_repetition"}

    latent_codes: bool = True
    word_noise: Share = 0.9

    form: Form = "lstm"
    max_tokens: Words = 40
    min_count: Whole = 1
    vocabulary_size: Whole = 50_000
    word_width: Width = 100
    semantic_width: Annotated[int, Between(3, 100_000)] = 50
    syntax_width: Width = 50
    hidden_width: Width = 100
    encoder_width: Width = 100
    decoder_width: Width = 100
    position_weight: Amount = 1.0
    discriminative_weight: Amount = 0.0
    discriminative_start: Count = 3
    learning_rate: Amount = 1e-3
    batch_size: Count = 30
    epochs: Annotated[int, Between(1, 1_000_000)] = 20

    word_vectors: str = "random"
    least_concentration: Annotated[float, Between(0, 1000)] = 1.0
    semantic_scale: Annotated[float, Between(0, 1000)] = 1.0
    constrain_repetition: bool = False
    dropout: Dropout = 0.0
    clip_norm: Amount = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        if self.form == "averages" and self.latent_codes:
            raise InputError("latent_codes with form='averages'; expected form='lstm', whose encoder reads them")

    @classmethod
    def paper(cls, form: Form = "lstm", **fields: Any) -> VgvaeConfig:
        """As the paper of that form describes it, as far as we know it (its sizes are the code's)."""
        return with_fields(with_fields(cls(), _of(form)), fields)

    @classmethod
    def compact(cls, form: Form = "lstm", **fields: Any) -> VgvaeConfig:
        """What trains on two cores: fewer words, a wider sphere, starting from the offline encoder's words."""
        preset = with_fields(
            cls(
                max_tokens=30,
                min_count=2,
                vocabulary_size=10_000,
                word_width=128,
                semantic_width=128,
                hidden_width=128,
                decoder_width=256,
                batch_size=64,
                word_vectors="encoder",
                least_concentration=50.0,
                semantic_scale=10.0,
                constrain_repetition=True,
                dropout=0.1,
                clip_norm=5.0,
            ),
            _of(form),
        )
        return with_fields(preset, {"epochs": 4, "word_width": 128, **fields})


def _of(form: Form) -> dict[str, Any]:
    """What VGVAE's paper has otherwise than CGEN's."""
    if form == "lstm":
        return {}
    return {
        "form": form,
        "latent_codes": False,
        "word_noise": 0.0,
        "word_width": 50,
        "discriminative_weight": 1.0,
        "epochs": 50,
    }
