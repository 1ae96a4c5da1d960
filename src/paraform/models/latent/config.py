"""Every number and choice of the latent-variable family, and where the paper, the authors' code and we disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from paraform.fields import Amount, Count, Length, Positive, Share, Steps, Whole, Width, require_types, with_fields
from paraform.records import InputError

OBJECTIVES: dict[str, dict[str, Any]] = {
    "ae": {"posterior": "point", "kl": "none"},
    "vae": {"posterior": "gaussian", "kl": "closed"},
    "beta-vae": {"posterior": "gaussian", "kl": "closed", "beta": 0.5},
    "vae+contrast": {"posterior": "gaussian", "kl": "closed", "contrast": "z"},
    "savae": {"posterior": "gaussian", "kl": "closed", "inner": "svi"},
    "cycvae": {"posterior": "gaussian", "kl": "closed", "beta_schedule": "cyclical"},
    "lagvae": {"posterior": "gaussian", "kl": "closed", "inner": "aggressive"},
    "ivae": {"kl": "dual", "critic": "xz"},
    "ivae_mi": {"kl": "dual", "critic": "z"},
    "clvae": {"kl": "dual", "critic": "xz", "contrast": "z"},
    "clvae_mi": {"kl": "dual", "critic": "z", "contrast": "z"},
    "clvae+": {"kl": "circle", "critic": "xz", "contrast": "z"},
    "clvae+_mi": {"kl": "circle", "critic": "z", "contrast": "z"},
}
"""What an objective is made of; all else is the same for all. Those by critics keep the base's implicit posterior."""


