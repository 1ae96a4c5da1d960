"""Columns in Hugging Face's datasets, in one process, in two, streamed and from the cache, against our own calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from datasets.fingerprint import Hasher

import paraform
from paraform.encoders import Encoder
from paraform.integrations.datasets import same, vectors
from paraform.records import InputError

TEXTS = ["Wo ist sie?", "Wo ist meine Karte?", "Can I use my card abroad?", "The parcel was damaged when it arrived."]
OTHERS = ["Where is she?", "Where is it?", "Is it possible to use my card abroad?", "The parcel arrived whole."]
ROWS = {"text": TEXTS, "other": OTHERS, "label": [3, 2, 1, 0]}


@pytest.fixture
def table(tmp_path: Path) -> datasets.Dataset:
    """A table of a file, which datasets keeps results of."""
    file = tmp_path / "table.jsonl"
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "kept"))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def reworder() -> paraform.Reworder:
    return paraform.reworder("rules", device="cpu")


@pytest.mark.parametrize("processes", [None, 2])
def test_a_column_in_other_words_though_the_first_batch_has_none(table: Any, processes: int | None) -> None:
    out = table.map(reworder().column("text"), batched=True, batch_size=2, num_proc=processes)
    expected = paraform.reword(TEXTS, model="rules", device="cpu")
    assert out["text_reworded"][:] == [one.candidates[0].text if one.candidates else "" for one in expected]
    assert out["text_reason"][:] == [one.reason for one in expected] and not any(expected[0].candidates)
    assert out["label"][:] == ROWS["label"]


@pytest.mark.parametrize("processes", [None, 2])
def test_rows_come_behind_their_own_with_the_other_columns(table: Any, processes: int | None) -> None:
    out = table.map(reworder().rows("text", num=2), batched=True, batch_size=3, num_proc=processes)
    assert out.features == table.features and len(out) > len(TEXTS)
    expected = reworder().rows("text", num=2)(ROWS)
    assert {name: out[name][:] for name in ROWS} == expected


@pytest.mark.parametrize("processes", [None, 2])
def test_vectors_are_the_encoder_s(table: Any, processes: int | None, minilm: Encoder) -> None:
    out = table.map(vectors("minilm", "text", device="cpu"), batched=True, num_proc=processes)
    assert out.features["text_vector"] == datasets.List(datasets.Value("float32"))
    np.testing.assert_allclose(out.with_format("numpy")["text_vector"][:], minilm.encode(TEXTS), atol=1e-6)


def test_two_columns_are_judged(table: Any) -> None:
    out = table.map(same("text", "other", model="minilm-judge", device="cpu"), batched=True).with_format("numpy")
    pairs = list(zip(TEXTS, OTHERS, strict=True))
    expected = paraform.load("minilm-judge", device="cpu").judge(pairs)
    for name in ("same", "forth", "back"):
        np.testing.assert_allclose(out[name][:], getattr(expected, name), atol=1e-6)


def test_rows_are_streamed(minilm: Encoder) -> None:
    stream = datasets.Dataset.from_dict(ROWS).to_iterable_dataset()
    more = list(stream.map(reworder().rows("text"), batched=True, batch_size=3))
    assert {name: [row[name] for row in more] for name in ROWS} == reworder().rows("text")(ROWS)
    found = [row["text_vector"] for row in stream.map(vectors("minilm", "text", device="cpu"), batched=True)]
    np.testing.assert_allclose(found, minilm.encode(TEXTS), atol=1e-6)


def test_what_was_made_before_comes_from_the_cache(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = table.map(reworder().column("text"), batched=True)
    rows = table.map(vectors("minilm", "text", device="cpu"), batched=True)

    def again(*_: object, **__: object) -> None:
        raise AssertionError("it was made again")

    monkeypatch.setattr(paraform.Reworder, "judge", again)
    monkeypatch.setattr(Encoder, "embed", again)
    kept = table.map(reworder().column("text"), batched=True)
    assert kept.cache_files == first.cache_files and kept[:] == first[:]
    assert table.map(vectors("minilm", "text", device="cpu"), batched=True).cache_files == rows.cache_files
    with pytest.raises(AssertionError, match="again"):
        table.map(reworder().column("text", force=True), batched=True)


def test_other_settings_models_and_versions_have_other_fingerprints(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        reworder().column("text"),
        reworder().column("text", force=True),
        reworder().column("other"),
        reworder().rows("text"),
        paraform.reworder("rules", device="cpu", change="much").column("text"),
        paraform.reworder("rules", device="cpu", keep=["card"]).column("text"),
        paraform.reworder(str(tiny_run), device="cpu").column("text"),
        vectors("minilm", "text", device="cpu"),
        vectors("minilm@layer=3", "text", device="cpu"),
        vectors(str(tiny_run), "text", device="cpu"),
        same("text", "other", model="minilm-judge", device="cpu"),
    ]
    found = [Hasher.hash(one) for one in made]
    assert len(set(found)) == len(made) and found == [Hasher.hash(one) for one in made]
    reworder().column("text")(ROWS)
    assert Hasher.hash(reworder().column("text")) == found[0]
    monkeypatch.setattr("paraform.default_call.__version__", "9")
    assert Hasher.hash(reworder().column("text")) != found[0]


def test_a_folder_that_is_trained_anew_has_another_fingerprint_and_is_loaded_anew(
    tiny_run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    model = paraform.load(tiny_run, device="cpu")
    fingerprints, rows = [], []
    for _ in range(2):
        paraform.save(model, folder)
        made = vectors(str(folder), "text", device="cpu")
        fingerprints.append([Hasher.hash(made), Hasher.hash(paraform.reworder(str(folder), device="cpu").column("t"))])
        rows.append(made(ROWS)["text_vector"])
        np.testing.assert_allclose(rows[-1], model.embed(TEXTS), atol=1e-6)
        for weights in model.parameters():
            weights.data.mul_(0.5)
    assert not set(fingerprints[0]) & set(fingerprints[1]) and not np.allclose(*rows)


def test_what_is_wrong_is_said_in_one_line() -> None:
    with pytest.raises(InputError, match="expected a model that embeds"):
        vectors("minilm-judge", "text", device="cpu")
    with pytest.raises(InputError, match="expected a judge of meaning"):
        same("text", "other", model="minilm", device="cpu")
    with pytest.raises(InputError, match="no column 'words'; expected one of 'text', 'other', 'label'"):
        datasets.Dataset.from_dict(ROWS).map(vectors("minilm", "words", device="cpu"), batched=True)
