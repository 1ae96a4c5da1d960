"""ParaBART from Python and by the command line: pairs and a folder are enough."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BartConfig, BartModel, BertConfig, BertModel

import paraform
from paraform.cli import main
from paraform.models.disentangled import DisentangledConfig
from paraform.models.disentangled.pairs import pair_batches
from paraform.models.disentangled.table import pair_table, trees_of
from paraform.records import InputError, Origin, Pair, Sentence
from paraform.syntax.trees import Tree
from paraform.trainers.disentangled import BY_MRR, eraser, new_model, train_disentangled, validator
from paraform.trainers.held_out import hold_out_pairs

LOOP = replace(BY_MRR, tensorboard=False, device="cpu", evaluate_every=4, log_every=2)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:48]))


@pytest.fixture(scope="module")
def encoder(pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny BERT of the pairs' words, as Hugging Face writes it."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = words_of(pairs)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2}
    size = tokenizer.get_vocab_size()
    BertModel(BertConfig(vocab_size=size, max_position_embeddings=64, **sizes)).save_pretrained(folder)
    return folder


def words_of(pairs: list[Pair]) -> Tokenizer:
    """A tokenizer of the pairs' words."""
    texts = [side.text.lower().replace("?", " ?") for pair in pairs for side in (pair.source, pair.target)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = sorted({word for text in texts for word in text.split()})
    numbers = {word: row for row, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(special)
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


@pytest.fixture
def config(encoder: Path) -> DisentangledConfig:
    return replace(DisentangledConfig.compact_paper(), encoder=str(encoder), batch_size=8, epochs=2)


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    pairs: list[Pair], config: DisentangledConfig, tmp_path: Path, own_cache: None
) -> None:
    """With contrast, both kinds of hard negatives and the distance; half the epochs, then the rest."""
    more = {"contrast_weight": 0.5, "form_negatives": 1, "role_negatives": 1, "distance_weight": 0.5, "layers": 1}
    config = replace(config, **more, erased="form")
    whole = train_disentangled(pairs, tmp_path / "whole", config=config, loop=LOOP)
    assert whole.ended == "finished" and whole.step == 2 * (len(hold_out_pairs(pairs, seed=0)[0]) // 8)
    terms = whole.history[0]["train"]
    assert set(terms) >= {"loss", "generation", "adversary", "contrast", "distance"}

    def stop(_: object) -> dict[str, float]:
        raise KeyError("as if it were killed at its first validation")

    loop = replace(LOOP, checkpoint_every=3)
    with pytest.raises(KeyError):
        train_disentangled(pairs, tmp_path / "part", config=config, loop=loop, development=stop)
    again = train_disentangled(pairs, tmp_path / "part", config=config, loop=loop, resume=True)
    assert again.step == whole.step
    one, other = paraform.load(str(tmp_path / "whole" / "last")), paraform.load(str(tmp_path / "part" / "last"))
    for name, tensor in one.state_dict().items():
        torch.testing.assert_close(other.state_dict()[name], tensor, atol=1e-6, rtol=1e-5)
    assert one.network.semantic.config.num_hidden_layers == 1
    assert not torch.equal(one.erasure.weight, torch.eye(16))
    prior_C = one.adversary.prior_C
    assert float(prior_C.sum()) == pytest.approx(1) and int(prior_C.argmax()) == one.symbols.constituents.index("NP")


def test_validation_by_a_loop(pairs: list[Pair], config: DisentangledConfig, tmp_path: Path, own_cache: None) -> None:
    """MRR: the place of each target among all targets but the others of its cluster; `nll` of every batch."""

    def development(model: object) -> dict[str, float]:
        assert not torch.is_grad_enabled()
        return {"development": 7.0, "part": 5.0}

    found = train_disentangled(
        pairs, tmp_path / "run", config=config, loop=LOOP, validation=pairs[:8], development=development
    )
    scores = [record["validation"] for record in found.history if "validation" in record][-1]
    assert (scores["development"], scores["part"]) == (7.0, 5.0) and found.best_score is not None
    model = paraform.load(str(tmp_path / "run" / "last"), device="cpu")
    sources, targets = model.embed([p.source.text for p in pairs[:8]]), model.embed([p.target.text for p in pairs[:8]])
    inverse = []
    for row, pair in enumerate(pairs[:8]):
        others = [n for n, other in enumerate(pairs[:8]) if n == row or other.cluster != pair.cluster]
        ahead = sum(float(sources[row] @ targets[n]) > float(sources[row] @ targets[row]) for n in others)
        inverse.append(1 / (1 + ahead))
    assert scores["mrr"] == pytest.approx(np.mean(inverse), abs=1e-6)
    trees = trees_of(pairs[:8])
    table = pair_table(pairs[:8], trees, model.config, model.tokenizer, model.symbols)
    with torch.no_grad():
        written = model.network(pair_batches(table, batch_size=8, seed=9)[0](0)).written
    nll = sum(one.nll for one in written) / sum(one.pieces for one in written)
    assert scores["nll"] == pytest.approx(float(nll), rel=1e-5)


def test_the_command_trains_embeds_and_writes(
    question_pairs: Path, encoder: Path, tmp_path: Path, own_cache: None, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(question_pairs.read_text(encoding="utf-8").splitlines(True)[:48]), encoding="utf-8")
    run = str(tmp_path / "run")
    more = tmp_path / "more.tsv"
    more.write_text("i like tea\tTea is what I like.\nwe like tea\tTea is what we like.\n", encoding="utf-8")
    unseen = tmp_path / "sts.tsv"
    unseen.write_text("sentence1\tsentence2\tscore\ntea is what i like\tno tea\t1.0\n", encoding="utf-8")
    given = [
        "train",
        "disentangled",
        "--data",
        str(data),
        str(more),
        "--shares",
        "3",
        "1",
        "--out",
        run,
        "--device",
        "cpu",
        "--config.epochs",
        "1",
        "--preset",
        "compact-paper",
    ]
    (tmp_path / "paws").mkdir()
    rows = [f"{n}\t{n} teas here\there {n} teas\t{label}\n" for n in range(9) for label in (0, 1)]
    seen = data.read_text(encoding="utf-8").split("\t")[0]
    rows.append(f"9\t{seen}\tno tea\t1\n")
    (tmp_path / "paws" / "dev.tsv").write_text("id\tsentence1\tsentence2\tlabel\n" + "".join(rows))
    given += ["--against", str(unseen), "--development", str(tmp_path)]
    assert main([*given, "--config.encoder", str(encoder), "--config.batch_size", "16", "--json"]) == 0
    shown = capsys.readouterr()
    left_out = 1 + sum(seen in line.rstrip("\n").split("\t") for line in data.read_text(encoding="utf-8").splitlines())
    assert left_out > 1 and f"{left_out} of 50 pairs have a sentence of the evaluation sets" in shown.err
    printed = json.loads(shown.out)
    assert (printed["model"], printed["metric"], printed["ended"]) == (f"{run}/best", "development", "finished")
    assert main(["embed", "is chess something to learn ?", "--model", run, "--device", "cpu", "--json"]) == 0
    assert np.isclose(np.linalg.norm(json.loads(capsys.readouterr().out)["vectors"][0]), 1)
    like = ["--like", "why does nobody play golf ?", "--model", run, "--device", "cpu", "--json"]
    assert main(["paraphrase", "is chess something to learn ?", *like]) == 0
    assert len(json.loads(capsys.readouterr().out)["paraphrases"]) == 1
    templates = ["(SBARQ (WHADVP) (SQ) (. ?))", "(SQ (VBZ is) (NP))"]
    assert main(["paraphrase", "is chess something to learn ?", "--each", "--template", *templates, *like[2:]]) == 0
    shown = json.loads(capsys.readouterr().out)["paraphrases"]
    assert [one["exemplar"] for one in shown] == templates
    for more, complaint in (
        ([], "needs a form"),
        (["--template", "(S (NP)"], "template 1: character 7: the end, with 1 brackets open"),
        (["--template", "(S (WEIRD))"], "label 'WEIRD' in no tree of training; the nearest is '"),
        (["--template", "(S (NP))", "--like", "is it so ?"], "--like and --template; expected one of them"),
    ):
        assert main(["paraphrase", "is chess something to learn ?", *more, *like[2:4], "--device", "cpu"]) == 2
        assert complaint in capsys.readouterr().err
    assert main(["paraphrase", "is chess something to learn ?", "--template", "(S (NP) (VP))"]) == 2
    assert "--template expects a model that writes by trees" in capsys.readouterr().err


def test_the_decoder_of_a_seq2seq_folder_is_what_ours_starts_from(pairs: list[Pair], tmp_path: Path) -> None:
    tokenizer = words_of(pairs)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 64}
    bart = BartModel(BartConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **sizes, **heads))
    bart.save_pretrained(tmp_path)
    trees = {side.text: Tree.parse("(S (NP (NN it)))") for pair in pairs for side in (pair.source, pair.target)}
    config = replace(DisentangledConfig.paper(), encoder=str(tmp_path))
    network = new_model(pairs, trees, config).network
    theirs = bart.decoder.layers[0]
    assert torch.equal(network.decoder.linear1.weight, theirs.fc1.weight)
    assert torch.equal(network.decoder.multihead_attn.out_proj.weight, theirs.encoder_attn.out_proj.weight)
    assert torch.equal(network.output.weight, bart.shared.weight)


