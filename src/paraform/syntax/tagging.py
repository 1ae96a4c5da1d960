"""Penn Treebank tags for words: our own head on the offline encoder, NLTK's tagger, or spaCy, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from paraform.records import InputError, require_text, require_words
from paraform.syntax.head import SyntaxHead
from paraform.syntax.running import DEFAULT, Runner, head_digest, head_folder, load_head
from paraform.syntax.windows import unique_windows
from paraform.threads import loads_alone

Tagger: TypeAlias = Callable[[Sequence[Sequence[str]]], list[list[str]]]
"""Words of each sentence in, one Penn Treebank tag a word out; an empty sentence has no tags. Raises: InputError for
what is no words."""

WINDOW = 60  # words tagged at once
OTHERS = "'nltk', 'spacy[:MODEL]'"


@loads_alone
def load_tagger(name: str = DEFAULT, *, device: str | None = None) -> Tagger:
    """A tagger by name.

    Args:
        name: "syntax" (the default head), "syntax-all" (the better one), a folder with a trained head, "nltk", or
            "spacy" with a model's name or folder behind a colon ("spacy:en_core_web_sm").
    Raises: InputError if it is not installed or not found; the message says how to get it.
    """
    require_text(name, "the tagger's name")
    if name == "nltk":
        tag = _nltk()
    elif name == "spacy" or name.startswith("spacy:"):
        tag = _spacy(name.partition(":")[2] or "en_core_web_sm")
    else:
        tag = head_tagger(load_head(head_folder(name, "tagger", OTHERS)), device=device)
    return lambda sentences: tag(require_words(sentences))


def tagger_digest(name: str = DEFAULT) -> str:
    """What tells the tags of two taggers apart: the head's weights, or the name of another's tagger.

    Raises: InputError if there is no tagger of that name.
    """
    require_text(name, "the tagger's name")
    if name == "nltk" or name == "spacy" or name.startswith("spacy:"):
        return name
    return head_digest(head_folder(name, "tagger", OTHERS))


def head_tagger(head: SyntaxHead, *, device: str | None = None) -> Tagger:
    """Our own tagger: one pass of the frozen encoder, and the head on top, without its spans."""
    run = Runner(head, device=device)

    def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        parts, unique = unique_windows(sentences, WINDOW)
        tags: dict[tuple[str, ...], list[str]] = {}
        for found in run(unique, spans=False):
            for row, numbers in zip(found.rows, found.tags, strict=True):
                tags[unique[row]] = [head.tags[number] for number in numbers]
        return [[tag for window in row for tag in tags[window]] for row in parts]

    return tag


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
