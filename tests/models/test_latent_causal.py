"""The latent family on a language model: what the base is for, what z does, what a checkpoint holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_lm import write_lm
from tokenizers import Tokenizer, models
from torch import Tensor

import paraform
from paraform.batching import Ragged, SentenceBatch
from paraform.encoders import bfloat16_products
from paraform.models.latent import OBJECTIVES, LatentConfig, LatentLanguageModel, update
from paraform.models.latent.causal import PIECES, Base, CausalDecoder, CausalEncoder
from paraform.models.latent.texts import Pieces
from paraform.records import InputError
from paraform.trainers import latent
from paraform.training import TrainingConfig

TEXTS = ["the cat sat on the mat", "the mat", "how do i pay for it ?", "pay for the cat"]
SMALL: dict[str, Any] = {
    "latent_width": 3, "hidden_width": 8, "critic_width": 8, "critic_steps": 1, "batch_size": 8, "svi_steps": 2,
    "max_tokens": 40,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("base"))


@pytest.fixture
def model(folder: Path) -> Iterator[LatentLanguageModel]:
    """With adapters and soft pieces that change what the base says."""
    torch.manual_seed(1)
    made = LatentLanguageModel(config(folder), Base.of(str(folder)))
    for part in (made.network.encoder, made.network.decoder):
        assert isinstance(part, CausalEncoder | CausalDecoder)
        for weight in part.adapters.up:
            torch.nn.init.normal_(weight, std=0.3)
    yield made.eval()


def config(folder: Path, objective: str = "vae", **fields: Any) -> LatentConfig:
    return replace(LatentConfig.lm(base=str(folder), **SMALL).with_objective(objective), **fields)


def batch(model: LatentLanguageModel, texts: list[str]) -> SentenceBatch:
    rows = [model.units.encode(model.units.split(text)) for text in texts]
    return SentenceBatch(*Ragged.of(rows).padded(torch.arange(len(rows)).numpy()))


def test_a_text_is_the_pieces_of_the_base_and_no_mark(model: LatentLanguageModel) -> None:
    text = "the cat <|im_end|> sat"
    row = model.units.encode(model.words(text))
    assert model.units.write(row) == text and not {0, 1, 2} & set(row)
    assert model.words("  ") == [] and model.unknown([text]) == 0 and model.units.never == [0, 1]
    assert model.lengths([text]) == [len(row) + 1]
    with pytest.raises(TypeError, match="no vocabulary"):
        print(model.vocabulary)


def test_likelihood_is_the_base_s_behind_soft_pieces(model: LatentLanguageModel) -> None:
    """−Σ ln p of each piece and the end, by transformers alone, sentence by sentence."""
    z_NZ = torch.randn(len(TEXTS), 3, generator=torch.Generator().manual_seed(0))
    found_N = model.log_likelihood(TEXTS, z_NZ[None])[0]
    decoder: Any = model.network.decoder
    for text, z_Z, found in zip(TEXTS, z_NZ, found_N, strict=True):
        row = [1, *model.units.encode(model.units.split(text)), 2]
        soft = decoder.map(z_Z).view(1, PIECES, -1)
        words = decoder.module.get_input_embeddings()(torch.tensor([row[:-1]]))
        states = decoder.module(inputs_embeds=torch.cat([soft, words], 1)).last_hidden_state[0, PIECES:]
        log_probs = model.network.output(states).log_softmax(-1)
        torch.testing.assert_close(found, log_probs[torch.arange(len(row) - 1), row[1:]].sum())


def test_step_by_step_is_at_once(model: LatentLanguageModel) -> None:
    decoder, z_NZ = model.network.decoder, torch.randn(4, 3)
    words = torch.nn.functional.pad(batch(model, TEXTS).words_BT, (1, 0), value=1)
    with torch.no_grad():
        at_once, memory = decoder(words, z_NZ), decoder.start(z_NZ)
        for time, tokens in enumerate(words.T):
            state, memory = decoder.step(memory, tokens)  # type: ignore[arg-type]
            torch.testing.assert_close(state, at_once[:, time], rtol=1e-4, atol=1e-5)
        picked = memory.select(torch.tensor([2, 0, 3, 1]))
        state, _ = decoder.step(picked, torch.tensor([5, 6, 7, 8]))  # type: ignore[arg-type]
    more = torch.cat([words[[2, 0, 3, 1]], torch.tensor([[5], [6], [7], [8]])], 1)
    torch.testing.assert_close(state, decoder(more, z_NZ[[2, 0, 3, 1]])[:, -1], rtol=1e-4, atol=1e-5)


def test_products_alone_are_in_bfloat16(model: LatentLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decoded step by step reads z as what is scored does."""
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    decoder, z_NZ, read = model.network.decoder, torch.randn(4, 3), []
    assert isinstance(decoder, CausalDecoder)
    decoder.module.register_forward_pre_hook(
        lambda module, args, kwargs: read.append(kwargs["inputs_embeds"].dtype), with_kwargs=True
    )
    with torch.no_grad(), bfloat16_products(z_NZ.device):
        decoder(torch.ones(4, 1, dtype=torch.int64), z_NZ)
        decoder.start(z_NZ)
    assert read == [torch.float32] * 2


