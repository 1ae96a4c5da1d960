"""What makes two texts the same, and whose label a text has; tests/cli/test_augment.py writes whole tables."""

from __future__ import annotations

import pytest

from paraform.corpora.tables import Row
from paraform.records import Candidate, InputError, Origin, Rewording
from paraform.rewording.augmentation import LINE, SAME, SOURCE, Labels, Tally, augmented, plain


@pytest.mark.parametrize(
    ("first", "second"), [("What IS it?", "what is it"), ("(Hello) - you…", "hello you"), ("Straße", "STRASSE")]
)
def test_case_punctuation_and_spaces_make_no_other_text(first: str, second: str) -> None:
    assert plain(first) == plain(second)


@pytest.mark.parametrize(("first", "second"), [("is it 5", "is it $5"), ("C", "C++"), ("कि", "की"), ("?", "!")])
def test_letters_marks_and_symbols_do(first: str, second: str) -> None:
    assert plain(first) != plain(second)


def test_a_text_is_elsewhere_if_any_row_has_it_under_another_label() -> None:
    def row(label: object) -> Row:
        return Row({"intent": label}, "", Origin("x", 4))  # type: ignore[dict-item]

    labels = Labels("intent")
    labels.add("Hi!", row("greet"))
    assert not labels.elsewhere("hi", row("greet")) and labels.elsewhere("hi", row("leave"))
    assert not labels.elsewhere("hello", row("leave"))
    labels.add("Hi.", row("leave"))
    assert labels.elsewhere("hi", row("greet")) and labels.elsewhere("hi", row("leave"))
    labels.add("1", row(1))
    assert all(labels.elsewhere("1", row(other)) for other in ("1", True, 1.5, None))
    with pytest.raises(InputError, match=r"^x:4: no column 'intent'; expected one of 'label'$"):
        labels.add("hi", Row({"label": "a"}, "hi", Origin("x", 4)))


def test_a_later_row_with_a_column_that_is_to_be_added_is_named() -> None:
    """JSON lines may have other columns in each row."""
    rows = [
        Row({"text": "a", **extra}, "a", Origin("x", line))
        for line, extra in enumerate([{}, {SOURCE: "b"}, {LINE: 1, SOURCE: "b"}], start=1)
    ]

    def none(texts: object, number: int) -> list[Rewording]:
        return [Rewording("a", (), "no words")]

    made = augmented([rows[:1], rows[1:2]], none, "text", Tally(), per_row=1)
    assert next(made).fields == {"text": "a", LINE: 1, SOURCE: ""}
    with pytest.raises(InputError, match=r"^x:2: a column 'paraform_source' is there already; expected none"):
        next(made)
    with pytest.raises(InputError, match=r"^x:3: a column 'paraform_line' is there already"):
        list(augmented([rows[2:]], none, "text", Tally(), per_row=1))
    assert list(augmented([rows[1:2]], none, "text", Tally(), per_row=1, mark=False)) == rows[1:2]


def test_no_more_rewordings_are_made_than_asked_for() -> None:
    """What a model gives beyond them is not looked at, and so not counted either."""
    tally = Tally()
    candidates = tuple(Candidate(text, "", {}, 1.0) for text in ("A!", "b", "B?", "c", "d", "D"))
    made = augmented(
        [[Row({"text": "a"}, "a", Origin("x", 1))]],
        lambda texts, number: [Rewording("a", candidates)],
        "text",
        tally,
        per_row=2,
        mark=False,
    )
    assert [row.text for row in made] == ["a", "b", "c"]
    assert (tally.rewordings, tally.left_out) == (2, {SAME: 2})
