"""A report as a page of its own: no script, nothing from elsewhere, and names as nothing but text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import NamedTuple

from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.differences import REFERENCES, Difference
from paraform.evaluation.embedding.report import EmbeddingReport, Section
from paraform.evaluation.embedding.report_picture import picture
from paraform.score import Score

WIDE, NARROW = (820, 460), (360, 380)
"""The picture for a wide window and for a narrow one, in pixels."""

LOWER_IS_BETTER = frozenset({"style retrieval ED"})


class Headline(NamedTuple):
    """A figure whose table is shown at once; those of others are folded.

    Args:
        references: figures of `REFERENCES` that stand below it.
    """

    name: str
    references: tuple[str, ...] = ()
    protocol: str = ""


HEADLINES = {
    "similarity": (Headline("Pearson", protocol=MEAN), Headline("Pearson", protocol="default")),
    "transfer": (Headline("accuracy", ("majority",), "default"),),
    "probing": (Headline("accuracy", ("majority", "length alone"), "default"),),
    "robustness": (Headline("accuracy"), Headline("AP")),
    "retrieval": (Headline("R@1"), Headline("MRR")),
    "style": (Headline("CMA (cosine)", ("chance",)), Headline("style retrieval ED", ("random", "nearest tags"))),
}
TITLES = {
    "similarity": (
        "Similarity",
        "How cosines go with people's scores, × 100; default: how a regression on the vectors does, trained on other"
        " pairs.",
    ),
    "transfer": ("Transfer", "What a probe trained on the vectors gets right, in percent."),
    "probing": (
        "Probing",
        "Form (BShift, TreeDepth, TopConst), length and content that a probe reads off, in percent.",
    ),
    "robustness": (
        "Robustness",
        "Paraphrases told from other pairs, in percent: of all forms, of the same form (Easy), of another (Hard);"
        " PAWS has the same words in another order. Accuracy is by a threshold tuned on other pairs.",
    ),
    "retrieval": ("Retrieval", "A sentence's paraphrase among all sentences, in percent."),
    "style": (
        "Content matching and style retrieval",
        "CMA: the nearest target is a paraphrase, in percent. Style: tags between a query and what its vector"
        " retrieves; fewer is nearer in form.",
    ),
}


def report_page(report: EmbeddingReport) -> str:
    """HTML: the picture, three sentences, then each family's tables with its command and its signatures."""
    page = (resources.files("paraform.evaluation.embedding") / "report_page.html").read_text(encoding="utf-8")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = hashlib.sha256(style[1].encode() if style else b"").digest()
    page = page.replace("@style@", f"'sha256-{base64.b64encode(digest).decode()}'")
    left_out = "".join(
        f"<li>{escape(name)}: not measured; {escape(expected)}</li>" for name, expected in report.left_out.items()
    )
    body = [
        "<h1>What encoders know, and how much form is left in them</h1>",
        f"<p>{' · '.join(f'<b>{escape(name)}</b>' for name in report.models)}"
        f'<span class="soft"> beside {escape(", ".join(report.floors) or "no floor")}</span></p>',
        _figure(report),
        "<h2>Findings</h2>",
        f"<ul>{''.join(f'<li>{escape(finding)}</li>' for finding in report.findings)}</ul>",
        f"<ul>{left_out}</ul>" if left_out else "",
        '<p class="soft">Small print below a figure: its 95 % interval over resamples of the rows. Bold: the best of'
        " the models; floors are not counted. Differences are paired, with plain 95 % intervals, not corrected for"
        " their number: of twenty between equal models one leaves out 0.</p>",
        "".join(f'<p class="soft">{escape(note)}.</p>' for note in report.notes),
        *(_section(section, report) for section in report.sections),
        "<h2>Systems</h2>",
        _listed({**report.models, **report.floors}),
        f'<p class="soft"><code>{escape(report.intervals)}</code></p>',
    ]
    return page.replace("@body@", "\n".join(part for part in body if part))


def _figure(report: EmbeddingReport) -> str:
    if not any(point.form for point in report.points):
        return '<p class="soft">No picture: it takes form (probing) and meaning (similarity).</p>'
    both = picture(report.points, *WIDE, "wide") + picture(report.points, *NARROW, "narrow")
    across = (
        " A dashed line is a floor without vectors, in which no probe finds form."
        if any(point.form is None for point in report.points)
        else ""
    )
    return (
        f"<figure>{both}<figcaption>Up: more meaning kept. Left: less form left. Discs are models, squares"
        f" floors, thin lines 95 % intervals.{across}</figcaption></figure>"
    )


