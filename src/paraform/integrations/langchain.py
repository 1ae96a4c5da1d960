"""Sentence vectors for LangChain."""

from __future__ import annotations

from typing import final

from langchain_core.embeddings import Embeddings

from paraform.integrations.loaded import embedder


@final
class ParaformEmbeddings(Embeddings):
    """Vectors of documents and questions, which are made alike: `InMemoryVectorStore(ParaformEmbeddings())`.

    Args:
        model: as `paraform.load` takes it: "minilm", "compact@vectors=content", a folder.
        device: "cpu", "cuda", …; None: the GPU if there is one.
    Raises: InputError if the model is not there, or has no vectors.
    """

    def __init__(self, model: str = "minilm", device: str | None = None) -> None:
        self._model = embedder(model, device)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text."""
        rows: list[list[float]] = self._model.embed(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Its vector."""
        return self.embed_documents([text])[0]
