"""`datasets` as it is used offline: a folder of save_to_disk, and a builder over local files."""

from __future__ import annotations

import sys
from pathlib import Path

import datasets
import pytest

from paraform import corpora
from paraform.records import InputError, Origin, Pair, Sentence, Triple

ROWS = {
    "question1": ["How old are you?", "Who?"],
    "question2": ["What is your age?", "Which one?"],
    "is_duplicate": [True, False],
    "similarity": [0.5, None],
}
COLUMNS = {"source": "question1", "target": "question2", "label": "is_duplicate", "score": "similarity"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "saved"
    datasets.Dataset.from_dict(ROWS).save_to_disk(path)
    return path


def test_a_folder_on_disk(folder: Path) -> None:
    pairs = list(corpora.read_dataset(folder, COLUMNS))
    assert pairs == [
        Pair(Sentence("How old are you?"), Sentence("What is your age?"), label=1, score=0.5),
        Pair(Sentence("Who?"), Sentence("Which one?"), label=0),
    ]
    assert pairs[1].origin == Origin(str(folder), 2)


def test_a_folder_with_splits(tmp_path: Path) -> None:
    both = datasets.DatasetDict({"train": datasets.Dataset.from_dict(ROWS)})
    both.save_to_disk(tmp_path / "splits")
    assert len(list(corpora.read_dataset(tmp_path / "splits", {"text": "question1"}))) == 2
    with pytest.raises(InputError, match=r"no split 'test'; expected one of train$"):
        list(corpora.read_dataset(tmp_path / "splits", {"text": "question1"}, split="test"))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("builder", ["json", "csv"])
def test_a_builder_over_local_files(tmp_path: Path, builder: str, streaming: bool) -> None:
    path = tmp_path / f"rows.{builder}"
    getattr(datasets.Dataset.from_dict({"a": ["x"], "b": ["y"], "c": ["z"]}), f"to_{builder}")(path)
    columns = {"source": "a", "exemplar": "b", "target": "c"}
    found = corpora.read_dataset(builder, columns, data_files=str(path), streaming=streaming)
    assert list(found) == [Triple(Sentence("x"), Sentence("y"), Sentence("z"))]


def test_bad_rows(tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"a": ["x", " ", None, "y"]}).save_to_disk(tmp_path / "bad")
    with pytest.raises(InputError, match=r"bad:2: the text is empty; expected a sentence$"):
        list(corpora.read_dataset(tmp_path / "bad", {"text": "a"}))
    found = list(corpora.read_dataset(tmp_path / "bad", {"text": "a"}, skip_bad_lines=True))
    assert [record.origin.line for record in found if record.origin] == [1, 4]


@pytest.mark.parametrize("streaming", [False, True])
def test_no_rows(tmp_path: Path, streaming: bool) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n")
    none = corpora.read_dataset("csv", {"text": "a"}, data_files=str(path), streaming=streaming)
    with pytest.raises(InputError, match=r"^csv: "):
        list(none)


def test_what_is_not_there(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'answer'; expected one of question1, question2, is_duplicate"):
        list(corpora.read_dataset(folder, {"text": "answer"}))
    with pytest.raises(InputError, match="cannot be loaded"):
        list(corpora.read_dataset("no-such/data-set", {"text": "a"}))
    with pytest.raises(InputError, match="cannot be loaded"):
        list(corpora.read_dataset("json", {"text": "a"}, data_files=str(tmp_path / "none.json")))
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": ')
    with pytest.raises(InputError, match="cannot be loaded"):
        list(corpora.read_dataset("json", {"text": "a"}, data_files=str(broken)))


@pytest.mark.parametrize(
    "columns", [{}, {"source": "a"}, {"exemplar": "a"}, {"text": "a", "target": "b"}, {"text": "a", "colour": "b"}]
)
def test_columns_that_make_no_record(folder: Path, columns: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"^columns are .*; expected such as"):
        list(corpora.read_dataset(folder, columns))


def test_without_datasets_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"needs datasets: pip install 'paraform\[cluster\]'$"):
        list(corpora.read_dataset("any", {"text": "a"}))
