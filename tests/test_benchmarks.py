"""The benchmarks still run, and what they compare is still the same thing; how fast, they say themselves."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_lm import SMALL, write_lm

from paraform.models.lm import LMConfig
from paraform.neighbours import near_on_disk

REPOSITORY = Path(__file__).resolve().parents[1]


Figures = Callable[..., dict[str, Any]]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Figures]:
    """What a benchmark prints, run here at a size that says nothing of speed; status 1 is a bound not kept."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    threads = torch.get_num_threads()

    def run(name: str, *arguments: object) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--json", "--threads", "1", *map(str, arguments)])
        capsys.readouterr()
        assert importlib.import_module(name).main() in (0, 1)
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    with torch.random.fork_rng(devices=[]):
        yield run
    torch.set_num_threads(threads)


def test_the_peer_of_training_learns_the_same(figures: Figures, question_pairs: Path) -> None:
    """Loss by loss, step by step: in float32 but for the style features, which are kept in 16 bits."""
    found = figures(
        "training", "--data", question_pairs, "--pairs", 64, "--batch-size", 16, "--steps", 1, "--precision", "no"
    )
    assert found["figures"]["largest relative difference of a loss"] < 1e-3
    assert found["figures"]["loss of the first step"] > 1


def test_the_peer_of_the_latent_models_learns_the_same(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat sat on a mat\na dog ran\nit rains again\n" * 40, encoding="utf-8")
    found = figures("latent", "--data", tmp_path / "text.txt", "--steps", 1, "--warm-up", 2)["figures"]
    assert found["largest relative difference of a loss"] < 0.01 and found["loss of the first step"] > 1


def test_the_peer_of_latent_evaluation_finds_the_same_bounds(figures: Figures, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on a mat\na dog ran\nit rains again\n" * 4, encoding="utf-8")
    found = figures("latent_evaluation", "--data", text, "--words", text, "--samples", 4)["figures"]
    assert found["largest relative difference of a bound"] < 0.01 and found["words a second, paraform"] > 0


def test_mining_finds_the_peer_s_distances(question_pairs: Path) -> None:
    """In a process of its own, whose memory has a bound."""
    script = REPOSITORY / "benchmarks" / "mining.py"
    command = [sys.executable, script, "--json", "--threads", "1", "--data", question_pairs]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(bound["kept"] for bound in json.loads(done.stdout)["bounds"].values())


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("vocabulary", ("--words", 8, "--vocabulary", 50, "--features", 4, "--repeats", 1)),
    ],
)
def test_layers_agree_with_their_peers(figures: Figures, name: str, size: tuple[object, ...]) -> None:
    found = figures(name, *size)["figures"]
    differences = [value for key, value in found.items() if "difference" in key]
    assert differences and max(differences) < 0.02


def test_rewording_is_measured(figures: Figures) -> None:
    """Cold starts are left out: each takes seconds."""
    found = figures("rewording", "--data", "nowhere", "--rows", 6, "--sentences", 2, "--repeats", 0)["figures"]
    assert found["rows"] == 6 and min(found["rows reworded, times decoded"]) > 0 and 0 < found["peak, GiB"] < 6


def test_ways_of_decoding_are_measured(figures: Figures) -> None:
    found = figures("decoding", "--sentences", 4, "--vocabulary", 100, "--repeats", 1)["figures"]
    assert len(found) == 8 and min(found["drawn by top-p, times a greedy word"]) > 0
    assert min(found["a word drawn by top-p × transformers"]) > 0


def test_embedding_is_measured_against_what_one_would_pick(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "captions.tsv").write_text("A dog runs.\tA dog is running.\tA cat sleeps.\n" * 3, encoding="utf-8")
    found = figures("embedding", "--data", tmp_path / "captions.tsv", "--rows", 3, "--repeats", 1)["figures"]
    assert (
        found["captions"] == 3 and found["paraform, least cosine"] > 0.999 and min(found["paraform × onnxruntime"]) > 0
    )
    assert found["onnxruntime, least cosine"] > 0.999 > found["onnxruntime int8, least cosine"] > 0.5
    assert found["least cosine of the faster"] > 0.99 and min(found["faster of ours × faster int8"]) > 0


