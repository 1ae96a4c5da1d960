"""The loop: a killed run ends as an uninterrupted one, two processes train as one, the best is kept."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import importlib.util
import io
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import matplotlib.image
import pytest
import torch
from forks import Forks

from paraform import checkpoint, manifest
from paraform.ending import status_of
from paraform.models.exemplar import ExemplarConfig
from paraform.records import InputError
from paraform.training import Result, TrainingConfig, console, fit, make_accelerator, require_usable, text_digest
from paraform.training.dropout import dropout
from paraform.training.journal import Journal, history_plot
from paraform.training.loop import window_ends
from paraform.training.state import pack_optimizers, unpack_optimizers
from paraform.weights import load_tensors

WORKER = Path(__file__).parent / "training_worker.py"
spec = importlib.util.spec_from_file_location("training_worker", WORKER)
worker = importlib.util.module_from_spec(spec)
sys.modules["training_worker"] = worker
spec.loader.exec_module(worker)

# the worker's own, so that a run here and one in a process of its own are the same
CONFIG = TrainingConfig(
    steps=24, log_every=3, evaluate_every=5, checkpoint_every=7, average_last=0.5, device="cpu", tensorboard=False
)


DRAW = Journal.draw  # before `undrawn`


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def same_run(one: Path, other: Path) -> None:
    for part in ("last", "best"):
        found = [load_tensors(folder / part / "model.safetensors") for folder in (one, other)]
        assert found[0].keys() == found[1].keys()
        for name, tensor in found[0].items():
            assert torch.equal(tensor, found[1][name]), (part, name)
    found = [load_tensors(folder / "last" / "training.safetensors") for folder in (one, other)]
    for name, tensor in found[0].items():
        assert torch.equal(tensor, found[1][name]), name
    assert log(one) == log(other)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """An uninterrupted run, with dropout, so that the random state counts."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "draw", DRAW)
        return folder, worker.train(folder, CONFIG, dropout=0.3)


def test_a_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    """Two would mix their logs and replace each other's checkpoints; after the first the second may go on."""

    def other(step: int) -> None:
        if step == 8:
            message = "another process trains here; wait until it ends"
            with torch.random.fork_rng(), pytest.raises(InputError, match=message):
                worker.train(tmp_path, CONFIG, resume=True)

    worker.train(tmp_path, CONFIG, before=other)
    assert worker.train(tmp_path, CONFIG, resume=True).step == CONFIG.steps
    worker.train(tmp_path / "alone", CONFIG)
    same_run(tmp_path, tmp_path / "alone")


def test_a_killed_run_ends_with_the_same_weights(whole: tuple[Path, Result], tmp_path: Path, forks: Forks) -> None:
    status, said = forks.wait(forks.start(WORKER, tmp_path / "run", "--dropout", 0.3, "--kill-at", 18))
    assert status == -signal.SIGKILL, said
    assert log(tmp_path / "run")[-1]["step"] == 18  # beyond the last checkpoint, so the resumed run drops some
    assert json.loads((tmp_path / "run/last/training.json").read_text())["progress"]["step"] == 15
    result = worker.train(tmp_path / "run", CONFIG, dropout=0.3, resume=True)
    same_run(whole[0], tmp_path / "run")
    assert result == whole[1]


def test_the_mean_of_the_last_weights_is_what_is_kept(tmp_path: Path) -> None:
    """Of steps 3, 4 and 5 of 5; training itself goes on as without it."""
    model, seen = worker.Toy(worker.ToyConfig()), []
    same = copy.deepcopy(model)

    def before(step: int) -> None:
        seen.append({name: weight.detach().clone() for name, weight in model.named_parameters()})

    config = dataclasses.replace(CONFIG, steps=5, average_last=0.6)
    worker.train(tmp_path / "mean", config, model=model, before=before)
    worker.train(tmp_path / "plain", dataclasses.replace(config, average_last=0.0), model=same)
    last, best, plain = (
        load_tensors(tmp_path / name / "model.safetensors") for name in ("mean/last", "mean/best", "plain/last")
    )
    for name, tensor in best.items():
        if tensor.is_floating_point():
            torch.testing.assert_close(tensor, (seen[3][name] + seen[4][name] + last[name]) / 3)
            assert not torch.equal(tensor, last[name])
        assert torch.equal(last[name], plain[name])
        assert torch.equal(last[name], model.state_dict()[name])


