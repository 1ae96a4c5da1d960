"""ELMo from files in the published format, against the model's equations a character, a word and a step at a time."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from paraform import checkpoint, encoders
from paraform.capabilities import ReadsWords
from paraform.encoders import elmo as elmo_module
from paraform.encoders.elmo import ClippedLSTM, ElmoConfig, lstm_name
from paraform.encoders.elmo_files import read_options
from paraform.encoders.elmo_words import characters_of, word_number
from paraform.evaluation.embedding.distances import word_system
from paraform.evaluation.embedding.measuring import system_of
from paraform.records import InputError

h5py = pytest.importorskip("h5py")

from tiny_elmo import OPTIONS, Weights, changed, random_weights, write  # noqa: E402 (it needs h5py)

SENTENCES = [
    ["A", "dog", "runs", "."],
    ["naïve"],
    [],
    ["incomprehensibilities", "A", "A"],
    ["dog", "runs"],
    ["über", "x"],
]


def sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values))


def word_vector(word: str, options: dict[str, Any], weights: Weights) -> NDArray[np.float64]:
    """Layer 0, character by character; "<S>" and "</S>" are the marks of a sentence's ends."""
    cnn = options["char_cnn"]
    inner = {"<S>": [256], "</S>": [257]}.get(word, list(word.encode()))
    numbers = [258, *inner[: cnn["max_characters_per_token"] - 2], 259]
    numbers += [260] * (cnn["max_characters_per_token"] - len(numbers))
    rows = weights["char_embed"].astype(float)[numbers]
    parts = []
    for number, (span, count) in enumerate(cnn["filters"]):
        kernel, bias = weights[f"CNN/W_cnn_{number}"][0].astype(float), weights[f"CNN/b_cnn_{number}"].astype(float)
        windows = [
            [sum(rows[at + step] @ kernel[step, :, out] for step in range(span)) + bias[out] for out in range(count)]
            for at in range(len(rows) - span + 1)
        ]
        most = np.max(windows, axis=0)
        parts.append(np.maximum(most, 0) if cnn["activation"] == "relu" else np.tanh(most))
    vector = np.concatenate(parts)
    for number in range(cnn["n_highway"] or 0):
        high = {name: weights[f"CNN_high_{number}/{name}"].astype(float) for name in ("W_carry", "b_carry")}
        high |= {name: weights[f"CNN_high_{number}/{name}"].astype(float) for name in ("W_transform", "b_transform")}
        carry = sigmoid(vector @ high["W_carry"] + high["b_carry"])
        transformed = np.maximum(vector @ high["W_transform"] + high["b_transform"], 0)
        vector = carry * transformed + (1 - carry) * vector
    return vector @ weights["CNN_proj/W_proj"].astype(float) + weights["CNN_proj/b_proj"].astype(float)


def step_by_step(words: list[str], options: dict[str, Any], weights: Weights) -> tuple[NDArray[np.float64], float]:
    """States [layers + 1, words, 2 P] of one sentence, and the largest cell before it is clipped."""
    lstm, largest = options["lstm"], 0.0
    vectors = [word_vector(word, options, weights) for word in ["<S>", *words, "</S>"]]
    layers = [[np.concatenate([vector, vector]) for vector in vectors]]
    sides: list[list[list[NDArray[np.float64]]]] = [[], []]
    for direction in range(2):
        inputs = vectors[:: -1 if direction else 1]
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            kernel, bias, projection = (weights[f"{cell}/{name}"].astype(float) for name in ("W_0", "B", "W_P_0"))
            memory, out, outs = np.zeros(lstm["dim"]), np.zeros(lstm["projection_dim"]), []
            for value in inputs:
                i, j, f, o = np.split(np.concatenate([value, out]) @ kernel + bias, 4)
                memory = sigmoid(f + 1) * memory + sigmoid(i) * np.tanh(j)
                largest = max(largest, float(np.abs(memory).max()))
                memory = np.clip(memory, -(lstm["cell_clip"] or math.inf), lstm["cell_clip"] or math.inf)
                out = (sigmoid(o) * np.tanh(memory)) @ projection
                out = np.clip(out, -(lstm["proj_clip"] or math.inf), lstm["proj_clip"] or math.inf)
                outs.append(out)
            skip = layer > 0 and lstm["use_skip_connections"]
            inputs = [one + other for one, other in zip(outs, inputs, strict=True)] if skip else outs
            sides[direction].append(inputs[:: -1 if direction else 1])
    for forwards, backwards in zip(*sides, strict=True):
        layers.append([np.concatenate(two) for two in zip(forwards, backwards, strict=True)])
    return np.array(layers)[:, 1:-1], largest


