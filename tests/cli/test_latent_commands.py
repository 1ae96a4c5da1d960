"""The latent-variable family by the command line: train, resume, sample, interpolate, evaluate; and bad input."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform.evaluation.latent.ngram  # which nothing else here imports
from paraform.evaluation.latent import validations
from paraform.models.latent import OBJECTIVES, LatentLanguageModel
from paraform.records import InputError

Command = Callable[..., Any]
FIELDS = ["word_width", "hidden_width", "latent_width", "critic_width"]
SMALL = [word for name in FIELDS for word in (f"--config.{name}", "8")]
WORDS = ["we", "like", "the", "cat", "and", "she", "saw", "a", "dog", "run", "by", "in", "rain", "or", "snow"]


def object_of(done: Any) -> dict[str, Any]:
    """The one JSON object that stdout holds."""
    assert done.status == 0, done.err
    value = json.loads(done.out)
    assert done.out.count("\n") == 1 and isinstance(value, dict)
    return value


def sentences(count: int, seed: int) -> str:
    random = np.random.default_rng(seed)
    return "".join(" ".join(random.choice(WORDS, random.integers(2, 8))).capitalize() + ".\n" for _ in range(count))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, test.txt and a trained run."""
    from paraform.cli import main

    folder = tmp_path_factory.mktemp("latent")
    (folder / "train.txt").write_text(sentences(300, 0), encoding="utf-8")
    (folder / "test.txt").write_text(sentences(30, 1), encoding="utf-8")
    given = ["train", "latent", "--data", str(folder / "train.txt"), "--out", str(folder / "run"), *SMALL]
    assert main([*given, "--objective", "clvae+_mi", "--config.epochs", "2", "--device", "cpu", "--json"]) == 0
    return folder


def test_a_run_is_made_and_resumed(files: Path, tmp_path: Path, command: Command) -> None:
    given = ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "run", *SMALL, "--device", "cpu"]
    done = command(*given, "--config.epochs", "1", "--objective", "vae", "--json", "--resume")
    assert "run: a new run begins" in done.err
    made = object_of(done)
    assert made["objective"] == "vae" and made["ended"] == "finished" and made["best_score"] > 0
    again = command(*given, "--config.epochs", "1", "--objective", "vae", "--resume")
    assert again.status == 0 and "nats a sentence" in again.out and "run: the run was over after step " in again.err
    assert command(*given, "--config.epochs", "1", "--objective", "vae").status == 2
    other = command(*given, "--config.epochs", "1", "--objective", "ae", "--resume")
    assert other.status == 2 and "kl was 'closed' when the run began" in other.err
    assert (tmp_path / "run" / "collapse.png").is_file()


def test_what_is_wrong_with_a_file_of_fields_is_said(files: Path, tmp_path: Path, command: Command) -> None:
    given = ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "run", "--config"]
    for text, message in (
        (None, "fields.yaml: no such file; expected one of fields"),
        ("", "fields.yaml: no fields; expected some"),
        ("betta: 0.2\n", "--config: no field 'betta'; did you mean 'beta'?"),
        ("zxcvbn: 0.2\n", "--config: no field 'zxcvbn'; see paraform train latent --help"),
        ("beta: abc\n", "fields.yaml: beta: abc; expected a number"),
        ('{"beta": 0.3,}x', "fields.yaml: did not find expected"),
    ):
        if text is not None:
            (tmp_path / "fields.yaml").write_text(text, encoding="utf-8")
        done = command(*given, tmp_path / "fields.yaml")
        assert done.status == 2 and message in done.err and done.err.count("\n") == 1, done.err


