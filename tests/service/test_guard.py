"""Names that the server is called by."""

from __future__ import annotations

import pytest

from paraform.service.guard import LOCAL, called_by, policy_of


@pytest.mark.parametrize(
    ("host", "good"),
    [
        ("127.0.0.1", True),
        ("LOCALHOST:8000", True),
        ("[::1]:8000", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("[", False),
        ("", False),
    ],
)
def test_names_of_this_machine(host: str, good: bool) -> None:
    assert called_by(host, LOCAL) is good


def test_a_page_without_a_script_may_run_none() -> None:
    assert "script-src 'none'" in policy_of(["<style>a {}</style>"])
    assert "style-src 'sha256-" in policy_of(["<style>a {}</style>"])
