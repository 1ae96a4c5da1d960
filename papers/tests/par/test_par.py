"""PAR's tables at scale smoke, on a few rows and a tiny encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_encoder import write_encoder

from paraform import checkpoint
from paraform.models.disentangled import DisentangledConfig
from paraform.models.retrofit import RetrofitConfig
from paraform.weights import pretrained_folder
from paraform_papers.par import rows as par_rows
from paraform_papers.par.configs import (
    AS_PUBLISHED,
    CORPORA,
    ROWS,
    SIZES,
    STARTS,
    VARIANTS,
    Scale,
    config_of,
    pairs_of_row,
    rows_of,
    trained_on,
)
from paraform_papers.par.models import models_of
from paraform_papers.par.rows import pairs_of, row_of, training_texts
from paraform_papers.rows import train_row
from paraform_papers.shipped import minilm_par
from paraform_papers.tables import Asked

Command = Callable[..., Any]
NOUNS = ("cat", "dog", "man", "girl", "bird", "horse", "child", "king")
VERBS = ("sees", "likes", "hears", "finds")
TEXTS = ["Can I use my card abroad?", "Is it possible to use my card abroad?", "He lives in a large house."]


@pytest.fixture
def folder(data_folder: Path) -> Path:
    """MRPC's, PAN's and Quora's files, an STS set and a probing set, of a few words."""
    data = data_folder
    for name in ("mrpc", "pan", "quora"):
        (data / name).mkdir()
    said = [f"the {one} {verb} the {two}" for one in NOUNS for verb in VERBS for two in NOUNS if two != one]
    rows = [(text, f"does {text} ?", int(at % 4 > 0)) for at, text in enumerate(said)]
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for part, some in (("train", rows[:170]), ("test", rows[166:])):  # four are in both
        lines = [f"{label}\t1\t2\t{one}\t{other}\n" for one, other, label in some]
        (data / "mrpc" / f"msr_paraphrase_{part}.txt").write_text(header + "".join(lines))
        for name, column in ((".labels", 2), ("_s1.txt", 0), ("_s2.txt", 1)):
            content = "".join(f"{row[column]}{' now' if column < 2 else ''}\n" for row in some)
            (data / "pan" / f"pan-{part}{name}").write_text(content)
        pairs = "".join(f"why {one}\twhy {other}\n" for one, other, _ in some)
        (data / "quora" / f"{part}.tsv").write_text(pairs)
    sts = [f"{said[at]},{said[at + 9]},{at % 5}\n" for at in range(8)]
    sts += [f"we see {at},they see {at},{at % 5}\n" for at in range(8)]
    (data / "stsb-en-test.csv").write_text("".join(sts))
    return data


