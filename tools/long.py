"""A queue of long trainings: one command at a time, one thread, lowest priority; each goes on where it was stopped.

    python tools/long.py start FOLDER     # in the background, with the first line that is not done
    python tools/long.py status FOLDER    # where each line stands
    python tools/long.py stop FOLDER      # what runs saves itself first

The list is tools/long.txt, a line each: a command of paraform, or `recipe` and a module of `paraform_papers` with
its arguments; `{runs}` is FOLDER/runs, `{data}` --data. FOLDER holds logs and done.txt, the lines that ended with 0;
`start` tries the others again. Start it from a checkout that nobody edits.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

# One precision on every processor: the rows of a table are trained on several.
ALIKE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")} | {"PARAFORM_PRODUCTS": "float32"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("start", "status", "stop", "run"), help="run: as start, in the foreground")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--list", type=Path, default=Path(__file__).with_name("long.txt"))
    parser.add_argument("--nice", type=int, default=19, help="added to the priority's number; 19 is the lowest")
    options = parser.parse_args()
    (folder := options.folder.resolve()).mkdir(parents=True, exist_ok=True)
    lines = [line for line in options.list.read_text().splitlines() if line and not line.startswith("#")]
    done = (folder / "done.txt").read_text().splitlines() if (folder / "done.txt").exists() else []
    running = False
    with (folder / "pid").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.truncate(0)  # who was there has gone, and the number may be another's by now
        except BlockingIOError:
            running = True
        if options.verb == "status":
            for line in lines:
                path = folder / f"{name_of(line)}.log"
                last = path.read_text(errors="replace").split()[-12:] if path.exists() else []
                print(f"{'done' if line in done else 'begun' if last else 'waits':5} {line}\n     ", *last, end="\n\n")
            print("running" if running else "not running")
        elif options.verb == "stop":
            if running:
                if not (group := (folder / "pid").read_text().strip()):
                    sys.exit("it is just starting, or was looked at; try again")
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.killpg(int(group), signal.SIGTERM)
                fcntl.flock(lock, fcntl.LOCK_EX)
        elif running:
            sys.exit("it runs already")
        elif options.verb == "start":
            fcntl.flock(lock, fcntl.LOCK_UN)
            given = ["--data", options.data, "--list", options.list, "--nice", str(options.nice)]
            command = [sys.executable, __file__, "run", folder, *given]
            with (folder / "queue.log").open("a") as log:
                subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        else:
            with contextlib.suppress(PermissionError):  # it leads a session, and so a group
                os.setpgid(0, 0)
            # The number of a group is given to no other while one of it lives: a child that is left alone, too.
            print(os.getpid(), file=lock, flush=True)
            os.nice(options.nice)
            with contextlib.suppress(OSError):  # Linux weighs sessions, not processes, where it groups them
                Path("/proc/self/autogroup").write_text(str(options.nice))
            run([line for line in lines if line not in done], folder, options.data.resolve(), lock.fileno())


def run(lines: list[str], folder: Path, data: Path, lock: int) -> None:
    stopped = list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))  # the child gets it as one of the group
    for line in lines:
        words = shlex.split(line.format(runs=folder / "runs", data=data))
        module = ["paraform_papers." + words[1], *words[2:]] if words[0] == "recipe" else ["paraform", *words]
        command = [sys.executable, "-m", *module]
        with (folder / f"{name_of(line)}.log").open("a") as log:
            print(f"\n--- {time.strftime('%F %T')} {line}", file=log, flush=True)
            # A child holds the lock too: whoever survives a kill, two never train in one folder.
            status = subprocess.call(command, stdout=log, stderr=log, env=os.environ | ALIKE, pass_fds=[lock])
        print(time.strftime("%F %T"), status, line, flush=True)
        with (folder / "done.txt").open("a") as done:
            done.write(f"{line}\n" * (status == 0))
        if stopped:
            break


def name_of(line: str) -> str:  # of its log
    return "_".join(word.replace("/", "-") for word in shlex.split(line) if not word.startswith(("--", "{")))


if __name__ == "__main__":
    main()