@pytest.mark.parametrize("early", [True, False])
def test_the_bound_chooses_the_checkpoint(files: Path, tmp_path: Path, command: Command, early: bool) -> None:
    """A model that learns when sentences end says endless ones ever less likely; that the best is early is said."""
    validation = tmp_path / "validation.txt"
    validation.write_text("snow " * 60 if early else sentences(30, 1), encoding="utf-8")
    given = ["train", "latent", "--data", files / "train.txt", "--validation", validation, "--out", tmp_path / "run"]
    given += [*SMALL, "--objective", "vae", "--config.epochs", 6, "--config.learning_rate", 0.03, "--json"]
    done = command(*given, "--device", "cpu")
    seen = {step: found["loss"] for step, found in validations(tmp_path / "run" / "log.jsonl")}
    made = object_of(done)
    assert made["best_score"] == pytest.approx(min(seen.values())) == pytest.approx(seen[made["best_step"]])
    assert (made["best_step"] < made["step"] / 2) == early == ("those of the end are in" in done.err), seen


def test_a_runs_own_config_is_a_config(files: Path, tmp_path: Path, command: Command) -> None:
    config = json.loads((files / "run" / "best" / "paraform.json").read_text(encoding="utf-8"))["config"]
    (tmp_path / "config.json").write_text(json.dumps(config | {"epochs": 1}), encoding="utf-8")
    given = ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "run", "--device", "cpu"]
    given += ["--config", tmp_path / "config.json"]
    assert object_of(command(*given, "--objective", "clvae+_mi", "--json"))["objective"] == "clvae+_mi"
    made = json.loads((tmp_path / "run" / "best" / "paraform.json").read_text(encoding="utf-8"))["config"]
    assert made == config | {"epochs": 1}
    done = command(*given)
    assert done.status == 2 and "--config.objective clvae+_mi with --objective vae+contrast; name it by" in done.err


def test_the_objective_and_the_preset_set_the_fields(command: Command) -> None:
    for given, field, value in (
        (["--objective", "savae"], "inner {none,svi,aggressive}", "svi"),
        (["--objective", "vae"], "posterior {point,gaussian,affine,mlp}", "gaussian"),
        ([], "contrast {none,z,h}", "z"),
        ([], "kl {none,closed,dual,circle}", "closed"),
        ([], "beta BETA", "0.3"),
        (["--objective", "vae+contrast"], "beta BETA", "0.3"),
        (["--objective", "vae"], "beta BETA", "1.0"),
        (["--objective", "beta-vae"], "beta BETA", "0.5"),
        (["--preset", "reference"], "objective OBJECTIVE", "clvae+_mi"),
        (["--preset", "reference-yelp"], "contrast {none,z,h}", "h"),
        (["--preset", "reference-yelp", "--objective", "clvae_mi"], "contrast {none,z,h}", "h"),
        (["--preset", "paper", "--objective", "clvae"], "posterior {point,gaussian,affine,mlp}", "mlp"),
        (["--preset", "reference-yahoo"], "hidden_width HIDDEN_WIDTH", "1024"),
        (["--preset", "reference-yelp", "--objective", "clvae+_mi"], "contrast {none,z,h}", "z"),
        (["--preset", "paper"], "inner_optimizer {adam,sgd}", "sgd"),
        (["--preset", "reference"], "circle_reduction {mean,sum,each}", "each"),
    ):
        text = " ".join(command("train", "latent", *given, "--help").out.split())
        assert f"default: {value}" in text.split(f"--config.{field}")[-1][:900], given
    for name in OBJECTIVES:
        assert name in command("train", "latent", "--help").out


def test_sample_with_and_without_neighbours(files: Path, command: Command) -> None:
    given = ["sample", "--model", files / "run", "--num", 4, "--seed", 1]
    plain = object_of(command(*given, "--json"))["samples"]
    model = paraform.load(files / "run", device="cpu")
    assert [row["text"] for row in plain] == model.sample(4, seed=1)
    near = object_of(command(*given, "--near", files / "train.txt", "--json"))["samples"]
    known = (files / "train.txt").read_text().splitlines()
    assert all(row["nearest"] in known and 0 <= row["similarity"] <= 1 for row in near)
    assert command(*given).out.count("\n") == 4
    for way in (["--beam", 2], ["--temperature", 1.0, "--top-p", 0.9]):
        assert command(*given, *way).status == 0


