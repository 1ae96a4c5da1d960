"""A static encoder made of any encoder, in closed form: a vector a piece, whose mean is near the teacher's vector.

    min_T  Σ_s ‖ (X T)_s − t_s ‖²  +  λ ‖ T − T⁰ ‖²

t_s is the teacher's vector of sentence s, X_sp the share of piece p among the sentence's pieces, so that X T are means
over pieces; T⁰ is what a piece has before any sentence is read, and keeps if none holds it. Where Tulkens and van den
Dongen 2024 (model2vec) take such a table alone, the teacher's vectors of single pieces with weights by how rare they
are, here sentences correct it.

Shape key: S sentences, V pieces of the vocabulary, D features, N entries of a sparse matrix, R its rows, C its columns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import embedding_bag, normalize

from paraform import encoders
from paraform.batching.ragged import Ragged
from paraform.capabilities import Embedder, unread_by
from paraform.decoding import MOST_SEED
from paraform.encoders.export import require_new
from paraform.encoders.static import save_static
from paraform.progress import track
from paraform.records import InputError, require_count, require_text, require_texts
from paraform.weights import PathLike

PENALTY = 0.01  # λ: a piece that makes a tenth of one sentence is moved half of the way
STEPS = 40  # of conjugate gradients
RARE = 1e-3  # a piece with this share of all pieces has half the weight of one that is never seen (Arora et al. 2017)
LEAST, MOST = 1_000, 50_000  # sentences
LOST = "\ufffd"  # what half a character of a byte-level tokenizer is shown as
INSIDE = "##"  # before a WordPiece that does not begin a word


def distil(
    encoder: str,
    texts: Iterable[str],
    folder: PathLike,
    *,
    seed: int = 0,
    terms: str = "",
    device: str | None = None,
    progress: bool = False,
) -> Path:
    """Write a static encoder whose vectors are near another's, as sentence-transformers has it.

    Args:
        encoder: the teacher: a name that `load` takes of an encoder, or of a model of sentence-transformers, such as
            `minilm@layer=3`.
        texts: sentences of the kind that it will read; 50,000 of them are drawn by seed, if there are more.
        folder: to be made.
        terms: those of the texts, for the card.
    Returns: the folder.
    Raises: InputError for too few sentences, or a teacher without a tokenizer; and as the encoder's loading.
    """
    require_new(folder)
    require_text(terms, "terms")
    require_count(seed, "seed", -MOST_SEED, MOST_SEED)
    different = list(dict.fromkeys(require_texts(texts)))
    name, variant = encoders.parse_name(require_text(encoder, "encoder"))
    if len(different) < LEAST:
        raise InputError(
            f"{len(different):,} different sentences; expected at least {LEAST:,}, and better {MOST:,}: a piece that"
            " none of them holds keeps the vector that it has alone"
        )
    teacher = encoders.load_embedder(name, device=device, variant=variant)
    tokenizer = tokenizer_of(name, teacher)
    some = random.Random(seed).sample(different, min(len(different), MOST))
    targets_SD = unit_vectors(teacher, some, progress=progress)
    alone_VD = vectors_alone(teacher, tokenizer, progress=progress)
    # What the teacher cuts off has no part in its vector.
    longest = teacher.max_tokens - len(tokenizer.encode("").ids) if isinstance(teacher, encoders.Encoder) else None
    pieces = Ragged.of([one.ids[:longest] for one in tokenizer.encode_batch_fast(some, add_special_tokens=False)])
    means_SV = shares_of(pieces, len(alone_VD))
    table_VD = ridge(means_SV, targets_SD, prior(alone_VD, pieces, means_SV, targets_SD), progress=progress)
    card = (
        f"# {Path(folder).name}\n\nA vector for each piece of text, whose mean is near what `{encoder}` makes of the"
        f" whole text: distilled by paraform from its vectors of {len(some):,} sentences. Word order is not read. For"
        " use under that encoder's terms.\n"
    )
    return save_static(
        table_VD, tokenizer, folder, card=card + (f"\n**Terms of the training data.** {terms}\n" if terms else "")
    )


def tokenizer_of(name: str, teacher: Embedder) -> Tokenizer:
    """The teacher's own, which cuts and pads nothing. Raises: InputError if it has none."""
    if Path(name).is_file():
        raise InputError(f"{name}: {teacher.kind}, which have no tokenizer; expected an encoder with a tokenizer.json")
    folder = encoders.ModelFolder(encoders.locate(name))
    tokenizer = (folder.modules[0].folder if folder.modules else folder).tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def unit_vectors(teacher: Embedder, texts: Sequence[str], *, progress: bool = False) -> Tensor:
    """The teacher's vectors at length 1: float32 [len(texts), D]."""
    return normalize(torch.from_numpy(teacher.embed(texts, progress=progress)), dim=-1)


