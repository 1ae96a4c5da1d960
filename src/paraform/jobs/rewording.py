"""Texts said in other words, or in given forms: what `paraform paraphrase` does, at once or in shards."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraform.capabilities import CutsExemplars, HasTemplates, Paraphraser, WritesByTree
from paraform.corpora.arrow import pyarrow_or_error
from paraform.corpora.columns import PARQUET
from paraform.decoding import Decoding
from paraform.default_call import MODEL
from paraform.default_call import reworder as reworder_of
from paraform.engines import Engine
from paraform.engines.shards import Folder, make_shards
from paraform.jobs.counts import Counts, read_counts, summed, write_counts
from paraform.jobs.setting import Setting
from paraform.models.selection import select_exemplars
from paraform.records import Candidate, GivenText, InputError, Rewording, counted
from paraform.rewording.reworder import Reworder
from paraform.rewording.standards import STANDARDS, Change
from paraform.syntax.trees import Tree
from paraform.weights import PathLike

PART = 256  # texts of a shard that are reworded at once
TOLD = ("numbers", "names", "negation", "fluent", "stutter")  # what counts as drifted, of outputs in a given form
KEPT = ("slots", "verbatim", "kept")  # an output in a given form that fails one of these is left out
LOST = "a slot, a number or a name with marks is lost"
COLUMNS = {"paraphrase": str, "exemplar": str, "change": str, "content": float, "score": float, "reason": str}
"""Those of a Parquet shard, behind the file's own."""


@dataclass(frozen=True)
class Wanted:
    """What is to be said in the place of texts.

    Args:
        num: rewordings of a text, at most.
        force: try texts too that look like another language, code, shouting or junk.
        change, keep: as `Reworder.default` has them.
        copy: give a text back that has no rewording.
        least: content below which an output is dropped; None: none is.
        forms: exemplars, or trees in brackets; None: other words, or the model's own templates.
        trees: whether the forms are trees.
        each: every text in every form.
        height: of exemplars' trees; None: the model's own.
        how: of decoding.
    """

    num: int = 1
    force: bool = False
    change: Change | None = None
    keep: tuple[str, ...] = ()
    copy: bool = False
    least: float | None = None
    forms: tuple[str, ...] | None = None
    trees: bool = False
    each: bool = False
    height: int | str | None = None
    how: Decoding = field(default_factory=Decoding)

    def of_rows(self, first: int, last: int) -> Wanted:
        """The same of some of the texts: with a form a text, the forms of these."""
        if self.forms is None or self.each or len(self.forms) == 1:
            return self
        return replace(self, forms=self.forms[first:last])


def default_reworder(
    model: str, device: str | None, *, change: Change | None = None, keep: Sequence[str] = ()
) -> Reworder:
    """The rules with the paraphraser of that name; the default one waits until it is needed."""
    return reworder_of(None if model == MODEL else model, device=device, change=change, keep=keep)


def reworded(texts: Sequence[str], reworder: Reworder, wanted: Wanted, name: str) -> list[Rewording]:
    """What is said in the place of each text.

    Args:
        name: what errors call the model.
    """
    model, like, how = reworder.paraphraser, wanted.forms, wanted.how
    if like is None and not isinstance(model, HasTemplates):
        return reworder.reword(texts, num=wanted.num, force=wanted.force, **how)
    if not isinstance(model, Paraphraser):
        kind = getattr(model, "kind", "no model")
        raise InputError(f"{name} is {kind}, which takes no form; leave --like out")
    given = enumerate(like or (), start=1) if wanted.trees else ()
    trees, each = {text: tree_of(text, number) for number, text in given}, wanted.each
    if like is None and isinstance(model, HasTemplates):
        trees, each = {str(tree): tree for tree in model.templates[: wanted.num]}, True
        like = tuple(trees)
    if trees:
        chosen = select_exemplars(texts, like, (), each=each, trees=True)
    else:
        chosen = model.exemplars(texts, like, each=each)
    sources = [text for text, row in zip(texts, chosen, strict=True) for _ in row]
    exemplars = [exemplar for row in chosen for exemplar in row]
    if wanted.height is not None:
        if not isinstance(model, CutsExemplars):
            raise InputError(f"{name} is {model.kind}; --height expects a model that reads exemplars' trees")
        outputs = model.decode_at(sources, exemplars, wanted.height, **how)
    elif not trees:
        outputs = model.decode(sources, exemplars, **how)
    elif isinstance(model, WritesByTree):
        outputs = model.decode_trees(sources, [trees[text] for text in exemplars], **how)
    else:
        raise InputError(f"{name} is {model.kind}; --template expects a model that writes by trees")
    candidates = iter(reworder.assess(sources, outputs, exemplars))
    return [Rewording(text, tuple(next(candidates) for _ in row)) for text, row in zip(texts, chosen, strict=True)]


