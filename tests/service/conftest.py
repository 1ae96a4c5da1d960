"""A service over models that answer at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from echo_models import HOME, Embeds, Judges, annotate
from starlette.testclient import TestClient

from paraform.neighbours.search_index import SearchIndex
from paraform.service.app import Service, Settings
from paraform.service.models import Models


@pytest.fixture
def embeds() -> Embeds:
    return Embeds()


@pytest.fixture
def models(embeds: Embeds) -> Models:
    names = {"same": "judges", "parse": "parses"}
    texts = ["A cat.", "A dog.", "A bird."]
    index = SearchIndex.build(texts, Embeds(), fields=[{"label": text[2:-1]} for text in texts])
    return Models(
        rewords=("rules", None),
        judge=Judges(),
        embedders={"echo": embeds},
        annotate=annotate,
        indexes={"animals": index},
        names=names,
    )


@pytest.fixture
def client(models: Models) -> Iterator[TestClient]:
    """Asks the service as if over HTTP."""
    app = Service(models, Settings()).app
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as client:
        yield client