CASES: dict[str, tuple[dict[str, Any], float]] = {
    "as published": (OPTIONS, 0.3),
    "cells that are clipped": (changed("lstm", cell_clip=0.3, proj_clip=0.4), 0.8),
    "no clips": (changed("lstm", cell_clip=None, proj_clip=0), 0.5),
    "no skips": (changed("lstm", use_skip_connections=False, n_layers=3), 0.3),
    "no highway, tanh": (changed("char_cnn", n_highway=None, activation="tanh", n_characters=261), 0.3),
}


@pytest.mark.parametrize("case", CASES)
def test_states_are_those_of_the_equations(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elmo_module, "AT_ONCE", 3)
    options, scale = CASES[case]
    weights = random_weights(options, scale)
    encoder = encoders.load(str(write(tmp_path / "elmo", options, weights)), device="cpu")
    layers = list(range(options["lstm"]["n_layers"] + 1))
    assert (encoder.dimension, encoder.num_layers) == (12, layers[-1]) and isinstance(encoder, ReadsWords)
    found = encoder.word_states(SENTENCES, layers=layers)
    assert found.states_NLD.dtype == torch.float32
    assert found.offsets.tolist() == [0, 4, 5, 5, 8, 10, 12]
    alone = [step_by_step(words, options, weights) for words in SENTENCES if words]
    expected = np.concatenate([states for states, _ in alone], axis=1).transpose(1, 0, 2)
    np.testing.assert_allclose(found.states_NLD, expected, atol=2e-5)
    clip = options["lstm"]["cell_clip"] or math.inf
    assert (max(largest for _, largest in alone) > clip) == (case == "cells that are clipped")


def test_without_clips_it_is_torchs_lstm() -> None:
    torch.manual_seed(0)
    peer = torch.nn.LSTM(6, 9, proj_size=6)
    own = ClippedLSTM(6, 9, math.inf, math.inf)
    with torch.no_grad():
        peer.bias_hh_l0.zero_()
        own.weight_ih.copy_(peer.weight_ih_l0)
        own.weight_hh.copy_(peer.weight_hh_l0)
        own.bias.copy_(peer.bias_ih_l0)
        own.weight_hr.copy_(peer.weight_hr_l0)
        packed = torch.nn.utils.rnn.pack_sequence([torch.randn(length, 6) for length in (7, 4, 4, 1)])
        torch.testing.assert_close(own(packed.data, packed.batch_sizes.tolist()), peer(packed)[0].data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("published"), OPTIONS, random_weights(OPTIONS))


def test_texts_are_means_of_their_words(folder: Path) -> None:
    encoder = checkpoint.load(str(folder), device="cpu")
    texts = ["A dog runs.", "", "naïve", "A dog runs."]
    expected = [
        step_by_step(words, OPTIONS, random_weights(OPTIONS))[0].mean(1) if words else np.zeros((3, 12))
        for words in (["A", "dog", "runs", "."], [], ["naïve"], ["A", "dog", "runs", "."])
    ]
    for layer in (0, 1, -1):
        found = encoder.encode(texts, layer=layer, normalize=False)
        np.testing.assert_allclose(found, [each[layer] for each in expected], atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(encoder.embed(texts), axis=1), [1, 0, 1, 1], rtol=1e-5)
    second = checkpoint.load(f"{folder}@layer=1,pooling=max", device="cpu").encode(texts[:1], normalize=False)
    states = step_by_step(["A", "dog", "runs", "."], OPTIONS, random_weights(OPTIONS))[0]
    np.testing.assert_allclose(second[0], states[1].max(0), atol=2e-5)
    assert encoder.embed([]).shape == (0, 12) and encoder.embed([""]).tolist() == [[0.0] * 12]