def test_duplicates_are_the_peers(figures: Figures, question_pairs: Path) -> None:
    found = figures("duplicates", "--data", question_pairs, "--rows", 200, "--repeats", 1, "--threshold", 0.6)[
        "figures"
    ]
    assert found["texts"] > 100 and found["pairs"] > 10 and min(found["paraform × faiss"]) > 0
    assert found["pairs that faiss has otherwise"] == found["pairs that sentence-transformers has otherwise"] == 0


def test_search_is_the_peers(figures: Figures, question_pairs: Path) -> None:
    found = figures("search", "--data", question_pairs, "--rows", 200, "--repeats", 1)["figures"]
    assert found["texts"] == 200 and min(found["1 question, paraform × faiss"]) > 0
    for size in ("1 question", "100 at once"):
        assert max(found[f"{size}, largest difference to {name}"] for name in ("semantic_search", "faiss")) <= 1e-6
        assert found[f"{size}, paraform, questions a second"] > 0
    assert 0 < found["a question in words, seconds"] < 10


def test_duplicates_on_disk_are_found(
    question_pairs: Path,
    tmp_path: Path,
    inline: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, whose memory says nothing: those of drawn vectors, and of texts."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("duplicates_on_disk")
    monkeypatch.setattr(benchmark, "SHARD", 64)
    monkeypatch.setattr(benchmark, "run", near_on_disk.run)  # the inline one
    monkeypatch.setattr(benchmark, "measure", benchmark.compare)
    (tmp_path / "texts.txt").write_text(question_pairs.read_text(encoding="utf-8").replace("\t", "\n")[:4000])
    of_texts = ["--rows", "--texts", tmp_path / "texts.txt", "--texts-threshold", 0.7]
    for given, least in ((["--rows", 640], 0.9), (of_texts, 1)):
        monkeypatch.setattr(sys, "argv", ["duplicates_on_disk.py", "--json", *map(str, given)])
        assert benchmark.main() in (0, 1)
        figures = json.loads(capsys.readouterr().out.splitlines()[-1])["figures"]
        found = {name.partition(", of ")[0]: value for name, value in figures.items()}
        assert found["to be found"] > 5 and found["found"] >= least and found["pairs"] >= least * found["to be found"]
        assert found["comparing, processor seconds"] > 0 and 300 < found["in cells, bytes a row"] < 9 * 384
    assert found["embedding, processor seconds"] > 0 and found["found, 95 % interval"][0] < found["found"]
    for bound in benchmark.wilson(9, 10):  # the shares from which nine of ten are as far as 95 % of samples come
        assert (bound - 0.9) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / 10)


