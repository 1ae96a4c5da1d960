"""What makes two texts the same, and whose label a text has; tests/cli/test_augment.py writes whole tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from paraform.corpora.tables import Dialect, Row, Table
from paraform.records import Candidate, InputError, Origin, Rewording
from paraform.rewording.augmentation import (
    ELSEWHERE,
    LINE,
    NO_SPAN,
    REPEATED,
    SAME,
    SOURCE,
    WRAPPED,
    Tally,
    Texts,
    augmented,
    plain,
    spans_in,
)

TABLE = Table(("text",), "text", Dialect("jsonl"), iter(()))


@pytest.mark.parametrize(
    ("first", "second"), [("What IS it?", "what is it"), ("(Hello) - you…", "hello you"), ("Straße", "STRASSE")]
)
def test_case_punctuation_and_spaces_make_no_other_text(first: str, second: str) -> None:
    assert plain(first) == plain(second)


@pytest.mark.parametrize(("first", "second"), [("is it 5", "is it $5"), ("C", "C++"), ("कि", "की"), ("?", "!")])
def test_letters_marks_and_symbols_do(first: str, second: str) -> None:
    assert plain(first) != plain(second)


def test_a_text_of_another_row_is_taken() -> None:
    def row(label: object) -> Row:
        return Row({"intent": label}, "", Origin("x", 4))  # type: ignore[dict-item]

    texts = Texts("intent")
    texts.add("Hi!", row("greet"))
    assert texts.taken("hi", row("greet")) == REPEATED and texts.taken("hi", row("leave")) == ELSEWHERE
    assert texts.taken("hello", row("leave")) == ""
    texts.add("Hi.", row("leave"))
    assert texts.taken("hi", row("greet")) == ELSEWHERE == texts.taken("hi", row("leave"))
    texts.add("1", row(1))
    assert all(texts.taken("1", row(other)) == ELSEWHERE for other in ("1", True, 1.5, None))
    with pytest.raises(InputError, match=r"^x:4: no column 'intent'; expected one of 'label'$"):
        texts.add("hi", Row({"label": "a"}, "hi", Origin("x", 4)))
    alone = Texts()
    alone.add("hi", Row({}, "hi", Origin("x", 4)))
    assert alone.taken("Hi", Row({}, "", Origin("x", 5))) == REPEATED


def test_a_later_row_with_a_column_that_is_to_be_added_is_named() -> None:
    """JSON lines may have other columns in each row."""
    rows = [
        Row({"text": "a", **extra}, "a", Origin("x", line))
        for line, extra in enumerate([{}, {SOURCE: "b"}, {LINE: 1, SOURCE: "b"}], start=1)
    ]

    def none(texts: object, number: int) -> list[Rewording]:
        return [Rewording("a", (), "no words")]

    made = augmented([rows[:1], rows[1:2]], none, TABLE, Tally(), per_row=1)
    assert next(made).fields == {"text": "a", LINE: 1, SOURCE: ""}
    with pytest.raises(InputError, match=r"^x:2: a column 'paraform_source' is there already; expected none"):
        next(made)
    with pytest.raises(InputError, match=r"^x:3: a column 'paraform_line' is there already"):
        list(augmented([rows[2:]], none, TABLE, Tally(), per_row=1))
    assert list(augmented([rows[1:2]], none, TABLE, Tally(), per_row=1, mark=False)) == rows[1:2]


def test_no_more_rewordings_are_made_than_asked_for() -> None:
    """What a model gives beyond them is not looked at, and so not counted either."""
    tally = Tally()
    candidates = tuple(Candidate(text, "", {}, 1.0) for text in ("A!", "b", "B?", "c", "d", "D"))
    made = augmented(
        [[Row({"text": "a"}, "a", Origin("x", 1))]],
        lambda texts, number: [Rewording("a", candidates)],
        TABLE,
        tally,
        per_row=2,
        mark=False,
    )
    assert [row.text for row in made] == ["a", "b", "c"]
    assert (tally.rewordings, tally.left_out) == (2, {SAME: 2})


def test_a_span_moves_with_its_part() -> None:
    """Where the part is not there once, the rewording is left out, and counted."""
    rows = [
        Row({"text": text, "city": city, "start": start, "end": start + len(city)}, text, Origin("x", 1))
        for text, city, start in [("Fly me to Rome", "Rome", 10), ("Is Oslo far?", "Oslo", 3)]
    ]
    assert spans_in(rows, "text") == ("start", "end") and spans_in([], "text") is None
    assert spans_in([*rows, Row({"text": "a", "start": 0, "end": 1}, "a", Origin("x", 1))], "text") is None
    said = {rows[0].text: ["Rome is my goal", "Rome, Rome!", "Go"], rows[1].text: ["How far is Oslo?"]}

    def reword(texts: Sequence[str], number: int) -> list[Rewording]:
        return [Rewording(text, tuple(Candidate(one, "", {}, 1.0) for one in said[text])) for text in texts]

    tally = Tally()
    made = augmented([rows], reword, TABLE, tally, per_row=3, mark=False, keep_source=False, spans=("start", "end"))
    found = [(row.fields["text"], row.fields["start"], row.fields["end"]) for row in made]
    assert found == [("Rome is my goal", 0, 4), ("How far is Oslo?", 11, 15)]
    assert tally.left_out == {NO_SPAN: 2}


def test_what_only_puts_words_around_is_left_out() -> None:
    def reword(texts: Sequence[str], number: int) -> list[Rewording]:
        said = (Candidate("Paid?", "", {}, 2.0), Candidate("Can you tell me if it is?", "", {}, 1.0, wrapped=True))
        return [Rewording(text, said) for text in texts]

    tally, row = Tally(), Row({"text": "Is it?"}, "Is it?", Origin("x", 2))
    made = list(augmented([[row]], reword, TABLE, tally, per_row=3, keep_source=False))
    assert [one.text for one in made] == ["Paid?"] and tally.left_out == {WRAPPED: 1}
    assert len(list(augmented([[row]], reword, TABLE, Tally(), per_row=3, keep_source=False, wrapped=True))) == 2
