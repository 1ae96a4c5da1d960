"""Folders on the Hugging Face hub: checkpoints, push and pull; exported encoders, push.

A card that is uploaded begins with the metadata that the hub reads, unless it has its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
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
        folder: its README.md is the card; as every file of it, it may be changed here.
        repo_id: OWNER/NAME; none is replaced.
        token: the hub's; None: the one that this machine has.
    Returns: the address of the commit.
    Raises: InputError if there is no token, or the hub refuses.
    """
    token = token or require_token(repo_id)
    card = Path(folder) / CARD
    if card.is_file():
        encoder = (Path(folder) / FOREIGN[1]).is_file()
        card.write_text(with_metadata(card.read_text(encoding="utf-8"), ENCODER if encoder else ()), encoding="utf-8")
    return _upload(folder, repo_id, private=private, exist_ok=False, token=token)


def require_token(repo_id: str) -> str:
    """This machine's token for the hub. Raises: InputError, naming the repository, if it has none."""
    import huggingface_hub as hub

    token = hub.get_token()
    if token is None:
        raise InputError(f"{repo_id}: no token for the hub; expected one in HF_TOKEN, or call: hf auth login")
    return str(token)


def push_new_checkpoint(
    folder: PathLike, repo_id: str, *, terms: str, private: bool = True, token: str | None = None
) -> str:
    """Upload a checkpoint as `push_new` does; training state stays here.

    Args:
        terms: those of the training data, behind the card's own text.
    Raises: InputError as `push_new`, and if the checkpoint is damaged.
    """
    manifest = read(folder)
    with tempfile.TemporaryDirectory() as scratch:
        for name in (WEIGHTS, *manifest.assets):
            shutil.copy(located(folder, manifest, name), Path(scratch) / name)
        shutil.copy(Path(folder) / NAME, scratch)
        own = Path(folder) / CARD
        text = own.read_text(encoding="utf-8") if own.is_file() else f"# {repo_id.split('/')[-1]}\n"
        (Path(scratch) / CARD).write_text(f"{text}\n**Terms of the training data.** {terms}\n", encoding="utf-8")
        return push_new(scratch, repo_id, private=private, token=token)


ENCODER = ("sentence-transformers", "sentence-similarity", "feature-extraction")


def with_metadata(card: str, kinds: Sequence[str] = ()) -> str:
    """A card behind the metadata that the hub reads (YAML), of which a card may have its own.

    Args:
        kinds: tags beside "paraform": the library, if another one loads it, and the task first.
    """
    import huggingface_hub as hub

    if card.startswith("---\n"):
        return card
    data = hub.ModelCardData(
        library_name=kinds[0] if kinds else "paraform",
        pipeline_tag=kinds[1] if kinds else None,
        license="other",
        license_name="terms-of-the-training-data",
        tags=["paraform", *kinds],
    )
    return f"---\n{data.to_yaml()}\n---\n\n{card}"


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

    Returns: its folder; it holds no `paraform.json` if the repository has none, and is an encoder's.
    Raises: InputError if there is no such repository, here or there, or it holds no model.
    """
    import huggingface_hub as hub

    def download(*names: str) -> Path:
        return Path(hub.snapshot_download(repo_id, revision=revision, token=token, allow_patterns=list(names)))

    try:
        folder = download(NAME, *FOREIGN)
        if (folder / NAME).is_file():
            folder = download(NAME, CARD, WEIGHTS, *read(folder).assets)
        elif not any((folder / name).is_file() for name in FOREIGN):
            raise InputError(f"{repo_id}: a repository of the hub without {NAME}, {' or '.join(FOREIGN)}: no model")
    except hub.errors.RepositoryNotFoundError as error:  # a gated one, too: what the hub says of both is many lines
        raise InputError(
            f"{repo_id}: no such folder, and no such model on the hub that we may read; of a private or gated one"
            " expected a token in HF_TOKEN, or call: hf auth login"
        ) from error
    except (OSError, hub.errors.EntryNotFoundError, hub.errors.HFValidationError) as error:
        raise InputError(f"{repo_id}: no such folder, and not to be had from the hub: {one_line(error)}") from error
    return folder


def one_line(error: BaseException) -> str:
    """The message of another library's error, in one line."""
    return " ".join(str(error).split())[:300]
