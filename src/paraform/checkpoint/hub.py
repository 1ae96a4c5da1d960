"""Folders on the Hugging Face hub: checkpoints, push and pull; exported encoders, push."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from paraform.manifest import CARD, NAME, WEIGHTS, located, read
from paraform.records import InputError
from paraform.weights import PathLike

FOREIGN = ("config.json", "modules.json")  # one of which a repository has that is an encoder and no checkpoint of ours


def push(folder: PathLike, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
    """Upload a checkpoint to the hub, as one commit; training state stays here.

    Returns: the address of the commit.
    Raises: InputError if the checkpoint is damaged or the hub refuses.
    """
    manifest = read(folder)
    names = [WEIGHTS, *manifest.assets]
    for name in names:
        if located(folder, manifest, name) != Path(folder) / name:
            raise InputError(f"{folder}: a save was killed here; load it and save it again before the upload")
    return _upload(folder, repo_id, private=private, exist_ok=True, token=token, patterns=[NAME, CARD, *names])


def push_new(folder: PathLike, repo_id: str, *, private: bool = True, token: str | None = None) -> str:
    """Upload an exported encoder's folder to a model repository that is made for it, as one commit.

    Args:
        repo_id: OWNER/NAME; none is replaced.
        token: the hub's; None: the one that this machine has.
    Returns: the address of the commit.
    Raises: InputError if there is no token, or the hub refuses.
    """
    import huggingface_hub as hub

    token = token or hub.get_token()
    if token is None:
        raise InputError(f"{repo_id}: no token for the hub; expected one in HF_TOKEN, or call: hf auth login")
    return _upload(folder, repo_id, private=private, exist_ok=False, token=token)


def _upload(
    folder: PathLike,
    repo_id: str,
    *,
    private: bool,
    exist_ok: bool,
    token: str | None,
    patterns: list[str] | None = None,
) -> str:
    import huggingface_hub as hub

    # OSError and the error of whichever HTTP library this version of the hub's client is built on
    refused = cast(tuple[type[Exception], ...], (*hub.errors.HfHubHTTPError.__bases__, hub.errors.HFValidationError))
    api = hub.HfApi(token=token)
    try:
        api.create_repo(repo_id, private=private, exist_ok=exist_ok)
        done = api.upload_folder(repo_id=repo_id, folder_path=os.fspath(folder), allow_patterns=patterns)
    except refused as error:
        raise InputError(f"{repo_id}: not uploaded: {one_line(error)}") from error
    return str(done.commit_url)


def pull(repo_id: str, *, revision: str | None = None, token: str | None = None) -> Path:
    """The hub's checkpoint in the local hub cache, downloaded if need be; only the files that load reads and the card.

    Returns: its folder; it holds no `paraform.json` if the repository has none.
    Raises: InputError if there is no such repository, here or there.
    """
    import huggingface_hub as hub

    def download(*names: str) -> Path:
        return Path(hub.snapshot_download(repo_id, revision=revision, token=token, allow_patterns=list(names)))

    try:
        folder = download(NAME, *FOREIGN)
        if (folder / NAME).is_file():
            folder = download(NAME, CARD, WEIGHTS, *read(folder).assets)
    except (OSError, hub.errors.EntryNotFoundError, hub.errors.HFValidationError) as error:
        raise InputError(f"{repo_id}: no such folder, and not to be had from the hub: {one_line(error)}") from error
    return folder


def one_line(error: BaseException) -> str:
    """The message of another library's error, in one line."""
    return " ".join(str(error).split())[:300]