def test_a_state_is_of_a_sentence_s_own_pieces(model: LatentLanguageModel) -> None:
    """Padding and the mark of a begin have no part in it: by transformers alone, sentence by sentence."""
    encoder: Any = model.network.encoder
    for text, found in zip(TEXTS, model.encode(TEXTS), strict=True):
        ids = torch.tensor([[1, *model.units.encode(model.units.split(text))]])
        expected = encoder.map(encoder.module(input_ids=ids).last_hidden_state[0, 1:].mean(0))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_one_base_two_sets_of_adapters(folder: Path) -> None:
    """The network's own weights are adapters, maps and the posterior; encoder and decoder share the base's."""
    model = LatentLanguageModel(config(folder), Base.of(str(folder)))
    encoder, decoder = (dict(part.module.named_parameters()) for part in (model.network.encoder, model.network.decoder))  # type: ignore[union-attr]
    base = [name for name in encoder if "lora" not in name]
    assert base and all(encoder[name] is decoder[name] and not encoder[name].requires_grad for name in base)
    trained = [name for name in encoder if "lora" in name]
    assert trained and not any(encoder[name] is decoder[name] for name in trained)
    own = {id(weight) for weight in model.parameters()}
    assert not own & {id(encoder[name]) for name in base} and own >= {id(encoder[name]) for name in trained}
    assert model.network.output.weight.device == model.device and not model.network.output.weight.requires_grad


def test_what_no_adapter_says_is_what_the_base_says(folder: Path) -> None:
    """Before training: z = 0 leaves zeros before the words."""
    model = LatentLanguageModel(config(folder), Base.of(str(folder))).eval()
    decoder: Any = model.network.decoder
    words = torch.tensor([[1, 9, 10, 11]])
    before = torch.zeros(1, PIECES, decoder.width)
    base = Base.of(str(folder)).module
    plain: Tensor = base.base_model(  # type: ignore[operator, union-attr]
        inputs_embeds=torch.cat([before, base.get_input_embeddings()(words)], 1)  # type: ignore[operator]
    ).last_hidden_state
    torch.testing.assert_close(decoder(words, torch.zeros(1, 3)), plain[:, PIECES:])


@pytest.mark.parametrize("objective", [*OBJECTIVES])
def test_every_objective_trains_and_is_read_again(
    objective: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent, "draw_collapse", lambda *given: None)
    monkeypatch.setattr(update, "MOST_ALONE", 3)
    loop = TrainingConfig(evaluate_every=10**9, tensorboard=False, device="cpu")
    how: dict[str, Any] = {"config": config(folder, objective), "loop": loop, "validation": TEXTS}
    latent.train_latent([f"{text} {end}" for text in TEXTS for end in ("it", "?", "mat")], tmp_path / "run", **how)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert any("validation" in line for line in log)
    model = paraform.load(tmp_path / "run", device="cpu")
    said = model.sample(3, temperature=1.0, seed=1)
    assert said == model.sample(3, temperature=1.0, seed=1) and len(said) == 3
    assert len(model.interpolate(*TEXTS[:2], steps=3)) == 3 and model.embed(TEXTS).shape == (4, 3)
    held = load_file(tmp_path / "run" / "best" / "model.safetensors")
    assert held.keys() == {name for name, _ in model.named_parameters()}
    assert not any("embed_tokens" in name or "base_layer" in name for name in held)


