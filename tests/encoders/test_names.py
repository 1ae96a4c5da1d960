"""Names with choices: what is read, what is refused, and which vectors come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from paraform import checkpoint, encoders
from paraform.capabilities import Embedder
from paraform.encoders import Encoder, Variant, parse_name
from paraform.encoders.names import with_choices
from paraform.records import InputError

TEXTS = ["A dog runs.", "Nobody came to the old house."]


@pytest.mark.parametrize(
    ("text", "name", "variant"),
    [
        ("minilm", "minilm", Variant()),
        ("minilm@layer=3", "minilm", Variant(layer=3)),
        ("a/b@layer=-1, pooling=cls", "a/b", Variant(layer=-1, pooling="cls")),
        ("me@home/run@vectors=style", "me@home/run", Variant(vectors="style")),
        ("minilm@weights=random,seed=7", "minilm", Variant(weights="random", seed=7)),
        ("@layer=3", "@layer=3", Variant()),
    ],
)
def test_a_name_and_what_is_chosen(text: str, name: str, variant: Variant) -> None:
    assert parse_name(text) == (name, variant)


def test_a_path_of_the_whole_name_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "mine@layer=3"
    folder.mkdir()
    assert parse_name(str(folder)) == (str(folder), Variant())
    assert parse_name(f"{folder}@layer=1") == (str(folder), Variant(layer=1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minilm@layr=3", "'layr=3' behind the @; expected some of layer, pooling, vectors, weights, seed"),
        ("minilm@3", "no such file or folder, and '3' behind the @"),
        ("minilm@", "'' behind the @"),
        ("minilm@layer=1,layer=2", "layer twice"),
        ("minilm@layer=x", "layer is 'x'; expected a whole number"),
        ("minilm@pooling=sum", "pooling is 'sum'; expected one of mean, cls, max, last"),
        ("minilm@weights=none", "weights is 'none'; expected random"),
        ("minilm@weights=random,seed=-1", "seed is -1; expected a number of at least 0"),
        ("minilm@seed=1", "a seed without weights=random"),
        ("minilm@vectors=", "vectors is empty"),
        ("minilm@vectors=style", "vectors=style: minilm, an encoder, has no choice of vectors; expected layer="),
        ("minilm@layer=7", "layer 7 of minilm; expected 0, the embeddings, to 6, the last"),
        ("minilm@layer=-8", "layer -8 of minilm"),
        ("latent-compact@layer=1", "has no choice of layer; expected vectors="),
        ("latent-compact@vectors=style", "vectors=style: latent-compact is a latent-variable model; expected mean"),
    ],
)
def test_what_cannot_be_chosen_is_told_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        checkpoint.load(text, device="cpu")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_further_choices_join_a_name() -> None:
    assert with_choices("minilm", {"layer": None, "pooling": None}) == "minilm"
    assert with_choices("minilm@layer=3", {"layer": None, "pooling": "cls"}) == "minilm@layer=3,pooling=cls"
    with pytest.raises(InputError, match="--layer 2: minilm@layer=3 says layer=3; expected one"):
        with_choices("minilm@layer=3", {"layer": 2})


def test_a_layer_and_a_pooling(minilm: Encoder) -> None:
    model = checkpoint.load("minilm@layer=-5,pooling=cls", device="cpu")
    assert isinstance(model, Embedder)
    np.testing.assert_array_equal(model.embed(TEXTS), minilm.encode(TEXTS, layer=2, pooling="cls"))
    assert checkpoint.signature_of(model, "x") == (
        f"model:minilm|layer:2|pooling:cls|length:1|tokens:256|weights:{encoders.MINILM_SHA256[:12]}"
        f"|tokenizer:{minilm.tokenizer_digest[:12]}"
    )
    assert checkpoint.load("minilm", device="cpu") is checkpoint.load("minilm", device="cpu")


def test_random_weights_are_those_that_transformers_draws(minilm: Encoder) -> None:
    from transformers import AutoConfig, BertModel

    before = torch.random.get_rng_state()
    drawn = checkpoint.load("minilm@weights=random,seed=3", device="cpu")
    assert torch.equal(torch.random.get_rng_state(), before)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        module = BertModel(AutoConfig.from_pretrained(encoders.locate())).eval()
    rows = drawn.pieces(TEXTS)
    for row, found_D in zip(rows, drawn.encode(TEXTS, normalize=False), strict=True):
        with torch.inference_mode():
            expected_D = module(torch.tensor([row])).last_hidden_state[0].mean(0)
        np.testing.assert_allclose(found_D, expected_D, atol=1e-5)
    again, other = (checkpoint.load(f"minilm@weights=random,seed={seed}", device="cpu") for seed in (3, 4))
    assert drawn.digest == again.digest != other.digest and minilm.digest not in (drawn.digest, other.digest)
    assert f"weights:random-3-{drawn.digest[:12]}" in drawn.signature


def test_random_weights_of_other_encoders(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    import transformers

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    transformers.RobertaModel(transformers.RobertaConfig(vocab_size=11, **sizes)).save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    trained, *drawn = (
        checkpoint.load(f"{tmp_path}{choice}", device="cpu").embed(["a dog", "the cat"])
        for choice in ("", "@weights=random", "@weights=random,seed=0", "@weights=random,seed=1")
    )
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.allclose(drawn[0], drawn[2]) and not np.allclose(drawn[0], trained)


def test_a_checkpoint_untrained() -> None:
    """A model of one kind of vectors is itself when that kind is chosen."""
    found = {
        choice: checkpoint.load(f"latent-compact@{choice}", device="cpu")
        for choice in ("vectors=mean", "weights=random,seed=1")
    }
    assert {type(model).__name__ for model in found.values()} == {"LatentLanguageModel"}
    signatures = {checkpoint.signature_of(model, "latent-compact") for model in found.values()}
    assert len(signatures) == 2
    trained, drawn = (model.embed(TEXTS) for model in found.values())
    assert not np.allclose(trained, drawn)
