"""Two processes do what one does with the whole batch, in every system."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
import tiny_averaged
import tiny_disentangled
import tiny_infersent
import tiny_retrofit
import tiny_scpn
import tiny_seq2seq
import tiny_sgcp
import tiny_vgvae
import two_processes
from forks import Forks


def test_two_processes_train_as_one_with_the_whole_batch(
    tiny: ModuleType, tiny_latent: ModuleType, tmp_path: Path, forks: Forks
) -> None:
    """Contrastive negatives, circle losses and squared differences are of all sentences, whichever process has them;
    a term's mean over the processes is that of one process.

    All systems in one start.
    """
    modules: list[ModuleType] = [tiny, tiny_latent, tiny_disentangled, tiny_retrofit, tiny_averaged]
    modules += [tiny_infersent, tiny_scpn, tiny_sgcp, tiny_vgvae, tiny_seq2seq]
    out = tmp_path / "two.json"
    ended = forks.ranks(2, two_processes.__file__, out, *(module.__file__ for module in modules))
    assert [status for status, _ in ended] == [0, 0], ended
    by_two, by_one = json.loads(out.read_text()), two_processes.train(modules)
    assert (by_two.pop("processes"), by_one.pop("processes")) == (2, 1)
    assert by_two.keys() == by_one.keys() and len(by_one) == sum(len(module.CONFIGS) for module in modules)
    for name, one in by_one.items():
        assert by_two[name]["weights"] == pytest.approx(one["weights"], rel=1e-5), name
        for ours, theirs in zip(by_two[name]["terms"], one["terms"], strict=True):
            assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6), name
