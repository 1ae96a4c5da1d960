"""Outputs of several systems in one shuffled sheet, which people rate without knowing whose they are.

A sheet is a file of items and may be sent to a rater alone; its key, which says whose output each item is, is another.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraform.corpora.jsonl import value_of
from paraform.corpora.lines import MAX_CHARACTERS, Line, lines, require_writable
from paraform.records import InputError, Origin
from paraform.weights import PathLike, atomic_path

INSTRUCTION = (
    "You see a source and an output that should say the same in other words; where there is an exemplar, in its form.",
    "meaning, 1 to 5: 5 says what the source says, 3 a part of it or more than it, 1 something else.",
    "fluency, 1 to 5: 5 as a person would write it, 3 clumsy or with a mistake, 1 no sentence.",
    "form, 1 to 5, where there is an exemplar: 5 is built like the exemplar, 3 in part, 1 not at all.",
    "acceptable: strictly: the same meaning, fluent, and at least two words changed, moved, added or dropped,"
    " contractions and capitals aside; leniently: the meaning is kept and can be understood, with a slip;"
    " no: all else, a copy of the source too.",
)
COPIES = "copies"  # the name of the control that `copies` makes
MOST = 10_000_000  # characters of a line: all that `paraform paraphrase --json` printed stands in one


@dataclass(frozen=True, slots=True)
class Output:
    """What a system wrote for a source.

    Args:
        text: None if the system skipped the source.
        exemplar: whose form was asked for; None without one.
    """

    source: str
    text: str | None
    exemplar: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """What a rater sees at once. Equal outputs of several systems are one item.

    Args:
        id: a digest of the other three; it says nothing of the system.
    """

    id: str
    source: str
    output: str
    exemplar: str | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """Whose outputs a sheet holds.

    Args:
        items: by id, each item.
        systems: by system, the ids of its outputs; an id stands there as often as the system wrote that output.
        skipped: by system, how often it skipped a source.
    """

    items: Mapping[str, Item]
    systems: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, int]


def read_outputs(path: PathLike) -> list[Output]:
    """The outputs of a file of JSON lines, or of the object that `paraform paraphrase --json` prints.

    A line is `{"source": …, "paraphrase": …, "exemplar": …}`, without the last if there is none, or
    `{"source": …, "skipped": true}`; of the object those that it says were skipped are read too, unless the command
    gave them back as they were. Other keys are not read.
    Raises: InputError, naming file and line, for what is something else.
    """
    return [output for line in lines(path, MOST) for output in _outputs(line)]


def _outputs(line: Line) -> Iterator[Output]:
    value = json_object(line, '{"source": …, "paraphrase": …}')
    if "paraphrases" not in value:
        yield _output(value, line.origin)
        return
    found = [_output(row, line.origin) for row in _objects(value, "paraphrases", line.origin)]
    yield from found
    given = {output.source for output in found}
    for row in _objects(value, "skipped", line.origin):
        if (source := shown_text(row, "source", line.origin)) not in given:
            yield Output(source, None)


def _objects(value: Mapping[str, Any], name: str, place: Origin) -> list[dict[str, Any]]:
    rows = value.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise place.error(f"{name} is {str(rows)[:40]!r}; expected a list of objects")
    return rows


def _output(row: Mapping[str, Any], place: Origin) -> Output:
    skipped = row.get("skipped", False)
    if not isinstance(skipped, bool):
        raise place.error(f"skipped is {str(skipped)[:40]!r}; expected true or false")
    exemplar = None if row.get("exemplar") is None else shown_text(row, "exemplar", place)
    text = None if skipped else shown_text(row, "paraphrase", place)
    return Output(shown_text(row, "source", place), text, exemplar)


def write_outputs(outputs: Iterable[Output], path: PathLike) -> None:
    """A file that `read_outputs` reads, the whole of it or none."""
    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for output in outputs:
            wrote = {"skipped": True} if output.text is None else {"paraphrase": output.text}
            known = {"source": output.source, "exemplar": output.exemplar, **wrote}
            file.write(json.dumps({k: v for k, v in known.items() if v is not None}, ensure_ascii=False) + "\n")


def copies(systems: Mapping[str, Sequence[Output]]) -> list[Output]:
    """A control: each source as its own output, beside the first exemplar that it was given."""
    return [Output(source, source, like) for source, like in _exemplars(systems).items()]


def make_sheet(
    systems: Mapping[str, Sequence[Output]],
    *,
    controls: Mapping[str, Sequence[Output]] | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> tuple[list[Item], Key]:
    """The items of all systems, shuffled by the seed alone, and whose each is.

    The exemplars of a source are shown if every output of it has one, and else none, with a warning on the logger
    "paraform": what is asked of an item does not say whose it is, and marks of two systems are of the same questions.

    Args:
        systems: by name, each one's outputs; several of one source are several items.
        controls: further systems, whose quality is known. So that none stands out, it is shown with an exemplar where
            the systems are, the first of the source if it has none. Its sources that no system has are left out,
            unless all are such: then it is other sentences' (a corpus of paraphrases) and comes whole.
        sample: sources to draw, by the seed, among those of every system; None: all sources of any.
    Raises: InputError if a system shares no source with the others, nothing is left, or there are fewer sources.
    """
    sources = {name: {output.source for output in outputs} for name, outputs in systems.items()}
    for name, own in sources.items():
        others = set().union(*(theirs for other, theirs in sources.items() if other != name))
        if others and not own & others:
            raise InputError(f"none of {name}'s {len(own)} sources is another system's; expected the same sources")
    chosen = set().union(*sources.values())
    if sample is not None:
        shared = sorted(set.intersection(*sources.values()))
        if not 0 < sample <= len(shared):
            raise InputError(f"a sample of {sample} sources; every system has {len(shared)}: expected 1 to as many")
        chosen = set(random.Random(seed).sample(shared, sample))
    given = _exemplars(systems)
    if bare := sorted(source for source in chosen & _without_exemplar(systems) if given[source] is not None):
        logging.getLogger("paraform").warning(
            "exemplars of %d of %d sources are not shown, and form is not asked: some outputs of them have none",
            *(len(bare), len(chosen)),
        )
        given |= dict.fromkeys(bare)
    items: dict[str, Item] = {}
    whose: dict[str, list[str]] = {}
    skipped: Counter[str] = Counter()
    everyone = {**systems, **(controls or {})}
    if len(everyone) < len(systems) + len(controls or {}):
        raise InputError(f"a control has the name of a system ({', '.join(systems)}); expected another")
    for name, outputs in everyone.items():
        whose[name] = []
        own = {output.source for output in outputs}
        rated = own if name not in systems and not own & set().union(*sources.values()) else chosen
        for output in outputs:
            if output.source not in rated:
                continue
            if output.text is None:
                skipped[name] += 1
                continue
            like = given.get(output.source) and (output.exemplar or given[output.source])
            item = _item(output.source, output.text, like)
            items[item.id] = item
            whose[name].append(item.id)
        if not whose[name] and not skipped[name]:
            raise InputError(f"{name} has no output of the sources that are rated; expected at least one")
    if not items:
        raise InputError("every source was skipped by every system; expected an output to rate")
    order = sorted(items)  # by digest, so that the order of the files does not show
    random.Random(seed).shuffle(order)
    key = Key(items, {name: tuple(ids) for name, ids in whose.items()}, {name: skipped[name] for name in everyone})
    return [items[id] for id in order], key


def _exemplars(systems: Mapping[str, Sequence[Output]]) -> dict[str, str | None]:
    """For each source the first exemplar that a system was given for it."""
    found: dict[str, str | None] = {}
    for output in (output for outputs in systems.values() for output in outputs):
        found[output.source] = found.get(output.source) or output.exemplar
    return found


def _without_exemplar(systems: Mapping[str, Sequence[Output]]) -> set[str]:
    """The sources of which a system's output has none."""
    wrote = (output for outputs in systems.values() for output in outputs if output.text is not None)
    return {output.source for output in wrote if output.exemplar is None}


