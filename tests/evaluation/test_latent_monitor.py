"""What a monitor warns of, and what it reads of a run's log."""

from __future__ import annotations

from pathlib import Path

from paraform.evaluation.latent import alarms, validations


def test_alarms() -> None:
    fine = {"kl": 5.0, "mi": 3.0, "dual_kl": 4.0, "dual_kl_latent": 2.0, "largest_critic": 3.0}
    assert alarms(fine, 100) == []
    for change, word in (
        ({"kl": 0.05, "dual_kl": 0.01}, "collapsed"),
        ({"dual_kl": -0.5}, "below 0"),
        ({"dual_kl_latent": -3.0, "dual_kl": 0.0}, "below 0"),
        ({"largest_critic": 80.0}, "explodes"),
        ({"kl": 20.0, "dual_kl": 9.0, "dual_kl_latent": 1.0}, "no mutual information"),
    ):
        assert any(word in line for line in alarms({**fine, **change}, 100)), word


def test_a_posterior_that_tells_nothing_has_collapsed_however_far_it_is_from_the_prior() -> None:
    assert alarms({"kl": 3.0, "mi": 2.0}, 40) == [] and alarms({"kl": 3.0, "mi": 0.0}, 1) == []
    assert alarms({"kl": 3.0, "mi": 0.02}, 40) == ["the posterior has collapsed: MI 0.020 nats, though KL is 3.000"]
    (line,) = alarms({"kl": 0.0, "mi": 0.0}, 40, at_least=True)
    assert line == "the posterior may have collapsed: KL at least 0.000 nats, below 0.1"


def test_a_line_that_a_crash_left_unfinished_is_none(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"step": 5, "validation": {"kl": 1.0}}\n{"step": 10, "train": {}}\n{"step": 10, "vali', encoding="utf-8"
    )
    assert validations(log) == [(5, {"kl": 1.0})]
    assert validations(tmp_path / "none") == []
