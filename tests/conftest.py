"""What every test stands on: no network, few threads, and the real data where there is some."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

# Before anything imports torch, transformers or matplotlib: they read these once. Commands that a test starts inherit.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"  # else a fork after the first use warns
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OMP_NUM_THREADS", "2")  # tiny tensors on many threads mostly wait for each other

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from paraform.encoders import Encoder

REPOSITORY = Path(__file__).resolve().parents[1]

settings.register_profile("paraform", deadline=None)  # a busy machine is no failure
settings.load_profile("paraform")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora: `PARAFORM_DATA`, else `shared/data` beside the checkout; skips without."""
    folder = Path(os.environ.get("PARAFORM_DATA") or REPOSITORY.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set PARAFORM_DATA to a folder that holds quora/, paranmt/, …")
    return folder


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole session, for what is dear to make and only read afterwards."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """The offline encoder, loaded once."""
    from paraform import encoders

    return encoders.load(device="cpu")