def test_a_validation_is_not_lost_where_checkpoints_are_rare(tmp_path: Path) -> None:
    """As on a small corpus, whose epochs have fewer steps than lie between two checkpoints."""
    config = dataclasses.replace(CONFIG, checkpoint_every=1000)

    def at_twelve(step: int) -> None:
        if step == 12:
            raise RuntimeError("as a kill")

    with pytest.raises(RuntimeError, match="as a kill"):
        worker.train(tmp_path / "run", config, dropout=0.3, before=at_twelve)
    assert json.loads((tmp_path / "run/last/training.json").read_text())["progress"]["step"] == 10
    worker.train(tmp_path / "run", config, dropout=0.3, resume=True)
    worker.train(tmp_path / "whole", config, dropout=0.3)
    same_run(tmp_path / "whole", tmp_path / "run")


@pytest.mark.parametrize("name", ["best", "loss.png"])
def test_what_no_run_wrote_is_not_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).mkdir()
    (tmp_path / "run" / name / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=f"its {name} is of no run, and would be written over"):
        worker.train(tmp_path / "run", CONFIG)
    assert (tmp_path / "run" / name / "mine.txt").read_text() == "mine"


def test_the_best_of_another_run_is_not_replaced(tmp_path: Path) -> None:
    worker.train(tmp_path, CONFIG)
    shutil.rmtree(tmp_path / "last")
    before = (tmp_path / "best" / "paraform.json").read_bytes()
    with pytest.raises(InputError, match="holds the best/ of a run, and no last/ to go on from"):
        worker.train(tmp_path, CONFIG)
    assert (tmp_path / "best" / "paraform.json").read_bytes() == before
    assert worker.train(tmp_path, CONFIG, resume=True).step == CONFIG.steps  # asked to begin, if there is none


def test_a_run_whose_best_is_gone_keeps_the_best_from_there_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its score cannot come back, so that there might never be a best again."""

    def at_ten(step: int) -> None:
        if step == 10:
            signal.raise_signal(signal.SIGINT)

    worker.train(tmp_path / "run", CONFIG, before=at_ten)
    shutil.copytree(tmp_path / "run" / "last", tmp_path / "moved" / "last")
    with pytest.raises(
        InputError, match=r"moved: a run without a best checkpoint yet; its latest weights are in .*last$"
    ):
        checkpoint.load(tmp_path / "moved", systems={"toy": worker.Toy})
    result = worker.train(tmp_path / "moved", CONFIG, resume=True)
    assert "its best/ is gone; the best validation from here on counts" in caplog.text
    assert result.best_step is not None and result.best_step > 10
    assert (tmp_path / "moved" / "best" / manifest.NAME).is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_step_and_saves_it(
    number: signal.Signals, whole: tuple[Path, Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def at_ten(step: int) -> None:
        if step == 10:
            signal.raise_signal(number)

    result = worker.train(tmp_path, CONFIG, dropout=0.3, before=at_ten)
    assert (result.ended, result.step, result.status) == ("interrupted", 11, 128 + number)
    with pytest.raises(KeyboardInterrupt) as stop:  # as a table's rows end, which are several runs
        result.require_over()
    assert status_of(stop.value) == 128 + number
    assert capsys.readouterr().err.splitlines() == [
        f"paraform: {number.name}: stopped after step 11, saved in {tmp_path / 'last'};"
        " resume it with resume=True (--resume)"
    ]
    worker.train(tmp_path, CONFIG, dropout=0.3, resume=True)  # from the middle of a window of the log
    same_run(whole[0], tmp_path)


def test_a_sigterm_that_comes_twice_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `timeout` sends it; later, a second one acts as it did before the run."""

    def twice(step: int) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        assert worker.train(tmp_path / "once", CONFIG, before=twice).ended == "interrupted"
        assert heard == []
        monkeypatch.setattr("paraform.training.console.SAME_SIGNAL", 0.0)
        worker.train(tmp_path / "again", CONFIG, before=twice)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_ctrl_c_acts_at_once(tmp_path: Path) -> None:
    def twice(step: int) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    # A shell starts what it puts into the background deaf to Ctrl-C; this test must hear it there too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.train(tmp_path, CONFIG, before=twice)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_two_processes_train_as_one_with_the_whole_batch(tmp_path: Path, forks: Forks) -> None:
    """Also where one of them got a SIGTERM on the way, and both were resumed."""
    ended = forks.ranks(2, WORKER, tmp_path / "two", "--signal-at", 10, "--again")
    assert [status for status, _ in ended] == [0, 0], ended
    said = "".join(words for _, words in ended)
    assert "paraform: SIGTERM" not in said and "stopped after step 11" in said  # told by the first one
    assert json.loads((tmp_path / "two/last/training.json").read_text())["processes"] == 2
    worker.train(tmp_path / "one", CONFIG)
    two, one = ([r for r in log(tmp_path / name) if "train" in r] for name in ("two", "one"))
    assert [record["step"] for record in two] == [record["step"] for record in one] == list(range(3, 25, 3))
    for ours, theirs in zip(two, one, strict=True):
        assert ours["train"] == pytest.approx(theirs["train"], rel=1e-5)
    weights = [load_tensors(tmp_path / name / "last/model.safetensors") for name in ("two", "one")]
    for name, tensor in weights[0].items():
        torch.testing.assert_close(tensor, weights[1][name], rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="processes was 2 when the run began and is 1 now"):
        worker.train(tmp_path / "two", CONFIG, resume=True)


