"""What judges of meaning learn from: small files of the real formats, the embedded parser, and no text of a test."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from paraform import corpora
from paraform.corpora.leaks import normalised
from paraform.records import InputError, Origin, Pair, Sentence, texts_of
from paraform.rewording.negatives import Altered
from paraform_papers.shipped import judge_data
from paraform_papers.shipped.judge_data import held_out, made, rated
from paraform_papers.shipped.judge_made import TRAINED, made_pair, made_pairs, nearest_others
from paraform_papers.shipped.judge_pairs import asked, near, read_answers, scored, ways, written_rewordings
from paraform_papers.shipped.written import digest


def same(one: str, other: str, corpus: str = "tatoeba") -> Pair:
    return Pair(Sentence(one), Sentence(other), label=1, origin=Origin(f"{corpus}/pairs", 1))


def test_scores_between_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "sts.csv").write_text('"a b","b a",4.8\n"a","c",3.9\n"a","d",1.5\n', encoding="utf-8")
    assert [(one.target.text, one.label) for one in scored(tmp_path / "sts.csv")] == [("b a", 1), ("d", 0)]


def test_questions_that_share_words_are_of_other_clusters(tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text(
        "how do i swim\thow can i swim\nhow do i sing\thow can i sing\n", encoding="utf-8"
    )
    found = asked(tmp_path / "dev.tsv")
    assert [one.label for one in found] == [1, 1, 0, 0]
    assert all(one.source.text[-4:] != one.target.text[-4:] for one in found[2:])


def test_answers_and_rewordings_that_may_be_given_on() -> None:
    answers, written = read_answers(), written_rewordings()
    assert Counter(one.label for one in answers).keys() == {0, 1} and len(answers) > 500
    assert len(written) > 5000 and all(one.label == 1 for one in written)


def test_what_is_written_of_a_sentence_has_its_directions() -> None:
    known = Counter((one.label, one.forth, one.back) for one in ways())
    sentences = known[0, 0.0, 1.0]  # one with more of each
    assert sentences > 500 and 2 * sentences < known[1, None, None] <= 3 * sentences
    assert known[0, 1.0, 0.0] == 2 * sentences and known[0, 0.0, 0.0] > known[0, None, None] > 0.9 * sentences


def test_near_pairs_of_a_corpus_that_may_not_be_given_on_are_found_by_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    read = near()
    assert len(read) > 1_000 and 0.3 < sum(one.label or 0 for one in read) / len(read) < 0.7
    rows = [
        {"corpus": "squad", "texts": ["a", "b"], "same": True},
        {"corpus": "quora", "digests": [digest("c"), digest("d")], "same": False},
        {"corpus": "quora", "digests": [digest("c"), digest("e")], "same": False},
    ]
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "".join(f"{json.dumps(row)}\n" for row in rows))
    assert [(one.source.text, one.target.text, one.label) for one in near()] == [("a", "b", 1)]
    assert [(one.source.text, one.target.text, one.label) for one in near(["d", "c"])] == [("c", "d", 0)]


def test_what_is_held_out_is_held_out_beside_other_sentences_too() -> None:
    some, more = ([same(f"a {at}", f"b {at}") for at in range(count)] for count in (300, 600))
    (train, dev), (_, beside) = held_out(some), held_out([*reversed(more)])
    assert 5 < len(dev) < 30 and len(train) + len(dev) == 300 and not {*texts_of(train)} & {*texts_of(dev)}
    assert {*texts_of(dev)} <= {*texts_of(beside)}


def test_pairs_are_of_all_kinds_and_say_what_is_known() -> None:
    pairs = [
        same(
            "On Monday, Maria sold all five red boats in Lisbon.", "In Lisbon, Maria sold all five red boats on Monday."
        ),
        same("The cheap train to the old town did not leave before noon.", "Before noon the cheap train had not left."),
    ] * 20
    found = list(made_pairs(pairs, seed=0))
    kinds = {kind for kind, _ in found}
    assert kinds > {"reordered", "copy", "roles", "number", "day", "place", "negation", "antonym"}
    assert kinds <= {*TRAINED, "reordered", "copy"} and found == list(made_pairs(pairs, seed=0))
    for kind, one in found:
        if kind in ("reordered", "copy"):
            assert (one.label, one.forth, one.back) == (1, None, None)
            assert (one.source.text == one.target.text) == (kind == "copy")
        else:
            assert one.label == 0 and (0 in (one.forth, one.back) or kind == "quantifier")


def test_a_negative_that_is_turned_has_its_directions_turned() -> None:
    pair, less = same("Tom left on Monday.", "On Monday Tom left."), Altered("Tom left.", True, False)
    one = made_pair(pair.source, less, pair)
    assert (one.source.text, one.target.text, one.forth, one.back) == ("Tom left on Monday.", "Tom left.", 1, 0)
    one = made_pair(pair.source, less, pair, turned=True)
    assert (one.source.text, one.target.text, one.forth, one.back) == ("Tom left.", "Tom left on Monday.", 0, 1)


def test_the_nearest_sentence_of_another_cluster() -> None:
    pairs = [
        same("How do I cancel my card?", "I want to cancel my card."),
        same("How do I activate my card?", "I want to activate my card."),
        same("The moon is far away.", "Far away is the moon."),
    ]
    found = [(one.source.text, one.target.text) for one in nearest_others(pairs, seed=0, share=1.0)]
    assert ("I want to cancel my card.", "I want to activate my card.") in found
    assert not any("moon" in text for pair in found for text in pair)


def test_every_rated_text_is_kept_from_training(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x y z", "source": "one two three", "n": 1}\n', encoding="utf-8")
    (tmp_path / "b.json").write_text('{"command": ["four five six", "one"]}', encoding="utf-8")
    assert rated(tmp_path) == ["x y z", "one two three", "four five six"]
    assert len(rated()) > 3000
    with pytest.raises(InputError, match="no such folder"):
        rated(tmp_path / "nowhere")


def test_no_text_of_a_test_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair with one, and its cluster, are left out before negatives are made of them."""
    read = {
        "tatoeba": [same(f"We met Tom {at} times in May.", f"In May we met Tom {at} times.") for at in range(2, 60)],
        "paws dev": [same("A b c d.", "D c b a.")],
        "quora dev": [same("Who was it?", "Who has it been?")] * 3,
    }
    leaked = {"We met Tom 7 times in May.", "Some other test."}
    monkeypatch.setattr(judge_data, "labelled", lambda data, terms, of_ways: dict(read))
    monkeypatch.setattr(judge_data, "measured_by", lambda data: [*leaked])
    for corpus in judge_data.ALONE:
        ruled = [same(f"It is cold in {corpus} now.", f"Now it is cold in {corpus}.")]
        corpora.write_jsonl(ruled, tmp_path / f"rules-{corpus}-0.jsonl")
    train, dev, counts = made(tmp_path, "free", tmp_path, seed=0, most=10**6)
    texts = {normalised(text) for text in texts_of([*train, *dev])}
    assert not texts & {normalised("We met Tom 7 times in May."), normalised("In May we met Tom 7 times.")}
    assert not {normalised(text) for text in texts_of(train)} & {normalised(text) for text in texts_of(dev)}
    assert "in a test or rated" in counts.markdown() and any(pair.label == 0 for pair in train)
