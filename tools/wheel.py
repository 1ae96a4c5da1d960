"""Build both wheels and try them as a newcomer would: in fresh environments, outside the checkout, without a network.

    python tools/wheel.py FOLDER      # make wheel: FOLDER is dist

1. `python -m build` makes the source archive and, from it, the wheel, of the library and of the laboratory: under
   70 MB, with every file of the package.
2. The library's wheel alone: each command works, or says in one line which extra, or which package, it wants.
3. With the extras `offline` and `demo`: paraphrase, embed, tag, sample and the page work; so does space/ as it stands.
4. With the laboratory's wheel: its commands and systems are there.

Takes some minutes and the network, for pip alone: commands run where no network is (unshare, if there is one).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 70_000_000  # bytes; the registry takes 100 MB
WANTED = ("paraform[", "pip install paraform-papers")  # how an extra, or the laboratory, is named
LOOPBACK = (  # a fresh network has even that one down
    "import fcntl, os, socket, struct, sys\n"
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 1))\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
WORKING = {  # a command, and what its output must hold
    "tag": (["tag", "The dog runs."], "The/DT dog/NN runs/VBZ"),
    "parse": (["parse", "The dog runs."], "(NP (DT The) (NN dog))"),
    "embed": (["embed", "The dog runs.", "--json"], '"dimension": 384'),
    "embed, disentangled": (["embed", "The dog runs.", "--model", "minilm-disentangled", "--json"], '"dimension": 384'),
    "paraphrase": (["paraphrase", "how can i earn money online ?"], "money"),
    "paraphrase, like": (["paraphrase", "how can i earn money ?", "--like", "what is the best way to run ?"], "?"),
    "sample": (["sample", "--num", "3", "--seed", "1"], "\n"),
    "interpolate": (["interpolate", "a cat sleeps .", "a dog runs ."], "\n"),
}


NAMED = {  # what needs an extra, or the laboratory
    "demo": (["demo"], ""),
    "mine": (["mine", "texts.txt", "--out", "triples.jsonl"], ""),
    "train": (["train", "latent", "--data", "texts.txt", "--out", "run"], ""),
    "train scpn": (["train", "scpn"], ""),
    "reproduce": (["reproduce", "crl/table2"], ""),
}


def main() -> None:
    os.environ.pop("PYTHONPATH", None)  # else pip finds the checkout's own paraform installed
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.rmtree(out, ignore_errors=True)
        builder = environment(place / "build", "build")
        wheel = build(out, builder, ROOT, "paraform")
        laboratory = build(out, builder, ROOT / "papers", "paraform_papers")
        plain = environment(place / "plain", "torch==2.13.0")
        install(plain, str(wheel))
        alone(plain, place)
        install(plain, f"{wheel}[offline,demo]")
        complete(plain, place)
        page(plain, ["paraform", "demo", "--port", "0", "--json"], place)
        space(environment(place / "space", "torch==2.13.0"), wheel, place)
        install(plain, f"{wheel}[offline,train,eval]", str(laboratory))
        for given in (["reproduce", "--help"], ["train", "scpn", "--help"], ["evaluate", "relatedness", "--help"]):
            done = told(plain, given, place)
            if done.returncode or "Example:" not in done.stdout:
                sys.exit(f"{given}: exit {done.returncode}: {done.stderr[-2000:]}")
    print(f"{wheel}, {laboratory}: work")


def build(out: Path, python: Path, root: Path, name: str) -> Path:
    """The wheel of a package, of the size and with the files that it should have."""
    subprocess.run([python, "-m", "build", "--outdir", out, root], check=True, capture_output=True)
    (wheel,) = out.glob(f"{name}-*.whl")
    listed = subprocess.run([python, "-m", "zipfile", "-l", wheel], check=True, capture_output=True, text=True).stdout
    package = root / "src" / name
    tracked = subprocess.run(["git", "ls-files", package], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    inside = [file.partition("src/")[2] for file in tracked.split()]
    missing = [file for file in inside if file not in listed]
    if missing or wheel.stat().st_size > MOST:
        sys.exit(f"{wheel}: {wheel.stat().st_size:,} bytes of at most {MOST:,}; not in it: {missing}")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {listed.count(chr(10)) - 1} files")
    return wheel


def environment(folder: Path, *packages: str) -> Path:
    """The Python of a fresh one, with these packages."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install(folder / "bin" / "python", *packages)
    return folder / "bin" / "python"


