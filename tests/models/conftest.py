"""What the tests of the models share."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import two_processes

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module of `tiny_exemplar.py`: a tiny CRL-EGPG on random triples."""
    return two_processes.loaded(HERE / "tiny_exemplar.py")


@pytest.fixture(scope="session")
def tiny_latent() -> ModuleType:
    """The module of `tiny_latent.py`: tiny latent-variable models on a few sentences."""
    return two_processes.loaded(HERE / "tiny_latent.py")
