"""What is encoded once for several systems, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform import checkpoint, load
from paraform.capabilities import Embedder
from paraform.checkpoint.vectors import model_digest
from paraform.encoders import read_vectors
from paraform.encoders.sentence_transformer import ModulePipeline
from paraform.evaluation.embedding.measuring import System, seen_notes, spaces_of, system_of
from paraform.evaluation.embedding.similarity import SimilaritySet
from paraform.evaluation.embedding.space import Judged, Vectors
from paraform.records import Pair, Sentence


@pytest.mark.parametrize(("signature", "shared"), [("", False), ("mine", False), ("model:a|weights:0123", True)])
def test_vectors_are_shared_only_where_the_signature_has_the_weights(signature: str, shared: bool) -> None:
    asked: list[float] = []

    def constant(value: float) -> System:
        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            asked.append(value)
            return np.full((len(texts), 2), value, np.float32)

        return System(f"all {value}", signature, embed)

    task = SimilaritySet("own", {"": [Pair(Sentence("a"), Sentence("b"), score=1.0)]})
    first, second = spaces_of([task], [constant(1.0), constant(2.0)], words=False)
    assert (first.name, second.name) == ("all 1.0", "all 2.0") and asked == ([1.0] if shared else [1.0, 2.0])
    assert isinstance(first, Vectors) and isinstance(second, Vectors)
    assert first.vectors(["a"]).tolist() == [[1, 1]]
    assert second.vectors(["a"]).tolist() == ([[1, 1]] if shared else [[2, 2]])


@pytest.mark.parametrize("name", ["minilm", "latent-compact", "words.txt", "vectors", "modules"])
def test_a_signature_has_the_precision_of_our_own_products_alone(name: str, tmp_path: Path) -> None:
    model: Embedder
    (tmp_path / "words.txt").write_text("a 1 2\nb 3 4\n")
    np.save(tmp_path / "v.npy", np.eye(2))
    if name == "vectors":
        model = read_vectors(tmp_path / "words.txt", tmp_path / "v.npy")
    elif name == "modules":  # of sentence-transformers, which multiplies as it likes
        model = ModulePipeline(name, "0123", SimpleNamespace(device="cpu"), True)
    else:
        model = checkpoint.load(str(tmp_path / name) if name == "words.txt" else name, device="cpu")
    assert ("|precision:" in system_of(name, model).signature) == (name in ("minilm", "latent-compact"))


def test_what_a_latent_model_does_not_read_is_cut() -> None:
    model = checkpoint.load("latent-compact", device="cpu")
    system = system_of("latent-compact", model)
    words = ["we", "like", "cats"] * 20
    cut, whole, short = system.embed([" ".join(words), " ".join(words[:40]), "we like cats"])
    assert np.array_equal(cut, whole) and not np.array_equal(cut, short)
    assert system.signature.endswith("|longer:first 40 words")


def test_models_of_the_same_weights_share_a_note() -> None:
    weights = {"a": "weights:53aa51172d14", "b": "weights:0", "c": "weights:53aa51172d14"}
    spaces = [
        Vectors(name, f"model:{name}|{which}", {}, np.zeros((0, 1), np.float32)) for name, which in weights.items()
    ]
    (line,) = seen_notes(spaces)
    assert line.startswith("a, c: trained, its card says, on captions")
    assert seen_notes(spaces[1:2]) == []


@pytest.mark.parametrize("name", ["smollm2-judge", "smollm2-judge-all", "minilm-judge"])
def test_what_the_embedded_judges_have_seen_is_told(name: str) -> None:
    weights = f"weights:{model_digest(load(name, device='cpu'))[:12]}"
    judge = Judged(name, weights, lambda pairs: np.ones(len(pairs), np.float32))
    (line,) = seen_notes([judge])
    assert line.startswith(f"{name}: trained on two fifths of PAWS's dev.tsv")
