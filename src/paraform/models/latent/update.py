"""One optimisation step of every objective of the family (clVAE, algorithm 1, and what it is compared with)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, final

import torch
from torch import Tensor, nn

from paraform.batching import SentenceBatch
from paraform.encoders import float32_products
from paraform.losses.dual_kl import circle_posterior_term, squared_differences
from paraform.losses.latent_contrast import latent_contrast
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.critic import Critics, train_critics, views_of
from paraform.models.latent.network import Outputs
from paraform.models.latent.posterior import Diagonal
from paraform.models.latent.svi import gradient_through, refine
from paraform.models.latent.views import SWAPPED, swapped
from paraform.models.update import State, Update, gather_with_gradient, terms_of
from paraform.schedules import Schedule, constant, cyclical, linear_ramp

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator

Draw = Callable[[int], list[SentenceBatch]]

WARM_UP, CYCLE = 9 / 40, 10 / 40  # parts of a run in which β grows, and that a cycle takes: PTB's 40 epochs
CLIP_NORM = 5.0  # the largest norm of the network's gradient
# LagVAE updates the encoder alone fewer times than that before a joint update, and looks every so many updates whether
# the loss still falls (He et al. 2019).
MOST_ALONE, LOOK_EVERY = 100, 15


class Trained(Protocol):
    """What is trained: a network of sentences, or of anything whose passes give the same `Outputs`."""

    @property
    def network(self) -> nn.Module: ...
    @property
    def critics(self) -> Critics | None: ...


def make_update(
    model: Trained,
    config: LatentConfig,
    accelerator: Accelerator,
    *,
    draw: Draw | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One step on −ln p(x|z) + β · KL + contrast, each a mean over the sentences and a sum over their views.

    Args:
        draw: further batches, for LagVAE's updates of the encoder alone.
        steps_per_epoch: for the schedule of β.
    Returns: the update, which gives `loss`, `reconstruction`, `kl` where it has a closed form (nats a sentence, the
        mean of the views), `dual_kl` and `dual_kl_latent` by the critics where there are some, `contrast`, `beta` and
        `gradient_norm`; and the optimisers' state.
    Raises: ValueError if inner="aggressive" and there is no `draw`.
    """
    if config.inner == "aggressive" and draw is None:
        raise ValueError("inner='aggressive' needs further batches: make_update(…, draw=draw)")
    if config.inner != "none" and accelerator.num_processes > 1:
        raise ValueError(f"inner={config.inner!r} on several processes, which would not stay in step: train it in one")
    step = _Step(model, config, accelerator, draw, beta_schedule(config, config.epochs * steps_per_epoch))
    return step, State(step.optimizers, step.on_validation)


def beta_schedule(config: LatentConfig, total: int) -> Schedule:
    """β of every step of a run of that many."""
    start = min(config.beta_start, config.beta)
    if config.beta_schedule == "cyclical":
        return cyclical(start=start, end=config.beta, period=max(1, total * CYCLE), ramp=config.beta_ramp)
    if config.beta_schedule == "linear":
        part = 1.0
        if config.beta_rise == "common" and config.beta_start < 1:
            part = (config.beta - start) / (1 - config.beta_start)
        return linear_ramp(start=start, end=config.beta, steps=round(total * WARM_UP * part))
    return constant(config.beta)


