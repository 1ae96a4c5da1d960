"""The description of a service for programs (OpenAPI 3.1) and, made from it, the page for people."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraform.service.asking import REQUIRED, Field
from paraform.service.endpoints import Endpoint
from paraform.version import __version__

STATUS = {
    "400": "what was sent is not as it should be",
    "401": "no key, or another one",
    "413": "too much at once",
    "429": "too much waits; `Retry-After` says for about how many seconds",
    "503": "the service is about to end, or has too many connections",
    "504": "it took too long",
}
STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
pre { background: #f3f3f0; padding: .7rem; overflow-x: auto; }
td, th { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } pre { background: #262626; } }"""


def description(found: Sequence[Endpoint], key: bool) -> dict[str, Any]:
    """The service as OpenAPI has it.

    Args:
        key: whether it asks for one.
    """
    error = {
        "type": "object",
        "properties": {"error": {"type": "object", "properties": {"message": {"type": "string"}}}},
    }
    refusals = {
        status: {"description": said, "content": {"application/json": {"schema": error}}}
        for status, said in STATUS.items()
        if key or status != "401"
    }

    def post(one: Endpoint) -> dict[str, Any]:
        body = {"application/json": {"schema": schema_of(one.fields), "example": one.example}}
        answer = {"description": "the answer", "content": {"application/json": {"schema": one.answer}}}
        return {
            "summary": one.summary,
            "operationId": one.path.rpartition("/")[2],
            "requestBody": {"required": True, "content": body},
            "responses": {"200": answer, **refusals},
        }

    about: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "paraform", "version": __version__},
        "paths": {one.path: {"post": post(one)} for one in found},
    }
    if key:
        about["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
        about["security"] = [{"key": []}]
    return about


def schema_of(fields: Mapping[str, Field]) -> dict[str, Any]:
    """The object that has these fields, as JSON Schema."""
    properties: dict[str, Any] = {}
    for name, field in fields.items():
        properties[name] = {**field.kind.schema, "description": field.meaning}
        if field.default is not REQUIRED:
            properties[name]["default"] = field.default
    required = [name for name, field in fields.items() if field.default is REQUIRED]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def page_of(found: Sequence[Endpoint], known: Mapping[str, str], key: bool) -> str:
    """The page: every address with its fields and a call that works."""
    models = "".join(f"<tr><td>{html.escape(name)}<td>{html.escape(use)}" for name, use in known.items())
    header = " \\\n  -H 'Authorization: Bearer '\"$PARAFORM_KEY\"" if key else ""
    parts = []
    for one in found:
        rows = "".join(
            f"<tr><td><code>{name}</code><td>{html.escape(field.meaning)}"
            + ("" if field.default is REQUIRED else f" (<code>{html.escape(json.dumps(field.default))}</code>)")
            for name, field in one.fields.items()
        )
        body = json.dumps(one.example)
        call = f"curl ADDRESS{one.path} -H 'Content-Type: application/json'{header} \\\n  -d '{body}'"
        parts.append(
            f"<h2>POST {one.path}</h2><p>{html.escape(one.summary)}.</p><table>{rows}</table>"
            f"<pre>{html.escape(call)}</pre>"
        )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>paraform {__version__}</title><style>{STYLE}</style><h1>paraform {__version__}</h1>"
        '<p>JSON in, JSON out. <a href="openapi.json">openapi.json</a> says it to programs; '
        "<code>GET /health</code>, <code>/ready</code>, <code>/metrics</code> and <code>/v1/models</code> are there, "
        f"too.</p><table><tr><th>model<th>of{models}</table>{''.join(parts)}</html>"
    )
