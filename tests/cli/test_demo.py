"""`paraform demo` as a process: the line that it prints, how it ends, and what is wrong with an address."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from paraform.cli import demo


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paraform", "demo", "--port", "0", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_one_line_leads_to_the_page_and_a_signal_ends_it_at_once(how: signal.Signals, status: int) -> None:
    """In the middle of a question that the models are still loaded for; nothing of it is printed."""
    process = started()
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"(http://127\.0\.0\.1:\d+/) is the page; Ctrl-C ends it\n", line)
    assert found, line
    with urllib.request.urlopen(found[1], timeout=60) as page:
        assert b"What a sentence says" in page.read()
    body = json.dumps({"text": "a secret", "like": []}).encode()
    host, port = found[1].removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as asking:
        head = f"POST /api/say HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        asking.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (status, "", "paraform: interrupted\n")
    assert time.monotonic() - sent < 10


def test_a_program_that_starts_it_is_told_at_once_where_the_page_is() -> None:
    process = started("--json")
    assert process.stdout is not None
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", json.loads(process.stdout.readline())["page"])
    process.terminate()
    process.communicate(timeout=60)


def test_an_address_that_is_taken_or_none_is_one_line(command: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = command("demo", "--port", port)
    assert done.status == 2 and done.err == f"paraform: error: 127.0.0.1:{port}: Address already in use\n"
    for given, said in (
        (("--host", "no.such.host.invalid"), "no address of this machine"),
        (("--host", "\ud800"), "no address of this machine"),
        (("--host", ""), "no address of this machine"),
        (("--port", "70000"), "--port"),
        (("--port", "x"), "--port"),
    ):
        done = command("demo", *given)
        assert done.status == 2 and said in done.err and done.err.count("\n") == 1 and done.out == ""


def test_without_the_extra_it_says_what_to_install(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None if name == "uvicorn" else True)
    done = command("demo")
    assert done.status == 2 and done.err.count("\n") == 1 and 'pip install "paraform[demo]"' in done.err
