"""The latent-variable family on text: sentences to latent vectors and back.

Shape key: N sentences or vectors, S samples of each, T words, Z latent, H features of the decoder's state, P numbers
that name a sentence's posterior, V words of the vocabulary, C = V filled up to whole cache lines, R rows decoded
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import Ragged, SentenceBatch, Vocabulary
from paraform.decoding import MOST_SEED, Decoding, require_decoding
from paraform.encoders import float32_products
from paraform.fields import require_restorable
from paraform.losses.vocabulary import filled_up
from paraform.models.latent.causal import Base
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.critic import Critics
from paraform.models.latent.network import LatentNetwork
from paraform.models.latent.posterior import Diagonal
from paraform.models.latent.svi import refine, torch_kernels
from paraform.models.latent.texts import Lexicon, Words
from paraform.models.writing import Ends, written_rows
from paraform.records import InputError, require_count, require_text, require_texts

ROWS_AT_ONCE = 256  # sentences that are encoded together
MOST_AT_ONCE = 10**7  # sentences, steps or samples that are asked for together; each takes some hundred bytes
ASSETS = {"lstm": "vocabulary.json", "lm": "base.json"}  # by network, what a checkpoint holds beside weights
WORDS = 1 << 32  # what the seed of words is above that of vectors


@final
class LatentLanguageModel(nn.Module):
    """A text autoencoder: `sample`, `interpolate`, `reconstruct`, and what honest estimators ask of it.

    Args:
        config: the objective, sizes and choices.
        of: the words of encoder and decoder, of the network "lstm"; the base, of "lm", which no checkpoint holds.
    """

    system: ClassVar[str] = "latent"
    config_class: ClassVar[type] = LatentConfig
    kind: ClassVar[str] = "a latent-variable model"
    vector_names: ClassVar[tuple[str, ...]] = ("mean",)

    def __init__(self, config: LatentConfig, of: Vocabulary | Base) -> None:
        super().__init__()
        self.config, self._of = config, of
        base = of if isinstance(of, Base) else None
        self.units: Lexicon = Words(of, config.text) if isinstance(of, Vocabulary) else of.pieces
        self.network = LatentNetwork(config, len(self.units), base)
        self.critics = Critics(config) if config.critic != "none" else None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.network.output.weight.device

    # What evaluation asks for (`evaluation.latent.LatentModel`).

    @property
    def latent_width(self) -> int:
        """Z."""
        return self.config.latent_width

    @property
    def has_noise(self) -> bool:
        """Whether z is drawn: of all but a "point"."""
        return self.config.posterior != "point"

    @property
    def has_density(self) -> bool:
        """Whether q(z|x) has a density: that of a Gaussian has."""
        return self.config.posterior in ("gaussian", "affine")

    @property
    def max_tokens(self) -> int:
        """The most words of a text that the model reads."""
        return self.config.max_tokens

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the network "lstm". Raises: TypeError for "lm", which has pieces."""
        if not isinstance(self._of, Vocabulary):
            raise TypeError("a language model's pieces are no vocabulary of words; see `units`")
        return self._of

    @property
    def lexicon(self) -> tuple[str, frozenset[str]]:
        """How texts are split, and the words known: likelihoods compare between models of one lexicon."""
        return self.units.known

    def words(self, text: str) -> list[str]:
        """A text's words, or its pieces, as the model reads them."""
        return self.units.split(require_text(text, "the text"))

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Words of each text, `</s>` counted: what perplexity divides by."""
        return [len(row) + 1 for row in self._read(texts)]

    def unknown(self, texts: Sequence[str]) -> int:
        """How many words of the texts the vocabulary lacks, those included that a corpus writes `<unk>`."""
        return sum(self.units.unknown(row) for row in self._read(texts))

    @torch.no_grad()
    def encode(self, texts: Iterable[str], *, batch_size: int = ROWS_AT_ONCE) -> Tensor:
        """What names each text's posterior: [N, P]; the encoder's state, or the mean and log-variance after SVI.

        Raises: InputError for a text that is empty or longer than what the model was trained on.
        """
        require_count(batch_size, "batch_size", 1)
        rows, encoded = self._read(texts), []
        if not rows:
            width = 2 * self.config.latent_width if self.config.inner == "svi" else self.config.hidden_width
            return torch.zeros(0, width, device=self.device)
        devices = [self.device] if self.device.type == "cuda" else []
        with self._evaluating(), torch.random.fork_rng(devices=devices):
            for at in range(0, len(rows), batch_size):
                torch.manual_seed(0)  # SVI's noise is the same for all texts
                encoded.append(self._encode(self._batch(rows[at : at + batch_size])))
            return torch.cat(encoded)

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Without dropout, which would make of a sentence another each time."""
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)

    def _encode(self, batch: SentenceBatch) -> Tensor:
        state_NH: Tensor = self.network.encoder(batch.words_BT, batch.lengths_B)
        if self.config.inner != "svi":
            return state_NH
        gaussian = self.network.posterior.gaussian(state_NH)

        def loss(variables: Tensor) -> Tensor:
            posterior = Diagonal(*variables.chunk(2, -1))
            z_NZ = posterior.draw(torch.randn_like(posterior.mean_BZ[:1]))  # one for all: equal texts stay so
            total = (self.network.reconstruction(batch, z_NZ) + self.config.beta * posterior.kl()).sum()
            return total / self.config.batch_size  # a step is as long as in training, whatever is refined together

        steps, scale = self.config.svi_steps, (len(state_NH) / self.config.batch_size) ** 0.5
        first, weights = torch.cat(gaussian, -1), self.network.output.parameters()
        with torch_kernels(self.device):
            return refine(loss, first, weights, steps=steps, scale=scale)[0]

    @torch.no_grad()
    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        """E[z|x] of what `encode` gave: [N, Z]; None for "mlp", where only samples tell."""
        if self.config.posterior == "mlp":
            return None
        if self.config.inner == "svi":
            return encoded.chunk(2, -1)[0]
        with float32_products(self.device):  # the same mean as that of the density, which may be narrow
            return self.network.posterior.mean_of(encoded)

    @torch.no_grad()
    def posterior_root(self, encoded: Tensor) -> Tensor:
        """A [N, Z, Z] with the covariance A Aᵀ. Raises: as `log_posterior`."""
        root_NZZ: Tensor = self._gaussian(encoded).root().detach()  # a view of a weight, otherwise
        return root_NZZ

    @torch.no_grad()
    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z] of what `encode` gave; of a "point", the same S times.

        Where there is a density, float64: in float32 a z of a narrow posterior is not where it was drawn.
        """
        shape = (samples, len(encoded), self.config.latent_width)
        return self._posterior_of(encoded, torch.randn(shape, generator=generator, device=self.device))

    @torch.no_grad()
    def _posterior_of(self, encoded: Tensor, noise_SNZ: Tensor) -> Tensor:
        """z [S, N, Z] that the noise makes."""
        if self.config.inner == "svi":
            return Diagonal(*encoded.chunk(2, -1)).draw(noise_SNZ.double())
        with float32_products(self.device):  # a rounded z is a long way off where its posterior is narrow
            if self.config.posterior == "mlp":  # a sample of each at once bounds the memory of its hidden layer
                return torch.stack([self.network.posterior(encoded, noise_NZ) for noise_NZ in noise_SNZ])
            wide = self.config.posterior != "point"
            z_SNZ: Tensor = self.network.posterior(encoded, noise_SNZ.double() if wide else noise_SNZ)
        return z_SNZ

    @torch.no_grad()
    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        """ln q(z|x): [S, N] nats. Raises: TypeError for "mlp" and "point", which have no density."""
        log_density_SN: Tensor = self._gaussian(encoded).log_density(z_SNZ)
        return log_density_SN

    @torch.no_grad()
    def closed_kl(self, encoded: Tensor) -> Tensor:
        """KL(q(z|x) ‖ N(0, I)): [N] nats. Raises: as `log_posterior`."""
        kl_N: Tensor = self._gaussian(encoded).kl()
        return kl_N

    @torch.no_grad()
    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        """ln p(x|z), `</s>` counted: [S, N] nats."""
        samples = len(z_SNZ)
        batch = self._batch(self._read(texts)).repeated(samples)
        with self._evaluating():
            return -self.network.reconstruction(batch, z_SNZ.flatten(0, 1).float()).view(samples, len(texts))

    @torch.no_grad()
    def critic_values(self, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor] | None:
        """f(x, z) and g(z): [S, N] each; None if the model has no critics."""
        if self.critics is None:
            return None
        values = [self.critics(encoded, z_NZ.float()) for z_NZ in z_SNZ]  # a sample of each at once bounds the memory
        return torch.stack([f for f, _ in values]), torch.stack([g for _, g in values])

    def _gaussian(self, encoded: Tensor) -> Any:
        if self.config.inner == "svi":
            return Diagonal(*encoded.chunk(2, -1))
        with float32_products(self.device):
            return self.network.posterior.gaussian(encoded)

    # What people ask for.

    def vectors(
        self, texts: Iterable[str], *, samples: int = 128, seed: int = 0, batch_size: int = ROWS_AT_ONCE
    ) -> Tensor:
        """E[z|x] of each text: [N, Z]; of an implicit posterior the mean of samples, of one noise for all texts.

        Raises: InputError for no samples, and as `encode`.
        """
        require_count(samples, "samples", 1, MOST_AT_ONCE)
        encoded = self.encode(texts, batch_size=batch_size)
        mean_NZ = self.posterior_mean(encoded)
        if mean_NZ is not None:
            return mean_NZ
        noise_S1Z = torch.randn(samples, 1, self.latent_width, generator=self._generator(seed), device=self.device)
        return self._posterior_of(encoded, noise_S1Z.expand(-1, len(encoded), -1)).mean(0)

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> npt.NDArray[np.float32]:
        """`vectors`, as every model that embeds is asked (`capabilities.Embedder`)."""
        require_count(batch_size, "batch_size")
        found: npt.NDArray[np.float32] = (
            self.vectors(texts, seed=seed, batch_size=batch_size or ROWS_AT_ONCE).cpu().numpy()
        )
        return found

    def sample(self, count: int, **how: Unpack[Decoding]) -> list[str]:
        """Sentences of z drawn from the prior, by `how["seed"]`; see `Decoding`.

        Raises: InputError for a negative count, or two ways of decoding that are mixed.
        """
        require_count(count, "count", 0, MOST_AT_ONCE)
        require_decoding(how, copies=False)
        generator = self._generator(how.get("seed", 0))
        return self.decode(torch.randn(count, self.config.latent_width, generator=generator, device=self.device), **how)

    def interpolate(self, first: str, second: str, *, steps: int = 11, **how: Unpack[Decoding]) -> list[str]:
        """Sentences on the straight line from one's latent vector to the other's (clVAE, section 4.5).

        Args:
            steps: sentences, both ends among them.
            how: see `Decoding`.
        Raises: InputError if there are fewer than 2 steps, or an end is empty.
        """
        require_count(steps, "steps", 2, MOST_AT_ONCE)
        require_decoding(how, copies=False)
        ends_2Z = self.vectors([first, second], seed=how.get("seed", 0))
        shares_S1 = torch.linspace(0, 1, steps, device=self.device)[:, None]
        return self.decode(torch.lerp(ends_2Z[:1], ends_2Z[1:], shares_S1), **how)

    def reconstruct(self, texts: Iterable[str], **how: Unpack[Decoding]) -> list[str]:
        """Each text, decoded from its latent vector E[z|x]; see `Decoding`."""
        require_decoding(how, copies=False)
        size = how.get("batch_size", ROWS_AT_ONCE)
        return self.decode(self.vectors(texts, seed=how.get("seed", 0), batch_size=size), **how)

    def decode(self, z_NZ: Tensor, **how: Unpack[Decoding]) -> list[str]:
        """The sentences that latent vectors are decoded as; see `Decoding`.

        Args:
            z_NZ: [N, Z], on any device and of any kind of number.
        Raises: InputError for vectors of another shape or that are not finite, or two ways of decoding that are mixed.
        """
        if not isinstance(z_NZ, Tensor) or z_NZ.ndim != 2 or z_NZ.shape[1] != self.latent_width:
            came = f"{list(z_NZ.shape)}" if isinstance(z_NZ, Tensor) else f"a {type(z_NZ).__name__}"
            raise InputError(f"{came}; expected a tensor of vectors, [N, {self.latent_width}]")
        if not bool(z_NZ.isfinite().all()):
            raise InputError("vectors that are not finite; expected numbers")
        z_NZ = z_NZ.to(self.device, self.network.output.weight.dtype)
        with self._evaluating():
            scored = len(self.network.output.weight)  # of some bases more than there are pieces
            never = [number for number in (*self.units.never, *range(len(self.units), scored)) if number < scored]
            rows = decode_vectors(self.network, z_NZ, longest=self.config.max_tokens, never=never, **how)
        return [self.units.write(row) for row in rows]

    def _read(self, texts: Iterable[str]) -> list[list[int]]:
        rows = []
        for number, text in enumerate(require_texts(texts)):
            words = self.units.split(text)
            if not words:
                raise InputError(f"text {number + 1} is empty; expected a sentence")
            if len(words) > self.config.max_tokens:
                raise InputError(
                    f"text {number + 1} has {len(words):,} words; expected at most {self.config.max_tokens}, as trained"
                )
            rows.append(self.units.encode(words))
        return rows

    def _batch(self, rows: Sequence[Sequence[int]]) -> SentenceBatch:
        return SentenceBatch(*Ragged.of(rows).padded(np.arange(len(rows)))).to(self.device)

    def _generator(self, seed: int) -> torch.Generator:
        require_count(seed, "seed", -MOST_SEED, MOST_SEED)
        return torch.Generator(self.device).manual_seed(seed)

    def assets(self) -> dict[str, str]:
        """The vocabulary, or what the base is."""
        return {ASSETS[self.config.network]: self._of.to_json()}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> LatentLanguageModel:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if the asset is missing or damaged, a field is unknown, or the base is not to be had.
        """
        name = ASSETS.get(str(config.get("network")), ASSETS["lstm"])
        require_restorable(LatentConfig, config, assets, (name,))
        made = LatentConfig(**config)
        if made.network == "lm":
            return cls(made, Base.restored(made.base, assets[name], name))
        return cls(made, Vocabulary.from_json(assets[name]))


