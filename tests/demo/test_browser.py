"""The page in Chromium: type, press, read the result.

Skipped where there is no Chromium of the system, or no playwright; contrast and names where $PARAFORM_AXE does not name
axe-core's axe.min.js (npm pack axe-core).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MARKUP = "<b onclick=alert(1)>bold</b><img src=x onerror=alert(2)><script>alert(3)</script>"
WAIT = 180_000  # milliseconds, for models on a busy machine
SECTIONS = ("say", "same", "space", "figures", "rate")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium here; expected Debian's: apt-get install chromium")
    sync = pytest.importorskip("playwright.sync_api", reason="no playwright here; expected pip install playwright")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def window(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a window at an address; whatever goes wrong in it, or is asked of elsewhere, fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(address: str, **how: Any) -> Any:
        contexts.append(chromium.new_context(**how))
        page = contexts[-1].new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
        home = address.split("#")[0]
        page.on(
            "request",
            lambda asked: None if asked.url.startswith((home, "data:", "blob:")) else wrong.append(asked.url),
        )
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def said(page: Any, form: str = "say") -> str:
    """What the form's line says when it is no longer at work."""
    line = page.locator(f"#{form}-form [role=status]")
    page.wait_for_function("line => line.textContent && line.textContent != 'One moment …'", arg=line.element_handle())
    return str(line.text_content())


def press(page: Any, form: str = "say") -> str:
    page.click(f"#{form}-form button[type=submit]")
    return said(page, form)


def test_type_press_read(window: Callable[..., Any], serve: Callable[[Any], str], answers: Any) -> None:
    """With the embedded models: the README's sentence, then the same in another's form, side by side with its tree."""
    page = window(serve(answers))
    page.fill("#say-text", "Can I use my card abroad?")
    assert press(page) == "Done."
    assert page.locator("#say-found article .said").first.text_content() == "Is it possible to use my card abroad?"
    assert "✓ numbers" in page.locator("#say-found .checks").first.text_content()
    page.fill("#say-like", "how do i avoid plagiarism in my article ?")
    press(page)
    first, second = page.locator("#say-found article .tree").all()
    assert "plagiarism" in first.text_content() and "card" in second.text_content()
    assert first.bounding_box()["y"] == second.bounding_box()["y"]  # side by side

    page.click("#tab-same")
    press(page, "same")
    cosines = page.locator("#same-found table").nth(1)
    assert cosines.locator("tbody tr").count() == len(answers.encoders)
    page.click("#tab-space")
    press(page, "walk")
    start = page.text_content("#walk-said")
    page.focus("#walk-at")
    page.keyboard.press("End")
    assert page.text_content("#walk-said") == "I want to go there." != start
    press(page, "sample")
    assert page.locator("#sample-found li").count() == 8


@pytest.mark.parametrize("text", [MARKUP, "&lt;i&gt; &amp; ‮ \U0001f98a"])
def test_markup_is_text(window: Callable[..., Any], serve: Callable[[Any], str], echo: Any, text: str) -> None:
    page = window(serve(echo))
    page.fill("#say-text", text)
    page.fill("#say-like", text)
    press(page)
    shown = page.locator("#say-found .said").all_text_contents()
    assert shown == [text, text] and page.locator("#say-found").locator("b[onclick], img, script").count() == 0
    page.click("#say-offer")
    page.click("#say-offers button")
    assert page.locator("#say-offers button").text_content() == text
    page.click("#tab-same")
    page.fill("#same-first", text)
    press(page, "same")
    assert text in page.text_content("#same-found") and page.locator("#same-found img").count() == 0
    assert page.locator("#same-found .said").text_content() == f"They differ: {text}"
    assert page.locator("#same-found table").first.locator("tbody tr").all_text_contents() == ["both say the same0.090"]


def test_a_hundred_thousand_words_and_none_are_answered_politely(
    window: Callable[..., Any], serve: Callable[[Any], str], echo: Any
) -> None:
    page = window(serve(echo))
    page.evaluate("document.getElementById('say-text').value = 'word '.repeat(100000)")
    assert press(page) == "That is too much text; expected at most 32,768 bytes at once."
    page.fill("#say-text", "before")
    assert press(page) == "Done." and echo.asked.pop() == "before"
    page.fill("#say-text", "  ")
    assert press(page) == "text is empty; expected a sentence or a few."
    assert page.locator("#say-found").is_hidden()  # what was said of another text
    page.evaluate("document.getElementById('say-text').value = 'half \\ud800'")
    assert "surrogate" in press(page)
    assert echo.asked == []
    page.fill("#say-text", "and now this")
    assert press(page) == "Done." and echo.asked == ["and now this"]
    assert page.locator("#say-found .said").is_visible()


def test_two_windows_at_once_have_their_own_answers(
    window: Callable[..., Any], serve: Callable[[Any], str], echo: Any
) -> None:
    address = serve(echo)
    pages = [window(address), window(address)]
    echo.gate.clear()
    for number, page in enumerate(pages):
        page.fill("#say-text", f"window {number}")
        page.click("#say-form button[type=submit]")
    assert pages[0].locator("#say-form [role=status]").text_content() == "One moment …"
    echo.gate.set()
    for number, page in enumerate(pages):
        said(page)
        assert page.locator("#say-found .said").all_text_contents() == [f"window {number}"]


