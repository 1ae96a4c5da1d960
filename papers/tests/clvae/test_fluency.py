"""Perplexities of samples by a language model: what they are of, and that what is measured is kept."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
import torch
from tiny_lm import write_lm

from paraform.models.latent.causal import PIECES, Base
from paraform_papers.clvae import fluency
from paraform_papers.clvae.fluency import CorpusModel, corpus_model, measured

TEXTS = ["the cat sat on the mat", "the mat", "how do i pay for it ?", "pay for the cat"] * 5


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_lm(tmp_path_factory.mktemp("base")))


def test_perplexity_is_of_words_and_ends(base: str) -> None:
    """By transformers alone, sentence by sentence."""
    model = CorpusModel(Base.of(base)).eval()
    total = 0.0
    for text in TEXTS[:3]:
        row = [1, *model.pieces.encode(model.pieces.split(text)), 2]
        words = model.decoder.module.get_input_embeddings()(torch.tensor([row[:-1]]))  # type: ignore[operator]
        soft = model.decoder.map(torch.ones(1)).view(1, PIECES, -1)
        states = model.decoder.module(inputs_embeds=torch.cat([soft, words], 1)).last_hidden_state[0, PIECES:]
        total -= model.output(states).log_softmax(-1)[torch.arange(len(row) - 1), row[1:]].sum().item()
    words = sum(len(text.split()) + 1 for text in TEXTS[:3])
    assert model.perplexity(TEXTS[:3]) == pytest.approx(math.exp(total / words), rel=1e-4)


def test_who_reads_a_corpus_knows_it_better(base: str) -> None:
    torch.manual_seed(0)
    before = CorpusModel(Base.of(base)).perplexity(TEXTS)
    assert corpus_model(TEXTS * 20, base, 0).perplexity(TEXTS) < 0.7 * before


def test_empty_samples_are_counted_out(base: str) -> None:
    forward = CorpusModel(Base.of(base))
    assert measured(["", " "], TEXTS, TEXTS, forward, base, 0) == {"samples": 0}
    found = measured(["", *TEXTS, *TEXTS[:4]], TEXTS, TEXTS, forward, base, 0)
    assert (found["samples"], found["different"]) == (24, 4) and found["forward"] > 1 and found["reverse"] > 1


def test_what_is_kept_is_not_measured_again(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train").write_text("\n".join([*TEXTS, "a cat of another kind"]) + "\n", encoding="utf-8")
    (tmp_path / "test").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    given = ["fluency", "--train", tmp_path / "train", "--test", tmp_path / "test", "--out", tmp_path, "--base", base]
    monkeypatch.setattr(sys, "argv", [str(one) for one in given])
    monkeypatch.setattr("paraform.manifest.revision", lambda: "a" * 40)
    with pytest.raises(SystemExit):
        fluency.main()
    assert "21 sentences; expected more than 5,000" in capsys.readouterr().err
    monkeypatch.setattr(fluency, "TRAINED", 20)
    fluency.main()
    before = json.loads((tmp_path / "real.json").read_text())
    assert before["samples"] == 1 and before["of"]["sentences"] == [20, 20, 1280]
    whole = corpus_model
    monkeypatch.setattr(fluency, "corpus_model", lambda *_: pytest.fail("was measured"))
    fluency.main()
    monkeypatch.setattr(fluency, "corpus_model", whole)
    monkeypatch.setattr(sys, "argv", [*map(str, given), "--seed", "1"])
    fluency.main()
    assert json.loads((tmp_path / "real.json").read_text())["of"]["seed"] == 1


def test_samples_are_greedy_and_by_fused_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    class Model:
        def sample(self, count: int, **how: object) -> list[str]:
            seen.update(how, count=count, fused=torch.backends.cuda.flash_sdp_enabled())
            return ["a"]

    monkeypatch.setattr(fluency.checkpoint, "load", lambda *_, **__: Model())
    before = torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_flash_sdp(False)  # as inside `bfloat16_products`
    try:
        assert fluency.samples_of("model", 3) == ["a"]
        assert not torch.backends.cuda.flash_sdp_enabled()
    finally:
        torch.backends.cuda.enable_flash_sdp(before)
    assert seen == {"count": 1280, "seed": 3, "batch_size": 256, "progress": True, "fused": True}
