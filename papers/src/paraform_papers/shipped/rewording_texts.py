"""What the recipes about `paraphrase` by default share: the model, and the texts of Banking77 and quora/dev."""

from __future__ import annotations

import csv
from pathlib import Path

from paraform import checkpoint
from paraform.models.exemplar import ExemplarParaphraser
from paraform.records import InputError


def embedded_model() -> ExemplarParaphraser:
    """`compact`. Raises: InputError if what is embedded under that name is another system's."""
    model = checkpoint.load("compact")
    if not isinstance(model, ExemplarParaphraser):
        raise InputError("compact is no exemplar model; expected the embedded one")
    return model


def utterances(data: Path) -> list[str]:
    """Banking77's, in one line each."""
    with (data / "banking77" / "train.csv").open(encoding="utf-8", newline="") as table:
        return [row["text"].strip().replace("\n", " ") for row in csv.DictReader(table)]


def questions(data: Path) -> list[tuple[str, str]]:
    """The pairs of quora/dev."""
    lines = (data / "quora" / "dev.tsv").read_text(encoding="utf-8").splitlines()
    return [(source, target) for source, target in (line.split("\t") for line in lines)]
