"""ParaBART's tables at scale smoke, on a few rows and a tiny encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_encoder import write_encoder

from paraform import encoders
from paraform.encoders.folder import ModelFolder
from paraform.encoders.packed import unpacked
from paraform.evaluation.bootstrap import Comparison
from paraform.models.disentangled import DisentangledConfig
from paraform_papers.parabart import rows as parabart_rows
from paraform_papers.parabart.configs import ERASED, PAPER, RIVALS, ROWS, SIZES, STARTS, config_of, corpora_of, rows_of
from paraform_papers.parabart.vectors_table import over_seeds
from paraform_papers.rows import is_trained, train_row
from paraform_papers.shipped import minilm_disentangled
from paraform_papers.tables import Asked

Command = Callable[..., Any]
NOUNS = ("cat", "dog", "man", "girl", "bird", "horse", "child", "king")
VERBS = ("sees", "likes", "hears", "finds")


@pytest.fixture
def folder(data_folder: Path) -> Path:
    """Pairs, development and test sets, of a few words."""
    data = data_folder
    for name in ("quora", "tatoeba", "paws"):
        (data / name).mkdir()
    said = [f"the {one} {verb} the {NOUNS[(at + 3) % 8]}" for at, one in enumerate(NOUNS) for verb in VERBS]
    asked = [f"does {text.replace('sees', 'see').replace('hears', 'hear')} ?" for text in said]
    rows = [f"{one}\t{other}\n" for one, other in zip(said, asked, strict=True)]
    (data / "quora" / "train.tsv").write_text("".join(rows[:24]))
    (data / "quora" / "dev.tsv").write_text("".join(rows[24:28]))
    # of some the same form, of others another
    alike = [f"{said[at]}\t{said[at].replace('the', 'a', 1)}\n" for at in range(28, 32)]
    (data / "quora" / "test.tsv").write_text("".join([*rows[28:], *alike]))
    (data / "tatoeba" / "pairs.tsv").write_text("a bird sings\ta bird is singing\nwe see a king\tthe king is seen\n")
    apart = [f"{noun} {verb} dog\tdog {verb} {noun}" for noun in NOUNS if noun != "dog" for verb in VERBS]
    labelled = [f"{at}\t{pair}\t{at % 2}\n" for at, pair in enumerate(apart)]
    (data / "paws" / "dev.tsv").write_text("id\tsentence1\tsentence2\tlabel\n" + "".join(labelled))
    (data / "stsb-en-test.csv").write_text("a cat,the cat,4.5\na dog,a tree,0.5\nwe sing,they sing,3\n")
    return data


@pytest.fixture
def tiny(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale smoke with an encoder of a few words, of four layers."""
    place = tmp_path / "encoder"
    write_encoder(folder, place, layers=4)
    config = replace(SIZES["smoke"].config, encoder=str(place), batch_size=8)
    monkeypatch.setitem(SIZES, "smoke", replace(SIZES["smoke"], config=config))
    monkeypatch.setitem(STARTS, "minilm3", {**STARTS["minilm3"], "batch_size": 8})