@dataclass(frozen=True)
class LatentConfig:
    """A text autoencoder with a latent space (clVAE, Teng et al. 2022, and what it is compared with).

    The defaults are `fixed`: the paper's size on PTB and, where paper and code disagree, what is a bound or follows
    from one. Which objective to take is another matter (docs/results/clvae.md). Another one is
    `LatentConfig().with_objective("vae")`; its parts can be set one by one as well.

    What an objective is made of:

    Args:
        objective: its name, one of `OBJECTIVES`; a label, since the fields below decide: `with_objective` sets them.
        posterior: "point" (no noise), "gaussian" (mean and log-variance), "affine" (z = W_h h + W_ε ε + b, a Gaussian
            whose covariance all sentences share) or "mlp" (implicit).
        kl: the posterior's from the prior: "none", "closed" (Gaussians), or by a critic: "dual" (eq. 3) or "circle"
            (eq. 13, the "+").
        critic: the input of the KL's critic: "xz" (f, of q(z|x)), or "z" alone (g, of the aggregated posterior, the
            "MI" models); "none". Both critics are trained where there is one, since the paper's MI is their difference.
        contrast: where the two views of a sentence are contrasted: "z", "h" (Table 3) or "none".
        positives: the way to the second view: "dropout" or "swap" (Table 7).
        inner: "svi" (SaVAE: steps of stochastic variational inference from the encoder's posterior), "aggressive"
            (LagVAE: the encoder alone is updated until it is no longer behind, by the MI of validations) or "none".
        beta: the weight of KL at the end of the schedule.
        beta_schedule: "linear" (warm-up, then β), "cyclical" or "constant".

    Fields on which paper and code disagree (REFERENCE items in brackets; [1] is `posterior`):

    Args:
        circle_reduction: [4] "mean" (eq. 13), "sum" (eq. 18) or "each" (code); see `losses.dual_kl.circle_loss`.
        encoder_kl_term: [5] what a circle model's encoder minimises: "dual", β · E_q[f] (code), or "circle",
            ln(1 + exp(−Σf)) (eq. 19), which drives the posterior away from the prior.
        squared_term: [6] L_SQ, a part of the circle loss (kl="circle", two views): "none"; "paper": of the posterior's
            two views, in the critic's loss; "reference": of the prior's too, and × β in the encoder's loss; for g
            alone. It has no part in the other objectives, as `circle_reduction` and `encoder_kl_term` have none.
        contrastive_extras: [7] "none"; "normal" (Yahoo): unless the critic sees z alone, 3B draws from the prior are
            more negatives of z (of h there are none); or "reference" (PTB): the batch's mean stands in each view as
            one more sentence, and those draws are 3(B + 1).
        negatives_view: [7b] the negatives of z_i are the other "first" views (paper) or the other "second" ones (code).
        encoder_dropout: [9] of features of the encoder's embeddings, where it makes the two views; no word vanishes.
        plain_dropout: [9] the same where it makes none, for want of contrast or because words are swapped: 0 (clVAE,
            section 3.3, has dropout for its contrast alone), or 0.1 (most of the authors' scripts).
        encoder_dropout_on: [9] "both": of the encoder's last state too; or the "embedding" alone (the scripts for PTB
            and Yelp).
        critic_draws: [9b] "each" of the critics' steps draws z from the posterior anew, or "one" draw, that of the
            network's own step, serves all of them (Algorithm 1 and the code); the prior is drawn anew in either.
        clipping: [9b] of the gradient's norm: of encoder and decoder "together", or "apart" where there is a critic.
        decoder_start: [9b] what z begins an LSTM with: its "cell", c₀ = W z and h₀ = tanh c₀, or its "hidden" state,
            h₀ = W z + b and c₀ = 0 (code).
        output_bias: [9b] the output layer has a bias (code).
        beta_rise: [protocol] how fast β grows in the warm-up: its "own" end is reached when the warm-up is over, or, at
            the rate "common" to all ends, 1 is (code: 0.1 an epoch, so that 0.5 is reached after 4 of 9).
        beta_start: [10] β at the beginning of the warm-up, or of each cycle.
        beta_ramp: [10] the part of a cycle in which β grows.
        svi_steps: [10] of SaVAE.
        inner_optimizer: [10] of the weights where `inner` is not "none" (SaVAE, LagVAE): "adam", as elsewhere, or
            their authors' "sgd", whose rate is 1 whatever `learning_rate` says. Theirs also falls when a validation
            is no better; this one does not.

    Fields they agree on, or do not speak of:

    Args:
        text: "words" (tokenised, words apart by white space) or "sentences" (as people write).
        max_tokens: longer sentences are left out of training and evaluation, and counted.
        vocabulary_size: the most frequent words kept; 0: all.
        min_count: words seen less often are unknown.
        network: of encoder and decoder each: an "lstm" (paper), or "lm", adapters on a language model (as Optimus has
            it, Li et al. 2020), whose pieces take the place of words. Then `text`, `vocabulary_size`, `min_count`,
            `word_width`, `tie_embeddings`, `output_bias` and `decoder_start` have no meaning, and `initial_range` is
            of the posterior alone.
        base: of "lm" the language model: "smollm2", a folder, or a hub id.
        word_width, hidden_width, latent_width: in features.
        decoder_dropout: the share dropped of the features of the decoder's embeddings and states.
        initial_range: the network's weights begin uniform in ± this; the critics' as torch begins them.
        tie_embeddings: the output layer shares the decoder's word embeddings (word_width = hidden_width).
        temperature: τ of the contrast.
        contrast_weight: the weight of L_CL.
        critic_width: of the critics' hidden layers.
        critic_steps: updates of the critics a step.
        critic_learning_rate: their Adam's.
        learning_rate: Adam's.
        batch_size: sentences a step, over all processes.
        epochs: passes over the corpus.
    """

    objective: str = "clvae+_mi"
    posterior: Literal["point", "gaussian", "affine", "mlp"] = "affine"
    kl: Literal["none", "closed", "dual", "circle"] = "circle"
    critic: Literal["none", "xz", "z"] = "z"
    contrast: Literal["none", "z", "h"] = "z"
    positives: Literal["dropout", "swap"] = "dropout"
    inner: Literal["none", "svi", "aggressive"] = "none"
    beta: Amount = 1.0
    beta_schedule: Literal["constant", "linear", "cyclical"] = "linear"

    circle_reduction: Literal["mean", "sum", "each"] = "mean"
    encoder_kl_term: Literal["dual", "circle"] = "dual"
    squared_term: Literal["none", "paper", "reference"] = "none"
    contrastive_extras: Literal["none", "normal", "reference"] = "none"
    negatives_view: Literal["first", "second"] = "first"
    encoder_dropout: Share = 0.3
    plain_dropout: Share = 0.0
    encoder_dropout_on: Literal["both", "embedding"] = "both"
    critic_draws: Literal["each", "one"] = "each"
    clipping: Literal["together", "apart"] = "together"
    decoder_start: Literal["cell", "hidden"] = "cell"
    output_bias: bool = False
    beta_rise: Literal["own", "common"] = "own"
    beta_start: Amount = 0.0
    beta_ramp: Share = 0.5
    svi_steps: Steps = 20
    inner_optimizer: Literal["adam", "sgd"] = "adam"

    text: Literal["words", "sentences"] = "words"
    max_tokens: Length = 200
    vocabulary_size: Whole = 10_000
    min_count: Count = 1
    network: Literal["lstm", "lm"] = "lstm"
    base: str = "smollm2"
    word_width: Width = 256
    hidden_width: Width = 256
    latent_width: Width = 32
    decoder_dropout: Share = 0.5
    initial_range: Positive = 0.1
    tie_embeddings: bool = False
    temperature: Positive = 0.05
    contrast_weight: Amount = 1.0
    critic_width: Width = 512
    critic_steps: Whole = 5
    critic_learning_rate: Positive = 1e-5
    learning_rate: Positive = 1e-3
    batch_size: Count = 32
    epochs: Count = 40

    removed: ClassVar[Mapping[str, object]] = {
        "beta_warmup": 0.225, "beta_cycle": 0.25, "layers": 2, "heads": 4, "swap": 0.1,
        "critic_layers": 3, "clip_norm": 5.0, "svi_learning_rate": 1.0, "svi_momentum": 0.5, "svi_clip": 5.0,
        "aggressive_updates": 100, "aggressive_check": 15,
    }  # fmt: skip
    """Fields that checkpoints of 0.1.0 may name, and the only value that each still has."""

    def __post_init__(self) -> None:
        require_types(self)
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective {self.objective!r}; expected one of {', '.join(OBJECTIVES)}")
        by_critic = self.kl in ("dual", "circle")
        if self.kl == "closed" and self.posterior not in ("gaussian", "affine"):
            raise InputError(f"kl='closed' with posterior={self.posterior!r}; only 'gaussian' and 'affine' have one")
        if by_critic != (self.critic != "none"):
            raise InputError(f"kl={self.kl!r} with critic={self.critic!r}; 'dual' and 'circle' need 'xz' or 'z'")
        if self.inner == "svi" and (self.posterior != "gaussian" or self.kl != "closed"):
            kinds = f"posterior={self.posterior!r} and kl={self.kl!r}"
            raise InputError(f"inner='svi' with {kinds}; expected 'gaussian', which it refines, and 'closed'")
        if self.kl != "none" and self.posterior == "point":
            raise InputError(f"posterior='point' with kl={self.kl!r}; a point's is infinite: kl='none'")
        if self.inner == "svi" and self.contrast != "none":
            raise InputError("inner='svi' with contrast; what is contrasted is not refined: contrast='none'")
        if self.positives == "swap" and self.contrast == "none":
            raise InputError("positives='swap' with contrast='none', which has no second view; expected 'dropout'")
        if self.network == "lstm" and self.base != LatentConfig.base:
            raise InputError(f"base {self.base!r} with network='lstm', which has none; expected network='lm'")
        if self.network == "lstm" and self.tie_embeddings and self.word_width != self.hidden_width:
            raise InputError(
                f"tie_embeddings with word_width {self.word_width} and hidden_width {self.hidden_width}; expected one"
            )

    @property
    def views(self) -> int:
        """How often a sentence is encoded in a step."""
        return 1 if self.contrast == "none" else 2

    @property
    def dropout_of_encoder(self) -> float:
        """What share of the features of its embeddings the encoder drops."""
        return self.encoder_dropout if self.views == 2 and self.positives == "dropout" else self.plain_dropout

    @property
    def dropout_of_state(self) -> float:
        """The same of its last state."""
        return self.dropout_of_encoder if self.encoder_dropout_on == "both" else 0.0

    def with_objective(self, name: str) -> LatentConfig:
        """The same with that objective (see `OBJECTIVES`), its β and its schedule.

        Raises: InputError if there is none of that name.
        """
        if name not in OBJECTIVES:
            raise InputError(f"objective {name!r}; expected one of {', '.join(OBJECTIVES)}")
        plain: dict[str, Any] = {"critic": "none", "contrast": "none", "inner": "none", "beta_schedule": "linear"}
        if "posterior" not in OBJECTIVES[name] and self.posterior in ("point", "gaussian"):
            plain["posterior"] = "affine"
        return replace(self, **{**plain, "beta": 1.0, **OBJECTIVES[name]}, objective=name)

    def with_two_views(self) -> LatentConfig:
        """The same with two views of each sentence that nothing contrasts: what comes with contrast, without it."""
        return replace(self, contrast=self.contrast if self.views == 2 else "z", contrast_weight=0.0)

    @classmethod
    def compact(cls, **fields: Any) -> LatentConfig:
        """For sentences as people write them: trains on two cores, stays small, and its z tells them apart.

        Its objective's KL is known, and with β = 1 no row of Table 1 has a better bound, but z says little; β = 0.3
        costs a little of the bound (docs/tutorial-latent.md).
        """
        base = cls(
            text="sentences",
            vocabulary_size=8_000,
            min_count=2,
            word_width=192,
            hidden_width=192,
            tie_embeddings=True,
            batch_size=64,
            epochs=20,
        )
        return with_fields(replace(base.with_objective("vae+contrast"), beta=0.3), fields)

    @classmethod
    def lm(cls, **fields: Any) -> LatentConfig:
        """On a language model, for one pass over some thousand sentences, without dropout of ours in its decoder.

        Its objective is the default's: a strong decoder can do without z, which contrast is to prevent and, of a
        Gaussian posterior, has not after one pass over 5,000 sentences (docs/results/clvae.md). Its critics learn a
        hundred times as fast as the authors', who take 260,000 of their steps where this has some thousand.
        """
        base = cls(network="lm", decoder_dropout=0.0, critic_learning_rate=1e-3, batch_size=16, epochs=1)
        return with_fields(base, fields)

    @classmethod
    def paper(cls, **fields: Any) -> LatentConfig:
        """As the paper's text says, of clVAE+_MI on PTB; the baselines as their own papers say."""
        preset = cls(
            posterior="mlp",
            circle_reduction="sum",
            encoder_kl_term="circle",
            squared_term="paper",
            critic_draws="one",
            inner_optimizer="sgd",
        )
        return with_fields(preset, fields)

    @classmethod
    def reference(cls, corpus: Literal["ptb", "yahoo", "yelp"] = "ptb", **fields: Any) -> LatentConfig:
        """As the authors' script of that corpus behaves: of clVAE+_MI, and of clVAE_MI with contrast on h (Yelp)."""
        common: dict[str, Any] = {
            "negatives_view": "second",
            "beta_start": 0.1,
            "beta_ramp": 1.0,
            "svi_steps": 10,
            "plain_dropout": 0.1,
            "circle_reduction": "each",
            "encoder_dropout_on": "embedding",
            "critic_draws": "one",
            "clipping": "apart",
            "decoder_start": "hidden",
            "output_bias": True,
            "beta_rise": "common",
        }
        if corpus == "ptb":
            common |= {"squared_term": "reference", "contrastive_extras": "reference", "encoder_dropout": 0.5}
            return with_fields(cls(**common), fields)
        common |= {"word_width": 512, "hidden_width": 1024, "learning_rate": 8e-4, "initial_range": 0.01}
        common |= {"vocabulary_size": 20_000, "encoder_dropout": 0.1}
        if corpus == "yahoo":
            common |= {"contrastive_extras": "normal", "encoder_dropout_on": "both"}
            return with_fields(cls(**common), fields)
        if corpus != "yelp":
            raise InputError(f"corpus {corpus!r}; expected one of ptb, yahoo, yelp")
        return with_fields(cls(objective="clvae_mi", kl="dual", contrast="h", **common), fields)
