"""Pages of their own: no server, and no script or style but those that stand in them."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources


def page_template(package: str, file: str, *parts: str) -> str:
    """A page as it is packaged, with the digest of each of these elements ("style", "script") in its policy's place.

    The policy then lets a browser run and apply nothing else.
    """
    page = (resources.files(package) / file).read_text(encoding="utf-8")
    for part in parts:
        content = re.search(rf"<{part}>(.*?)</{part}>", page, re.DOTALL)
        digest = hashlib.sha256(content[1].encode() if content else b"").digest()
        page = page.replace(f"@{part}@", f"'sha256-{base64.b64encode(digest).decode()}'")
    return page
