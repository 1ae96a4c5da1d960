"""Texts to tokenised and tagged sentences, computed once and kept on disk by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from rich.progress import track

from paraform.encoders import STDERR
from paraform.records import Sentence
from paraform.syntax.tagging import DEFAULT, load_tagger, tagger_digest
from paraform.weights import atomic_path, cache_folder
from paraform.words import tokenize


def annotate(
    texts: Sequence[str],
    *,
    tagger: str = DEFAULT,
    max_tokens: int | None = None,
    lower: bool = False,
    cache: Path | None = None,
    progress: bool = False,
) -> list[Sentence]:
    """Each text with its words and Penn Treebank tags.

    Args:
        tagger: as in `load_tagger`.
        max_tokens: words kept of each text; None: all.
        lower: words are lower-cased before they are tagged, as generated text is.
        cache: the folder of earlier results; None: `weights.cache_folder()`.
        progress: a bar on stderr.
    Returns: one sentence a text, in order; equal texts share one.
    """
    unique = list(dict.fromkeys(texts))
    words = [tuple(tokenize(text)[:max_tokens]) for text in unique]
    if lower:
        words = [tuple(word.lower() for word in sentence) for sentence in words]
    key = hashlib.sha256(f"{tagger_digest(tagger)}\0".encode())
    for sentence in words:
        key.update("\x1f".join(sentence).encode() + b"\n")
    path = (cache or cache_folder()) / "tags" / f"{key.hexdigest()[:32]}.json"
    if path.is_file():
        tags = json.loads(path.read_text(encoding="utf-8"))
    else:
        tag = load_tagger(tagger)
        tags = []
        chunk = 2048
        starts = range(0, len(words), chunk)
        for start in track(starts, "tagging", console=STDERR, disable=not progress, transient=True):
            tags += tag(words[start : start + chunk])
        with atomic_path(path) as unfinished:
            unfinished.write_text(json.dumps(tags), encoding="utf-8")
    sentences = {
        text: Sentence(text, tokens, tuple(found)) for text, tokens, found in zip(unique, words, tags, strict=True)
    }
    return [sentences[text] for text in texts]
