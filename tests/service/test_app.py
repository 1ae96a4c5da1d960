"""Every address of the service without a network: what it answers, and what it says to whoever means it harm."""

from __future__ import annotations

import base64
import json
import logging
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import numpy as np
import pytest
from echo_models import HOME, Embeds, vector_of
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from paraform.service.app import LIMITS, Service, Settings
from paraform.service.asking import Limits
from paraform.service.models import Models

JSON = {"content-type": "application/json"}
ASKED: dict[str, dict[str, Any]] = {
    "paraphrase": {"text": "Can I use my card abroad?"},
    "same": {"pairs": [["A cat.", "A dog."], ["One.", "Three."]]},
    "embeddings": {"input": ["A cat.", "A dog.", "A cat."]},
    "parse": {"text": ["A cat sleeps", "Dogs bark"]},
    "search": {"query": ["A dog.", "A cat."], "num": 2},
}


def error(answer: Any) -> str:
    """The one line that it says; fails if it says something else."""
    assert list(answer.json()) == ["error"] and list(answer.json()["error"]) == ["message"]
    line = answer.json()["error"]["message"]
    assert line and "\n" not in line
    return str(line)


def test_each_question_is_answered_as_it_was_asked(client: TestClient) -> None:
    (said,) = client.post("/v1/paraphrase", json=ASKED["paraphrase"]).json()["paraphrases"]
    assert said["source"] == "Can I use my card abroad?" and said["reason"] == ""
    assert said["candidates"][0]["paraphrase"] == "Is it possible to use my card abroad?"
    assert client.post("/v1/same", json=ASKED["same"]).json() == {
        "pairs": [{"same": 12.0, "forth": 6.0, "back": 6.0}, {"same": 10.0, "forth": 4.0, "back": 6.0}]
    }
    found = client.post("/v1/parse", json=ASKED["parse"]).json()["sentences"]
    assert [one["tokens"] for one in found] == [["A", "cat", "sleeps"], ["Dogs", "bark"]]
    hits = client.post("/v1/search", json=ASKED["search"]).json()["results"]
    assert [(len(row), row[0]["text"], row[0]["row"], row[0]["fields"]) for row in hits] == [
        (2, "A dog.", 1, {"label": "dog"}),
        (2, "A cat.", 0, {"label": "cat"}),
    ]
    answer = client.post("/v1/embeddings", json=ASKED["embeddings"]).json()
    assert answer["usage"] == {"prompt_tokens": 6, "total_tokens": 6} and answer["model"] == "echo"
    for at, (one, text) in enumerate(zip(answer["data"], ASKED["embeddings"]["input"], strict=True)):
        assert one["index"] == at and np.array_equal(np.array(one["embedding"], np.float32), vector_of(text))


def test_one_text_is_asked_as_many_are(client: TestClient) -> None:
    for name, field, key in (("paraphrase", "text", "paraphrases"), ("embeddings", "input", "data")):
        one, many = (client.post(f"/v1/{name}", json={field: given}).json()[key] for given in ("Dogs.", ["Dogs."]))
        assert one == many and len(one) == 1


def test_vectors_packed_are_the_same(client: TestClient) -> None:
    packed = client.post("/v1/embeddings", json={"input": "A cat.", "encoding_format": "base64"}).json()
    assert np.array_equal(np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4"), vector_of("A cat."))


def test_a_text_that_is_not_read_whole_is_refused_unless_that_is_wanted(client: TestClient, embeds: Embeds) -> None:
    asked = {"input": ["short", "one two three four five six seven eight nine"]}
    answer = client.post("/v1/embeddings", json=asked)
    assert answer.status_code == 400 and "input[1] has 9 tokens, of which echo reads 8" in error(answer)
    assert embeds.calls[-1] == ["short"]
    cut = client.post("/v1/embeddings", json={**asked, "truncate": True}).json()
    assert len(cut["data"]) == 2 and cut["usage"]["prompt_tokens"] == 1 + 8


def test_its_description_is_openapi_and_each_example_and_answer_is_as_it_says(client: TestClient) -> None:
    about = client.get("/openapi.json").json()
    assert about["openapi"] == "3.1.0" and "security" not in about
    assert set(about["paths"]) == {f"/v1/{name}" for name in ASKED}
    for path, found in about["paths"].items():
        body = found["post"]["requestBody"]["content"]["application/json"]
        answered = found["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        for schema in (body["schema"], answered):
            jsonschema.Draft202012Validator.check_schema(schema)
        for given in (body["example"], ASKED[path.rpartition("/")[2]]):
            jsonschema.validate(given, body["schema"])
            answer = client.post(path, json=given)
            assert answer.status_code == 200
            jsonschema.validate(answer.json(), answered)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"more": 1}, body["schema"])


