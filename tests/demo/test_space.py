"""The folder of the Space: its card as the hub's own client reads it, and its Dockerfile, whose command is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

from huggingface_hub import SpaceCard

SPACE = Path(__file__).parents[2] / "space"


def instructions() -> list[tuple[str, str]]:
    """Those of the Dockerfile, without comments."""
    lines = (SPACE / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    split = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(name, rest) for name, _, rest in split]


def told(name: str) -> str:
    """What the last instruction of that name says."""
    return [rest for found, rest in instructions() if found == name][-1]


def variables() -> dict[str, str]:
    return dict(pair.split("=") for pair in told("ENV").split())


def test_the_card_and_the_dockerfile_name_one_port() -> None:
    card = SpaceCard.load(SPACE / "README.md").data
    assert (card.sdk, card.app_port) == ("docker", 7860)
    assert told("EXPOSE") == variables()["PORT"] == "7860"
    assert len(card.short_description) <= 60  # the hub takes no longer one


def test_it_does_not_run_as_root() -> None:
    """The last user is one that was made; nothing but variables, the port and the command comes after."""
    names = [name for name, _ in instructions()]
    assert names[0] == "FROM" and names[names.index("USER") :] == ["USER", "ENV", "EXPOSE", "CMD"]
    made = [rest for name, rest in instructions() if name == "RUN" and rest.startswith("useradd")]
    assert len(made) == 1 and made[0].split()[-1] == told("USER") and "--uid 1000" in made[0]


def test_what_it_copies_and_installs_is_there() -> None:
    for name, rest in instructions():
        if name == "COPY":
            *sources, _ = (word for word in rest.split() if not word.startswith("--"))
            assert all((SPACE / source).exists() for source in sources)
    wanted = [word for name, rest in instructions() if name == "RUN" for word in re.findall(r"-r (\S+)", rest)]
    assert wanted and all((SPACE / file).is_file() for file in wanted)


def test_its_command_starts_the_page(tmp_path: Path) -> None:
    """As it stands, in a copy of the folder; only the port is another, since 7860 may be taken here."""
    folder = shutil.copytree(SPACE, tmp_path / "app")
    program, *given = json.loads(told("CMD"))
    assert program == "python"
    environment = os.environ | variables() | {"PORT": "0"}
    with subprocess.Popen(
        [sys.executable, *given],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            port = re.search(r"http://0\.0\.0\.0:(\d+)/", line)
            assert port, line
            with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/", timeout=60) as page:
                assert b"What a sentence says" in page.read()
                allowed = page.headers["Content-Security-Policy"]
            assert "frame-ancestors 'self' https://huggingface.co https://*.hf.space" in allowed
        finally:
            process.terminate()
