"""The same small table in each format, and files of a test's own."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


INTENTS = {
    "intents.csv": 'id,text,label\n7,"Hi, ""you""!",greet\n8,"two\r\nlines",\n9, bye ,leave\n',
    "intents.tsv": 'id\ttext\tlabel\n7\tHi, "you"!\tgreet\n8\ttwo lines\t\n9\t bye \tleave\n',
    "intents.jsonl": '{"id": 7, "text": "Hi, \\"you\\"!", "label": "greet"}\n'
    '{"text": "two\\r\\nlines", "id": null, "more": true}\n{"id": 0.5, "text": " bye ", "label": "leave"}\n',
}
