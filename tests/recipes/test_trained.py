"""The mark of a training that is over."""

from __future__ import annotations

from pathlib import Path

from paraform_papers.trained import FILE, forget_trained, is_trained, mark_trained


def test_a_mark_holds_for_what_it_was_set_for(tmp_path: Path) -> None:
    about = {"rate": 1e-3, "sizes": (2, 3)}
    assert not is_trained(tmp_path, about)
    mark_trained(tmp_path, about)
    assert is_trained(tmp_path, about)
    assert not is_trained(tmp_path, {**about, "rate": 1e-4})
    for spoilt in (b"", b"{", b"\xff\x00"):  # a kill, or another hand
        (tmp_path / FILE).write_bytes(spoilt)
        assert not is_trained(tmp_path, about)
    mark_trained(tmp_path, about)
    forget_trained(tmp_path)
    forget_trained(tmp_path)  # none is no error
    assert not is_trained(tmp_path, about)