def test_interpolate_and_reconstruct(files: Path, command: Command) -> None:
    ends = ["We like the cat.", "She saw a dog."]
    found = object_of(command("interpolate", *ends, "--model", files / "run", "--steps", 3, "--json"))
    again = object_of(command("reconstruct", *ends, "--model", files / "run", "--json"))["reconstructions"]
    assert [row["share"] for row in found["steps"]] == [0, 0.5, 1] and found["ends"] == ends
    assert [found["steps"][0]["text"], found["steps"][-1]["text"]] == [row["reconstruction"] for row in again]
    same = command("interpolate", ends[0], ends[0], "--model", files / "run", "--steps", 3)
    assert same.status == 0 and "both ends are the same sentence" in same.err
    assert len({line.partition("  ")[2] for line in same.out.splitlines()}) == 1
    for name, *given in (
        ["interpolate", "We zxcv.", "qwert asdf", "--steps", 3],
        ["reconstruct", "We zxcv qwert asdf."],
    ):
        assert "3 of 5 words are unknown to the model" in command(name, *given, "--model", files / "run").err
    assert "unknown" not in same.err


def test_evaluate_latent_prints_both_protocols(files: Path, command: Command) -> None:
    given = ["evaluate", "latent", "--model", files / "run", "--data", files / "test.txt", "--samples", 4, "--no-refit"]
    given += ["--bound-samples", 8]
    found = object_of(command(*given, "--json"))
    assert {score["protocol"] for score in found["scores"]} == {"paper", "honest"}
    assert all("sentences:30" in score["signature"] for score in found["scores"])
    assert any("nats too little" in line for line in found["alarms"])
    bound = next(score for score in found["scores"] if score["name"] == "−ln p(x)")
    assert "importance, 8 samples" in bound["signature"] and "samples:4" in found["scores"][0]["signature"]
    assert "honest" in command(*given).out
    assert not {"against", "comparisons"} & found.keys()
    for products in ("bfloat16", "float32"):  # on any processor, and the signature says which it was
        scores = object_of(command(*given, "--products", products, "--json"))["scores"]
        (score,) = (score for score in scores if score["name"] == "−ln p(x)")
        assert f"precision:{products}" in score["signature"].split("|")
        assert (score["value"] == bound["value"]) == (products == "float32")  # which the tests' setting is


def test_evaluate_latent_compares_two_models(files: Path, tmp_path: Path, command: Command) -> None:
    run, test, small = files / "run", files / "test.txt", [*SMALL, "--config.epochs", 1, "--device", "cpu"]
    given = ["evaluate", "latent", "--data", test, "--samples", 4, "--no-refit", "--model", run / "last", "--against"]
    train = ["train", "latent", "--data", files / "train.txt", *small]
    assert command(*train, "--objective", "vae", "--out", tmp_path / "vae").status == 0
    found = object_of(command(*given, tmp_path / "vae", "--json"))
    (comparison,) = found["comparisons"]
    bounds = {score["system"]: score["value"] for score in found["scores"] if score["name"] == "−ln p(x)"}
    assert comparison["difference"] == pytest.approx(bounds[str(run / "last")] - bounds[str(tmp_path / "vae")])
    assert found["against"] == comparison["second"] == str(tmp_path / "vae")
    assert any(line.startswith(f"{run / 'last'}: the critic says ") for line in found["alarms"])
    done = command(*given, tmp_path / "vae")
    line = f"−ln p(x), honest: {run / 'last'} − {tmp_path / 'vae'} = {comparison['difference']:+.2f} (95 %: "
    assert f"\n{line}" in done.out
    assert command(*train, "--objective", "ae", "--out", tmp_path / "ae").status == 0
    for other, message in (
        (f"{run}/last/", "the model of --model; expected another one"),
        (tmp_path / "ae", "is an autoencoder, which has no likelihood"),
        ("latent-compact", "do not know the same words: their likelihoods do not compare"),
        ("minilm", "--against minilm: an encoder; expected a latent-variable model"),
        (tmp_path / "none", "none"),
    ):
        done = command(*given, other)
        assert done.status == 2 and message in done.err and done.err.count("\n") == 1, done.err
    done = command("evaluate", "latent", "--data", test, "--model", run, "--against", run / "best")
    assert done.status == 2 and "expected another one" in done.err
    (tmp_path / "one.txt").write_text("We like the cat.\n", encoding="utf-8")
    given[3] = tmp_path / "one.txt"
    assert "1 sentence; expected two or more, to tell luck" in command(*given, tmp_path / "vae").err