def test_batches_change_nothing_and_long_sentences_are_cut(folder: Path) -> None:
    encoder = encoders.load(str(folder), device="cpu")
    whole = encoder.word_states(SENTENCES, layers=[2]).states_NLD
    torch.testing.assert_close(encoder.word_states(SENTENCES, layers=[2], batch_tokens=1).states_NLD, whole)
    again = encoder.word_states(SENTENCES[::-1], layers=[2]).states_NLD
    torch.testing.assert_close(again[-4:], whole[:4])  # no state goes from one sentence to the next
    long = [["word"] * 600, ["word"] * 512]
    assert encoder.fitting(long) == [512, 512]
    with pytest.raises(ValueError, match="a sentence of 600 words, over 512 pieces; cut it first"):
        encoder.word_states(long, layers=[0])
    with pytest.raises(InputError, match="has no WordPieces"):
        encoder.word_pieces([["word"]])


def test_a_word_is_its_bytes() -> None:
    assert characters_of(word_number("naïve"), 50) == [258, *"naïve".encode(), 259]
    assert characters_of(word_number("\x00a"), 50) == [258, 0, 97, 259]
    assert characters_of(word_number("x" * 60), 50) == [258, *[120] * 48, 259]
    assert characters_of(word_number("\ud800"), 50) == [258, ord("?"), 259]
    assert characters_of(word_number(""), 50) == [258, 259]
    assert len({word_number(word) for word in ("", "a", "b", "ab", "\x00", "\x00a")} | {0, 1}) == 8


def test_signatures(folder: Path, tmp_path: Path, bfloat16: None) -> None:
    """Weights, options and float32 are in them, whatever the machine is best at; clips change vectors."""
    encoder = encoders.load(str(folder), device="cpu")
    assert "|precision:float32" in system_of("elmo", encoder).signature
    assert "|precision:float32" in word_system("elmo", encoder).signature
    other = encoders.load(
        str(write(tmp_path / "b", changed("lstm", cell_clip=2), random_weights(OPTIONS))), device="cpu"
    )
    assert other.digest != encoder.digest and other.tokenizer_digest == encoder.tokenizer_digest
    with encoders.bfloat16_products(torch.device("cpu")):
        within = encoder.word_states(SENTENCES, layers=[2]).states_NLD
    assert torch.equal(within, encoder.word_states(SENTENCES, layers=[2]).states_NLD)


def test_the_published_sizes_have_as_many_parameters_as_the_paper_says() -> None:
    """93.6 million, as PAR's section 4.1 counts them; 4,096 cells, 512 projected, 2,048 filters, 2 highways."""
    filters = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
    config = ElmoConfig(16, 50, filters, "relu", 2, 512, 4096, 2, True, 3.0, 3.0)
    count = sum(math.prod(shape) for shape in config.shapes().values())
    assert round(count / 1e6, 1) == 93.6
    assert config.shapes()[f"{lstm_name(1, 1)}/W_0"] == (1024, 16384)


