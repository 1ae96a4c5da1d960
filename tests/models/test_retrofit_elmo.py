"""M before ELMo's LSTMs: folded into the characters' projection, and written as ELMo is published."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

h5py = pytest.importorskip("h5py")

import tiny_retrofit as tiny  # noqa: E402
from tiny_elmo import OPTIONS, changed, random_weights, write  # noqa: E402 (it needs h5py)

import paraform  # noqa: E402
from paraform import encoders  # noqa: E402
from paraform.encoders.elmo import weights_of  # noqa: E402
from paraform.encoders.elmo_files import read_elmo, read_options, read_weights, save_elmo  # noqa: E402
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder, fold  # noqa: E402
from paraform.models.retrofit.table import context_table  # noqa: E402
from paraform.records import InputError, Pair, Sentence  # noqa: E402
from paraform.trainers.retrofit import BY_ACCURACY, train_retrofit  # noqa: E402

WIDTH = 6
TEXTS = ["The dog runs home .", "naïve", "who sleeps at home ?", ""]
WORDS = [["The", "dog", "runs", "home", "."], ["naïve"], ["who", "sleeps", "at", "home", "?"], []]


def matrix() -> Tensor:
    torch.manual_seed(3)
    return torch.eye(WIDTH) + 0.3 * torch.randn(WIDTH, WIDTH)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("elmo") / "published", OPTIONS, random_weights(OPTIONS, 0.3))


def shaken(folder: Path, **fields: Any) -> RetrofittedEncoder:
    model = RetrofittedEncoder.start(replace(tiny.TINY, encoder=str(folder), **fields))
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    return model.eval()


def states_with(m: Tensor, folder: Path, sentences: list[list[str]]) -> np.ndarray:
    """Of the ELMo of a folder with M behind its characters' projection, put there by a hook: [N, 3, 2 P]."""
    encoder = encoders.load(str(folder), device="cpu")
    elmo, _ = read_elmo(folder)
    elmo.characters.projection.register_forward_hook(lambda part, given, out: out @ m.T)
    numbers = [one.ids for one in encoder._tokenizer.encode_batch(sentences) if one.ids]
    with torch.no_grad():
        return torch.stack(elmo.states(numbers, [0, 1, 2]), 1).numpy()


@pytest.mark.parametrize("clip", [3, None])
def test_folded_and_saved_it_has_the_states_of_m_before_it(clip: float | None, tmp_path: Path) -> None:
    options = changed("lstm", cell_clip=clip, proj_clip=clip)
    folder = write(tmp_path / "published", options, random_weights(options, 0.3))
    elmo, _ = read_elmo(folder)
    m, before = matrix(), {name: weight.clone() for name, weight in elmo.state_dict().items()}
    made = save_elmo(fold(elmo, m), tmp_path / "made", card="# made\n")  # type: ignore[arg-type]
    assert all(torch.equal(weight, elmo.state_dict()[name]) for name, weight in before.items())  # it is a copy
    found = encoders.load(str(made), device="cpu").word_states(WORDS, layers=[0, 1, 2]).states_NLD.numpy()
    np.testing.assert_allclose(found, states_with(m, folder, WORDS), atol=1e-5)
    plain = encoders.load(str(folder), device="cpu").word_states(WORDS, layers=[0, 1, 2]).states_NLD.numpy()
    assert np.abs(found - plain).max() > 0.1
    assert read_options(made / "elmo_options.json") == read_options(folder / "elmo_2x9_6_options.json")
    with h5py.File(made / "elmo_weights.hdf5") as file:
        for name, values in random_weights(options, 0.3).items():  # nothing else has changed
            if name == "CNN_proj/W_proj":
                values = values @ m.numpy().T
            elif name == "CNN_proj/b_proj":
                values = m.numpy() @ values
            np.testing.assert_allclose(file[name], values, atol=1e-6)
    assert (made / "README.md").read_text() == "# made\n"
    with pytest.raises(InputError, match="made: is there already"):
        save_elmo(elmo, made, card="")


