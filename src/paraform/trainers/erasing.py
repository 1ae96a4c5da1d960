"""Form erased from any encoder's vectors, in closed form: nothing is trained (`models.disentangled.erasure`)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch

from paraform import encoders
from paraform.decoding import MOST_SEED
from paraform.encoders.dense import Dense
from paraform.models.disentangled.erasure import LEAST_A_FEATURE, MOST, concepts, least_squares_erasure
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, require_count, require_text, require_texts
from paraform.syntax import annotate
from paraform.syntax.running import DEFAULT
from paraform.syntax.trees import Tree
from paraform.weights import PathLike, require_path


def erase(
    encoder: str,
    texts: Iterable[str],
    folder: PathLike,
    *,
    erased: Literal["constituents", "form"] = "form",
    parser: str = DEFAULT,
    seed: int = 0,
    terms: str = "",
    device: str | None = None,
    progress: bool = False,
) -> Path:
    """Write an encoder whose vectors no linear reader can tell a sentence's form from, as sentence-transformers has it.

    Args:
        encoder: a name that `load` takes of a Hugging Face encoder whose states are averaged, such as
            `minilm@layer=3`.
        texts: sentences of the kind that it will read; 20,000 of them are drawn by seed, if there are more.
        folder: to be made.
        erased: "constituents", their shares of a tree; "form", these and which of them stand at the top.
        parser: what makes their trees: a name that `load_parser` knows.
        terms: those of the texts, for the card.
    Returns: the folder.
    Raises: InputError for too few sentences, or an encoder that is no mean of states; and as the encoder's loading.
    """
    require_path(folder)
    require_text(terms, "terms")
    require_text(parser, "parser")
    require_count(seed, "seed", -MOST_SEED, MOST_SEED)
    require_text(erased, "erased")
    if erased not in ("constituents", "form"):
        raise InputError(f"erased {str(erased)[:40]!r}; expected constituents or form")
    texts = require_texts(texts)
    name, variant = encoders.parse_name(require_text(encoder, "encoder"))
    known = encoders.load_embedder(name, device=device, variant=variant)
    if not isinstance(known, encoders.Encoder):
        raise InputError(f"{encoder}: {known.kind}; expected a Hugging Face encoder whose states are averaged")
    known.require_exported(folder)
    different = list(dict.fromkeys(texts))
    some = random.Random(seed).sample(different, min(len(different), MOST))
    trees = [(one.text, Tree.parse(one.tree)) for one in annotate(some, parser=parser, progress=progress) if one.tree]
    if len(trees) < (least := LEAST_A_FEATURE * known.dimension):
        raise InputError(
            f"{len(trees):,} different sentences; expected at least {least:,}, {LEAST_A_FEATURE} for each of"
            f" {encoder}'s {known.dimension} features, and better {MOST:,}"
        )
    symbols = TreeSymbols.of((tree for _, tree in trees), brackets=True)
    vectors = replace(known, normalize=False).encode([text for text, _ in trees], progress=progress)
    weight_DD, bias_D = least_squares_erasure(
        torch.from_numpy(vectors), concepts([tree for _, tree in trees], symbols, erased)
    )
    dense = Dense(weight_DD, bias_D)
    if known.dense is not None:
        before = known.dense.to(torch.device("cpu"))
        dense = Dense(weight_DD @ before.weight_ED, dense(before.bias_E))
    card = (
        f"# {Path(folder).name}\n\n`{encoder}`, and a linear map behind it that erases what a linear reader could tell"
        f" of a sentence's form ({erased}; LEACE, Belrose et al. 2023), fitted by paraform to {len(trees):,} sentences."
        " For use under the encoder's terms.\n"
    )
    return known.export(folder, card=card, terms=terms, dense=dense)