BAD_OPTIONS: dict[str, tuple[Any, str]] = {
    "no object": ([], "a list; expected a JSON object"),
    "no lstm": ({"char_cnn": OPTIONS["char_cnn"]}, "lstm is 'None'; expected an object"),
    "a name": (changed("lstm", dim="big"), "dim is 'big'; expected a whole number"),
    "true": (changed("lstm", n_layers=True), "n_layers is 'True'; expected a whole number"),
    "no layers": (changed("lstm", n_layers=0), "0 LSTM and 2 highway layers; expected 1 to 100 and 0 to 100"),
    "huge": (changed("lstm", dim=10**12), "a width of 1000000000000; expected 1 to 100,000"),
    "characters": (changed("char_cnn", n_characters=300), "n_characters is 300; expected 261 or 262"),
    "activation": (changed("char_cnn", activation="selu"), "activation is 'selu'; expected relu or tanh"),
    "filters": (changed("char_cnn", filters=[[1, 2, 3]]), "expected pairs of a width and a number"),
    "wide filter": (changed("char_cnn", filters=[[13, 2]]), "expected widths of 1 to 12 characters"),
    "clip": (changed("lstm", cell_clip=-1), "cell_clip is '-1'; expected a number of at least 0, or null"),
    "NaN clip": (changed("lstm", proj_clip=math.nan), "proj_clip is 'nan'; expected a number of at least 0, or null"),
    "skip": (changed("lstm", use_skip_connections=1), "use_skip_connections is '1'; expected true or false"),
    "short words": (changed("char_cnn", max_characters_per_token=2), "max_characters_per_token is 2; expected 3 to"),
    "one direction": (OPTIONS | {"bidirectional": False}, "bidirectional is False; expected true"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_no_elmo_has(case: str, tmp_path: Path) -> None:
    options, said = BAD_OPTIONS[case]
    write(tmp_path, options, {})
    with pytest.raises(InputError) as caught:
        read_options(tmp_path / "elmo_2x9_6_options.json")
    assert str(caught.value).startswith(f"{tmp_path / 'elmo_2x9_6_options.json'}: ") and said in str(caught.value)
    assert "\n" not in str(caught.value)


def damage(change: Callable[[Any], None]) -> Callable[[Path], None]:
    def change_file(folder: Path) -> None:
        with h5py.File(folder / "elmo_2x9_6_weights.hdf5", "a") as file:
            change(file)

    return change_file


def drop(name: str) -> Callable[[Path], None]:
    return damage(lambda file: file.__delitem__(name))


def put(name: str, values: Any) -> Callable[[Path], None]:
    def change(file: Any) -> None:
        if name in file:
            del file[name]
        file[name] = values

    return damage(change)


def declare(name: str, **how: Any) -> Callable[[Path], None]:
    def change(file: Any) -> None:
        del file[name]
        file.create_dataset(name, dtype="f4", **how)

    return damage(change)


def options_of(**settings: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "elmo_2x9_6_options.json"
        path.write_text(json.dumps(changed("lstm", **settings)), encoding="utf-8")

    return change


CELL = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"
HUGE = changed("lstm", dim=100_000, projection_dim=100_000)
HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a missing name": (drop(f"{CELL}/W_P_0"), f"no '{CELL}/W_P_0'; expected ELMo's weights by their published names"),
    "a missing group": (drop("CNN"), "no 'CNN/W_cnn_0'; expected ELMo's weights by their published names"),
    "another shape": (
        put("char_embed", np.zeros((262, 5), "f4")),
        "'char_embed' is [262, 5]; the options make it [261, 5]",
    ),
    "smaller options": (options_of(dim=8), "/W_0' is [12, 36]; the options make it [12, 32]"),
    "fewer layers": (options_of(n_layers=1), "has 'RNN_0/RNN/MultiRNNCell/Cell1'; expected no more layers than"),
    "more layers": (options_of(n_layers=3), "no 'RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0'; expected"),
    "NaN": (put("CNN_proj/b_proj", np.full(6, np.nan, "f4")), "'CNN_proj/b_proj' holds NaN or infinity; expected"),
    "infinity": (put(f"{CELL}/B", np.full(36, np.inf)), f"'{CELL}/B' holds NaN or infinity; expected"),
    "whole numbers": (put("CNN_proj/b_proj", np.zeros(6, "i4")), "'CNN_proj/b_proj' is no array of floats"),
    "texts": (put("CNN_proj/b_proj", ["a"] * 6), "'CNN_proj/b_proj' is no array of floats"),
    "a group": (
        damage(lambda file: (file.pop("char_embed"), file.create_group("char_embed"))[0]),
        "'char_embed' is no",
    ),
    "an array for a group": (put("CNN_proj", np.zeros(3)), "no 'CNN_proj/W_proj'; expected ELMo's weights"),
    "a link": (put("char_embed", h5py.ExternalLink("/etc/passwd", "/x")), "'char_embed' is a link; expected weights"),
    "a soft link": (put("CNN_proj/b_proj", h5py.SoftLink("/CNN/b_cnn_2")), "'CNN_proj/b_proj' is a link; expected"),
    "elsewhere": (
        declare("CNN_proj/b_proj", shape=(6,), external=[("/etc/passwd", 0, 24)]),
        "'CNN_proj/b_proj' is kept in another file; expected weights that stand in the file itself",
    ),
    "cut": (lambda folder: cut(folder / "elmo_2x9_6_weights.hdf5"), "expected ELMo's weights in HDF5"),
    "another file": (
        lambda folder: (folder / "elmo_2x9_6_weights.hdf5").write_bytes(b"x" * 99) and None,
        "expected ELMo's weights in HDF5",
    ),
    "no weights": (
        lambda folder: (folder / "elmo_2x9_6_weights.hdf5").unlink(),
        "*weights.hdf5: no such file; expected",
    ),
    "no options": (
        lambda folder: (folder / "elmo_2x9_6_options.json").unlink(),
        "*options.json: no such file; expected",
    ),
    "two": (
        lambda folder: (folder / "another_weights.hdf5").write_bytes(b"") and None,
        "another_weights.hdf5 and elmo_2x9_6_weights.hdf5; expected one of ELMo's options.json and one weights.hdf5",
    ),
}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3000])