@pytest.fixture
def tiny(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale smoke with an encoder of a few words, of two layers."""
    place = tmp_path / "encoder"
    write_encoder(folder, place, layers=2)
    monkeypatch.setitem(SIZES, "smoke", replace(SIZES["smoke"], encoder=str(place)))


def test_rows_are_trained_once_and_measured_by_every_table(
    folder: Path, tmp_path: Path, command: Command, tiny: None, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["mrpc default", "quora paper", "union whitening", "pan contrast"]
    given = ["--data", folder, "--out", tmp_path / "runs", "--device", "cpu", "--row", *rows]
    for seed, some in ((1, rows[:1]), (0, rows)):
        done = command("reproduce", "par/table4", *given[: -len(rows)], *some, "--seed", seed, "--json")
        assert done.status == 0, done.err
    found = json.loads(done.out)
    scores = {(one["system"], one["subset"], one["name"]): one["value"] for one in found["scores"]}
    systems = list(dict.fromkeys(system for system, _, _ in scores))
    assert systems[:4] == ["ELMo (all layers), printed", "ELMo-PAR (union), printed", "top layer", "mean of layers"]
    assert systems[4:] == [*(f"{row}, seed 0" for row in rows), "mrpc default, seed 1"]
    for name, others in (("MRPC", "others"), ("PAN", "others"), ("Quora", "mined others")):
        same, other = (scores["top layer", f"{name}, {kind}", "L2"] for kind in ("paraphrases", others))
        assert scores["top layer", f"{name}, paraphrases", "L2 ratio"] == pytest.approx(same / other)
    assert scores["mrpc default, seed 0", "M", "largest singular value"] > 0
    assert ("pan contrast, seed 0", "M", "largest singular value") not in scores
    apart = {(one["first"], one["second"]) for one in found["differences"]}
    assert ("mrpc default, seed 0", "top layer") in apart and ("quora paper, seed 0", "mean of layers") in apart
    run = tmp_path / "runs" / "smoke" / "seed-0" / "mrpc-default"
    assert json.loads((run / "trained.json").read_text())["pairs"] == {"mrpc": 160}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(par_rows, "train_retrofit", refuse)
    monkeypatch.setattr(par_rows, "train_disentangled", refuse)
    done = command("reproduce", "par/table1", *given)
    assert done.status == 0, done.err
    assert "small–large" in done.out and "5.84 0.30" in done.out and "1: bigger" in done.out
    done = command("reproduce", "par/table2", *given, "--json")
    assert done.status == 0, done.err
    scores = {(one["system"], one["subset"]): one["value"] for one in json.loads(done.out)["scores"]}
    of_mrpc = {system for system, subset in scores if subset == "MRPC"}
    assert of_mrpc == {system for system in systems[2:] if not system.startswith(("mrpc", "union"))}
    assert {subset for _, subset in scores} == {"MRPC", "MRPC, unseen", "STS-B", "STS-B, unseen", "BShift"}
    for name in ("table1", "table2", "table4"):
        assert next((tmp_path / "runs" / "smoke").glob(f"{name}*.md")).read_text().strip()
    (run / "trained.json").write_text("{}")
    with pytest.raises(AssertionError, match="trained again"):
        command("reproduce", "par/table4", *given)


def test_what_there_is_not(folder: Path, command: Command) -> None:
    given = ["reproduce", "par/table4", "--data", folder]
    done = command(*given, "--row", "mrpc best")
    assert done.status == 2 and "no row 'mrpc best'; expected some of mrpc default, " in done.err


def test_rows_behind_an_encoder_are_measured_by_what_was_read_of_it(
    folder: Path, tmp_path: Path, command: Command, tiny: None, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M behind a layer, or the mean of all: of words and of sentences as the model itself has them."""
    place = SIZES["smoke"].encoder
    for start, encoder in (("smollm2", place), ("smollm2 layer 15", f"{place}@layer=1"), ("smollm2 mean", place)):
        monkeypatch.setitem(STARTS, start, {**STARTS[start], "encoder": encoder})
    names = ("smollm2 mrpc further", "smollm2 layer 15 pan default", "smollm2 mean quora paper")
    asked = Asked(data=folder, out=tmp_path / "runs", rows=names, device="cpu")
    rows = [row_of(name, asked) for name in names]
    for row in rows:
        train_row(row)
    models = models_of(asked, rows)
    assert [model.name for model in models[:3]] == ["top layer", "mean of layers", f"{place}, layer 1"]
    starts = [model.start.name for model in models[3:] if model.start is not None]
    assert starts == ["top layer", f"{place}, layer 1", "mean of layers"]
    assert models[3].model.frozen is models[5].model.frozen is not models[4].model.frozen
    words = [["we", "see", "one"], ["they", "see"], ["we", "see", "one"]]
    for model in models[3:]:
        layers = range(3) if model.mean else [model.model.layer]
        expected = model.model.word_states(words, layers=layers)
        found = model.words().words(words)
        torch.testing.assert_close(found.states_NLD[:, 0], expected.states_NLD.float().mean(1), atol=1e-5, rtol=1e-5)
        assert found.offsets.tolist() == expected.offsets.tolist()
        texts = ["we see one", "they see"]
        embed = model.sentences(tmp_path / "vectors").embed
        np.testing.assert_allclose(embed(texts), model.model.embed(texts), atol=1e-5)


def test_rows_differ_in_what_they_are_called_by() -> None:
    scales: tuple[Scale, ...] = ("smoke", "small", "long", "full")
    for scale in scales:
        for corpus in CORPORA:
            default = config_of(f"{corpus} default", scale)
            assert isinstance(default, RetrofitConfig)
            for variant, own in VARIANTS.items():
                found = config_of(f"{corpus} {variant}", scale)
                if variant not in (*AS_PUBLISHED, "reference", "contrast"):
                    assert found == replace(default, **own)
            contrast = config_of(f"{corpus} contrast", scale)
            assert isinstance(contrast, DisentangledConfig) and contrast.contrast_weight == 1
    for corpus in ("mrpc", "pan", "quora"):
        assert config_of(f"{corpus} paper", "full") == RetrofitConfig.paper(corpus)  # type: ignore[arg-type]
    for row, (start, _, _) in ROWS.items():
        assert vars(config_of(row, "full")).items() >= STARTS[start].items()
    by_adam = config_of("mrpc paper, adam", "full")
    assert by_adam == replace(RetrofitConfig.paper("mrpc"), optimiser="adam", learning_rate=1e-3)
    same_rate = config_of("mrpc paper, adam, same rate", "full")
    assert same_rate == replace(RetrofitConfig.paper("mrpc"), optimiser="adam") and same_rate.learning_rate == 0.005
    behind = {"place": "after", "encoder": "smollm2@layer=15", "states": "last"}
    assert config_of("smollm2 layer 15 pan paper", "full") == replace(RetrofitConfig.paper("pan"), **behind)
    assert trained_on("smollm2 mean union further") == ("mrpc", "pan", "quora")
    assert config_of("union reference", "full") == RetrofitConfig.reference()
    assert pairs_of_row("union default", "full") == {"mrpc": 0, "pan": 0, "quora": 20_000}
    assert set(rows_of("small")) <= set(ROWS) and len(rows_of("small")) == 8


def test_a_part_of_quora_is_drawn_or_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "train.tsv").write_text("".join(f"a {at}\tb {at}\n" for at in range(190)))
    first = pairs_of("quora reference", "smoke", tmp_path)
    drawn = pairs_of("quora default", "smoke", tmp_path)
    assert [pair.source.text for pair in first] == [f"a {at}" for at in range(160)]
    assert len(drawn) == 160 and drawn != first and drawn == pairs_of("quora default", "smoke", tmp_path)
    assert len(training_texts(tmp_path)) == 380