@pytest.mark.parametrize(
    ("training", "message"),
    [("none.txt", "no such file"), ("train.txt", "no lmplz"), ("train.txt", "kenlm is not installed")],
)
def test_what_n_grams_lack_is_said_before_the_work(
    files: Path, command: Command, monkeypatch: pytest.MonkeyPatch, training: str, message: str
) -> None:
    def never(*given: object, **named: object) -> None:
        raise AssertionError("evaluated")

    def lacking() -> str:
        raise InputError("no lmplz")

    monkeypatch.setattr(paraform.evaluation.latent, "evaluate_latent", never)
    if message == "no lmplz":
        monkeypatch.setattr(paraform.evaluation.latent.ngram, "find_lmplz", lacking)
    else:
        monkeypatch.setattr(paraform.evaluation.latent.ngram, "find_lmplz", lambda: "lmplz")
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    given = ["evaluate", "latent", "--model", files / "run", "--data", files / "test.txt"]
    done = command(*given, "--training", files / training)
    assert done.status == 2 and message in done.err


def test_embed_gives_the_mean_of_the_posterior(files: Path, command: Command) -> None:
    found = object_of(command("embed", "We like the cat.", "--model", files / "run", "--json"))
    expected = paraform.load(files / "run", device="cpu").vectors(["We like the cat."])
    np.testing.assert_allclose(found["vectors"], expected.numpy(), rtol=1e-5)


def test_texts_that_are_too_long_are_named_or_left_out(files: Path, tmp_path: Path, command: Command) -> None:
    texts = ["We like the cat.", "a " * 250, "She saw a dog.", "b " * 300]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    for name, *more in (["reconstruct"], ["embed"]):
        given = [name, tmp_path / "texts.txt", "--model", files / "run", "--json", *more]
        done = command(*given)
        assert done.status == 2 and "text 2 has 250 words; expected at most 200, as " in done.err
        done = command(*given, "--skip-bad-lines")
        assert "2 of 4 texts have more than 200 words; left out" in done.err
        assert len(object_of(done).get("reconstructions", object_of(done).get("vectors"))) == 2
    (tmp_path / "texts.txt").write_text(texts[1], encoding="utf-8")
    assert "no text of at most 200 words" in command(*given, "--skip-bad-lines").err


def test_an_autoencoder_says_that_it_has_no_prior(files: Path, tmp_path: Path, command: Command) -> None:
    given = ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "run", *SMALL, "--device", "cpu"]
    assert command(*given, "--config.epochs", "1", "--objective", "ae").status == 0
    assert "is an autoencoder: nothing has kept its vectors near" in command("sample", "--model", tmp_path / "run").err
    assert "autoencoder" not in command("sample", "--model", files / "run").err