def test_the_run_folder(whole: tuple[Path, Result]) -> None:
    folder, result = whole
    assert (result.step, result.ended) == (24, "finished")
    records = log(folder)
    assert records == result.history
    assert [r["step"] for r in records if "train" in r] == [3, 6, 9, 12, 15, 18, 21, 24]
    validations = {r["step"]: r["validation"]["loss"] for r in records if "validation" in r}
    assert list(validations) == [5, 10, 15, 20, 24]
    assert result.best_score == min(validations.values()) == validations[result.best_step]
    assert records[-2]["train"]["local"] < records[0]["train"]["local"]
    assert matplotlib.image.imread(folder / "loss.png").shape == (300, 1200, 4)  # three panels of 4 by 3 inches
    best = json.loads((folder / "best/paraform.json").read_text())
    assert best["scores"][0] == {
        "name": "loss", "value": result.best_score, "signature": f"validation|step:{result.best_step}"
    }  # fmt: skip
    model = checkpoint.load(folder / "last", systems={"toy": worker.Toy}, device="cpu")
    assert model.config.dropout == 0.3
    card = (folder / "best/README.md").read_text(encoding="utf-8")
    assert f"The best checkpoint of a training run of paraform's, at step {result.best_step} of 24, by seed 0." in card
    assert f"- loss: {result.best_score:.4g}" in card and "- dropout: `0.3`" in card and "- average_last: `0.5`" in card
    assert "Nobody has said on what terms" in card and "tensorboard" not in card and "- torch: " in card
    assert sorted(path.name for path in folder.iterdir()) == ["best", "last", "log.jsonl", "loss.png", "run.lock"]


def test_what_has_a_unit_of_its_own_has_an_axis_of_its_own() -> None:
    train = {"loss": 2.0, "nll": 1.5, "gradient_norm": 40.0, "beta": 0.1}
    history = [{"step": step, "train": train} for step in range(1, 100)]
    history += [{"step": step, "validation": {"bleu": 30.0 + step, "nll": None, "perplexity": 5}} for step in (50, 99)]
    figure = history_plot(history)
    assert figure is not None
    panels = {axes.get_title(): [line.get_label() for line in axes.get_lines()] for axes in figure.axes}
    assert panels == {
        "train": ["loss", "nll"], "gradient_norm": ["gradient_norm"], "beta": ["beta"],
        "validation: bleu": ["bleu"], "validation: nll": ["nll"], "validation: perplexity": ["perplexity"],
    }  # fmt: skip
    loss, bleu = (axes.get_lines()[0] for axes in (figure.axes[0], figure.axes[3]))
    assert [loss.get_marker(), bleu.get_marker()] == ["", "."] and bleu.get_ydata().tolist() == [80.0, 129.0]
    assert history_plot([]) is None and history_plot([{"step": 1, "train": {}}]) is None


