"""The way from tasks and an `embed` to scores and differences: every text encoded once, the floors beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed, Embedder, LatentSpace
from paraform.checkpoint import signature_of
from paraform.encoders.sentence_transformer import ModulePipeline
from paraform.encoders.sentence_vectors import GivenVectors
from paraform.encoders.static import StaticEncoder
from paraform.encoders.word_vectors import WordVectors
from paraform.evaluation.bootstrap import Comparison, paired_bootstrap, with_interval
from paraform.evaluation.embedding.space import Judged, Space, Vectors, VectorSpace, embedded, floors
from paraform.evaluation.embedding.task import Finding, Task
from paraform.evaluation.on_pairs import precision_of
from paraform.score import Score

_TERMS = (
    "trained on two fifths of PAWS's dev.tsv, on MRPC's, PAN's and Quora's training files,"
    " calibrated by a tenth of the first and by Quora's dev.tsv"
)
SEEN = {  # by the beginning of the weights' digest, as signatures have it
    "weights:53aa51172d14": "trained, its card says, on captions of Flickr30k and COCO, Quora's duplicates, SNLI and"
    " SQuAD: sentences of STS15-images, STS-B, SICK and Quora are not unseen (paraform overlap)",
    "weights:6f5a47d80791": "trained on two fifths of PAWS's dev.tsv, calibrated by a tenth of it and by Quora's"
    " dev.tsv",
    "weights:2ed08cda7537": _TERMS,
    "weights:af8c6d2c3ceb": _TERMS,
}


def seen_notes(spaces: Sequence[Space | Judged]) -> list[str]:
    """A line for the spaces of each model that is known to have been trained on sentences of the sets."""
    named: dict[str, list[str]] = {}
    for key, note in SEEN.items():
        named.setdefault(note, []).extend(space.name for space in spaces if key in space.signature)
    return [f"{', '.join(names)}: {note}" for note, names in named.items() if names]


class System(NamedTuple):
    """What is measured.

    Args:
        name: as tables print it.
        signature: every setting that changes its vectors, such as `checkpoint.signature_of` gives.
        embed: texts to vectors.
    """

    name: str
    signature: str
    embed: Embed


def system_of(name: str, model: Embedder, *, batch_size: int = 0, seed: int = 0, progress: bool = False) -> System:
    """A model as it is measured, by its usual vectors.

    Of a latent-variable model, which reads no text longer than those that it was trained on, longer ones are cut. What
    multiplies nothing here, or by another library, has no precision of ours.

    Args:
        batch_size, seed, progress: of `Embedder.embed`.
    """

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return model.embed(texts, batch_size=batch_size, seed=seed, progress=progress)

    settings = f"similarity:cosine|{signature_of(model, name)}"
    if not isinstance(model, GivenVectors | ModulePipeline | StaticEncoder | WordVectors):
        settings += f"|{precision_of(model.device, getattr(model, 'dtype', None))}"
    if isinstance(model, LatentSpace):
        return System(name, f"{settings}|longer:first {model.max_tokens} words", _beginnings(embed, model))
    return System(name, settings, embed)


def _beginnings(embed: Embed, model: LatentSpace) -> Embed:
    """`embed` of as many first words of each text as the model reads."""

    def first(text: str) -> str:
        words, most = model.words(text), model.max_tokens
        while len(model.words(text)) > model.max_tokens:
            text = " ".join(words[:most])
            most -= 1  # what was two words and stands beside each other may be read as three
        return text

    return lambda texts: embed([first(text) for text in texts])


def spaces_of(tasks: Sequence[Task], systems: Sequence[System], *, words: bool = True) -> list[Space]:
    """A space of all the tasks' texts for each system, each different text encoded once; the floors behind them.

    Args:
        words: whether there are the two floors that have words alone.
    """
    texts = [text for task in tasks for text in task.texts()]
    spaces: list[Space] = []
    known: dict[str, Vectors] = {}  # the same vectors under another name are not computed again
    for name, settings, embed in systems:
        same = known.get(settings)
        space = replace(same, name=name) if same else embedded(embed, texts, name=name, signature=settings)
        if "weights:" in settings:  # else two callables may have one signature
            known[settings] = space
        spaces.append(space)
    return [*spaces, *(floors(texts) if words else ())]


def measured(tasks: Sequence[Task], spaces: Sequence[Space]) -> list[Finding]:
    """Every metric of every space on every task, task by task; a task that trains needs a space with vectors."""
    return [
        finding
        for task in tasks
        for space in spaces
        if isinstance(space, VectorSpace) or not task.needs_vectors
        for finding in task.measure(space)
    ]


def bounded(findings: Sequence[Finding], resamples: int) -> list[Score]:
    """The metrics, those that have rows with their interval by so many resamples of these; 0: none."""
    return [
        with_interval(one.score, one.metric, resamples=resamples) if resamples and one.metric else one.score
        for one in findings
    ]


def differences_of(findings: Sequence[Finding], models: Sequence[str], resamples: int) -> list[Comparison]:
    """The first model − each other one, by a paired bootstrap, of every metric with rows that is not the same for all.

    Args:
        models: names of systems, the first one first.
        resamples: of each difference; 0: no differences.
    """
    places: dict[tuple[str, str, str], dict[str, Finding]] = {}
    for finding in findings if resamples else ():
        score = finding.score
        if finding.metric is not None and score.system in models and not finding.reference:
            places.setdefault((score.name, score.protocol, score.subset), {})[score.system] = finding
    found = []
    for (_, protocol, subset), by_system in places.items():
        first, *others = [by_system[name] for name in models if name in by_system]
        for other in others:
            if first.metric is not None and other.metric is not None:
                names = (first.score.system, other.score.system)
                compared = paired_bootstrap(
                    first.metric, other.metric, names=names, protocol=protocol, resamples=resamples
                )
                found.append(replace(compared, subset=subset))
    return found
