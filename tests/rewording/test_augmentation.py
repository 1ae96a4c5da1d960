"""What makes two texts the same, and whose label a text has; tests/cli/test_augment.py writes whole tables."""

from __future__ import annotations

import pytest

from paraform.corpora.tables import Row
from paraform.records import InputError, Origin
from paraform.rewording.augmentation import Labels, plain


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
