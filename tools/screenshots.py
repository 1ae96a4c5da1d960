"""Takes the pictures of the site and of the README anew: what the embedded models do, and the site's first page.

    python tools/screenshots.py demo   # docs/shown-{say,same,space}.png, docs/demo-{say,same}.png: of `paraform demo`
    python tools/screenshots.py site   # docs/site.png, of site/, which `make docs` has built

Needs Debian's chromium and the extras `demo` and `dev`. Look at what comes out.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import sync_playwright

from paraform.demo.answers import Answers
from paraform.demo.server import make_app

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
SIZE = {"width": 600, "height": 465}  # pixels of each of the three pictures on the first page
BARE = """
header, footer, section > h2, section > p.soft, #say-like, label[for=say-like], #say-offer { display: none !important }
body { padding-top: 0.5rem }
"""


@contextmanager
def chromium(**how: Any) -> Iterator[Any]:
    """A window of the system's browser."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser.new_context(**how).new_page()
        browser.close()


def demo() -> None:
    """The three things that the embedded models do, one picture each, and the page itself, wide and narrow."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(Answers("cpu")), log_level="critical", ws="none"))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.1)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with chromium(viewport=SIZE, device_scale_factor=1.5, bypass_csp=True) as page:  # for `BARE`
        page.set_default_timeout(180_000)
        page.goto(address)
        page.fill("#say-text", "Can I use my card abroad?")
        page.fill("#say-like", "")
        press(page, "say")
        taken(page, "say", "#say-form")
        page.click("#tab-same")
        page.fill("#same-first", "How can I lose weight fast?")
        page.fill("#same-second", "What is the fastest way to lose weight?")
        press(page, "same")
        taken(page, "same", "#same-form")
        page.click("#tab-space")
        press(page, "walk")
        page.focus("#walk-at")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        taken(page, "space", "#walk-form")
    with chromium(viewport={"width": 1400, "height": 900}) as page:
        page.goto(address)
        page.fill("#say-text", "how can i earn money online ?")
        page.fill("#say-like", "what is the best way to reduce weight ?\nis it hard to learn chess ?")
        press(page, "say")
        page.screenshot(path=DOCS / "demo-say.png", full_page=True)
    with chromium(viewport={"width": 400, "height": 900}, color_scheme="dark") as page:
        page.goto(f"{address}#/same")
        press(page, "same")
        page.screenshot(path=DOCS / "demo-same.png", full_page=True)
    server.should_exit = True


def press(page: Any, form: str) -> None:
    """The form's button, and wait for its answer."""
    page.click(f"#{form}-form button[type=submit]")
    page.wait_for_function(f"() => document.querySelector('#{form}-form [role=status]').textContent.startsWith('Done')")


def taken(page: Any, name: str, first: str) -> None:
    """The window's picture, from that element down."""
    style = page.add_style_tag(content=BARE)
    page.evaluate("first => document.querySelector(first).scrollIntoView()", first)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=DOCS / f"shown-{name}.png")
    style.evaluate("element => element.remove()")


def site() -> None:
    """The site's first page as a window of 1,400 pixels shows it."""
    handler = functools.partial(Silent, directory=str(REPOSITORY / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with chromium(viewport={"width": 1400, "height": 1100}) as page:
        page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="networkidle")
        page.screenshot(path=DOCS / "site.png")
    server.shutdown()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


if __name__ == "__main__":
    wanted = {"demo": demo, "site": site}.get(sys.argv[-1])
    if wanted is None:
        sys.exit("which pictures? expected: python tools/screenshots.py demo, or site")
    wanted()
