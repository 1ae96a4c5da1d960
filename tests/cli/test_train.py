"""What `train` hears of its options, and what a new system costs."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from jsonargparse import Namespace

import paraform
from paraform import checkpoint, cli, manifest
from paraform.cli.train import tell_end
from paraform.ending import INTERRUPTED, TERMINATED
from paraform.models.systems import ELSEWHERE, System, named_by, system_named, system_names
from paraform.records import InputError
from paraform.trainers import Trainer
from paraform.trainers.latent import TRAINER
from paraform.training import Result, TrainingConfig


def test_the_batch_size_that_the_command_is_told_is_heard(tmp_path: Path, command: Callable[..., Any]) -> None:
    """48 sentences of one length: 48 / B steps a pass."""
    data = tmp_path / "data.txt"
    data.write_text("".join(f"w{number} x{number} y .\n" for number in range(48)), encoding="utf-8")
    fields = {"word_width": 8, "hidden_width": 8, "latent_width": 2, "min_count": 1, "epochs": 1, "batch_size": 48}
    given = ["train", "latent", "--data", data, "--validation", data, "--objective", "vae", "--device", "cpu", "--json"]
    given += [word for name, value in fields.items() for word in (f"--config.{name}", value)]
    for told, steps in (([], 1), (["--batch-size", 8], 6)):
        done = command(*given, *told, "--out", tmp_path / f"run {steps}")
        assert done.status == 0, done.err
        assert json.loads(done.out)["step"] == steps


def test_how_a_run_ended_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Of one that was interrupted before its first validation there is no best/ to name."""
    early, late = Result(7, "interrupted", None, None, []), Result(9, "finished", 1.25, 6, [])
    plain, as_json = Namespace(out="runs/a", json=False), Namespace(out="runs/a", json=True)
    trainer = TRAINER._replace(best="{:.1f} nats")
    assert tell_end(plain, early, trainer, "loss") == INTERRUPTED
    assert capsys.readouterr().out == "runs/a: no validation yet; interrupted after step 7\n"
    assert tell_end(plain, late, trainer, "loss") == 0
    assert capsys.readouterr().out == "runs/a/best: 1.2 nats at step 6; finished after step 9\n"
    assert tell_end(as_json, early._replace(signal="SIGTERM"), trainer, "loss", objective="vae") == TERMINATED
    expected = {"model": None, "objective": "vae", "metric": "loss", "best_score": None, "best_step": None}
    expected |= {"ended": "interrupted", "step": 7}
    assert json.loads(capsys.readouterr().out) == expected
    assert tell_end(plain, late, trainer, "development") == 0
    assert capsys.readouterr().out == "runs/a/best: development 1.250 at step 6; finished after step 9\n"
    tell_end(as_json, late, trainer, "loss")
    assert json.loads(capsys.readouterr().out)["model"] == "runs/a/best"


@dataclasses.dataclass(frozen=True)
class ToyConfig:
    """A system of one layer.

    Args:
        width: features of a vector.
        batch_size: not looked at.
    """

    width: int = 2
    batch_size: int = 8


class Toy(torch.nn.Module):
    """Embeds a text as its number of letters, `width` times, and has a latent space of a kind."""

    system: ClassVar[str] = "toy"
    config_class: ClassVar[type] = ToyConfig
    kind: ClassVar[str] = "a toy"
    vector_names: ClassVar[tuple[str, ...]] = ("letters",)

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.config, self.weight = config, torch.nn.Parameter(torch.ones(config.width))

    @property
    def device(self) -> torch.device:
        return self.weight.device

    def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> Any:
        return torch.tensor([[float(len(text))] for text in texts]).mul(self.weight).detach().numpy()

    has_noise, max_tokens, lexicon = True, 5, ("words", frozenset({"a"}))

    def words(self, text: str) -> list[str]:
        return text.split()

    def unknown(self, texts: Sequence[str]) -> int:
        return 0

    def sample(self, num: int, **how: Any) -> list[str]:
        return ["a sample"] * num

    def interpolate(self, first: str, second: str, *, steps: int, **how: Any) -> list[str]:
        return [first, *["between"] * (steps - 2), second]

    def reconstruct(self, texts: Sequence[str], **how: Any) -> list[str]:
        return [text.upper() for text in texts]

    def assets(self) -> dict[str, str]:
        return {}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Toy:
        return cls(ToyConfig(**config))


def train_toy(data: Sequence[Any], folder: str, *, config: ToyConfig, **more: Any) -> Result:
    checkpoint.save(Toy(config), Path(folder) / "best", card="# Toy\n", data_digests=more["data_digests"])
    return Result(len(data), "finished", 1.0, 1, [])


def installed(folder: Path, **points: str) -> None:
    """What pip would leave of a distribution `toys` that has these entry points."""
    about = folder / "toys-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    lines = [f"[paraform.{group}]\n{lines}\n" for group, lines in points.items()]
    (about / "entry_points.txt").write_text("".join(lines))


