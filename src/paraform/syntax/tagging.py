"""Penn Treebank tags for words: our own head on the offline encoder, NLTK's tagger, or spaCy, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from paraform import encoders, manifest
from paraform.records import InputError
from paraform.syntax.head import TagHead, word_shape
from paraform.weights import load_tensors, pretrained_folder

Tagger: TypeAlias = Callable[[Sequence[Sequence[str]]], list[list[str]]]
"""Words of each sentence in, one Penn Treebank tag a word out; an empty sentence has no tags."""

DEFAULT = "tagger"  # trained on genres whose texts are free for commercial use
ALL_GENRES = "tagger-all"
WINDOW = 60  # words tagged at once
MAX_CHARACTERS = 40  # of a word; its beginning is enough for a tag


def load_tagger(name: str = DEFAULT, *, device: str | None = None) -> Tagger:
    """A tagger by name.

    Args:
        name: "tagger" (the default head), "tagger-all" (all GUM genres), a folder with a trained head, "nltk", or
            "spacy" with a model's name or folder behind a colon ("spacy:en_core_web_sm").
    Raises: InputError if it is not installed or not found; the message says how to get it.
    """
    if name == "nltk":
        return _nltk()
    if name == "spacy" or name.startswith("spacy:"):
        return _spacy(name.partition(":")[2] or "en_core_web_sm")
    return head_tagger(load_head(_head_folder(name)), device=device)


def tagger_digest(name: str = DEFAULT) -> str:
    """What tells the tags of two taggers apart: the head's weights, or the name of another's tagger."""
    if name == "nltk" or name == "spacy" or name.startswith("spacy:"):
        return name
    return manifest.read(_head_folder(name)).files[manifest.WEIGHTS]


def _head_folder(name: str) -> Path:
    folder = pretrained_folder(name) or Path(name)
    if not folder.is_dir():
        known = f"{DEFAULT!r}, {ALL_GENRES!r}, 'nltk', 'spacy[:MODEL]' or a trained head's folder"
        raise InputError(f"no tagger {name!r}; expected {known}")
    return folder


def load_head(folder: Path) -> TagHead:
    """The tagging head of a checkpoint folder.

    Raises: InputError if it is none, or is damaged.
    """
    about = manifest.read(folder)
    if about.system != TagHead.system:
        raise InputError(f"{folder / manifest.NAME}: system {about.system!r}; expected {TagHead.system!r}")
    assets = {name: manifest.located(folder, about, name).read_text(encoding="utf-8") for name in about.assets}
    head = TagHead.restore(about.config, assets)
    tensors = load_tensors(manifest.located(folder, about, manifest.WEIGHTS))
    try:
        head.load_state_dict({key: tensor.float() for key, tensor in tensors.items()})
    except RuntimeError as error:
        raise InputError(
            f"{folder / manifest.WEIGHTS}: not this head's weights; {str(error).splitlines()[0]}"
        ) from error
    return head.eval()


def head_tagger(head: TagHead, *, device: str | None = None) -> Tagger:
    """Our own tagger: one pass of the frozen encoder's lower layers, and the head on top."""
    encoder = encoders.load(head.config.encoder, device=device)
    head = head.to(encoder.device)
    layers = head.config.layers

    def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        # Windows are tagged as sentences of their own, and a window that stands there again is tagged once.
        windows = [[tuple(words[i : i + WINDOW]) for i in range(0, len(words), WINDOW)] for words in sentences]
        unique = list(dict.fromkeys(window for row in windows for window in row))
        tags: dict[tuple[str, ...], list[str]] = {}
        for start in range(0, len(unique), 8192):  # bounds the memory of the states
            part = unique[start : start + 8192]
            tags.update(zip(part, _tag_windows(head, encoder, part, layers), strict=True))
        return [[tag for window in row for tag in tags[window]] for row in windows]

    return tag


@torch.inference_mode()
def _tag_windows(
    head: TagHead, encoder: encoders.Encoder, windows: Sequence[tuple[str, ...]], layers: Sequence[int]
) -> list[list[str]]:
    out: list[list[str]] = [[] for _ in windows]
    states = encoder.word_states([_shortened(words, encoder) for words in windows], layers=layers)
    offsets = states[0].offsets
    for rows in same_length(np.diff(offsets), words=4096):
        length = len(windows[rows[0]])
        at_BT = torch.from_numpy(offsets[rows][:, None] + np.arange(length))
        states_LBTD = torch.stack([layer.states_ND[at_BT.to(encoder.device)] for layer in states])
        shapes_BT = torch.tensor([[word_shape(word) for word in windows[row]] for row in rows], device=encoder.device)
        for row, best in zip(rows, head(states_LBTD, shapes_BT).argmax(-1).tolist(), strict=True):
            out[row] = [head.tags[number] for number in best]
    return out


def _shortened(words: Sequence[str], encoder: encoders.Encoder) -> list[str]:
    """The words, cut where all their pieces together are more than the encoder reads."""
    for most in (MAX_CHARACTERS, 12, 4):
        short = [word[:most] for word in words]
        # An ASCII character has one piece at most, another three (a Korean syllable): few windows must be counted.
        if sum(len(word) if word.isascii() else 3 * len(word) for word in short) < encoder.max_tokens - 2:
            return short
        if int(encoder.count_tokens([" ".join(short)])[0]) < encoder.max_tokens:
            return short
    return [word[:1] for word in words]


def same_length(lengths: Any, *, words: int) -> Iterator[list[int]]:
    """Rows of one length at a time, at most `words` words together, so that nothing is padded; length 0 left out."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        length = int(lengths[order[start]])
        end = int(np.searchsorted(lengths[order], length, side="right"))
        if length:
            size = max(1, words // length)
            for at in range(start, end, size):
                yield order[at : min(at + size, end)].tolist()
        start = end


def _nltk() -> Tagger:
    try:
        from nltk.tag.perceptron import PerceptronTagger
    except ImportError as error:
        raise InputError("tagger 'nltk' needs NLTK; pip install 'paraform[eval]'") from error
    try:
        tagger = PerceptronTagger(load=True)
    except LookupError as error:
        raise InputError(
            "tagger 'nltk' needs its model; python -m nltk.downloader averaged_perceptron_tagger_eng"
        ) from error

    def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [[tag for _, tag in tagger.tag(list(words))] for words in sentences]

    return tag


def _spacy(model: str) -> Tagger:
    try:
        import spacy
    except ImportError as error:
        raise InputError("tagger 'spacy' needs spaCy; pip install 'paraform[spacy]'") from error
    try:
        pipeline = spacy.load(model, exclude=["parser", "ner", "lemmatizer"])
    except OSError as error:
        raise InputError(f"spaCy has no model {model!r}; python -m spacy download {model}") from error

    def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        from spacy.tokens import Doc

        documents = pipeline.pipe(Doc(pipeline.vocab, list(words)) for words in sentences)
        out = [[token.tag_ for token in document] for document in documents]
        if any(not tag for row in out for tag in row):
            raise InputError(f"spaCy's model {model!r} gives no fine-grained tags; use one with a tagger")
        return out

    return tag
