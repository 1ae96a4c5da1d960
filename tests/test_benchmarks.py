"""The benchmarks still run, and what they compare is still the same thing; how fast, they say themselves."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def figures(name: str, *arguments: object) -> dict[str, Any]:
    """What a benchmark prints, run at a size that says nothing of speed; status 1 is a bound not kept."""
    command = [sys.executable, REPOSITORY / "benchmarks" / f"{name}.py", "--json", "--threads", 1, *arguments]
    done = subprocess.run(
        [str(word) for word in command], cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_peer_of_training_learns_the_same(question_pairs: Path) -> None:
    """Loss by loss, step by step: in float32 but for the style features, which are kept in 16 bits."""
    found = figures(
        "training", "--data", question_pairs, "--pairs", 64, "--batch-size", 16, "--steps", 1, "--precision", "no"
    )
    assert found["figures"]["largest relative difference of a loss"] < 1e-3
    assert found["figures"]["loss of the first step"] > 1


def test_the_peer_of_the_latent_models_learns_the_same(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat sat on a mat\na dog ran\nit rains again\n" * 40, encoding="utf-8")
    found = figures("latent", "--data", tmp_path / "text.txt", "--steps", 1, "--warm-up", 2)["figures"]
    assert found["largest relative difference of a loss"] < 0.01 and found["loss of the first step"] > 1


def test_the_peer_of_latent_evaluation_finds_the_same_bounds(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on a mat\na dog ran\nit rains again\n" * 4, encoding="utf-8")
    found = figures("latent_evaluation", "--data", text, "--words", text, "--samples", 4)["figures"]
    assert found["largest relative difference of a bound"] < 0.01 and found["words a second, paraform"] > 0


def test_mining_finds_the_peer_s_distances(question_pairs: Path) -> None:
    assert all(bound["kept"] for bound in figures("mining", "--data", question_pairs)["bounds"].values())


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("vocabulary", ("--words", 8, "--vocabulary", 50, "--features", 4, "--repeats", 1)),
    ],
)
def test_layers_agree_with_their_peers(name: str, size: tuple[object, ...]) -> None:
    found = figures(name, *size)["figures"]
    differences = [value for key, value in found.items() if "difference" in key]
    assert differences and max(differences) < 0.02


def test_rewording_is_measured() -> None:
    """Cold starts are left out: each takes seconds."""
    found = figures("rewording", "--data", "nowhere", "--rows", 6, "--sentences", 2, "--repeats", 0)["figures"]
    assert found["rows"] == 6 and found["rows, ratio"] > 0 and 0 < found["peak, GiB"] < 6


def test_ways_of_decoding_are_measured() -> None:
    found = figures("decoding", "--sentences", 4, "--vocabulary", 100, "--repeats", 1)["figures"]
    assert len(found) == 8 and all(value > 0 for value in found.values())


def test_paraphrasing_is_measured(question_pairs: Path) -> None:
    found = figures("paraphrase", "--data", question_pairs, "--rows", 6, "--repeats", 1)["figures"]
    assert found["sources"] == 6 and found["first paraphrase"] and found["ratio to the style encoder"] > 0


def test_probes_find_what_their_peer_finds(tmp_path: Path) -> None:
    """Both are at the same optimum, so that they agree row by row, but for one that lies between the labels."""
    things = [f"{thing} {number}" for thing in ("film", "book", "phone") for number in range(8)]
    for name, word in (("custrev.pos", "wonderful"), ("custrev.neg", "awful")):
        (tmp_path / name).write_text("".join(f"a {word} {thing} .\n" for thing in things), encoding="utf-8")
    found = figures("probes", "--data", tmp_path, "--outer", 2, "--epochs", 1)["figures"]
    assert found["logistic, accuracy"] > 0.8 and found["logistic, difference"] <= 0.1
    assert found["logistic, ratio"] > 0 and found["mlp, ratio"] > 0


def test_retrofitting_is_measured_against_the_encoder_alone(question_pairs: Path) -> None:
    given = ("--pairs", 40, "--batch-size", 8, "--steps", 2, "--texts", 10, "--repeats", 1)
    found = figures("retrofit", "--data", question_pairs, *given)["figures"]
    assert found["steps"] == 2 and found["sentences a pair, with negatives"] >= found["sentences a pair, without"] > 1
    assert found["training, share of the rate"] > 0 and found["inference, ratio of seconds"] > 0
    assert found["largest difference of a coordinate"] > 1e-3  # M is no identity


def test_the_report_is_measured_against_the_encoding_of_its_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both parts in this process: two more would take seconds to start."""
    rows = [("a cat", "the cat", 4), ("a dog", "a tree", 0), ("a cat", "a tree", 1), ("left", "out", 2)]
    (tmp_path / "sts-test.csv").write_text("".join(f"{a},{b},{score}\n" for a, b, score in rows), encoding="utf-8")
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("report")
    peaks = {"report": 1.5, "encoding": 0.5}
    parts = {
        part: (lambda options, part=part: benchmark.PARTS[part](options) | {"peak": peaks[part]}) for part in peaks
    }
    monkeypatch.setattr(benchmark, "run", lambda part, options, cache: parts[part](options))
    given = ["--data", tmp_path, "--rows", 3, "--families", "similarity", "--repeats", 2, "--json"]
    monkeypatch.setattr(sys, "argv", ["report.py", *map(str, given)])
    assert benchmark.main() in (0, 1)
    found = json.loads(capsys.readouterr().out)["figures"]
    assert found["different texts"] == 4 and found["peak, GiB"] == 1.5 and found["peak, ratio"] == 3
    assert found["report, ratio"] > found["encoding, ratio"] > 0 and found["similarity, ratio"] > 0


def test_parabart_is_measured_against_fixed_widths_and_the_library(
    question_pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bfloat16: None,
) -> None:
    """In this process, and what memory it takes is not measured: one more would take seconds to start."""
    lines = question_pairs.read_text(encoding="utf-8").splitlines()[:20]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "captions.tsv").write_text("A dog runs.\tA dog is running.\tA dog.\n" * 8, encoding="utf-8")
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("disentangled")
    commands: list[list[str]] = []

    def measure(command: list[str], *_: object) -> tuple[float, float]:
        commands.append(command)
        assert not (Path(command[command.index("--out") + 1]).parent / "exported").exists()  # it has not grown yet
        return 1.5, 9.0

    monkeypatch.setattr(benchmark, "measure", measure)
    given = ["--quora", tmp_path / "pairs.tsv", "--multi30k", tmp_path / "captions.tsv", "--pairs", 1]
    given += ["--batch-size", 2, "--steps", 1, "--captions", 3, "--repeats", 1, "--json"]
    monkeypatch.setattr(sys, "argv", ["disentangled.py", *map(str, given)])
    assert benchmark.main() in (0, 1)
    printed = json.loads(capsys.readouterr().out)
    found = printed["figures"]
    assert found["positions of a pair, fixed"] == 2 * (42 + 162) > 5 * found["positions of a pair, by length"]
    assert found["positions of a pair, without padding"] <= found["positions of a pair, by length"]
    assert printed["bounds"]["relative difference of the first loss"]["kept"] and found["least cosine"] > 0.999
    assert (found["pairs"], found["captions"], found["peak of training, GiB"]) == (2, 3, 1.5)
    assert found["training, ratio"] == pytest.approx(
        found["by length, pairs a second"] / found["fixed, pairs a second"]
    )
    assert min(found[name] for name in ("embedding, ratio to float32", "embedding, ratio to bfloat16")) > 0
    assert found["layers, ratio"] > 0 and [command[:2] for command in commands] == [["train", "disentangled"]]
