"""Sentence vectors for LlamaIndex."""

from __future__ import annotations

import asyncio
from typing import Any, final

from llama_index.core.base.embeddings.base import BaseEmbedding

from paraform.integrations.loaded import embedder


@final
class ParaformEmbedding(BaseEmbedding):
    """Vectors of documents and questions, which are made alike: `VectorStoreIndex(nodes, embed_model=…)`.

    Args:
        model_name: as `paraform.load` takes it: "minilm", "compact@vectors=content", a folder.
        device: "cpu", "cuda", …; None: the GPU if there is one.
        others: BaseEmbedding's, such as embed_batch_size.
    Raises: InputError if the model is not there, or has no vectors.
    """

    device: str | None = None

    def __init__(self, model_name: str = "minilm", device: str | None = None, **others: Any) -> None:
        embedder(model_name, device)
        super().__init__(model_name=model_name, device=device, **others)

    @classmethod
    def class_name(cls) -> str:
        """What is written where it is kept."""
        return cls.__name__

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = embedder(self.model_name, self.device).embed(texts).tolist()
        return rows

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
