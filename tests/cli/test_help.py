"""Help, versions and usage errors; and that they do not wait for torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import paraform
from paraform import corpora
from paraform.cli import command_names, complaints, options
from paraform.syntax.tagging import DEFAULT

Command = Callable[..., Any]

WITHOUT_FORMAT = (
    "demo",
    "serve",
    "export",
    "fetch",
    "rate",
    "reproduce",
    "evaluate syntax",
    "evaluate similarity",
    "evaluate relatedness",
    "evaluate robustness",
    "evaluate probing",
    "evaluate transfer",
    "evaluate report",
    "evaluate distances",
    "plot form",
    "plot curves",
    "train infersent",
)


@pytest.mark.parametrize("name", command_names())
def test_every_command_shows_what_it_is_for_and_an_example(name: str, command: Command) -> None:
    done = command(*name.split(), "--help")
    assert (done.status, done.err) == (0, "")
    assert f"usage: paraform {name}" in done.out
    assert f"Example:\n  {'echo' if name in ('tag', 'parse') else f'paraform {name} '}" in done.out
    for option in ("--device", "--products", "--batch-size", "--seed", "--json", "--version", "--help"):
        assert option in done.out
    assert ("--format" in done.out) == (name not in WITHOUT_FORMAT)
    assert "lambda" not in done.out and "<function" not in done.out


def test_the_overview_lists_every_command(command: Command) -> None:
    done = command("--help")
    assert (done.status, done.err) == (0, "")
    assert all(f"  {name} " in done.out for name in command_names())
    assert "Example:\n" in done.out
    assert command().status == 2
    assert command("evaluate", "--help").out.count("evaluate generation ") == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sample --num 0", "--num: 0; expected a number above 0, at most 1,000,000,000"),
        ("sample --num x", "--num: x; expected a whole number"),
        ("sample --top-p 2", "--top-p: 2; expected a number above 0, at most 1"),
        ("sample --top-p x", "--top-p: x; expected a number"),
        ("sample --temperature=-1", "--temperature: -1; expected a number of at least 0"),
        ("sample --batch-size 1.5", "--batch-size: 1.5; expected a whole number"),
        ("sample --products fp16", "--products: fp16; expected one of float32, bfloat16, int8"),
        ("sample --batch-size 0", "--batch-size: 0; expected a number above 0"),
        ("sample --batch-size x", "--batch-size: x; expected a whole number"),
        ("paraphrase --height 0", "--height: 0; expected one of full, best or a number above 0"),
        ("paraphrase --height R", "--height: R; expected one of full, best or a whole number"),
        ("paraphrase --min-content 7", "--min-content: 7; expected a number of at least -1, at most 1"),
        ("evaluate latent --samples 0", "--samples: 0; expected a number above 0, at most 1,000,000,000"),
        ("train latent --config.contrast Z", "--config.contrast: Z; expected one of none, z, h"),
        ("train latent --config.epochs 1.5", "--config.epochs: 1.5; expected a whole number"),
        ("train latent --config.beta nan", "--config.beta: nan; expected a number"),
        ("train latent --config.tie_embeddings 3", "--config.tie_embeddings: 3; expected true or false"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_what_was_expected(given: str, message: str, command: Command) -> None:
    done = command(*given.split())
    name = " ".join(given.split()[:2]) if given.split()[1][0] != "-" else given.split()[0]
    assert (done.status, done.out) == (2, "")
    assert done.err == f"paraform: error: {message}; see paraform {name} --help\n"


def test_what_jsonargparse_says_of_anything_else_is_left_as_it_is() -> None:
    assert complaints.in_words("unrecognized arguments: --bach-size 3") == "unrecognized arguments: --bach-size 3"


def test_the_version_is_the_packages(command: Command) -> None:
    for given in (["--version"], ["paraphrase", "--version"], ["train", "exemplar", "--version"]):
        assert command(*given) == (0, f"paraform {paraform.__version__}\n", "")


def test_a_fields_help_is_its_docstring(command: Command) -> None:
    assert "greatest difference between the lengths" in " ".join(command("mine", "--help").out.split())
    help_text = " ".join(command("train", "exemplar", "--help").out.split())
    epochs = paraform.ExemplarConfig.compact().epochs
    assert f"passes over the pairs. (type: int, default: {epochs})" in help_text
    assert "steps between validations" in help_text


def test_the_preset_sets_the_defaults_of_the_fields(command: Command) -> None:
    for preset, attention in (("compact", "True"), ("paper", "False")):
        help_text = " ".join(command("train", "exemplar", "--preset", preset, "--help").out.split())
        shown = help_text.split("--config.attention {true,false}")[-1]
        assert f"default: {attention}" in shown[:200]


def test_formats_and_tagger_are_the_librarys() -> None:
    assert tuple(corpora.FORMATS) == options.FORMATS
    assert DEFAULT == "syntax"  # the default of --tagger and of --parser


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["paraphase", "x"], "no command 'paraphase'; did you mean 'paraphrase'?"),
        (["train", "nothing"], "no command 'train nothing'"),
        (["paraphrase", "x", "--nope"], "unrecognized arguments: --nope"),
        (["tag", "x", "--outt", "y"], "unrecognized arguments: --outt y; see paraform tag --help"),
        (["search", "x", "--num", "3", "a question"], "arguments: a question; expected texts and files side by side"),
        (["embed", "x", "--outt", "y"], "unrecognized arguments: --outt y; did you mean --out?"),
        (["train", "latent", "--data", "x", "--out", "y", "--min-count", "3"], "did you mean --config.min_count?"),
        (["paraphrase", "x", "--beam", "0"], "--beam: "),
        (["paraphrase", "x", "--min-content", "1.5"], "--min-content: "),
        (["paraphrase", "x", "--top-p", "0"], "--top-p: "),
        (["paraphrase", "x", "--beam", "2", "--temperature", "1"], "exclude each other"),
        (["paraphrase", "x", "--like", "y", "--num", "2"], "--num is of rewordings without --like"),
        (["paraphrase", "x", "--each"], "--each needs --like"),
        (["paraphrase", "nowhere.txt"], "nowhere.txt: no such file"),
        (["paraphrase", "../nowhere/questions"], "../nowhere/questions: no such file"),
        (["paraphrase", "x", "--device", "nope"], "--device nope: no kind of device; cpu always works"),
        (["paraphrase", "x", "--like", "y z", "v w"], "expected one for all, one a source, or each=True (--each)"),
        (["export", "latent-compact", "--out", "y"], "expected a model that is exported, one with an encoder such as"),
        (["embed", "x"], "expected --out vectors.npy, or --json"),
        (["mine", "x.tsv"], "--out"),
        (["mine", "x.tsv", "--out", "y", "--pool", "both"], "--pool"),
        (["mine", "x.tsv", "--out", "y", "--keep", "0"], "keep is 0; expected 1 to"),
        (["train", "exemplar", "--data", "x", "--out", "y", "--preset", "huge"], "--preset"),
        (["train", "exemplar", "--data", "x", "--out", "y", "--config.layers", "3"], "unrecognized arguments"),
        (["train", "exemplar", "--data", "x", "--out", "y", "--config.epochs", "many"], "--config.epochs: "),
        (
            ["train", "exemplar", "--data", "x", "--out", "y", "--config.temperature", "0"],
            "expected a number above 0",
        ),
        (["train", "exemplar", "--data", "x", "--out", "y", "--config", "nowhere.yaml"], "nowhere.yaml"),
        (["train", "exemplar", "--data", "x", "--out", "y", "--loop.patience", "-1"], "patience is -1"),
        (["evaluate", "generation", "--data", "x", "--protocols", "best"], "--protocols"),
        (["reproduce", "nothing"], "no table 'nothing'; expected one of crl/table2"),
        (["reproduce", "crl/table2", "--data", "nowhere"], "no such folder"),
        (["paraphrase", "x", "--model", "nowhere"], "nowhere: no such model"),
        (["paraphrase", "x", "--model", "minilm"], "an encoder; expected a model that paraphrases"),
    ],
)
def test_a_usage_error_is_one_line(given: list[str], said: str, command: Command) -> None:
    done = command(*given)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1, done.err
    assert said in done.err


@pytest.mark.parametrize("given", [["--help"], ["--version"], ["paraphrase", "--help"], ["tag", "--help"]])
def test_help_does_not_wait_for_torch(given: list[str]) -> None:
    code = (
        "import sys; from paraform.cli import main; status = main(sys.argv[1:])\n"
        "assert not {'torch', 'transformers', 'nltk'} & set(sys.modules), 'torch'\n"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_paraform_is_cheap() -> None:
    code = "import sys, paraform; dir(paraform); assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="No paraform attribute nothing"):
        _ = paraform.nothing
