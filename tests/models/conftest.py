"""What the tests of the models share."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def worker(name: str) -> ModuleType:
    """The module of a file beside this one."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module of `exemplar_worker.py`: a tiny CRL-EGPG on random triples."""
    return worker("exemplar_worker")


@pytest.fixture(scope="session")
def tiny_latent() -> ModuleType:
    """The module of `latent_worker.py`: tiny latent-variable models on a few sentences."""
    return worker("latent_worker")


@pytest.fixture
def in_two_processes(tmp_path: Path) -> Callable[[ModuleType], dict[str, Any]]:
    """What a worker writes when two processes run it together."""

    def run(module: ModuleType) -> dict[str, Any]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        out = tmp_path / "two.json"
        # what torchrun and `accelerate launch` set, without the time that they take to start
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "WORLD_SIZE": "2"}
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true"}
        running = [
            subprocess.Popen(
                [sys.executable, str(module.__file__), str(out)],
                env=environment | {"RANK": rank, "LOCAL_RANK": rank},
                stderr=subprocess.PIPE,
            )
            for rank in "01"
        ]
        messages = [process.communicate(timeout=120)[1].decode() for process in running]
        assert [process.returncode for process in running] == [0, 0], messages
        found: dict[str, Any] = json.loads(out.read_text())
        assert found.pop("processes") == 2
        return found

    return run
