"""What the page asks of the embedded models, against the rooms that the same figures come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tiny_judge import new_judge, write_base

import paraform
from paraform.demo.answers import ENCODERS, OFFERED, SAMPLES, STEPS, Answers
from paraform.evaluation.embedding.distances import shared_distances, word_system
from paraform.evaluation.embedding.shared_words import WordPair, shared_words
from paraform.evaluation.rating import read_key, read_sheet
from paraform.weights import pretrained_folder
from paraform_papers.shipped import latent_compact

REPOSITORY = Path(__file__).resolve().parents[2]
SAID = "Can I use my card abroad?"
LIKE = ["how do i avoid plagiarism in my article ?", "is it hard to learn chess ?"]
TWO = ("How can I lose weight, and keep it, fast?", "How can I lose money fast, and how can I keep it?")

pytestmark = pytest.mark.skipif(pretrained_folder("compact") is None, reason="compact is not here yet")


def words_of(tree: Any) -> list[str]:
    _, inside = tree
    return [inside] if isinstance(inside, str) else [word for part in inside for word in words_of(part)]


def test_without_exemplars_it_says_what_reword_says_beside_the_text_s_tree(answers: Answers) -> None:
    found = answers.say(SAID, [])
    (expected,) = paraform.reword([SAID], num=4, device="cpu")
    assert [row["text"] for row in found["candidates"]] == [one.text for one in expected.candidates]
    assert all(all(row["checks"].values()) and row["beside"] == SAID for row in found["candidates"])
    for row in found["candidates"]:
        assert [words_of(tree) for tree in row["trees"]] == [paraform.tokenize(SAID), paraform.tokenize(row["text"])]
    assert answers.say("Wo ist meine Karte?", []) == {"candidates": [], "reason": "another language, or no sentence"}


def test_with_exemplars_it_says_what_paraphrase_says_beside_their_trees(answers: Answers) -> None:
    found = answers.say(SAID, LIKE)["candidates"]
    model = paraform.load("compact", device="cpu")
    assert [row["text"] for row in found] == model.paraphrase([SAID], like=LIKE, each=True)[0]
    assert [row["form"] for row in found] == [row["beside"] for row in found] == LIKE
    (parsed,) = paraform.load_parser(device="cpu")([paraform.tokenize(LIKE[0])])
    assert parsed is not None and found[0]["trees"][0][0] == parsed.label
    assert words_of(found[0]["trees"][0]) == list(parsed.words())


def test_offered_forms_are_another_s_and_can_be_taken(answers: Answers) -> None:
    forms = answers.forms(SAID)["forms"]
    assert len(set(forms)) == OFFERED and SAID not in forms
    assert len(answers.say(SAID, forms[:2])["candidates"]) == 2


def test_words_move_as_far_as_the_measure_of_distances_says(answers: Answers) -> None:
    """The room of evaluation computes the same by its own code; a word that stands twice is a mean of its places."""
    found = answers.same(*TWO)
    words = [tuple(paraform.tokenize(text)) for text in TWO]
    shared = shared_words(*words)
    for row in found["encoders"]:
        encoder = answers.encoders[row["encoder"]]
        peer = shared_distances([WordPair(*words, shared)], word_system("peer", encoder).words)
        expected = {word.word: far for word, far in zip(shared, peer.cosine_W, strict=True)}
        assert dict(row["moved"]) == pytest.approx(expected, abs=6e-4) and len(expected) == len(shared) > 5
        distances = [far for _, far in row["moved"]]
        assert distances == sorted(distances, reverse=True)
        left_D, right_D = encoder.encode(list(TWO))
        cosine = left_D @ right_D / np.linalg.norm(left_D) / np.linalg.norm(right_D)
        assert row["cosine"] == pytest.approx(float(cosine), abs=6e-4)
    assert found["only"] == [["weight"], ["money"]]
    assert answers.same("Cats sleep.", "Dogs bark!")["encoders"][0]["moved"] == []


def test_the_first_judge_is_asked_whose_base_is_to_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for name in ("better", "quick"):
        paraform.save(new_judge(write_base(tmp_path / f"base of {name}", "encoder")), tmp_path / name)
        names.append(str(tmp_path / name))
    monkeypatch.setattr("paraform.demo.answers.JUDGES", names)
    said = Answers("cpu").same(*TWO)["judged"]
    found = paraform.load(names[0], device="cpu").judge([TWO])
    assert said["by"] == names[0]
    assert [share for _, share in said["shares"]] == pytest.approx([float(values[0]) for values in found], abs=1e-3)
    (tmp_path / "base of better").rename(tmp_path / "elsewhere")
    quick, _, lacks = Answers("cpu").same(*TWO)["judged"]["by"].partition(" (")
    assert quick == names[1] and lacks.startswith(f"{names[0]} knows more: ") and "base of better" in lacks


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.9, 0.95, 0.95), "They say the same."),
        ((0.6, 0.8, 0.75), "They probably say the same."),
        ((0.4, 0.6, 0.7), "They may well say the same."),
        ((0.1, 0.9, 0.1), "The second leaves something out."),
        ((0.1, 0.1, 0.9), "The second adds something."),
        ((0.1, 0.3, 0.3), "They say different things."),
    ],
)
def test_what_the_judge_thinks_is_said_in_words(shares: tuple[float, ...], told: str) -> None:
    one = Answers("cpu")
    one.judge = "a judge", SimpleNamespace(judge=lambda pairs: [[share] for share in shares])
    assert one.same(*TWO)["judged"]["told"] == told


def test_the_way_has_both_ends_and_samples_depend_on_the_seed_alone(answers: Answers) -> None:
    ends = ("He is happy.", "She has a flurblwurg.")
    found = answers.walk(*ends)
    model = paraform.load("latent-compact", device="cpu")
    assert [row["text"] for row in found["said"]] == model.interpolate(*ends, steps=STEPS) and found["unknown"] == 1
    assert len(found["said"]) == STEPS and len(answers.sample(1)["said"]) == SAMPLES
    assert answers.sample(1) == answers.sample(1) != answers.sample(2)
    with pytest.raises(paraform.InputError, match="at most 40"):
        answers.walk("word " * 50, "He is happy.")


def test_what_is_said_stands_beside_the_nearest_training_sentence(answers: Answers) -> None:
    """By brute force over all of them; word for word one of them is 1."""
    known = answers.trained_on
    rows = answers._beside_nearest([known[100], "I have never seen this flurblwurg.", known[100]])
    assert rows[0] == rows[2] == {"text": known[100], "nearest": known[100], "similarity": 1}
    words = answers.latent.words
    nearest = max(_alike(words(rows[1]["text"]), words(text)) for text in known)
    assert rows[1]["similarity"] == round(nearest, 3) < 1
    assert _alike(words(rows[1]["text"]), words(rows[1]["nearest"])) == nearest


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    """1 − edits of lower-cased words over the longer's length, by the textbook's recurrence."""
    one, other = [word.lower() for word in one], [word.lower() for word in other]
    row = list(range(len(other) + 1))
    for place, word in enumerate(one, start=1):
        before, row = row, [place]
        for at, against in enumerate(other, start=1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (word != against)))
    return 1 - row[-1] / max(len(one), len(other))


def test_the_training_sentences_are_those_of_the_recipe(data: Path) -> None:
    training, _, _ = latent_compact.splits(data / "tatoeba" / "pairs.tsv")
    assert Answers("cpu").trained_on == training


def test_the_report_is_of_the_embedded_encoders_and_says_what_the_documents_say() -> None:
    """Its picture's and tables' encoders, and the mean of similarity on ParaBART's page."""
    report = (Path(paraform.__file__).parent / "demo" / "report.html").read_text(encoding="utf-8")
    assert all(f"<b>{name}</b>" in report for name in ENCODERS) and "<script" not in report
    assert "--data ../shared/data" in report and "@style@" not in report
    for name, mean in (("minilm", "78.3"), ("minilm-disentangled", "77.9")):
        assert f"{mean} (" in (REPOSITORY / "docs/results/parabart.md").read_text(encoding="utf-8")
        assert re.search(rf"{re.escape(name)}</th>.*?{mean}", report, re.DOTALL)


def test_the_sheet_is_one_that_paraform_rate_reads() -> None:
    folder = Path(paraform.__file__).parent / "demo"
    items, key = read_sheet(folder / "sheet.jsonl"), read_key(folder / "key.json")
    assert {item.id for item in items} == set(key.items) and set(key.systems) == {"frames", "decoder", "copies"}
