"""Programs as processes of their own without the seconds that their imports take: forked from one that has them.

    python forks.py

reads a line of JSON for each, {"program": [FILE, argument, …], "environment": {…}, "said": FILE}: a process is forked
that runs it, with stdout and stderr in the file that is named, and its number is printed. {"wait": NUMBER} prints its
exit status once it has ended.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORTED = (
    "torch._dynamo", "accelerate", "transformers.models.bert.modeling_bert", "paraform.training",
    "paraform_papers.rivals.averaged", "paraform.models.disentangled", "paraform.models.exemplar", "paraform_papers.rivals.infersent",
    "paraform.models.latent", "paraform.models.retrofit", "paraform_papers.rivals.scpn", "paraform.models.seq2seq",
    "paraform_papers.rivals.sgcp", "paraform_papers.rivals.vgvae",
)  # fmt: skip


class Forks:
    """The process that forks, and what the programs wrote; they run beside each other until they are waited for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._said = folder, dict[int, Path]()
        # forked: no other threads
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        self._process = subprocess.Popen(
            [sys.executable, __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, *program: object, **environment: str) -> int:
        """The number of the process that runs the file."""
        said = self.folder / str(len(self._said))
        number = self._ask({"program": [str(part) for part in program], "environment": environment, "said": str(said)})
        self._said[number] = said
        return number

    def wait(self, number: int) -> tuple[int, str]:
        """Its exit status, and what it said."""
        return self._ask({"wait": number}), self._said[number].read_text("utf-8")

    def ranks(self, count: int, *program: object) -> list[tuple[int, str]]:
        """Of so many processes that train together: what torchrun and `accelerate launch` set, and nothing of these."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true"}
        started = [
            self.start(*program, WORLD_SIZE=str(count), RANK=str(rank), LOCAL_RANK=str(rank), **shared)
            for rank in range(count)
        ]
        return [self.wait(number) for number in started]

    def close(self) -> None:
        self._process.communicate()

    def _ask(self, asked: dict[str, Any]) -> int:
        assert self._process.stdin and self._process.stdout
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def run(asked: dict[str, Any]) -> int:
    """In the process that was forked; two minutes are enough for all of them."""
    signal.alarm(120)
    said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(said, number)
    os.environ.update(asked["environment"])
    sys.argv = asked["program"]
    status = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def serve() -> None:
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1]), flush=True)
            continue
        child = os.fork()
        if not child:
            os._exit(run(asked))
        print(child, flush=True)


if __name__ == "__main__":
    serve()
