"""Embedding with the offline encoder against what one would pick instead, on the same captions, one thread or two.

    python benchmarks/embedding.py [--rows 4000] [--repeats 5] [--threads 1]

Peers: sentence-transformers; onnxruntime on the exported model, in float32 and in int8 as its `quantize_dynamic` makes
it, one scale a tensor (its default) and one an output feature, captions in order of length, 32 at once. All have the
same weights and threads and run in this process, in turn, freed memory kept as `paraform embed` keeps it. Ours at its
default, and in int8 where the processor has VNNI. Captions differ from each other: paraform embeds a text that stands
there again only once. Bounds: twice sentence-transformers, a least cosine of 0.9995; the faster of ours 1.3 times
onnxruntime's faster int8 at a least cosine of 0.99; ours where bfloat16 is the default twice its float32.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from paraform import corpora, encoders
from paraform.int8 import has_int8
from paraform.memory import keep_freed_memory
from paraform.threads import settle

CPU = torch.device("cpu")
WORDS = 500  # of the captions, each as a text of its own
AT_ONCE = 32  # captions of a peer's batch, as sentence-transformers has it
Embed = Callable[[list[str]], NDArray[np.float32]]


def captions(path: Path, rows: int) -> list[str]:
    """The first captions of the file, each once."""
    pairs = corpora.read_captions(path)
    texts = (sentence.text for pair in pairs for sentence in (pair.source, pair.target))
    return list(itertools.islice(dict.fromkeys(itertools.islice(texts, 4 * rows)), rows))


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/multi30k/train.tsv"), help="captions")
    parser.add_argument("--rows", type=int, default=4000, help="captions")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)

    keep_freed_memory()
    texts = captions(arguments.data, arguments.rows)
    with tempfile.TemporaryDirectory() as scratch:
        embeds = ours() | peers(Path(scratch))
        words = list(dict.fromkeys(word for text in texts for word in text.split()))[:WORDS]
        vectors = {name: unit(embed(texts)) for name, embed in embeds.items()}
        alone = {name: unit(embed(words)) for name, embed in embeds.items()}
        runs = {name: lambda embed=embed: embed(texts) for name, embed in embeds.items()}
        seconds = in_turn(arguments.repeats, runs, clock=clock_of(arguments.threads))
    default = str(encoders.best_dtype(CPU)).removeprefix("torch.")
    figures: dict[str, Any] = {"captions": len(texts), "threads": torch.get_num_threads(), "default": default}
    library = "sentence-transformers"
    for name, taken in seconds.items():
        figures[f"{name}, captions a second"] = len(texts) / middle(taken)
        figures[f"{name}, least cosine"] = round(float((vectors[name] * vectors[library]).sum(1).min()), 4)
        figures[f"{name}, least cosine of a word"] = round(float((alone[name] * alone[library]).sum(1).min()), 4)
    for mine in ("paraform", "paraform int8"):
        for other in (library, "onnxruntime", "onnxruntime int8", "onnxruntime int8 by feature"):
            if mine in seconds:
                figures[f"{mine} × {other}"] = Spread.of(seconds[mine], seconds[other])
    rival = min(("onnxruntime int8", "onnxruntime int8 by feature"), key=lambda name: middle(seconds[name]))
    best = min(
        (name for name in ("paraform", "paraform int8") if name in seconds), key=lambda name: middle(seconds[name])
    )
    figures["faster of ours × faster int8"] = figures[f"{best} × {rival}"]
    figures["least cosine of the faster"] = figures[f"{best}, least cosine"]
    bounds: dict[str, Bound] = {
        "paraform × sentence-transformers": ("at least", 2.0),
        "paraform, least cosine": ("at least", 0.9995),
        "faster of ours × faster int8": ("at least", 1.3),
        "least cosine of the faster": ("at least", 0.99),
    }
    if default == "bfloat16":
        bounds["paraform × onnxruntime"] = ("at least", 2.0)
    return report(figures, bounds, as_json=arguments.json)


def ours() -> dict[str, Embed]:
    """By default, and in int8 if this processor can."""
    made: dict[str, Embed] = {"paraform": encoders.load(device="cpu").encode}
    if not has_int8(CPU):
        return made
    before = os.environ.get("PARAFORM_PRODUCTS")
    os.environ["PARAFORM_PRODUCTS"] = "int8"
    try:
        return made | {"paraform int8": encoders.load(device="cpu").encode}
    finally:
        del os.environ["PARAFORM_PRODUCTS"]
        if before is not None:
            os.environ["PARAFORM_PRODUCTS"] = before


def peers(scratch: Path) -> dict[str, Embed]:
    """What one would pick instead, each with the threads that torch has."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    library = SentenceTransformer(str(encoders.locate()), device="cpu")
    folder = encoders.load(device="cpu").export(scratch / "minilm", onnx=True)
    written = {"onnxruntime": folder / "onnx" / "model.onnx"}
    for name, by_feature in (("onnxruntime int8", False), ("onnxruntime int8 by feature", True)):
        written[name] = scratch / f"{by_feature}.onnx"
        quantize_dynamic(written["onnxruntime"], written[name], per_channel=by_feature, weight_type=QuantType.QInt8)
    made: dict[str, Embed] = {
        "sentence-transformers": lambda texts: np.asarray(library.encode(texts, show_progress_bar=False))
    }
    return made | {name: by_onnxruntime(path, library.tokenizer) for name, path in written.items()}


def by_onnxruntime(path: Path, tokenizer: Any) -> Embed:
    """The mean of the last states by a model of that file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def embed(texts: list[str]) -> NDArray[np.float32]:
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        parts = []
        for start in range(0, len(order), AT_ONCE):
            given = tokenizer([texts[at] for at in order[start : start + AT_ONCE]], padding=True, return_tensors="np")
            ids_BT, mask_BT = given["input_ids"].astype(np.int64), given["attention_mask"].astype(np.int64)
            (states_BTD,) = session.run(None, {"input_ids": ids_BT, "attention_mask": mask_BT})
            parts.append((states_BTD * mask_BT[..., None]).sum(1) / mask_BT.sum(1, keepdims=True))
        return np.concatenate(parts)[np.argsort(order)]

    return embed


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each at length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


if __name__ == "__main__":
    sys.exit(main())
