"""CRL-EGPG on text: what it was trained on comes back, in the exemplar's form, with names it never saw."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from tiny_exemplar import require_targets

from paraform import encoders
from paraform.batching import SPECIAL, Ragged, Vocabulary, prepare
from paraform.capabilities import ReadsBack
from paraform.encoders import Encoder
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import StyleInput, TripleBatch
from paraform.models.exemplar.inputs import style_text, word_numbers
from paraform.models.exemplar.word_vectors import initialize_words
from paraform.records import InputError
from paraform.training import TrainingConfig, make_accelerator

CONFIG = replace(
    ExemplarConfig.compact(),
    word_vectors="random",
    word_width=32,
    content_width=24,
    decoder_width=48,
    style_width=12,
    max_tokens=12,
    dropout=0.0,
    learning_rate=0.02,
    schedule="constant",
)
WAYS = "What is the best way to get a job?"
HARD = "Is it hard to sleep well?"
WHO = "What did you think of France?"
VERBS = ("learn Java", "cook rice", "buy a car", "lose weight", "write poems")
NAMES = ("Alora", "Brintok", "Celvex", "Dunmara", "Exbolt", "Fimble")
BANK = (WAYS, HARD, WHO)

# (source, exemplar, target): each of five sources in two forms, and names that the vocabulary lacks
TRIPLES = [
    *((f"How can I {verb}?", WAYS, f"What is the best way to {verb}?") for verb in VERBS),
    *((f"How can I {verb}?", HARD, f"Is it hard to {verb}?") for verb in VERBS),
    *((f"Who is {name}?", WHO, f"What do you know of {name}?") for name in NAMES),
]
SOURCES, EXEMPLARS, TARGETS = (list(column) for column in zip(*TRIPLES, strict=True))


@pytest.fixture(scope="module")
def model(minilm: Encoder) -> ExemplarParaphraser:
    """Trained on `TRIPLES` by its own update, until they come back."""
    torch.manual_seed(0)
    words = [prepare(text, CONFIG.max_tokens) for text in (*SOURCES, *TARGETS)]
    vocabulary = Vocabulary.build(words, min_count=3)
    assert "java" in vocabulary.words and "alora" not in vocabulary.words
    model = ExemplarParaphraser(CONFIG, vocabulary, BANK)
    model.encoder = minilm
    beyond: dict[str, int] = {}
    numbers = Ragged.of([vocabulary.encode([word.lower() for word in row], beyond) for row in words])

    def styles(texts: list[str]) -> StyleInput:
        read = [style_text(prepare(text, CONFIG.max_tokens)) for text in texts]
        (states,) = minilm.states(read, layers=[CONFIG.style_layer])
        return StyleInput(*Ragged(states.states_ND.numpy(), states.offsets).padded(np.arange(len(texts))))

    rows = np.arange(len(TRIPLES))
    clusters = torch.tensor([SOURCES.index(source) for source in SOURCES])
    batch = TripleBatch(
        *numbers.padded(rows), *numbers.padded(rows + len(rows)), styles(EXEMPLARS), styles(TARGETS), clusters
    )
    accelerator = make_accelerator(TrainingConfig(device="cpu", tensorboard=False))
    update, _ = make_update(model, CONFIG, accelerator, steps_per_epoch=1)
    for step in range(120):
        if update(batch, step)["nll"] < 0.02:
            break
    return model


@pytest.mark.parametrize("products", ["float32", "bfloat16"])
def test_overfits_its_sentences(products: str, model: ExemplarParaphraser, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", products)
    assert model.decoder_dtype == getattr(torch, products)
    require_targets(model, SOURCES, EXEMPLARS, TARGETS)


def test_a_name_it_never_saw_is_copied(model: ExemplarParaphraser) -> None:
    names = ["Zorblax", "iQuux", "O'Malley-23"]
    said = model.paraphrase([f"who is {name} ?" for name in names], like=[WHO])
    assert said == [f"What do you know of {name}?" for name in names]


def test_sources_and_exemplars_are_paired(model: ExemplarParaphraser) -> None:
    sources, ways, hard = SOURCES[:2], TARGETS[:2], TARGETS[5:7]
    assert model.paraphrase(sources, like=[WAYS]) == ways
    assert model.paraphrase(sources, like=[WAYS, HARD]) == [ways[0], hard[1]]
    assert model.paraphrase(sources, like=[[WAYS, HARD]]) == [[ways[0], hard[0]], [ways[1], hard[1]]]
    assert model.paraphrase(sources, like=[[HARD], [WAYS, HARD]]) == [[hard[0]], [ways[1], hard[1]]]
    every = [[ways[0], hard[0]], [ways[1], hard[1]]]
    assert model.paraphrase(sources, like=[WAYS, HARD], each=True) == every
    assert model.paraphrase([], like=[WAYS]) == [] == model.paraphrase([])
    assert model.paraphrase(sources, like=WAYS) == ways
    assert model.paraphrase(sources[1], like=WAYS) == ways[1] == model.paraphrase(sources[1], like=[WAYS])
    assert model.paraphrase(sources[1], like=[WAYS, HARD], each=True) == [ways[1], hard[1]]
    assert len(model.paraphrase(sources[1], num=2)) == 2 and model.paraphrase("who is he ?", num=1)


def test_without_exemplars_they_come_from_the_bank(model: ExemplarParaphraser) -> None:
    drawn = model.exemplars(SOURCES[:3], num=2, seed=5)
    assert all(len(set(row)) == 2 and set(row) <= set(BANK) for row in drawn)
    assert model.exemplars(SOURCES[:3], num=2, seed=5) == drawn
    assert model.exemplars(SOURCES[2:3], num=2, seed=5) == drawn[2:]  # whatever its neighbours
    assert len({str(model.exemplars(SOURCES, num=1, seed=seed)) for seed in range(4)}) > 1
    said = model.paraphrase(SOURCES[:3], num=2, seed=5)
    assert said == [model.paraphrase([source, source], like=row) for source, row in zip(SOURCES, drawn, strict=False)]
    one = model.paraphrase(SOURCES[:3], seed=5)
    assert all(isinstance(text, str) for text in one)


def test_sampling_by_seed(model: ExemplarParaphraser) -> None:
    options = {"like": EXEMPLARS, "temperature": 3.0}
    once, again, other = (model.paraphrase(SOURCES, **options, seed=seed) for seed in (1, 1, 2))
    assert once == again != other
    assert model.paraphrase(SOURCES, **options, top_p=1e-6) == TARGETS  # only the likeliest word is left
    with pytest.raises(InputError, match="they exclude each other"):
        model.paraphrase(SOURCES, **options, beam=2)
    with pytest.raises(InputError, match=r"top_p 0\.9 at temperature 0"):
        model.paraphrase(SOURCES, EXEMPLARS, top_p=0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sources": ["Why?", " "], "like": [WHO]}, "source 2 is empty"),
        ({"sources": ["Why?"] * 3, "like": [WAYS, HARD, "\n"]}, "exemplar 3 is empty; expected a sentence whose form"),
        ({"sources": ["Why?"], "like": [WHO], "batch_size": 0}, "batch_size 0; expected"),
        ({"sources": ["Why?"], "like": [WHO, WAYS]}, "2 exemplars for 1 sources; expected one for all, one a source"),
        ({"sources": ["Why?", "Who?"], "like": []}, "0 exemplars for 2 sources"),
        ({"sources": " ", "like": WHO}, "source 1 is empty"),
        ({"sources": "Why?", "like": [WHO, WAYS]}, "2 exemplars for 1 sources"),
        ({"sources": ["Why?"], "num": 4}, "num 4; expected 1 to 3"),
        ({"sources": ["Why?"], "num": 0}, "num 0; expected 1 or more"),
    ],
)
def test_errors(arguments: dict[str, Any], message: str, model: ExemplarParaphraser) -> None:
    with pytest.raises(InputError, match=message):
        model.paraphrase(**arguments)


def test_long_input_is_cut(model: ExemplarParaphraser) -> None:
    long = "How can I learn Java " + "and cook rice " * 200
    (said,) = model.paraphrase([long], like=["word " * 5_000])
    assert len(said.split()) <= CONFIG.max_tokens + 1
    cut = " ".join(long.split()[: CONFIG.max_tokens])
    assert model.paraphrase([cut], like=["word " * CONFIG.max_tokens]) == [said]


@pytest.mark.parametrize("products", ["float32", "bfloat16"])
def test_vectors(products: str, model: ExemplarParaphraser, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, whatever the batches; content vectors do not read the case, style vectors neither."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", products)
    monkeypatch.setitem(vars(model), "encoder", encoders.load(model.config.style_encoder, device="cpu"))
    texts = [*TARGETS, "Why?"]
    content, style = model.content(texts), model.style(texts)
    assert content.dtype == style.dtype == np.float32
    assert (content.shape, style.shape) == ((17, 48), (17, 24))
    np.testing.assert_allclose(model.content([text.lower() for text in texts], batch_size=2), content, atol=1e-5)
    lowered = model.style([text.lower() for text in texts], batch_size=2)
    # in bfloat16 batches round the style states differently
    np.testing.assert_allclose(lowered, style, atol=0.1 if products == "bfloat16" else 1e-4)
    source_BS, lengths_B = word_numbers([["why", "?"]], model.vocabulary)
    assert source_BS.shape == (1, 2) and lengths_B.tolist() == [2]
    np.testing.assert_allclose(
        model.network.encode_content(source_BS, lengths_B).vector.detach()[0], content[-1], atol=1e-5
    )
    assert np.isfinite(model.content([""])).all()
    assert model.content([]).shape == (0, content.shape[1]) and model.style([]).shape == (0, style.shape[1])
    assert model.unread(["How can I buy Alora?", "Brintok Celvex", ""]).tolist() == [False, True, False]
    with pytest.raises(InputError, match="exemplar 1 is empty"):
        model.style([""])


def test_the_contrasts_did_their_work(model: ExemplarParaphraser) -> None:
    """A source's content is nearest to its own targets', a target's style to its exemplar's."""

    def nearest(queries: Any, keys: Any) -> list[int]:
        rows = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (queries, keys)]
        return (rows[0] @ rows[1].T).argmax(1).tolist()

    known = SOURCES[: 2 * len(VERBS)]  # the names are all <unk> to the content encoder
    found = nearest(model.content(known), model.content(TARGETS))
    assert [SOURCES[row] for row in found] == known
    assert [BANK[row] for row in nearest(model.style(TARGETS), model.style(BANK))] == EXEMPLARS


def test_restored(model: ExemplarParaphraser, minilm: Encoder) -> None:
    again = ExemplarParaphraser.restore(asdict(CONFIG), model.assets())
    assert (again.config, again.vocabulary, again.bank) == (model.config, model.vocabulary, model.bank)
    assert again.system == "exemplar" and again.device == torch.device("cpu")
    again.load_state_dict(model.state_dict())
    again.encoder = minilm
    assert again.paraphrase(SOURCES, EXEMPLARS) == TARGETS
    without = {"vocabulary.json": Vocabulary(SPECIAL, {}).to_json()}
    assert ExemplarParaphraser.restore(asdict(CONFIG), without).bank == ()
    for config, assets in ((asdict(CONFIG) | {"colour": 1}, without), (asdict(CONFIG), {})):
        with pytest.raises(InputError, match="exemplar checkpoint"):
            ExemplarParaphraser.restore(config, assets)


def test_word_vectors_from_a_glove_file(tiny: ModuleType, tmp_path: Path) -> None:
    """Rows of words that the file has, the others as they were; a tied output layer keeps its scale."""
    path = tmp_path / "glove.txt"
    vectors = np.random.default_rng(0).standard_normal((2, 8)).round(3)
    lines = (f"{word} {' '.join(map(str, row))}" for word, row in zip(("w1", "w9"), vectors, strict=True))
    path.write_text("\n".join(lines) + "\n")
    for tied in (False, True):
        model = tiny.paraphraser(replace(tiny.COPYING, word_vectors=str(path), tie_embeddings=tied))
        before = model.network.embedding.weight.detach().clone()
        initialize_words(model)
        after = model.network.embedding.weight.detach()
        found = [4 + 1, 4 + 9]
        expected = torch.tensor(vectors, dtype=torch.float32)
        expected = expected / expected.std() * before[4:].std() if tied else expected
        torch.testing.assert_close(after[found], expected)
        others = [row for row in range(len(before)) if row not in found]
        assert torch.equal(after[others], before[others])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("w1 1 2\n", r"glove\.txt: 2 numbers for a word; expected 8"),
        ("a 1 2 3 4 5 6 7 8\n", r"glove\.txt: none of the vocabulary's \d+ words; expected a GloVe text file"),
        (None, r"glove\.txt: no such file; expected a GloVe text file, or 'random' or 'encoder'"),
    ],
)
def test_word_vectors_that_do_not_fit(tiny: ModuleType, content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        initialize_words(tiny.paraphraser(replace(tiny.COPYING, word_vectors=str(path))))


def test_word_vectors_from_the_encoder(minilm: Encoder, monkeypatch: pytest.pytest.MonkeyPatch) -> None:
    """Turned to principal axes: with room for all of them, angles between (centred) words are the encoder's."""
    monkeypatch.setattr(encoders, "load", lambda *_, **__: minilm)
    words = ("dog", "cat", "bank", "money", "run")
    config = replace(CONFIG, word_vectors="encoder", word_width=16)
    model = ExemplarParaphraser(config, Vocabulary((*SPECIAL, *words), {}))
    special = model.network.embedding.weight.detach()[:4].clone()
    initialize_words(model)
    weight = model.network.embedding.weight.detach()
    assert torch.equal(weight[:4], special)
    vectors = torch.from_numpy(minilm.encode(words))
    centred = torch.nn.functional.normalize(vectors - vectors.mean(0), dim=-1)
    ours = torch.nn.functional.normalize(weight[4:], dim=-1)
    torch.testing.assert_close(ours @ ours.T, centred @ centred.T, atol=1e-4, rtol=0)