def _item(source: str, output: str, exemplar: str | None) -> Item:
    written = json.dumps([source, exemplar, output])
    return Item(hashlib.sha256(written.encode()).hexdigest()[:16], source, output, exemplar)


def write_sheet(items: Iterable[Item], path: PathLike) -> None:
    """The instruction and then an item a line, as JSON: what a rater needs, and nothing that says whose they are."""
    rows = [{"instruction": list(INSTRUCTION)}, *map(_item_to_json, items)]
    with atomic_path(path) as unfinished:
        unfinished.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_sheet(path: PathLike) -> list[Item]:
    """The items of a file that `write_sheet` wrote, in order. Raises: InputError, naming file and line, otherwise."""
    items = []
    for line in lines(path, MOST):
        value = json_object(line, '{"id": …, "source": …, "output": …}')
        if "instruction" not in value:
            items.append(_item_from_json(value, line.origin))
    if not items:
        raise InputError(f"{path}: no items; expected a sheet that paraform rate made")
    return items


def write_key(key: Key, path: PathLike) -> None:
    """Whose outputs a sheet holds, as one JSON object."""
    value = {
        "systems": {name: {"items": list(ids), "skipped": key.skipped[name]} for name, ids in key.systems.items()},
        "items": [_item_to_json(item) for item in key.items.values()],
    }
    with atomic_path(path) as unfinished:
        unfinished.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_key(path: PathLike) -> Key:
    """What `write_key` wrote. Raises: InputError, naming the file, for anything else."""
    whole = "\n".join(line.text for line in lines(path, MOST))
    place = Origin(str(path), 1)
    value = json_object(Line(place, whole), "a key that paraform rate wrote")
    try:
        found = [_item_from_json(row, place) for row in value["items"]]
        items = {item.id: item for item in found}
        systems = {str(name): tuple(map(str, row["items"])) for name, row in value["systems"].items()}
        skipped = {str(name): int(row["skipped"]) for name, row in value["systems"].items()}
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise place.error("no key of a sheet; expected the file *.key.json that paraform rate wrote") from error
    if unknown := {id for ids in systems.values() for id in ids} - items.keys():
        raise place.error(f"no item {min(unknown)[:40]!r}; expected each that a system names")
    return Key(items, systems, skipped)


