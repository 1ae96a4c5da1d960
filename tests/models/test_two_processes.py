"""Two processes do what one does with the whole batch, in every system."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import tiny_averaged
import tiny_disentangled
import tiny_infersent
import tiny_retrofit
import tiny_scpn
import tiny_vgvae
import two_processes


def test_two_processes_train_as_one_with_the_whole_batch(
    tiny: ModuleType, tiny_latent: ModuleType, tmp_path: Path
) -> None:
    """Contrastive negatives, circle losses and squared differences are of all sentences, whichever process has them;
    a term's mean over the processes is that of one process.

    All systems in one start, which takes longer than their steps.
    """
    modules: list[ModuleType] = [tiny, tiny_latent, tiny_disentangled, tiny_retrofit, tiny_averaged]
    modules += [tiny_infersent, tiny_scpn, tiny_vgvae]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    out = tmp_path / "two.json"
    # what torchrun and `accelerate launch` set, without the time that they take to start
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "WORLD_SIZE": "2"}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true"}
    running = [
        subprocess.Popen(
            [sys.executable, str(two_processes.__file__), str(out), *(str(module.__file__) for module in modules)],
            env=environment | {"RANK": rank, "LOCAL_RANK": rank},
            stderr=subprocess.PIPE,
        )
        for rank in "01"
    ]
    messages = [process.communicate(timeout=120)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0], messages
    by_two, by_one = json.loads(out.read_text()), two_processes.train(modules)
    assert (by_two.pop("processes"), by_one.pop("processes")) == (2, 1)
    assert by_two.keys() == by_one.keys() and len(by_one) == sum(len(module.CONFIGS) for module in modules)
    for name, one in by_one.items():
        assert by_two[name]["weights"] == pytest.approx(one["weights"], rel=1e-5), name
        for ours, theirs in zip(by_two[name]["terms"], one["terms"], strict=True):
            assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6), name