def test_a_frozen_encoder_of_another_width(tmp_path: Path) -> None:
    """Its width is asked of its `config.json`, so that a checkpoint of it can be restored."""
    from transformers import BertConfig, BertModel

    BertModel(
        BertConfig(vocab_size=10, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    ).save_pretrained(tmp_path)
    model = ExemplarParaphraser(replace(CONFIG, style_encoder=str(tmp_path)), Vocabulary(SPECIAL, {}))
    assert model.network.style_encoder is not None and model.network.style_encoder.gru.input_size == 16
    tuned = ExemplarParaphraser(
        replace(CONFIG, style_encoder=str(tmp_path), style_trainable=True, style_layer=-1), Vocabulary(SPECIAL, {})
    )
    assert isinstance(tuned.network.style_module, BertModel)
    assert not any(parameter.requires_grad for parameter in tuned.network.style_module.pooler.parameters())


def test_log_likelihood_is_that_of_the_network_on_each_row_alone(model: ExemplarParaphraser, minilm: Encoder) -> None:
    """Whatever the batches, their padding and their order; a name that the vocabulary lacks has one number."""
    model.eval()
    rows = [*zip(TARGETS, SOURCES, EXEMPLARS, strict=True), ("Java ?", "Who is Tom and who is Zorblax ?", HARD)]
    expected = []
    for target, source, exemplar in rows:
        beyond: dict[str, int] = {}
        numbers = [
            model.vocabulary.encode([word.lower() for word in prepare(text, CONFIG.max_tokens)], beyond)
            for text in (source, target)
        ]
        (states,) = minilm.states([style_text(prepare(exemplar, CONFIG.max_tokens))], layers=[CONFIG.style_layer])
        style = StyleInput(states.states_ND.float()[None], torch.tensor([len(states.states_ND)]))
        sides = [part for row in numbers for part in (torch.tensor([row]), torch.tensor([len(row)]))]
        with torch.inference_mode():
            out = model.network(TripleBatch(*sides, style, style, torch.tensor([0])))
        assert out.lengths_B.tolist() == [len(numbers[1]) + 1] == [len(out.log_probs_N)]
        expected.append(float(out.log_probs_N.mean()))
    columns = [list(column) for column in zip(*rows, strict=True)]
    for size in (512, 3, 1):
        assert model.log_likelihood(*columns, batch_size=size).tolist() == pytest.approx(expected, abs=2e-3)
    backwards = model.log_likelihood(*(column[::-1] for column in columns))
    assert backwards.tolist() == pytest.approx(expected[::-1], abs=2e-3)
    assert min(expected[:-1]) > -0.3 > expected[-1]  # it was trained on them, and not on the last


def test_log_likelihood_of_what_it_cannot_read(model: ExemplarParaphraser) -> None:
    assert model.log_likelihood([], [], []).shape == (0,)
    with pytest.raises(InputError, match="2 targets, 1 sources, 1 exemplars"):
        model.log_likelihood(["a b", "c"], ["a"], ["b c"])
    for texts in ((" ", "a", "b c"), ("a", "", "b c"), ("a", "b", "")):
        with pytest.raises(InputError, match="empty"):
            model.log_likelihood(*([text] for text in texts))


def test_the_source_given_what_was_decoded(model: ExemplarParaphraser) -> None:
    """Given itself it is as likely as given itself; given another sentence it is less."""
    sources = SOURCES[:3]
    assert model.source_given(sources, sources).tolist() == pytest.approx([0, 0, 0], abs=1e-5)
    found = model.source_given(sources, SOURCES[-3:])
    for source, output, figure in zip(sources, SOURCES[-3:], found, strict=True):
        given = [model.log_likelihood([source], [text], [source])[0] for text in (output, source)]
        assert figure == pytest.approx(given[0] - given[1], abs=2e-3)
    assert model.source_given([], []).shape == (0,)
    assert isinstance(model, ReadsBack)
