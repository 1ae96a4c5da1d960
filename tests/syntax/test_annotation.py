from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from paraform.records import Sentence
from paraform.syntax import annotation
from paraform.syntax.annotation import annotate

TEXTS = ["Don't RUN, dogs!", "", "Why?", "Don't RUN, dogs!"]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, ...]]]:
    """What a tagger is asked; it gives each word its length for a tag."""
    asked: list[list[tuple[str, ...]]] = []

    def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        asked.append([tuple(words) for words in sentences])
        return [[f"L{len(word)}" for word in words] for words in sentences]

    monkeypatch.setattr(annotation, "load_tagger", lambda name, device: tag)
    monkeypatch.setattr(annotation, "tagger_digest", lambda name: f"digest of {name}")
    return asked


def test_words_and_tags_in_order(calls: list[list[tuple[str, ...]]], tmp_path: Path) -> None:
    words = ("Do", "n't", "RUN", ",", "dogs", "!")
    first = Sentence(TEXTS[0], words, ("L2", "L3", "L3", "L1", "L4", "L1"))
    expected = [first, Sentence(""), Sentence("Why?", ("Why", "?"), ("L3", "L1")), first]
    assert annotate(TEXTS, cache=tmp_path) == expected
    assert calls == [[words, (), ("Why", "?")]]  # each text once
    assert annotate(TEXTS, cache=tmp_path) == expected
    assert len(calls) == 1  # the rest came from the disk
    assert annotate([], cache=tmp_path) == []


def test_what_makes_a_difference_is_tagged_again(
    calls: list[list[tuple[str, ...]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate(TEXTS, cache=tmp_path)
    cut = annotate(TEXTS, max_tokens=2, cache=tmp_path)
    assert cut[0].tokens == ("Do", "n't") and calls[1] == [("Do", "n't"), (), ("Why", "?")]
    lower = annotate(TEXTS, lower=True, cache=tmp_path)
    assert lower[0].tokens == ("do", "n't", "run", ",", "dogs", "!") and lower[0].text == TEXTS[0]
    annotate(TEXTS, tagger="another", cache=tmp_path)
    annotate(TEXTS[:2], cache=tmp_path)
    annotate(["Don't RUN, dogs! Why?"], cache=tmp_path)
    annotate(["Don't RUN, dogs!", "Why?"], cache=tmp_path)
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    annotate(TEXTS, cache=tmp_path)
    assert len(calls) == 8 == len(list((tmp_path / "annotations").iterdir()))


def test_a_tree_of_other_words_goes(calls: list[list[tuple[str, ...]]]) -> None:
    given = Sentence("Why now?", ("Why", "now", "?"), ("WRB", "RB", "."), "(X (WRB Why) (RB now) (. ?))")
    (tagged,) = annotation.Annotator(max_tokens=2, lower=True).open()([given])
    assert (tagged.tokens, tagged.tags, tagged.tree) == (("why", "now"), ("L3", "L3"), None)


def test_the_default_folder(
    calls: list[list[tuple[str, ...]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARAFORM_CACHE", str(tmp_path / "cache"))
    annotate(["Why?"])
    assert len(list((tmp_path / "cache" / "annotations").glob("*.json"))) == 1


def test_trees_bring_their_tags(tmp_path: Path) -> None:
    (sentence, empty) = annotate(["He left.", ""], parser="syntax", cache=tmp_path)
    assert sentence.tree == "(ROOT (S (NP (PRP He)) (VP (VBD left)) (. .)))"
    assert sentence.tags == ("PRP", "VBD", ".")
    assert (empty.tokens, empty.tags, empty.tree) == ((), (), None)
    assert annotate(["He left.", ""], parser="syntax", cache=tmp_path) == [sentence, empty]
    assert annotate(["He left."], cache=tmp_path)[0].tree is None  # tags alone are other files


def test_more_texts_than_a_file_holds(
    calls: list[list[tuple[str, ...]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What grows at its end is computed at its end alone."""
    monkeypatch.setattr(annotation, "AT_ONCE", 2)
    texts = [f"a{number} \u2028 b" for number in range(5)]
    assert [sentence.text for sentence in annotate(texts[:4], cache=tmp_path)] == texts[:4]
    assert annotate(texts, cache=tmp_path)[4].tokens == ("a4", "b")
    assert len(calls) == 3 == len(list((tmp_path / "annotations").iterdir()))