def test_the_page_shows_a_call_of_each_that_works(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"] and "<script" not in page.text
    calls = re.findall(r"<pre>curl ADDRESS(\S+) (.*?)</pre>", page.text, re.DOTALL)
    assert {path for path, _ in calls} == {f"/v1/{name}" for name in ASKED}
    for path, call in calls:
        body = re.search(r"-d &#x27;(.*)&#x27;$", call, re.DOTALL)
        assert body and client.post(path, content=body[1].replace("&quot;", '"'), headers=JSON).status_code == 200


def test_the_models_are_listed(client: TestClient) -> None:
    found = {one["id"]: one["use"] for one in client.get("/v1/models").json()["data"]}
    assert found == {
        "rules": "paraphrase",
        "judges": "same",
        "parses": "parse",
        "echo": "embeddings",
        "animals": "search",
    }


def test_what_is_left_out_is_not_there() -> None:
    with TestClient(Service(Models(embedders={"echo": Embeds()}), Settings()).app, base_url=HOME) as client:
        assert client.post("/v1/same", json=ASKED["same"]).status_code == 404
        assert set(client.get("/openapi.json").json()["paths"]) == {"/v1/embeddings"}


@pytest.mark.parametrize(
    ("value", "status", "said"),
    [
        ("", 400, "is empty"),
        (" \n\t ", 400, "is empty"),
        ("a" * (LIMITS.characters + 1), 413, "5,001 characters; expected at most 5,000"),
        ("a\0b", 400, "NUL"),
        ("\ud800 lone", 400, "surrogate"),
        (7, 400, "no text"),
        ({"a": "b"}, 400, "no text"),
        (True, 400, "no text"),
        ([[1, 2]], 400, "no text"),
        ([None], 400, "no text"),
        ([], 400, "empty list"),
        (["ok", ""], 400, "[1] is empty"),
        (["a"] * (LIMITS.count + 1), 413, "2,049 texts; expected at most 2,048"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_text_is_refused_in_one_line(
    client: TestClient, embeds: Embeds, value: object, status: int, said: str
) -> None:
    for name, field in (("paraphrase", "text"), ("embeddings", "input"), ("parse", "text")):
        answer = client.post(f"/v1/{name}", content=json.dumps({field: value}), headers=JSON)
        assert answer.status_code == status and said in error(answer)
    assert "A cat" not in str(embeds.calls)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'"text"', b"NaN", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"\0" * 100,
        b'{"input": ' + b"9" * 10_000 + b"}", b'{"input": [' + b"[]," * 10**6 + b"[]]}",
        b'{"input": "a", "more": 1}', b"{}", b'{"input": null}',
        b'{"input": "a", "model": "other"}', b'{"input": "a", "model": 7}', b'{"input": "a", "truncate": 1}',
        b'{"input": "a", "encoding_format": "float16"}',
    ],
    ids=lambda body: repr(body)[:24],
)  # fmt: skip
def test_what_is_no_such_object_is_refused_in_one_line(client: TestClient, body: bytes) -> None:
    answer = client.post("/v1/embeddings", content=body, headers=JSON)
    assert answer.status_code in (400, 413) and error(answer)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("paraphrase", {"text": "Hi.", "num": 0}, "num is no whole number from 1 to 20"),
        ("paraphrase", {"text": "Hi.", "num": True}, "num is no whole number"),
        ("paraphrase", {"text": "Hi.", "change": "lots"}, "expected 'little' or 'much'"),
        ("paraphrase", {"text": "Hi.", "keep": "Hi"}, "keep is no list; expected terms"),
        ("paraphrase", {"text": "Hi.", "force": "yes"}, "neither true nor false"),
        ("paraphrase", {"text": "Hi.", "like": "Ho."}, "'like' is no field here"),
        ("same", {"pairs": [["a"]]}, "pairs[0] is no list of two"),
        ("same", {"pairs": [["a", "b"], ["a", ""]]}, "pairs[1][1] is empty"),
        ("same", {"pairs": "ab"}, "pairs is no list; expected pairs"),
        ("parse", {}, "text is missing"),
        ("search", {"query": "Hi.", "index": "../animals"}, "expected 'animals'"),
        ("search", {"query": "Hi.", "num": 1001}, "num is no whole number from 1 to 1,000"),
        ("search", {"query": "Hi.", "least": 1.5}, "least is no number from -1 to 1"),
    ],
)
def test_what_does_not_fit_is_said(client: TestClient, name: str, given: Any, said: str) -> None:
    answer = client.post(f"/v1/{name}", json=given)
    assert answer.status_code == 400 and said in error(answer)