def test_a_static_encoder_is_measured_against_its_teacher(
    figures: Figures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    things = [
        f"A {one} runs to a {other} .\tA\tB\n" for one in ("dog", "cat", "cow") for other in ("barn", "hill", "sea")
    ]
    (tmp_path / "captions.tsv").write_text("".join(things), encoding="utf-8")
    monkeypatch.setattr("paraform.trainers.distilling.LEAST", 5)
    found = figures("static", "--data", tmp_path / "captions.tsv", "--rows", 11, "--repeats", 1)["figures"]
    assert found["largest difference of a coordinate"] < 1e-5 and found["captions"] == 11
    assert min(found["static × minilm by sentence-transformers"]) > 0


def test_parsing_is_measured_against_the_encoder_alone(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "captions.tsv").write_text("A dog runs.\tA dog is running.\tA cat sleeps.\n" * 3, encoding="utf-8")
    given = ("--data", tmp_path / "captions.tsv", "--sentences", 3, "--repeats", 1)
    found = figures("parsing", *given)["figures"]
    assert found["words a sentence"] == 4 and min(found["trees, times the encoder"]) > 0
    assert found["trees, sentences a second of a core"] > 0


def test_trainings_are_measured_beside_those_that_give_memory_back(
    figures: Figures, question_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without processes of their own: ten would take a minute to start."""
    (tmp_path / "text.txt").write_text("the cat sat on a mat\n" * 30, encoding="utf-8")
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("trainings")
    commands: list[str] = []

    def measure(command: str, trees: Mapping[str, Path], *rest: Any) -> tuple[dict[str, Any], ...]:
        commands.append(command)
        assert trees["before"] == tmp_path and trees["now"] == trees["given back"] == REPOSITORY
        seconds = {"now": [2.0, 4.0], "given back": [3.0, 4.0], "before": [2.0, 4.4]}
        return {"now": 9.0, "before": 3.0}, seconds, {"now": 12, "given back": 10, "before": 9}

    monkeypatch.setattr(benchmark, "measure", measure)
    monkeypatch.setattr(benchmark, "tree_of", lambda commit, folder: tmp_path)
    found = figures("trainings", "--quora", question_pairs, "--ptb", tmp_path / "text.txt", "--before", "0fa34b")
    assert [" ".join(command.split()[:2]) for command in commands][:2] == ["train exemplar", "train latent"]
    assert len(commands) == 6 and all("{out}" in command for command in commands)
    assert found["figures"]["PAR, now × given back"] == [1.25, 1.0, 1.5]
    assert found["figures"]["PAR, preparation, now × before"] == pytest.approx([1 / 3] * 3)
    assert found["figures"]["PAR, now × before"] == pytest.approx([1.05, 1.0, 1.1])
    assert not found["bounds"]["PAR, now × before"]["kept"] and "embed, now × before" not in found["bounds"]
    assert not found["bounds"]["embed, peak, now over given back"]["kept"]


def test_a_long_embed_waits_for_its_turn(figures: Figures, tmp_path: Path) -> None:
    """In processes of their own."""
    (tmp_path / "text.txt").write_text("".join(f"cat {n} sat on a mat\n" for n in range(1300)), encoding="utf-8")
    given = ("--quora", tmp_path / "text.txt", "--ptb", tmp_path / "text.txt", "--pairs", 130, "--only", "embed")
    found = figures("trainings", *given, "--turns", 1, "--steps", 1, "--threads", 1)["figures"]
    assert min(found["embed, now × given back"]) > 0 and found["embed, peak, now over given back"] > 0.5


def test_the_page_of_figures_is_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of each kind: bounds kept and missed, a ratio with its spread; and the page that is there is up to date."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    run = importlib.import_module("run")
    script = tmp_path / "small.py"
    script.write_text(
        '"""Two things in turn.\n\nMore."""\n'
        "import sys\nfrom _measure import Spread, arguments_of, report\n"
        "options = arguments_of(None).parse_args()\n"
        'figures = {"rows": 3, "ours × theirs": Spread(2.0, 1.5, 2.25), "loss": 0.123456, "off": 7.0}\n'
        'bounds = {"ours × theirs": ("at least", 3), "loss": ("at most", 1)}\n'
        'sys.exit(report(figures, bounds, floors={"loss": "0: a square"}, as_json=options.json))\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "benchmarks"))
    assert not run.measure(script, ["--threads", "1"])  # a bound is missed
    found = json.loads((tmp_path / "small.json").read_text("utf-8"))
    assert found["command"] == "python benchmarks/small.py --threads 1" and found["what"] == "Two things in turn"
    assert found["figures"]["ours × theirs"] == [2.0, 1.5, 2.25] and "core" in found["machine"]
    table = run.table(tmp_path)
    assert "| ours × theirs | 2.00 (1.50 to 2.25) | at least 3: **missed** |  |" in table
    assert "| loss | 0.123 | at most 1: kept | 0: a square |" in table and "rows" not in table and "off" not in table
    page = (REPOSITORY / "docs" / "benchmarks.md").read_text("utf-8")
    assert run.with_table(page, run.table(REPOSITORY / "benchmarks" / "results")) == page


def test_judging_is_measured(figures: Figures) -> None:
    found = figures("judging", "--pairs", 8, "--repeats", 1)["figures"]
    assert found["pairs"] == 8 and all(
        found[f"{name}, pairs a second"] > 0 for name in ("CrossEncoder", "minilm-judge")
    )


def test_paraphrasing_is_measured(figures: Figures, question_pairs: Path) -> None:
    found = figures("paraphrase", "--data", question_pairs, "--rows", 6, "--repeats", 1)["figures"]
    assert found["sources"] == 6 and found["first paraphrase"]
    assert min(found["paraphrase, times its style encoder"]) > 0


def test_a_language_model_writes_as_by_transformers_and_learns_as_by_peft(
    figures: Figures, question_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("language_model")
    monkeypatch.setattr(benchmark, "LMConfig", partial(LMConfig, **{**SMALL, "base": str(write_lm(tmp_path))}))
    given = ("--texts", 9, "--repeats", 1, "--pairs", 12, "--batch-size", 4, "--steps", 2)
    found = figures("language_model", "--data", question_pairs, *given)["figures"]
    assert found["greedy texts that differ"] == 0 and found["texts"] == 9
    assert found["first loss, difference"] < 1e-3 and found["first loss"] > 1
    assert min(found["answers × transformers"]) > 0 and min(found["training × peft"]) > 0


def test_a_table_in_shards_is_what_one_process_makes(
    figures: Figures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, where no worker can be killed."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("cluster")
    engines: list[tuple[str, int | None]] = []

    def run(work: Any, count: int, *, engine: Any, **_: Any) -> Iterator[bytes]:
        engines.append((engine.name, engine.workers))
        compute = work.open()
        return (compute(chunk) for chunk in range(count))

    monkeypatch.setattr("paraform.jobs.augmenting.run", run)
    monkeypatch.setattr(benchmark, "PART", 1)
    monkeypatch.setattr(benchmark, "SHARD", 2)
    texts = [f"Can I use my {word} abroad?" for word in ("card", "phone", "car", "bike", "coat")]
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{text}\n" for text in texts), encoding="utf-8")
    found = figures("cluster", "--data", tmp_path / "a.csv", "--rows", 4, "--kills", 1)["figures"]
    assert engines == [("local", 1), ("local", 2), ("ray", 2), ("ray", 2)]
    assert found["rows"] == 4 and found["lines"] > 4
    assert found["rows lost"] == found["runs whose bytes differ"] == found["kills"] == 0
    assert found["one worker × one process"] > 0


def test_probes_find_what_their_peer_finds(figures: Figures, tmp_path: Path) -> None:
    """Both are at the same optimum, so that they agree row by row, but for one that lies between the labels."""
    things = [f"{thing} {number}" for thing in ("film", "book", "phone") for number in range(8)]
    for name, word in (("custrev.pos", "wonderful"), ("custrev.neg", "awful")):
        (tmp_path / name).write_text("".join(f"a {word} {thing} .\n" for thing in things), encoding="utf-8")
    found = figures("probes", "--data", tmp_path, "--outer", 2, "--epochs", 1)["figures"]
    assert found["logistic, accuracy"] > 0.8 and found["logistic, difference"] <= 0.1
    assert min(found["logistic × scikit-learn"]) > 0 and min(found["mlp × scikit-learn"]) > 0


def test_retrofitting_is_measured_against_the_encoder_alone(figures: Figures, question_pairs: Path) -> None:
    given = ("--pairs", 40, "--batch-size", 8, "--steps", 2, "--texts", 10, "--repeats", 1)
    found = figures("retrofit", "--data", question_pairs, *given)["figures"]
    assert found["steps"] == 2 and found["sentences a pair, with negatives"] >= found["sentences a pair, without"] > 1
    assert min(found["training × the encoder's pass"]) > 0 and min(found["folded, times the plain encoder"]) > 0
    assert found["largest difference of a coordinate"] > 1e-3  # M is no identity


def test_memory_over_a_long_file_is_that_of_its_parts(
    figures: Figures, question_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moments that were seen by hand: the largest of the first quarter of the output, and of the rest."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("long_files")
    (tmp_path / "captions.tsv").write_text("A dog runs.\tA dog is running.\tA dog.\n" * 8, encoding="utf-8")
    commands: list[list[str]] = []

    def watched(command: list[str], *_: object) -> tuple[list[Any], float, float]:
        commands.append(command)
        assert len(set(Path(command[1]).read_text("utf-8").splitlines())) == 30
        seen = [(0, 3), (0, 5), (24, 4), (26, 6), (100, 2)]
        return [benchmark.Seen(written, memory << 20) for written, memory in seen], 10.0, 5.0

    monkeypatch.setattr(benchmark, "watched", watched)
    given = ("--captions", tmp_path / "captions.tsv", "--questions", question_pairs, "--lines", 30)
    found = figures("long_files", *given, "--only", "tag", "annotate")["figures"]
    assert [command[0] for command in commands] == ["tag", "annotate"] and commands[1][-2:] == ["--workers", "1"]
    assert (found["tag: MiB over the first quarter"], found["tag: MiB over the rest"]) == (5, 6)
    assert found["annotate: memory, ratio"] == 1.2 and found["tag: lines a second of one core"] == 6
    assert benchmark.written(tmp_path) == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_the_two_kinds_of_numbers_are_compared_task_by_task(
    figures: Figures, question_pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both in this process, where the vectors are the same: two more would take seconds to start."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("products")
    asked: list[str] = []

    def in_process(products: str, data: Path, rows: int, threads: int | None) -> dict[str, Any]:
        asked.append(products)
        monkeypatch.setenv("PARAFORM_PRODUCTS", "float32")
        found = benchmark.taken(*benchmark.rows_of(data, rows))
        seconds = dict.fromkeys(found["seconds"], 3.0 if products == "float32" else 2.0)
        return {**found, "seconds": seconds, "default": "bfloat16"}

    monkeypatch.setattr(benchmark, "in_process", in_process)
    found = figures("products", "--data", question_pairs, "--rows", 10, "--repeats", 1)["figures"]
    assert asked == ["float32", "bfloat16"] and found["by default"] == "bfloat16"
    for task in ("embed", "tag", "parse", "paraphrase", "reword"):
        assert found[f"{task}, bfloat16 × float32"] == [1.5] * 3
    assert found["default, times the other"][0] == pytest.approx(2 / 3) and found["least cosine"] == pytest.approx(1)


def test_the_service_is_measured_against_one_call_and_besieged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"How many ships sail on sea number {number}?\n" for number in range(12))
    (tmp_path / "texts.csv").write_text(f"text\n{rows}", encoding="utf-8")
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    benchmark = importlib.import_module("serve")
    given = [
        "--texts-from",
        tmp_path / "texts.csv",
        "--texts",
        12,
        "--clients",
        3,
        "--repeats",
        1,
        "--works",
        "embeddings",
    ]
    monkeypatch.setattr(
        sys, "argv", ["serve.py", *map(str, [*given, "--steady", 0.02, "--siege", 0.1, "--hostile", 8, "--json"])]
    )
    assert benchmark.main() in (0, 1)
    printed = json.loads(capsys.readouterr().out)
    found = printed["figures"]
    assert found["embeddings, service × one call"][0] > 0 and found["embeddings, p95 of 4 clients × of one"] > 0
    assert found["answers beside them"] > 0 and found["hostile requests"] > 8
    assert found["requests of the steady run"] > 3 and found["memory of the steady run × before"] > 0.5
    assert printed["bounds"]["wrong answers"]["kept"] and printed["bounds"]["faults of the service"]["kept"]
    assert "401" in found["hostile requests by status"] and "500" not in found["hostile requests by status"]


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
    assert found["report, times the encoding"][0] > found["encoding, times the encoding"] > 0
    assert found["similarity, times the encoding"] > 0


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
    assert found["training × fixed widths"][0] == pytest.approx(
        found["by length, pairs a second"] / found["fixed, pairs a second"]
    )
    assert min(*(found[f"embedding × sentence-transformers in {name}"][0] for name in ("float32", "bfloat16"))) > 0
    assert min(found["half the layers × all"]) > 0 and [command[:2] for command in commands] == [
        ["train", "disentangled"]
    ]
