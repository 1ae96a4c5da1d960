"""Tags of words beside the tokens that a style encoder reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from test_exemplar_triples import CONFIG, PAIRS

from paraform.batching import SPECIAL, Vocabulary
from paraform.encoders import Encoder
from paraform.models.exemplar import ExemplarParaphraser
from paraform.models.exemplar.style_tags import NONE, TAGS, tag_numbers
from paraform.models.exemplar.triples import triple_table
from paraform.syntax import load_tagger
from paraform.syntax.running import DEFAULT, head_folder, load_head

FORMS = ["is antidisestablishmentarianism dull ?", "do n't you find it dull ?"]


def test_tags_are_those_of_the_embedded_tagger() -> None:
    assert set(TAGS) == set(load_head(head_folder(DEFAULT, "tagger", "")).tags)


def test_every_piece_of_a_word_has_the_tag_of_the_word(minilm: Encoder) -> None:
    """Counted from where each word's characters stand in the text, by the tokenizer's own offsets."""
    found = tag_numbers(FORMS, minilm, load_tagger())
    for row, (form, tags) in enumerate(zip(FORMS, load_tagger()([form.split() for form in FORMS]), strict=True)):
        encoding = minilm._tokenizer.encode(form)
        expected = ["" if start == end else tags[form[:start].count(" ")] for start, end in encoding.offsets]
        numbers = found.values[found.offsets[row] : found.offsets[row + 1]]
        assert ["" if number == NONE else TAGS[number - 1] for number in numbers] == expected
        assert len(numbers) == minilm.count_tokens([form])[0]


def test_a_tag_that_is_no_tag_and_a_word_that_has_no_token(minilm: Encoder) -> None:
    found = tag_numbers(["a \ufe0f b"], minilm, lambda sentences: [["DT", "NN", "_SP"] for _ in sentences])
    assert found.values.tolist() == [NONE, TAGS.index("DT") + 1, NONE, NONE]


def test_training_and_use_read_the_same_tags(minilm: Encoder, tmp_path: Path) -> None:
    config = replace(CONFIG, style_tags=True)
    table, vocabulary, _ = triple_table(PAIRS, config, cache=tmp_path)
    model = ExemplarParaphraser(config, vocabulary)
    form = PAIRS[0].target.text
    given, rows = model._forms([" ".join(form.lower().replace("?", " ?").split())])
    trained = table.style_input(np.array([table.target[0]]))
    assert given.tags_BT is not None and trained.tags_BT is not None and trained.tags_BT.any()
    assert torch.equal(given.tags_BT[rows], trained.tags_BT)


def test_a_paraphraser_with_tags_speaks_and_comes_back(tmp_path: Path) -> None:
    import paraform

    torch.manual_seed(0)
    vocabulary = Vocabulary((*SPECIAL, "is", "it", "?"), {})
    model = ExemplarParaphraser(replace(CONFIG, style_tags=True), vocabulary)
    said = model.paraphrase(["Is it dull?"], ["Who knows it?"])
    likelihood = model.log_likelihood(["Is it?"], ["Is it dull?"], ["Who knows it?"])
    paraform.save(model, tmp_path / "model")
    again = paraform.load(tmp_path / "model")
    assert again.paraphrase(["Is it dull?"], ["Who knows it?"]) == said
    assert again.log_likelihood(["Is it?"], ["Is it dull?"], ["Who knows it?"]) == pytest.approx(likelihood)
