"""The tutorials' Python lines, run as they stand, in order, on small files of the same names."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shlex
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.service.app import Settings
from paraform.service.listening import listen, server_of
from paraform.service.models import Names

DOCS = Path(__file__).resolve().parents[1] / "docs"
README = (DOCS.parent / "README.md").read_text("utf-8")
FRAMES = ("How do I {} my {}?", "What is the best way to {} my {}?", "Can I {} my {}?", "Is it possible to {} my {}?")
INTENTS = {"freeze": "account", "replace": "card", "check": "balance", "update": "address"}
WHEN = ("", " today", " online", " tomorrow", " again", " on Monday", " from abroad", " in the app")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(page: str, between: Callable[[str], None] = lambda _: None, port: int = 8000) -> dict[str, Any]:
    """What a page's Python lines leave behind; `between` is given each block of the shell when its turn comes.

    Args:
        port: of a service, in the place of the page's.
    """
    names: dict[str, Any] = {}
    text = (DOCS / page).read_text("utf-8").replace(":8000", f":{port}")
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    for language, block in blocks:
        if language == "sh":
            between(block)
        elif "import faiss" not in block or importlib.util.find_spec("faiss"):
            exec(compile(block, page, "exec"), names)
    return names


def labelled_rows() -> list[tuple[str, str]]:
    """A text of each frame and each word of time for each intent."""
    return [
        (frame.format(verb, noun).replace("?", f"{when}?"), verb)
        for verb, noun in INTENTS.items()
        for frame in FRAMES
        for when in WHEN
    ]


def write_table(path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "category"])
        table.writerows(labelled_rows())


def test_near_duplicates(folder: Path) -> None:
    same = [(FRAMES[0].format(verb, noun), FRAMES[1].format(verb, noun)) for verb, noun in INTENTS.items()]
    (folder / "held-out.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in same), encoding="utf-8")
    copies = ["Why is the sky blue?", "why is the sky blue ?"]
    near = ["How can I learn chess?", "How do I learn chess?", "What is the best way to learn chess?"]
    (folder / "questions.txt").write_text("\n".join([*near, *copies, "", "Who wrote Hamlet?"]) + "\n", encoding="utf-8")
    found = run("tutorial-duplicates.md")
    assert found["precision"][found["last"]] == found["recall"][found["last"]] == 1  # no other pair is as near
    kept = (folder / "kept.txt").read_text("utf-8").splitlines()
    assert kept == [near[0], copies[1], "Who wrote Hamlet?"]
    assert found["groups"][0] == near
    vectors = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    brute = [(one, other) for one in range(50) for other in range(one + 1, 50) if vectors[one] @ vectors[other] >= 0.7]
    assert sorted(pair[1:] for pair in found["near"](vectors, 0.7, block=16)) == brute


def test_intents_from_a_few_examples(folder: Path, command: Callable[..., Any]) -> None:
    write_table(folder / "intents.csv")

    def between(block: str) -> None:
        if block.startswith("paraform"):
            assert command(*block.split()[1:]).status == 0

    found = run("tutorial-intents.md", between)
    assert len(found["shots"]) == 5 * len(INTENTS) and len(found["test"]) == 20 * len(INTENTS)
    assert not {row["text"] for row in found["shots"]} & {row["text"] for row in found["test"]}
    assert len(found["more"]) > len(found["shots"])
    assert found["right"].mean() > 0.9  # the intents share no verb
    assert found["interval"](np.ones(10)).tolist() == [1, 1]
    assert found["route"]("How do I replace my card now?") in (None, "replace")


def test_whether_a_classifier_survives(folder: Path) -> None:
    write_table(folder / "labelled.csv")
    found = run("tutorial-survive.md")
    assert found["kept"] and all(text != reworded for text, reworded, _ in found["kept"])
    assert set(found["report"]) == {"words", "vectors"}
    assert found["difference"](np.array([True, True]), np.array([False, False])) == (100, 100, 100)
    assert found["difference"](np.array([True, False]), np.array([True, False])) == (0, 0, 0)
    assert found["from_pipeline"](lambda texts: [{"label": text} for text in texts])(["a", "b"]).tolist() == ["a", "b"]


def test_an_encoders_report(folder: Path, command: Callable[..., Any]) -> None:
    rows = [
        f"a {animal} {verb},the {animal} {verb},4\na {animal} {verb},no {animal} is here,1\n"
        for animal in ("cat", "dog", "bird")
        for verb in ("sits", "runs")
    ]
    (folder / "sets").mkdir()
    (folder / "sets/stsb-en-test.csv").write_text("".join(rows), encoding="utf-8")

    def between(block: str) -> None:
        if block.startswith("paraform"):
            assert command(*block.split()[1:], "--resamples", "20").status == 0

    found = run("tutorial-report.md", between)
    differences = [one for family in found["report"]["families"] for one in family["differences"]]
    assert differences and {one["first"] for one in differences} == {"minilm"}

    planted = [{"subset": "A", "name": "Pearson", "difference": 1.0, "low": low, "high": 2.0} for low in (-0.1, 0.1)]

    def instead(block: str) -> None:
        text = json.dumps({"findings": [], "families": [{"differences": planted}]})
        (folder / "report.json").write_text(text, encoding="utf-8")

    assert run("tutorial-report.md", instead)["losses"] == ["A: Pearson of the new one is 1.000 lower (0.100 to 2.000)"]


def test_a_vae_of_ones_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [text for text, _ in labelled_rows()]
    (folder / "sentences.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    small = {"word_width": 8, "hidden_width": 8, "latent_width": 4, "epochs": 1}
    config = paraform.LatentConfig.compact(**small)
    monkeypatch.setattr(paraform.LatentConfig, "compact", classmethod(lambda _: config))
    found = run("tutorial-latent.md")
    assert found["texts"] == lines and found["result"].ended == "finished"
    assert found["model"].vectors(lines[:2]).shape == (2, 4)  # the run's own, no longer latent-compact


def test_the_latent_tutorial_shows_what_its_commands_print(command: Callable[..., Any]) -> None:
    page = (DOCS / "tutorial-latent.md").read_text("utf-8")
    typed = re.findall(r"^\$ (paraform .+)\n((?:(?!\$ |```).*\n)+)", page, re.MULTILINE)
    assert len(typed) == 3
    for line, shown in typed:
        assert command(*shlex.split(line)[1:]).out == shown


def test_behind_an_http_call() -> None:
    """The page's lines against a service of its own, at the first call that needs one."""
    with listen("127.0.0.1", 0) as free, ExitStack() as running:
        port = free.getsockname()[1]
        said: list[dict[str, Any]] = []

        def between(block: str) -> None:
            for line in map(shlex.split, block.splitlines()):
                if line[:2] == ["paraform", "serve"] and len(line) == 2:
                    names = Names(paraphrase="rules", like="compact")  # the language model may not be here
                    running.enter_context(in_a_thread(Settings(names).app(), free))
                elif line[0] == "curl" and shutil.which("curl"):
                    done = subprocess.run([line[0], "-sS", *line[1:]], capture_output=True, text=True, check=True)
                    said.append(json.loads(done.stdout))

        found = run("tutorial-service.md", between, port)
        paraphrased, judged = said[:2] or ({}, {})
        if said:
            assert (
                paraphrased["paraphrases"][0]["candidates"][0]["paraphrase"] == "Is it possible to use my card abroad?"
            )
            assert judged["pairs"][0]["back"] > 0.5 > judged["pairs"][0]["forth"]
        rows = found["answer"].json()["paraphrases"]
        assert len(rows[0]["candidates"]) == 2 and not rows[1]["candidates"] and rows[1]["reason"]
        assert found["formed"]["candidates"][0]["exemplar"] == "what is the best way to reduce weight ?"
        assert np.allclose(found["vectors"], paraform.load("minilm").encode(found["texts"]), atol=1e-5)
        assert found["judged"]["pairs"][0]["same"] > 0.5
        found["service"].close()
        (block,) = [block for block in re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S) if "openai" in block]
        shown: dict[str, Any] = {}
        exec(compile(block.replace(":8000", f":{port}"), "README.md", "exec"), shown)
        assert shown["same"] == judged or not said
        assert len(shown["vectors"].data[0].embedding) == 384
        shown["client"].close()
        (line,) = re.findall(r"^curl .+", README, re.M)
        between(line.replace(":8000", f":{port}"))
        assert not said or said[-1] == paraphrased


@contextmanager
def in_a_thread(app: Any, free: socket.socket) -> Iterator[None]:
    """The app on that socket, in a thread that ends with the block."""
    server = server_of(app, lifespan="on")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
