"""`paraform evaluate relatedness`, a command of the laboratory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

THINGS = "film book song meal phone game hotel show trip story"


def test_relatedness_by_a_tree_lstm(tmp_path: Path, command: Callable[..., Any]) -> None:
    given = ["evaluate", "relatedness", "--data", tmp_path]
    refused = command(*given)
    assert (refused.status, refused.out) == (2, "") and "without SICK's train, dev and test parts" in refused.err
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for name in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        rows = [f"{at}\tA {thing} is here\tThere is a {thing}\t{1 + at % 5}\tNEUTRAL\n" for at, thing in
                enumerate(THINGS.split())]  # fmt: skip
        (tmp_path / f"{name}.txt").write_text(header + "".join(rows), encoding="utf-8")
    done = command(*given, "--seed", 7, "--resamples", 20, "--json")
    assert done.status == 0, done.err
    found = {score["name"]: score for score in json.loads(done.out)["scores"] if score["subset"] == "SICK-R"}
    assert set(found) == {"Pearson", "Spearman"} and found["Pearson"]["protocol"] == "tree-LSTM"
    assert "child-sum tree-LSTM" in found["Pearson"]["signature"] and "|parser:syntax-" in found["Pearson"]["signature"]
    assert "|seed:7|" in found["Pearson"]["signature"]
    assert found["Pearson"]["low"] <= found["Pearson"]["value"] <= found["Pearson"]["high"]