def test_a_finished_run_stays_as_it_is(whole: tuple[Path, Result]) -> None:
    before = (whole[0] / "last/paraform.json").read_bytes()
    assert worker.train(whole[0], CONFIG, dropout=0.3, resume=True) == whole[1]
    assert (whole[0] / "last/paraform.json").read_bytes() == before
    with pytest.raises(InputError, match="holds a run; resume it"):
        worker.train(whole[0], CONFIG, dropout=0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": dataclasses.replace(CONFIG, seed=1)}, "seed was 0 when the run began and is 1 now"),
        ({"config": dataclasses.replace(CONFIG, steps=25)}, "steps was 24"),
        ({"dropout": 0.2}, r"dropout was 0\.3 when the run began and is 0\.2 now"),
        (
            {"data_digests": {"train.tsv": "ab"}},
            r"the data changed: train\.tsv was None when the run began and is 'ab' now",
        ),
        ({"optimizer": "SGD"}, "optimizer 'main' was Adam when the run began and is SGD now"),
    ],
)
def test_another_run_is_not_resumed(whole: tuple[Path, Result], change: dict[str, Any], message: str) -> None:
    log_before = (whole[0] / "log.jsonl").read_bytes()
    with pytest.raises(InputError, match=message):
        worker.train(whole[0], **{"config": CONFIG, "dropout": 0.3, "resume": True} | change)
    assert (whole[0] / "log.jsonl").read_bytes() == log_before


def test_a_run_of_another_system_is_named_before_anything_is_prepared(whole: tuple[Path, Result]) -> None:
    with pytest.raises(InputError, match="system was 'toy' when the run began and is 'exemplar' now"):
        require_usable(whole[0], "exemplar", ExemplarConfig.paper(), resume=True)


@dataclasses.dataclass(frozen=True)
class Nameless:
    """A toy's config of a version that has no `name`."""

    hidden: int = 5
    dropout: float = 0.3
    removed: ClassVar[Mapping[str, object]] = {"name": "toy"}


def test_a_run_goes_on_without_a_field_that_is_read_no_more(whole: tuple[Path, Result]) -> None:
    """If it had the value that all of today's code has."""
    require_usable(whole[0], "toy", Nameless(), resume=True)
    with pytest.raises(InputError, match="hidden was 5 when the run began and is 6 now"):
        require_usable(whole[0], "toy", Nameless(hidden=6), resume=True)

    class Other(Nameless):
        removed: ClassVar[Mapping[str, object]] = {"name": "other"}

    message = "last/paraform.json: config.name is 'toy', which paraform reads no more; version 0.1.0 does"
    with pytest.raises(InputError, match=f"^{whole[0]}/{message}$"):
        require_usable(whole[0], "toy", Other(), resume=True)


def test_a_damaged_training_state_is_named(tmp_path: Path) -> None:
    worker.train(tmp_path, dataclasses.replace(CONFIG, steps=1))
    for name in ("training.json", "training.safetensors", "model.safetensors"):
        good = (tmp_path / "last" / name).read_bytes()
        (tmp_path / "last" / name).write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        with pytest.raises(InputError, match=name):
            worker.train(tmp_path, dataclasses.replace(CONFIG, steps=1), resume=True)
        (tmp_path / "last" / name).write_bytes(good)