def test_what_is_read_is_written_again(folder: Path) -> None:
    elmo, _ = read_elmo(folder)
    published = read_weights(folder / "elmo_2x9_6_weights.hdf5", elmo.config)
    own = weights_of(elmo)
    assert own.keys() == published.keys() == elmo.config.shapes().keys()
    for name, values in published.items():
        torch.testing.assert_close(own[name].contiguous(), values, atol=2e-7, rtol=0)


@pytest.mark.parametrize(
    ("m", "said"),
    [
        (torch.eye(12), "M is 12 × 12; expected 6 × 6: the width of the characters' projection"),
        (torch.full((6, 6), float("nan")), "M holds NaN or infinity"),
        (torch.diag(torch.tensor([1.0] * 5 + [0.0])), "M is singular"),
    ],
)
def test_an_m_that_cannot_be_folded(m: Tensor, said: str, folder: Path) -> None:
    with pytest.raises(InputError, match=said):
        fold(read_elmo(folder)[0], m)


def test_distances_in_training_are_those_of_the_folded_encoder(folder: Path) -> None:
    """Word by word, of layer means with `states="all"`; a word's first states are those of the hook."""
    model = shaken(folder, states="all")
    table = context_table(tiny.PAIRS, model.tokenizer, skip_stopwords=False)
    every = np.arange(len(table.source_W))
    batch = table.batch(every, *table.negatives(every, "substitute", np.random.default_rng(0)))
    with torch.no_grad():
        found = model.network(batch)
    words = [text.split() for text in table.texts]
    states = states_with(model.matrix, folder, words).mean(1)
    starts = np.cumsum([0, *map(len, words)])
    rows_R = starts[table.sentence_R] + table.start_R - 1  # its first piece is the mark
    apart_W = np.linalg.norm(states[rows_R[table.source_W]] - states[rows_R[table.target_W]], axis=1)
    np.testing.assert_allclose(found.paraphrased_W, apart_W, atol=1e-5)
    model.network(batch).paraphrased_W.sum().backward()
    gradient = model.network.transform.weight.grad
    assert gradient is not None and float(gradient.abs().max()) > 0


def test_words_are_numbered_as_they_are_met(folder: Path) -> None:
    model = RetrofittedEncoder.start(RetrofitConfig(encoder=str(folder)))
    one, other = model.tokenizer.encode_batch([["a", "dog", "a"], ["dog"]], is_pretokenized=True)
    assert (one.ids, other.ids) == ([0, 2, 3, 2, 1], [0, 3, 1])
    assert one.word_ids == [None, 0, 1, 2, None] and one.tokens == ["<S>", "a", "dog", "a", "</S>"]
    (again,) = model.tokenizer.encode_batch_fast(["dog cat"])
    assert again.ids == [0, 3, 4, 1]
    facts = model.facts
    assert (facts.width, facts.layers) == (6, 2) and model.tokenizer.token_to_id("dog") is None
    after = RetrofittedEncoder.start(RetrofitConfig(encoder=str(folder), place="after", orthogonality="free"))
    assert after.facts.width == 12 and after.facts.tokenizer == facts.tokenizer
    assert facts.tokenizer == encoders.load(str(folder), device="cpu").tokenizer_digest
    long = model.tokenizer.encode_batch([["x"] * 600], is_pretokenized=True)[0]
    assert len(long.ids) == 514 and len(long.overflowing[0].ids) == 90


