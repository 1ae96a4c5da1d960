"""Words and tags of every sentence of a corpus, and trees with --trees, as JSON lines of the same records.

A corpus of any size: it is read once into an Arrow file of the cache folder ($PARAFORM_CACHE), finished chunks are kept
there, and a run that was stopped goes on where it was. The output does not depend on the engine or on the workers.

Example:
  paraform annotate pairs.tsv --out tagged.jsonl
  paraform annotate sentences.txt --format text --trees --out trees.jsonl --engine ray --address auto
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.models import device_of
from paraform.cli.options import add_engine, add_reading, engine_of
from paraform.cli.output import show
from paraform.cli.parse import add_parser
from paraform.cli.reading import cache_for, digest_of, read_records
from paraform.cli.tag import add_tagger
from paraform.memory import bound_memory
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("path", type=str, metavar="PATH", help="the corpus, or - for stdin")
    parser.add_argument("--out", type=str, required=True, help="the file of annotated records (JSON lines)")
    parser.add_argument("--trees", action="store_true", help="trees, too; the tags are then the trees' own")
    parser.add_argument("--max-tokens", type=PositiveInt | None, default=None, help="words kept of each sentence")
    parser.add_argument("--lower", action="store_true", help="lower-case the words before they are tagged")
    add_reading(parser)
    add_tagger(parser)
    add_parser(parser)
    add_engine(parser)


def run(options: Namespace) -> int:
    """Write the records."""
    bound_memory()
    from paraform.syntax.annotation import Annotator
    from paraform.syntax.corpus import annotate_corpus
    from paraform.syntax.running import DEFAULT
    from paraform.weights import atomic_path

    if options.parser != DEFAULT and not options.trees:
        raise InputError(f"--parser {options.parser} makes trees; add --trees")
    how = Annotator(
        options.tagger,
        options.parser if options.trees else None,
        options.max_tokens,
        options.lower,
        device_of(options),
    )
    engine, count = engine_of(options), 0
    with cache_for(options.path) as cache, atomic_path(options.out) as unfinished, open(unfinished, "wb") as out:
        for chunk in annotate_corpus(
            read_records(options.path, options),
            digest_of(options.path, options),
            how,
            engine=engine,
            cache=cache,
            progress="annotating",
        ):
            out.write(chunk)
            count += chunk.count(b"\n")
    about = {"out": options.out, "records": count, "trees": options.trees}
    return show(options, about, f"{options.out}: {count:,} records")
