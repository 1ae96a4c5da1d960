"""What the tests of the models share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

WORKER = Path(__file__).with_name("exemplar_worker.py")


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module of `exemplar_worker.py`: a tiny CRL-EGPG on random triples."""
    spec = importlib.util.spec_from_file_location("exemplar_worker", WORKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["exemplar_worker"] = module
    spec.loader.exec_module(module)
    return module