def test_too_many_bytes_are_refused_and_not_kept(models: Models) -> None:
    small = Limits(size=1000, characters=100, count=10)
    with TestClient(Service(models, Settings(limits=small)).app, base_url=HOME) as client:
        answer = client.post("/v1/embeddings", content=b'{"input": "' + b"a" * 10**6, headers=JSON)
        assert answer.status_code == 413 and "at most 1,000 bytes" in error(answer)


def test_other_ways_and_places_are_refused(client: TestClient) -> None:
    for method, path, status in [
        ("GET", "/v1/same", 405),
        ("DELETE", "/", 405),
        ("POST", "/health", 405),
        ("GET", "/v1/nothing", 404),
        ("GET", "/../../etc/passwd", 404),
        ("OPTIONS", "/v1/same", 405),
    ]:
        answer = client.request(method, path)
        assert answer.status_code == status and error(answer), (method, path)
        assert "access-control-allow-origin" not in answer.headers
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post("/v1/parse", content=b'{"text": "a"}', headers={"content-type": kind})
        assert answer.status_code == 415 and error(answer)


def test_a_key_is_asked_for_by_all_but_the_two_that_say_how_it_is(models: Models) -> None:
    with TestClient(Service(models, Settings(key="täglich")).app, base_url=HOME) as client:
        for header in (
            {},
            {"authorization": "Bearer"},
            {"authorization": "Bearer other"},
            {"authorization": "täglich".encode()},
        ):
            for method, path in (("POST", "/v1/same"), ("GET", "/metrics"), ("GET", "/"), ("GET", "/v1/models")):
                answer = client.request(method, path, headers=header, json=ASKED["same"])  # type: ignore[arg-type]
                assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
                assert "täglich" not in error(answer)
        given = {"authorization": "Bearer täglich".encode()}
        assert client.post("/v1/same", headers=given, json=ASKED["same"]).status_code == 200  # type: ignore[arg-type]
        assert client.get("/health").status_code == 200
        about = client.get("/openapi.json", headers=given).json()  # type: ignore[arg-type]
        assert about["security"] == [{"key": []}]


def test_a_name_from_elsewhere_is_refused(models: Models) -> None:
    """DNS rebinding: a page of evil.example whose name leads to 127.0.0.1 must get nothing."""
    with TestClient(Service(models, Settings()).app, base_url=HOME) as client:
        assert client.post("/v1/same", headers={"host": "evil.example"}, json=ASKED["same"]).status_code == 421
        assert client.get("/health", headers={"host": "localhost:8000"}).status_code == 200
    with TestClient(Service(models, Settings(hosts=None)).app, base_url=HOME) as client:
        assert client.post("/v1/same", headers={"host": "example.org"}, json=ASKED["same"]).status_code == 200


def test_many_at_once_get_their_own_answers_and_share_batches(client: TestClient, embeds: Embeds) -> None:
    def ask(number: int) -> bool:
        texts = [f"text {number} {row}" for row in range(number % 5 + 1)]
        found = client.post("/v1/embeddings", json={"input": texts}).json()["data"]
        vectors = [np.array(one["embedding"], np.float32) for one in found]
        return len(vectors) == len(texts) and all(map(np.array_equal, vectors, map(vector_of, texts)))

    embeds.gate.clear()
    threading.Timer(0.3, embeds.gate.set).start()
    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(ask, range(200)))
    assert len(embeds.calls) < 100