def test_a_new_system_costs_a_folder_a_trainer_and_an_entry_point(
    tmp_path: Path, question_pairs: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    """Of another distribution: trained, loaded, used and refused like ours, by nothing but its entry point."""
    trainer = Trainer(train_toy, ToyConfig, {"usual": ToyConfig}, TrainingConfig(), "pairs", "others", "{:.1f}", "Toy.")
    module = types.ModuleType("toys")
    vars(module).update(Toy=Toy, TRAINER=trainer, TOY=System("toys:Toy", "toys:TRAINER", "train a toy"))
    monkeypatch.setitem(sys.modules, "toys", module)
    installed(tmp_path / "site", systems="toy = toys:TOY")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert "train toy  " in command("--help").out and "train a toy\n" in command("train", "--help").out
    run = tmp_path / "run"
    (tmp_path / "near.txt").write_text("a sample\n")
    done = command("train", "toy", "--data", question_pairs, "--out", run, "--config.width", 3, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["step"] == 300
    embedded = command("embed", "four", "--model", run, "--json", "--device", "cpu")
    assert json.loads(embedded.out)["vectors"] == [[4.0, 4.0, 4.0]]
    given = ("--model", run, "--device", "cpu")
    assert command("sample", "--num", 2, *given).out == "a sample\na sample\n"
    assert (
        command("sample", "--num", 1, "--near", tmp_path / "near.txt", *given).out == "a sample\n    1.00  a sample\n"
    )
    assert command("interpolate", "a b", "c d", "--steps", 3, *given).out == "0.00  a b\n0.50  between\n1.00  c d\n"
    assert command("reconstruct", "a b", *given).out == "A B\n"
    assert "has 6 words; expected at most 5" in command("reconstruct", "a " * 6, *given).err
    measured = command("evaluate", "latent", "--data", tmp_path / "near.txt", *given)
    assert measured.status == 2 and "a toy; expected a latent-variable model that tells its densities" in measured.err
    refused = command("paraphrase", "a b", "--like", "c d", "--model", run, "--device", "cpu")
    assert refused.status == 2 and "a toy; expected a model that paraphrases" in refused.err


def test_a_command_of_another_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    site = tmp_path / "site"
    installed(site, commands="greet = greetings:GREET\nevaluate mine = greetings:GREET\nbroken = greetings:NONE")
    (site / "greetings.py").write_text(
        '"""Greet.\n\nExample:\n  paraform greet Ann\n"""\nfrom paraform.cli import Command\n'
        'GREET = Command("greetings", "say hello")\n'
        "def add_arguments(parser, given):\n    parser.add_argument('name', type=str)\n"
        "def run(options):\n    print(f'Hello, {options.name}')\n    return 0\n"
    )
    monkeypatch.syspath_prepend(str(site))
    assert command("greet", "Ann").out == "Hello, Ann\n"
    assert command("evaluate", "mine", "Ann").out == "Hello, Ann\n"
    assert "usage: paraform greet" in command("greet", "--help").out
    overview = command("--help").out
    assert re.search(r"  greet +say hello\n", overview) and re.search(r"  broken +'broken' of toys cannot be", overview)
    refused = command("broken")
    assert refused.status == 2
    assert refused.err.startswith("paraform: error: 'broken' of toys cannot be imported: AttributeError: ")


def test_what_is_in_the_laboratory_is_named_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    monkeypatch.setattr("paraform.extensions.entry_points", lambda group: [])
    for given in (["train", "scpn"], ["reproduce", "crl/table2"]):
        done = command(*given)
        assert done.status == 2
        assert done.err.endswith("is in paraform-papers, which is not installed: pip install paraform-papers\n")
    checkpoint.save(Toy(ToyConfig()), tmp_path / "toy")
    stored = manifest.read(tmp_path / "toy")
    manifest.commit(tmp_path / "toy", dataclasses.replace(stored, system="sgcp"), {})
    with pytest.raises(
        InputError, match=r"paraform\.json: system 'sgcp' is in paraform-papers, which is not installed"
    ):
        checkpoint.load(tmp_path / "toy")
    with pytest.raises(InputError, match=r"system 'sgpc'; expected one of disentangled, exemplar, judge, latent"):
        system_named("sgpc")
    for name in ("ScpnParaphraser", "train_sgcp"):
        with pytest.raises(ImportError, match=rf"^paraform\.{name} is paraform_papers\.{name} now: pip install"):
            getattr(paraform, name)


def test_every_system_has_its_class_its_trainer_and_its_command() -> None:
    assert set(ELSEWHERE) <= set(system_names())  # `make` installs the laboratory too
    for name in system_names():
        system = system_named(name)
        trainer = named_by(system.trainer)
        model = named_by(system.model)
        assert model.system == name and model.config_class is trainer.config
        assert cli.command_entry(f"train {name}") == ("paraform.cli.train", system.trains)
        for preset in trainer.presets.values():
            assert isinstance(preset(), trainer.config)


def test_a_model_to_go_on_from_brings_its_fields(
    tiny_run: Path, question_pairs: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    given = ["train", "exemplar", "--data", question_pairs, "--device", "cpu", "--json", "--from"]
    done = command(*given, tiny_run, "--config.epochs", 1, "--out", tmp_path / "run")
    assert done.status == 0, done.err
    made, start = (
        json.loads((folder / "best" / "paraform.json").read_text()) for folder in (tmp_path / "run", tiny_run)
    )
    assert made["config"] == start["config"] | {"epochs": 1}
    for more, expected in (
        ([tiny_run, "--preset", "paper"], "--preset paper with --from"),
        (["minilm"], "--from minilm: an encoder; expected one trained by this"),
        (["nothing"], "nothing: no such model"),
        ([tiny_run, "--config.word_width", 20], "config.word_width is 20, and 16 in the model to start from"),
    ):
        done = command(*given, *more, "--out", tmp_path / "refused")
        assert done.status == 2 and expected in done.err and len(done.err.splitlines()) == 1, done.err
