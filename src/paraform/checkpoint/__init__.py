"""A folder on disk ↔ a model; hub push and pull."""

from paraform.checkpoint.abilities import load_encoder, load_judge, load_paraphraser
from paraform.checkpoint.folder import Checkpointable, System, load, load_weights, save
from paraform.checkpoint.hub import pull, push
from paraform.checkpoint.vectors import signature_of

__all__ = [
    "Checkpointable",
    "System",
    "load",
    "load_encoder",
    "load_judge",
    "load_paraphraser",
    "load_weights",
    "pull",
    "push",
    "save",
    "signature_of",
]