def write_development(folder: Path) -> None:
    """The STS Benchmark's other parts."""
    for part in ("train", "dev"):
        lines = [f"we see {at} {part},they see {at} {part},{at % 5}\n" for at in range(8)]
        (folder / f"stsb-en-{part}.csv").write_text("".join(lines))


def test_the_embedded_matrix_is_trained_on_what_no_set_has_and_measured(
    folder: Path, tmp_path: Path, tiny: None, own_cache: None
) -> None:
    write_development(folder)
    config = RetrofitConfig(encoder=SIZES["smoke"].encoder, batch_size=8, epochs=1, classifier_pairs=40)
    minilm_par.train(folder, tmp_path / "run", config)
    card = minilm_par.finish(tmp_path / "run", folder, tmp_path, size=20)
    made = tmp_path / minilm_par.NAME
    assert (made / "README.md").read_text() == card and "| L2 ratio | MRPC, paraphrases |" in card
    assert "| Pearson | STS-B |" in card and "float32 [2, 384]" in card
    model = checkpoint.load(str(made))
    vectors = model.encode(["the cat sees the dog", "does the king like a bird ?"])
    assert vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors, model.embed(["the cat sees the dog", "does the king like a bird ?"]))


@pytest.mark.skipif(pretrained_folder("minilm-par") is None, reason="minilm-par is not here yet")
def test_what_ships(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    made = pretrained_folder("minilm-par")
    assert made is not None and sum(path.stat().st_size for path in made.iterdir()) <= 1_000_000
    card = (made / "README.md").read_text(encoding="utf-8")
    assert "non-commercial" in card and "{" not in card and "| L2 ratio | MRPC, paraphrases |" in card
    model = checkpoint.load("minilm-par", device="cpu")
    assert model.config == minilm_par.CONFIG
    scales = np.linalg.svd(model.matrix.numpy(), compute_uv=False)
    assert scales[-1] > 0.95 and scales[0] < 1.05  # nearly a rotation, as the card says
    vectors = model.encode(TEXTS)
    assert np.abs(vectors - checkpoint.load("minilm", device="cpu").encode(TEXTS)).max() > 1e-3
    folder = str(model.export(tmp_path / "exported"))
    for exported in (SentenceTransformer(folder, device="cpu"), checkpoint.load(folder, device="cpu")):
        assert np.min((exported.encode(TEXTS) * vectors).sum(axis=1)) > 0.999  # bfloat16 products on some processors
