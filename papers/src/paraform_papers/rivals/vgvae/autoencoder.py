"""VGVAE and CGEN on text: sentences to meaning and form, paraphrases in the form of an exemplar, and densities.

Shape key: N sentences or latent vectors, S samples of each, P numbers that name a sentence's posterior, L = M + Z
latent, M dimensions of the semantic sphere's space, Z syntactic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeAlias, Unpack, final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.batching import BOS, EOS, PAD, UNK, Vocabulary, prepare_all
from paraform.decoding import MOST_SEED, Decoding, require_decoding, search_name
from paraform.fields import require_restorable
from paraform.models.base import AbstractParaphraser, require_words
from paraform.models.copying import Scorer, unconstrained
from paraform.models.latent.posterior import LOG_2_PI
from paraform.models.writing import BATCH, Ends, numbers_batch, written_rows
from paraform.progress import track
from paraform.records import InputError, require_count, require_text, require_texts
from paraform.words import detokenize, drop_stray_brackets, recase, tokenize
from paraform_papers.rivals.vgvae.config import VgvaeConfig
from paraform_papers.rivals.vgvae.network import Memory, VgvaeNetwork
from paraform_papers.rivals.vgvae.posterior import Product, parts_of
from paraform_papers.rivals.vgvae.table import numbered
from paraform_papers.rivals.vgvae.von_mises_fisher import log_uniform

Array: TypeAlias = npt.NDArray[np.float32]

NEVER = (PAD, UNK, BOS)
MOST_AT_ONCE = 10**7  # sentences or steps that are asked for together
WORDS = 1 << 32  # what the seed of words is above that of vectors


@final
class Vgvae(AbstractParaphraser):
    """What a sentence says, a direction, and how, a Gaussian: vectors, and paraphrases of an exemplar's form.

    Chen et al. 2019: VGVAE (NAACL) by `form="averages"`, CGEN (ACL) by `form="lstm"`, which alone writes sentences. A
    paraphrase is decoded from μ of the source and the mean of the exemplar.

    Args:
        config: sizes and choices.
        vocabulary: words of encoders and decoder.
    """

    system: ClassVar[str] = "vgvae"
    config_class: ClassVar[type] = VgvaeConfig
    kind: ClassVar[str] = "a VGVAE model"
    copies: ClassVar[bool] = True
    vector_names: ClassVar[tuple[str, ...]] = ("content", "style")
    asks: ClassVar[str] = "like=[exemplar] (--like)"
    config: VgvaeConfig

    def __init__(self, config: VgvaeConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.network = VgvaeNetwork(config, len(vocabulary))

    # Vectors.

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> Array:
        """Vectors of texts, float32 [N, M] or [N, Z]; of a text without any word 0.

        Args:
            name: "content", the direction μ of what it says, of length 1, or "style", the mean of how it says it; "":
                the first.
        Raises: InputError for another name.
        """
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        if name not in ("", *self.vector_names):
            raise InputError(f"vectors {str(name)[:40]!r}; expected {' or '.join(self.vector_names)}")
        words = prepare_all(texts, self.config.max_tokens, tell=self.kind)
        return self._vectors(words, style=name == "style", size=batch_size or BATCH, progress=progress)

    def _vectors(
        self, words: Sequence[Sequence[str]], *, style: bool, size: int = BATCH, progress: bool = False
    ) -> Array:
        width = self.config.syntax_width if style else self.config.semantic_width
        rows = numbered(words, self.vocabulary)
        out_ND = np.zeros((len(rows), width), np.float32)
        order = sorted((row for row in range(len(rows)) if rows[row]), key=lambda row: len(rows[row]))
        with self._evaluating(), torch.inference_mode():
            starts = range(0, len(order), size)
            for start in track(starts, "embedding", show=progress):
                some = order[start : start + size]
                batch = numbers_batch([rows[row] for row in some], self.device)
                found = self.network.syntax(batch).mean_BZ if style else self.network.semantic(batch).direction_BM
                out_ND[some] = found.float().cpu().numpy()
        return out_ND

    def content(self, texts: Sequence[str]) -> Array:
        """Directions of what texts say: float32 [N, M]."""
        return self.embed(texts, "content")

    def style(self, texts: Sequence[str]) -> Array:
        """Vectors of how texts say it: float32 [N, Z]."""
        return self.embed(texts, "style")

    # Paraphrases.

    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        self._require_writing()
        written = require_words(prepare_all(sources, self.config.max_tokens, tell=self.kind), "source")
        forms = require_words(prepare_all(exemplars, self.config.max_tokens, tell=self.kind), "exemplar")
        latent = self._vectors(written, style=False), self._vectors(forms, style=True)
        limit = written if self._constrains(how) else None
        words = self._write(torch.from_numpy(np.concatenate(latent, 1)), how, [len(form) for form in forms], limit)
        return [
            detokenize(recase(drop_stray_brackets(said), self.vocabulary.cased, source))
            for said, source in zip(words, written, strict=True)
        ]

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        return {"decode": search_name(how), "decoder": "float32", "constrain_repetition": self._constrains(how)}

    # What evaluation asks for (`evaluation.latent.LatentModel`), of latent vectors [y; z].

    @property
    def latent_width(self) -> int:
        """L."""
        return self.config.semantic_width + self.config.syntax_width

    @property
    def has_noise(self) -> bool:
        """Both parts are drawn."""
        return True

    @property
    def has_density(self) -> bool:
        """Both have a density, and a KL in closed form."""
        return True

    @property
    def max_tokens(self) -> int:
        """The most words of a text that the model reads."""
        return self.config.max_tokens

    @property
    def lexicon(self) -> tuple[str, frozenset[str]]:
        """How texts are split, and the words known: likelihoods compare between models of one lexicon."""
        how = "sentences" if self.config.form == "lstm" else "bags of words"
        return how, frozenset(self.vocabulary.words)

    def words(self, text: str) -> list[str]:
        """A text's words, as the model reads them."""
        return tokenize(require_text(text, "the text"))

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Words of each text, `</s>` counted where there is one: what perplexity divides by."""
        ends = 1 if self.config.form == "lstm" else 0
        return [len(row) + ends for row in self._read(texts)]

    def unknown(self, texts: Sequence[str]) -> int:
        """How many words of the texts the vocabulary lacks."""
        return sum(row.count(UNK) for row in self._read(texts))

    @torch.no_grad()
    def encode(self, texts: Iterable[str], *, batch_size: int = BATCH) -> Tensor:
        """What names each text's posterior: [N, P].

        Raises: InputError for a text that is empty or longer than the model reads.
        """
        require_count(batch_size, "batch_size", 1)
        rows, encoded = self._read(texts), []
        with self._evaluating():
            for at in range(0, len(rows), batch_size):
                batch = numbers_batch(rows[at : at + batch_size], self.device)
                encoded.append(self.network.posterior(batch, batch).packed())
        width = self.config.semantic_width + 1 + 2 * self.config.syntax_width
        return torch.cat(encoded) if encoded else torch.zeros(0, width, device=self.device)

    def proposal(self, encoded: Tensor) -> Product:
        """The posteriors that `encode` gave, to draw from, tempered too."""
        return Product.of(encoded, self.config.semantic_width)

    @torch.no_grad()
    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        """E[y; z], [N, L]; that of y is shorter than 1."""
        mean_NL: Tensor = self.proposal(encoded).mean()
        return mean_NL

    @torch.no_grad()
    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        """[y; z], [S, N, L], float64."""
        return self.proposal(encoded).sample(samples, generator)

    @torch.no_grad()
    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        """ln q(y|x) + ln q(z|x), by the sphere's surface: [S, N] nats."""
        return self.proposal(encoded).log_density(z_SNZ)

    @torch.no_grad()
    def closed_kl(self, encoded: Tensor) -> Tensor:
        """KL of both parts from the prior: [N] nats."""
        return self.proposal(encoded).kl()

    @torch.no_grad()
    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        """ln p(x|y, z), `</s>` counted, or of the bag of a text's words: [S, N] nats."""
        samples = len(z_SNZ)
        batch = numbers_batch(self._read(texts), self.device).repeated(samples)
        y, z = parts_of(z_SNZ.flatten(0, 1).float(), self.config.semantic_width)
        with self._evaluating():
            return -self.network.reconstruction(batch, y, z).view(samples, len(texts))

    def critic_values(self, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor] | None:
        """None: it has no critics."""
        return None

    def log_prior(self, z_SNZ: Tensor) -> Tensor:
        """ln p(y) + ln p(z), uniform on the sphere and N(0, I): [..., N] nats."""
        _, z = parts_of(z_SNZ, self.config.semantic_width)
        return log_uniform(self.config.semantic_width) - 0.5 * (z.square() + LOG_2_PI).sum(-1)

    def sample_prior(self, samples: int, generator: torch.Generator) -> Tensor:
        """[y; z], [S, L]."""
        drawn_SL = torch.randn(samples, self.latent_width, generator=generator, device=generator.device)
        y_SM, z_SZ = parts_of(drawn_SL, self.config.semantic_width)
        return torch.cat([F.normalize(y_SM, dim=-1), z_SZ], -1)

    def prior_variance(self) -> Tensor:
        """Of each number of y, 1 / M, and of z, 1: [L]."""
        widths = self.config.semantic_width, self.config.syntax_width
        return torch.cat([torch.full((widths[0],), 1 / widths[0]), torch.ones(widths[1])])

    # What people ask for of a latent space.

    def sample(self, count: int, **how: Unpack[Decoding]) -> list[str]:
        """Sentences of y and z drawn from the prior, by `how["seed"]`; see `Decoding`.

        Raises: InputError for a negative count, two ways of decoding that are mixed, or a model that writes none.
        """
        require_count(count, "count", 0, MOST_AT_ONCE)
        return self._decoded(self.sample_prior(count, self._generator(how.get("seed", 0))), how)

    def interpolate(self, first: str, second: str, *, steps: int = 11, **how: Unpack[Decoding]) -> list[str]:
        """Sentences on the way from one's means to the other's: z in a straight line, y on the sphere below one.

        Args:
            steps: sentences, both ends among them.
        Raises: InputError if there are fewer than 2 steps, or an end is empty; and as `sample`.
        """
        require_count(steps, "steps", 2, MOST_AT_ONCE)
        ends_2L = self._means([first, second])
        shares_S1 = torch.linspace(0, 1, steps, device=self.device)[:, None]
        return self._decoded(torch.lerp(ends_2L[:1], ends_2L[1:], shares_S1), how)

    def reconstruct(self, texts: Iterable[str], **how: Unpack[Decoding]) -> list[str]:
        """Each text, decoded from its own two means: what a paraphrase like itself is. Raises: as `sample`."""
        return self._decoded(self._means(texts), how)

    def _means(self, texts: Iterable[str]) -> Tensor:
        posterior = self.proposal(self.encode(texts))
        return torch.cat([posterior.semantic.direction_BM, posterior.syntax.mean_BZ], -1)

    def _decoded(self, latent_NL: Tensor, how: Decoding) -> list[str]:
        self._require_writing()
        require_decoding(how, copies=False)
        words = self._write(latent_NL, how, [0] * len(latent_NL), None)
        return [detokenize(recase(drop_stray_brackets(row), self.vocabulary.cased, ())) for row in words]

    def _require_writing(self) -> None:
        if self.config.form != "lstm":
            raise InputError(
                "a VGVAE model of averages, whose decoder is a bag of words; expected form='lstm', which writes"
                " sentences"
            )

    @torch.inference_mode()
    def _write(
        self, latent_NL: Tensor, how: Decoding, lengths: Sequence[int], limit: Sequence[Sequence[str]] | None
    ) -> list[list[str]]:
        """The words that latent vectors are decoded as.

        Args:
            lengths: about how long each will be: sentences of like length are decoded together.
            limit: words of each source, if no word is to be written more often than it has it.
        """
        latent_NL = latent_NL.to(self.device, torch.float32)
        score = Scorer(self.network.output, 0, NEVER)

        def begin(rows: Sequence[int]) -> Memory:
            y_NM, z_NZ = parts_of(latent_NL[rows], self.config.semantic_width)
            memory = self.network.begin(F.normalize(y_NM, dim=-1), z_NZ)
            if limit is None:
                return memory
            sources = numbered([limit[row] for row in rows], self.vocabulary)
            return memory._replace(source_BS=numbers_batch(sources, self.device).words_BT)

        def step(memory: Memory, tokens_N: Tensor) -> tuple[Tensor, Memory]:
            features_NH, memory = self.network.step(memory, tokens_N.to(self.device))
            return score(features_NH, None, None, tokens_N), memory

        # Another stream than that of the vectors, which may have been drawn by the same seed.
        how = {**how, "seed": how.get("seed", 0) + WORDS}
        free = None if limit is None else unconstrained(len(self.vocabulary))
        ends = Ends(BOS, EOS, self.config.max_tokens)
        with self._evaluating():
            rows = written_rows(begin, step, (lengths, [0] * len(lengths)), how, ends, self.device, free=free)
        return [[self.vocabulary.words[number] for number in row] for row in rows]

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Without dropout, which would make of a sentence another each time."""
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)

    def _read(self, texts: Iterable[str]) -> list[list[int]]:
        texts = require_texts(texts)
        words = require_words([tokenize(text) for text in texts], "text")
        for number, row in enumerate(words, start=1):
            if len(row) > self.config.max_tokens:
                raise InputError(f"text {number} has {len(row):,} words; expected at most {self.config.max_tokens}")
        return numbered(words, self.vocabulary)

    def _generator(self, seed: int) -> torch.Generator:
        require_count(seed, "seed", -MOST_SEED, MOST_SEED)
        return torch.Generator(self.device).manual_seed(seed)

    def assets(self) -> dict[str, str]:
        """The vocabulary."""
        return {"vocabulary.json": self.vocabulary.to_json()}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Vgvae:
        """A model with fresh weights from what a checkpoint holds.

        Raises: InputError if the vocabulary is missing or damaged, or a field is unknown.
        """
        require_restorable(VgvaeConfig, config, assets, ("vocabulary.json",))
        return cls(VgvaeConfig(**config), Vocabulary.from_json(assets["vocabulary.json"]))