def tree_of(text: str, number: int) -> Tree:
    """The tree that a template is. Raises: InputError, with its number, if it is none."""
    try:
        return Tree.parse(text)
    except InputError as error:
        raise InputError(f"template {number}: {error}") from error


def filtered(found: Sequence[Rewording], least: float | None) -> tuple[list[Rewording], Counter[str]]:
    """Without candidates that lost a slot or another run of characters, or whose content is below `least`.

    Returns: and why how many were dropped.
    """

    def why(candidate: Candidate) -> str:
        if {*KEPT} & {*candidate.failed}:
            return LOST
        return "" if least is None or candidate.figures["content"] >= least else f"content below {least}"

    dropped, kept = Counter[str](), []
    for one in found:
        reasons = [why(candidate) for candidate in one.candidates]
        dropped.update(filter(None, reasons))
        left = tuple(each for each, reason in zip(one.candidates, reasons, strict=True) if not reason)
        reason = one.reason or ("" if left else Counter(reasons).most_common(1)[0][0])
        kept.append(replace(one, candidates=left, reason=reason))
    return kept, dropped


def drifted(found: Sequence[Rewording]) -> tuple[int, Counter[str]]:
    """How many outputs in a given form look as if they said something else, or were no good English; and why."""
    least = STANDARDS.content
    why = [
        [f"content below {least}"] * (candidate.figures["content"] < least)
        + [name for name in candidate.failed if name in TOLD]
        for one in found
        for candidate in one.candidates
    ]
    return sum(map(bool, why)), Counter(itertools.chain(*why))


def paraphrased(
    rows: Sequence[GivenText], reworder: Reworder, wanted: Wanted, name: str
) -> tuple[list[Rewording], Counts]:
    """What is said in the place of each text, and the counts that are told of it."""
    found = reworded([row.text for row in rows], reworder, wanted, name)
    kept, dropped = filtered(found, wanted.least)
    strayed, why = drifted(kept) if wanted.forms is not None else (0, Counter[str]())
    return kept, {
        "texts": len(rows),
        "outputs": sum(len(one.candidates) for one in found),
        "dropped": dropped,
        "kept": sum(len(one.candidates) for one in kept),
        "drifted": strayed,
        "drifting": why,
        "without": Counter(one.reason for one in kept if one.reason),
    }


def shown(one: Rewording, copy: bool) -> Sequence[Candidate]:
    """Its candidates; the text itself, if it has none and is to be copied."""
    if one.reason and copy:
        return [Candidate(one.source, "", {}, 0.0)]
    return one.candidates


def about(row: GivenText) -> dict[str, Any]:
    """What JSON says of a text: itself, its line and a table's other columns."""
    line = {} if row.line is None else {"line": row.line}
    return {"source": row.text, **line, **({"row": row.fields} if row.fields else {})}


