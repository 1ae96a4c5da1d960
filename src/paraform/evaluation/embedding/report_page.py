"""A report as a page of its own: no script, nothing from elsewhere, and names as nothing but text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.embedding.report import EmbeddingReport, Section
from paraform.evaluation.embedding.report_picture import picture
from paraform.evaluation.embedding.task import Headline
from paraform.evaluation.html_page import page_template
from paraform.score import Score
from paraform.weights import PathLike, atomic_path

WIDE, NARROW = (820, 460), (360, 380)
"""The picture for a wide window and for a narrow one, in pixels."""


def write_report(report: EmbeddingReport, path: PathLike) -> Path:
    """Write the page, and the JSON beside it under the same name; returns the JSON's path."""
    beside = Path(path).with_suffix(".json")
    with atomic_path(path) as unfinished:
        unfinished.write_text(report_page(report), encoding="utf-8")
    with atomic_path(beside) as unfinished:
        unfinished.write_text(json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False), encoding="utf-8")
    return beside


def report_page(report: EmbeddingReport) -> str:
    """HTML: the picture, three sentences, then each family's tables with its command and its signatures."""
    page = page_template("paraform.evaluation.embedding", "report_page.html", "style")
    left_out = "".join(
        f"<li>{escape(name)}: not measured; {escape(expected)}</li>" for name, expected in report.left_out.items()
    )
    body = [
        "<h1>What encoders know, and how much form is left in them</h1>",
        f"<p>{' · '.join(f'<b>{escape(name)}</b>' for name in report.models)}"
        f'<span class="soft"> beside {escape(", ".join(report.floors) or "no floor")}</span></p>',
        _drawn(report),
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


def _drawn(report: EmbeddingReport) -> str:
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
    grids: dict[tuple[str, str], list[Score]] = {}
    for score in section.scores:
        grids.setdefault((score.name, score.protocol), []).append(score)
    shown, folded = [], []
    for headline in section.family.headlines:
        scores = grids.pop((headline.name, headline.protocol), [])
        rows = [(name, grids.pop((name, headline.protocol), [])) for name in headline.references]
        if scores:
            shown.append(_grid(headline, scores, section, report, rows))
    for (name, protocol), scores in grids.items():
        folded.append(_grid(Headline(name, protocol=protocol), scores, section, report))
    title, about = (escape(text, quote=False) for text in (section.family.title, section.family.about))
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
    one: Headline,
    scores: Sequence[Score],
    section: Section,
    report: EmbeddingReport,
    references: Sequence[tuple[str, Sequence[Score]]] = (),
) -> str:
    """A row for each system and a column for each set; below them the metrics that no system has a part in."""
    subsets = list(dict.fromkeys(score.subset for score in scores))
    cells = {(score.system, score.subset): score for score in scores}
    best = {}
    for subset in subsets if one.name not in section.references else ():
        known = [cells[model, subset].value for model in report.models if (model, subset) in cells]
        if len(known) > 1:
            best[subset] = min(known) if one.lower else max(known)
    rows = []
    if one.name in section.references:
        references = [(one.name, scores)]
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
    return _table(_titled(one.name, one.protocol), subsets, rows)


def _differences(differences: Sequence[Comparison]) -> str:
    grids: dict[tuple[str, str], list[Comparison]] = {}
    for one in differences:
        grids.setdefault((one.name, one.protocol), []).append(one)
    tables = []
    for (name, protocol), found in grids.items():
        subsets = list(dict.fromkeys(one.subset for one in found))
        cells = {(one.second, one.subset): one for one in found}
        rows = []
        for second in dict.fromkeys(one.second for one in found):
            tds = [_difference(cells.get((second, subset))) for subset in subsets]
            pair = f"{found[0].first} − {second}"
            rows.append(f'<tr><th scope="row">{_broken(pair)}</th>{"".join(tds)}</tr>')
        tables.append(_table(_titled(name, protocol), subsets, rows))
    return "".join(tables)


def _difference(one: Comparison | None) -> str:
    if one is None:
        return "<td></td>"
    value, low, high = (f"{number:+z.{one.digits}f}" for number in (one.difference, one.low, one.high))
    unsure = ' class="unsure"' if one.low <= 0 <= one.high else ""
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
