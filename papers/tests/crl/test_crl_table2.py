"""Tables 2 and 3 and Figure 2, at the scale that takes seconds, on pairs made for the tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from paraform import corpora
from paraform.models.exemplar import ExemplarConfig
from paraform.records import InputError, Pair, Sentence
from paraform.score import Score
from paraform.syntax.mining import mined_exemplars
from paraform.syntax.rules import MiningConfig
from paraform.trainers.exemplar import train_exemplar
from paraform.training import TrainingConfig
from paraform_papers.crl import rows as crl_rows
from paraform_papers.crl import table2 as crl_table2
from paraform_papers.rows import is_trained, train_row
from paraform_papers.tables import Asked, measured

ROWS = ("full", "without CCL", "without SCL", "without both")


@pytest.fixture(scope="module")
def data(question_pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `--data` names it: quora/{train,dev,test}.tsv."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "quora").mkdir()
    lines = question_pairs.read_text(encoding="utf-8").splitlines(keepends=True)
    for place, split in enumerate(("test", "dev", "train")):
        some = lines[place::10] if split != "train" else [line for i, line in enumerate(lines) if i % 10 > 1]
        (folder / "quora" / f"{split}.tsv").write_text("".join(some), encoding="utf-8")
    return folder


def test_every_row_both_protocols_and_both_floors(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(corpus="quora", data=data, out=tmp_path)
    found = measured(crl_table2.TABLE, asked)
    scores = {(s.name, s.system, s.protocol): s.value for s in found.report.scores if s.subset == "all"}
    for system in (*ROWS, "copy source", "copy exemplar"):
        assert all(("BLEU", system, protocol) in scores for protocol in ("first", "oracle"))
        assert ("ED-E", system, "blind") in scores
    assert scores["ED-E", "copy exemplar", "first"] == 0
    assert {score.system for score in found.matching} == set(ROWS)
    assert {row.name for row in (tmp_path / "quora" / "smoke").iterdir()} == {
        *(row.replace(" ", "-") for row in ROWS),
        "cma.png",
    }
    assert "without both" in found.table()
    read = found.to_json()["examples"]
    assert [set(example["outputs"]) for example in read["drawn"]] == [set(ROWS)] * 3  # Table 4
    assert read["loser"] in ROWS[1:] and set(read["targets"]) == set(ROWS)  # Table 6
    assert all(len(lists) == 2 and len(lists[0]["sentences"]) == 5 for lists in read["retrieved"].values())  # Table 7
    assert read["changed"]["source"] in found.table("plain")
    with pytest.raises(InputError, match="row 'none'; expected one of full, without CCL"):
        crl_table2.row_of("none", asked)

    def trained(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(crl_table2, "train_exemplar", trained)
    assert not train_row(crl_table2.row_of("full", asked))  # it is over: no pair is tagged again
    (tmp_path / "quora" / "smoke" / "without-CCL" / "best").rename(tmp_path / "moved")
    for row, seed in (("without CCL", 0), ("full", 1)):  # no weights; another
        with pytest.raises(AssertionError, match="trained again"):
            train_row(crl_table2.row_of(row, replace(asked, seed=seed)))
    assert is_trained(crl_table2.row_of("full", asked))  # a try that was refused takes no mark away


def test_figure_2_prints_a_number_a_bar_and_none_over_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, subsets = ("CMA (dot)", "CMA (cosine)", "CMA (dot, strict)"), ("all", "least overlap", "most overlap")
    scores = [
        Score(kind, 0.1 * at + 0.2 * number, "", system=row, subset=subset)
        for number, kind in enumerate(kinds)
        for at, row in enumerate(ROWS)
        for subset in subsets
    ]
    drawn: list[Figure] = []
    monkeypatch.setattr(crl_table2, "save_plot", lambda figure, path, dpi: drawn.append(figure))
    crl_table2.draw(scores, tmp_path / "cma.png", "quora, small scale")
    (axes,) = drawn[0].axes
    heights = [[bar.get_height() for bar in side] for side in axes.containers]
    assert heights == [pytest.approx([0.0, 0.1, 0.2, 0.3]), pytest.approx([0.2, 0.3, 0.4, 0.5])]  # of all pairs
    drawn[0].draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 8
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])


def test_both_directions_are_twice_as_many_triples(data: Path, tmp_path: Path) -> None:
    """One epoch at batch size 16; a pair and its reverse are in one cluster, so neither is an exemplar of the other."""
    halves = [Pair(Sentence("a b"), Sentence("c d"), cluster=0), Pair(Sentence("c d"), Sentence("a b"), cluster=0)]
    assert (mined_exemplars(halves, MiningConfig(), 30).exemplars == -1).all()
    pairs = corpora.clusters(p for p in corpora.read_pairs(data / "quora" / "dev.tsv") if isinstance(p, Pair))
    tiny = replace(
        crl_rows.setting("smoke", "quora").config, batch_size=16, epochs=1, pool_size=0, both_directions=False
    )
    steps = {}
    for both in (False, True):
        config = replace(tiny, both_directions=both)
        loop = TrainingConfig(metric="nll", device="cpu", tensorboard=False)
        steps[both] = train_exemplar(
            pairs, tmp_path / str(both), validation=pairs, config=config, loop=loop, validation_rows=4
        ).step
    assert steps == {False: len(pairs) // 16, True: 2 * len(pairs) // 16}


def test_the_scales_state_their_sizes() -> None:
    compact = ExemplarConfig.compact()
    small = crl_rows.setting("small", "quora")
    changed = ("epochs", "min_count", "pool_size", "dropout")
    like_compact = replace(small.config, **{name: getattr(compact, name) for name in changed})
    assert small.pairs == 16_000 and like_compact == compact
    assert crl_rows.setting("full", "paranmt").config.epochs == 30


def test_rows_by_the_papers_weights_differ_from_the_others_in_these_alone() -> None:
    config = crl_rows.setting("small", "quora").config
    full, alone = (crl_rows.of_row(config, f"{row}, paper weights") for row in ("full", "without CCL"))
    assert (full.content_weight, full.style_weight, full.temperature) == (0.1, 0.1, 0.5)
    assert (alone.content_weight, alone.style_weight, alone.temperature) == (0.0, 0.1, 0.5)
    changed = ("content_weight", "style_weight", "temperature")
    assert replace(full, **{name: getattr(config, name) for name in changed}) == config
    neither = crl_rows.of_row(config, "without both")  # which has no weights, and so none of the paper's
    assert (neither.content_weight, neither.style_weight) == (0, 0) and "without both" not in crl_rows.BY_PAPER.values()
