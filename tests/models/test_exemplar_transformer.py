"""A Transformer decoder on text: it starts as the encoder's layers, and what it was trained on comes back."""

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
from paraform.batching import BOS, EOS, PAD, SPECIAL, UNK, Vocabulary, prepare
from paraform.corpora import clusters
from paraform.encoders import Encoder
from paraform.encoders.encoder_facts import EncoderFacts
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import StyleInput, TripleBatch
from paraform.models.exemplar.decoder_start import start_decoder
from paraform.models.exemplar.triples import triple_table
from paraform.models.exemplar.units import exemplar_texts
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


def tiny_config(folder: str, layers: int = 2) -> ExemplarConfig:
    return replace(
        ExemplarConfig.compact(),
        style_encoder=folder,
        style_layer=1,
        content_input="states",
        style_pooling="mean",
        units="pieces",
        spell=True,
        decoder="transformer",
        decoder_layers=layers,
        decoder_heads=2,
        decoder_start="encoder",
        word_width=16,
        decoder_width=16,
        content_width=6,
        style_width=5,
        max_tokens=9,
        min_count=1,
        coverage=False,
        dropout=0.0,
    )


def tiny(folder: str, config: ExemplarConfig | None = None) -> ExemplarParaphraser:
    torch.manual_seed(1)
    facts = EncoderFacts.of(encoders.load(folder, device="cpu"))
    vocabulary = Vocabulary((*SPECIAL, "what", "the", "##s", "##00", "☂", "?"), {})
    return ExemplarParaphraser(config or tiny_config(folder), vocabulary, (WAYS,), facts=facts)


@pytest.mark.parametrize(("layers", "taken"), [(1, [0]), (2, [0, 2]), (3, [0, 1, 2]), (4, [0, 1, 2, 3])])
@torch.no_grad()
def test_it_starts_as_the_encoders_layers(layers: int, taken: list[int], folder: str) -> None:
    """Without cross-attention, a token alone is what BERT's embeddings and each of those layers make of it."""
    model = tiny(folder, tiny_config(folder, layers))
    start_decoder(model)
    bert = encoders.load_module(folder).eval()
    decoder, parts = model.network.transformer, bert.encoder.layer
    assert decoder is not None
    hidden = bert.embeddings(input_ids=torch.tensor([[PIECES.index("?")]]))
    row = model.vocabulary.words.index("?")
    embedded = decoder.norm(model.network.embedding.weight[row] + decoder.positions.weight[0])
    torch.testing.assert_close(embedded, hidden[0, 0], atol=1e-4, rtol=1e-4)
    for number, layer in zip(taken, decoder.layers, strict=True):
        assert torch.equal(layer.norm2.weight, layer.norm1.weight) and torch.equal(layer.norm2.bias, layer.norm1.bias)
        layer.multihead_attn.out_proj.weight.zero_()
        layer.multihead_attn.out_proj.bias.zero_()
        for norm in (layer.norm1, layer.norm2, parts[number].attention.output.LayerNorm):
            norm.weight.fill_(1)  # or norm2 would undo what norm1 does
            norm.bias.zero_()
        expected = parts[number](hidden)
        expected = expected if isinstance(expected, torch.Tensor) else expected[0]
        found = layer.eval()(hidden, torch.zeros(1, 1, 16))
        torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)  # norm2 of what norm1 made: an ε


@torch.no_grad()
def test_embeddings_of_pieces_are_the_encoders(folder: str) -> None:
    """Special ones by their part; a piece that stands inside a word only here, by the other; a stranger is random."""
    model = tiny(folder)
    random = model.network.embedding.weight.clone()
    start_decoder(model)
    own, theirs = model.network.embedding.weight, encoders.load_module(folder).embeddings.word_embeddings.weight
    numbers = Tokenizer.from_file(str(Path(folder) / "tokenizer.json")).get_vocab()
    expected = {UNK: "[UNK]", BOS: "[CLS]", EOS: "[SEP]", 4: "what", 5: "the", 6: "##s", 9: "?"}
    for row, piece in expected.items():
        assert torch.equal(own[row], theirs[numbers[piece]])
    assert torch.equal(own[8], random[8]) and torch.equal(own[7], random[7]) and not own[PAD].any()
    assert model.network.output.weight is own or torch.equal(model.network.output.weight, own)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decoder_heads": 4}, "has 2 heads, 4 layers; expected a BERT of decoder_heads 4 and at least decoder_layers"),
        ({"decoder_width": 8, "word_width": 8}, r"where decoder_width 8 makes it \[8\]; expected equal"),
    ],
)
def test_an_encoder_of_other_sizes_is_named(changed: dict[str, int], message: str, folder: str) -> None:
    with pytest.raises(InputError, match=message):
        start_decoder(tiny(folder, replace(tiny_config(folder), **changed)))


def test_a_checkpoint_names_the_encoder_and_has_none_of_it(folder: str, tmp_path: Path) -> None:
    """Saved and loaded it says the same; with another encoder of that name it says so, and nothing else."""
    model = tiny(folder).eval()
    start_decoder(model)
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
    start_decoder(model)
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
    units="pieces",
    spell=True,
    decoder="transformer",
    decoder_layers=2,
    decoder_start="encoder",
    copy_onward=True,
    word_width=384,
    decoder_width=384,
    content_width=32,
    style_width=32,
    max_tokens=12,
    min_count=3,
    coverage=False,
    dropout=0.0,
    learning_rate=1e-3,
    schedule="constant",
)


@pytest.fixture(scope="module")
def model(minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> ExemplarParaphraser:
    """Trained on `TRIPLES` by its own update, until they come back; pieces of names are rare, and must be copied."""
    torch.manual_seed(0)
    pairs = clusters([Pair(Sentence(s), Sentence(t)) for s, t in zip(SOURCES, TARGETS, strict=True)])
    table, vocabulary, _ = triple_table(pairs, CONFIG, cache=tmp_path_factory.mktemp("cache"))
    made = ExemplarParaphraser(CONFIG, vocabulary, (WAYS, WHO), facts=EncoderFacts.of(minilm))
    made.encoder = minilm
    start_decoder(made)
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
