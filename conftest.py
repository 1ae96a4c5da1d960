"""What every test stands on: no network, few threads, and the real data where there is some."""

from __future__ import annotations

import gc
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# Before anything imports torch, transformers or matplotlib: they read these once. Commands that a test starts inherit.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"  # else a fork after the first use warns
os.environ["MPLBACKEND"] = "Agg"
os.environ["PARAFORM_PRODUCTS"] = "float32"  # whatever the processor is best at; `bfloat16` below asks for the other
os.environ.setdefault("OMP_NUM_THREADS", "2")  # tiny tensors on many threads mostly wait for each other
if "PYTEST_XDIST_WORKER" in os.environ:  # beside others, and with what the first process has set
    os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes one into the home folder

import pytest
from filelock import FileLock
from hypothesis import settings

from paraform.memory import keep_freed_memory

if TYPE_CHECKING:
    from forks import Forks

    from paraform.encoders import Encoder

REPOSITORY = Path(__file__).resolve().parent

keep_freed_memory()  # tests train, too
settings.register_profile("paraform", deadline=None, derandomize=True)  # neither load nor luck is a failure
settings.load_profile("paraform")


def pytest_collection_finish() -> None:
    """What was imported stays, so that the collector need not go through all of it again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora: `PARAFORM_DATA`, else `shared/data` beside the checkout; skips without."""
    folder = Path(os.environ.get("PARAFORM_DATA") or REPOSITORY.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set PARAFORM_DATA to a folder that holds quora/, paranmt/, …")
    return folder


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole session, for what is dear to make and only read afterwards."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session", autouse=True)
def one_core() -> Iterator[None]:
    """Commands start one worker process unless told, not one a core: others test beside this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraform.engines.local.cores", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def undrawn() -> Iterator[None]:
    """Runs draw no curves, which take longer than their steps."""
    from paraform.training.journal import Journal

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "draw", lambda *_, **__: None)
        yield


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Programs as processes of their own, which begin at once."""
    from forks import Forks

    with closing(Forks(tmp_path_factory.mktemp("forks"))) as made:
        yield made


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a corpus are computed in this process: starting another takes longer than they do."""

    def run(work: Any, count: int, **_: Any) -> Iterator[bytes]:
        compute = work.open() if count else None
        return (compute(chunk) for chunk in range(count))

    for module in (
        "syntax.corpus", "engines.shards", "jobs.augmenting", "neighbours.near_on_disk", "neighbours.on_disk"
    ):  # fmt: skip
        monkeypatch.setattr(f"paraform.{module}.run", run)


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """The offline encoder, loaded once."""
    from paraform import encoders

    return encoders.load(device="cpu")


@pytest.fixture
def bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products are of bfloat16, on every processor: in hardware with AMX or AVX512_BF16, else emulated, and slow.

    With AVX-512 alone oneDNN emulates them; with less torch computes them without oneDNN. What only AMX does is round
    the factors of float32 products.
    """
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")


@pytest.fixture(scope="session", autouse=True)
def own_cache(scratch: Path) -> Iterator[None]:
    """Tags, exemplars and features that the tests compute stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARAFORM_CACHE", str(scratch / "cache"))
        yield


class Done(NamedTuple):
    """What a command left: its exit status, stdout and stderr."""

    status: int
    out: str
    err: str


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """`paraform` in this process: `command("tag", "A cat.")`."""
    from paraform.cli import main

    monkeypatch.setenv("PARAFORM_PRODUCTS", os.environ["PARAFORM_PRODUCTS"])  # put back, since --products sets it

    def run(*arguments: object) -> Done:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        return Done(status, *capfd.readouterr())

    return run


VERBS = "learn teach study enjoy practise explain"
TOPICS = (
    "chess physics poker yoga Java biology cooking golf Python drawing history music piano law guitar tennis Spanish"
    " algebra swimming editing"
)


@pytest.fixture(scope="session")
def question_pairs(scratch: Path) -> Path:
    """300 pairs of questions that say the same; other pairs' targets have the form of each."""
    path = scratch / "questions.tsv"
    lines = []
    for verb in VERBS.split():
        for topic in TOPICS.split():
            lines.append(f"how do i {verb} {topic} ?\tWhat is the best way to {verb} {topic}?")
            lines.append(f"is {topic} something to {verb} ?\tShould anyone {verb} {topic} this year?")
        for topic in TOPICS.split()[:10]:
            lines.append(f"why does nobody {verb} {topic} ?\tWhy do so few people {verb} {topic} today?")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TINY = {"word_width": 16, "content_width": 8, "decoder_width": 16, "style_width": 8, "min_count": 1}


@pytest.fixture(scope="session")
def tiny_run(scratch: Path, question_pairs: Path, own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder: the smallest model that goes through every step of training, by the command line.

    Where several processes test, one of them trains it, and each has a copy.
    """
    beside = "PYTEST_XDIST_WORKER" in os.environ
    made = (tmp_path_factory.getbasetemp().parent if beside else scratch) / "tiny-made"
    with FileLock(f"{made}.lock"):
        if not (made / "trained").exists():
            train_tiny(made, question_pairs)
            (made / "trained").touch()
    shutil.copytree(made, scratch / "tiny", ignore=shutil.ignore_patterns("trained"))
    return scratch / "tiny"


def train_tiny(folder: Path, question_pairs: Path) -> None:
    from paraform.cli import main

    fields = TINY | {"word_vectors": "random", "batch_size": 32, "epochs": 2}
    options = [word for name, value in fields.items() for word in (f"--config.{name}", str(value))]
    given = ["train", "exemplar", "--data", str(question_pairs), "--out", str(folder), "--device", "cpu", *options]
    assert main([*given, "--json"]) == 0