def test_who_asks_anew_gets_the_later_answer(
    window: Callable[..., Any], serve: Callable[[Any], str], echo: Any
) -> None:
    page = window(serve(echo))
    echo.gate.clear()
    for text in ("first", "second"):
        page.fill("#say-text", text)
        page.click("#say-form button[type=submit]")
    echo.gate.set()
    assert said(page) == "Done." and page.locator("#say-found .said").all_text_contents() == ["second"]


def test_a_server_that_is_gone_is_told(window: Callable[..., Any], serve: Callable[[Any], str], echo: Any) -> None:
    page = window(serve(echo))
    page.route("**/api/say", lambda route: route.abort())
    assert press(page) == "No answer; is paraform demo still running?"


def test_by_keyboard_alone(window: Callable[..., Any], serve: Callable[[Any], str], echo: Any) -> None:
    page = window(serve(echo))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "tab-say"
    for key, there in (("ArrowRight", "same"), ("End", "rate"), ("ArrowRight", "say"), ("ArrowLeft", "rate")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == f"tab-{there}"
        assert page.locator("main > section:visible").evaluate_all("all => all.map(one => one.id)") == [there]
    seen = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert seen == "solid"
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("typed")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said(page)
    assert page.locator("#say-found .said").all_text_contents() == ["typed"]


def test_a_sheet_is_rated_blind_and_saved_as_the_command_reads_it(
    window: Callable[..., Any], serve: Callable[[Any], str], echo: Any, tmp_path: Path
) -> None:
    page = window(f"{serve(echo)}#/rate")
    press(page, "rate")
    for number in range(3):
        assert "frames" not in page.text_content("#rate-found")
        for name, value in (("meaning", 4), ("fluency", 5), ("acceptable", 1)):
            page.locator(f"input[name={name}]").nth(value - 1).check()
        assert page.text_content("#rate-place") == f"{number + 1} of 12, {number + 1} rated"
        page.click("text=Next")
    with page.expect_download() as download:
        page.click("text=Save ratings.jsonl")
    saved = tmp_path / "ratings.jsonl"
    download.value.save_as(saved)
    page.click("text=Whose were they?")
    cells = page.locator("#rate-whose tbody tr").first.locator("th, td").all_text_contents()
    assert cells == ["frames", "4.0", "5.0", "1 of 1"]  # by the key, the second of the three

    from paraform.evaluation.rating import read_key
    from paraform.evaluation.rating_answers import read_ratings

    folder = Path(__file__).resolve().parents[2] / "src/paraform/demo"
    assert len(read_ratings([saved], read_key(folder / "key.json").items)) == 3

    page.evaluate("window.confirm = () => false")
    press(page, "rate")  # not begun anew, and nothing lost, unless one says so
    assert page.text_content("#rate-place") == "4 of 12, 3 rated"
    page.evaluate("window.confirm = () => true")
    press(page, "rate")
    assert page.text_content("#rate-place") == "1 of 12, 0 rated"

    sheet = tmp_path / "mine.sheet.jsonl"
    item = {"id": "1", "source": MARKUP, "exemplar": "a form", "output": MARKUP}
    sheet.write_text('{"instruction": ["<i>how</i>"]}\n' + json.dumps(item) + "\n")
    page.set_input_files("#rate-file", sheet)
    page.wait_for_selector("text=1 of 1, 0 rated")
    assert page.locator("#rate-found .said").all_text_contents() == [MARKUP, "a form", MARKUP]
    assert page.locator("input[name=form]").count() == 5 and page.locator("text=Whose were they?").is_hidden()
    sheet.write_text("no sheet\n")
    page.set_input_files("#rate-file", [])
    page.set_input_files("#rate-file", sheet)
    page.wait_for_selector("text=That is no sheet")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_fault(
    window: Callable[..., Any], serve: Callable[[Any], str], answers: Any, width: int, scheme: str
) -> None:
    axe = os.environ.get("PARAFORM_AXE")
    page = window(serve(answers), viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=bool(axe))
    page.fill("#say-like", "how do i avoid plagiarism in my article ?")
    page.click("#say-offer")
    page.wait_for_selector("#say-offers button")
    faults = []
    if axe:
        page.add_script_tag(path=axe)
    for section in SECTIONS:
        page.click(f"#tab-{section}")
        for form in {"space": ["walk", "sample"], "figures": []}.get(section, [section]):
            press(page, form)
        if section == "rate":
            page.click("text=Whose were they?")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, section
        heads = page.locator(f"#{section} th").evaluate_all("all => all.map(one => [one.scrollWidth, one.clientWidth])")
        assert all(wide <= room for wide, room in heads), section  # none runs into the next column's
        if axe:
            found = page.evaluate("axe.run()")["violations"]
            faults += [(section, one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
    if not axe:
        pytest.skip("widths are right; contrast and names not looked at: no axe-core in $PARAFORM_AXE")
    assert faults == []
