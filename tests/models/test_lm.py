"""A language model that paraphrases: against transformers' own likelihoods and outputs, peft's adapters, hand-made
prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_lm import new_lm, write_lm
from transformers import AutoModelForCausalLM

import paraform
from paraform import checkpoint
from paraform.encoders import bfloat16_products
from paraform.encoders.torch_settings import PRODUCTS
from paraform.models.lm import LMParaphraser, network
from paraform.models.lm.decoding import ALTERNATIVES, LEAST
from paraform.models.lm.draws import Nucleus, uniforms
from paraform.records import InputError, Pair, Sentence
from paraform.trainers.lm import table_of

TEXTS = ["how do i pay ?", "the cat sat on the mat", "Café, <|im_end|> costs 12 € \N{GRINNING FACE}", "it"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LMParaphraser:
    return new_lm(folder)


def prompt_of(model: LMParaphraser, text: str) -> list[int]:
    """The whole prompt, by a tokenizer that reads no marks out of a text."""
    tokenizer = model.prompts.tokenizer
    assert tokenizer.encode_special_tokens  # the text's own letters

    def pieces(said: str) -> list[int]:
        return tokenizer.encode(said, add_special_tokens=False).ids

    return [1, *pieces("user\nRewrite:\n"), *pieces(text), 2, *pieces("\n"), 1, *pieces("assistant\n")]


def nats_of(model: LMParaphraser) -> list[float]:
    return [float(shares.sum()) for shares in model.likelihood(TEXTS, TEXTS[::-1])]


def merged(model: LMParaphraser, folder: Path) -> Any:
    """The base by transformers, with 2·B·A added to the maps of its two upper layers by their names."""
    assert model.adapters is not None
    module: Any = AutoModelForCausalLM.from_pretrained(folder)
    weights = dict(module.named_parameters())
    for name, down, up in zip(model.adapters.shapes, model.adapters.down, model.adapters.up, strict=True):
        weights[f"{name}.weight"].data += 2 * up @ down
    assert {name.split(".")[2] for name in model.adapters.shapes} == {"1", "2"}
    return module.eval()


@torch.no_grad()
def test_likelihoods_are_the_merged_models(model: LMParaphraser, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece's, shared by the characters that it stands for; the end's behind the last."""
    module = merged(model, folder)
    sources, targets = TEXTS, TEXTS[::-1]
    monkeypatch.setattr(network, "SCORED", 3)
    found = {size: model.likelihood(sources, targets, batch_size=size) for size in (1, 64)}
    for at, (source, target) in enumerate(zip(sources, targets, strict=True)):
        encoding = model.prompts.tokenizer.encode(target, add_special_tokens=False)
        read, written = prompt_of(model, source), [*encoding.ids[:19], 2]
        log_probs = module(input_ids=torch.tensor([[*read, *written]])).logits[0].log_softmax(-1)
        nats = [log_probs[len(read) - 1 + place, piece].item() for place, piece in enumerate(written)]
        for shares in (found[1][at], found[64][at]):
            assert shares.shape == (len(target) + 1,) and shares[-1] == pytest.approx(nats[-1], abs=1e-4)
            assert shares.sum() == pytest.approx(sum(nats), abs=1e-3)
            assert shares[slice(*encoding.offsets[0])].sum() == pytest.approx(nats[0], abs=1e-4)