def vectors_alone(teacher: Embedder, tokenizer: Tokenizer, *, progress: bool = False) -> Tensor:
    """The teacher's vector of each piece as a text of its own, less their mean: float32 [V, D].

    Special tokens have 0, and so do pieces that the teacher cannot read alone: it would warn of texts that nobody gave.
    """
    added = tokenizer.get_added_tokens_decoder()
    special = {number for number, token in added.items() if token.special} | set(tokenizer.encode("").ids)
    vocabulary = set(tokenizer.get_vocab().values())
    texts = {
        number: tokenizer.decode([number], skip_special_tokens=False).strip().removeprefix(INSIDE)
        for number in sorted(vocabulary - special)
    }
    texts = {number: text for number, text in texts.items() if text and LOST not in text}
    unread = unread_by(teacher, list(texts.values()))
    numbers = [number for number, lost in zip(texts, unread, strict=True) if not lost]
    found = unit_vectors(teacher, [texts[number] for number in numbers], progress=progress)
    alone_VD = torch.zeros(max(vocabulary) + 1, found.shape[1])
    alone_VD[numbers] = found - found.mean(0)
    return alone_VD


def shares_of(pieces: Ragged, vocabulary: int) -> Tensor:
    """X, the share of each piece among those of each sentence: sparse float32 [S, V]."""
    lengths_S = torch.from_numpy(pieces.offsets).diff()
    rows_N = torch.arange(len(lengths_S)).repeat_interleave(lengths_S)
    places_2N = torch.stack([rows_N, torch.from_numpy(pieces.values).long()])
    shape = (len(lengths_S), vocabulary)
    return torch.sparse_coo_tensor(places_2N, 1 / lengths_S[rows_N], shape, check_invariants=True).coalesce()


def prior(alone_VD: Tensor, pieces: Ragged, means_SV: Tensor, targets_SD: Tensor) -> Tensor:
    """T⁰ = c a / (a + share_p) × the vector of piece p alone; c fits their means to the targets: float32 [V, D].

    Weights by a piece's share of all pieces are those of Arora et al. 2017, "A Simple but Tough-to-Beat Baseline for
    Sentence Embeddings", ICLR.
    """
    counts_V = torch.bincount(torch.from_numpy(pieces.values), minlength=len(alone_VD))
    table_VD = alone_VD * (RARE / (RARE + counts_V / counts_V.sum().clamp_min(1)))[:, None]
    fitted_SD = product(means_SV)(table_VD)
    return table_VD * ((fitted_SD * targets_SD).sum() / fitted_SD.square().sum().clamp_min(1e-12))


def ridge(
    means_SV: Tensor,
    targets_SD: Tensor,
    prior_VD: Tensor,
    *,
    penalty: float = PENALTY,
    steps: int = STEPS,
    progress: bool = False,
) -> Tensor:
    """The T of (XᵀX + λI) T = Xᵀt + λT⁰, by preconditioned conjugate gradients: float32 [V, D].

    All columns at once, each with steps of its own (Hestenes and Stiefel 1952); the preconditioner is the diagonal.

    Args:
        means_SV: X, sparse.
        targets_SD: t.
        prior_VD: T⁰, where it begins.
        penalty: λ > 0.
        steps: of conjugate gradients; as many as V would be exact.
    """
    apply, transposed = product(means_SV), product(means_SV.t())
    _, pieces_N = means_SV.indices()
    diagonal_V = torch.full((len(prior_VD),), penalty).index_add(0, pieces_N, means_SV.values().square())
    tiny = torch.finfo(prior_VD.dtype).tiny  # 0 / 0, once it is exact
    table_VD = prior_VD.clone()
    residual_VD = transposed(targets_SD - apply(table_VD))
    scaled_VD = residual_VD / diagonal_V[:, None]
    direction_VD = scaled_VD.clone()
    energy_D = (residual_VD * scaled_VD).sum(0)
    for _ in track(range(steps), "fitting", show=progress):
        image_VD = transposed(apply(direction_VD)) + penalty * direction_VD
        step_D = energy_D / (direction_VD * image_VD).sum(0).clamp_min(tiny)
        table_VD += step_D * direction_VD
        residual_VD -= step_D * image_VD
        scaled_VD = residual_VD / diagonal_V[:, None]
        before_D, energy_D = energy_D, (residual_VD * scaled_VD).sum(0)
        direction_VD = scaled_VD + energy_D / before_D.clamp_min(tiny) * direction_VD
    return table_VD


def product(matrix_RC: Tensor) -> Callable[[Tensor], Tensor]:
    """Multiplies by a sparse matrix, [C, D] → [R, D], in a third of the time that torch's own product takes.

    A row is a bag of the columns that it has entries in.
    """
    entries = matrix_RC.coalesce()
    rows_N, columns_N = entries.indices()
    offsets_R = torch.searchsorted(rows_N.contiguous(), torch.arange(len(entries)))
    columns_N, values_N = columns_N.contiguous(), entries.values()
    return lambda dense_CD: embedding_bag(columns_N, dense_CD, offsets_R, mode="sum", per_sample_weights=values_N)
