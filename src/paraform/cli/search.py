"""The texts of an index that are nearest to a question in meaning, the nearest first.

INDEX is a folder that `paraform index` wrote. A line is a cosine and a text, apart by a TAB, and, of one file's texts,
the line on which it begins; of several questions, each line begins with its question. With --json there are all columns
of each text's row, too. There are --num texts, however far they are: --least leaves out what is further, and by which
cosine depends on the model. Every text is compared, by meaning alone: that a number or a name is another hardly counts.

A question that the model cannot read, such as a Thai one of an English encoder, finds texts that differ from it in case
and white space alone, or nothing; such questions are counted.

Example:
  paraform search questions.index "how can i lose weight quickly ?" --num 5
  paraform search questions.index new.txt --least 0.7 --json
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.messages import tell
from paraform.cli.models import device_of
from paraform.cli.options import Cosine, Count, add_texts
from paraform.cli.output import print_items
from paraform.cli.reading import parts, stream_texts
from paraform.memory import bound_memory

if TYPE_CHECKING:
    from paraform.neighbours.search_index import Hit, SearchIndex

CHUNK = 1024  # questions that are asked at once


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("index", type=str, metavar="INDEX", help="a folder that `paraform index` wrote")
    add_texts(parser, tables=True)
    parser.add_argument("--num", type=Count, default=10, help="texts found for each question, at most")
    parser.add_argument("--least", type=Cosine | None, default=None, help="the least cosine of a text; null: any")
    parser.add_argument(
        "--model", type=str | None, default=None, help="the index's, where it is now; null: where it was"
    )


def run(options: Namespace) -> int:
    """Print what was found."""
    bound_memory()
    from paraform.neighbours.search_index import SearchIndex

    questions = stream_texts(options.text, options, "question")
    first = list(itertools.islice(questions, 2))
    index = SearchIndex.load(options.index, options.model, device=device_of(options))
    answers = answered(index, itertools.chain(first, questions), options)
    if options.json:
        about = {"index": options.index, "model": options.model or index.name, "texts": len(index)}
        print_items("questions", (as_object(*answer) for answer in answers), about)
        return 0
    asked = without = 0
    for question, hits, _ in answers:
        asked += 1
        without += not hits
        for hit in hits:
            cells = [" ".join(question.split())] if len(first) > 1 else []
            cells += [f"{hit.similarity:.3f}", " ".join(hit.text.split())]
            line = hit.fields.get("line")  # a table may have a column of its own of that name
            print("\t".join([*cells, str(line)] if isinstance(line, int) else cells))
    if without:
        tell(f"nothing found for {without:,} of {asked:,} questions" if asked > 1 else "nothing found")
    return 0


def answered(index: SearchIndex, questions: Iterator[str], options: Namespace) -> Iterator[tuple[str, list[Hit], bool]]:
    """Each question, what it finds, and whether the model cannot read it."""
    for part in parts(questions, CHUNK):
        unread = index.unread(part).tolist()
        yield from zip(part, index.search(part, options.num, options.least), unread, strict=True)


def as_object(question: str, hits: list[Hit], unread: bool) -> dict[str, Any]:
    """What is printed of a question with --json."""
    found = [{**hit._asdict(), "similarity": round(hit.similarity, 4)} for hit in hits]
    return {"question": question, "unread": unread, "found": found}
