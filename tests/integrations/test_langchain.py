"""`ParaformEmbeddings` in a vector store of LangChain's."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from paraform.encoders import Encoder
from paraform.integrations.langchain import ParaformEmbeddings
from paraform.records import InputError

TEXTS = ["A cat sleeps on the sofa.", "My card was lost abroad.", "It will rain tomorrow."]
QUESTION = "Where is my card?"


def test_a_vector_store_finds_what_the_encoder_s_cosines_find(minilm: Encoder) -> None:
    store = InMemoryVectorStore.from_texts(TEXTS, ParaformEmbeddings(device="cpu"))
    cosines = minilm.encode(TEXTS) @ minilm.encode([QUESTION])[0]
    found = store.similarity_search_with_score(QUESTION, k=3)
    assert [document.page_content for document, _ in found] == [TEXTS[at] for at in np.argsort(-cosines)]
    np.testing.assert_allclose([score for _, score in found], np.sort(cosines)[::-1], atol=1e-6)
    (first,) = asyncio.run(store.asimilarity_search(QUESTION, k=1))
    assert first.page_content == TEXTS[1]


def test_documents_and_questions_have_the_same_vectors_as_lists(minilm: Encoder) -> None:
    embeddings = ParaformEmbeddings("minilm@layer=3", "cpu")
    expected = minilm.encode(TEXTS, layer=3).tolist()
    assert embeddings.embed_documents(TEXTS) == expected
    assert embeddings.embed_query(TEXTS[0]) == embeddings.embed_documents(TEXTS[:1])[0]
    assert asyncio.run(embeddings.aembed_documents(TEXTS)) == expected
    assert embeddings.embed_documents([]) == []


def test_a_model_without_vectors_is_refused() -> None:
    with pytest.raises(InputError, match="expected a model that embeds"):
        ParaformEmbeddings("minilm-judge", "cpu")
