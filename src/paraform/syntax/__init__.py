"""Words, tags, trees, and the exemplars found by them.

Everything is imported when it is first asked for: a tag needs neither the compiler of the search nor that of the chart.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraform.syntax.annotation import annotate
    from paraform.syntax.exemplars import ExemplarIndex, Match
    from paraform.syntax.mining import Mined, mine
    from paraform.syntax.parsing import load_parser
    from paraform.syntax.rules import MiningConfig
    from paraform.syntax.tagging import Tagger, load_tagger
    from paraform.syntax.trees import Parser, Tree

__all__ = [
    "ExemplarIndex",
    "Match",
    "Mined",
    "MiningConfig",
    "Parser",
    "Tagger",
    "Tree",
    "annotate",
    "load_parser",
    "load_tagger",
    "mine",
]

_HOMES = {
    "annotation": ("annotate",),
    "exemplars": ("ExemplarIndex", "Match"),
    "mining": ("Mined", "mine"),
    "parsing": ("load_parser",),
    "rules": ("MiningConfig",),
    "tagging": ("Tagger", "load_tagger"),
    "trees": ("Parser", "Tree"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'paraform.syntax' has no attribute {name!r}")
    return getattr(import_module(f"paraform.syntax.{_HOME_OF[name]}"), name)