@final
class _Step:
    """`update(batch, step)`: LagVAE's encoder steps, then the critics' steps, then the network's own."""

    def __init__(self, model: Any, config: LatentConfig, accelerator: Any, draw: Draw | None, beta: Schedule) -> None:
        self.model, self.config, self.accelerator, self.draw, self.beta = model, config, accelerator, draw, beta
        network = model.network
        encoder = [*network.encoder.parameters(), *network.posterior.parameters()]
        known = {id(weight) for weight in encoder}
        self.decoder = [weight for weight in network.parameters() if id(weight) not in known]
        apart = config.clipping == "apart" and config.critic != "none"
        self.clipped = [encoder, self.decoder] if apart else [[*encoder, *self.decoder]]
        # The encoder has an optimiser of its own, so that LagVAE can step it alone.
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "encoder": self._optimizer(encoder),
            "decoder": self._optimizer(self.decoder),
        }
        self.network, self.encoder_step, self.decoder_step = accelerator.prepare(network, *self.optimizers.values())
        if model.critics is not None:
            adam = torch.optim.Adam(model.critics.parameters(), lr=config.critic_learning_rate, fused=True)
            self.optimizers["critics"] = adam
            self.critics, self.critics_step = accelerator.prepare(model.critics, adam)
        self.behind = config.inner == "aggressive"  # whether the encoder still lags
        self.information = -math.inf

    def _optimizer(self, weights: Sequence[Tensor]) -> torch.optim.Optimizer:
        if self.config.inner_optimizer == "sgd" and self.config.inner != "none":
            return torch.optim.SGD(weights, lr=1.0)
        return torch.optim.Adam(weights, lr=self.config.learning_rate, fused=True)

    def on_validation(self, scores: Mapping[str, float]) -> None:
        """LagVAE's aggressive phase is over when the validation's mutual information falls (He et al. 2019)."""
        information = scores.get("mi", math.nan)
        if information < self.information:
            self.behind = False
        self.information = information

    def __call__(self, batch: SentenceBatch, step: int) -> dict[str, float]:
        beta = self.beta(step)
        batch = batch.to(self.accelerator.device)
        updates = self._catch_up(batch, beta) if self.behind else 0
        if self.config.inner == "svi":
            with float32_products(batch.words_BT.device):  # what goes through SVI are differences of gradients
                terms = self._refined(batch, beta)
        else:
            terms = self._plain(batch, beta)
        norm = self._clip()
        self.encoder_step.step()
        self.decoder_step.step()
        more = {"encoder_updates": float(updates)} if self.config.inner == "aggressive" else {}
        return terms_of(**terms) | more | {"beta": beta, "gradient_norm": norm}

    def _clip(self) -> float:
        """Cut the gradient, and return the norm that it had."""
        return math.hypot(*(self.accelerator.clip_grad_norm_(part, CLIP_NORM).item() for part in self.clipped))

    def _zero(self) -> None:
        self.encoder_step.zero_grad()
        self.decoder_step.zero_grad()

    def _forward(self, batch: SentenceBatch) -> Outputs:
        config = self.config
        target = batch.repeated(config.views)
        source = target
        if config.positives == "swap":
            other = swapped(batch, SWAPPED)
            source = SentenceBatch(torch.cat([batch.words_BT, other.words_BT]), target.lengths_B)
        noise_RZ = torch.randn(len(target.words_BT), config.latent_width, device=self.accelerator.device)
        out: Outputs = self.network(source, noise_RZ, target)
        return out

    def _plain(self, batch: SentenceBatch, beta: float) -> dict[str, Tensor]:
        """The gradient of every objective but SaVAE; returns the terms."""
        config, views = self.config, self.config.views
        out = self._forward(batch)
        terms = {"reconstruction": out.reconstruction_R.mean()}
        loss = views * terms["reconstruction"]
        if out.kl_R is not None:
            terms["kl"] = out.kl_R.mean()
            loss = loss + views * beta * terms["kl"]
        elif self.model.critics is not None:
            state_RH, z_RZ = out.state_RH.detach(), out.z_RZ.detach()

            def draw() -> Tensor:
                one = config.critic_draws == "one"
                return z_RZ if one else self.model.network.posterior(state_RH, torch.randn_like(z_RZ))

            backward = self.accelerator.backward
            duals = train_critics(self.critics, self.critics_step, backward, state_RH, draw, config)
            terms |= {"dual_kl": duals.of_sentence, "dual_kl_latent": duals.of_latent}
            loss = loss + beta * self._by_critic(out)
        if config.contrast != "none":
            terms["contrast"] = self._contrast(out)
            loss = loss + config.contrast_weight * terms["contrast"]
        self._zero()
        self.accelerator.backward(loss)
        return {"loss": loss, **terms}

    def _by_critic(self, out: Outputs) -> Tensor:
        """What the encoder's KL term is, summed over the views; the critics' own weights get no gradient."""
        config, critics = self.config, self.model.critics
        assert critics is not None
        critics.requires_grad_(False)
        values_R = critics.latent(out.z_RZ) if config.critic == "z" else critics.sentence(out.state_RH, out.z_RZ)
        critics.requires_grad_(True)
        views = views_of(values_R, config.views)
        circle = config.kl == "circle"
        if circle and config.encoder_kl_term == "circle":
            terms = [circle_posterior_term(view, reduction=config.circle_reduction) for view in views]
        else:
            terms = [view.mean() for view in views]
        term = torch.stack(terms).sum()
        if circle and config.squared_term == "reference" and config.critic == "z" and config.views == 2:
            term = term + squared_differences(*views)
        return term

    def _contrast(self, out: Outputs) -> Tensor:
        config = self.config
        first, second = (
            gather_with_gradient(view) for view in (out.z_RZ if config.contrast == "z" else out.state_RH).chunk(2)
        )
        extra = None
        if config.contrastive_extras == "reference":
            first, second = (torch.cat([view.mean(0, keepdim=True), view]) for view in (first, second))
        if config.contrastive_extras != "none" and config.critic != "z" and config.contrast == "z":
            extra = torch.randn(3 * len(first), first.shape[1], device=first.device)
        return latent_contrast(
            first,
            second,
            temperature=config.temperature,
            negatives_view=config.negatives_view,
            extra_negatives=extra,
        )

    def _refined(self, batch: SentenceBatch, beta: float) -> dict[str, Tensor]:
        """SaVAE's gradient: through the decoder at the refined posterior, and through the refining to the encoder."""
        config, network = self.config, self.model.network
        state_BH = network.encoder(batch.words_BT, batch.lengths_B)
        begun = network.posterior.gaussian(state_BH)
        assert isinstance(begun, Diagonal)
        first = torch.cat(begun, -1)

        def parts(variables: Tensor) -> tuple[Tensor, Tensor]:
            posterior = Diagonal(*variables.chunk(2, -1))
            z_BZ = posterior.draw(torch.randn_like(posterior.mean_BZ))
            return network.reconstruction(batch, z_BZ).mean(), posterior.kl().mean()

        def loss_of(variables: Tensor) -> Tensor:
            reconstruction, kl = parts(variables)
            return reconstruction + beta * kl

        last, taken = refine(loss_of, first, network.output.parameters(), steps=config.svi_steps)
        last.requires_grad_()
        reconstruction, kl = parts(last)
        loss = reconstruction + beta * kl
        self._zero()
        self.accelerator.backward(loss)
        assert last.grad is not None
        torch.autograd.backward(first, gradient_through(loss_of, taken, last.grad, self.decoder))
        return {"loss": loss, "reconstruction": reconstruction, "kl": kl}

    def _catch_up(self, batch: SentenceBatch, beta: float) -> int:
        """LagVAE: update the encoder alone, each time on another batch, until the loss of a word no longer falls.

        Batches are of one length each, so that losses of sentences would tell of their lengths.
        """
        assert self.draw is not None
        before, window, words, updates = math.inf, 0.0, 0, 0
        while updates < MOST_ALONE - 1:
            updates += 1
            window += self._plain(batch, beta)["loss"].item() * len(batch.lengths_B)
            words += int(batch.lengths_B.sum()) + len(batch.lengths_B)
            self._clip()
            self.encoder_step.step()
            (batch,) = (one.to(self.accelerator.device) for one in self.draw(1))
            if updates % LOOK_EVERY == 0:
                if window / words > before:
                    break
                before, window, words = window / words, 0.0, 0
        return updates
