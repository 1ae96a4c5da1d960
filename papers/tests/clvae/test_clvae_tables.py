"""The tables of the latent-variable family at the scale that takes seconds, on sentences made here."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_lm import write_lm

from paraform import checkpoint, manifest
from paraform.evaluation.latent import LatentReport, ngram
from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform.records import InputError
from paraform_papers.clvae import augment as clvae_augment
from paraform_papers.clvae import dropout as clvae_dropout
from paraform_papers.clvae import language_model as clvae_language_model
from paraform_papers.clvae import latent_rows
from paraform_papers.clvae import table1 as clvae_table1
from paraform_papers.clvae import table2 as clvae_table2
from paraform_papers.clvae import table3 as clvae_table3
from paraform_papers.clvae import table4 as clvae_table4
from paraform_papers.clvae.configs import ALONE, BRIEF, CONTROLS, FILES, SIZES, Scale, config_of, configs_of
from paraform_papers.clvae.protocols_plot import LOOKS, protocols_plot
from paraform_papers.tables import Asked, Figures, measured

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "no", "dog", "run", "by", "in", "rain", "or", "snow"]
PROTOCOLS = ("paper", "honest, same weights", "honest, best epoch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `--data` names it, and room for the runs, which the tables share."""
    place = tmp_path_factory.mktemp("clvae")
    random = np.random.default_rng(0)
    for files in FILES.values():
        for split, count in (("train", 320), ("valid", 40), ("test", 40)):
            path = place / files[split]
            path.parent.mkdir(exist_ok=True)
            lines = [" ".join(random.choice(WORDS, random.integers(2, 9))) for _ in range(count)]
            path.write_text("".join(f" {line} \n" for line in lines), encoding="utf-8")
    return place


def table(module: Any, folder: Path, out: str = "runs", corpus: str = "ptb", **asked: Any) -> Figures:
    """What the rows of a table come to, those that are missing trained."""
    found: Figures = measured(module.TABLE, Asked(corpus=corpus, data=folder, out=folder / out, **asked))
    return found


def cells(found: Any) -> dict[tuple[str, str, str], float]:
    return {(score.system, score.protocol, score.name): score.value for score in found.scores}