def test_beams_and_batches_say_the_same(model: LatentLanguageModel) -> None:
    z_NZ = torch.randn(5, 3)
    assert model.decode(z_NZ, beam=1) == model.decode(z_NZ, batch_size=2)
    assert len(model.decode(z_NZ, beam=3)) == 5


def test_another_base_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = write_lm(tmp_path / "base")
    monkeypatch.setattr(latent, "draw_collapse", lambda *given: None)
    loop = TrainingConfig(evaluate_every=10**9, tensorboard=False, device="cpu")
    how: dict[str, Any] = {"config": config(base), "loop": loop, "validation": ["the cat"]}
    latent.train_latent(TEXTS * 3, tmp_path / "run", **how)
    weights = load_file(base / "model.safetensors")
    weights["model.norm.weight"] += 1
    save_file(weights, base / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="these adapters were trained on"):
        paraform.load(tmp_path / "run", device="cpu")
    with pytest.raises(InputError, match="base's weights"):
        latent.train_latent(TEXTS * 3, tmp_path / "run", **how, resume=True)
    weights["model.norm.weight"] -= 1
    save_file(weights, base / "model.safetensors", metadata={"format": "pt"})
    paraform.load(tmp_path / "run", device="cpu")
    about = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps(about | {"rms_norm_eps": 0.5}))
    with pytest.raises(InputError, match=r"its config has rms_norm_eps 0\.5; these adapters were trained by"):
        paraform.load(tmp_path / "run", device="cpu")


def test_a_base_without_marks_is_refused(tmp_path: Path) -> None:
    base = write_lm(tmp_path)
    about = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps(about | {"eos_token_id": None}))
    (base / "generation_config.json").unlink(missing_ok=True)
    with pytest.raises(InputError, match=r"marks 1 and None; expected those of a begin and an end, below 300$"):
        Base.of(str(base))
    (base / "config.json").write_text(json.dumps(about | {"bos_token_id": 300}))
    with pytest.raises(InputError, match=r"marks 300 and 2; expected those of a begin and an end, below 300$"):
        Base.of(str(base))


def test_a_base_is_not_changed_and_nothing_of_it_is_trained(tmp_path: Path) -> None:
    """Two models of one base; its output layer is another matrix than its embeddings here."""
    base = Base.of(str(write_lm(tmp_path, tied=False)))
    two = [LatentLanguageModel(config(tmp_path), base) for _ in range(2)]
    assert not any("lora" in name for name, _ in base.module.named_parameters())
    assert not any(model.network.output.weight.requires_grad for model in two)


def test_soft_pieces_are_as_large_as_words(folder: Path) -> None:
    torch.manual_seed(0)
    decoder: Any = LatentLanguageModel(config(folder), Base.of(str(folder))).network.decoder
    usual = decoder.module.get_input_embeddings().weight.std()
    assert decoder.map(torch.randn(500, 3)).std().item() == pytest.approx(usual.item(), rel=0.2)


def test_what_has_no_piece(folder: Path) -> None:
    """A tokenizer that knows words alone, with and without a piece for others."""
    for unknown, found in (("[UNK]", [0]), (None, None)):
        words = models.WordLevel({"[UNK]": 0, "a": 1}, **({"unk_token": unknown} if unknown else {}))
        pieces = Pieces(Tokenizer(words), 0, 1)
        if found:
            assert pieces.encode(["é"]) == found and pieces.unknown(found) == 1
        else:
            with pytest.raises(InputError, match=r"^.é., which the base.s tokenizer has no piece for$"):
                pieces.encode(["é"])


def test_a_base_of_an_lstm_is_refused() -> None:
    with pytest.raises(InputError, match="base 'gpt2' with network='lstm'"):
        LatentConfig(base="gpt2")
