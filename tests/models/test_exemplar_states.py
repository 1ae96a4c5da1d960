"""CRL-EGPG that reads a frozen encoder's states in the place of its own: what it was trained on comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_exemplar import require_targets
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from paraform import checkpoint, encoders
from paraform.batching import SPECIAL, Vocabulary, prepare
from paraform.corpora import clusters
from paraform.encoders import Encoder
from paraform.encoders.encoder_facts import EncoderFacts
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import StyleInput, TripleBatch
from paraform.models.exemplar.inputs import exemplar_texts
from paraform.models.exemplar.triples import triple_table
from paraform.records import InputError, Pair, Sentence
from paraform.training import TrainingConfig, make_accelerator

WAYS, WHO = "What is the best way to get a job?", "What did you think of France?"
VERBS = ("learn Java", "cook rice", "buy a car", "lose weight")
NAMES = ("Alora", "Brintok", "Celvex", "Dunmara", "Exbolt", "Fimble", "Gorwyn", "Hestal")
TRIPLES = [
    *((f"How can I {verb}?", WAYS, f"What is the best way to {verb}?") for verb in VERBS),
    *((f"Who is {name}?", WHO, f"What do you know of {name}?") for name in NAMES),
]
SOURCES, EXEMPLARS, TARGETS = (list(column) for column in zip(*TRIPLES, strict=True))

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdegiklortuw?", *(f"##{letter}" for letter in "abcdegiklortuw")]
WORDS = ["what", "is", "the", "way", "to", "how", "do", "i", "get", "it", "who", "are", "you"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random BERT of four layers over words and letters, as an encoder's folder."""
    place = tmp_path_factory.mktemp("encoder")
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys([*PIECES, *WORDS, "##s"]))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.save(str(place / "tokenizer.json"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 64, "num_attention_heads": 2, "num_hidden_layers": 4}
    module = BertModel(BertConfig(vocab_size=len(numbers), max_position_embeddings=20, **sizes))
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    module.save_pretrained(place)
    return str(place)


def tiny(folder: str) -> ExemplarParaphraser:
    config = replace(
        ExemplarConfig.compact(),
        style_encoder=folder,
        style_layer=1,
        content_input="states",
        style_pooling="mean",
        word_width=16,
        decoder_width=16,
        content_width=6,
        style_width=5,
        max_tokens=9,
    )
    torch.manual_seed(1)
    facts = EncoderFacts.of(encoders.load(folder, device="cpu"))
    return ExemplarParaphraser(config, Vocabulary((*SPECIAL, "what", "the", "☂", "?"), {}), (WAYS,), facts=facts)


def test_a_checkpoint_names_the_encoder_and_has_none_of_it(folder: str, tmp_path: Path) -> None:
    """Saved and loaded it says the same; with another encoder of that name it says so, and nothing else."""
    model = tiny(folder).eval()
    saved = checkpoint.save(model, tmp_path / "saved", card="# A test\n")
    assert json.loads((saved / "encoder.json").read_text())["weights"] == encoders.load(folder).digest
    assert not [name for name in model.state_dict() if "style_module" in name]
    again = checkpoint.load(saved, device="cpu")
    sources, likes = ["Who are you?", "How do I get the tower?"], ["What is it?", "How is it to get it?"]
    assert again.paraphrase(sources, likes) == model.paraphrase(sources, likes)
    np.testing.assert_allclose(again.content(sources), model.content(sources), atol=1e-6)
    again.facts = replace(again.facts, weights="0" * 64)
    del again.encoder
    with pytest.raises(InputError, match="is not the one that this model was trained with: SHA-256 of the weights"):
        again.paraphrase(sources, likes)


@torch.inference_mode()
def test_likelihoods_of_a_batch_are_those_of_each_row(folder: str) -> None:
    """By rows of several lengths, with words that the vocabulary or the encoder lacks; and they are the network's."""
    model = tiny(folder).eval()
    sources = ["Who are you?", "How do I get the tower ☂☂ at Qx?", "What is it?"]
    targets = ["Are you who?", "It is Qx ☂☂?", "the what"]
    together = model.log_likelihood(targets, sources, sources[::-1])
    alone = [
        model.log_likelihood([target], [source], [like])[0]
        for target, source, like in zip(targets, sources, sources[::-1], strict=True)
    ]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert np.isfinite(together).all()


CONFIG = replace(
    ExemplarConfig.compact(),
    content_input="states",
    style_pooling="mean",
    word_vectors="random",
    word_width=32,
    content_width=32,
    decoder_width=48,
    style_width=32,
    max_tokens=12,
    min_count=3,
    dropout=0.0,
    learning_rate=0.005,
    schedule="constant",
)


@pytest.fixture(scope="module")
def model(minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> ExemplarParaphraser:
    """Trained on `TRIPLES` by its own update, until they come back; names are rare, and must be copied."""
    torch.manual_seed(0)
    pairs = clusters([Pair(Sentence(s), Sentence(t)) for s, t in zip(SOURCES, TARGETS, strict=True)])
    table, vocabulary, _ = triple_table(pairs, CONFIG, cache=tmp_path_factory.mktemp("cache"))
    made = ExemplarParaphraser(CONFIG, vocabulary, (WAYS, WHO), facts=EncoderFacts.of(minilm))
    made.encoder = minilm
    assert table.content is not None and int(table.words.values.max()) > len(vocabulary) + 5
    forms, form_B = made._forms(exemplar_texts(EXEMPLARS, CONFIG.max_tokens))
    style = StyleInput(forms.values[form_B], forms.lengths_B[form_B])
    batch = TripleBatch(
        *table.words.padded(table.source),
        *table.words.padded(table.target),
        style,
        style,
        torch.arange(len(TRIPLES)),
        table.content.padded(table.source),
        table.content.padded(table.target),
    )
    update, _ = make_update(
        made, CONFIG, make_accelerator(TrainingConfig(device="cpu", tensorboard=False)), steps_per_epoch=1
    )
    made.train()
    for step in range(200):
        if update(batch, step)["nll"] < 0.003:
            break
    return made.eval()


@pytest.mark.parametrize("products", ["float32", "bfloat16"])
def test_overfits_its_sentences(products: str, model: ExemplarParaphraser, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", products)
    assert model.decoder_dtype == getattr(torch, products)
    require_targets(model, SOURCES, EXEMPLARS, TARGETS)


def test_vectors(model: ExemplarParaphraser) -> None:
    texts = [*TARGETS, "Why?"]
    content, style = model.content(texts), model.style(texts)
    assert (content.shape, style.shape) == ((len(texts), 64), (len(texts), 64))
    np.testing.assert_allclose(model.content([text.lower() for text in texts], batch_size=2), content, atol=1e-4)
    assert np.isfinite(model.content([""])).all()
    assert prepare("", 9) == ()