def test_rows_on_a_language_model_differ_from_table_1_s_in_that(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = clvae_language_model.configs(SIZES["small"], "ptb")
    for row, config in own.items():
        assert config.network == "lm"
        as_before = {name: getattr(config_of(row, SIZES["small"]), name) for name in clvae_language_model.BASE}
        assert replace(config, **as_before) == config_of(row, SIZES["small"])
    for row, without in clvae_language_model.PAIRS[:2]:  # in the contrast's weight alone
        fields = {"contrast_weight": 0.0, "objective": own[without].objective}
        assert replace(own[row], **fields) == own[without]
    monkeypatch.setitem(clvae_language_model.BASE, "base", str(write_lm(folder / "base")))
    found = table(clvae_language_model, folder, "runs-lm", rows=("vae", "vae+contrast", "vae-two-views"))
    assert all((row, p, "KL") in cells(found) for row in ("vae", "vae+contrast") for p in PROTOCOLS)
    pairs = [(one["first"], one["second"]) for one in found.more["comparisons"]]
    assert pairs == [("vae+contrast", "vae-two-views"), ("vae", "vae+contrast"), ("vae", "vae-two-views")]


def test_table_1_has_published_and_own_rows_by_every_protocol(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[set[str]] = []
    found = table(clvae_table1, folder, "runs", rows=("vae", "clvae+_mi"))
    assert cells(found)["clvae+_mi", "published", "PPL"] == 34.61
    assert cells(found)["vae", "paper", "updates"] == 9  # 300 sentences, 32 a step, one epoch
    assert all((row, p, "PPL") in cells(found) for row in ("vae", "clvae+_mi") for p in PROTOCOLS)
    (against,) = found.more["comparisons"]
    bounds = [cells(found)[row, "honest, same weights", "−ln p(x)"] for row in ("vae", "clvae+_mi")]
    assert [against[key] for key in ("first", "second", "protocol")] == ["vae", "clvae+_mi", "honest, same weights"]
    assert against["difference"] == pytest.approx(bounds[0] - bounds[1])
    assert against["low"] < against["difference"] < against["high"]
    said = f"\n- −ln p(x), honest, same weights: vae − clvae+_mi = {against['difference']:+.2f}"
    assert said in found.table("plain") and said in found.table("markdown")
    assert found.to_json()["comparisons"] == [against]
    assert "34.61" in found.table() and found.to_json()["alarms"].keys() == {"vae", "clvae+_mi"}
    for picture in ("collapse.png", "figure3.png"):
        assert (folder / "runs" / "ptb" / "smoke" / picture).stat().st_size > 10_000
    with pytest.raises(InputError, match="row 'gan'; expected one of ae, vae"):
        table(clvae_table1, folder, "runs", rows=("gan",))
    monkeypatch.setattr(clvae_table1, "draw_collapse", lambda runs, *_: drawn.append(set(runs)))
    table(clvae_table1, folder, "runs", rows=("vae",))
    assert drawn == 2 * [{*OBJECTIVES, *CONTROLS}]  # a row that is run alone leaves the others in the figure


def test_the_whole_of_table_1_is_drawn_protocol_by_protocol(folder: Path) -> None:
    picture = folder / "drawn" / "ptb" / "smoke" / "protocols.png"
    found = table(clvae_table1, folder, "drawn", rows=("ae", "vae", "clvae+_mi"))
    assert not picture.exists()
    clvae_table1.draw(found.scores, Asked(corpus="ptb", out=folder / "drawn"))
    assert picture.stat().st_size > 10_000
    for axes, name in zip(protocols_plot(found.scores).axes, ("KL", "PPL"), strict=True):
        for protocol, look in LOOKS.items():
            (line,) = (line for line in axes.lines if line.get_label() == protocol)
            values = [cells(found)[row, protocol, name] for row in ("vae", "clvae+_mi")]
            assert list(line.get_xdata()) == values and line.get_color() == look["color"]


def test_the_first_row_that_has_a_bound_is_compared_with_all_others_that_have_one(folder: Path) -> None:
    rows = ("ae", "beta-vae", "vae")  # an autoencoder has none
    found = table(clvae_table1, folder, "runs", rows=rows)
    (one,) = found.more["comparisons"]
    assert (one["first"], one["second"], one["protocol"]) == ("beta-vae", "vae", "honest, same weights")
    assert table(clvae_table1, folder, "runs", rows=rows[:2]).more["comparisons"] == []


def test_a_table_measures_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    measure = latent_rows.evaluate_latent

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(named["name"])
        return measure(*given, **named)

    def made() -> Figures:
        calls.clear()
        return table(clvae_table1, folder, "kept", rows=("vae",))

    monkeypatch.setattr(latent_rows, "evaluate_latent", counted)
    monkeypatch.setattr(manifest, "revision", lambda: "1234")
    first = made()
    assert calls == ["vae"]  # after a single epoch the last weights are the best
    again = made()
    assert calls == [] and again.scores == first.scores and again.table() == first.table()
    kept = folder / "kept" / "ptb" / "smoke" / "vae" / "last.measured.json"
    kept.write_text(kept.read_text(encoding="utf-8")[:-9], encoding="utf-8")  # no JSON any more
    assert made().scores == first.scores and calls == ["vae"]
    monkeypatch.setattr(manifest, "revision", lambda: "5678")
    made()
    assert calls == ["vae"]
    monkeypatch.setattr(manifest, "revision", lambda: "5678-dirty")
    for _ in range(2):
        made()
        assert calls == ["vae"]


def test_the_best_epoch_has_rows_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[bool] = []
    measure = latent_rows.evaluate_latent

    def noted(*given: Any, refit: bool, **named: Any) -> Any:
        fitted.append(refit)
        return measure(*given, refit=False, **named)

    given: dict[str, Any] = {"out": "two", "rows": ("vae",)}
    first = cells(table(clvae_table1, folder, **given))
    run = folder / "two" / "ptb" / "smoke" / "vae"
    other = checkpoint.load(run / "last")
    for weight in other.network.output.parameters():
        torch.nn.init.zeros_(weight)  # all words alike
    checkpoint.save(other, run / "best", card="")
    task = task_in(folder / "two", "vae")
    task = replace(task, asked=replace(task.asked, data=folder))
    (row,) = clvae_table1.TABLE.rows(task.asked)
    found = cells(latent_rows.figures_of([row], {}, task))
    for protocol in ("paper", "honest, same weights"):
        assert found["vae", protocol, "−ln p(x|z)"] == first["vae", protocol, "−ln p(x|z)"]
    words = sum(len(line.split()) + 1 for line in (folder / FILES["ptb"]["test"]).read_text().splitlines())
    alike = words / 40 * math.log(len(other.vocabulary))
    assert found["vae", "honest, best epoch", "−ln p(x|z)"] == pytest.approx(alike, rel=1e-4)
    monkeypatch.setattr(latent_rows, "evaluate_latent", noted)
    monkeypatch.setattr(manifest, "revision", lambda: "another")
    latent_rows.figures_of([row], {}, replace(task, size=replace(task.size, refit=True)))
    assert fitted == [True, False]  # critics, of the last epoch alone


def task_in(out: Path, *rows: str) -> latent_rows.Task:
    return latent_rows.Task(Asked(corpus="ptb", out=out, rows=rows), SIZES["smoke"])


def test_slow_rows_are_taken_once_they_are_trained(folder: Path) -> None:
    log = task_in(folder / "slow").folder("lagvae") / "log.jsonl"
    log.parent.mkdir(parents=True)
    known = configs_of(["vae", "savae", "lagvae"], SIZES["small"])
    for epochs, taken in ((0, False), (4, False), (5, True)):
        log.write_text('{"step": 1, "validation": {"kl": 1.0}}\n' * epochs, encoding="utf-8")
        chosen = latent_rows.chosen_rows(known, task_in(folder / "slow"), ALONE)
        assert list(chosen) == ["vae", *["lagvae"] * taken]
    assert latent_rows.chosen_rows(known, task_in(folder / "slow", "savae"), ALONE) == ("savae",)


def test_controls_differ_from_a_row_in_one_thing_each(folder: Path) -> None:
    """Dropout, then a second view, then contrast; and they train, at smoke scale, where they are asked for."""

    def apart(one: str, other: str) -> set[str]:
        first, second = (dataclasses.asdict(config_of(row, SIZES["full"])) for row in (one, other))
        return {name for name in first if first[name] != second[name]} - {"objective"}

    for plain, contrasted in (("vae", "vae+contrast"), ("ivae", "clvae"), ("ivae_mi", "clvae_mi")):
        assert apart(plain, f"{plain}-dropout") == {"plain_dropout"}
        assert apart(f"{plain}-two-views", contrasted) == {"contrast_weight"}
        once, twice = (config_of(f"{plain}-{control}", SIZES["full"]) for control in ("dropout", "two-views"))
        assert [(one.dropout_of_encoder, one.views) for one in (once, twice)] == [(0.5, 1), (0.5, 2)]
        assert (twice.contrast_weight, config_of(contrasted, SIZES["full"]).dropout_of_encoder) == (0.0, 0.5)
    for row in ("clvae+", "clvae+_mi"):
        assert apart(row, f"{row}-two-views") == {"contrast_weight"}
    assert apart("vae+contrast", "vae+contrast-h") == {"contrast"}
    found = table(clvae_table1, folder, "controls", rows=CONTROLS[::3])
    assert list(found.more["alarms"]) == list(CONTROLS[::3])
    assert latent_rows.chosen_rows(configs_of(CONTROLS, SIZES["smoke"]), task_in(folder / "none"), ALONE) == ()


def test_a_part_of_ptb_is_small() -> None:
    """So that Table 1's quick rows take two hours on two cores; Table 2 and Figure 4 have fewer epochs of more."""
    assert [(size.train, size.held_out) for size in SIZES.values()] == [(300, 60), (10_000, 1000), (0, 0), (0, 0)]
    assert [size.refit for size in SIZES.values()] == [False, False, True, True]
    assert [(size.train, size.held_out) for size in BRIEF.values()] == [(300, 60), (20_000, 1000), (0, 0), (0, 0)]


def test_savae_is_trained_for_less() -> None:
    """Of small scale: its steps take dozens of times as long."""
    assert [config_of(row, SIZES["small"]).epochs for row in ("vae", "savae", "lagvae", "clvae+_mi")] == [5, 1, 5, 5]
    assert [config_of(row, SIZES["full"]).epochs for row in ("vae", "savae")] == [40, 40]


def test_table_2_has_no_published_column(folder: Path) -> None:
    found = table(clvae_table2, folder, corpus="yelp")
    assert {protocol for _, protocol, _ in cells(found)} == set(PROTOCOLS)
    script, row = config_of("clvae_mi-h", SIZES["full"], "yelp"), config_of("clvae+_mi", SIZES["full"], "yelp")
    assert (script, row.kl, row.contrast) == (LatentConfig.reference("yelp"), "circle", "z")
    with pytest.raises(InputError, match="row 'clvae_mi-h'; expected one of"):
        table(clvae_table2, folder, corpus="yahoo", rows=("clvae_mi-h",))
    assert config_of("beta-vae", SIZES["full"], "yelp").beta == 0.4 and config_of("beta-vae", SIZES["full"]).beta == 0.5
    scales: tuple[Scale, ...] = ("smoke", "small", "full")
    configs = [config_of("vae", BRIEF[scale], "yahoo") for scale in scales]
    assert [(config.hidden_width, config.epochs) for config in configs] == [(16, 1), (256, 2), (1024, 40)]


def test_fewer_documents_are_trained_on_than_sentences(folder: Path) -> None:
    size = replace(SIZES["smoke"], documents=100)
    tasks = [latent_rows.Task(Asked(corpus=corpus, data=folder, out=folder / "runs"), size) for corpus in FILES]
    assert [len(task.texts("train")) for task in tasks] == [300, 100, 300]
    assert [len(task.texts("valid")) for task in tasks] == [40, 40, 40]
    assert tasks[1].folder("vae").relative_to(folder).parts == ("runs", "yahoo", "smoke", "vae")


def test_table_3_contrasts_h_and_compares_it_with_z_of_the_same_model(folder: Path) -> None:
    made = table(clvae_table3, folder, rows=("clvae-h", "clvae", "clvae_mi"))
    assert [(one["first"], one["second"]) for one in made.more["comparisons"]] == [("clvae-h", "clvae")]
    found = cells(made)
    assert found["clvae-h", "published", "PPL"] == 44.10
    assert found["clvae-h", "paper", "−ln p(x|z)"] != found["clvae", "paper", "−ln p(x|z)"]


@pytest.mark.parametrize(
    ("module", "rows"),
    [
        (clvae_table3, ["clvae-h", "clvae", "clvae_mi-h", "clvae_mi"]),
        (clvae_table4, ["vae", "cycvae", "ae", "beta-vae", "ivae", "ivae_mi", "clvae+_mi", "beta0-vae"]),
        (clvae_augment, ["swap", "clvae+_mi"]),
    ],
)
def test_every_table_takes_all_its_rows_or_those_asked_for(
    module: Any, rows: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[str] = []

    def train(name: str, config: LatentConfig, task: latent_rows.Task) -> None:
        trained.append(name)
        task.folder(name).mkdir(parents=True)
        (task.folder(name) / "log.jsonl").write_text('{"step": 7, "validation": {"kl": 1.0}}\n', encoding="utf-8")

    monkeypatch.setattr(latent_rows, "train_row", train)
    monkeypatch.setattr(latent_rows, "require_ngrams", lambda: None)
    monkeypatch.setattr(latent_rows, "measure_row", lambda *_, **__: ([], LatentReport((), ())))
    found = table(module, folder, f"all of {module.__name__}")
    assert trained == rows == list(found.more["alarms"])
    assert [score.value for score in found.scores if score.name == "updates"] == [7] * len(rows)
    trained.clear()
    table(module, folder, f"one of {module.__name__}", rows=(rows[0],))
    assert trained == rows[:1]
    with pytest.raises(InputError, match=f"row 'gan'; expected one of {rows[0]}, "):
        table(module, folder, "none", rows=("gan",))


def test_table_4_adds_both_perplexities(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram, "ngram_perplexities", lambda *texts, skip_unknown: ngram.NgramPerplexities(3.0, 4.0))
    monkeypatch.setattr(latent_rows, "require_ngrams", lambda: None)
    found = cells(table(clvae_table4, folder, "runs", rows=("vae", "beta0-vae")))
    assert (found["vae", "published", "forward PPL"], found["vae", "published", "reverse PPL"]) == (18_494, 10_149)
    assert (
        found["beta0-vae", "paper", "forward PPL"] == 3.0 and found["vae", "honest, best epoch", "reverse PPL"] == 4.0
    )


def test_what_table_4_lacks_is_said_before_anything_is_trained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> str:
        raise InputError("no lmplz")

    monkeypatch.setattr(ngram, "find_lmplz", lacking)
    with pytest.raises(InputError, match="no lmplz"):
        table(clvae_table4, folder, "untouched", rows=("vae",))
    assert not (folder / "untouched").exists()


def test_figure_4_is_drawn(folder: Path) -> None:
    rows = ("dropout 0.9", "dropout 0.1")
    found = table(clvae_dropout, folder, "runs", rows=rows)
    assert {row for row, _, _ in cells(found)} == set(rows)
    loaded = [checkpoint.load(folder / "runs" / "ptb" / "smoke" / row / "last") for row in rows]
    assert [model.config.encoder_dropout for model in loaded] == [0.9, 0.1]
    assert (folder / "runs" / "ptb" / "smoke" / "dropout.png").stat().st_size > 5000
    by_name = cells(found)
    for axes, name in zip(
        clvae_dropout.figure_of(found.scores, clvae_dropout.SHARES).axes, ("−ELBO", "PPL"), strict=True
    ):
        assert name in axes.get_ylabel()
        drawn = {str(line.get_label()): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}
        for protocol in ("paper", "honest, same weights"):
            expected = [(0.9, by_name[rows[0], protocol, name]), (0.1, by_name[rows[1], protocol, name])]
            assert drawn[protocol] == expected
    with pytest.raises(InputError, match=r"row .dropout 0\.15.; expected one of dropout 0\.1, "):
        table(clvae_dropout, folder, "runs", rows=("dropout 0.15",))


def test_figure_4_has_fewer_epochs_than_a_table() -> None:
    """Of small scale."""
    assert clvae_dropout.TABLE.sizes is BRIEF
    small, full = (clvae_dropout.configs(BRIEF[scale], "ptb") for scale in ("small", "full"))
    assert [config.encoder_dropout for config in small.values()] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert {config.epochs for config in small.values()} == {2}
    assert {config.epochs for config in full.values()} == {40}


def test_table_7_has_both_second_views(folder: Path) -> None:
    found = cells(table(clvae_augment, folder))
    assert found["swap", "published", "PPL"] == 36.96 and ("swap", "paper", "PPL") in found
    loaded = [checkpoint.load(folder / "runs" / "ptb" / "smoke" / row / "last").config for row in ("swap", "clvae+_mi")]
    assert [(config.positives, config.dropout_of_encoder) for config in loaded] == [("swap", 0.0), ("dropout", 0.5)]


def test_rows_are_those_of_the_authors_script() -> None:
    reference = LatentConfig.reference()
    assert config_of("clvae+_mi", SIZES["full"]) == reference
    assert config_of("clvae+_mi", SIZES["small"]) == replace(reference, epochs=5)
    assert config_of("clvae-h", SIZES["full"]) == replace(reference.with_objective("clvae"), contrast="h")
    rows = ("vae", "savae", "ivae_mi", "clvae", "vae+contrast")
    assert [config_of(row, SIZES["full"]).dropout_of_encoder for row in rows] == [0.1, 0.1, 0.1, 0.5, 0.5]
