"""Uploaded and loaded by the hub's own client, from a server of this machine that speaks its protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
from hub_server import TOKEN, Hub, Repository

import paraform
from paraform.checkpoint.folder import checkpoint_of

TEXTS = ["the dog runs home", "tea we like"]


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as made:
        yield made


def command(hub: Hub, home: Path, *given: str, token: str | None = TOKEN) -> subprocess.CompletedProcess[str]:
    """`paraform`, on a machine that knows this hub and nothing of it yet."""
    left = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    asked = {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    asked["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    asked |= {"HF_TOKEN": token} if token else {}
    parts = [sys.executable, "-m", "paraform.cli", *given, "--device", "cpu"]
    return subprocess.run(parts, env=left | asked, capture_output=True, text=True)


def vectors(hub: Hub, home: Path, model: str) -> np.ndarray:
    done = command(hub, home, "embed", *TEXTS, "--model", model, "--json", token=TOKEN)
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)["vectors"], np.float32)


def test_an_encoder_goes_to_the_hub_and_comes_back(hub: Hub, tmp_path: Path) -> None:
    """With a card whose metadata the hub's client reads; who has no token is told of it, and nothing else."""
    done = command(hub, tmp_path, "export", "minilm", "--to", "hub:me/vectors", "--terms", "Free: for all.", "--json")
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
        vectors(hub, tmp_path, "me/vectors"), paraform.load("minilm", device="cpu").encode(TEXTS), rtol=0, atol=1e-6
    )
    again = command(hub, tmp_path, "export", "minilm", "--to", "hub:me/vectors", "--terms", "x")
    assert again.returncode == 2 and "me/vectors: not uploaded: " in again.stderr and again.stderr.count("\n") == 1
    for token in (None, "another"):
        refused = command(hub, tmp_path / f"home {token}", "embed", "a", "--json", "--model", "me/vectors", token=token)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == (
            "paraform: error: me/vectors: no such folder, and no such model on the hub that we may read; of a private"
            " or gated one expected a token in HF_TOKEN, or call: hf auth login\n"
        )


def test_a_checkpoint_goes_to_the_hub_and_its_files_are_checked_when_it_comes_back(hub: Hub, tmp_path: Path) -> None:
    """Without its training state; a file that somebody changed there is not loaded."""
    given = ("export", "latent-compact", "--to", "hub:me/space", "--public", "--terms", "CC BY 2.0.")
    done = command(hub, tmp_path, *given)
    assert done.returncode == 0, done.stderr
    there = hub.repositories["me/space"]
    assert not there.private
    assert there.files.keys() == {"README.md", "model.safetensors", "paraform.json", "vocabulary.json"}
    card = huggingface_hub.ModelCard(there.files["README.md"].decode())
    assert (card.data.library_name, card.data.tags) == ("paraform", ["paraform"])
    assert card.text.rstrip().endswith("**Terms of the training data.** CC BY 2.0.")
    own = paraform.load("latent-compact", device="cpu").sample(3, seed=1)
    there.files["pickle.bin"] = b"x"  # beside it, and never asked for
    loaded = command(hub, tmp_path, "sample", "--model", "me/space", "--num", "3", "--seed", "1", token=None)
    assert loaded.stdout.splitlines() == own, loaded.stderr
    assert not any("pickle.bin" in asked for asked in hub.asked)
    for name in ("model.safetensors", "vocabulary.json", "paraform.json"):
        content = there.files[name]
        there.files[name] = content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]
        altered = command(hub, tmp_path / name, "sample", "--model", "me/space", "--num", "1")
        assert altered.returncode == 2 and name in altered.stderr and altered.stderr.count("\n") == 1, altered.stderr
        there.files[name] = content


def test_what_the_hub_has_that_is_no_model_of_ours(hub: Hub, tmp_path: Path) -> None:
    """A pickle is neither asked for nor loaded; nor is what is not there, by any name that cannot be."""
    files = {"pytorch_model.bin": b"x", "config.json": b'{"model_type": "bert"}'}
    hub.repositories["me/pickle"] = Repository(False, files)
    hub.repositories["me/text"] = Repository(False, {"notes.md": b"x"})
    hub.repositories["me/nothing"] = Repository(False)
    for name in ("me/pickle", "me/text", "me/nothing", "me/none", "me/a..b"):
        done = command(hub, tmp_path, "embed", "a", "--json", "--model", name)
        assert (done.returncode, done.stdout) == (2, ""), done
        line = done.stderr.splitlines()[-1]  # the client may have warned that it found no file
        assert line.startswith("paraform: error: ") and "Traceback" not in done.stderr, done.stderr
        assert name in line or name.replace("/", "--") in line
    assert not any("pytorch_model.bin" in asked for asked in hub.asked)


def test_without_a_token_nothing_is_asked(hub: Hub, tmp_path: Path) -> None:
    done = command(hub, tmp_path, "export", "latent-compact", "--to", "hub:me/space", "--terms", "x", token=None)
    assert done.returncode == 2 and "me/space: no token for the hub; expected one in HF_TOKEN" in done.stderr
    assert hub.asked == []


def test_the_same_from_python(hub: Hub, tmp_path: Path) -> None:
    """`paraform.load("OWNER/NAME")`, in a process of its own: the client reads its address once."""
    folder = checkpoint_of("latent-compact")
    assert folder is not None
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.repositories["me/space"] = Repository(False, files)
    script = "import paraform; print(paraform.load('me/space', device='cpu').embed(['a cat'])[0, :4].tolist())"
    left = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    asked = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=left | asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    own = paraform.load("latent-compact", device="cpu").embed(["a cat"])[0, :4]
    torch.testing.assert_close(torch.tensor(json.loads(done.stdout)), torch.from_numpy(own))
