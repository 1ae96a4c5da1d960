"""Each text, decoded again from its latent vector: what of a sentence the vector keeps.

Example:
  paraform reconstruct "He is very happy."
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import decoding_of
from paraform.cli.latent import add_decoding, load_latent, readable, tell_unknown
from paraform.cli.options import add_texts
from paraform.cli.output import print_json, print_rewordings
from paraform.cli.reading import read_texts


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    add_decoding(parser)


def run(options: Namespace) -> int:
    """Print the reconstructions."""
    how = decoding_of(options)
    texts = read_texts(options.text, options)
    with bad_values():
        model = load_latent(options)
        texts = list(readable(model, texts, options))
        tell_unknown(model, texts)
        rows = list(zip(texts, model.reconstruct(texts, **how), strict=True))
    if options.json:
        found = [{"text": text, "reconstruction": again} for text, again in rows]
        print_json({"reconstructions": found, "model": options.model})
    else:
        print_rewordings(rows, alone=len({source for source, _ in rows}) <= 1)
    return 0
