"""The page over models that answer at once, and over the embedded ones."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette

from paraform.demo.answers import Answers
from paraform.demo.server import make_app


class Echo:
    """Stands for `Answers`: each answer says what was asked, so that nobody can be given another's.

    Args:
        gate: what each answer waits for.
    """

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[str] = []

    def warm(self) -> dict[str, Any]:
        return {}

    def _heard(self, text: str) -> str:
        self.gate.wait(30)
        self.asked.append(text)
        if text == "fault":
            raise ZeroDivisionError(f"secret {text}")
        return text

    def say(self, text: str, like: list[str]) -> dict[str, Any]:
        said = [self._heard(text), *like]
        trees = [["ROOT", [["S", [["NN", text]]]]]] * 2
        about = {"checks": {"names": True}, "content": 1.0, "beside": text, "trees": trees}
        rows = [{"text": each, "form": each, **about} for each in said]
        return {"candidates": rows, "reason": ""}

    def forms(self, text: str) -> dict[str, Any]:
        return {"forms": [self._heard(text)]}

    def same(self, first: str, second: str) -> dict[str, Any]:
        rows = [{"encoder": self._heard(first), "cosine": 1.0, "moved": []}]
        judged = {"by": "a judge", "told": f"They differ: {first}", "shares": [["both say the same", 0.09]]}
        return {"encoders": rows, "only": [[first], [second]], "judged": judged}

    def walk(self, first: str, second: str) -> dict[str, Any]:
        return {"said": [self._beside(self._heard(first)), self._beside(second)], "unknown": 0}

    def sample(self, seed: int) -> dict[str, Any]:
        return {"said": [self._beside(self._heard(str(seed)))]}

    def _beside(self, text: str) -> dict[str, Any]:
        return {"text": text, "nearest": text, "similarity": 0.5}


@pytest.fixture(scope="session")
def answers() -> Answers:
    return Answers("cpu")


@pytest.fixture
def echo() -> Echo:
    return Echo()


@contextmanager
def listening(app: Starlette) -> Iterator[str]:
    """The address of a server of the app, on a port that is free."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", lifespan="on", ws="none", timeout_graceful_shutdown=0)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Serves the page over whatever answers; returns its address."""
    with ExitStack() as stack:
        yield lambda answers: stack.enter_context(listening(make_app(answers)))