@pytest.mark.parametrize("case", HOSTILE)
def test_files_that_cannot_be_used_are_one_line(case: str, tmp_path: Path, command: Callable[..., Any]) -> None:
    change, said = HOSTILE[case]
    change(write(tmp_path / "elmo", OPTIONS, random_weights(OPTIONS)))
    done = command("embed", "a dog", "--json", "--model", tmp_path / "elmo")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"paraform: error: {tmp_path / 'elmo'}") and done.err.count("\n") == 1, done.err
    assert said in done.err, done.err


def test_what_is_larger_than_its_file_takes_no_memory(tmp_path: Path) -> None:
    """An array that is declared and not written is a few bytes of file, and 40 GB when it is read."""
    sizes = config_shapes(HUGE)
    (tmp_path / "elmo_options.json").write_text(json.dumps(HUGE), encoding="utf-8")
    with h5py.File(tmp_path / "elmo_weights.hdf5", "w") as file:
        for name, shape in sizes.items():
            file.create_dataset(name, shape, "f4", chunks=tuple(min(64, side) for side in shape))
    with pytest.raises(InputError, match=r"bytes for weights of [\d,]+; expected a file that holds them all, not comp"):
        encoders.load(str(tmp_path), device="cpu")


def config_shapes(options: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    lstm, cnn = options["lstm"], options["char_cnn"]
    filters = tuple((width, count) for width, count in cnn["filters"])
    config = ElmoConfig(
        5, 12, filters, "relu", cnn["n_highway"], lstm["projection_dim"], lstm["dim"], lstm["n_layers"], True, 3.0, 3.0
    )
    return config.shapes()


def test_there_are_no_random_weights(folder: Path) -> None:
    with pytest.raises(InputError, match="random weights of an ELMo; expected its own, or another encoder"):
        checkpoint.load(f"{folder}@weights=random", device="cpu")


def test_without_h5py_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"pip install 'paraform\[elmo\]'"):
        encoders.load(str(folder), device="cpu")
