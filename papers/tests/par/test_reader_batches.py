"""Words with their places, answers as words, and batches that are a pure function of the step."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import torch

from paraform.batching import Ragged
from paraform.records import InputError
from paraform_papers.par.reader.batches import POOLED, ReaderTable, answer_words, placed_words
from paraform_papers.par.reading import read_metrics
from paraform_papers.par.squad import Answer, Question, read_squad


def test_words_with_their_places() -> None:
    text = "“It’s 24–10,” didn't he say?  U_S $1,234.5 naïve 第一"
    words = placed_words(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    expected = ["“", "It", "’s", "24", "–", "10", ",", "”", "did", "n't", "he", "say", "?", "U", "_", "S", "$"]
    assert [word.text for word in words] == [*expected, "1,234.5", "naïve", "第一"]
    assert "".join(word.text for word in words) == "".join(text.split())  # nothing is lost
    assert placed_words(" \n") == []


def test_a_text_of_lines_to_fill_in_is_cut_in_no_time() -> None:
    """20,000 underscores took 20 s: each was looked for n't from, to the end of the text."""
    begun = time.process_time()
    assert len(placed_words("_" * 20_000)) == len(placed_words("a_" * 10_000)) == 20_000
    assert time.process_time() - begun < 4  # it is a tenth of a second
    assert [word.text for word in placed_words("we_didn't")] == ["we", "_", "did", "n't"]


def test_an_answer_is_the_words_that_it_has_a_part_of() -> None:
    words = placed_words("in 1999-2000 at home")
    assert answer_words(words, 3, 7) == (1, 1)  # 1999
    assert answer_words(words, 3, 12) == (1, 3)  # 1999-2000
    assert answer_words(words, 5, 15) == (1, 4)  # 99-2000 at
    assert answer_words(words, 15, 18) == (5, 5)  # " ho"


def test_what_words_can_answer(data: Path) -> None:
    """Nearly all answers are words from end to end; the rest mostly stand at a wrong place in SQuAD ("8" in "18")."""
    asked = list(read_squad(data / "squad" / "dev-part.json"))
    given = {}
    for one in asked:
        words, answer = placed_words(one.context), one.answers[0]
        first, last = answer_words(words, answer.start, answer.start + len(answer.text))
        given[one.name] = one.context[words[first].start : words[last].end]
    assert read_metrics(asked, given).exact.over() > 99


def table(count: int) -> ReaderTable:
    """Questions on contexts of 1 to 9 words; a word's vector is its number among all."""
    contexts = [" ".join(f"w{number}" for number in range(1 + row % 9)) for row in range(count)]
    asked = [
        Question(f"q{row}", "a", f"who {row}", f"{text} x{row}", (Answer(f"x{row}", len(text) + 1),))
        for row, text in enumerate(contexts)
    ]
    words = {text: placed_words(text) for one in asked for text in (one.context, one.text)}
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in words.values()])])
    return ReaderTable.of(asked, words, Ragged(np.arange(offsets[-1], dtype=np.float16)[:, None], offsets))


def test_a_table_and_its_batches() -> None:
    made = table(60)
    whole = made.batch(np.arange(60))
    for row in range(60):
        words = int(whole.context_lengths_B[row])
        assert words == 2 + row % 9 and int(whole.start_B[row]) == int(whole.end_B[row]) == words - 1
        start, asked = (int(whole.context_BTD[row, 0, 0]), int(whole.question_BSD[row, 0, 0]))
        assert (
            whole.context_BTD[row, :words, 0].tolist() == list(range(start, start + words)) and asked == start + words
        )
        assert (whole.context_BTD[row, words:] == 0).all() and whole.context_BTD.dtype == torch.float32
    batches, steps = made.batches(batch_size=2, seed=3)
    assert steps == 30
    epoch = [batches(step) for step in range(60)]
    for begin in (0, 30):
        firsts = torch.cat([one.context_BTD[:, 0, 0] for one in epoch[begin : begin + 30]])
        assert firsts.sort().values.tolist() == whole.context_BTD[:, 0, 0].sort().values.tolist()  # each once
    orders = [torch.cat([one.start_B for one in epoch[begin : begin + 30]]).tolist() for begin in (0, 30)]
    assert orders[0] != orders[1]  # another order each epoch
    apart = [int(one.context_lengths_B.max() - one.context_lengths_B.min()) for one in epoch]
    assert np.mean(apart) < 1 < POOLED  # of about one length
    again = made.batches(batch_size=2, seed=3)[0](41)
    assert torch.equal(again.context_BTD, epoch[41].context_BTD)
    halves = [made.batches(batch_size=2, seed=3, rank=rank, world=2)[0](41) for rank in range(2)]
    assert torch.cat([half.start_B for half in halves]).tolist() == epoch[41].start_B.tolist()
    with pytest.raises(InputError, match="60 questions; expected at least one batch of 61"):
        made.batches(batch_size=61, seed=0)