def install(python: Path, *packages: str, where: Path = ROOT) -> None:
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pip, *packages], check=True, cwd=where)


def without_network(python: Path, given: list[str], place: Path) -> tuple[list[str], dict[str, str]]:
    """How to run a script of that environment where no network, no cache and no variable of ours is."""
    known = ("PATH", "LANG", "OMP_NUM_THREADS", "PARAFORM_PRODUCTS")
    variables = {name: os.environ[name] for name in known if name in os.environ} | {"HOME": str(place / "home")}
    (place / "home").mkdir(exist_ok=True)
    command = [str(python.parent / given[0]), *given[1:]]
    if shutil.which("unshare") and not subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        command = ["unshare", "-rn", str(python), "-c", LOOPBACK, *command]
    return command, variables


def told(python: Path, given: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    command, variables = without_network(python, ["paraform", *given], place)
    return subprocess.run(command, cwd=place / "home", env=variables, capture_output=True, text=True, timeout=300)


def alone(python: Path, place: Path) -> None:
    """Without an extra, every command works or names one."""
    (place / "home").mkdir(exist_ok=True)
    (place / "home" / "texts.txt").write_text("a dog runs\na cat sleeps\nthe dog sleeps\n", encoding="utf-8")
    for name, (given, wanted) in (WORKING | NAMED).items():
        done = told(python, given, place)
        line = done.stderr.strip()
        if done.returncode == 0 and wanted in done.stdout:
            print(f"alone: {name}: works")
        elif done.returncode == 2 and any(how in line for how in WANTED) and "\n" not in line:
            print(f"alone: {name}: {line}")
        else:
            sys.exit(f"alone: {name}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}")


def complete(python: Path, place: Path) -> None:
    for name, (given, wanted) in WORKING.items():
        began = time.monotonic()
        done = told(python, given, place)
        if done.returncode or wanted not in done.stdout:
            sys.exit(f"{name}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}")
        print(f"{name}: {time.monotonic() - began:.1f} s: {' '.join(done.stdout.split())[:100]}")


def page(python: Path, given: list[str], place: Path, *, where: Path | None = None, port: int | None = None) -> None:
    """The page is served, answers, and ends on SIGTERM."""
    command, variables = without_network(python, given, place)
    # Its own network would be out of our reach, too: here a client goes with it.
    if command[0] == "unshare":
        command, variables = [str(python.parent / given[0]), *given[1:]], variables | {"HF_HUB_OFFLINE": "1"}
    served = subprocess.Popen(command, cwd=where or place / "home", env=variables, stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        address = f"http://127.0.0.1:{port}/" if port else json.loads(served.stdout.readline())["page"]
        for _ in range(120):
            try:
                content = urllib.request.urlopen(address, timeout=10).read()
                break
            except OSError:
                time.sleep(1)
        else:
            sys.exit(f"{given}: no page at {address}")
        if b"paraform" not in content:
            sys.exit(f"{address}: {content[:500]!r}")
        print(f"{' '.join(given)}: {len(content):,} bytes")
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait(60)


def space(python: Path, wheel: Path, place: Path) -> None:
    """The Space's folder as it stands, with the wheel in it as its card says."""
    folder = Path(shutil.copytree(ROOT / "space", place / "app"))
    shutil.copy(wheel, folder)
    install(python, "-r", "requirements.txt", where=folder)
    page(python, ["python", "app.py"], place, where=folder, port=7860)


if __name__ == "__main__":
    main()
