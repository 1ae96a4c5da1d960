"""What the tests of the models share."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
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


@pytest.fixture
def trained_by_two_as_by_one(tmp_path: Path) -> Callable[[ModuleType], None]:
    """Check that two processes do what one does with the whole batch, for each of a module's configurations."""

    def check(module: ModuleType) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        out = tmp_path / "two.json"
        # what torchrun and `accelerate launch` set, without the time that they take to start
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "WORLD_SIZE": "2"}
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true"}
        running = [
            subprocess.Popen(
                [sys.executable, str(two_processes.__file__), str(module.__file__), str(out)],
                env=environment | {"RANK": rank, "LOCAL_RANK": rank},
                stderr=subprocess.PIPE,
            )
            for rank in "01"
        ]
        messages = [process.communicate(timeout=120)[1].decode() for process in running]
        assert [process.returncode for process in running] == [0, 0], messages
        by_two, by_one = json.loads(out.read_text()), two_processes.train(module)
        assert (by_two.pop("processes"), by_one.pop("processes")) == (2, 1)
        assert by_two.keys() == by_one.keys() == module.CONFIGS.keys()
        for name, one in by_one.items():
            assert by_two[name]["weights"] == pytest.approx(one["weights"], rel=1e-5), name
            for ours, theirs in zip(by_two[name]["terms"], one["terms"], strict=True):
                assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6), name

    return check
