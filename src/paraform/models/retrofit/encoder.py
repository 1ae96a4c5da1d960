"""A retrofitted encoder on text: M folded in, sentences to vectors, and words in their contexts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from paraform.encoders import Encoder
from paraform.encoders.dense import Dense
from paraform.encoders.encoder_facts import FACTS, EncoderFacts
from paraform.encoders.types import Pooling, Splitter, WordStates
from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.folding import fold, require_finite
from paraform.models.retrofit.frozen import Frozen, FrozenEncoder, frozen_encoder, require_open
from paraform.models.retrofit.network import RetrofitNetwork
from paraform.records import InputError, Texts, listed, require_count, require_text, require_texts
from paraform.weights import PathLike

Array: TypeAlias = npt.NDArray[np.float32]


def facts_of(frozen: Frozen, config: RetrofitConfig) -> EncoderFacts:
    """Of the encoder at hand; the width is that of what M maps."""
    width = frozen.word_width if config.place == "before" else frozen.width
    return EncoderFacts(width, frozen.layers, frozen.digest, frozen.tokenizer_digest)


@final
class RetrofittedEncoder(nn.Module):
    """A frozen encoder and one matrix M by which its words stay put when a sentence is reworded (Shi et al. 2019).

    Its weights are M's alone: a checkpoint names the encoder and the digest of its weights.

    Args:
        config: choices.
        facts: of the encoder.
        frozen: the encoder itself; None: only the shapes of weights are wanted.
    """

    system: ClassVar[str] = "retrofit"
    config_class: ClassVar[type] = RetrofitConfig
    kind: ClassVar[str] = "a retrofitted encoder"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, config: RetrofitConfig, facts: EncoderFacts, frozen: Frozen | None) -> None:
        super().__init__()
        self.config, self.facts, self.frozen = config, facts, frozen
        self.network = RetrofitNetwork(config, facts.width, facts.layers, frozen)
        self._encoder: Encoder | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """M and the encoder's name, for another process: transformers' module holds functions that none can be sent."""
        weights = {name: tensor.cpu() for name, tensor in self.state_dict().items()}
        return _made_again, (asdict(self.config), self.assets(), weights, str(self.device), self.training)

    @classmethod
    def start(cls, config: RetrofitConfig) -> RetrofittedEncoder:
        """The encoder as it comes, with M the identity.

        Raises: InputError as `frozen_encoder`, and if M cannot be put before it.
        """
        frozen = frozen_encoder(config.encoder)
        if (config.place, config.states) == ("after", "all") and frozen.layer != -1:
            raise InputError(f"{config.encoder} with states 'all'; expected a name without a layer, or states 'last'")
        if config.place == "before" and isinstance(frozen, FrozenEncoder):
            require_open(frozen, config.encoder)
        return cls(config, facts_of(frozen, config), frozen)

    @property
    def device(self) -> torch.device:
        """Where M is; the encoder follows it."""
        return next(self.network.parameters()).device

    @property
    def tokenizer(self) -> Splitter:
        """The encoder's, cut at its limit."""
        return self._own.tokenizer

    def train(self, mode: bool = True) -> Self:
        """As every module's, but that the encoder stays in evaluation mode; M may change from here on."""
        self._encoder = None
        return super().train(mode)

    @property
    def matrix(self) -> Tensor:
        """M, [K, K] float32."""
        matrix: Tensor = self.network.transform().detach()
        return matrix

    @property
    def num_layers(self) -> int:
        """The encoder's; layer 0 is the embeddings, which do not count."""
        return self.facts.layers

    @property
    def layer(self) -> int:
        """The one that sentence vectors are means of, unless M maps the mean of all (`mixes`)."""
        return self._own.layer % (self.facts.layers + 1)

    def fitting(self, sentences: Sequence[Sequence[str]]) -> list[int]:
        """How many first words of each sentence it reads whole, as `Encoder.fitting`."""
        return self.encoder.fitting(sentences)

    def folded(self) -> nn.Module:
        """The encoder with M in its word embeddings, a plain module of transformers' (an ELMo with M in its characters'
        projection an `Elmo`); with M behind it as it came.

        Raises: InputError as `fold`; behind the encoder M may be singular, as a projection is.
        """
        module = self._own.module.to(self.device)
        if self.config.place == "before":
            return fold(module, self.matrix)
        require_finite(self.matrix)
        return module

    @property
    def encoder(self) -> Encoder:
        """The encoder with M, as fast as without; its word states, too, have M only if it stands before it."""
        if self.training:
            self.eval()
        if self._encoder is None or self._encoder.device != self.device:
            self._encoder = self._own.encoder(self.folded(), name=self.system, dense=self._dense)
        return self._encoder

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> Array:
        """Sentence vectors, the mean of a layer's states (all layers' if M maps these), of length 1: float32 [N, D]."""
        if self.mixes:
            require_count(batch_size, "batch_size")
            return self.vectors_of(torch.from_numpy(self.means(texts, progress=progress))).cpu().numpy()
        return self.encoder.embed(texts, batch_size=batch_size, progress=progress)

    @property
    def mixes(self) -> bool:
        """Whether M maps the mean of all layers."""
        return (self.config.place, self.config.states) == ("after", "all")

    def means(self, texts: Sequence[str], *, progress: bool = False) -> Array:
        """What M is to map where it stands behind the encoder, the means of its own states: float32 [N, D]."""
        if self.config.place == "before":
            raise ValueError("M before the encoder; expected place 'after'")
        plain = replace(self.encoder, dense=None, normalize=False)
        if self.mixes:
            return plain.mean_of_layers(texts, progress=progress)
        return plain.encode(texts, progress=progress)

    def vectors_of(self, means_ND: Tensor) -> Tensor:
        """Sentence vectors, as `embed` has them, of such means, where M stands behind them: [N, D]."""
        dense = self._dense
        if self.config.place == "before" or dense is None:
            raise ValueError("M before the encoder; expected place 'after'")
        return torch.nn.functional.normalize(dense(means_ND.to(self.device)), dim=-1)

    @property
    def max_tokens(self) -> int:
        """As `Encoder.max_tokens`."""
        return self.encoder.max_tokens

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """As `Encoder.lengths`."""
        return self.encoder.lengths(texts)

    def unread(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """As `Encoder.unread`."""
        return self.encoder.unread(texts)

    def encode(
        self,
        texts: str | Texts,
        *,
        layer: int | None = None,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
        batch_tokens: int = 2048,
        progress: bool = False,
    ) -> Array:
        """As `Encoder.encode` has it: float32 [N, D]; of one text that is no list [D].

        An M behind the encoder maps what `embed` gives alone: vectors of a layer or a pooling that are asked for by
        name are the encoder's own.
        """
        how: dict[str, Any] = {"normalize": normalize, "batch_tokens": batch_tokens, "progress": progress}
        if self.mixes and layer is None and pooling is None and normalize is not False:
            vectors = self.embed(require_texts(listed(texts)), progress=progress)
            return vectors[0] if isinstance(texts, str) else vectors
        return self.encoder.encode(texts, layer=layer, pooling=pooling, **how)

    def word_states(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Sequence[int],
        batch_tokens: int = 4096,
        progress: bool = False,
    ) -> WordStates:
        """States of every word, as `Encoder.word_states` has them, with M."""
        found = self.encoder.word_states(sentences, layers=layers, batch_tokens=batch_tokens, progress=progress)
        if self.config.place == "before":
            return found
        return found._replace(states_NLD=found.states_NLD.float() @ self.matrix.T)

    def export(self, folder: PathLike, *, onnx: bool = False, terms: str = "") -> Path:
        """Write the encoder with M folded in, as `capabilities.Exports` has it; it is a Hugging Face folder as well.

        An ELMo becomes a folder of its published files, which `load` reads.
        """
        if self.mixes:
            raise InputError(f"{folder}: M of the mean of all layers, which no exported encoder has; expected of one")
        where = "folded into its word embeddings" if self.config.place == "before" else "behind the mean of its states"
        card = (
            f"# {Path(folder).name}\n\n`{self.config.encoder}` with one matrix {where}, trained by paraform so"
            " that words stay put when a sentence is reworded (PAR, Shi et al. 2019). Its vectors are for use under the"
            " terms of that encoder and of the data that it was trained on.\n"
        )
        if require_text(terms, "terms"):
            card += f"\n**Terms of the training data.** {terms}\n"
        return self._own.save(self.folded(), folder, card=card, dense=self._dense, onnx=onnx)

    def assets(self) -> dict[str, str]:
        """What is said of the encoder, and γ in the unit of its states."""
        return {FACTS: self.facts.to_json(margin=float(self.network.margin))}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> RetrofittedEncoder:
        """A model with M the identity from what a checkpoint holds, and the encoder that it names.

        Raises: InputError if an asset is missing or damaged, a field is unknown, or the encoder is not to be had, or is
            another one.
        """
        unknown = sorted(set(config) - set(RetrofitConfig.__dataclass_fields__))
        if unknown or FACTS not in assets:
            raise InputError(f"retrofit checkpoint with unknown fields {unknown}, and {sorted(assets)} beside it")
        made, facts = RetrofitConfig(**config), EncoderFacts.read(assets[FACTS])
        if torch.empty(0).is_meta:  # nothing is wanted but shapes
            return cls(made, facts, None)
        try:
            frozen = frozen_encoder(made.encoder)
        except InputError as error:
            raise InputError(f"M belongs to encoder {made.encoder!r} (SHA-256 {facts.weights}): {error}") from error
        facts.require(facts_of(frozen, made), made.encoder, trained="M")
        return cls(made, facts, frozen)

    @property
    def _own(self) -> Frozen:
        if self.frozen is None:
            raise ValueError("a model of shapes alone; expected one with its encoder")
        return self.frozen

    @property
    def _dense(self) -> Dense | None:
        """What stands behind the mean: M if it is placed there, and the encoder's own map behind that."""
        own = self._own.dense
        own = None if own is None else own.to(self.device)
        if self.config.place == "before":
            return own
        matrix_DD = self.matrix
        if own is None:
            return Dense(matrix_DD, matrix_DD.new_zeros(len(matrix_DD)))
        return replace(own, weight_ED=own.weight_ED @ matrix_DD)


def _made_again(
    config: dict[str, Any], assets: dict[str, str], weights: dict[str, Tensor], device: str, training: bool
) -> RetrofittedEncoder:
    model = RetrofittedEncoder.restore(config, assets)
    model.load_state_dict(weights)
    return model.to(device).train(training)