def test_a_sentence_said_by_heart_is_found_however_the_file_writes_it(
    files: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["We like the cat.", "She saw a dog, and I don't."]
    monkeypatch.setattr(LatentLanguageModel, "sample", lambda self, count, **how: said)
    (tmp_path / "apart.txt").write_text("we like the cat .\nshe saw a dog , and i do n't .\n", encoding="utf-8")
    near = object_of(command("sample", "--model", files / "run", "--near", tmp_path / "apart.txt", "--json"))["samples"]
    assert [row["similarity"] for row in near] == [1.0, 1.0]


def test_what_does_not_fit_is_one_line(files: Path, tmp_path: Path, command: Command) -> None:
    run, text = files / "run", tmp_path / "text.txt"
    text.write_text("a " * 9_999 + "a\n", encoding="utf-8")
    (tmp_path / "labels.txt").write_text("3\tGood food.\nbad\n", encoding="utf-8")
    for given, message in (
        (["sample", "--model", "minilm"], "an encoder; expected a latent-variable model"),
        (
            ["sample", "--model", run, "--beam", 2, "--temperature", 1],
            "--beam 2, --temperature 1.0; they exclude each other",
        ),
        (["sample", "--model", run, "--beam", 5000], "--beam 5000; expected 1 to 1,000"),
        (["sample", "--model", run, "--near", tmp_path / "none.txt"], "no such file"),
        (["sample", "--model", run, "--top-p", 0.5, "--beam", 2], "--beam 2, --top-p 0.5; they exclude each other"),
        (
            ["sample", "--model", run, "--top-p", 0.5],
            "--top-p 0.5 at --temperature 0; expected a --temperature above 0",
        ),
        (["sample", "--model", run, "--temperature", "inf"], "temperature inf; expected 1e-6 to 1e6"),
        (["sample", "--model", run, "--temperature", "1e-45"], "temperature 1e-45; expected"),
        (["sample", "--model", run, "--seed", 10**23], "--seed"),
        (["sample", "--model", run, "--num", 10**14], "--num"),
        (["sample", "--model", run, "--device", "meta"], "--device meta: it holds no numbers; cpu always works"),
        (["interpolate", "One sentence.", "--model", run], "1 sentence; expected two"),
        (["interpolate", "a", "b", "--model", run, "--steps", 1], "--steps"),
        (["reconstruct", "a " * 300, "--model", run], "has 300 words; expected at most 200"),
        (["reconstruct", " ", "--model", run], "expected"),
        (["evaluate", "latent", "--model", run, "--data", text, "--samples", 2], "no sentence of 1 to 200 words"),
        (["evaluate", "latent", "--model", run, "--data", text, "--samples", 0], "--samples"),
        (["evaluate", "latent", "--model", run, "--data", text, "--bound-samples", 0], "--bound-samples: 0; expected"),
        (["evaluate", "latent", "--model", run, "--data", text, "--batch-size", 4], "--batch-size: "),
        (["evaluate", "latent", "--model", run, "--data", tmp_path / "labels.txt", "--format", "labelled"], ":2: "),
        (["evaluate", "style", "--model", run, "--data", text, "--format", "text"], "expected"),
        (["paraphrase", "x", "--like", "y", "--model", run], "a latent-variable model; expected a model that para"),
        (["embed", "x", "--model", run, "--vectors", "style", "--json"], "its vectors are of one kind"),
        (["train", "latent", "--data", text, "--out", tmp_path / "o"], "training: no sentence of 1 to 200 words"),
        (["train", "latent", "--data", files / "test.txt", "--out", tmp_path / "o"], "expected at least one batch"),
        (
            ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "o", "--config.kl", "dual"],
            "kl='dual' with critic='none'",
        ),
        (
            ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "o", "--config.objective", "vae"],
            "--config.objective",
        ),
        (
            ["train", "latent", "--data", files / "train.txt", "--out", tmp_path / "o", "--config.temperature", -1],
            "temperature -1.0; expected a number above 0",
        ),
        (["reproduce", "clvae/table1", "--row", "gan", "--data", tmp_path], "no such folder"),
        (["train", "latent", "--data", files / "train.txt", "--out", text], "text.txt: a file; expected a folder"),
        (["reproduce", "clvae/toy", "--row", "vae"], "row 'vae'; expected one of VAE; iVAE; clVAE+; VAE, two views"),
        (["reproduce", "clvae/toy", "--batch-size", "3"], "--batch-size: a table's rows have their own; leave it out"),
    ):
        done = command(*given)
        assert (done.status, done.out) == (2, ""), (given, done)
        lines = [line for line in done.err.splitlines() if line.startswith("paraform: error: ")]
        assert len(lines) == 1 and message in lines[0], (given, done.err)
    assert not (tmp_path / "o").exists()