@torch.inference_mode()
def decode_vectors(
    network: LatentNetwork, z_NZ: Tensor, *, longest: int, never: Sequence[int], **how: Unpack[Decoding]
) -> list[list[int]]:
    """Word numbers of each vector's sentence, without `</s>`.

    Args:
        network: in evaluation mode.
        longest: words of a sentence.
        never: numbers that are not decoded.
    Raises: InputError for an option that is none, a beam that cannot be, or two ways of decoding that are mixed.
        ValueError for a temperature or a share that cannot be, or scores that are not finite.
    """
    require_decoding(how, copies=False)
    beam, size = how.get("beam", 1), how.get("batch_size", network.decoder.rows)
    weight_VH = network.output.weight
    words = len(weight_VH)
    # One buffer for all steps, since memory from the system is slow, its rows whole cache lines, which a product writes
    # faster.
    weight_HC = F.pad(weight_VH.t(), (0, filled_up(words) - words)).contiguous()
    scores_RC = weight_HC.new_empty(min(size, len(z_NZ)) * beam, weight_HC.shape[1])
    bias_C = None if network.output.bias is None else F.pad(network.output.bias, (0, weight_HC.shape[1] - words))

    def step(memory: Any, tokens_N: Tensor) -> tuple[Tensor, Any]:
        state_NH, memory = network.decoder.step(memory, tokens_N.to(weight_HC.device))
        scores_NC = torch.mm(state_NH.to(weight_HC.dtype), weight_HC, out=scores_RC[: len(state_NH)])
        if bias_C is not None:
            scores_NC += bias_C
        scores_NC[:, list(never)] = float("-inf")
        if beam > 1:
            scores_NC[:, words:] = float("-inf")
            torch.log_softmax(scores_NC, -1, out=scores_NC)
        return scores_NC[:, :words], memory

    # Another stream than that of the vectors, which may have been drawn by the same seed, or by the next.
    how = {**how, "batch_size": size, "seed": how.get("seed", 0) + WORDS}
    alike = [0] * len(z_NZ)  # nobody knows how long a sentence is to be
    ends = Ends(network.start, network.stop, longest)
    return written_rows(
        lambda rows: network.decoder.start(z_NZ[rows]), step, (alike, alike), how, ends, weight_VH.device,
        shown="decoding",
    )  # fmt: skip
