"""How a process ends that Ctrl-C or SIGTERM has told to."""

from __future__ import annotations


class Terminated(KeyboardInterrupt):
    """SIGTERM, heard as Ctrl-C is; by itself it would leave unfinished files behind."""


INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
TERMINATED = 143  # 128 + SIGTERM


def status_of(stop: KeyboardInterrupt) -> int:
    """The exit status of a process that Ctrl-C or SIGTERM ended after it had tidied up."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
