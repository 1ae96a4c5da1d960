"""A seq2seq of the user's own from Python and by the command line: pairs, a model's folder, and a folder to fill."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from stopped import goes_on_to_the_same_weights
from tiny_seq2seq import KINDS, new_model, write_seq2seq
from transformers import AutoConfig, AutoModelForSeq2SeqLM, BertConfig, BertModel, EncoderDecoderConfig

import paraform
from paraform import checkpoint
from paraform.encoders.folder import ModelFolder
from paraform.encoders.seq2seq import load_seq2seq
from paraform.encoders.transformers_modules import quiet
from paraform.evaluation.bleu import bleu
from paraform.models.disentangled.table import trees_of
from paraform.models.seq2seq import Seq2SeqConfig
from paraform.models.seq2seq.batches import pair_table, parts_of
from paraform.records import InputError, Pair, Sentence
from paraform.syntax.trees import below_one_root, template
from paraform.trainers import seq2seq
from paraform.trainers.seq2seq import BY_BLEU, train_seq2seq
from paraform.training import TrainingConfig

SMALL: dict[str, Any] = {
    "max_pieces": 200, "max_written": 60, "batch_size": 32, "epochs": 2, "warmup": 2, "learning_rate": 1e-2,
    "parser": "syntax", "accumulation": 2,
}  # fmt: skip
LOOP = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:64]))


@pytest.fixture(scope="module")
def folders(pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    texts = [side.text for pair in pairs for side in (pair.source, pair.target)]
    place = tmp_path_factory.mktemp("models")
    return {kind: write_seq2seq(kind, place / kind, texts=texts) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    kind: str,
    pairs: list[Pair],
    folders: dict[str, Path],
    tmp_path: Path,
    own_cache: None,
) -> None:
    """Stopped in the second epoch; the model's own dropout is drawn as if it had not been."""
    config = Seq2SeqConfig(**SMALL)

    def train(name: str, *, resume: bool = False, model: Path | None = None) -> Any:
        return train_seq2seq(
            pairs, tmp_path / name, model=model or folders[kind], validation=pairs[:9], config=config, loop=LOOP,
            validation_rows=3, resume=resume,
        )  # fmt: skip

    def from_others() -> None:
        for part, other in others(folders[kind], tmp_path):
            with pytest.raises(InputError, match=rf"the data changed: {part} was '.*' when the run began"):
                train("stopped", resume=True, model=other)

    whole = goes_on_to_the_same_weights(train, seq2seq, tmp_path, at=lambda steps: steps // 2, between=from_others)
    assert whole.step == 2 * (len(pairs) // 32)


def others(folder: Path, place: Path) -> Iterator[tuple[str, Path]]:
    """Folders that differ from it in one file each: the file's name in words, and the folder."""
    made = shutil.copytree(folder, place / "weights")
    weights = {name: tensor + 1 for name, tensor in load_file(made / "model.safetensors").items()}
    save_file(weights, made / "model.safetensors", metadata={"format": "pt"})
    yield "model", made
    for name, part, old, new in (
        ("config.json", "config", r'"(dropout|dropout_rate)": 0\.1', r'"\1": 0.3'),
        ("tokenizer.json", "tokenizer", '"single_word": ?false', '"single_word": true'),
    ):
        made = shutil.copytree(folder, place / part)
        (made / name).write_text(re.sub(old, new, (made / name).read_text(), count=1))
        yield f"model's {part}", made


def test_validation_by_a_loop(pairs: list[Pair], folders: dict[str, Path], tmp_path: Path, own_cache: None) -> None:
    """Nats a piece of all pairs at once; BLEU of the first rows, each in its target's tree, cut; what was not said."""
    config = Seq2SeqConfig(**{**SMALL, "epochs": 1})
    found = train_seq2seq(
        pairs,
        tmp_path / "run",
        model=folders["bart"],
        validation=pairs[:9],
        config=config,
        loop=LOOP,
        validation_rows=4,
    )
    scores = [record["validation"] for record in found.history if "validation" in record][-1]
    model = checkpoint.load(tmp_path / "run" / "last", device="cpu")
    trees = trees_of(pairs[:9], parser="syntax")
    (batch,) = parts_of(pair_table(pairs[:9], trees, config, model.pieces), 99)
    assert scores["nll"] == pytest.approx(-model.network(batch).mean().item(), rel=1e-5)
    some = pairs[:4]
    forms = [template(below_one_root(trees[pair.target.text]), config.height) for pair in some]
    said = model.said([pair.source.text for pair in some], forms)
    outputs = [one.text for one in said]
    assert scores["bleu"] == pytest.approx(bleu(outputs, [pair.target.text for pair in some]).value)
    assert scores["unsaid"] == sum(not one.whole or not one.text for one in said) / 4


def test_the_command_trains_writes_and_measures(
    question_pairs: Path, folders: dict[str, Path], tmp_path: Path, command: Callable[..., Any], own_cache: None
) -> None:
    """By an exemplar at any height and by a tree; and `evaluate generation` as of every other."""
    run = tmp_path / "run"
    model_folder = shutil.copytree(folders["bart"], tmp_path / "bart")
    given = [word for name, value in SMALL.items() for word in (f"--config.{name}", value)]
    train = ["train", "seq2seq", "--data", question_pairs, "--model", model_folder, "--out", run, "--device", "cpu"]
    done = command(*train, "--json", *given)
    assert done.status == 0, done.err
    assert json.loads(done.out)["metric"] == "bleu"
    card = (run / "best" / "README.md").read_text(encoding="utf-8")
    assert "model: `" in card and "written_tree" not in card
    again = command(*train, "--resume", *given)
    assert again.status == 0 and "the run was over" in again.err
    shutil.rmtree(model_folder)  # what is trained stands by itself
    model = paraform.load(run, device="cpu")
    say = ["paraphrase", "how do i learn chess ?", "is it hard ?", "--model", run, "--device", "cpu", "--json"]
    like = "Should anyone learn poker this year?"
    for height in ("full", "best", 3):
        named = json.loads(command(*say, "--like", like, "--height", height).out)["paraphrases"]
        assert [row["paraphrase"] for row in named] == model.decode_at(say[1:3], [like] * 2, height)
    named = json.loads(command(*say, "--like", like, "--beam", 2).out)["paraphrases"]
    assert [row["paraphrase"] for row in named] == model.decode(say[1:3], [like] * 2, beam=2)
    tree = str(model.parser([like.split()])[0])
    assert command(*say, "--template", tree).status == 0
    for wrong, message in (
        (["--template", "(ROOT (NOPE (NP) (VP)))"], "label 'NOPE' in no tree of training; the nearest is"),
        (["--like", like, "--height", 99], "height 99 is beyond the tree of exemplar 1, which has"),
        ([], "a seq2seq model needs a form"),
    ):
        refused = command(*say[:-1], *wrong)
        assert refused.status == 2 and message in refused.err and len(refused.err.splitlines()) == 1, refused.err
    (tmp_path / "test.tsv").write_text("".join(question_pairs.read_text(encoding="utf-8").splitlines(True)[:30]))
    measured = command(
        "evaluate", "generation", "--model", run, "--data", tmp_path / "test.tsv", "--device", "cpu", "--json",
        "--resamples", 0, "--beam", 2,
    )  # fmt: skip
    assert measured.status == 0, measured.err
    scores = json.loads(measured.out)["scores"]
    (score,) = (
        s for s in scores if (s["name"], s["system"], s["protocol"], s["subset"]) == ("BLEU", str(run), "first", "all")
    )
    assert "decode:beam 2" in score["signature"] and "height:5" in score["signature"]
    refused = command("train", "seq2seq", "--data", question_pairs, "--out", run)
    assert refused.status == 2 and "--model" in refused.err and len(refused.err.splitlines()) == 1


CONFIGS: dict[str, dict[str, Any]] = {
    "code of its own": {"model_type": "mine", "auto_map": {"AutoModelForSeq2SeqLM": "code.Mine"}},
    "attention elsewhere": {"attn_implementation": "someone/kernel"},
    "no beginning": {"decoder_start_token_id": None},
    "many rows": {"vocab_size": 10**12},
    "many layers": {"decoder_layers": 10**12},
    "many labels": {"num_labels": 10**12},
}


def damaged(folder: Path, place: Path, how: str) -> Path:
    """A copy of a model's folder that does not serve, in one way or another."""
    made = shutil.copytree(folder, place / how.replace(" ", "-"))
    config = json.loads((made / "config.json").read_text())
    weights = load_file(made / "model.safetensors")
    if how == "no tokenizer":
        (made / "tokenizer.json").unlink()
    elif how == "pickled weights alone":
        (made / "model.safetensors").rename(made / "pytorch_model.bin")
    elif how == "no config":
        (made / "config.json").unlink()
    elif how in CONFIGS:
        config |= CONFIGS[how]
        (made / "code.py").write_text("raise SystemExit('was run')\n")
        (made / "config.json").write_text(json.dumps(config))
    elif how == "an encoder":
        (made / "model.safetensors").unlink()
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
        with quiet():
            BertModel(BertConfig(**sizes)).save_pretrained(made)
    elif how == "a weight too few":
        del weights["model.decoder.layers.0.fc1.weight"]
        save_file(weights, made / "model.safetensors", metadata={"format": "pt"})
    elif how == "not finite":
        weights["model.decoder.layers.0.fc1.weight"][0, 0] = torch.nan
        save_file(weights, made / "model.safetensors", metadata={"format": "pt"})
    elif how == "a buffer not finite":
        weights["final_logits_bias"] = torch.full((1, config["vocab_size"]), torch.inf)
        save_file(weights, made / "model.safetensors", metadata={"format": "pt"})
    elif how == "a link in circles":
        (made / "model.safetensors").unlink()
        (made / "model.safetensors").symlink_to("model.safetensors")
    elif how == "an adapter":
        (made / "adapter_config.json").write_text("{}")
    return made


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no tokenizer", "tokenizer.json: no such file; expected a fast tokenizer or a SentencePiece model"),
        ("pickled weights alone", "weights in pytorch_model.bin only; expected model.safetensors"),
        ("no config", "config.json: .*No such file"),
        ("code of its own", "config.json: "),
        ("attention elsewhere", "attention by 'someone/kernel'; expected none, or transformers' own"),
        ("no beginning", "no decoder_start_token_id; expected the piece that an output begins with"),
        ("an encoder", "a bert, which has no encoder with a decoder; expected a seq2seq model"),
        ("a weight too few", "weights lack 'model.decoder.layers.0.fc1.weight' and 0 more"),
        ("not finite", "'model.decoder.layers.0.fc1.weight' holds NaN or infinity"),
        ("a buffer not finite", "'final_logits_bias' holds NaN or infinity"),
        ("many rows", "config.json: it makes weights of other shapes than the file has"),
        ("many layers", "config.json: decoder_layers 1,000,000,000,000; expected at most 1,000"),
        ("many labels", "config.json: num_labels 1,000,000,000,000; expected at most 100,000"),
        ("a link in circles", "no weights; expected model.safetensors"),
        ("an adapter", "an adapter; merge it into its encoder first"),
    ],
)
def test_folders_that_do_not_serve(
    how: str,
    message: str,
    pairs: list[Pair],
    folders: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which is told before the pairs are parsed."""
    monkeypatch.setattr(seq2seq, "trees_to_train_on", pytest.fail)
    made = damaged(folders["bart"], tmp_path, how)
    with pytest.raises(InputError, match=message) as caught:
        train_seq2seq(
            pairs, tmp_path / "run", model=made, validation=pairs[:3], config=Seq2SeqConfig(**SMALL), loop=LOOP
        )
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("pegasus", ""),
        ("marian", ""),
        ("encoder-decoder", "encoder-decoder: its embeddings do not grow; expected such as BART"),
        ("switch_transformers", "config.json: .*router_logits.*; expected such as BART's"),
    ],
)
def test_other_architectures(
    kind: str, message: str, pairs: list[Pair], folders: dict[str, Path], tmp_path: Path, own_cache: None
) -> None:
    """What transformers has of BART's and T5's kind serves; what is asked in another way is refused beforehand."""
    given = json.loads((folders["bart"] / "config.json").read_text())
    sizes = {
        name: given[name] for name in given if re.fullmatch(r"(en|de)coder_.*|.*_id|vocab_size|d_model|max_.*", name)
    }
    if kind == "encoder-decoder":
        half = BertConfig(vocab_size=given["vocab_size"], hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
        config = EncoderDecoderConfig.from_encoder_decoder_configs(half, half)
    elif kind == "switch_transformers":
        ends = {"decoder_start_token_id": 1, "pad_token_id": 1, "eos_token_id": 2}
        layers = {"num_layers": 1, "num_heads": 2, "num_experts": 2, "d_model": 16, "d_kv": 8, "d_ff": 16}
        config = AutoConfig.for_model(kind, vocab_size=given["vocab_size"], **layers, **ends)
    else:
        config = AutoConfig.for_model(kind, **sizes)
    with quiet():
        AutoModelForSeq2SeqLM.from_config(config).save_pretrained(tmp_path / "it")
    shutil.copy(folders["bart"] / "tokenizer.json", tmp_path / "it")
    trees, small = trees_of(pairs[:8], parser="syntax"), Seq2SeqConfig(**SMALL)
    if message:
        with pytest.raises(InputError, match=message):
            new_model(pairs[:8], trees, small, tmp_path / "it")
        return
    model = new_model(pairs[:8], trees, small, tmp_path / "it")
    checkpoint.save(model, tmp_path / "kept", card="a test")
    again = checkpoint.load(tmp_path / "kept", device="cpu")
    texts = [pair.source.text for pair in pairs[:4]]
    assert again.decode(texts, texts[::-1], beam=2) == model.decode(texts, texts[::-1], beam=2)


def test_an_auto_map_beside_transformers_own_architecture_is_not_run(
    pairs: list[Pair], folders: dict[str, Path], tmp_path: Path, own_cache: None
) -> None:
    """As the encoders' folders have it: transformers takes its own code, and the checkpoint names none."""
    made = shutil.copytree(folders["bart"], tmp_path / "bart")
    config = json.loads((made / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSeq2SeqLM": "code.Mine"}
    (made / "config.json").write_text(json.dumps(config))
    (made / "code.py").write_text("raise SystemExit('was run')\n")
    model = new_model(pairs, trees_of(pairs, parser="syntax"), Seq2SeqConfig(**SMALL), made)
    checkpoint.save(model, tmp_path / "it", card="a test")
    assert checkpoint.load(tmp_path / "it", device="cpu").config == model.config


def test_weights_that_the_config_does_not_ask_for_are_told(
    folders: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = shutil.copytree(folders["bart"], tmp_path / "bart")
    config = json.loads((made / "config.json").read_text())
    (made / "config.json").write_text(json.dumps({**config, "decoder_layers": 1}))
    load_seq2seq(ModelFolder(made))
    assert "26 weights are none of the model that config.json describes, such as 'model.decoder." in caplog.text
    caplog.clear()
    for folder in folders.values():
        load_seq2seq(ModelFolder(folder))
    assert not caplog.text


def test_what_cannot_be_trained(pairs: list[Pair], folders: dict[str, Path], tmp_path: Path, own_cache: None) -> None:
    config = Seq2SeqConfig(**SMALL)
    place: dict[str, Any] = {"folder": tmp_path / "run", "model": folders["bart"]}
    for loop in (TrainingConfig(metric="bleu"), replace(BY_BLEU, metric="nll")):
        with pytest.raises(InputError, match=r"expected bleu \(higher is better\), nll \(lower is better\)"):
            train_seq2seq([], **place, loop=loop)
    for name, message in (
        (tmp_path / "nowhere", "nowhere: no such folder; expected one with a Hugging Face seq2seq model"),
        ("facebook/bart-base", "facebook/bart-base: no such folder"),
        (5, "a int where the path of a file or folder is expected"),
    ):
        with pytest.raises(InputError, match=message):
            train_seq2seq(pairs, tmp_path / "run", model=name, config=config)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no parser 'nowhere'"):
        train_seq2seq(pairs, **place, config=replace(config, parser="nowhere"))
    with pytest.raises(InputError, match="64 pairs; expected at least one batch of 65"):
        train_seq2seq(pairs, **place, validation=pairs[:3], config=replace(config, batch_size=65))
    with pytest.raises(InputError, match="bart: max_pieces 300; the model takes 256 pieces at most"):
        train_seq2seq(pairs, **place, validation=pairs[:3], config=replace(config, max_pieces=300))
    wrong = Pair(
        Sentence("we don't go", tree="(ROOT (S (NP (PRP we)) (VP (VBP dont) (VP (VB go)))))"), Sentence("stop")
    )
    with pytest.raises(InputError, match="a tree of other words than its sentence"):
        train_seq2seq([*pairs, wrong], **place, validation=pairs[:3], config=config)
    assert not (tmp_path / "run").exists()
