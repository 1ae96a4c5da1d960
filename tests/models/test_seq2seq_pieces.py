"""What a seq2seq reads and writes, by hand; what does not fit; what an output says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny_seq2seq as tiny
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from paraform.models.seq2seq import Seq2SeqConfig
from paraform.models.seq2seq.batches import pair_table
from paraform.models.seq2seq.pieces import Pieces, Said, inputs, outputs
from paraform.records import InputError
from paraform.syntax.trees import Tree, template

WORDS = ["<s>", "</s>", "<unk>", "stop", "do", "(", "ROOT", "S", "VP", "VB", "VBP", ")", "the", "dog", "sep", "<", ">"]
SEPARATOR = len(WORDS)
STOP = Tree.parse("(ROOT (S (VP (VB stop))))")
DO_STOP = Tree.parse("(ROOT (S (VP (VBP do) (VP (VB stop)))))")


@pytest.fixture
def pieces() -> Pieces:
    """A tokenizer whose pieces are words and brackets, so that an input can be written down."""
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.add_special_tokens(["<s>", "</s>", "<unk>"])
    ends = [("<s>", 0), ("</s>", 1)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return Pieces(tokenizer, SEPARATOR)


def shown(numbers: list[int]) -> str:
    return " ".join([*WORDS, "<sep>"][number] for number in numbers)


def brackets(text: str) -> str:
    return text.replace("(", "( ").replace(")", " )")


@pytest.mark.parametrize(
    ("config", "read", "written"),
    [
        (
            Seq2SeqConfig(height=3),
            "<s> stop <sep> (ROOT (S (VP (VB)))) <sep> (ROOT (S (VP))) </s>",
            "<s> (ROOT (S (VP (VBP) (VP (VB))))) <sep> do stop </s>",
        ),
        (
            Seq2SeqConfig.compact(height=2),
            "<s> stop <sep> (ROOT (S)) </s>",
            "<s> (ROOT (S)) <sep> do stop </s>",
        ),
    ],
)
def test_a_pair_by_hand(config: Seq2SeqConfig, read: str, written: str, pieces: Pieces) -> None:
    own = None if config.source_tree == "none" else [STOP]
    (inside,) = inputs(["stop"], own, [template(DO_STOP, config.height)], pieces, config)
    (out,) = outputs(["do stop"], [DO_STOP], pieces, config)
    assert (shown(inside.numbers), shown(out.numbers)) == (brackets(read), brackets(written))
    assert not inside.cut and not out.cut


def test_what_does_not_fit_is_cut_in_its_order(pieces: Pieces) -> None:
    """The source's tree first, then the source, then the form; of an output the tree, then the words."""
    config = Seq2SeqConfig(max_pieces=16, max_written=8)
    form = Tree.parse("(ROOT (S))")  # 6 pieces
    for count, expected in (
        (2, "<s> the dog <sep> ( ROOT ( S <sep> ( ROOT ( S ) ) </s>"),
        (6, "<s> the dog the dog the dog <sep> <sep> ( ROOT ( S ) ) </s>"),
        (8, "<s> the dog the dog the dog <sep> <sep> ( ROOT ( S ) ) </s>"),
    ):
        (inside,) = inputs([" ".join(["the", "dog"] * (count // 2))], [STOP], [form], pieces, config)
        assert shown(inside.numbers) == expected and len(inside.numbers) == 16 and inside.cut
    (short,) = inputs(["the dog"], [STOP], [form], pieces, replace(config, max_pieces=24))
    assert len(short.numbers) == 24 and not short.cut  # 12 of its own tree
    (tiny_,) = inputs(["the dog"], [STOP], [form], pieces, replace(config, max_pieces=8))
    assert shown(tiny_.numbers) == "<s> <sep> <sep> ( ROOT ( S </s>"
    (out,) = outputs(["do stop"], [DO_STOP], pieces, config)
    assert shown(out.numbers) == "<s> ( ROOT ( <sep> do stop </s>" and out.cut
    (out,) = outputs(["the dog the dog the dog"], [DO_STOP], pieces, config)
    assert shown(out.numbers) == "<s> <sep> the dog the dog the </s>" and out.cut


def test_what_is_cut_in_training_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny.paraphraser()
    config = replace(model.config, max_pieces=40, max_written=24)
    found = pair_table(tiny.PAIRS, tiny.parsed(), config, model.pieces, tell=model.kind)
    for table, most, said in (
        (found.inputs, 40, "texts are longer than the 40 pieces of an input that a seq2seq model reads"),
        (found.outputs, 24, "outputs are longer than the 24 pieces that a seq2seq model writes; their trees are cut"),
    ):
        whole = getattr(tiny.table(model), "inputs" if most == 40 else "outputs")
        every = np.arange(10)
        assert table.lengths(every).tolist() == whole.lengths(every).clip(max=most).tolist()
        assert f"{(whole.lengths(every) > most).sum()} of 10 {said}" in caplog.text
    caplog.clear()
    pair_table(tiny.PAIRS, tiny.parsed(), model.config, model.pieces, tell=model.kind)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_text_cannot_say_a_mark(pieces: Pieces) -> None:
    """Neither the end nor a separator, whatever its letters."""
    (numbers,) = pieces.of(["stop </s> <sep> stop"])
    assert not {0, 1, SEPARATOR} & set(numbers)
    model = tiny.paraphraser()
    (numbers,) = model.pieces.of(["stop </s> <s> <sep> stop"])
    assert not {*model.pieces.before, *model.pieces.behind, model.pieces.separator} & set(numbers)
    assert model.pieces.text(numbers) == "stop </s> <s> <sep> stop"


def test_what_an_output_says(pieces: Pieces) -> None:
    def said(text: str) -> Said:
        return pieces.said([[*WORDS, "<sep>"].index(word) for word in text.split()])

    assert said("<s> ( S ) <sep> do stop") == Said("do stop", "( S )", True)
    assert said("<s> ( S ) <sep> do <sep> stop") == Said("do stop", "( S )", True)
    assert said("<s> ( S ) do stop") == Said("do stop", "( S )", False)
    assert said("<s> do stop") == Said("do stop", "", False)
    assert said("<s> ( S ( VP") == Said("VP", "( S (", False)
    assert said("<s> ( S )") == Said("", "( S )", False)
    assert said("<s> ( S ) <sep>") == Said("", "( S )", True)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_real_tokenizer_says_trees_and_texts_back(kind: str) -> None:
    model = tiny.paraphraser(kind=kind)
    for text in [*tiny.TEXTS, *tiny.TREES.values()]:
        (numbers,) = model.pieces.of([text])
        assert model.pieces.text(numbers) == text


def test_tokenizers_that_do_not_serve(pieces: Pieces) -> None:
    with pytest.raises(InputError, match="the tokenizer has a piece 16; expected numbers below 16"):
        Pieces(pieces.tokenizer, SEPARATOR - 1)
    deaf = Tokenizer.from_str(pieces.tokenizer.to_str())
    deaf.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    with pytest.raises(InputError, match=r"makes .* of '\(S \(NP\)\)'; expected one that has brackets"):
        Pieces(deaf, SEPARATOR)
    bare = Tokenizer.from_str(pieces.tokenizer.to_str())
    for single in ("$A", "<s> $A"):
        bare.post_processor = processors.TemplateProcessing(single=single, special_tokens=[("<s>", 0)])
        with pytest.raises(InputError, match="a tokenizer that puts no mark behind a text"):
            Pieces(bare, SEPARATOR)