def test_more_than_may_wait_are_told_so_and_the_others_answered(models: Models, embeds: Embeds) -> None:
    with (
        TestClient(Service(models, Settings(waiting=1000)).app, base_url=HOME) as client,
        ThreadPoolExecutor(31) as pool,
    ):
        client.post("/v1/embeddings", json={"input": "first"})
        embeds.gate.clear()
        asking = [pool.submit(client.post, "/v1/embeddings", json={"input": "computed"})]
        while embeds.waiting == 0:
            time.sleep(0.01)
        bodies = [{"input": f"{number:0100}"} for number in range(30)]
        asking += [pool.submit(client.post, "/v1/embeddings", json=body) for body in bodies]
        while sum(one.done() for one in asking) < 20:
            time.sleep(0.02)
        embeds.gate.set()
        statuses = Counter(one.result().status_code for one in asking)
        assert statuses == {200: 11, 429: 20}
        late = [one.result().headers["retry-after"] for one in asking if one.result().status_code == 429]
        assert all(1 <= int(seconds) <= 60 for seconds in late)


def test_what_takes_too_long_is_given_up(models: Models, embeds: Embeds) -> None:
    with TestClient(Service(models, Settings(seconds=0.5)).app, base_url=HOME) as client:
        client.post("/v1/embeddings", json={"input": "first"})
        embeds.gate.clear()
        answer = client.post("/v1/embeddings", json={"input": "late"})
        embeds.gate.set()
        assert answer.status_code == 504 and "more than 0.5 s" in error(answer)


def test_a_fault_is_told_without_what_was_sent(
    client: TestClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = client.post("/v1/embeddings", json={"input": "fault"})
    assert answer.status_code == 500 and "fault" not in error(answer)
    out, err = capfd.readouterr()
    assert out == "" and "ZeroDivisionError" in err and "secret" not in err + caplog.text


def test_it_is_ready_when_it_is_warm_and_refuses_at_its_end(models: Models, embeds: Embeds) -> None:
    embeds.gate.clear()
    service = Service(models, Settings())
    with TestClient(service.app, base_url=HOME) as client:
        assert (client.get("/health").status_code, client.get("/ready").status_code) == (200, 503)
        embeds.gate.set()
        while client.get("/ready").status_code == 503:
            time.sleep(0.01)
        service.end()
        answer = client.post("/v1/embeddings", json={"input": "late"})
        assert answer.status_code == 503 and "about to end" in error(answer)


def test_what_it_counts_is_prometheus_and_holds_no_text(client: TestClient) -> None:
    for _ in range(3):
        client.post("/v1/embeddings", json={"input": "a secret"})
    client.post("/v1/embeddings", json={"input": ""})
    client.get("/v1/nothing")
    client.get("/v1/same")
    client.get("/health", headers={"host": "evil.example"})
    text = client.get("/metrics").text
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["paraform_requests_total", "/v1/embeddings", "200"] == 3
    assert found["paraform_requests_total", "/v1/embeddings", "400"] == 1
    assert found["paraform_requests_total", "404", "other"] == 1
    assert (
        found["paraform_requests_total", "/v1/same", "405"] == found["paraform_requests_total", "/health", "421"] == 1
    )
    assert found["paraform_batch_items_count", "embeddings"] == 3
    assert found[("paraform_waiting_characters",)] == 0 and found[("process_resident_memory_bytes",)] > 10**6
    assert "secret" not in text and "nothing" not in text


def test_warnings_of_the_library_are_not_logged(
    models: Models, embeds: Embeds, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(texts: list[str], *given: Any, **more: Any) -> Any:
        logging.getLogger("paraform").warning("%s is cut", texts)
        return np.zeros((len(texts), 4), np.float32)

    monkeypatch.setattr(embeds, "embed", embed)
    with TestClient(Service(models, Settings()).app, base_url=HOME) as client:
        assert client.post("/v1/embeddings", json={"input": "mine"}).status_code == 200
    assert "mine" not in "".join(capfd.readouterr())


def test_its_thread_ends_with_it(models: Models) -> None:
    before = threading.active_count()
    with TestClient(Service(models, Settings()).app, base_url=HOME) as client:
        client.post("/v1/parse", json={"text": "A cat."})
        assert threading.active_count() > before
    assert "paraform service" not in [thread.name for thread in threading.enumerate()]
