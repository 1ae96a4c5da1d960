"""A score's settings travel with it, in text, in JSON and under a table."""

import dataclasses
import math

import pytest

from paraform.score import Score, brief_table, signature, table


def test_signature_writes_none_as_all_and_booleans_as_words():
    assert signature(tok="none", max_tokens=None, eff=False, f=1) == "tok:none|max_tokens:all|eff:no|f:1"


def test_score_is_frozen_and_goes_to_json_with_its_place():
    score = Score("BLEU", 35.84, "tok:none", "model", "first")
    for field in ("value", "signature"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(score, field, "other")
    assert score.to_json() == {
        "name": "BLEU",
        "value": 35.84,
        "signature": "tok:none",
        "system": "model",
        "protocol": "first",
        "subset": "all",
    }
    assert str(score) == "BLEU|system:model|protocol:first|subset:all|tok:none = 35.84"
    between = dataclasses.replace(score, low=35.2, high=36.5)
    assert str(between).endswith(" = 35.84 (35.20 to 36.50)") and between.to_json()["low"] == 35.2


def test_what_is_no_number_is_told_in_words():
    at_chance, nearly = Score("taken away", math.nan, "", low=math.nan, high=math.nan), Score("x", 0.5, "")
    assert at_chance.shown == "none" and dataclasses.replace(nearly, low=math.nan, high=1.0).shown == "0.50 (none)"


def test_tables_leave_blanks_and_say_each_signature_once():
    scores = [
        Score("BLEU", 1.234, "tok:none", "a"),
        Score("CMA", 0.5, "m:3", "b", digits=3),
        Score("BLEU", 2, "tok:none", "b"),
    ]
    assert table(scores).splitlines() == [
        "system  BLEU    CMA",
        "a       1.23",
        "b       2.00  0.500",
        "",
        "BLEU: tok:none",
        "CMA: m:3",
    ]
    assert table(scores, "markdown").splitlines() == [
        "| system | BLEU | CMA |",
        "| --- | ---: | ---: |",
        "| a | 1.23 |  |",
        "| b | 2.00 | 0.500 |",
        "",
        "- BLEU: `tok:none`",
        "- CMA: `m:3`",
    ]


def test_a_brief_table_says_the_shared_settings_in_one_line():
    scores = [Score("BLEU", 1.234, "tok:none|seed:0|n:3"), Score("CMA", 0.5, "m:3|seed:0|n:3", digits=3)]
    assert brief_table(scores).splitlines()[2:] == ["", "all figures: seed:0|n:3"]
    assert brief_table(scores).splitlines()[:2] == table(scores).splitlines()[:2]


def test_a_signature_says_of_which_protocol_it_is_where_they_differ():
    of = {"paper": "by:critic", "honest": "by:form", "honest too": "by:form"}
    scores = [Score("KL", 1.0, settings, protocol=protocol) for protocol, settings in of.items()]
    scores += [Score("AU", 2.0, "n:3", protocol=protocol) for protocol in of]
    assert table(scores).splitlines()[-3:] == ["KL (paper): by:critic", "KL (honest, honest too): by:form", "AU: n:3"]


def test_a_plain_table_too_wide_for_a_screen_stands_on_its_side_if_that_is_narrower():
    wide = [
        Score(f"a long name {column}", column, "s:1", protocol=row) for row in ("one", "two") for column in range(9)
    ]
    lines = table(wide).splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["protocol", "one", "two"],
        ["a", "long", "name", "0", "0.00", "0.00"],
    ]
    assert len({len(line) for line in lines[:10]}) == 1 and lines[10] == ""
    assert table(wide, "markdown").startswith("| protocol | a long name 0 |")
    many = [dataclasses.replace(score, protocol=f"{score.protocol} {number}") for score in wide for number in range(40)]
    assert table(many).splitlines()[0].split()[:4] == ["protocol", "a", "long", "name"]  # upright, eighty rows
