"""Commands of paraform as processes of their own without the seconds that an import takes: each is forked.

    python forked_commands.py FOLDER

Imports what commands need, then reads a line of JSON for each, {"given": [words], "code": "", "token": null}, or with
"code" Python lines in the place of a command. The process that is forked for it writes FOLDER/out and FOLDER/err; its
exit status is printed. Environment variables that a library reads when it is imported are as they are here.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORTED = (
    "huggingface_hub.hf_api", "transformers.models.auto.modeling_auto", "transformers.models.bert.modeling_bert",
    "paraform.cli.options", "paraform.cli.embed", "paraform.cli.export", "paraform.cli.sample",
    "paraform.checkpoint", "paraform.encoders.loading", "paraform.encoders.export", "paraform.models.latent",
)  # fmt: skip


def run(asked: dict[str, Any], folder: Path) -> int:
    """In the process that was forked."""
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ.pop("HF_TOKEN", None)
    if asked["token"]:
        os.environ["HF_TOKEN"] = asked["token"]
    from paraform.cli import main

    status = 1
    try:
        if asked["code"]:
            exec(asked["code"], {})
            status = 0
        else:
            status = main(asked["given"])
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def serve(folder: Path) -> None:
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(run(json.loads(line), folder))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
