"""InferSent on text: sentences to vectors; and its published weights.

Shape key: N texts, T words of the longest, D features of a word, H of a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from paraform.batching import Ragged, prepare_all
from paraform.encoders.encoder_facts import FACTS, EncoderFacts
from paraform.fields import require_restorable
from paraform.progress import track
from paraform.records import InputError, require_count, require_texts
from paraform.weights import PathLike, load_tensors
from paraform_papers.rivals.infersent.batches import JudgedTable, Words
from paraform_papers.rivals.infersent.config import InferSentConfig
from paraform_papers.rivals.infersent.network import InferSentNetwork
from paraform_papers.rivals.infersent.words import WordSource

Array: TypeAlias = npt.NDArray[np.float32]

AT_ONCE = 64  # texts of a batch, as in the authors' code
MOST_WORDS = 512  # longer texts are cut there
TOGETHER = 4096  # texts whose words' vectors are held
CONVERTED = 'save_file(torch.load(PATH, weights_only=True), "infersent.safetensors")'
MARKS: dict[str, tuple[str, ...]] = {"<s>": ("<s>", "</s>"), "<p>": ("<p>", "</p>"), "none": ()}


@final
class InferSent(nn.Module):
    """Sentence vectors: the maximum over the states of a BiLSTM that reads frozen word vectors (Conneau et al. 2017).

    A checkpoint holds the LSTM and the head; of the word vectors it has the name and the digest.

    Args:
        config: sizes and choices.
        facts: of the word vectors.
        source: the word vectors themselves; None: only the shapes of weights are wanted.
    """

    system: ClassVar[str] = "infersent"
    config_class: ClassVar[type] = InferSentConfig
    kind: ClassVar[str] = "an InferSent encoder"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    best: Tensor

    def __init__(self, config: InferSentConfig, facts: EncoderFacts, source: WordSource | None) -> None:
        super().__init__()
        self.config, self.facts, self.source = config, facts, source
        self.network = InferSentNetwork(config, facts.width)
        self.register_buffer("best", torch.zeros(()))  # validation accuracy; the rate falls by it

    @classmethod
    def start(cls, config: InferSentConfig) -> InferSent:
        """With random weights. Raises: InputError if the word vectors cannot be read."""
        source = WordSource(config.word_vectors, config.word_scale)
        return cls(config, source.facts, source)

    @classmethod
    def published(cls, path: PathLike, word_vectors: str, *, version: int = 1) -> InferSent:
        """The authors' weights of version 1 or 2, which are not ours to ship: CC BY-NC 4.0.

        They come as a pickle, which we do not read. Make safetensors of it once, where you trust the file:

            from safetensors.torch import save_file
            save_file(torch.load("infersent1.pkl", weights_only=True), "infersent1.safetensors")

        Args:
            path: that file: `enc_lstm.weight_ih_l0` and the like.
            word_vectors: GloVe 840B (version 1) or fastText's crawl-300d-2M.vec (2), as text.
        Raises: InputError, naming the file, for another one.
        """
        if version not in (1, 2) or isinstance(version, bool):
            raise InputError(f"version {str(version)[:40]}; expected 1 or 2")
        if Path(path).suffix != ".safetensors":
            raise InputError(f"{path}: no .safetensors; expected InferSent's weights without a pickle: {CONVERTED}")
        tensors = load_tensors(path)
        source = WordSource(word_vectors)
        width, hidden = source.facts.width, _hidden_width(tensors, path)
        preset = InferSentConfig.first if version == 1 else InferSentConfig.second
        config = preset(word_vectors=word_vectors, hidden_width=hidden, classifier_width=0)
        made = cls(config, source.facts, source)
        own = made.network.state_dict()
        wrong = sorted(own.keys() ^ tensors.keys()) or [
            name for name, tensor in own.items() if tensors[name].shape != tensor.shape
        ]
        if wrong:
            came = list(tensors[wrong[0]].shape) if wrong[0] in tensors else "missing"
            expected = list(own[wrong[0]].shape) if wrong[0] in own else "none of that name"
            raise InputError(f"{path}: {wrong[0][:80]!r} is {came}; expected {expected}, by words of {width} numbers")
        if bad := [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]:
            raise InputError(f"{path}: {bad[0]!r} holds NaN or infinity; expected finite weights")
        made.network.load_state_dict(tensors)
        made.eval()
        return made

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.best.device

    def words(self, texts: Iterable[str], *, tell: bool = False) -> dict[str, list[str]]:
        """Each text's words, Penn Treebank tokens with the case that they have, and the marks around them.

        Args:
            tell: a warning counts the texts that are cut.
        """
        texts = list(texts)
        rows = prepare_all(texts, MOST_WORDS, tell=self.kind if tell else "")
        opening, closing = MARKS[self.config.marks][:1], MARKS[self.config.marks][1:]
        return {text: [*opening, *row, *closing] for text, row in zip(texts, rows, strict=True)}

    def table(self, pairs: Sequence[tuple[str, str, int]]) -> JudgedTable:
        """Texts with a class, as training reads them. Raises: InputError if none of their words has a vector."""
        sentences = self.words(dict.fromkeys(text for first, second, _ in pairs for text in (first, second)))
        vectors = self._source.vectors(word for words in sentences.values() for word in words)
        if not vectors:
            raise InputError(f"{self.config.word_vectors}: has none of the words of {len(pairs):,} pairs")
        return JudgedTable.of(sentences, vectors, pairs)

    @torch.no_grad()
    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> Array:
        """Sentence vectors, of a text without any known word 0: float32 [N, H]. Their length is their own."""
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        size = batch_size or AT_ONCE
        out_NH = np.zeros((len(texts), 2 * self.config.hidden_width), np.float32)
        starts = range(0, len(texts), TOGETHER)
        for start in track(starts, "embedding", show=progress):
            part = texts[start : start + TOGETHER]
            sentences = self.words(part, tell=True)
            vectors = self._source.vectors(word for words in sentences.values() for word in words)
            rows = [[vectors[word] for word in sentences[text] if word in vectors] for text in part]
            order = sorted(range(len(rows)), key=lambda row: -len(rows[row]))
            for at in range(0, len(order), size):
                chosen = [row for row in order[at : at + size] if rows[row]]
                if chosen:
                    values = np.concatenate([np.stack(rows[row]) for row in chosen])
                    offsets = np.cumsum([0, *(len(rows[row]) for row in chosen)])
                    padded = Words(*Ragged(values, offsets).padded(np.arange(len(chosen))))
                    out_NH[[start + row for row in chosen]] = self.network.encode(padded.to(self.device)).cpu().numpy()
        return out_NH

    def assets(self) -> dict[str, str]:
        """What is said of the word vectors."""
        return {FACTS: self.facts.to_json()}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> InferSent:
        """A model with fresh weights from what a checkpoint holds, and the word vectors that it names.

        Raises: InputError if an asset is missing or damaged, a field is unknown, or the word vectors are not to be had,
            or are others.
        """
        require_restorable(InferSentConfig, config, assets, (FACTS,))
        made, facts = InferSentConfig(**config), EncoderFacts.read(assets[FACTS])
        if torch.empty(0).is_meta:  # nothing is wanted but shapes
            return cls(made, facts, None)
        try:
            source = WordSource(made.word_vectors, made.word_scale)
        except InputError as error:
            raise InputError(f"its words have the vectors of {made.word_vectors!r}: {error}") from error
        facts.require(source.facts, made.word_vectors, trained="this InferSent")
        return cls(made, facts, source)

    @property
    def _source(self) -> WordSource:
        if self.source is None:
            raise ValueError("a model of shapes alone; expected one with its word vectors")
        return self.source


def _hidden_width(tensors: dict[str, Tensor], path: PathLike) -> int:
    found = tensors.get("enc_lstm.weight_hh_l0")
    if found is None or found.ndim != 2 or found.shape[0] != 4 * found.shape[1] or not math.prod(found.shape):
        came = "no 'enc_lstm.weight_hh_l0'" if found is None else f"'enc_lstm.weight_hh_l0' {list(found.shape)}"
        raise InputError(f"{path}: {came}; expected InferSent's weights: [4 h, h] of an LSTM with h cells")
    return int(found.shape[1])