def test_weights_and_optimizer_are_of_one_step_after_a_kill_in_a_save(
    whole: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is copied before every rename of the save after step 14: what a kill would leave at that moment."""
    replace, folder, moments, now = os.replace, tmp_path / "run", [], []

    def watched(source: Any, target: Any) -> None:
        if Path(target).parent == folder / "last" and now[-1] == 13:
            moments.append(shutil.copytree(folder, tmp_path / f"moment{len(moments)}"))
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", watched)
        worker.train(folder, CONFIG, dropout=0.3, before=now.append)
    begun = []
    for moment in moments[:: len(moments) // 4]:
        now.clear()
        worker.train(moment, CONFIG, dropout=0.3, resume=True, before=now.append)
        same_run(whole[0], moment)
        begun.append(now[0])
    assert len(moments) >= 10 and begun == sorted(begun) and set(begun) == {10, 14}


def scored(
    tmp_path: Path, scores: list[float], *, resume: bool = False, **options: Any
) -> tuple[Result, list[Mapping[str, float]]]:
    """A run of a validation a step, with these scores."""
    config = dataclasses.replace(CONFIG, steps=len(scores), evaluate_every=1, metric="bleu", **options)
    accelerator = make_accelerator(config)
    model = worker.Toy(worker.ToyConfig())
    update, state = worker.make_update(model, accelerator)
    heard: list[Mapping[str, float]] = []
    state = dataclasses.replace(state, on_validation=heard.append)
    given = iter(scores)
    every = {"folder": tmp_path, "config": config, "accelerator": accelerator, "resume": resume}
    result = fit(model, update, state, worker.batches(accelerator), evaluate=lambda: {"bleu": next(given)}, **every)
    return result, heard


def test_dropout_is_the_quick_one_in_updates_and_torch_s_in_validations(tmp_path: Path) -> None:
    ones, drawn = torch.ones(99), {"update": [], "evaluate": []}

    def draw(where: str) -> None:
        with torch.random.fork_rng():
            torch.manual_seed(5)
            drawn[where].append(torch.nn.functional.dropout(ones))

    def evaluate() -> dict[str, float]:
        draw("evaluate")
        return {"loss": 0.0}

    config = dataclasses.replace(CONFIG, steps=2, evaluate_every=1)
    accelerator = make_accelerator(config)
    model = worker.Toy(worker.ToyConfig())
    update, state = worker.make_update(model, accelerator, before=lambda step: draw("update"))
    every = {"folder": tmp_path, "config": config, "accelerator": accelerator, "evaluate": evaluate}
    fit(model, update, state, worker.batches(accelerator), **every)
    for where, how in (("update", dropout), ("evaluate", torch.nn.functional.dropout)):
        torch.manual_seed(5)
        expected = how(ones)
        assert len(drawn[where]) == 2 and all(torch.equal(found, expected) for found in drawn[where])


def test_early_stop_counts_validations_without_a_better_score(tmp_path: Path) -> None:
    result, heard = scored(tmp_path / "up", [1, 3, 2, 3, 9], higher_is_better=True, patience=2)
    assert (result.ended, result.step, result.best_score, result.best_step) == ("early", 4, 3, 2)
    assert [scores["bleu"] for scores in heard] == [1, 3, 2, 3]
    result, _ = scored(tmp_path / "down", [5, 4, 4.5, 3, 3.5], patience=2)
    assert (result.ended, result.best_score, result.best_step) == ("finished", 3, 4)
    result, _ = scored(tmp_path / "never", [1, 2, 3, 4, 5])
    assert (result.ended, result.best_step) == ("finished", 1)


@pytest.mark.parametrize(("scores", "warned"), [([1, 2, 3, 4, 5], True), ([4, 3, 2, 5, 6], False), ([2, 1], False)])
def test_a_warning_says_when_the_first_half_of_a_run_was_better(
    scores: list[float], warned: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    result, _ = scored(tmp_path, scores)
    said = f"the best validation was at step {result.best_step} of {result.step}, and {tmp_path / 'best'} has its"
    assert [record.getMessage().startswith(said) for record in caplog.records] == [True] * warned
    caplog.clear()
    scored(tmp_path, scores, resume=True)  # it is over, and nothing new
    assert not caplog.records


def test_a_diverged_run_says_so_and_keeps_its_last_checkpoint(tmp_path: Path) -> None:
    model = worker.Toy(worker.ToyConfig())

    def poison(step: int) -> None:
        if step == 16:
            with torch.no_grad():
                model.outer.bias.fill_(float("nan"))

    with pytest.raises(InputError, match="step 18: local is nan"):
        worker.train(tmp_path, CONFIG, before=poison, model=model)
    assert json.loads((tmp_path / "last/training.json").read_text())["progress"]["step"] == 15
    with pytest.raises(InputError, match="validation bleu is nan"):
        scored(tmp_path / "scores", [float("nan")])


@pytest.mark.parametrize("products", ["bfloat16", "float32"])
def test_products_are_rounded_only_where_that_is_asked_for_and_only_inside_the_loop(
    tmp_path: Path, products: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the run's configuration, and by the process's setting."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", products)
    mkldnn: Any = torch.backends.mkldnn
    before = mkldnn.matmul.fp32_precision
    rounded = "bf16" if products == "bfloat16" else before
    for precision, wanted in (("no", before), ("bf16", rounded)):
        config = dataclasses.replace(CONFIG, steps=2, mixed_precision=precision)
        seen: list[str] = []
        worker.train(
            tmp_path / precision, config, before=lambda _, seen=seen: seen.append(mkldnn.matmul.fp32_precision)
        )
        assert seen == [wanted, wanted] and mkldnn.matmul.fp32_precision == before
        assert make_accelerator(config).mixed_precision == "no"  # autocast would narrow more than products


def sign(folder: Path, name: str) -> None:
    """As somebody who edits a file and knows how `paraform.json` is made would."""
    found = manifest.read(folder)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    signed = dataclasses.replace(found, files=dict(found.files) | {name: digest})
    (folder / "paraform.json").write_text(manifest._text(signed))


def edits(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each part of a JSON value, by the way to it, and each of what may stand in its place; None: nothing."""
    for wrong in ("x", -1, 10**30, 0.5, None, True, [], {}, [[1]], {"tensor": "x"}, {"dict": [["x", 1]]}):
        yield way, wrong
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from edits(value[key], (*way, key))


def test_a_training_json_that_is_edited_and_signed_is_refused_or_can_be_gone_on_from(tmp_path: Path) -> None:
    """Whatever stands at whatever place of it: one line, or a run to the end."""
    short = dataclasses.replace(CONFIG, steps=2, evaluate_every=1, log_every=2, checkpoint_every=1)

    def at_one(step: int) -> None:
        if step == 0:
            signal.raise_signal(signal.SIGINT)

    worker.train(tmp_path / "run", short, before=at_one)
    saved = json.loads((tmp_path / "run" / "last" / "training.json").read_text())
    saved["progress"]["history"] = saved["progress"]["history"][:2]
    tried = random.Random(1).sample([edit for edit in edits(saved) if edit[0]], 30)
    refused = 0
    for number, (way, wrong) in enumerate(tried):
        folder = tmp_path / f"edit{number}"
        shutil.copytree(tmp_path / "run", folder)
        edited = copy.deepcopy(saved)
        place = edited
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = wrong
        (folder / "last" / "training.json").write_text(json.dumps(edited))
        sign(folder / "last", "training.json")
        try:
            worker.train(folder, short, resume=True)
        except InputError as error:
            assert "\n" not in str(error)
            refused += 1
        shutil.rmtree(folder)
    assert refused > 15


def test_a_run_from_before_a_field_existed_had_its_default(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, steps=2)
    worker.train(tmp_path, config)
    progress = tmp_path / "last" / "training.json"
    saved = json.loads(progress.read_text())
    assert saved["training"].pop("patience") == 0
    progress.write_text(json.dumps(saved))
    sign(tmp_path / "last", "training.json")
    assert worker.train(tmp_path, config, resume=True).step == 2
    with pytest.raises(InputError, match="patience was 0 when the run began and is 3 now"):
        worker.train(tmp_path, dataclasses.replace(config, patience=3), resume=True)


def test_a_metric_that_is_no_score(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, steps=1, metric="bleu")
    with pytest.raises(InputError, match="metric 'bleu' is no validation score; there are loss, noise"):
        worker.train(tmp_path, config)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"log_every": 0},
        {"patience": -1},
        {"average_last": 1.1},
        {"mixed_precision": "fp8"},
        {"device": "tpu"},
    ],
)
def test_a_config_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        TrainingConfig(**wrong)


