"""Rewording, judging, embedding, parsing and searching over HTTP, for programs: JSON in, JSON out.

POST /v1/paraphrase, /v1/same, /v1/embeddings (the shape of OpenAI's call), /v1/parse, and /v1/search over what
`paraform index` made; GET /health, /ready, /metrics (Prometheus), /openapi.json, and / for people, which shows a call
of each. What is asked within a few milliseconds of each other is computed together; where too much waits, 429 says for
about how long. No text is logged or stored.

It listens to this machine alone unless --host says otherwise. With PARAFORM_KEY set, requests need the header
Authorization: Bearer KEY. SIGTERM and Ctrl-C: what was asked is answered, within 25 seconds, then it ends.

--engine ray serves the same from --replicas processes of a Ray cluster (pip install "paraform[cluster]").

Example:
  paraform serve --embeddings minilm minilm-disentangled
  PARAFORM_KEY=… paraform serve --host 0.0.0.0 --like none --parse none
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.demo import Port
from paraform.cli.models import device_of
from paraform.cli.output import print_json
from paraform.memory import bound_memory
from paraform.records import InputError, require_text

if TYPE_CHECKING:
    from paraform.service.app import Settings

KEY = "PARAFORM_KEY"


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--host", type=str, default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--port", type=Port, default=8000, help="its port; 0: one that is free")
    usual = "null: smollm2-free where smollm2 was fetched, else rules"
    parser.add_argument("--paraphrase", type=str | None, default=None, help=f"rewords; none: nothing does; {usual}")
    parser.add_argument("--like", type=str, default="compact", help="says texts in the form of others; or none")
    parser.add_argument("--same", type=str, default="minilm-judge", help="judges meaning; or none")
    parser.add_argument(
        "--embeddings", nargs="+", type=str, default=["minilm"], metavar="MODEL", help="embed, the usual first; or none"
    )
    parser.add_argument("--parse", type=str, default="syntax", help="parses; or none")
    parser.add_argument(
        "--search", nargs="+", type=str, default=[], metavar="INDEX", help="folders of `paraform index` to be asked"
    )
    parser.add_argument("--most-texts", type=PositiveInt, default=2048, help="of a request")
    parser.add_argument("--most-waiting", type=PositiveInt, default=1_000_000, help="characters that may wait")
    parser.add_argument("--seconds", type=PositiveInt, default=120, help="that an answer may take")
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="this process, or Ray Serve")
    parser.add_argument("--address", type=str | None, default=None, help="of a Ray cluster; null: see paraform embed")
    parser.add_argument("--replicas", type=PositiveInt | None, default=None, help="processes on Ray; null: 1")


def run(options: Namespace) -> int:
    """Serve until a signal ends it."""
    if not all(map(find_spec, ("starlette", "uvicorn", "prometheus_client", "orjson"))):
        raise InputError('the service needs starlette and more; expected them here: pip install "paraform[serve]"')
    if options.engine == "local":
        for name in ("address", "replicas"):
            if options[name] is not None:
                raise InputError(f"--{name} {options[name]}: of Ray; expected it with --engine ray only")
    bound_memory()
    from paraform.service.listening import address_of, listen, serve_until_told

    settings = settings_of(options)
    if options.engine == "ray":
        from paraform.service.on_ray import serve_on_ray

        replicas = options.replicas or 1
        serve_on_ray(
            settings, options.host, options.port, options.address, replicas, lambda where: tell(where, options)
        )
    else:
        with listen(options.host, options.port) as listening:
            app = settings.app()
            tell(address_of(options.host, listening), options)
            serve_until_told(app, listening)
    print("paraform: ended", file=sys.stderr)
    return 0


def settings_of(options: Namespace) -> Settings:
    """What the options, and `PARAFORM_KEY`, say."""
    from paraform.service.app import LIMITS, Settings
    from paraform.service.guard import LOCAL
    from paraform.service.models import Names

    key = os.environ.get(KEY, "").strip()
    if KEY in os.environ and not (key and key.isprintable() and require_text(key, KEY)):
        raise InputError(f"{KEY} is set to what is no key; expected printable characters, or that it is not set")
    return Settings(
        names=Names(
            options.paraphrase,
            options.like,
            options.same,
            tuple(options.embeddings),
            options.parse,
            tuple(options.search),
        ),
        device=device_of(options),
        # With a key a page from elsewhere gets nothing, whatever name it calls this by.
        hosts=LOCAL if options.host in LOCAL and not key else None,
        key=key,
        limits=replace(LIMITS, count=options.most_texts),
        waiting=options.most_waiting,
        seconds=options.seconds,
    )


def tell(address: str, options: Namespace) -> None:
    """Where it can be asked, at once: a pipe is waited at for this line."""
    if options.json:
        print_json({"service": address})
        sys.stdout.flush()
    else:
        print(f"{address} answers; Ctrl-C ends it", flush=True)