def test_pairs_that_are_read_as_sentences_are_told_of(files: Path, tmp_path: Path, command: Command) -> None:
    rows = (files / "train.txt").read_text(encoding="utf-8").splitlines()
    text = "".join(f"{one}\t{other}\n" for one, other in zip(rows[:20], rows[20:40], strict=True)) + rows[0]
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    given = ["sample", "--model", files / "run", "--num", 2, "--near", tmp_path / "pairs.tsv"]
    assert "20 of 21 sentences hold a TAB; if those are pairs, say --format pairs" in command(*given).err
    assert "TAB" not in command(*given[:-1], files / "train.txt").err


def test_another_corpus_is_another_run(
    files: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of a pipe, of which no file tells, and another validation."""
    (tmp_path / "other.txt").write_text(sentences(300, 2), encoding="utf-8")
    given = ["train", "latent", "--data", "-", "--out", tmp_path / "run", *SMALL, "--device", "cpu"]

    def train(data: Path, validation: Path, *more: str) -> Any:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
        return command(*given, "--config.epochs", 1, "--validation", validation, *more)

    own, other = (files / "train.txt", files / "test.txt"), tmp_path / "other.txt"
    assert train(*own).status == 0 and train(*own, "--resume").status == 0
    done = train(other, own[1], "--resume")
    assert done.status == 2 and "the data changed: training sentences was" in done.err
    done = train(own[0], other, "--resume")
    assert done.status == 2 and "the data changed: validation sentences was" in done.err


def test_repeated_sentences_are_trained_on_as_often(tmp_path: Path, command: Command) -> None:
    (tmp_path / "twice.txt").write_text(2 * sentences(200, 0), encoding="utf-8")
    (tmp_path / "pairs.tsv").write_text("we like cats\twe love cats\n" * 30, encoding="utf-8")
    given = ["--config.epochs", 1, "--config.batch_size", 8, "--objective", "ae", "--device", "cpu", *SMALL, "--json"]
    for name, how, least in (("twice.txt", "text", 300 // 8), ("pairs.tsv", "pairs", 3)):
        data = ["--data", tmp_path / name, "--format", how]
        assert object_of(command("train", "latent", *data, "--out", tmp_path / how, *given))["step"] >= least


def test_too_much_at_once_is_one_line(files: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from paraform.models.latent import LatentLanguageModel

    cpu = RuntimeError("[enforce fail at alloc_cpu.cpp:124] . DefaultCPUAllocator: can't allocate memory: you tried …")
    for error, status in ((cpu, 2), (torch.OutOfMemoryError("CUDA out of memory."), 2), (RuntimeError("a bug"), None)):

        def fail(*given: Any, error: Exception = error, **named: Any) -> Any:
            raise error

        monkeypatch.setattr(LatentLanguageModel, "sample", fail)
        if status is None:
            with pytest.raises(RuntimeError, match="a bug"):
                command("sample", "--model", files / "run")
        else:
            done = command("sample", "--model", files / "run")
            assert done.status == status and done.err == "paraform: error: out of memory; less at once needs less\n"


def test_a_damaged_checkpoint_is_named(files: Path, tmp_path: Path, command: Command) -> None:
    import shutil

    for name in ("model.safetensors", "vocabulary.json", "paraform.json"):
        folder = tmp_path / name
        shutil.copytree(files / "run" / "best", folder)
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        done = command("sample", "--model", folder)
        assert done.status == 2 and str(folder) in done.err and done.err.count("\n") == 1