def json_object(line: Line, expected: str) -> dict[str, Any]:
    """The object of a line. Raises: InputError, naming the line, if there is none."""
    value = value_of(line)
    if not isinstance(value, dict):
        raise line.origin.error(f"a {type(value).__name__}; expected an object such as {expected}")
    return value


def shown_text(row: Mapping[str, Any], name: str, place: Origin) -> str:
    """The text of that name, without the white space around it. Raises: InputError if there is none to be shown."""
    text = row.get(name)
    if not isinstance(text, str):
        raise place.error(f"no {name!r}; expected a text" if text is None else f"{name} is no text; expected one")
    if not text.strip():
        raise place.error(f"the {name} is empty; expected a text")
    if len(text) > MAX_CHARACTERS:
        raise place.error(f"the {name} has {len(text):,} characters; expected at most {MAX_CHARACTERS:,}")
    require_writable(text, f"the {name}", place)
    return text.strip()


def _item_to_json(item: Item) -> dict[str, str]:
    known = {"id": item.id, "source": item.source, "exemplar": item.exemplar, "output": item.output}
    return {name: value for name, value in known.items() if value is not None}


def _item_from_json(row: Any, place: Origin) -> Item:
    if not isinstance(row, dict):
        raise place.error(f"a {type(row).__name__}; expected an item with id, source and output")
    like = None if row.get("exemplar") is None else shown_text(row, "exemplar", place)
    item = _item(shown_text(row, "source", place), shown_text(row, "output", place), like)
    if row.get("id") != item.id:
        came = str(row.get("id"))[:40]
        raise place.error(f"an item's id is {came!r}; expected the digest of its texts, {item.id!r}")
    return item
