"""Protocols by brute force, floors by the same code, and every metric equal to its plain function."""

import json

import numpy as np
import pytest

from paraform.evaluation import GenerationRow, GenerationSettings, blind_exemplars, compare, evaluate_generation
from paraform.evaluation.bleu import bleu
from paraform.evaluation.following import distinct_value, words_taken
from paraform.evaluation.meteor import meteor
from paraform.evaluation.preparation import metric_words
from paraform.evaluation.protocols import PROTOCOLS
from paraform.evaluation.rouge import rouge
from paraform.evaluation.style import edit_distances
from paraform.evaluation.subsets import THIRDS, subsets
from paraform.records import InputError
from paraform.syntax.trees import Tree

WORDS = ["how", "what", "buys", "a", "red", "car", "trees", "quickly", "?", "Paris"]


def tag(sentences):
    return [[f"{len(word)}" for word in words] for words in sentences]


def embed(texts):
    return np.array([[text.count(letter) + 1 for letter in "aehirst?"] for text in texts], dtype=np.float32)


def paraphrase(sources, exemplars):
    """The first half of the source, the second half of the exemplar."""
    pairs = ((source.split(), like.split()) for source, like in zip(sources, exemplars, strict=True))
    return [" ".join(a[: len(a) // 2] + b[len(b) // 2 :]) for a, b in pairs]


def measured(call, rows, protocols=PROTOCOLS, name="model", **settings):
    settings = GenerationSettings(protocols, name, **settings)
    return evaluate_generation(call, rows, tag=tag, embed=embed, settings=settings)


def sentence(generator) -> str:
    return " ".join(generator.choice(WORDS, size=generator.integers(3, 18)))


def written(row, system) -> list[str]:
    """What a system gives for each exemplar of a row."""
    if system == "model":
        return paraphrase([row.source] * len(row.exemplars), row.exemplars)
    return list(row.exemplars) if system == "copy exemplar" else [row.source] * len(row.exemplars)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    made = []
    for cluster in range(31):
        source = sentence(generator)
        kept = source.split()[: generator.integers(1, 18)]
        exemplars = tuple(sentence(generator) for _ in range(generator.integers(1, 6)))
        reference = " ".join([*kept, sentence(generator)])
        made.append(GenerationRow(source, reference, exemplars, sentence(generator), cluster))
    return made


@pytest.fixture(scope="module")
def report(rows):
    return evaluate_generation(
        paraphrase,
        rows,
        tag=tag,
        embed=embed,
        content=embed,
        style=embed,
        settings=GenerationSettings(resamples=20, tagger_name="lengths"),
    )


def test_a_summary_has_five_columns_the_floors_and_one_line_of_settings(report):
    header, *rows, blank, settings = report.summary().splitlines()
    assert header.split("  ")[0] == "protocol" and header.endswith("BLEU  METEOR  ED-E  ED-R  content kept")
    systems = ["model", "copy source", "copy exemplar"]
    assert [row.split()[0] for row in rows] == ["first"] * 3 + ["oracle"] * 3 + ["blind"] * 3
    assert [sum(system in row for row in rows) for system in systems] == [3, 3, 3] and not blank
    assert settings.startswith("all figures: ") and len(settings) < 300
    assert report.score("BLEU", system="model", protocol="first").shown in rows[0]


def test_bleu_is_compared_on_the_third_of_least_overlap_too(report):
    """By the difference of what the table says of that third; a draw of it is of its rows alone."""
    for floor in ("copy source", "copy exemplar"):
        (found,) = (
            one
            for one in report.comparisons
            if (one.name, one.second, one.protocol) == ("BLEU, least overlap", floor, "first")
        )
        own, other = (
            report.score("BLEU", system=system, protocol="first", subset="least overlap").value
            for system in ("model", floor)
        )
        assert found.difference == pytest.approx(own - other) and found.low <= found.high
        assert "|rows:11|" in found.signature


def test_first_and_blind_take_the_exemplar_they_are_given(rows, report):
    first, blind = report.outputs_of("model", "first"), report.outputs_of("model", "blind")
    assert list(first.texts) == paraphrase([row.source for row in rows], [row.exemplars[0] for row in rows])
    assert list(blind.texts) == paraphrase([row.source for row in rows], [row.blind for row in rows])


@pytest.mark.parametrize("max_tokens", [4, 15])
def test_oracle_keeps_what_shares_most_words_with_the_reference(rows, max_tokens):
    report = measured(paraphrase, rows, ["oracle"], max_tokens=max_tokens, resamples=0)
    outputs = report.outputs_of("model", "oracle")
    for row, text, exemplar in zip(rows, outputs.texts, outputs.exemplars, strict=True):
        best, winner = -1, ("", "")
        for like in row.exemplars:
            (said,) = paraphrase([row.source], [like])
            shared = len(set(metric_words([said], max_tokens)[0]) & set(metric_words([row.reference], max_tokens)[0]))
            if shared > best:
                best, winner = shared, (said, like)
        assert (text, exemplar) == winner


@pytest.mark.parametrize("system", ["model", "copy source", "copy exemplar"])
@pytest.mark.parametrize("protocol", ["first", "oracle"])
def test_every_metric_on_every_third_is_its_plain_function(rows, report, system, protocol):
    outputs = report.outputs_of(system, protocol)
    words = {
        text: metric_words([text])[0]
        for group in (outputs.texts, outputs.sources, outputs.references, outputs.exemplars)
        for text in group
    }
    parts = subsets(metric_words([row.source for row in rows]), metric_words([row.reference for row in rows]))
    assert list(parts) == ["all", *THIRDS]
    for part, chosen in parts.items():
        texts, references, exemplars = (
            [side[row] for row in chosen] for side in (outputs.texts, outputs.references, outputs.exemplars)
        )
        plain = [bleu(texts, references), *rouge(texts, references), meteor(texts, references)]
        tags, reference_tags, exemplar_tags = (
            [tuple(tag([words[text]])[0]) for text in side] for side in (texts, references, exemplars)
        )
        expected = {score.name: score.value for score in plain}
        expected |= {f"distinct-{n}": distinct_value([words[text] for text in texts], n) for n in (1, 2)}
        expected["ED-E"] = edit_distances(tags, exemplar_tags).mean()
        expected["ED-R"] = edit_distances(tags, reference_tags).mean()
        pairs = zip(embed([rows[row].source for row in chosen]), embed(texts), strict=True)
        expected["content kept"] = np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairs])
        trios = zip(texts, [rows[row].source for row in chosen], exemplars, strict=True)
        expected["words taken"] = np.mean([words_taken(*(words[text] for text in trio)) for trio in trios])
        if protocol == "oracle":
            kinds = [len({text.lower() for text in written(rows[row], system)}) for row in chosen]
            forms = [len(rows[row].exemplars) for row in chosen]
            expected["different outputs"] = np.mean(np.array(kinds) / np.array(forms))
        found = {
            score.name: score.value
            for score in report.scores
            if (score.system, score.protocol, score.subset) == (system, protocol, part)
        }
        assert found == pytest.approx(expected, rel=1e-5)


def test_floors_are_what_copying_must_be(report):
    for protocol in ("first", "oracle", "blind"):
        assert report.score("content kept", system="copy source", protocol=protocol).value == pytest.approx(1)
        assert report.score("ED-E", system="copy exemplar", protocol=protocol).value == 0


def test_blind_gives_only_what_no_reference_enters(report):
    names = {score.name for score in report.scores if score.protocol == "blind"}
    assert names == {"ED-E", "content kept", "words taken"}


def test_signatures_carry_the_settings(report):
    score = report.score("ED-E", system="model", protocol="first", subset="least overlap")
    assert (
        "|tags:lengths|" in score.signature
        and "|exemplars:5|thirds:rank of source–reference word F1" in score.signature
    )
    assert "max_tokens:15" in report.score("BLEU", system="model", protocol="oracle").signature


def test_report_goes_to_json_tables_and_lines(report, tmp_path):
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert found["rows"] == 31 and len(found["scores"]) == len(report.scores)
    # Under two protocols eight metrics with a value a row, BLEU, and its third, under `oracle` one more; under `blind`
    # three; against two floors.
    assert len(found["comparisons"]) == (2 * 10 + 1 + 3) * 2
    table = report.table()
    assert "| first | least overlap | copy source |" in table and "CMA (dot)" in table
    assert "least overlap" not in report.table("plain", subset="all")
    path = tmp_path / "outputs.jsonl"
    report.write_outputs(path)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == 31 * 3 * 3
    outputs = report.outputs_of("model")
    assert [line["output"] for line in lines[:31]] == list(outputs.texts)
    assert (
        np.mean([line["ED-R"] for line in lines[:31]]) == report.score("ED-R", system="model", protocol="first").value
    )


def test_two_reports_compare_row_by_row(rows, report):
    other = evaluate_generation(
        lambda sources, exemplars: [row.reference for row in rows],
        rows,
        tag=tag,
        embed=embed,
        systems={"again": paraphrase},
        settings=GenerationSettings(["first"], "told", resamples=0),
    )
    better = compare(other.outputs_of("told"), report.outputs_of("model"), "BLEU", resamples=200)
    assert better.difference > 50 and better.p_value < 0.01 and better.low > 0
    same = compare(other.outputs_of("again"), report.outputs_of("model"), "METEOR", resamples=50)
    assert (same.difference, same.p_value) == (0, 1)
    with pytest.raises(ValueError, match="expected the same figure"):  # another tagger
        compare(other.outputs_of("again"), report.outputs_of("model"), "ED-E")
    with pytest.raises(InputError, match="no figure 'F1'"):
        compare(other.outputs_of("again"), report.outputs_of("model"), "F1")
    fewer = measured(paraphrase, rows[:2], ["blind"], resamples=0)
    with pytest.raises(InputError, match="different rows"):
        compare(fewer.outputs_of("model", "blind"), report.outputs_of("model", "blind"), "ED-E")


def test_blind_exemplars_are_seeded_and_never_the_source():
    pool = ["a", "b", "c"]
    drawn = blind_exemplars(["a", "b"] * 50, pool, seed=1)
    assert all(like != source for like, source in zip(drawn, ["a", "b"] * 50, strict=True))
    assert drawn == blind_exemplars(["a", "b"] * 50, pool, seed=1) != blind_exemplars(["a", "b"] * 50, pool, seed=2)
    assert set(drawn) == set(pool)
    with pytest.raises(InputError, match="a pool of 1 sentence"):
        blind_exemplars(["a"], ["a", "a"])


def test_what_is_missing_is_named():
    row = GenerationRow("a", "b", ())
    with pytest.raises(InputError, match="no rows"):
        measured(paraphrase, [])
    with pytest.raises(InputError, match="row 1 has no exemplar"):
        measured(paraphrase, [row])
    with pytest.raises(InputError, match="row 1 has no blind exemplar"):
        measured(paraphrase, [row], ["blind"])
    with pytest.raises(InputError, match="expected some of first, oracle, blind"):
        GenerationSettings(["best"])
    whole = GenerationRow("a", "b", ("c",))
    with pytest.raises(ValueError, match="0 texts for 1 source;"):
        measured(lambda sources, exemplars: [], [whole], ["first"])
    with pytest.raises(ValueError, match="expected different names"):
        measured(paraphrase, [whole], ["first"], "copy source")


def test_one_row_and_empty_outputs_are_measured():
    report = measured(lambda sources, exemplars: [""], [GenerationRow("a", "b", ("c",))], ["first"])
    values = {score.name: score.value for score in report.scores if (score.system, score.subset) == ("model", "all")}
    assert values.pop("ED-E") == values.pop("ED-R") == 1
    assert set(values.values()) == {0}


def test_of_flat_trees_the_distance_is_that_of_their_tags(rows):
    """And what has no tree at all is as far from one as that has labels."""

    def parse(sentences):
        return [Tree("S", tuple(Tree(label) for label in labels)) for labels in tag(sentences)]

    settings = GenerationSettings(["first"], resamples=0, parser_name="flat")
    given = {"tag": tag, "embed": embed, "parse": parse, "settings": settings}
    report = evaluate_generation(paraphrase, rows, **given)
    found = {(one.name, one.system): one for one in report.scores if one.subset == "all"}
    for system in ("model", "copy source", "copy exemplar"):
        for kind in "ER":
            assert found[f"TED-{kind}", system].value == found[f"ED-{kind}", system].value
    assert found["TED-E", "copy exemplar"].value == 0 < found["TED-E", "model"].value
    assert "trees:flat" in found["TED-E", "model"].signature
    silent = evaluate_generation(lambda sources, likes: [""] * len(sources), rows[:1], **given)
    words = metric_words([rows[0].exemplars[0]])[0]
    said = next(one for one in silent.scores if (one.name, one.system) == ("TED-E", "model"))
    assert said.value == len(words) + 1


def test_a_judge_is_asked_once_of_each_source_and_output(rows):
    """Copying says the same to it, an empty output nothing; the mean is over rows, beside the other figures."""
    asked = []

    def same(pairs):
        asked.extend(pairs)
        return [1.0 if one == other else len(other) / 1000 for one, other in pairs]

    settings = GenerationSettings(["first", "blind"], resamples=0, judge_name="ruler")
    given = {"tag": tag, "embed": embed, "settings": settings}
    report = evaluate_generation(paraphrase, rows, same=same, **given)
    assert len(asked) == len({*asked})
    found = {one.system: one for one in report.scores if (one.name, one.subset) == ("says the same", "all")}
    said = paraphrase([row.source for row in rows], [row.blind for row in rows])
    expected = [1.0 if row.source == text else len(text) / 1000 for row, text in zip(rows, said, strict=True)]
    assert found["copy source"].value == 1 and found["model"].value == pytest.approx(np.mean(expected))
    assert "judge:ruler" in found["model"].signature and "says the same" in report.summary()
    silent = evaluate_generation(lambda sources, likes: [""] * len(sources), rows[:1], same=same, **given)
    assert {one.value for one in silent.scores if (one.name, one.system) == ("says the same", "model")} == {0}
    with pytest.raises(InputError, match=r"same gave shape \[2\] for"):
        evaluate_generation(paraphrase, rows, same=lambda pairs: [0.5, 0.5], **given)
    with pytest.raises(InputError, match="from 0 to 1"):
        evaluate_generation(paraphrase, rows, same=lambda pairs: [float("nan")] * len(pairs), **given)
