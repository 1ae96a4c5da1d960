"""What a sentence says, apart from how it says it: the public API.

Everything comes from a module of its own and is imported when it is first asked for, so that `import paraform` is
cheap and the command line can answer `--help` without torch.
"""

from importlib.util import find_spec
from typing import Any

import lazy_loader

_named, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
if find_spec("sklearn") is None:  # else `from paraform import *` would fail
    __all__.remove("ParaformVectors")

# Version 0.1.0 had these here.
_IN_THE_LABORATORY = {
    *("AveragedConfig", "AveragedEncoder", "train_averaged"),
    *("InferSent", "InferSentConfig", "train_infersent"),
    *("ScpnConfig", "ScpnParaphraser", "train_scpn"),
    *("SgcpConfig", "SgcpParaphraser", "train_sgcp"),
    *("Vgvae", "VgvaeConfig", "train_vgvae"),
}


def __getattr__(name: str) -> Any:
    if name in _IN_THE_LABORATORY:  # an AttributeError's words are lost in `from paraform import …`
        raise ImportError(f"paraform.{name} is paraform_papers.{name} now: pip install paraform-papers")
    return _named(name)
