"""As much of the hub's protocol as its client speaks to make, fill and read a model repository; all in memory.

with Hub() as hub: subprocess.run(…, env={"HF_ENDPOINT": hub.address, "HF_TOKEN": "secret", …})
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote, urlsplit

TOKEN = "secret"
REVISION = "1" * 40


@dataclass
class Repository:
    private: bool
    files: dict[str, bytes] = field(default_factory=dict)


class Hub:
    """A server on a free port of this machine; a context manager.

    `repositories` by OWNER/NAME, and `asked`, every request's method and path.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.stored: dict[str, bytes] = {}  # what LFS took, by its SHA-256
        self.asked: list[str] = []
        hub = self

        class Handler(_Handler):
            def handle_one_request(self) -> None:
                self.hub = hub
                super().handle_one_request()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(self._read)

    def do_HEAD(self) -> None:
        self._serve(self._read)

    def do_POST(self) -> None:
        self._serve(self._write)

    def do_PUT(self) -> None:
        self._serve(self._write)

    def _serve(self, answer: Any) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, content, headers = answer(path.strip("/").split("/"), body)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    @property
    def _known(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _repository(self, name: str) -> Repository | None:
        found = self.hub.repositories.get(name)
        return found if found and (self._known or not found.private) else None

    def _read(self, parts: list[str], body: bytes) -> tuple[int, bytes, dict[str, str]]:
        api = parts[:2] == ["api", "models"]
        name = "/".join(parts[2:4] if api else parts[:2])
        repository = self._repository(name)
        if repository is None:  # as the hub has it, whether it is private or not there
            said = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Invalid username or password."}
            return 401, b'{"error": "Invalid username or password."}', said
        if api and parts[4:5] == ["tree"]:
            files = repository.files.items()
            return _json([{"type": "file", "path": path, "size": len(c), "oid": _digest(c)} for path, c in files])
        if api:
            return _json({"id": name, "sha": REVISION, "siblings": [{"rfilename": path} for path in repository.files]})
        content = repository.files.get("/".join(parts[4:]))
        if parts[2] != "resolve" or content is None:
            return 404, b"", {"X-Error-Code": "EntryNotFound"}
        return 200, content, {"ETag": f'"{_digest(content)}"', "X-Repo-Commit": REVISION}

    def _write(self, parts: list[str], body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if parts[0] == "lfs":
            self.hub.stored[parts[1]] = body
            return 200, b"", {}
        if not self._known:
            return 401, b'{"error": "Invalid username or password."}', {}
        if parts == ["api", "validate-yaml"]:
            return _json({"errors": [], "warnings": []})
        if parts == ["api", "repos", "create"]:
            wanted = json.loads(body)
            name = f"{wanted['organization']}/{wanted['name']}"
            if name in self.hub.repositories:
                said = "You already created this model repo"
                return 409, json.dumps({"error": said}).encode(), {"X-Error-Message": said}
            self.hub.repositories[name] = Repository(wanted.get("private") or wanted.get("visibility") == "private")
            return _json({"url": f"{self.hub.address}/{name}", "id": name, "name": name})
        if parts[-2:] == ["objects", "batch"]:
            objects = json.loads(body)["objects"]
            for one in objects:
                one["actions"] = {"upload": {"href": f"{self.hub.address}/lfs/{one['oid']}"}}
            return _json({"objects": objects})
        repository = self.hub.repositories["/".join(parts[2:4])]
        if parts[4] == "preupload":
            files = json.loads(body)["files"]
            for one in files:
                one["uploadMode"] = "lfs" if one["path"].endswith(".safetensors") else "regular"
            return _json({"files": [{**one, "shouldIgnore": False} for one in files]})
        for line in map(json.loads, body.splitlines()):  # a commit
            value = line["value"]
            if line["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            if line["key"] == "lfsFile":
                repository.files[value["path"]] = self.hub.stored[value["oid"]]
        name = "/".join(parts[2:4])
        return _json({"commitUrl": f"{self.hub.address}/{name}/commit/{REVISION}", "commitOid": REVISION})


def _json(value: Any) -> tuple[int, bytes, dict[str, str]]:
    return 200, json.dumps(value).encode(), {"Content-Type": "application/json"}


def _digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
