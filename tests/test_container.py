"""The container: its set-up is that of `make`, who it runs as, what it copies; built and asked where Docker runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

REPOSITORY = Path(__file__).resolve().parents[1]


def instructions(name: str = "Dockerfile") -> list[tuple[str, str]]:
    """(what it is, what stands behind it) of each instruction, in order."""
    text = re.sub(r"^\s*#.*\n", "", (REPOSITORY / name).read_text("utf-8"), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def named(kind: str) -> list[str]:
    return [rest for what, rest in instructions() if what == kind]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(at for at, (what, _) in enumerate(found) if what == "FROM")
    return found[start:]


def environment() -> dict[str, str]:
    """The variables that stand in the container."""
    return dict(pair.split("=", 1) for what, rest in last_stage() if what == "ENV" for pair in shlex.split(rest))


def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def pip_lines(text: str, pip: str) -> list[list[str]]:
    """What follows `pip install`, without who edits the checkout in place, and without the laboratory."""
    found = [shlex.split(line) for line in re.findall(rf"{re.escape(pip)} install (.*)$", text, re.MULTILINE)]
    return [[word for word in words if word not in ("-e", "papers")] for words in found]


def test_what_pip_installs_is_what_make_installs() -> None:
    rule = (REPOSITORY / "Makefile").read_text("utf-8").split("$(STAMP): ")[1]
    by_make = pip_lines(rule, "$(PIP)")
    here = pip_lines("\n".join(named("RUN")), "pip")
    assert len(by_make) == len(here) == 2 and by_make[0] == here[0]  # torch, first and alone
    *options, distribution = by_make[1]
    *own_options, own = here[1]
    assert own_options == options == ["-qq", "-c", "constraints.txt"]
    extras, known = (Requirement(f"paraform{name[1:]}").extras for name in (own, distribution))
    assert own[0] == distribution[0] == "." and {"offline", "demo"} <= extras <= known


def test_a_python_that_the_library_is_made_for() -> None:
    images = {image.split()[0] for image in named("FROM")}
    assert len(images) == 1  # else the environment of the first stage would not run in the last
    (version,) = re.findall(r"^python:(3\.\d+)-slim$", images.pop())
    assert version in SpecifierSet(str(project()["requires-python"]))
    assert f"Programming Language :: Python :: {version}" in project()["classifiers"]  # type: ignore[operator]


def test_nobody_is_root_and_nothing_is_secret_or_from_elsewhere() -> None:
    assert [rest for what, rest in last_stage() if what == "USER"] == ["1000"]
    last = [what for what, _ in last_stage()]
    assert last.index("USER") < last.index("CMD") and "RUN" not in last[last.index("USER") :]
    assert named("ADD") == []
    text = (REPOSITORY / "Dockerfile").read_text("utf-8")
    assert not re.search(r"^(?:ARG|ENV).*(?:KEY|TOKEN|SECRET|PASSWORD)", text, re.MULTILINE)
    assert set(re.findall(r"https?://([\w.:-]+)", text)) == {"download.pytorch.org", "127.0.0.1:8000"}


def test_what_is_copied_is_there_and_let_through() -> None:
    let_through = [
        line[1:] for line in (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines() if line[0] == "!"
    ]
    copied = [name for rest in named("COPY") if "--from" not in rest for name in rest.split()[:-1]]
    assert {"constraints.txt", "pyproject.toml", "src"} <= set(copied)
    for name in copied:
        assert (REPOSITORY / name).exists() and any(fnmatch(name, pattern) for pattern in let_through), name
    for key in ("readme", "license-files"):  # which the build reads
        for name in [project()[key]] if isinstance(project()[key], str) else project()[key]:  # type: ignore[attr-defined]
            assert name in copied


def test_once_built_it_asks_no_network_and_writes_nowhere_but_its_cache() -> None:
    variables = environment()
    assert variables["HF_HUB_OFFLINE"] == "1" and "paraform fetch smollm2" in named("RUN")
    made = dict(pair.split("=", 1) for rest in named("ENV")[:-1] for pair in rest.split())
    assert variables["PARAFORM_CACHE"] == made["PARAFORM_CACHE"]  # where the weights were put
    assert any(rest.endswith(f"{variables['PARAFORM_CACHE']} {variables['PARAFORM_CACHE']}") for rest in named("COPY"))
    assert variables["TORCHINDUCTOR_CACHE_DIR"] == "/tmp"  # else torch makes a folder of its own where it is imported


def test_it_serves_and_is_asked_whether_it_does() -> None:
    (command,) = named("CMD")
    assert json.loads(command) == ["paraform", "serve", "--host", "0.0.0.0", "--port", "8000"]
    (check,) = named("HEALTHCHECK")
    *program, code = json.loads(check.split("CMD ")[1])
    assert program == ["python", "-c"] and "http://127.0.0.1:8000/health" in code
    for status, healthy in ((200, True), (503, False)):
        with answering(status) as port:
            asked = code.replace(":8000/", f":{port}/")
            proxy = os.environ | {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
            done = subprocess.run([sys.executable, "-c", asked], env=proxy, capture_output=True, check=False)
            assert (done.returncode == 0) == healthy


@contextmanager
def answering(status: int) -> Iterator[int]:
    """The port of a server that answers GET /health with that status, and anything else with 404."""

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def docker_runs() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "info"], capture_output=True).returncode == 0


@pytest.mark.skipif(not docker_runs(), reason="no Docker runs here")
def test_it_is_built_and_answers_from_a_root_that_is_read_only() -> None:
    subprocess.run(["docker", "build", "--quiet", "--tag", "paraform-test", str(REPOSITORY)], check=True)
    given = ["docker", "run", "--detach", "--rm", "--read-only", "--network", "none", "paraform-test"]
    name = subprocess.run(given, check=True, capture_output=True, text=True).stdout.strip()
    (check,) = named("HEALTHCHECK")
    try:
        for _ in range(120):
            done = subprocess.run(["docker", "exec", name, *json.loads(check.split("CMD ")[1])], capture_output=True)
            if done.returncode == 0:
                break
            time.sleep(1)
        assert done.returncode == 0, done.stderr
        said = ["docker", "exec", name, "paraform", "paraphrase", "Can I use my card abroad?"]
        assert "abroad" in subprocess.run(said, check=True, capture_output=True, text=True).stdout
    finally:
        subprocess.run(["docker", "stop", name], check=True, capture_output=True)
