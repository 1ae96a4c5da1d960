"""For the target of each pair, sentences of the same file in its form: near in tags, other words (Algorithm 1).

Writes triples of source, exemplar and target as JSON lines, one for each exemplar kept, with the distance between their
tags. An exemplar never has the target's text, its source's, or a sentence of its duplicate cluster; give one split of a
corpus at a time, so that none comes from another. The output does not depend on the engine or on the workers.

Example:
  paraform mine pairs.tsv --out triples.jsonl --keep 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import get_type_hints

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.config_options import bad_values, field_help
from paraform.cli.messages import tell
from paraform.cli.models import device_of
from paraform.cli.options import add_engine, add_reading, engine_of
from paraform.cli.output import show
from paraform.cli.reading import cache_for, digest_of, read_pairs
from paraform.cli.tag import add_tagger
from paraform.records import InputError, Pair, Triple


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command: every field of `MiningConfig`."""
    from paraform.syntax.rules import MiningConfig

    parser.add_argument("path", type=str, metavar="PATH", help="the pairs, or - for stdin")
    parser.add_argument("--out", type=str, required=True, help="the file of triples (JSON lines)")
    parser.add_argument("--max-tokens", type=PositiveInt, default=30, help="words that are looked at of each sentence")
    add_reading(parser)
    add_tagger(parser)
    add_engine(parser)
    hints = get_type_hints(MiningConfig)
    for field in fields(MiningConfig):
        if field.name != "seed":
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=hints[field.name], default=field.default)
    field_help(parser, MiningConfig)


def run(options: Namespace) -> int:
    """Write the triples."""
    from paraform.corpora import clusters, write_jsonl
    from paraform.extensions import needed
    from paraform.syntax import MiningConfig, mine
    from paraform.syntax.annotation import Annotator
    from paraform.syntax.corpus import annotated_pairs, searched_by
    from paraform.syntax.mining import why_none
    from paraform.weights import require_writable

    needed("numba", "mining", "mine")  # before hours of tagging
    with bad_values():
        config = MiningConfig(**{field.name: options[field.name] for field in fields(MiningConfig)})
    pairs = clusters(pair_of(record) for record in read_pairs(options.path, options))
    engine = engine_of(options)
    require_writable(options.out)
    how = Annotator(options.tagger, None, options.max_tokens, lower=True, device=device_of(options))
    with cache_for(options.path) as cache:
        digest = digest_of(options.path, options)
        full = annotated_pairs(pairs, digest, how, engine=engine, cache=cache, progress="tagging")
        search = searched_by(engine, cache) if engine.name == "ray" else None
        mined = mine(full, config, search=search, threads=engine.workers or options.threads)
        count = write_jsonl(mined.triples(), options.out)
    nearest = mined.distances[mined.exemplars[:, 0] >= 0, 0]
    distance = round(float(nearest.mean()), 4) if len(nearest) else None
    if not count:
        tell(f"no pair has an exemplar: {why_none(full, config)}")
    about = {"out": options.out, "pairs": len(pairs), "triples": count, "mean_distance": distance}
    far = "" if distance is None else f", the first of each {distance:.2f} tags from its target on average"
    return show(options, about, f"{options.out}: {count:,} triples for {len(pairs):,} pairs{far}")


def pair_of(record: Pair | Triple) -> Pair:
    """A pair; triples have their exemplars already."""
    if isinstance(record, Triple):
        place = f"{record.origin}: " if record.origin else ""
        raise InputError(f"{place}a triple, which has its exemplar already; expected pairs")
    return record
