"""`paraform serve` as a process: what it prints, clients from elsewhere, how it ends, and options that are wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np
import openai
import psutil
import pytest

import paraform
from paraform.cli import serve

SMALL = ("--paraphrase", "none", "--like", "none", "--same", "none", "--parse", "none")


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address; it must end by itself, or with the block."""
    command = [sys.executable, "-m", "paraform", "serve", "--port", "0", "--json", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)["service"]
    finally:
        process.kill()
        process.communicate()


def test_clients_of_openai_httpx_and_curl_are_answered() -> None:
    texts = ["Can I pay by card?", "Is it possible to pay by card?"]
    with started("--paraphrase", "rules", "--like", "none", "--parse", "none", PARAFORM_KEY="a-key") as (_, address):
        client = openai.OpenAI(base_url=f"{address}v1", api_key="a-key", max_retries=0)
        found = client.embeddings.create(model="minilm", input=texts)
        vectors = np.array([one.embedding for one in found.data], np.float32)
        assert np.allclose(vectors, paraform.load("minilm").encode(texts), atol=1e-5)
        assert found.usage.total_tokens == sum(paraform.load("minilm").lengths(texts))
        assert {one.id for one in client.models.list()} == {"rules", "minilm-judge", "minilm"}
        with pytest.raises(openai.BadRequestError, match="expected 'minilm'"):
            client.embeddings.create(model="text-embedding-3-small", input=texts)
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(base_url=f"{address}v1", api_key="other").embeddings.create(model="minilm", input=texts)
        with httpx.Client(base_url=address, headers={"Authorization": "Bearer a-key"}, timeout=60) as asking:
            (said,) = asking.post("v1/paraphrase", json={"text": texts[0]}).json()["paraphrases"]
            assert said == paraform.reword([texts[0]], model="rules")[0].to_dict()
            (judged,) = asking.post("v1/same", json={"pairs": [texts]}).json()["pairs"]
            assert judged["same"] == pytest.approx(
                float(paraform.same([(texts[0], texts[1])], model="minilm-judge")[0]), abs=1e-3
            )
        if curl := shutil.which("curl"):
            body = json.dumps({"pairs": [texts]})
            headers = ["-H", "Content-Type: application/json", "-H", "Authorization: Bearer a-key"]
            done = subprocess.run(
                [curl, "-sS", f"{address}v1/same", *headers, "-d", body], capture_output=True, text=True, check=True
            )
            assert json.loads(done.stdout)["pairs"] == [judged]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_it_when_what_was_asked_is_answered(how: signal.Signals) -> None:
    with started(*SMALL) as (process, address):
        texts = [f"{number} boats sail on lake number {number}" for number in range(1500)]
        answers: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{address}v1/embeddings", json={"input": texts}, timeout=120))
        )
        asking.start()
        while "paraform_waiting_characters 0" in httpx.get(f"{address}metrics").text:
            time.sleep(0.01)
        process.send_signal(how)
        out, err = process.communicate(timeout=120)
        asking.join()
    assert (process.returncode, out, err) == (0, "", "paraform: ended\n")
    assert len(answers[0].json()["data"]) == 1500


def test_no_text_and_no_key_is_in_what_it_prints() -> None:
    with started(*SMALL, PARAFORM_KEY="key-secret") as (process, address):
        headers = {"Authorization": "Bearer key-secret"}
        for given in (
            {"input": "text-secret " * 400},
            {"input": ["text-secret"], "truncate": True},
            {"bad": "text-secret"},
        ):
            httpx.post(f"{address}v1/embeddings", json=given, headers=headers, timeout=60)
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert "secret" not in out + err and err == "paraform: ended\n"


def test_what_is_wrong_with_options_is_one_line(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = command("serve", "--port", port)
    assert done.status == 2 and done.err == f"paraform: error: 127.0.0.1:{port}: Address already in use\n"
    for given, said in (
        (("--host", "no.such.host.invalid"), "no address of this machine"),
        (("--embeddings", "syntax", *SMALL), "syntax"),
        (("--same", "minilm"), "minilm: an encoder; expected a judge of meaning"),
        (("--like", "minilm"), "expected a model that paraphrases"),
        (("--replicas", "2"), "--replicas 2: of Ray; expected it with --engine ray only"),
        (("--address", "auto"), "--address auto: of Ray"),
        (("--most-texts", "0"), "--most-texts"),
    ):
        done = command("serve", "--port", "0", "--paraphrase", "none", *given)
        assert done.status == 2 and said in done.err and done.err.count("\n") == 1 and done.out == "", given
    for key in ("", " ", "\udcff", "a\x07b"):
        monkeypatch.setenv("PARAFORM_KEY", key)
        done = command("serve", "--port", "0")
        assert done.status == 2 and "PARAFORM_KEY" in done.err and done.err.count("\n") == 1
    monkeypatch.delenv("PARAFORM_KEY")
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == "uvicorn" else True)
    done = command("serve")
    assert done.status == 2 and done.err.count("\n") == 1 and 'pip install "paraform[serve]"' in done.err


def is_replica(process: psutil.Process) -> bool:
    try:
        return "ServeReplica" in " ".join(process.cmdline())
    except psutil.Error:  # it is dead
        return False


def test_on_ray_replicas_answer_and_a_killed_one_is_replaced() -> None:
    pytest.importorskip("ray.serve")
    with started("--engine", "ray", "--address", "local", "--replicas", "2", *SMALL) as (process, address):
        want = paraform.load("minilm").encode(["A cat."])[0]

        def answered() -> bool:
            try:
                found = httpx.post(f"{address}v1/embeddings", json={"input": "A cat."}, timeout=60)
            except httpx.TransportError:
                return False
            return found.status_code == 200 and np.allclose(found.json()["data"][0]["embedding"], want, atol=1e-5)

        def replicas() -> list[psutil.Process]:
            return [one for one in psutil.Process(process.pid).children(recursive=True) if is_replica(one)]

        assert answered() and len(replicas()) == 2
        killed = replicas()[0]
        killed.kill()
        until = time.monotonic() + 120
        while killed.pid in (there := {one.pid for one in replicas()}) or len(there) < 2 or not answered():
            assert time.monotonic() < until
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "", "paraform: ended\n")
