"""What can be asked over HTTP: each address with its fields, what it asks of which model, and how the answer reads."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.service.answering import Question
from paraform.service.asking import (
    REQUIRED,
    Field,
    Limits,
    flag,
    ignored,
    list_of,
    number,
    one_of,
    one_or_several,
    pair_of,
    real,
    refused,
    text_of,
)
from paraform.service.models import Asked, Embedded, Models

MOST_CANDIDATES, MOST_HITS = 20, 1_000
TEXT: dict[str, Any] = {"type": "string"}
FIGURE: dict[str, Any] = {"type": "number"}


class Endpoint(NamedTuple):
    """An address.

    Args:
        summary: what it is for, in a line.
        fields: of the object that is sent.
        question: the fields' values → what is asked. Raises: HTTPException for fields that do not go together.
        answer: what is answered, as JSON Schema.
        example: fields to try it with.
    """

    path: str
    summary: str
    fields: Mapping[str, Field]
    question: Callable[[Mapping[str, Any]], Question]
    answer: Mapping[str, Any]
    example: Mapping[str, Any]


def endpoints(models: Models, limits: Limits) -> Iterator[Endpoint]:
    """An address for each thing that the models can do."""
    if models.rewords is not None or models.like is not None:
        yield _paraphrase(models, limits)
    if models.judge is not None:
        yield _same(models, limits)
    if models.embedders:
        yield _embeddings(models, limits)
    if models.annotate is not None:
        yield _parse(models, limits)
    if models.indexes:
        yield _search(models, limits)


def _paraphrase(models: Models, limits: Limits) -> Endpoint:
    text = text_of(limits)
    fields = {"text": Field(one_or_several(text, limits), "one text, or a list of them")}
    if models.rewords is not None:
        fields |= {
            "num": Field(number(1, MOST_CANDIDATES), "rewordings of a text, at most", 1),
            "change": Field(one_of("little", "much"), "how much of a text", None),
            "keep": Field(list_of(text, limits, "terms"), "words that stay as they are", []),
            "force": Field(flag(), "try texts too that look like another language, code or junk", False),
        }
    if models.like is not None:
        needed = REQUIRED if models.rewords is None else None
        said = "a sentence whose form to take, or one for each text; no other field goes with it"
        fields["like"] = Field(one_or_several(text, limits), said, needed)

    def question(given: Mapping[str, Any]) -> Question:
        texts, like = given["text"], given.get("like")
        if like is None:
            asked = Asked(given["num"], given["change"], tuple(given["keep"]), given["force"])
            return Question(models.rewording(asked), texts, shape)
        if more := [name for name in fields if name not in ("text", "like") and given[name] != fields[name].default]:
            raise refused(f"like and {more[0]}; expected one of them.")
        if len(like) not in (1, len(texts)):
            raise refused(f"{len(like):,} sentences to be like for {len(texts):,} texts; expected 1 or as many.")
        forms = like * len(texts) if len(like) == 1 else like
        return Question(models.forming(), list(zip(texts, forms, strict=True)), shape)

    def shape(answers: Sequence[Any]) -> dict[str, Any]:
        return {"paraphrases": list(answers)}

    candidate = _object(
        {"paraphrase": TEXT, "exemplar": {"type": ["string", "null"]}, "checks": {"type": "object"}}, more=True
    )
    row = _object({"source": TEXT, "candidates": _array(candidate), "reason": TEXT})
    return Endpoint(
        "/v1/paraphrase",
        "texts in other words, or in the form of others; every candidate has its checks, or there is a reason why none",
        fields,
        question,
        _object({"paraphrases": _array(row)}),
        {"text": "Can I use my card abroad?"},
    )


def _same(models: Models, limits: Limits) -> Endpoint:
    pair = pair_of(text_of(limits))

    def question(given: Mapping[str, Any]) -> Question:
        return Question(models.judging(), given["pairs"], lambda answers: {"pairs": list(answers)})

    row = _object(dict.fromkeys(("same", "forth", "back"), FIGURE))
    return Endpoint(
        "/v1/same",
        "whether two texts say the same, and whether each says all of the other, 0 to 1",
        {"pairs": Field(list_of(pair, limits, "pairs"), "lists of two texts")},
        question,
        _object({"pairs": _array(row)}),
        {"pairs": [["The train leaves before noon.", "Before noon, the train departs."]]},
    )


def _embeddings(models: Models, limits: Limits) -> Endpoint:
    usual = next(iter(models.embedders))
    works = {(name, cut): models.embedding(name, cut) for name in models.embedders for cut in (False, True)}
    limit = {name: models.most_tokens(name) for name in models.embedders}
    fields = {
        "input": Field(one_or_several(text_of(limits), limits), "one text, or a list of them"),
        "model": Field(one_of(*models.embedders), "which embeds", usual),
        "encoding_format": Field(one_of("float", "base64"), "base64: of float32, little-endian", "float"),
        "truncate": Field(flag(), "leave out what the model does not read, rather than refuse the text", False),
        "user": Field(ignored(), "changes nothing", None),
    }

    def question(given: Mapping[str, Any]) -> Question:
        name, packed, most = given["model"], given["encoding_format"] == "base64", limit[given["model"]]

        def shape(answers: Sequence[Embedded]) -> dict[str, Any]:
            for at, one in enumerate(answers):
                if one.vector is None:
                    raise refused(
                        f"input[{at}] has {one.tokens:,} tokens, of which {name} reads {most:,};"
                        ' expected a shorter text, or "truncate": true.'
                    )
            used = sum(min(one.tokens, most or one.tokens) for one in answers)
            return {
                "object": "list",
                "data": [
                    {"object": "embedding", "index": at, "embedding": _written(one.vector, packed)}
                    for at, one in enumerate(answers)
                ],
                "model": name,
                "usage": {"prompt_tokens": used, "total_tokens": used},
            }

        return Question(works[name, given["truncate"]], given["input"], shape)

    vector = {"oneOf": [_array(FIGURE), TEXT]}
    row = _object({"object": TEXT, "index": {"type": "integer"}, "embedding": vector})
    usage = _object({name: {"type": "integer"} for name in ("prompt_tokens", "total_tokens")})
    return Endpoint(
        "/v1/embeddings",
        "texts as vectors, in the shape of OpenAI's call",
        fields,
        question,
        _object({"object": TEXT, "data": _array(row), "model": TEXT, "usage": usage}),
        {"input": ["Can I pay by card?", "Is it possible to pay by card?"], "model": usual},
    )


def _written(vector_D: NDArray[np.float32] | None, packed: bool) -> str | NDArray[np.float32]:
    assert vector_D is not None
    if packed:
        return base64.b64encode(np.ascontiguousarray(vector_D, "<f4").tobytes()).decode()
    return np.ascontiguousarray(vector_D)


def _parse(models: Models, limits: Limits) -> Endpoint:
    def question(given: Mapping[str, Any]) -> Question:
        return Question(models.parsing(), given["text"], lambda answers: {"sentences": list(answers)})

    row = _object({"text": TEXT, "tokens": _array(TEXT), "tags": _array(TEXT), "tree": TEXT}, least=("text",))
    return Endpoint(
        "/v1/parse",
        "words, Penn Treebank tags and a constituency tree of each text, as one sentence",
        {"text": Field(one_or_several(text_of(limits), limits), "one sentence, or a list of them")},
        question,
        _object({"sentences": _array(row)}),
        {"text": "How do cats see in the dark?"},
    )


def _search(models: Models, limits: Limits) -> Endpoint:
    usual = next(iter(models.indexes))
    fields = {
        "query": Field(one_or_several(text_of(limits), limits), "one question, or a list of them"),
        "index": Field(one_of(*models.indexes), "which is asked", usual),
        "num": Field(number(1, MOST_HITS), "texts that are found, at most", 10),
        "least": Field(real(-1, 1), "the cosine that they have at least", None),
    }

    def question(given: Mapping[str, Any]) -> Question:
        work = models.searching(given["index"], given["num"], given["least"])
        return Question(work, given["query"], lambda answers: {"results": list(answers)})

    hit = _object({"text": TEXT, "similarity": FIGURE, "row": {"type": "integer"}, "fields": {"type": "object"}})
    return Endpoint(
        "/v1/search",
        "of each question the texts of an index that are nearest in meaning, nearest first",
        fields,
        question,
        _object({"results": _array(_array(hit))}),
        {"query": "Can I use my card abroad?", "num": 3},
    )


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: Mapping[str, Any], *, least: Sequence[str] | None = None, more: bool = False) -> dict[str, Any]:
    required = list(properties) if least is None else list(least)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": more}
