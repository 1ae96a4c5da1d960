"""Who may ask: the name that the server is called by, the key that is sent; and what each answer says to browsers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine. A page from elsewhere whose name was made to lead here (DNS rebinding) has another."""

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def as_json(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    try:  # ten times as fast of vectors, which may be arrays
        body = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:  # half a character, or a number of more than 64 bits, of somebody's table
        body = json.dumps(value).encode()
    return Response(body, status, headers, media_type="application/json")


class Guard:
    """Lets through who may ask, and sets what every answer says to browsers.

    Args:
        hosts: names that the server may be called by; None: any.
        policy: the content security policy of its pages.
        key: what `Authorization: Bearer …` has to say; "": anyone may ask.
        open_paths: paths that need no key.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str] | None,
        policy: str,
        key: str = "",
        open_paths: Collection[str] = (),
    ) -> None:
        self.app, self.hosts, self.key, self.open_paths = app, hosts, key.encode(), frozenset(open_paths)
        self.headers: Sequence[tuple[bytes, bytes]] = [(b"content-security-policy", policy.encode()), *HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server's own start and end
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        refusal = self._refusal(Request(scope), scope["path"])
        await (self.app if refusal is None else refusal)(scope, receive, with_headers)

    def _refusal(self, request: Request, path: str) -> Response | None:
        if self.hosts is not None and not called_by(request.headers.get("host", ""), self.hosts):
            return as_json({"error": {"message": "This is for its own machine: http://127.0.0.1 …"}}, 421)
        if self.key and path not in self.open_paths:
            kind, _, given = request.headers.get("authorization", "").partition(" ")
            # In a time that does not tell how much of it is right.
            right = hmac.compare_digest(given.strip().encode("latin-1"), self.key)
            if kind.lower() != "bearer" or not right:
                said = "No such key; expected the header Authorization: Bearer KEY."
                return as_json({"error": {"message": said}}, 401, {"WWW-Authenticate": "Bearer"})
        return None


def called_by(host: str, hosts: frozenset[str]) -> bool:
    """Whether a Host header names one of these."""
    try:
        return urlsplit(f"//{host}").hostname in hosts
    except ValueError:
        return False


def policy_of(pages: Iterable[str], framed_by: str = "") -> str:
    """The content security policy: the pages' own scripts and styles, own addresses, and nothing from elsewhere."""
    whole = "".join(pages)
    rules = [
        "default-src 'none'",
        *(f"{part}-src {_digests(whole, part)}" for part in ("script", "style")),
        "connect-src 'self'",
        "frame-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        f"frame-ancestors 'self' {framed_by}".strip(),
    ]
    return "; ".join(rules)


def _digests(pages: str, part: str) -> str:
    found = re.findall(rf"<{part}>(.*?)</{part}>", pages, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found]
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
