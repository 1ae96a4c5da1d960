"""`ParaformEmbedding` in an index of LlamaIndex's, where that is installed: it brings 24 packages that nothing here
needs."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from paraform.encoders import Encoder
from paraform.records import InputError

core = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

TEXTS = ["A cat sleeps on the sofa.", "My card was lost abroad.", "It will rain tomorrow."]
QUESTION = "Where is my card?"


@pytest.fixture
def embedding() -> Any:
    from paraform.integrations.llama_index import ParaformEmbedding

    return ParaformEmbedding(device="cpu", embed_batch_size=2)


def test_an_index_finds_what_the_encoder_s_cosines_find(embedding: Any, minilm: Encoder) -> None:
    nodes = [core.schema.TextNode(text=text) for text in TEXTS]
    index = core.VectorStoreIndex(nodes, embed_model=embedding)
    found = index.as_retriever(similarity_top_k=3).retrieve(QUESTION)
    cosines = minilm.encode(TEXTS) @ minilm.encode([QUESTION])[0]
    assert [one.text for one in found] == [TEXTS[at] for at in np.argsort(-cosines)]
    np.testing.assert_allclose([one.score for one in found], np.sort(cosines)[::-1], atol=1e-6)
    (first, *_) = asyncio.run(index.as_retriever(similarity_top_k=1).aretrieve(QUESTION))
    assert first.text == TEXTS[1]


def test_batches_are_the_encoder_s_and_settings_are_told(embedding: Any, minilm: Encoder) -> None:
    np.testing.assert_allclose(embedding.get_text_embedding_batch(TEXTS), minilm.encode(TEXTS), atol=1e-6)
    np.testing.assert_allclose(embedding.get_query_embedding(TEXTS[0]), embedding.get_text_embedding(TEXTS[0]))
    kept = embedding.to_dict()
    assert (kept["class_name"], kept["model_name"], kept["device"]) == ("ParaformEmbedding", "minilm", "cpu")
    assert type(embedding).from_dict(kept).get_text_embedding("a") == embedding.get_text_embedding("a")


def test_a_model_without_vectors_is_refused(embedding: Any) -> None:
    with pytest.raises(InputError, match="expected a model that embeds"):
        type(embedding)("minilm-judge", "cpu")