def test_tensorboard_and_progress_bar(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    shown = io.StringIO()
    config = dataclasses.replace(CONFIG, steps=6, tensorboard=True, progress="always")
    with contextlib.redirect_stderr(shown):
        result = worker.train(tmp_path, config)
    assert "6/6" in shown.getvalue() and "contrast" in shown.getvalue()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    read = [(event.step, event.value) for event in events.Scalars("train/local")]
    assert read == [(r["step"], pytest.approx(r["train"]["local"])) for r in result.history if "train" in r]
    assert [event.step for event in events.Scalars("validation/loss")] == [5, 6]


def test_a_line_a_minute_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 20.0, 59.0, 61.0, 100.0, 122.0, 200.0])
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(now)))
    with console.Bar(1010, "auto", done=4) as bar:
        for step in range(5, 11):
            bar.step(step if step < 10 else 1010, {"nll": 3.25})
    assert capsys.readouterr().err.splitlines() == [
        "paraform: step 7 of 1,010, about 340 min left: nll 3.25",
        "paraform: step 9 of 1,010, about 407 min left: nll 3.25",
    ]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: 10**6))
    never = console.Bar(10, "never")
    never.step(5, {"nll": 3.25})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Adam", {"amsgrad": True}),
        ("AdamW", {"betas": (0.8, 0.99), "capturable": False}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("SGD", {}),
        ("Adam", {"lr": torch.tensor(0.03)}),
    ],
)
def test_optimizer_state_comes_back_bit_for_bit(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    def make(model: Any) -> torch.optim.Optimizer:
        groups = [{"params": model.inner.parameters(), "lr": 0.3}, {"params": model.outer.parameters()}]
        groups = groups if not isinstance(options.get("lr"), torch.Tensor) else [*model.parameters()]
        return getattr(torch.optim, kind)(groups, **{"lr": 0.1} | options)

    def step(model: Any, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        model(torch.ones(2, worker.WIDTH))[1].square().mean().backward()
        optimizer.step()

    torch.manual_seed(0)
    one, other = (worker.Toy(worker.ToyConfig()) for _ in range(2))
    ours, theirs = make(one), make(other)
    for _ in range(3):
        step(one, ours)
    ours.param_groups[0]["lr"] = ours.param_groups[0]["lr"] * 0.7  # as a schedule would
    tensors: dict[str, torch.Tensor] = {}
    packed = json.loads(json.dumps(pack_optimizers({"main": ours}, tensors)))
    other.load_state_dict(one.state_dict())
    unpack_optimizers({"main": theirs}, packed, tensors)
    assert str(theirs.state_dict()) == str(ours.state_dict())
    step(one, ours)
    step(other, theirs)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    for group in theirs.param_groups:
        assert isinstance(group.get("betas", ()), tuple)


def test_no_pickle_is_written(whole: tuple[Path, Result]) -> None:
    suffixes = {path.suffix for path in whole[0].rglob("*") if path.is_file()}
    assert suffixes == {".json", ".jsonl", ".lock", ".safetensors", ".png", ".md", ".txt"}
    assert manifest.read(whole[0] / "last").files.keys() >= {"training.json", "training.safetensors"}


def test_a_digest_of_texts_knows_their_order_and_their_ends() -> None:
    found = {text_digest(texts) for texts in (["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""], [], ["\ud800"])}
    assert len(found) == 6 and text_digest(iter(["a", "b"])) in found


@pytest.mark.parametrize(("log_every", "epoch"), [(50, 7), (50, 101), (50, 74), (3, 10), (1, 4), (10**9, 5), (5, 5)])
def test_an_epoch_is_logged_in_whole_windows_of_one_length(log_every: int, epoch: int) -> None:
    ends = [step for step in range(1, 4 * epoch + 1) if window_ends(step, log_every, epoch)]
    assert {epoch, 2 * epoch, 3 * epoch, 4 * epoch} <= set(ends)
    lengths = {last - first for first, last in zip([0, *ends], ends, strict=False)}
    assert max(lengths) - min(lengths) <= 1
    assert len(ends) == 4 * max(1, round(epoch / log_every))
    assert [step for step in range(1, 13) if window_ends(step, 3, 0)] == [3, 6, 9, 12]
