"""Uploaded and loaded by the hub's own client, from a server of this machine that speaks its protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import forked_commands
import huggingface_hub
import numpy as np
import pytest
import torch
from hub_server import TOKEN, Hub, Repository

import paraform
from paraform.checkpoint.folder import checkpoint_of

TEXTS = ["the dog runs home", "tea we like"]


class Machine:
    """`paraform` on a machine that knows one hub: each command is a process of its own."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        left = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        asked = {"HF_ENDPOINT": hub.address, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1"}
        asked |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "OMP_NUM_THREADS": "1"}  # forked: no other threads
        self.folder, self.hub, self._home = folder, hub, folder
        self._process = subprocess.Popen(
            [sys.executable, forked_commands.__file__, str(folder)],
            env=left | asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __call__(
        self, home: Path, *given: str, token: str | None = TOKEN, code: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """The command, or Python lines. What the machine has of the hub is gone when `home` is another than before."""
        if home != self._home:
            shutil.rmtree(self.folder / "home", ignore_errors=True)
            self._home = home
        asked = {"given": [*given, "--device", "cpu"], "token": token, "code": code}
        assert self._process.stdin and self._process.stdout
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        status = int(self._process.stdout.readline())
        out, err = ((self.folder / name).read_text("utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(list(given), status, out, err)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def one_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with Hub() as hub, closing(Machine(hub, tmp_path_factory.mktemp("machine"))) as machine:
        yield machine


@pytest.fixture
def hub(one_machine: Machine) -> Hub:
    """With nothing on it, and asked for nothing yet."""
    hub = one_machine.hub
    for kept in (hub.repositories, hub.stored, hub.asked):
        kept.clear()
    return hub


@pytest.fixture
def command(one_machine: Machine) -> Machine:
    return one_machine


def vectors(command: Machine, home: Path, model: str) -> np.ndarray:
    done = command(home, "embed", *TEXTS, "--model", model, "--json", token=TOKEN)
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)["vectors"], np.float32)


def test_an_encoder_goes_to_the_hub_and_comes_back(hub: Hub, command: Machine, tmp_path: Path) -> None:
    """With a card whose metadata the hub's client reads; who has no token is told of it, and nothing else."""
    done = command(tmp_path, "export", "minilm", "--to", "hub:me/vectors", "--terms", "Free: for all.", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"address": f"{hub.address}/me/vectors/commit/{'1' * 40}", "to": "hub"}
    there = hub.repositories["me/vectors"]
    assert there.private and {"model.safetensors", "modules.json", "1_Pooling/config.json"} <= there.files.keys()
    card = huggingface_hub.ModelCard(there.files["README.md"].decode())
    assert card.data.to_dict() == {
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "license": "other",
        "license_name": "terms-of-the-training-data",
        "tags": ["paraform", "sentence-transformers", "sentence-similarity", "feature-extraction"],
    }
    assert "**Terms of the training data.** Free: for all." in card.text
    np.testing.assert_allclose(
        vectors(command, tmp_path, "me/vectors"), paraform.load("minilm", device="cpu").encode(TEXTS), rtol=0, atol=1e-6
    )
    again = command(tmp_path, "export", "minilm", "--to", "hub:me/vectors", "--terms", "x")
    assert again.returncode == 2 and "me/vectors: not uploaded: " in again.stderr and again.stderr.count("\n") == 1
    for token in (None, "another"):
        refused = command(tmp_path / f"home {token}", "embed", "a", "--json", "--model", "me/vectors", token=token)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == (
            "paraform: error: me/vectors: no such folder, and no such model on the hub that we may read; of a private"
            " or gated one expected a token in HF_TOKEN, or call: hf auth login\n"
        )


def test_a_checkpoint_goes_to_the_hub_and_its_files_are_checked_when_it_comes_back(
    hub: Hub, command: Machine, tmp_path: Path
) -> None:
    """Without its training state; a file that somebody changed there is not loaded."""
    given = ("export", "latent-compact", "--to", "hub:me/space", "--public", "--terms", "CC BY 2.0.")
    done = command(tmp_path, *given)
    assert done.returncode == 0, done.stderr
    there = hub.repositories["me/space"]
    assert not there.private
    assert there.files.keys() == {"README.md", "model.safetensors", "paraform.json", "vocabulary.json"}
    card = huggingface_hub.ModelCard(there.files["README.md"].decode())
    assert (card.data.library_name, card.data.tags) == ("paraform", ["paraform"])
    assert card.text.rstrip().endswith("**Terms of the training data.** CC BY 2.0.")
    own = paraform.load("latent-compact", device="cpu").sample(3, seed=1)
    there.files["pickle.bin"] = b"x"  # beside it, and never asked for
    loaded = command(tmp_path, "sample", "--model", "me/space", "--num", "3", "--seed", "1", token=None)
    assert loaded.stdout.splitlines() == own, loaded.stderr
    assert not any("pickle.bin" in asked for asked in hub.asked)
    for name in ("model.safetensors", "vocabulary.json", "paraform.json"):
        content = there.files[name]
        there.files[name] = content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]
        altered = command(tmp_path / name, "sample", "--model", "me/space", "--num", "1")
        assert altered.returncode == 2 and name in altered.stderr and altered.stderr.count("\n") == 1, altered.stderr
        there.files[name] = content


def test_what_the_hub_has_that_is_no_model_of_ours(hub: Hub, command: Machine, tmp_path: Path) -> None:
    """A pickle is neither asked for nor loaded; nor is what is not there, by any name that cannot be."""
    files = {"pytorch_model.bin": b"x", "config.json": b'{"model_type": "bert"}'}
    hub.repositories["me/pickle"] = Repository(False, files)
    hub.repositories["me/text"] = Repository(False, {"notes.md": b"x"})
    hub.repositories["me/nothing"] = Repository(False)
    for name in ("me/pickle", "me/text", "me/nothing", "me/none", "me/a..b"):
        done = command(tmp_path, "embed", "a", "--json", "--model", name)
        assert (done.returncode, done.stdout) == (2, ""), done
        line = done.stderr.splitlines()[-1]  # the client may have warned that it found no file
        assert line.startswith("paraform: error: ") and "Traceback" not in done.stderr, done.stderr
        assert name in line or name.replace("/", "--") in line
    assert not any("pytorch_model.bin" in asked for asked in hub.asked)


def test_without_a_token_nothing_is_asked(hub: Hub, command: Machine, tmp_path: Path) -> None:
    done = command(tmp_path, "export", "latent-compact", "--to", "hub:me/space", "--terms", "x", token=None)
    assert done.returncode == 2 and "me/space: no token for the hub; expected one in HF_TOKEN" in done.stderr
    assert hub.asked == []


def test_the_same_from_python(hub: Hub, command: Machine, tmp_path: Path) -> None:
    """`paraform.load("OWNER/NAME")`, in a process of its own: the client has read this one's address."""
    folder = checkpoint_of("latent-compact")
    assert folder is not None
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.repositories["me/space"] = Repository(False, files)
    script = "import paraform; print(paraform.load('me/space', device='cpu').embed(['a cat'])[0, :4].tolist())"
    done = command(tmp_path, code=script, token=None)
    assert done.returncode == 0, done.stderr
    own = paraform.load("latent-compact", device="cpu").embed(["a cat"])[0, :4]
    torch.testing.assert_close(torch.tensor(json.loads(done.stdout)), torch.from_numpy(own))
