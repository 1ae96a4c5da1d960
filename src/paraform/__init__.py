"""What a sentence says, apart from how it says it: the public API.

Everything comes from a module of its own and is imported when it is first asked for, so that `import paraform` is
cheap and the command line can answer `--help` without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraform.checkpoint import load, save
    from paraform.corpora import clusters, read, write_jsonl
    from paraform.encoders import Encoder
    from paraform.evaluation import GenerationRow, Score, evaluate_generation, evaluate_style, evaluate_syntax
    from paraform.evaluation.latent import evaluate_latent
    from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser
    from paraform.models.latent import LatentConfig, LatentLanguageModel
    from paraform.records import InputError, Pair, Sentence, Triple
    from paraform.syntax import ExemplarIndex, MiningConfig, Tree, mine
    from paraform.syntax.parsing import load_parser
    from paraform.syntax.tagging import load_tagger
    from paraform.trainers.exemplar import train_exemplar
    from paraform.trainers.latent import train_latent
    from paraform.training import TrainingConfig
    from paraform.words import detokenize, tokenize

    __version__: str

__all__ = [
    "Encoder",
    "ExemplarConfig",
    "ExemplarIndex",
    "ExemplarParaphraser",
    "GenerationRow",
    "InputError",
    "LatentConfig",
    "LatentLanguageModel",
    "MiningConfig",
    "Pair",
    "Score",
    "Sentence",
    "TrainingConfig",
    "Tree",
    "Triple",
    "__version__",
    "clusters",
    "detokenize",
    "evaluate_generation",
    "evaluate_latent",
    "evaluate_style",
    "evaluate_syntax",
    "load",
    "load_parser",
    "load_tagger",
    "mine",
    "read",
    "save",
    "tokenize",
    "train_exemplar",
    "train_latent",
    "write_jsonl",
]

_HOMES = {
    "checkpoint": ("load", "save"),
    "corpora": ("clusters", "read", "write_jsonl"),
    "encoders": ("Encoder",),
    "evaluation": ("GenerationRow", "Score", "evaluate_generation", "evaluate_style", "evaluate_syntax"),
    "evaluation.latent": ("evaluate_latent",),
    "models.exemplar": ("ExemplarConfig", "ExemplarParaphraser"),
    "models.latent": ("LatentConfig", "LatentLanguageModel"),
    "records": ("InputError", "Pair", "Sentence", "Triple"),
    "syntax": ("ExemplarIndex", "MiningConfig", "Tree", "mine"),
    "syntax.parsing": ("load_parser",),
    "syntax.tagging": ("load_tagger",),
    "trainers.exemplar": ("train_exemplar",),
    "trainers.latent": ("train_latent",),
    "training": ("TrainingConfig",),
    "words": ("detokenize", "tokenize"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("paraform")
    elif name in _HOME_OF:
        value = getattr(import_module(f"paraform.{_HOME_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'paraform' has no attribute {name!r}")
    globals()[name] = value  # the next time this function is not asked
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
