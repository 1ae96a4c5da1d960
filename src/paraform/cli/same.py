"""Whether two texts say the same, 0 to 1, and, apart, whether each says all of the other.

Of two texts, or of every pair of files (-, stdin), a line a pair: how likely it is that both say the same, that the
first says all of the second, that the second says all of the first, and the texts. What the second text adds makes the
one low, what it leaves out makes the other low. A judge reads English, and of both texts together about 140 words; what
is behind does not count, and a warning says of how many pairs.

--model is smollm2-judge, whose base `paraform fetch smollm2` fetches, minilm-judge, which needs none, is fifteen times
as fast and knows less, smollm2-judge-all, which has terms, or a folder that `paraform train judge` wrote.
With --threshold there is a last column, "same" or "other", and --out FILE has the pairs that say the same.

Example:
  paraform same "The train leaves before noon." "Before noon, the train departs."
  paraform same pairs.tsv --threshold 0.5 --out kept.tsv --json
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.models import load_able
from paraform.cli.options import Share, add_reading
from paraform.cli.output import print_items
from paraform.cli.reading import is_readable, read_pairs
from paraform.memory import bound_memory
from paraform.records import InputError, counted

if TYPE_CHECKING:
    from paraform.capabilities import JudgesMeaning


FILE = r"\S+\.(tsv|csv|txt|jsonl?)"  # what is a file's name rather than a text


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument(
        "text", nargs="*", type=str, default=[], metavar="A B|PAIRS|-", help="two texts, or files of pairs"
    )
    add_reading(parser, "pairs")
    parser.add_argument("--model", type=str, default="smollm2-judge", help="as above")
    parser.add_argument("--threshold", type=Share | None, default=None, help="from it on a pair says the same")
    parser.add_argument("--out", type=str | None, default=None, help="the file of pairs that say the same")


def run(options: Namespace) -> int:
    """Print what is thought of each pair."""
    bound_memory()
    if options.out is not None and options.threshold is None:
        raise InputError("--out without --threshold; expected both, or the threshold alone")
    if options.out is not None:
        from paraform.weights import require_writable

        require_writable(options.out)
    pairs = given_pairs(options)
    from paraform.capabilities import JudgesMeaning

    model: JudgesMeaning = load_able(options, JudgesMeaning, "a judge of meaning")
    items = list(judged(model, pairs, options))
    if options.out is not None:
        write_kept(items, options.out)
    if options.json:
        print_items("pairs", items, {"model": options.model})
        return 0
    for item in items:
        figures = [f"{item[name]:.2f}" for name in ("same", "forth", "back")]
        said = [] if options.threshold is None else ["same" if item["says_the_same"] else "other"]
        print("\t".join([*figures, *(" ".join(text.split()) for text in item["texts"]), *said]))
    return 0


def given_pairs(options: Namespace) -> list[tuple[str, str]]:
    """The two texts, or the pairs of the files. Raises: InputError for one text, or more than two."""
    texts = options.text or ["-"]
    files = [text == "-" or is_readable(text) for text in texts]
    if all(files):
        read = (pair for path in texts for pair in read_pairs(path, options, others=True))
        return [(pair.source.text, pair.target.text) for pair in read]
    named = [text for text, file in zip(texts, files, strict=True) if not file and re.fullmatch(FILE, text)]
    if named:
        raise InputError(f"{named[0]}: no such file; expected files of pairs, or two texts")
    if len(texts) != 2 or any(files):
        found = counted(files.count(False), "text") + (f" and {counted(sum(files), 'file')}" if any(files) else "")
        raise InputError(f"{found}; expected two texts, or files of pairs (--format {options.format})")
    if not all(text.strip() for text in texts):
        raise InputError("an empty text; expected two texts")
    return [(texts[0], texts[1])]


def judged(model: JudgesMeaning, pairs: Sequence[tuple[str, str]], options: Namespace) -> Iterator[dict[str, Any]]:
    """What is printed of each pair."""
    found = model.judge(pairs, batch_size=options.batch_size or 64, progress=True)
    for pair, same, forth, back in zip(pairs, *found, strict=True):
        figures = {"same": same, "forth": forth, "back": back}
        item = {"texts": [*pair], **{name: round(float(value), 4) for name, value in figures.items()}}
        if options.threshold is not None:
            item["says_the_same"] = bool(same >= options.threshold)
        yield item


def write_kept(items: Sequence[dict[str, Any]], path: str) -> None:
    """The texts of the pairs that say the same, TAB separated, white space as a blank; whole or not at all."""
    from paraform.weights import atomic_path

    kept = (item["texts"] for item in items if item["says_the_same"])
    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        file.writelines("\t".join(" ".join(text.split()) for text in texts) + "\n" for texts in kept)