def _section(section: Section, report: EmbeddingReport) -> str:
    title, about = TITLES[section.family]
    grids: dict[tuple[str, str], list[Score]] = {}
    for score in section.scores:
        grids.setdefault((score.name, score.protocol), []).append(score)
    shown, folded = [], []
    headlines = HEADLINES[section.family]
    for headline in headlines:
        scores = grids.pop((headline.name, headline.protocol), [])
        rows = [(name, grids.pop((name, headline.protocol), [])) for name in headline.references]
        if scores:
            shown.append(_grid(_titled(headline.name, headline.protocol), scores, report, rows))
    for (name, protocol), scores in grids.items():
        folded.append(_grid(_titled(name, protocol), scores, report))
    parts = [f"<h2>{title}</h2>", f'<p class="soft">{about}</p>', f"<pre>{escape(section.command)}</pre>", *shown]
    if folded:
        parts.append(_folded("All other figures", "".join(folded)))
    if section.differences:
        parts.append(_folded("Differences from the first model", _differences(section.differences)))
    signatures: dict[str, str] = {}
    for score in section.scores:
        signatures.setdefault(f"{_titled(score.name, score.protocol)}, {score.subset}", report.settings(score))
    parts.append(
        _folded("Signatures: every setting of each figure; those of the systems stand below", _listed(signatures))
    )
    return "\n".join(parts)


def _grid(
    title: str, scores: Sequence[Score], report: EmbeddingReport, references: Sequence[tuple[str, Sequence[Score]]] = ()
) -> str:
    """A row for each system and a column for each set; below them the figures that no system has a part in."""
    subsets = list(dict.fromkeys(score.subset for score in scores))
    name = scores[0].name
    cells = {(score.system, score.subset): score for score in scores}
    best = {}
    for subset in subsets if name not in REFERENCES else ():
        known = [cells[model, subset].value for model in report.models if (model, subset) in cells]
        if len(known) > 1:
            best[subset] = min(known) if name in LOWER_IS_BETTER else max(known)
    rows = []
    if name in REFERENCES:
        references = [(name, scores)]
    else:
        for system in (*report.models, *report.floors):
            if any((system, subset) in cells for subset in subsets):
                ours = system in report.models
                tds = [_cell(cells.get((system, subset)), best.get(subset) if ours else None) for subset in subsets]
                kind = "" if ours else ' class="floor"'
                rows.append(f'<tr{kind}><th scope="row">{_broken(system)}</th>{"".join(tds)}</tr>')
    for reference, known_scores in references:
        first = {score.subset: score for score in reversed(known_scores)}
        tds = [_cell(first.get(subset), None) for subset in subsets]
        rows.append(f'<tr class="reference"><th scope="row">{escape(reference)}</th>{"".join(tds)}</tr>')
    return _table(title, subsets, rows)


def _differences(differences: Sequence[Difference]) -> str:
    grids: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        grids.setdefault((one.comparison.name, one.comparison.protocol), []).append(one)
    tables = []
    for (name, protocol), found in grids.items():
        subsets = list(dict.fromkeys(one.subset for one in found))
        cells = {(one.comparison.second, one.subset): one for one in found}
        rows = []
        for second in dict.fromkeys(one.comparison.second for one in found):
            tds = [_difference(cells.get((second, subset))) for subset in subsets]
            pair = f"{found[0].comparison.first} − {second}"
            rows.append(f'<tr><th scope="row">{_broken(pair)}</th>{"".join(tds)}</tr>')
        tables.append(_table(_titled(name, protocol), subsets, rows))
    return "".join(tables)


def _difference(one: Difference | None) -> str:
    if one is None:
        return "<td></td>"
    found = one.comparison
    value, low, high = (f"{number:+z.{found.digits}f}" for number in (found.difference, found.low, found.high))
    unsure = ' class="unsure"' if found.low <= 0 <= found.high else ""
    return f"<td{unsure}>{value}<small>{low} to {high}</small></td>"


def _cell(score: Score | None, best: float | None) -> str:
    if score is None:
        return "<td></td>"
    value = f"{score.value:.{score.digits}f}"
    if score.value == best:
        value = f"<b>{value}</b>"
    if score.low is not None and score.high is not None:
        value += f"<small>{score.low:.{score.digits}f} to {score.high:.{score.digits}f}</small>"
    return f"<td>{value}</td>"


def _table(title: str, columns: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    return (
        f'<h3>{escape(title)}</h3><div class="box" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f'<thead><tr><th scope="col">system</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _broken(name: str) -> str:
    """A name that is broken, where it is too long for its column, between its parts."""
    return re.sub(r"(?<=[@,=/])", "<wbr>", escape(name))


def _titled(name: str, protocol: str) -> str:
    return f"{name}, {protocol}" if protocol else name


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _listed(known: Mapping[str, str]) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(text)}</code></dd>" for name, text in known.items())
    return f"<dl>{items}</dl>"
