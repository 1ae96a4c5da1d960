"""What each command prints and writes, with a model that was trained a moment ago and says nothing sensible."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_judge import new_judge, write_base

import paraform
from paraform import checkpoint, cli, corpora
from paraform.cli import reading
from paraform.engines import Engine
from paraform.records import InputError, Sentence, from_json
from paraform.syntax import ExemplarIndex
from paraform.trainers import exemplar
from paraform_papers.tables import Asked, Made

Command = Callable[..., Any]
SOURCE = "what is the easiest way to get followers on quora ?"
LIKE = "how do i avoid plagiarism in my article ?"


def object_of(done: Any) -> dict[str, Any]:
    """The one JSON object that stdout holds."""
    assert done.status == 0, done.err
    assert done.out.count("\n") == 1
    value = json.loads(done.out)
    assert isinstance(value, dict)
    return value


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.fixture(scope="module")
def some_pairs(question_pairs: Path, scratch: Path) -> Path:
    """Every fifth of the pairs, for measuring."""
    path = scratch / "some.tsv"
    path.write_text("".join(question_pairs.read_text().splitlines(keepends=True)[::5]))
    return path


def test_paraphrase_prints_the_object_that_the_readme_promises(tiny_run: Path, command: Command) -> None:
    found = object_of(command("paraphrase", SOURCE, "--like", LIKE, "--model", tiny_run, "--json"))
    model = paraform.load(tiny_run / "best", device="cpu")
    (row,) = found["paraphrases"]
    vectors = paraform.load("minilm", device="cpu").encode([SOURCE, row["paraphrase"]])
    assert found == {"paraphrases": [row], "skipped": [], "model": str(tiny_run)}
    keys = ["source", "paraphrase", "exemplar", "change", "content", "score", "checks", "figures"]
    assert list(row) == keys
    assert (row["source"], row["exemplar"]) == (SOURCE, LIKE)
    assert [row["paraphrase"]] == model.paraphrase([SOURCE], like=[LIKE])
    assert row["content"] == pytest.approx(float(vectors[0] @ vectors[1]), abs=2e-3)


def test_plain_output_is_a_paraphrase_a_line(tiny_run: Path, command: Command) -> None:
    given = ["--model", tiny_run, "--like", LIKE, "why do people snore ?"]
    one = command("paraphrase", SOURCE, *given, "--each")
    found = object_of(command("paraphrase", SOURCE, *given, "--each", "--json"))["paraphrases"]
    assert one.out.splitlines() == [row["paraphrase"] for row in found]
    two = command("paraphrase", SOURCE, "is it late ?", *given)
    assert [line.split(" → ")[0] for line in two.out.splitlines()] == [SOURCE, "is it late ?"]
    assert all("may say something else" in line for done in (one, two) for line in done.err.splitlines())


def test_texts_come_from_arguments_files_and_stdin(
    tiny_run: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("is it late ?\nare we there ?\n")
    Path("likes.txt").write_text("who cares ?\n")
    stdin(monkeypatch, b"wer fragt ?\n")
    given = ["texts.txt", "-", "an argument: [1, 2]", "--like", "likes.txt", "--model", tiny_run]
    found = object_of(command("paraphrase", *given, "--json"))["paraphrases"]
    assert [row["source"] for row in found] == [
        "is it late ?",
        "are we there ?",
        "wer fragt ?",
        "an argument: [1, 2]",
    ]
    assert {row["exemplar"] for row in found} == {"who cares ?"}


def test_what_is_hardly_a_text_a_line_is_read_and_told(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("id,text\n1,A cat sleeps.\n")
    (tmp_path / "pairs.tsv").write_text("A cat sleeps.\tThe cat is asleep.\nA dog barks.\n")
    (tmp_path / "records.jsonl").write_text('{"text": "A cat sleeps."}\n')
    (tmp_path / "good.tsv").write_text("A cat sleeps.\tThe cat is asleep.\n")
    (tmp_path / "cats").mkdir()
    said = {
        "table.csv": "a table by its name, read as a text a line, whatever that is",
        "records.jsonl": "JSON by its name, read as a text a line, whatever that is; if it holds records, say --format "
        "jsonl",
        "pairs.tsv": "1 of 2 sentences hold a TAB; if those are pairs, say --format pairs",
        "pairs.tx": "no such file, and so read as a text",
    }
    for name, wanted in said.items():
        done = command("tag", name)
        assert done.status == 0 and done.out and done.err == f"paraform: {name}: {wanted}\n", name
    assert command("tag", "records.jsonl", "--format", "jsonl").err == ""
    assert command("tag", "good.tsv", "--format", "pairs").err == command("tag", "A dog barks at 3.15 p.m.").err == ""
    done = command("tag", "cats")
    assert done.err == "paraform: error: cats: a folder; expected a text, a file, or -\n" and done.status == 2
    done = command("embed", "table.csv", "--out", "vectors")
    assert f"table.csv: {said['table.csv']}; --text-column says which of its columns are texts\n" in done.err


def test_min_content_drops_what_drifted_and_says_how_many(tiny_run: Path, command: Command) -> None:
    given = ["paraphrase", SOURCE, "is it late ?", "--like", LIKE, "--model", tiny_run, "--json"]
    scores = [row["content"] for row in object_of(command(*given))["paraphrases"]]
    least = sum(scores) / 2
    done = command(*given, "--min-content", least)
    assert [row["content"] for row in object_of(done)["paraphrases"]] == [max(scores)]
    assert [line for line in done.err.splitlines() if "may say something else" not in line] == [
        f"paraform: 1 of 2 paraphrases dropped: 1 × content below {least}",
        f"paraform: 1 of 2 texts left out: 1 content below {least}",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--like", "Why?"], "exemplar 'Why?' is one word; expected a sentence whose form to take"),
        (["--like", "how so ?", "--top-p", "0.9"], "--top-p 0.9 at --temperature 0; expected a --temperature"),
        (["--like", "how so ?", "--temperature", "1e39"], "temperature 1e+39; expected 1e-6 to 1e6"),
    ],
)
def test_what_says_nothing_is_an_error(given: list[str], message: str, tiny_run: Path, command: Command) -> None:
    done = command("paraphrase", SOURCE, *given, "--model", tiny_run, "--json")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1) and message in done.err


@pytest.mark.parametrize("how", [["--beam", "3"], ["--temperature", "0.9", "--top-p", "0.8"], ["--batch-size", "1"]])
def test_every_way_of_decoding(how: list[str], tiny_run: Path, command: Command) -> None:
    given = ["paraphrase", SOURCE, "is it late ?", "--like", LIKE, "--model", tiny_run, "--json", *how]
    assert len(object_of(command(*given))["paraphrases"]) == 2


def test_embed_writes_the_encoders_rows(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "vectors.npy"
    assert command("embed", "A sentence.", "Another.", "--out", out) == (0, f"{out}: float32 [2, 384]\n", "")
    rows = np.load(out)
    assert rows.dtype == np.float32 and rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, paraform.load("minilm").encode(["A sentence.", "Another."]))
    found = object_of(command("embed", "A sentence.", "Another.", "--json"))
    np.testing.assert_allclose(found["vectors"], rows, atol=1e-6)
    assert (found["model"], found["rows"], found["dimension"]) == ("minilm", 2, 384)


@pytest.mark.parametrize("kind", ["content", "style"])
def test_embed_gives_an_exemplar_models_vectors(kind: str, tiny_run: Path, tmp_path: Path, command: Command) -> None:
    given = ["embed", "is it late ?", "why ?", "--model", tiny_run, "--vectors", kind, "--out", tmp_path / "v.npy"]
    found = object_of(command(*given, "--json"))
    model = paraform.load(tiny_run / "best")
    expected = getattr(model, kind)(["is it late ?", "why ?"])
    np.testing.assert_allclose(np.load(tmp_path / "v.npy"), expected, atol=1e-6)
    assert found == {"out": str(tmp_path / "v.npy"), "model": str(tiny_run), "rows": 2, "dimension": expected.shape[1]}


def test_tag_gives_a_tag_a_word(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"The cat sat on the mat.\n")
    done = command("tag", "-")
    assert done == (0, "The/DT cat/NN sat/VBD on/IN the/DT mat/NN ./.\n", "")
    found = object_of(command("tag", "The cat sat on the mat.", "Don't go.", "--json"))
    assert found["tagger"] == "syntax"
    assert found["sentences"][0]["tags"] == ["DT", "NN", "VBD", "IN", "DT", "NN", "."]
    assert found["sentences"][1]["tokens"] == ["Do", "n't", "go", "."]


def test_parse_gives_a_tree_a_text(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"Why did the old man leave?\n")
    done = command("parse", "-")
    tree = "(ROOT (SBARQ (WHADVP (WRB Why)) (SQ (VBD did) (NP (DT the) (JJ old) (NN man)) (VP (VB leave))) (. ?)))"
    assert (done.status, done.out) == (0, tree + "\n")
    found = object_of(command("parse", "Why did the old man leave?", "Go (now)!", "--json"))
    assert found["parser"] == "syntax"
    first, second = (from_json(sentence) for sentence in found["sentences"])
    assert first.tree == tree and first.tags == ("WRB", "VBD", "DT", "JJ", "NN", "VB", ".")
    assert second.tokens == ("Go", "(", "now", ")", "!") and "(-LRB- -LRB-)" in second.tree
    drawn = command("parse", "Why did the old man leave?", "--indent").out
    assert "".join(line.strip() + " " for line in drawn.splitlines()).replace(") )", "))").split() == tree.split()
    assert drawn.startswith("(ROOT\n  (SBARQ\n    (WHADVP (WRB Why))\n")


@pytest.mark.parametrize("name", ["tag", "parse"])
def test_what_came_before_a_bad_line_was_printed(name: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"A cat.\nA dog.\n\xff\nA bird.\n")
    whole = command(name, "A cat.", "A dog.", "A bird.").out.splitlines()
    given = [name, path, "--batch-size", "1"]
    error = f"paraform: error: {path}:3: "
    done = command(*given)
    assert (done.status, done.out.splitlines()) == (2, whole[:2])
    assert done.err.startswith(error) and done.err.count("\n") == 1
    done = command(*given, "--json")
    assert done.status == 2 and done.err.startswith(error) and done.err.count("\n") == 1
    assert [row["text"] for row in json.loads(done.out + "]}")["sentences"]] == ["A cat.", "A dog."]
    done = command(*given, "--skip-bad-lines")
    assert (done.status, done.out.splitlines()) == (0, whole)
    assert done.err.count("1 bad line skipped") == done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["tag", "parse", "embed"])
def test_no_more_texts_are_held_than_are_computed_at_once(
    name: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line is read when the first texts have been computed."""
    module = import_module("paraform.cli.embed" if name == "embed" else "paraform.cli.tag")
    read, seen = 0, []
    stream = module.stream_texts

    def watched(*given: Any) -> Iterable[str]:
        nonlocal read
        for text in stream(*given):
            read += 1
            yield text

    def parts(texts: Iterable[str], size: int) -> Iterable[list[str]]:
        for part in reading.parts(texts, 2):
            seen.append(read)
            yield part

    monkeypatch.setattr(module, "stream_texts", watched)
    monkeypatch.setattr(module, "parts", parts)
    (tmp_path / "texts.txt").write_text("a cat\na dog\na bird\na fish\na cow\n")
    for more in (["--json"], ["--out", tmp_path / "v.npy"] if name == "embed" else []):
        read = 0
        assert command(name, tmp_path / "texts.txt", *more).status == 0
    assert seen == [2, 4, 5] * 2


