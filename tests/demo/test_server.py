"""Every address of the page without a browser: what it answers, and what it says to whoever means it harm."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from paraform.demo.server import LIMITS, MOST_EXEMPLARS, MOST_WAITING, make_app

HOME = "http://127.0.0.1:7860"
ASKED: dict[str, dict[str, Any]] = {
    "say": {"text": "Can I pay?", "like": []},
    "forms": {"text": "Can I pay?"},
    "same": {"first": "A cat.", "second": "A dog."},
    "walk": {"first": "A cat.", "second": "A dog."},
    "sample": {"seed": 3},
}


@pytest.fixture
def client(echo: Any) -> Iterator[TestClient]:
    with TestClient(make_app(echo), base_url=HOME, raise_server_exceptions=False) as client:
        yield client


def error(answer: Any) -> str:
    """The one line that it says; fails if it says something else."""
    ((name, said),) = answer.json().items()
    line = said.pop("message")
    assert name == "error" and not said and line and "\n" not in line
    return str(line)


def test_the_page_is_one_file_that_loads_nothing_from_elsewhere(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert len(answer.text.splitlines()) < 300
    assert not re.findall(r"https?:|//[a-z]|@import|url\(|innerHTML|insertAdjacentHTML|document\.write", answer.text)
    policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'"
    assert policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["frame-src"] == policy["frame-ancestors"] == "'self'"  # the report, inside the page
    assert policy["script-src"].startswith("'sha256-") and policy["style-src"].startswith("'sha256-")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_report_is_a_page_of_its_own_without_a_script(client: TestClient) -> None:
    answer = client.get("/report")
    assert answer.status_code == 200 and "<script" not in answer.text
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", ASKED)
def test_each_question_is_answered(client: TestClient, echo: Any, name: str) -> None:
    answer = client.post(f"/api/{name}", json=ASKED[name])
    assert answer.status_code == 200 and answer.json()["notes"] == []
    assert echo.asked == [str(next(iter(ASKED[name].values())))]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "&amp; \u202e \U0001f98a \x01 \x7f",
        "'\"; DROP TABLE",
        "a" * LIMITS.characters,
    ],
)
def test_whatever_is_text_comes_back_as_it_was(client: TestClient, text: str) -> None:
    answer = client.post("/api/forms", json={"text": text})
    assert answer.json()["forms"] == [text] and answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("value", "status", "said"),
    [
        ("", 400, "is empty"),
        (" \n\t ", 400, "is empty"),
        ("a" * (LIMITS.characters + 1), 413, "301 characters; expected at most 300"),
        ("word " * 2000, 413, "at most 300"),
        ("word " * 100_000, 413, "at most 32,768 bytes"),
        ("a\0b", 400, "NUL"),
        ("\ud800 lone", 400, "surrogate"),
        (None, 400, "expected"),
        (7, 400, "no text"),
        (["a"], 400, "no text"),
        ({"a": "b"}, 400, "no text"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_sentence_is_refused_in_one_line(
    client: TestClient, echo: Any, value: object, status: int, said: str
) -> None:
    for name, given in ASKED.items():
        for field in given.keys() - {"like", "seed"}:
            body = json.dumps({**given, field: value})
            answer = client.post(f"/api/{name}", content=body, headers={"content-type": "application/json"})
            assert answer.status_code == status and said in error(answer)
    answer = client.post("/api/say", content=json.dumps({"text": "A cat.", "like": [value]}), headers=JSON)
    assert answer.status_code == status and said in error(answer)
    assert echo.asked == []


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"NaN",
        b"\xff\xfe",
        b"[" * 30_000,
        b'{"text": ' + b"9" * 10_000 + b"}",
        b'{"text": "a", "text": ["b"]}',
        b"{}",
        b'{"text": "a", "like": []}',
        b'{"text": "a", "more": 1}',
        b"\0" * 100,
    ],
    ids=lambda body: repr(body)[:20],
)
def test_what_is_no_such_object_is_refused_in_one_line(client: TestClient, echo: Any, body: bytes) -> None:
    answer = client.post("/api/forms", content=body, headers=JSON)
    assert answer.status_code == 400 and error(answer) and echo.asked == []


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, True, "1", None, [], 10**400])
def test_a_seed_is_a_number(client: TestClient, seed: object) -> None:
    said = "is missing" if seed is None else "whole number"
    assert said in error(client.post("/api/sample", json={"seed": seed}))


def test_so_many_exemplars_and_no_more(client: TestClient) -> None:
    answer = client.post("/api/say", json={"text": "A cat.", "like": ["a dog ."] * (MOST_EXEMPLARS + 1)})
    assert answer.status_code == 413 and "at most 4" in error(answer)
    assert client.post("/api/say", json={"text": "A cat.", "like": "a dog ."}).status_code == 400


def test_the_longest_that_may_be_asked_fits_in_a_request(client: TestClient) -> None:
    """Every character a surrogate pair, escaped: twelve bytes."""
    longest = "\U0001f98a" * LIMITS.characters
    asked = {"text": longest, "like": [longest] * MOST_EXEMPLARS}
    assert len(json.dumps(asked)) < LIMITS.size
    assert len(client.post("/api/say", json=asked).json()["candidates"]) == 1 + MOST_EXEMPLARS


def test_other_ways_and_places_are_refused(client: TestClient, echo: Any) -> None:
    for method, path, status in [
        ("GET", "/api/say", 405),
        ("PUT", "/api/say", 405),
        ("DELETE", "/", 405),
        ("POST", "/", 405),
        ("POST", "/api/sheet", 405),
        ("GET", "/api/nothing", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/page.html", 404),
        ("OPTIONS", "/api/say", 405),
    ]:
        answer = client.request(method, path)
        assert answer.status_code == status and error(answer), (method, path)
        assert "access-control-allow-origin" not in answer.headers
        assert "content-security-policy" in answer.headers
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post("/api/forms", content=b'{"text": "a"}', headers={"content-type": kind})
        assert answer.status_code == 415 and error(answer)
    assert echo.asked == []


@pytest.mark.parametrize(
    ("host", "good"),
    [
        ("127.0.0.1", True),
        ("localhost:7860", True),
        ("LOCALHOST", True),
        ("[::1]:7860", True),
        ("evil.example", False),
        ("localhost.evil.example:7860", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("10.0.0.1", False),
        ("[", False),
        ("", False),
    ],
)
def test_a_name_from_elsewhere_is_refused(echo: Any, host: str, good: bool) -> None:
    """DNS rebinding: a page of evil.example whose name leads to 127.0.0.1 must get nothing."""
    with TestClient(make_app(echo), base_url=HOME) as client:
        answers = [client.get("/", headers={"host": host}), client.post("/api/forms", headers={"host": host}, json={})]
    assert [answer.status_code for answer in answers] == ([200, 400] if good else [421, 421])
    with TestClient(make_app(echo, hosts=None), base_url=HOME) as client:
        assert client.get("/", headers={"host": host}).status_code == 200


def test_more_than_may_wait_are_told_so_and_the_others_answered(client: TestClient, echo: Any) -> None:
    """One is computed, `MOST_WAITING` wait, and all others hear at once that too much waits."""
    echo.gate.clear()
    time.sleep(0.2)
    with ThreadPoolExecutor(40) as pool:
        asking = [pool.submit(client.post, "/api/forms", json={"text": f"text {number}"}) for number in range(40)]
        while sum(one.done() for one in asking) < 40 - MOST_WAITING - 1:
            time.sleep(0.02)
        refused = [one.result() for one in asking if one.done()]
        echo.gate.set()
        answers = [one.result() for one in asking]
    assert len(refused) == 40 - MOST_WAITING - 1
    assert {answer.status_code for answer in refused} == {429} and "Too much waits" in error(refused[0])
    assert 1 <= int(refused[0].headers["retry-after"]) <= 60
    right = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    assert len(right) == MOST_WAITING + 1
    assert all(answers[number].json()["forms"] == [f"text {number}"] for number in right)
    assert client.post("/api/forms", json={"text": "later"}).json()["forms"] == ["later"]


def test_a_fault_is_told_without_what_was_typed(
    client: TestClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = client.post("/api/forms", json={"text": "fault"})
    assert answer.status_code == 500 and "fault" not in error(answer)
    out, err = capfd.readouterr()
    assert out == "" and "ZeroDivisionError" in err and "secret" not in err + caplog.text


def test_warnings_of_the_library_go_to_who_asked_and_nowhere_else(
    echo: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """At the level that the command has, at which the library also says how many texts it did not cut."""

    def warn(text: str) -> dict[str, Any]:
        logging.getLogger("paraform").warning("%s is cut", text)
        logging.getLogger("paraform").info("0 of 7 texts are cut")
        return {}

    caplog.set_level(logging.INFO, "paraform")
    monkeypatch.setattr(echo, "forms", warn)
    with TestClient(make_app(echo), base_url=HOME) as client:
        assert client.post("/api/forms", json={"text": "mine"}).json() == {"notes": ["mine is cut"]}
        assert client.post("/api/sample", json={"seed": 1}).json()["notes"] == []
    assert "mine" not in "".join(capfd.readouterr())


def test_the_sheet_says_of_no_item_whose_it_is_and_the_key_knows_each(client: TestClient) -> None:
    found = client.get("/api/sheet").json()
    ids = [item["id"] for item in found["items"]]
    assert len(ids) == 12 and all(item.keys() <= {"id", "source", "output", "exemplar"} for item in found["items"])
    assert sorted(ids) == sorted(id for items in found["systems"].values() for id in items)
    assert len(found["instruction"]) == 5


def test_its_thread_ends_with_it(echo: Any) -> None:
    before = threading.active_count()
    with TestClient(make_app(echo), base_url=HOME) as client:
        for number in range(20):
            client.post("/api/sample", json={"seed": number})
        assert threading.active_count() > before
    assert threading.active_count() == before
