"""The embedded models in a browser: say this like that, same meaning?, a space of sentences, form that is left, rating.

A page of this machine alone (127.0.0.1 unless told), which loads nothing from elsewhere; what is typed is not kept.
Ctrl-C ends it. Told to listen to others (--host 0.0.0.0) it answers whoever reaches the port.

Example:
  paraform demo --open
  paraform demo --port 8080
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import restricted_number_type

from paraform.cli.models import device_of
from paraform.cli.output import print_json
from paraform.ending import status_of
from paraform.memory import bound_memory
from paraform.records import InputError

Port = restricted_number_type("Port", int, [(">=", 0), ("<", 2**16)])


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--host", type=str, default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--port", type=Port, default=7860, help="its port; 0: one that is free")
    parser.add_argument("--open", action="store_true", help="open the page in this machine's browser")


def run(options: Namespace) -> int:
    """Serve the page until Ctrl-C."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise InputError('the page needs starlette and uvicorn; expected them here: pip install "paraform[demo]"')
    bound_memory()
    from paraform.demo.server import serve

    def tell(address: str) -> None:
        if options.json:
            print_json({"page": address})
            sys.stdout.flush()  # a pipe is waited at for this line
        else:
            print(f"{address} is the page; Ctrl-C ends it", flush=True)

    try:
        serve(options.host, options.port, device=device_of(options), open_page=options.open, tell=tell)
    except KeyboardInterrupt as stop:
        # Python's own end would abort in the middle of what torch computes, and nothing is to be tidied up.
        print("paraform: interrupted", file=sys.stderr, flush=True)
        os._exit(status_of(stop))
    return 0