def test_what_is_read_for_an_m_behind_it_is_of_these_words(folder: Path) -> None:
    """Each run numbers the words that it meets anew."""
    one = [
        Pair(Sentence("a dog runs"), Sentence("runs a dog"), cluster=0),
        Pair(Sentence("a b"), Sentence("b a"), cluster=1),
    ]
    for words in (("dog", "runs", "a", "b"), ("king", "rules", "the", "x")):
        pairs = one
        for old, new in zip(("dog", "runs", "a", "b"), words, strict=True):
            pairs = [
                Pair(
                    *(
                        Sentence(f" {side.text} ".replace(f" {old} ", f" {new} ").strip())
                        for side in (pair.source, pair.target)
                    ),
                    cluster=pair.cluster,
                )
                for pair in pairs
            ]
        model = shaken(folder, place="after", orthogonality="free")
        table = model.network.known(context_table(pairs, model.tokenizer, skip_stopwords=False))
        assert table.states_RD is not None
        found = encoders.load(str(folder), device="cpu").word_states(
            [text.split() for text in table.texts], layers=[-1]
        )
        first = {text: at for text, at in zip(table.texts, found.offsets, strict=False)}
        for row, (sentence, place) in enumerate(zip(table.sentence_R.tolist(), table.start_R.tolist(), strict=True)):
            at = first[table.texts[sentence]] + place - 1  # behind the mark of a begin
            torch.testing.assert_close(table.states_RD[row], found.states_NLD[at, 0].float(), atol=1e-5, rtol=1e-5)


def test_vectors_with_m_before_and_after(folder: Path) -> None:
    before, after = shaken(folder), shaken(folder, place="after", orthogonality="free")
    lengths = [len(words) for words in WORDS]
    for model, m in ((before, before.matrix), (after, torch.eye(WIDTH))):
        states = states_with(m, folder, WORDS)[:, -1]
        means = [part.mean(0) if len(part) else np.zeros(12) for part in np.split(states, np.cumsum(lengths)[:-1])]
        if model is after:
            means = [after.matrix.numpy() @ mean for mean in means]
        expected = [mean / max(1e-12, float(np.linalg.norm(mean))) for mean in means]
        np.testing.assert_allclose(model.embed(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(
        before.word_states(WORDS, layers=[2]).states_NLD[:, 0],
        states_with(before.matrix, folder, WORDS)[:, 2],
        atol=1e-5,
    )


def test_trained_exported_and_loaded(folder: Path, tmp_path: Path, command: Callable[..., Any]) -> None:
    pairs = [
        Pair(Sentence(f"{who} {does} at home ."), Sentence(f"at home , {does} {who} ?"))
        for who in ("the dog", "a cat", "my arm", "who", "i", "the big cat")
        for does in ("runs", "sleeps", "works")
    ]
    config = RetrofitConfig(encoder=str(folder), batch_size=4, epochs=3, learning_rate=0.01)
    loop = replace(BY_ACCURACY, tensorboard=False, device="cpu", evaluate_every=4, log_every=2, patience=0)
    train_retrofit(list(paraform.clusters(pairs[:12])), tmp_path / "run", config=config, loop=loop,
                   validation=list(paraform.clusters(pairs[12:])))  # fmt: skip
    model = paraform.load(str(tmp_path / "run"), device="cpu")
    assert not torch.equal(model.matrix, torch.eye(WIDTH))
    done = command("export", tmp_path / "run", "--out", tmp_path / "made", "--json", "--terms", "None known.")
    assert done.status == 0, done.err
    assert json.loads(done.out) == {"folder": str(tmp_path / "made"), "to": "elmo"}
    made = paraform.load(str(tmp_path / "made"), device="cpu")
    np.testing.assert_allclose(made.embed(TEXTS), model.embed(TEXTS), atol=1e-5)
    assert made.digest != encoders.load(str(folder), device="cpu").digest
    assert "None known." in (tmp_path / "made" / "README.md").read_text()
    again = command("export", tmp_path / "made", "--out", tmp_path / "twice")
    assert (again.status, again.out) == (2, "") and "ELMo's published files already" in again.err


def test_what_the_published_files_do_not_hold(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an ELMo as ONNX"):
        shaken(folder).export(tmp_path / "no", onnx=True)
    with pytest.raises(InputError, match="with M behind its states, which its published files do not hold"):
        shaken(folder, place="after", orthogonality="free").export(tmp_path / "no")
    assert not (tmp_path / "no").exists()