def items_of(rows: Sequence[GivenText], found: Sequence[Rewording], *, copy: bool) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines: one a paraphrase, or one with the reason that there is none."""
    for row, one in zip(rows, found, strict=True):
        why = {"reason": one.reason} if one.reason else {}
        told = [candidate.to_dict() for candidate in shown(one, copy)]
        yield from ({**about(row), **item, **why} for item in told or [{}])


def write_lines(items: Iterable[Mapping[str, Any]], path: PathLike) -> None:
    """JSON objects, one a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n" for item in items)


@dataclass(frozen=True)
class Paraphrases:
    """The work: a shard has the paraphrases of its texts, of which `Counts` are told.

    Args:
        text_column: of Parquet, that of the texts.
    """

    setting: Setting
    wanted: Wanted
    text_column: str | None = None

    @property
    def shards(self) -> Folder:
        """Where they are."""
        return self.setting.folder

    def open(self) -> Callable[[int, Path], None]:
        """What writes a shard in this process."""
        rows, parquet = self.setting.open(), self.shards.suffix == PARQUET
        wanted, name = self.wanted, self.setting.model
        reworder = default_reworder(name, self.setting.device, change=wanted.change, keep=wanted.keep)

        def given(first: int, last: int) -> list[GivenText]:
            columns = rows.columns(first, last)
            if parquet:
                texts = columns.column(self.text_column or "").to_pylist()
                return [GivenText(None, str(text).strip(), {}) for text in texts]
            values = (columns.column(key).to_pylist() for key in ("line", "fields"))
            every = zip(rows.texts(first, last), *values, strict=True)
            return [GivenText(line, text, json.loads(fields) if fields else {}) for text, line, fields in every]

        def shard(number: int, path: Path) -> None:
            first, last = self.shards.rows_of(number)
            every, found, counts = given(first, last), list[Rewording](), list[bytes]()
            for begin in range(0, last - first, PART):
                part = every[begin : begin + PART]
                own = wanted.of_rows(first + begin, first + begin + len(part))
                some, told = paraphrased(part, reworder, own, name)
                found += some
                counts.append(json.dumps(told).encode())
            if parquet:
                write_parquet(rows.columns(first, last), [*items_at(every, found, copy=wanted.copy)], path)
            else:
                write_lines(items_of(every, found, copy=wanted.copy), path)
            write_counts(self.shards, number, path, summed(counts))

        return shard

    def told(self, number: int) -> bytes:
        """The counts of a shard that is there."""
        return read_counts(self.shards, number)


def items_at(
    rows: Sequence[GivenText], found: Sequence[Rewording], *, copy: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The items of `items_of`, each with the number of its row."""
    for number, (row, one) in enumerate(zip(rows, found, strict=True)):
        yield from ((number, item) for item in items_of([row], [one], copy=copy))


def write_parquet(columns: Any, items: Sequence[tuple[int, Mapping[str, Any]]], path: Path) -> None:
    """A Parquet file of the rows that items are of, and what each says of `COLUMNS`."""
    arrow = pyarrow_or_error()
    import pyarrow.parquet

    types = {str: arrow.string(), float: arrow.float64()}
    made = columns.take(arrow.array([number for number, _ in items], arrow.int64()))
    for name, kind in COLUMNS.items():
        made = made.append_column(name, arrow.array([item.get(name) for _, item in items], types[kind]))
    pyarrow.parquet.write_table(made, path)


def paraphrase_shards(work: Paraphrases, *, engine: Engine, progress: str | None = None) -> Counts:
    """Make the shards that are not there yet; the counts of all.

    Raises: InputError as `make_shards`, and if the forms are not as many as the texts.
    """
    wanted, rows = work.wanted, work.shards.rows
    forms = wanted.forms
    if forms is not None and not wanted.each and len(forms) not in (1, rows):
        came = f"{counted(len(forms), 'exemplar')} for {counted(rows, 'source')}"
        raise InputError(f"{came}; expected one for all, one a source, or --each")
    digest = hashlib.sha256(json.dumps(forms).encode()).hexdigest()
    job = work.setting.job("paraphrase", wanted, forms=digest)
    return summed(make_shards(work, job, engine=engine, progress=progress))
