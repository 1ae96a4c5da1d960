"""The sentences beside a report are the ones that they are said to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraform.evaluation.metrics import row_mean
from paraform.evaluation.report import GenerationReport, Outputs
from paraform.evaluation.style import Retrieved
from paraform_papers.crl.examples import examples

SOURCES = ("s0", "s1", "s2", "s3")


def outputs(system: str, kept: list[float]) -> Outputs:
    references, likes = (tuple(letter + source[1] for source in SOURCES) for letter in "rl")
    texts = tuple(f"{system} {source}" for source in SOURCES)
    metrics = {"content kept": row_mean("content kept", np.array(kept), "")}
    return Outputs(system, "first", SOURCES, references, likes, texts, metrics)


def embed(shift: int) -> Any:
    """One-hot by number, the references' moved on by `shift`."""
    return lambda texts: np.eye(4)[[(int(t[1]) + (shift if t[0] == "r" else 0)) % 4 for t in texts]].astype(np.float32)


def test_what_changed_most_what_was_drawn_and_what_vectors_find() -> None:
    systems = {"full": [1.0, 0.9, 0.8, 0.7], "one": [0.9, 0.9, 0.7, 0.7], "two": [1.0, 0.9, 0.1, 0.6]}
    report = GenerationReport((), tuple(outputs(name, kept) for name, kept in systems.items()), ())
    content = {"full": embed(0), "one": embed(0), "two": embed(1)}
    lists = {name: [Retrieved(f"q{i}", (f"{name} {i}",), (1.0,), (0,)) for i in range(5)] for name in systems}
    found = examples(report, content, lists, seed=1)
    assert found.changed is not None and (found.changed.source, found.loser) == ("s2", "two")
    assert np.isclose(found.drop, 0.7)
    assert found.changed.outputs == {name: f"{name} s2" for name in systems}
    assert found.targets == {"full": "r2", "one": "r2", "two": "r1"}
    assert len({example.source for example in found.drawn}) == 3
    assert [one.query for one in found.retrieved["two"]] == ["q0", "q1"]
    assert {other.source for other in examples(report, content, lists, seed=2).drawn} != {e.source for e in found.drawn}
    assert "  two finds by content: r1" in str(found).splitlines()
    alone = examples(report, {"full": embed(0)}, {}, drawn=9)
    assert alone.changed is None and len(alone.drawn) == 4 and alone.to_json()["loser"] == ""