def test_rows_are_trained_once_and_measured_for_every_seed(
    folder: Path, tmp_path: Path, command: Command, tiny: None, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["--data", folder, "--out", tmp_path / "runs", "--device", "cpu", "--row", "minilm3 without both"]
    for seed in (1, 0):
        done = command("reproduce", "parabart/table1", *given, "--seed", seed, "--json")
        assert done.status == 0, done.err
    assert "of 26 pairs have a sentence of the evaluation sets" in done.err
    scores = json.loads(done.out)["scores"]
    systems = ["minilm3 as it comes", "minilm3 without both, seed 0", "minilm3 without both, seed 1"]
    assert list(dict.fromkeys(score["system"] for score in scores)) == systems
    assert {score["subset"] for score in scores} == {"STS-B"}
    run = tmp_path / "runs" / "smoke" / "seed-0" / "minilm3-without-both"
    kept = json.loads((run / "trained.json").read_text())["config"]
    assert (kept["syntax"], kept["layers"], kept["adversary_weight"]) == (False, 3, 0)
    log = (run / "log.jsonl").read_text()
    assert '"development"' in log and '"PAWS dev, choosing half"' in log

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(parabart_rows, "train_disentangled", refuse)
    shown = {}
    for name in ("development", *(f"table{number}" for number in range(1, 6))):
        done = command("reproduce", f"parabart/{name}", *given)
        assert done.status == 0, done.err
        shown[int(name[-1]) if name[-1].isdigit() else 0] = done.out
        assert next((tmp_path / "runs" / "smoke").glob(f"{name}*.md")).read_text().strip()
    assert "PAWS dev, choosing half" in shown[0] and "Quora dev" in shown[0]
    assert "BShift" in shown[2] and "accuracy, paper" in shown[2] and "validation, default" in shown[5]
    assert "PAWS dev, reporting half" in shown[4] and "accuracy, tuned on test" in shown[4]
    assert shown[3].count("Quora-Hard:") == 3 and shown[3].count("minilm3 without both, seed 1") >= 3
    assert all(name in shown[3] for name in systems)


def test_what_is_erased_of_another_row_is_measured_against_it(
    folder: Path, tmp_path: Path, command: Command, tiny: None, own_cache: None
) -> None:
    given = ["--data", folder, "--out", tmp_path / "runs", "--device", "cpu", "--row", "minilm3 full, erased"]
    done = command("reproduce", "parabart/table1", *given, "minilm3 full", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert "minilm3 full, erased, seed 0" in {score["system"] for score in found["scores"]}
    apart = {(one["first"], one["second"]) for one in found["differences"]}
    others = ("minilm3 full, seed 0", "minilm3 as it comes")
    own = ("minilm3 full, seed 0", "minilm3 as it comes")
    assert apart == {own, *(("minilm3 full, erased, seed 0", other) for other in others)}
    run = tmp_path / "runs" / "smoke" / "seed-0" / "minilm3-full+erased"
    assert (run / "encoder" / "2_Dense" / "model.safetensors").is_file()
    done = command("reproduce", "parabart/table4", *given)
    assert done.status == 0 and "minilm3 full, erased, seed 0 − minilm3 as it comes" in done.out
    erased = parabart_rows.row_of("minilm3 full, erased", Asked(out=tmp_path / "runs"))
    assert is_trained(erased)
    weights = run.with_name("minilm3-full") / "best" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")  # it was trained again
    assert not is_trained(erased)


def test_the_embedded_encoder_is_packed_and_measured(folder: Path, tmp_path: Path, tiny: None, own_cache: None) -> None:
    base = SIZES["smoke"].config.encoder
    out = tmp_path / "made"
    row = parabart_rows.row_of(minilm_disentangled.ROW, Asked(data=folder, out=out / "runs", device="cpu"))
    train_row(row)
    card = minilm_disentangled.finish(row.folder, folder, out, "smoke", base=base)
    assert "Four bits keep 9" in card and "| AUC | PAWS dev, reporting half |" in card
    packed = out / minilm_disentangled.NAME
    assert (packed / "README.md").read_text() == card
    whole, again = encoders.load(str(out / "whole")), encoders.load(str(unpacked(ModelFolder(packed), Path(base))))
    texts = ["the cat sees the dog", "does the king like a bird ?"]
    cosines = (whole.encode(texts) * again.encode(texts)).sum(1)
    assert (cosines > 0.99).all()


def test_what_there_is_not(folder: Path, command: Command) -> None:
    given = ["reproduce", "parabart/table1", "--data", folder]
    done = command(*given, "--row", "minilm best")
    assert done.status == 2 and "no row 'minilm best'; expected some of minilm full, " in done.err
    for scale, row, expected in (("full", "minilm full", "bart full"), ("full", "bart default", "bart full")):
        done = command(*given, "--scale", scale, "--row", row)
        assert done.status == 2 and f"row {row!r} at scale full; expected such as {expected}" in done.err
    done = command(*given, "--row", "bart full")
    assert done.status == 2 and "row 'bart full' at scale smoke; expected such as minilm full, minilm w" in done.err


def test_rows_differ_in_what_they_are_called_by() -> None:
    """Of one start all but the parts that a row names are the full model's."""
    for scale in ("smoke", "small", "long"):
        for start, fields in ((start, fields) for start, fields in STARTS.items() if start != "bart"):
            full = config_of(f"{start} full", scale)
            assert full is not None
            assert full.layers == fields.get("layers", 0)
            assert config_of(f"{start} without adversary", scale) == full.without(adversary=True)
            assert config_of(f"{start} without both", scale) == full.without(adversary=True, syntax=True)
    assert all(
        (config_of(row, "small") is None) == (row.partition(" ")[2] in ERASED) for row in ROWS if "bart" not in row
    )
    assert config_of("minilm default, free", "small") == config_of("minilm default", "small")
    assert corpora_of("minilm default, free", "small").keys() < corpora_of("minilm default", "small").keys()
    assert (
        set(corpora_of("smollm2-500 full", "small").values()) == {500} and len(corpora_of("smollm2 full", "long")) == 4
    )
    assert {row.partition(" ")[0] for row in rows_of("small")} == {"minilm", "minilm3"}
    assert [row.partition(" ")[2] for row in rows_of("full")] == list(PAPER)
    assert config_of("bart full", "full") == replace(DisentangledConfig.paper(), encoder="facebook/bart-base")


def test_seeds_stand_in_one_line_with_their_mean() -> None:
    def apart(seed: int, other: str, value: float) -> Comparison:
        first = f"minilm full, seed {seed}"
        return Comparison("Pearson", first, other, "", value, -9, 9, 0.5, "", digits=1, subset="STS-B")

    found = [apart(seed, f"minilm less, seed {seed}", value) for seed, value in enumerate((-1.0, 2.0, 5.0))]
    found += [apart(seed, "minilm as it comes", 1.0) for seed in (0, 1)]
    assert over_seeds([*found, apart(0, "minilm without both, seed 0", 3.0)]) == [
        "STS-B, Pearson: minilm full − minilm less, seeds 0, 1 and 2: -1.0, +2.0, +5.0;"
        " mean +2.0, standard deviation 3.0",
        "STS-B, Pearson: minilm full − minilm as it comes, seeds 0 and 1: +1.0, +1.0; mean +1.0,"
        " standard deviation 0.0",
    ]


def test_of_an_image_there_is_one_pair_of_captions(tmp_path: Path) -> None:
    (tmp_path / "multi30k").mkdir()
    lines = [f"a man {at}\tone man {at}\tsomebody {at}\n" for at in range(5)]
    (tmp_path / "multi30k" / "train.tsv").write_text("".join(lines))
    pairs = parabart_rows.pairs_of(tmp_path, {"multi30k": 4})
    assert len(pairs) == len({pair.cluster for pair in pairs}) == 4
    assert {pair.source.text.split()[0] for pair in pairs} == {"a"}


def test_rival_encoders_are_rows_beside_themselves_untrained(
    folder: Path, tmp_path: Path, command: Command, tiny: None, own_cache: None
) -> None:
    """sp-average on Quora's pairs; InferSent on SICK's, but those that stand in other evaluation sets."""
    (folder / "sick").mkdir()
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    kinds = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    rows = [f"{at}\tthe {one} sings\ta {NOUNS[at - 1]} sings\t3\t{kinds[at % 3]}\n" for at, one in enumerate(NOUNS)]
    known = f"9\t{(folder / 'quora' / 'test.tsv').read_text().split(chr(9))[0]}\tit sings\t3\tNEUTRAL\n"
    (folder / "sick" / "SICK_train.txt").write_text(header + "".join([*rows, *rows, known]))
    (folder / "sick" / "SICK_trial.txt").write_text(header + "".join(rows))
    given = ["--data", folder, "--out", tmp_path / "runs", "--device", "cpu", "--json"]
    done = command("reproduce", "parabart/table1", *given, "--row", *RIVALS)
    assert done.status == 0, done.err
    assert "1 of 17 pairs have a sentence of the evaluation sets" in done.err
    systems = [f"{row}{part}, seed 0" for row in RIVALS for part in ("", " untrained")]
    found = json.loads(done.out)["scores"]
    pairs = {(one["first"], one["second"]) for one in json.loads(done.out)["differences"]}
    assert pairs == {(f"{row}, seed 0", f"{row} untrained, seed 0") for row in RIVALS}
    assert sorted({score["system"] for score in found}) == sorted(systems)
    assert {score["subset"] for score in found} == {"STS-B"}
    values = {score["system"]: score["signature"] for score in found}
    assert len(set(values.values())) == 6 and not any(str(tmp_path) in value for value in values.values())
    log = (tmp_path / "runs" / "smoke" / "seed-0" / "sp-average" / "log.jsonl").read_text()
    assert '"development"' in log
    refused = command("reproduce", "parabart/table1", *given, "--scale", "full", "--row", "sp-average")
    assert refused.status == 2 and "row 'sp-average' at scale full; expected such as bart full" in refused.err