def test_embeddings_may_stay_as_they_came(
    pairs: list[Pair], config: DisentangledConfig, encoder: Path, tmp_path: Path, own_cache: None
) -> None:
    came = BertModel.from_pretrained(encoder).state_dict()
    for frozen in (True, False):
        given = replace(config, freeze_embeddings=frozen, epochs=1, learning_rate=1e-2)
        train_disentangled(pairs, tmp_path / str(frozen), config=given, loop=LOOP)
        own = paraform.load(str(tmp_path / str(frozen)), device="cpu").network.semantic.state_dict()
        for name in ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"):
            assert torch.equal(own[name], came[name]) == frozen
        assert not torch.equal(own["encoder.layer.0.output.dense.weight"], came["encoder.layer.0.output.dense.weight"])


def test_vectors_that_are_all_equal_find_nothing(
    pairs: list[Pair], config: DisentangledConfig, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MRR 1 / N, of equal vectors and of NaN: a run is not to be chosen for them."""
    own = [replace(pair, cluster=number) for number, pair in enumerate(pairs[:8])]
    trees = trees_of(own)
    model = new_model(own, trees, replace(config, generation_weight=0.0, contrast_weight=1.0))
    table = pair_table(own, trees, model.config, model.tokenizer, model.symbols)
    for value in (1.0, np.nan):
        monkeypatch.setattr(model, "embed", lambda texts, value=value: np.full((len(texts), 2), value, np.float32))
        assert validator(model, own, table)() == {"mrr": 1 / 8}


@pytest.mark.parametrize("template", ["$A [SEP]", "$A [SEP] [CLS]", "$A"])
def test_a_tokenizer_without_a_special_token_on_either_side(
    template: str, pairs: list[Pair], encoder: Path, tmp_path: Path
) -> None:
    """As T5's, mBART's and GPT-2's: nothing would say where a sentence begins."""
    folder = Path(shutil.copytree(encoder, tmp_path / "it"))
    tokenizer = words_of(pairs)
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = replace(DisentangledConfig(), encoder=str(folder))
    with pytest.raises(InputError, match=f"its tokenizer puts {template.count('[')} special tokens around a text"):
        new_model(pairs, {}, config)
    trees = {side.text: Tree.parse("(S (NP (NN it)))") for pair in pairs for side in (pair.source, pair.target)}
    new_model(pairs, trees, replace(config, generation_weight=0.0, contrast_weight=1.0))


def test_what_cannot_be_trained_on(config: DisentangledConfig, encoder: Path, tmp_path: Path, own_cache: None) -> None:
    two = [Pair(Sentence("a dog ?"), Sentence("is it a dog ?")), Pair(Sentence("a cat ?"), Sentence("is it a cat ?"))]
    with pytest.raises(InputError, match="1 pairs; expected at least one batch of 8"):
        train_disentangled(two, tmp_path / "run", config=config, loop=LOOP)
    with pytest.raises(InputError, match=r"neither a folder nor a hub id|out of reach"):
        train_disentangled(two, tmp_path / "run", config=replace(config, encoder="no/such"), loop=LOOP)
    damaged = Path(shutil.copytree(encoder, tmp_path / "damaged"))
    bert = BertModel.from_pretrained(encoder)
    with torch.no_grad():
        bert.encoder.layer[1].output.dense.bias[3] = torch.nan
    bert.save_pretrained(damaged)
    with pytest.raises(InputError, match=r"'encoder.layer.1.output.dense.bias' holds NaN or infinity"):
        train_disentangled(two, tmp_path / "run", config=replace(config, encoder=str(damaged)), loop=LOOP)
    with pytest.raises(InputError, match="metric 'bleu'"):
        train_disentangled(two, tmp_path / "run", config=config, loop=replace(LOOP, metric="bleu"))
    with pytest.raises(InputError, match="metric 'development'"):
        train_disentangled(two, tmp_path / "run", config=config, loop=replace(LOOP, metric="development"))


def test_a_file_that_is_emptied_has_no_share(pairs: list[Pair], config: DisentangledConfig, tmp_path: Path) -> None:
    """Its only pair is one of the evaluation's."""
    one = Pair(Sentence("a b c"), Sentence("a b d"), origin=Origin("one.tsv", 1))
    with pytest.raises(InputError, match=r"one\.tsv: none of its pairs is left to train on"):
        train_disentangled([*pairs, one], tmp_path / "run", config=config, loop=LOOP, shares=[3, 1], against=["A B C"])


def test_trees_that_came_along_are_taken(tmp_path: Path) -> None:
    """None of a parser that would not make them; one of other words is refused by its line."""
    file = tmp_path / "annotated.jsonl"

    def write(tree: str) -> list[Pair]:
        own = "(ROOT (X (NNS Cats) (VBP see) (-LRB- -LRB-) (RB well) (-RRB- -RRB-) (. .)))"
        row = {"source": {"text": "Cats see (well).", "tree": own}, "target": {"text": "Dogs run.", "tree": tree}}
        file.write_text(json.dumps(row) + "\n")
        return [one for one in paraform.read(file, "jsonl") if isinstance(one, Pair)]

    trees = trees_of(write("(ROOT (Y (NNS Dogs) (VBP run) (. .)))"), parser="no such parser")
    assert [tree.children[0].label for tree in trees.values()] == ["X", "Y"]
    for tree, said in (("(S (NNS Dogs) (VBP ran) (. .))", "'ran', not 'run'"), ("(S (NNS Dogs))", "1 words, not 3")):
        with pytest.raises(InputError, match=rf"annotated\.jsonl:1: a tree of other words than its sentence .{said}.;"):
            trees_of(write(tree))
    with pytest.raises(InputError, match=r"annotated\.jsonl:1: character "):
        trees_of(write("(S (NNS Dogs)"))


def test_an_erasure_by_few_sentences_is_warned_of(
    pairs: list[Pair], config: DisentangledConfig, own_cache: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a model of 16 features: by 31 of them, not by 32."""
    own = pairs[:30]
    trees = trees_of(own)
    model = new_model(own, trees, replace(config, erased="form"))
    texts = list(trees)
    for count, warned in ((32, False), (31, True)):
        caplog.clear()
        eraser(model, trees, texts[:count], seed=0)
        assert ("form is erased by 31 sentences only" in caplog.text) == warned