def test_a_prompt_is_read_once_for_all_its_targets(model: LMParaphraser, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each target is as likely as by itself, whatever the order and however many are read at once."""
    sources, targets = [TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[0], TEXTS[1]], [*TEXTS, TEXTS[1]]
    alone = [model.likelihood([source], [target])[0] for source, target in zip(sources, targets, strict=True)]
    read: list[int] = []
    begin = model.network.begin

    def counted(prompts: Any) -> Any:
        read.append(len(prompts.words_BT))
        return begin(prompts)

    monkeypatch.setattr(model.network, "begin", counted)
    for size, prompts in ((64, [2]), (2, [1, 2, 1]), (1, [1] * 5)):
        read.clear()
        for one, other in zip(model.likelihood(sources, targets, batch_size=size), alone, strict=True):
            assert one == pytest.approx(other, abs=1e-4)
        assert read == prompts
    assert model.likelihood([], []) == []


@pytest.mark.parametrize("how", [{}, {"beam": 3}])
def test_outputs_are_transformers(model: LMParaphraser, folder: Path, how: dict[str, Any]) -> None:
    """Whatever stands beside them in a batch; a beam of theirs divides by the same lengths."""
    module = merged(model, folder)
    wanted = []
    for text in TEXTS:
        read = torch.tensor([prompt_of(model, text)])
        out = module.generate(
            read, attention_mask=torch.ones_like(read), max_new_tokens=20, do_sample=False,
            num_beams=how.get("beam", 1), eos_token_id=2, pad_token_id=2, length_penalty=1.0,
        )  # fmt: skip
        wanted.append(model.prompts.text(out[0, read.shape[1] :].tolist()))
    found = model.decode(TEXTS, [""] * len(TEXTS), **how)  # type: ignore[arg-type]
    if how:  # where hypotheses end early theirs stops sooner
        assert sum(one == other for one, other in zip(found, wanted, strict=True)) >= 3
    else:
        assert found == wanted


@torch.no_grad()
def answers(model: LMParaphraser, module: Any, text: str, onto: str, num: int) -> list[str]:
    """Answers to a text by transformers: `onto` up to a piece, the one of another piece that is as likely there, and a
    greedy rest; the piece is behind the first where `onto` is not the text, if there is any such."""
    source, own = ([*model.prompts.tokenizer.encode(one, add_special_tokens=False).ids[:19], 2] for one in (text, onto))
    read, least = prompt_of(model, text), 0
    if own != source:
        while own[least] == source[least]:
            least += 1
        least += 1
    log_probs = module(input_ids=torch.tensor([[*read, *own]])).logits[0, len(read) - 1 : -1].log_softmax(-1)
    others = sorted(
        (-value, at, piece)
        for at, row in enumerate(log_probs.tolist())
        for piece, value in enumerate(row)
        if at >= least and piece not in (own[at], 2) and value >= LEAST and value >= sorted(row)[-ALTERNATIVES]
    )
    wanted = []
    for _, at, piece in others[:num]:
        begun = torch.tensor([[*read, *own[:at], piece]])
        rest = module.generate(begun, max_new_tokens=20, do_sample=False, eos_token_id=2, pad_token_id=2)
        said = [*own[:at], piece, *rest[0, begun.shape[1] :].tolist()][:19]
        wanted.append(model.prompts.text(said[: said.index(2)] if 2 in said else said))
    return list(dict.fromkeys(wanted))


def test_answers_leave_their_source_where_that_is_likeliest(model: LMParaphraser, folder: Path) -> None:
    """Each is the source up to a piece, the one of another piece that is as likely there, and a greedy rest."""
    module = merged(model, folder)
    found = model.say(TEXTS, num=3, batch_size=7)
    assert found == [answers(model, module, text, text, 3) for text in TEXTS]
    assert sum(map(len, model.say(TEXTS, num=3))) >= 9
    assert model.say(TEXTS[:1], num=3)[0] == model.say(TEXTS, num=3)[0] == model.say(TEXTS[:1], num=9)[0][:3]


def test_answers_are_changed_further_behind_where_they_leave_their_source(model: LMParaphraser, folder: Path) -> None:
    """Whatever stands beside them in a batch; nothing before that place is another, nor is that place itself."""
    module = merged(model, folder)
    onto = ["how may i pay ?", "the cat sat on the hat", "Café, <|im_end|> costs 15 € \N{GRINNING FACE}", "that is it"]
    wanted = [answers(model, module, *pair, 3) for pair in zip(TEXTS, onto, strict=True)]
    for size in (64, 7, 3):
        assert model.say(TEXTS, num=3, onto=onto, batch_size=size) == wanted
    assert model.say(TEXTS[::-1], num=3, onto=onto[::-1]) == wanted[::-1]
    assert sum(map(len, wanted)) >= 6 and wanted != model.say(TEXTS, num=3) and wanted != model.say(onto, num=3)
    kept = [[said.startswith("the cat sat on the ") for said in row[1]] for row in (wanted, model.say(TEXTS, num=3))]
    assert all(kept[0]) and kept[0] and not all(kept[1])


def test_the_source_itself_is_changed_everywhere(model: LMParaphraser) -> None:
    assert model.say(TEXTS, num=3, onto=TEXTS) == model.say(TEXTS, num=3)


def test_where_nothing_stands_behind_the_change_no_answer_is_given(model: LMParaphraser) -> None:
    """The source's first words are left at their end, and nothing at once."""
    assert model.say([TEXTS[0], TEXTS[1]], onto=["how do i", ""]) == [[], []]
    assert model.say([], onto=[]) == []


def test_draws_depend_on_the_text_and_the_seed(model: LMParaphraser) -> None:
    how: Any = {"num": 3, "temperature": 0.8, "top_p": 0.95}
    found = model.say(TEXTS, seed=5, **how)
    assert [model.say([text], seed=5, **how)[0] for text in TEXTS] == found
    assert model.say(TEXTS[::-1], seed=5, batch_size=2, **how)[::-1] == found
    assert model.say(TEXTS, seed=6, **how) != found
    assert [row[:1] for row in model.say(TEXTS, seed=5, **{**how, "num": 1})] == [row[:1] for row in found]


def test_a_nucleus_draws_as_often_as_likely() -> None:
    """From the smallest set of 0.7: of 0.5, 0.3, 0.15 and 0.05 the first two, as 5 to 3."""
    scores = torch.tensor([[0.05, 0.5, 0.15, 0.3]]).log().expand(4000, -1)
    draws = uniforms(["a"] * 4000, range(4000), 1, 0)
    found = Nucleus(draws, temperature=1.0, top_p=0.7)(scores, torch.arange(4000), 0)
    shares = torch.bincount(found, minlength=4) / 4000
    assert shares.tolist() == pytest.approx([0, 5 / 8, 0, 3 / 8], abs=0.03)
    sharp = Nucleus(draws, temperature=0.5, top_p=1.0)(scores, torch.arange(4000), 0)
    squares = torch.tensor([0.05, 0.5, 0.15, 0.3]) ** 2
    assert (torch.bincount(sharp, minlength=4) / 4000).tolist() == pytest.approx(
        (squares / squares.sum()).tolist(), abs=0.03
    )


def test_scores_that_are_no_numbers_are_not_drawn_from() -> None:
    choose = Nucleus(uniforms(["a"], [0], 1, 0), temperature=1.0, top_p=1.0)
    with pytest.raises(InputError, match="not finite"):
        choose(torch.tensor([[0.0, float("nan")]]), torch.tensor([0]), 0)


def test_what_is_trained_says_what_is_merged(folder: Path) -> None:
    """peft's maps beside the base, and the same added to it; only adapters have gradients, and only they are kept."""
    model = new_lm(folder)
    before = nats_of(model)
    network = model.trainable()
    assert nats_of(model) == pytest.approx(before, abs=1e-3)
    assert {name.split(".")[-3] for name, one in network.named_parameters() if one.requires_grad} == {
        "lora_A",
        "lora_B",
    }
    assert {name.split(".")[0] for name in model.state_dict()} == {"adapters"}


def test_training_multiplies_as_the_loop_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In bfloat16 inside `bfloat16_products` where that is asked for; likelihoods and gradients stay float32."""
    monkeypatch.setenv(PRODUCTS, "bfloat16")
    model = new_lm(folder)
    network = model.trainable()
    batch = table_of(model, [Pair(Sentence("how do i pay ?"), Sentence("what do i pay for ?"))], seed=0).batch(
        np.arange(1)
    )
    seen: list[torch.dtype] = []
    for name in ("model.layers.2.mlp.down_proj", "lm_head"):
        network.module.get_submodule(name).register_forward_hook(lambda _, __, out: seen.append(out.dtype))
    exact = network(batch).log_probs_N
    with bfloat16_products(torch.device("cpu")):
        rounded = network(batch).log_probs_N
    assert seen == [torch.float32] * 2 + [torch.bfloat16] * 2 and rounded.dtype == torch.float32
    assert torch.allclose(exact, rounded, atol=0.2)
    rounded.sum().backward()
    assert {one.grad.dtype for one in network.parameters() if one.grad is not None} == {torch.float32}


@pytest.mark.parametrize("rank", [2, 0])
def test_a_checkpoint_says_the_same(folder: Path, tmp_path: Path, rank: int) -> None:
    model = new_lm(folder, rank=rank)
    checkpoint.save(model, tmp_path / "kept")
    again = paraform.load(tmp_path / "kept", device="cpu")
    assert nats_of(again) == pytest.approx(nats_of(model), abs=1e-4)
    size = (tmp_path / "kept" / "model.safetensors").stat().st_size
    assert (size > (folder / "model.safetensors").stat().st_size / 2) == (rank == 0)


def test_adapters_refuse_another_base(folder: Path, tmp_path: Path) -> None:
    checkpoint.save(new_lm(folder), tmp_path / "kept")
    write_lm(folder, seed=1)
    try:
        with pytest.raises(InputError, match="these adapters were trained on"):
            paraform.load(tmp_path / "kept").decode(["how ?"], [""])
    finally:
        write_lm(folder, seed=0)


def test_a_guide_stands_in_the_prompt(folder: Path) -> None:
    model = new_lm(folder, guide="text")
    (alone,), (guided,) = (model.prompts.prompts(["a b"], guides, model.config) for guides in (None, ["c d"]))
    tokenizer = model.prompts.tokenizer
    assert tokenizer.decode(guided.numbers, skip_special_tokens=False) == (
        "<|im_start|>user\nRewrite:\na b<|im_start|>c d<|im_end|>\n<|im_start|>assistant"
    )
    assert model.prompts.prompts(["a b"], [""], model.config)[0] == alone
    assert model.guides(["c d", ""]) == ["c d", ""]
    assert new_lm(folder, guide="tags").guides(["How are you?", ""]) == ["WRB VBP PRP .", ""]
    assert str(new_lm(folder, guide="template", height=3).guides(["How are you?"])).startswith(
        "['(ROOT (SBARQ (WHADVP)"
    )
    long = model.prompts.prompts(["a " * 200], ["c d"], model.config)[0]
    assert long.cut and len(long.numbers) + 1 == model.config.max_pieces


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda model: model.decode(["a"], ["b", "c"]), "1 sources, 2 exemplars"),
        (lambda model: model.decode([" "], [""]), "source 1 is empty"),
        (lambda model: model.say(["a"], num=0), "num 0"),
        (lambda model: model.say(["a"], beam=2), "leave beam out"),
        (lambda model: model.say(["a", "b"], onto=["c"]), "2 sources, onto 1; expected one each"),
        (lambda model: model.say(["a"], onto=["b", "c"]), "1 sources, onto 2; expected one each"),
        (lambda model: model.say(["a"], onto="b"), "a string where a list"),
        (lambda model: model.say(["a"], onto=[5]), "text 1"),
        (lambda model: model.say(["a"], onto=["b"], temperature=0.5), "onto with a temperature"),
        (lambda model: model.say(["a"], num=10_000), "num 10000; expected 1 to 1,000"),
        (lambda model: model.say(["a"], top_p=0.5), "top_p 0.5 at temperature 0"),
        (lambda model: model.say(["a"], temperature=1, top_p=0), "top_p 0; expected above 0"),
        (lambda model: model.exemplars(["a"], ["b"]), "without a guide"),
        (lambda model: new_lm(Path(model.config.base), layers=9), "layers 9; expected at most the 3"),
    ],
)
def test_bad_input(model: LMParaphraser, ask: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask(model)
