"""Every number and choice of VGVAE and CGEN, and where the papers, the authors' code and we disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from paraform.fields import MOST_STEPS, MOST_WIDTH, require_between, require_types, with_fields
from paraform.records import InputError

Form: TypeAlias = Literal["lstm", "averages"]
"""CGEN's network, which writes sentences, or VGVAE's, whose encoders are averages and whose decoder is a bag."""

WIDTHS = ("word_width", "syntax_width", "hidden_width", "encoder_width", "decoder_width", "codes", "code_classes")
WEIGHTS = (
    "paraphrase_weight", "semantic_kl_weight", "syntax_kl_weight", "position_weight", "discriminative_weight",
)  # fmt: skip


@dataclass(frozen=True)
class VgvaeConfig:
    """CGEN (Chen et al. 2019b, ACL), and by `form` VGVAE (Chen et al. 2019a, NAACL); the defaults are at their size.

    Fields on which paper and code disagree, or which one of them has alone (docs/systems/vgvae.md):

    Args:
        latent_codes: [1] the syntactic LSTM reads `codes` soft codes of each word, not its embedding (paper); not in
            the code.
        word_noise: [2] share of words that the syntactic encoder reads as another word of the same tag, in training;
            the paper's 0.9 is what the author recalls ("0.8 or 0.9"), the code has none.
        positions: [3] places that the word position loss tells apart; words behind have none. 32 in the code, whose
            sentences end there; 0: as many as are read.
        length_penalty: [4] a beam's hypotheses are ranked by log p / length^this; 0 in paper and code.

    Fields they agree on:

    Args:
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
        codes, code_classes: latent codes of a word, and the classes of each.
        paraphrase_weight: of −ln p(x_i | y_j, z_i), the other side's meaning in this side's form.
        semantic_kl_weight, syntax_kl_weight: of the two KLs, beside a word's mean nats.
        position_weight: of the word position loss, of the encoder's words and, in the form "lstm", the decoder's.
        discriminative_weight: of the hinge by which paraphrases are nearer than the hardest negative; 0: none.
        margin: γ of that hinge, on cosines.
        discriminative_start: the epoch, counted from 1, from which on it is learnt.
        megabatch: batches among whose sentences the hardest negatives are sought, from then on.
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
        ration: no word is written twice running, or more often than the source has it (`decoding.rationed`).
        dropout: on embeddings and before the output layer.
        clip_norm: largest gradient norm; 0: not clipped.
    """

    latent_codes: bool = True
    word_noise: float = 0.9
    positions: int = 0
    length_penalty: float = 1.0

    form: Form = "lstm"
    max_tokens: int = 40
    min_count: int = 1
    vocabulary_size: int = 50_000
    word_width: int = 100
    semantic_width: int = 50
    syntax_width: int = 50
    hidden_width: int = 100
    encoder_width: int = 100
    decoder_width: int = 100
    codes: int = 8
    code_classes: int = 2
    paraphrase_weight: float = 1.0
    semantic_kl_weight: float = 1e-4
    syntax_kl_weight: float = 1e-3
    position_weight: float = 1.0
    discriminative_weight: float = 0.0
    margin: float = 0.4
    discriminative_start: int = 3
    megabatch: int = 20
    learning_rate: float = 1e-3
    batch_size: int = 30
    epochs: int = 20

    word_vectors: str = "random"
    least_concentration: float = 1.0
    semantic_scale: float = 1.0
    ration: bool = False
    dropout: float = 0.0
    clip_norm: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        bounds: dict[str, tuple[float, float]] = {
            "word_noise": (0, 1),
            "positions": (0, MOST_STEPS),
            "length_penalty": (0, 10),
            "max_tokens": (2, MOST_STEPS),
            "min_count": (0, math.inf),
            "vocabulary_size": (0, math.inf),
            "semantic_width": (3, MOST_WIDTH),
            **dict.fromkeys(WIDTHS, (1, MOST_WIDTH)),
            **dict.fromkeys(WEIGHTS, (0, math.inf)),
            "margin": (0, 2),
            "least_concentration": (0, 1000),
            "semantic_scale": (0, 1000),
            "discriminative_start": (1, math.inf),
            "megabatch": (1, 10_000),
            "learning_rate": (0, math.inf),
            "batch_size": (1, math.inf),
            "epochs": (1, 1_000_000),
            "dropout": (0, 0.99),
            "clip_norm": (0, math.inf),
        }
        require_between(self, bounds)
        if self.form == "averages" and self.latent_codes:
            raise InputError("latent_codes with form='averages'; expected form='lstm', whose encoder reads them")

    @property
    def places(self) -> int:
        """Places that the word position loss tells apart."""
        return self.positions or self.max_tokens

    @classmethod
    def paper(cls, form: Form = "lstm", **fields: Any) -> VgvaeConfig:
        """As the paper of that form describes it, as far as we know it (its sizes are the code's)."""
        return with_fields(with_fields(cls(length_penalty=0.0), _of(form)), fields)

    @classmethod
    def reference(cls, form: Form = "lstm", **fields: Any) -> VgvaeConfig:
        """As the authors' released code of that form behaves."""
        preset = cls(latent_codes=False, word_noise=0.0, positions=32, length_penalty=0.0)
        return with_fields(with_fields(preset, _of(form)), fields)

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
                ration=True,
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