def test_embed_writes_rows_as_they_come(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts of two, the rows are those of one part; memory-mapped too."""
    embed = import_module("paraform.cli.embed")
    (tmp_path / "texts.txt").write_text("".join(f"the cat number {number}\n" for number in range(5)))
    whole = object_of(command("embed", tmp_path / "texts.txt", "--json"))
    monkeypatch.setattr(embed, "CHUNK", 2)
    assert command("embed", tmp_path / "texts.txt", "--out", tmp_path / "v.npy").out.endswith("float32 [5, 384]\n")
    for mode in (None, "r"):
        rows = np.load(tmp_path / "v.npy", mmap_mode=mode)
        assert rows.shape == (5, 384) and rows.dtype == np.float32
        np.testing.assert_allclose(rows, whole["vectors"], atol=0.01)
    in_parts = object_of(command("embed", tmp_path / "texts.txt", "--json"))
    assert in_parts.keys() == whole.keys() and (in_parts["rows"], in_parts["dimension"]) == (5, 384)
    with open(tmp_path / "texts.txt", "ab") as file:
        file.write(b"\xff\n")
    done = command("embed", tmp_path / "texts.txt", "--out", tmp_path / "new" / "v.npy")
    assert done.status == 2 and "texts.txt:6: " in done.err and not list(tmp_path.rglob("new/*"))


@pytest.mark.parametrize("name", ["tag", "parse", "embed", "annotate"])
def test_what_torch_keeps_of_shapes_is_bounded_before_it_is_imported(name: str, tmp_path: Path) -> None:
    """Measured: of 6,144 short texts `tag` kept 400 MB more, without end; with the bound, nothing more.

    The process ends where torch would begin.
    """
    code = (
        "import os, sys\n"
        "class Watch:\n"
        "    def find_spec(name, *rest):\n"
        "        if name == 'torch._C':\n"
        "            bounds = os.environ['ONEDNN_PRIMITIVE_CACHE_CAPACITY'], os.environ['LRU_CACHE_CAPACITY']\n"
        "            print('bounds', *bounds, flush=True)\n"
        "            os._exit(0)\n"
        "sys.meta_path.insert(0, Watch)\n"
        "from paraform.cli import main\n"
        "sys.exit(main())"
    )
    given = [name, tmp_path / "nowhere.txt", "--out", tmp_path / "out"][: 4 if name in ("embed", "annotate") else 2]
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "bounds 16 16\n", "")


def test_syntax_is_measured_on_any_trees(tmp_path: Path, command: Command) -> None:
    gold, other = tmp_path / "gold.mrg", tmp_path / "other.mrg"
    gold.write_text("(ROOT (S (NP-SBJ (PRP He)) (VP (VBD left) (NP (-NONE- *)))))\n( (NP (DT a)\n (NN day)))\n")
    other.write_text("(TOP (S (NP (PRP He)) (VP (VBD left))))\n( (NP (DT a) (NP (NN day))))\n")
    found = object_of(command("evaluate", "syntax", "--data", gold, "--trees", other, "--json"))
    value = {score["name"]: score["value"] for score in found["scores"] if score["subset"] == "all"}
    assert found["trees"] == 2
    assert value["labelled F1"] == pytest.approx(100 * 2 * 4 / (4 + 5)) and value["tag accuracy"] == 100
    assert "labelled F1" in command("evaluate", "syntax", "--data", gold).out
    for content, message in {
        "(S (NP (PRP He)": "other.mrg:1: the tree that begins here is not closed (2 brackets open)",
        "(S (NP (PRP He)))": "1 trees, expected the 2 of",
        "(S (NP (PRP She)) (VP (VBD left)))\n(NP (DT a) (NN day))": "its words are not those of the tree in",
        "(S (NP (PRP He) x) (VP (VBD left)))": "other.mrg:1: character 17: 'x' behind a word or a phrase",
    }.items():
        other.write_text(content)
        done = command("evaluate", "syntax", "--data", gold, "--trees", other)
        assert (done.status, done.out) == (2, "") and message in done.err and done.err.count("\n") == 1


def test_annotate_writes_tags_and_trees(tmp_path: Path, command: Command, inline: None) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.jsonl"
    corpus.write_text("The cat sat.\nDon't go.\n")
    given = ["annotate", corpus, "--format", "text", "--out", out, "--workers", "1"]
    done = command(*given)
    assert (done.status, done.out) == (0, f"{out}: 2 records\n")
    first, second = (from_json(json.loads(line)) for line in out.read_text().splitlines())
    assert isinstance(first, Sentence) and (first.tags, first.tree) == (("DT", "NN", "VBD", "."), None)
    assert isinstance(second, Sentence) and second.tokens == ("Do", "n't", "go", ".")
    found = object_of(command(*given, "--trees", "--overwrite", "--json"))
    assert found == {"out": str(out), "records": 2, "trees": True}
    first = from_json(json.loads(out.read_text().splitlines()[0]))
    assert isinstance(first, Sentence) and (first.tree or "").startswith(
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat))"
    )
    done = command(*given, "--parser", "syntax-all", "--overwrite")
    assert (done.status, done.out) == (2, "") and "--parser syntax-all makes trees; add --trees" in done.err


def test_mine_writes_triples_near_in_tags(question_pairs: Path, tmp_path: Path, command: Command, inline: None) -> None:
    out = tmp_path / "triples.jsonl"
    found = object_of(command("mine", question_pairs, "--out", out, "--keep", "2", "--json"))
    triples = list(corpora.read(out, "jsonl"))
    first = {(triple.source.text, triple.target.text): triple.distance for triple in reversed(triples)}
    mean = round(sum(distance or 0 for distance in first.values()) / len(first), 4)
    assert found == {"out": str(out), "pairs": 300, "triples": len(triples), "mean_distance": mean}
    assert 0 < len(triples) <= 600
    for triple in triples:
        assert isinstance(triple, paraform.Triple)
        assert triple.exemplar.text not in (triple.source.text, triple.target.text)
        assert abs(len(triple.exemplar.tokens) - len(triple.target.tokens)) <= 2
    given = ["mine", question_pairs, "--out", out, "--length-gap", "0", "--ties", "first"]
    assert command(*given).status == 2 and command(*given, "--overwrite").status == 0


def test_parse_says_which_lines_are_several_sentences(command: Command) -> None:
    done = command("parse", "I came. You saw Dr. Who.", "Is it late?", "Mr. Smith left.", "Go! Now!")
    assert done.out.count("\n") == 4
    told = "2 of 4 lines: several sentences in a line, parsed as one; a sentence a line parses better"
    assert done.err == f"paraform: {told}\n"
    assert command("parse", "Is it late?").err == ""


def test_mine_says_why_it_finds_nothing(tmp_path: Path, command: Command, inline: None) -> None:
    pairs = tmp_path / "few.tsv"
    pairs.write_text("is it late ?\tis it already late ?\n")
    done = command("mine", pairs, "--out", tmp_path / "out.jsonl", "--workers", "1")
    assert done.status == 0 and "0 triples for 1 pairs" in done.out
    assert done.err.startswith("paraform: no pair has an exemplar: all are of one duplicate cluster")


def test_mine_searches_with_as_many_workers_as_asked(
    question_pairs: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []
    search = ExemplarIndex.nearest_rows

    def watched(self: ExemplarIndex, *given: Any, threads: int | None = None, **rest: Any) -> Any:
        asked.append(threads)
        return search(self, *given, threads=threads, **rest)

    monkeypatch.setattr(ExemplarIndex, "nearest_rows", watched)
    assert command("mine", question_pairs, "--out", tmp_path / "out.jsonl", "--workers", "1").status == 0
    assert asked == [1]


def test_mine_tags_and_searches_on_the_engine_that_is_named(
    question_pairs: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each of the two does on Ray stands in `tests/syntax/test_corpus.py`; here that it is asked there."""
    from paraform.syntax import corpus

    asked: list[tuple[str, int | None]] = []
    tag, search = corpus.annotated_pairs, corpus.searched_by

    def tagged(*given: Any, engine: Any, **named: Any) -> Any:
        asked.append((engine.name, engine.workers))
        return tag(*given, engine=Engine("local", 1), **named)

    def searched(engine: Any, cache: Path) -> Any:
        asked.append((engine.name, engine.workers))
        return search(Engine("local", 1), cache)

    monkeypatch.setattr(corpus, "annotated_pairs", tagged)
    monkeypatch.setattr(corpus, "searched_by", searched)
    here, there = tmp_path / "local.jsonl", tmp_path / "ray.jsonl"
    assert command("mine", question_pairs, "--out", here, "--workers", "1").status == 0
    assert command("mine", question_pairs, "--out", there, "--engine", "ray", "--workers", "3").status == 0
    assert asked == [("local", 1), ("ray", 3), ("ray", 3)]
    assert here.read_bytes() == there.read_bytes() != b""


def test_mine_reads_a_pipe_as_often_as_it_comes(tmp_path: Path, command: Command, inline: None) -> None:
    """Two corpora through pipes of one name: neither is taken for the other."""
    pipe, out = tmp_path / "pipe", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    for about in ("chess", "algebra"):
        text = "".join(f"is {about} {word} ?\tdo you find {about} {word} ?\n" for word in ("hard", "old", "fun"))
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        given = ["mine", pipe, "--out", out, "--min-new-words", "1", "--workers", "1", "--overwrite"]
        assert command(*given).status == 0
        writer.join()
        assert about in out.read_text()
    assert "chess" not in out.read_text()


def test_pairs_that_are_no_paraphrases_are_left_out(tmp_path: Path, command: Command, inline: None) -> None:
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    rows = [f"{row}\t1\t2\tIs it {row}?\tWould it be {row}?\t{int(row != 'red')}\n" for row in ("red", "blue", "old")]
    path = tmp_path / "quora.tsv"
    path.write_text(header + "".join(rows))
    done = command("mine", path, "--format", "quora", "--out", tmp_path / "out.jsonl", "--json")
    assert object_of(done)["pairs"] == 2
    assert "1 pairs labelled 0" in done.err


def test_a_run_is_made_and_resumed(
    tiny_run: Path, question_pairs: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"best", "last", "log.jsonl"} <= set(os.listdir(tiny_run))
    config = json.loads((tiny_run / "best" / "paraform.json").read_text())
    assert config["config"]["decoder_width"] == 16 and config["config"]["copy"] is True
    assert config["data"].keys() == {question_pairs.name, "training pairs", "validation pairs"}
    done = command("train", "exemplar", "--data", question_pairs, "--out", tiny_run, "--device", "cpu")
    assert (done.status, done.out) == (2, "") and "holds a run; resume it" in done.err
    fields = tmp_path / "fields.yaml"
    written = {name: config["config"][name] for name in ("word_width", "content_width", "decoder_width", "style_width")}
    written |= {name: config["config"][name] for name in ("min_count", "word_vectors", "batch_size")}
    fields.write_text(json.dumps(written))
    given = ["--data", question_pairs, "--out", tiny_run, "--device", "cpu", "--config", fields, "--resume"]
    found = object_of(command("train", "exemplar", *given, "--config.epochs", "2", "--json"))
    assert found["ended"] == "finished" and found["model"] == str(tiny_run / "best")
    done = command("train", "exemplar", *given, "--config.epochs", "3")
    assert (done.status, done.out) == (2, "") and "epochs was 2 when the run began and is 3 now" in done.err
    seen: list[str] = []

    def digest(texts: Iterable[str]) -> str:
        seen.extend(texts)
        return "another"

    monkeypatch.setattr("paraform.trainers.held_out.text_digest", digest)  # as of other pairs, from a pipe
    done = command("train", "exemplar", *given, "--config.epochs", "2")
    assert done.status == 2 and "the data changed: training pairs was" in done.err and "is 'another' now" in done.err
    lines = question_pairs.read_text(encoding="utf-8").splitlines()
    assert sorted(seen) == sorted(text for line in lines for text in line.split("\t"))  # of both splits, every side


def test_a_run_with_another_config_is_told_before_its_data_is_prepared(tiny_run: Path) -> None:
    """Preparing no pairs at all would be another error."""
    config = replace(checkpoint.load(tiny_run / "last", device="cpu").config, epochs=3)
    with pytest.raises(InputError, match="epochs was 2 when the run began and is 3 now"):
        exemplar.train_exemplar([], tiny_run, validation=[], config=config, resume=True)


def test_from_pairs_to_figures(tiny_run: Path, some_pairs: Path, tmp_path: Path, command: Command) -> None:
    outputs = tmp_path / "outputs.jsonl"
    given = ["--model", tiny_run, "--data", some_pairs, "--device", "cpu", "--json"]
    found = object_of(command("evaluate", "generation", *given, "--resamples", "5", "--outputs", outputs))
    scores = {(s["name"], s["system"], s["protocol"], s["subset"]): s for s in found["scores"]}
    for name in ("BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "METEOR", "ED-E", "ED-R", "content kept", "distinct-1"):
        for system in (str(tiny_run), "copy source", "copy exemplar"):
            for subset in ("all", "least overlap", "most overlap"):
                score = scores[name, system, "first", subset]
                assert {"decode:greedy", "constrain_repetition:yes", "exemplar:mined"} <= set(
                    score["signature"].split("|")
                )
    assert scores["content kept", "copy source", "blind", "all"]["value"] == pytest.approx(1, abs=1e-3)
    assert scores["ED-E", "copy exemplar", "oracle", "all"]["value"] == 0
    assert scores["CMA (dot)", str(tiny_run), "", "all"]["value"] > 0
    assert found["comparisons"] and found["retrieved"]
    assert len(outputs.read_text().splitlines()) == 9 * found["rows"]
    few = ["--protocols", "first", "--resamples", "0"]
    beam = command("evaluate", "generation", *given[:-1], "--beam", "2", "--allow-repetition", *few)
    assert (
        beam.status == 0
        and "decode:beam 2|" in beam.out
        and "|constrain_repetition:no|" in beam.out
        and "copy source" in beam.out
    )
    assert len(beam.out.splitlines()) == 6 and "ROUGE" not in beam.out  # header, three systems, blank, settings
    details = command("evaluate", "generation", *given[:-1], *few, "--details")
    assert "ROUGE-L: words:" in details.out and "least overlap" in details.out


def test_figures_on_given_triples(
    tiny_run: Path, some_pairs: Path, tmp_path: Path, command: Command, inline: None
) -> None:
    mined = tmp_path / "triples.jsonl"
    assert command("mine", some_pairs, "--out", mined).status == 0
    given = ["--model", tiny_run, "--data", mined, "--format", "jsonl", "--resamples", "0", "--json"]
    paraform.save(new_judge(write_base(tmp_path / "base", "encoder")), tmp_path / "judge")
    found = object_of(command("evaluate", "generation", *given, "--judge", tmp_path / "judge"))
    assert 0 < found["rows"] <= 60
    said = [score for score in found["scores"] if score["name"] == "says the same"]
    assert said and all(f"judge:{tmp_path / 'judge'}-" in score["signature"] for score in said)
    assert all("exemplar:given" in score["signature"] for score in found["scores"] if score["protocol"])


@pytest.mark.parametrize("model", ["minilm", "tiny"])
def test_style_is_measured_of_any_model(model: str, tiny_run: Path, some_pairs: Path, command: Command) -> None:
    name = tiny_run if model == "tiny" else model
    given = ["evaluate", "style", "--model", name, "--data", some_pairs, "--queries", "5"]
    found = object_of(command(*given, "--json"))
    names = {score["name"] for score in found["scores"]}
    assert {"CMA (dot)", "CMA (cosine)", "style retrieval ED"} <= names
    assert "CMA (cosine)" in command(*given).out


def test_reproduce_hands_the_options_to_the_recipe(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quora").mkdir()
    heard: list[Any] = []

    def run(table: Any, asked: Any, results: Path | None) -> Made:
        heard.append((table.name, asked, results))
        return Made({"rows": [1.0, float("nan")]}, "a table")

    monkeypatch.setattr("paraform_papers.tables.run", run)
    given = ["reproduce", "crl/table2", "--scale", "small", "--data", tmp_path, "--out", tmp_path / "out", "--seed", 3]
    assert object_of(command(*given, "--json")) == {"rows": [1.0, None]}
    assert command(*given, "--results", "some.json").out == "a table\n"
    asked = Asked("small", "quora", tmp_path, tmp_path / "out", (), 3)
    assert heard == [("crl/table2", asked, None), ("crl/table2", asked, Path("some.json"))]
    assert command(*given, "--seq2seq", "a folder", "--row", "full", "seq2seq").status == 0
    assert heard[2][1] == replace(asked, rows=("full", "seq2seq"), seq2seq="a folder")
    refused = command("reproduce", "clvae/toy", "--seq2seq", "a folder")
    assert refused.status == 2 and "--seq2seq: clvae/toy has no such row; leave it out" in refused.err


def test_no_file_is_written_over_unasked(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever name it goes by; a text that is called as the file to be written is no file."""
    monkeypatch.chdir(tmp_path)
    content = "how do i learn chess ?\thow can i learn chess ?\n"
    (tmp_path / "pairs.tsv").write_text(content)
    (tmp_path / "table.csv").write_text("text\nHow do I learn chess?\n")
    (tmp_path / "link.tsv").symlink_to("pairs.tsv")
    os.link("pairs.tsv", "other.tsv")
    behind = "expected another name, or --overwrite"
    for given in (
        "mine pairs.tsv --out ./pairs.tsv",
        "annotate pairs.tsv --out other.tsv",
        "annotate link.tsv --out pairs.tsv",
        "duplicates pairs.tsv table.csv --first pairs.tsv",
        "overlap pairs.tsv --against table.csv pairs.tsv --drop --out pairs.tsv",
        "evaluate distances --data pairs.tsv --plot pairs.tsv",
    ):
        *_, option, name = given.split()
        done = command(*given.split())
        assert (done.status, done.out) == (2, "") and (tmp_path / "pairs.tsv").read_text() == content
        assert done.err == f"paraform: error: {option} {name}: the file that is read; {behind}\n", given
    done = command("augment", "table.csv", "--out", "table.csv")
    assert done.err == f"paraform: error: --out table.csv: the file that is read; {behind}\n"
    done = command("duplicates", "pairs.tsv", "--out", "new.found", "--first", "./new.found")
    assert done.err == "paraform: error: --out new.found: --first names it, too; expected another name\n"
    assert not Path("new.found").exists() and command("duplicates", "new.found", "--out", "new.found").status == 0
    done = command("duplicates", "other", "--out", "new.found")
    assert done.err == "paraform: error: --out new.found: is there already; expected a new name, or --overwrite\n"
    assert command("duplicates", "other", "--out", "new.found", "--overwrite").status == 0


@pytest.mark.parametrize(
    "given",
    [
        "train exemplar --data pairs.tsv --out",
        "embed texts.txt --out",
        "duplicates texts.txt --first",
        "tag texts.txt --tagger",
        "sample --model",
    ],
)
def test_an_empty_name_is_not_the_folder_one_is_in(
    given: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command(*given.split(), "")
    assert (done.status, done.out) == (2, "") and os.listdir(tmp_path) == []
    assert done.err == f"paraform: error: {given.split()[-1]} is empty; expected a name\n"


@pytest.mark.parametrize(
    "given, said",
    [
        ("augment texts.csv --out more.parquet", "no command writes .parquet; expected a name with another ending"),
        ("train latent --data a --out run.pkl", "no command writes .pkl; expected a name with another ending"),
        ("duplicates a --first b.XLSX", "no command writes .xlsx; expected a name with another ending"),
        ("duplicates a --out b.csv", "JSON lines are written; expected another name than one in .csv"),
        (
            "embed a --out b.csv",
            "NAME.npy is one file, any other name a folder; expected another name than one in .csv",
        ),
    ],
)
def test_a_name_does_not_promise_what_no_command_writes(
    given: str, said: str, tmp_path: Path, command: Command
) -> None:
    *rest, path = given.split()
    done = command(*rest, tmp_path / path)
    assert (done.status, done.out) == (2, "") and os.listdir(tmp_path) == []
    assert done.err == f"paraform: error: {rest[-1]} {tmp_path / path}: {said}\n"


def test_texts_come_through_a_pipe_that_has_a_name(tmp_path: Path, command: Command) -> None:
    """As `<(command)` is one."""
    pipe = tmp_path / "texts"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("The cat sat .\n",))
    writer.start()
    assert command("tag", pipe).out == "The/DT cat/NN sat/VBD ./.\n"
    writer.join()
    done = command("embed", pipe, "--out", tmp_path / "shards")
    assert done.err.startswith(f"paraform: error: {pipe}: a pipe; expected one file for the shards in ")
    assert command("tag", "/dev/zero").err == "paraform: error: /dev/zero: no such file\n"


def test_ctrl_c_is_one_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(given: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupt)
    assert command("tag", "x") == (130, "", "paraform: interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "paraform", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_a_full_disk_under_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "paraform", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (2, "paraform: error: No space left on device\n")
