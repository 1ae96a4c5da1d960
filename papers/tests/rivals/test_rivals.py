"""Rows of rivals in CRL-EGPG's Table 2: what a name asks for, and one of each trained and measured like the others."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tiny_seq2seq import write_seq2seq

from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError
from paraform_papers.crl import rows as crl_rows
from paraform_papers.crl import table2 as crl_table2
from paraform_papers.rivals.rows import RIVALS, FromFolder, Way, config_of, train_rival, way_of, with_weights
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rows import is_trained
from paraform_papers.tables import Asked, measured


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("full", Way("full", False, 1)),
        ("without CCL, beam 4", Way("without CCL", False, 4)),
        ("SCPN", Way("SCPN", False, 1)),
        ("SCPN, whole parse", Way("SCPN", True, 1)),
        ("SCPN, whole parse, beam 12", Way("SCPN", True, 12)),
        ("SGCP-F", Way("SGCP", False, 1, "full")),
        ("SGCP-R, beam 4", Way("SGCP", False, 4, "best")),
        ("CGEN, beam 4", Way("CGEN", False, 4)),
        ("seq2seq, beam 4", Way("seq2seq", False, 4)),
        ("SCPN, beam 0", Way("SCPN, beam 0", False, 1)),
        ("", Way("", False, 1)),
    ],
)
def test_what_a_name_asks_for(name: str, row: Way) -> None:
    assert way_of(name) == row


def test_what_reads_no_parse() -> None:
    for system in ("full", "SGCP-F", "CGEN"):
        with pytest.raises(InputError, match=f"row '{system}, whole parse': {system} has no template.*; expected SCPN"):
            way_of(f"{system}, whole parse")


def test_scales() -> None:
    assert config_of("SCPN", "full", "quora") == ScpnConfig.paper()
    assert config_of("SGCP", "full", "quora") == SgcpConfig.paper()
    assert config_of("CGEN", "full", "quora") == VgvaeConfig.paper()
    assert config_of("seq2seq", "full", "quora", "a folder") == FromFolder(Seq2SeqConfig.paper(), "a folder")
    cgen, plain = (asdict(config_of(row, "small", "quora")) for row in ("CGEN", "VGVAE"))
    assert {name for name in cgen if cgen[name] != plain[name]} == {"latent_codes", "word_noise", "position_weight"}
    for corpus in ("quora", "paranmt"):
        small = crl_rows.setting("small", corpus).config  # type: ignore[arg-type]
        for system in RIVALS:
            rival = config_of(system, "small", corpus)  # type: ignore[arg-type]
            if isinstance(rival, FromFolder):
                assert rival.config.epochs == small.epochs
            else:
                assert (rival.epochs, rival.max_tokens) == (small.epochs, small.max_tokens)


def test_a_seq2seq_without_a_folder_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = {name: way_of(name) for name in ("full", "seq2seq", "seq2seq, beam 4", "SCPN")}
    assert list(with_weights(rows, None)) == ["full", "SCPN"]
    assert caplog.text.count("is left out: no model to start from (--seq2seq FOLDER)") == 2
    assert with_weights(rows, tmp_path) == rows
    with pytest.raises(InputError, match="row 'seq2seq' without a model to start from"):
        train_rival(config_of("seq2seq", "smoke", "quora"), [], tmp_path)


def test_a_rival_is_trained_and_measured_like_the_rest(question_pairs: Path, tmp_path: Path) -> None:
    """By templates, whole parses and a beam, on the rows and exemplars of the first; one folder for all of a system."""
    (tmp_path / "quora").mkdir()
    lines = question_pairs.read_text(encoding="utf-8").splitlines(keepends=True)
    for place, split in enumerate(("test", "dev", "train")):
        some = lines[place::10] if split != "train" else [line for i, line in enumerate(lines) if i % 10 > 1]
        (tmp_path / "quora" / f"{split}.tsv").write_text("".join(some), encoding="utf-8")
    rows = ["without both", "without both, beam 2", "SCPN", "SCPN, whole parse", "SCPN, beam 2"]
    rows += ["SGCP-F", "SGCP-R, beam 2"]
    rows += ["CGEN", "VGVAE, beam 2", "seq2seq"]
    model = write_seq2seq("t5", tmp_path / "t5", texts=" ".join(lines).split())
    asked = Asked(corpus="quora", data=tmp_path, out=tmp_path / "out", rows=tuple(rows), seq2seq=model)
    found = measured(crl_table2.TABLE, asked)
    assert all(is_trained(row) for row in crl_table2.TABLE.rows(asked))
    outputs = {name: found.report.outputs_of(name) for name in (*rows, "copy source", "copy exemplar")}
    assert len({(one.sources, one.references, one.exemplars) for one in outputs.values()}) == 1
    settings = {
        s.system: s.signature for s in found.report.scores if (s.name, s.protocol, s.subset) == ("BLEU", "first", "all")
    }
    expected = {
        "without both": "decode:greedy",
        "without both, beam 2": "decode:beam 2",
        "SCPN": "decode:greedy|decoder:float32|constrain_repetition:yes|form:template",
        "SCPN, whole parse": "decode:greedy|decoder:float32|constrain_repetition:yes|form:parse",
        "SCPN, beam 2": "decode:beam 2|decoder:float32|constrain_repetition:yes|form:template",
        "SGCP-F": "decode:greedy|decoder:float32|constrain_repetition:yes|height:full",
        "SGCP-R, beam 2": "decode:beam 2|decoder:float32|constrain_repetition:yes|height:best",
        "CGEN": "decode:greedy|decoder:float32|constrain_repetition:yes",
        "VGVAE, beam 2": "decode:beam 2|decoder:float32|constrain_repetition:yes",
        "seq2seq": "decode:greedy|decoder:float32|height:5",
    }
    assert {name: text for name, text in expected.items() if text not in settings[name]} == {}, settings
    assert {score.system for score in found.matching} == {"without both", "CGEN"}  # the others have no vectors
    assert {(score.system, score.name) for score in found.costs} == {
        (row, name) for row in rows for name in ("parameters, millions", "seconds a sentence")
    }
    assert {folder.name for folder in (tmp_path / "out" / "quora" / "smoke").iterdir() if folder.is_dir()} == {
        "without-both", "SCPN", "SGCP", "CGEN", "VGVAE", "seq2seq"
    }  # fmt: skip
    assert found.to_json()["costs"] and "seconds a sentence" in found.table()
    with pytest.raises(InputError, match="first row 'SCPN'; expected one of full"):
        measured(crl_table2.TABLE, replace(asked, rows=("SCPN",)))
