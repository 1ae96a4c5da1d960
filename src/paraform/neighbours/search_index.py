"""Search by meaning: texts whose vectors are made once and kept, and of a question the nearest of them.

Shape key: N texts of the index, Q questions, D features.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform.capabilities import Embedder, unread_by
from paraform.checkpoint import load, signature_of
from paraform.checkpoint.folder import absolute_name
from paraform.corpora.tables import Value
from paraform.evaluation.content import unit
from paraform.neighbours import search_folder
from paraform.neighbours.duplicates import embedder_of, letters_of, vectors_of
from paraform.neighbours.nearest import nearest
from paraform.neighbours.search_folder import Kept
from paraform.neighbours.search_rows import rows_of
from paraform.records import InputError, require_count, require_kind, require_text, require_texts
from paraform.weights import PathLike, require_path

LEAST = -1.0  # a cosine that all have
UNREAD = "%s of %s questions have few words that %s knows; they are compared by letters alone"


class Hit(NamedTuple):
    """A text that was found.

    Args:
        text: as it was given.
        similarity: the cosine of its vector and the question's; 1 if they were compared by their letters.
        row: its place among the texts of the index, from 0.
        fields: what was given with it.
    """

    text: str
    similarity: float
    row: int
    fields: dict[str, Value]


@final
class SearchIndex:
    """Texts to search by meaning: `SearchIndex.build(texts).search("a question")`.

    Every question is compared with every text, exactly. Texts that the model cannot read, such as a Thai one of an
    English encoder, are near others whatever they say: only such a question finds them, by its letters, and it finds
    no others. Many threads may ask at once.
    """

    def __init__(self, model: Embedder, kept: Kept) -> None:
        self._model, self._kept = model, kept
        self._vectors_ND: Tensor = torch.from_numpy(kept.vectors_ND).to(model.device)
        self._without: NDArray[np.int64] = np.flatnonzero(torch.linalg.vector_norm(self._vectors_ND, dim=1).cpu() == 0)

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        encoder: Embedder | str = "minilm",
        *,
        fields: Iterable[Mapping[str, Value]] | None = None,
        name: str = "",
        vectors: str = "",
        batch_size: int = 0,
        progress: bool = False,
    ) -> SearchIndex:
        """An index over texts; one that is there again is encoded once, and each of its rows is found.

        Args:
            encoder: a model that embeds, or a name that `load` takes.
            fields: of each text what else comes back with it: names, and texts, numbers, true, false or None.
            name: of a model that is given itself, what `load` finds it by when the index is read; "": its own.
            vectors: one of the encoder's `vector_names`; "": the first.
            batch_size: as in `Embedder.embed`.
            progress: say on stderr how far it is.
        Raises: InputError for what are no texts or no fields, or a model that does not embed.
        """
        given = require_texts(texts)
        rows = rows_of(given, fields)
        for value, of in ((name, "name"), (vectors, "vectors")):
            require_text(value, of)
        model = embedder_of(encoder)
        _require_kind(model, vectors)
        known = encoder if isinstance(encoder, str) else name or str(getattr(model, "name", ""))
        place = {text: number for number, text in enumerate(dict.fromkeys(given))}
        different = list(place)
        read = np.flatnonzero(~unread_by(model, different))
        how: dict[str, Any] = {"batch_size": batch_size, "progress": progress}
        read_ND = unit(vectors_of([different[at] for at in read], lambda part: model.embed(part, vectors, **how)))
        units_ND = np.zeros((len(different), read_ND.shape[1]), np.float32)
        units_ND[read] = read_ND
        if len(different) < len(given):
            units_ND = units_ND[[place[text] for text in given]]
        signature = _signature(model, known, vectors)
        return cls(model, Kept(units_ND, rows, absolute_name(known) if known else "", signature, vectors))

    @classmethod
    def load(cls, folder: PathLike, encoder: Embedder | str | None = None, *, device: str | None = None) -> SearchIndex:
        """The index that `save` wrote, with the model that it was built by; vectors and texts stay on disk.

        Args:
            encoder: that model, or a name of it, in the place of the name that the folder holds.
            device: "cpu", "cuda", …, of a model that is loaded here; None: the GPU if there is one.
        Raises: InputError if there is no index, one of another version, a damaged one, or if the model is not the one
            that made the vectors.
        """
        require_path(folder)
        kept = search_folder.read(Path(folder))
        given = kept.name if encoder is None else encoder
        if given == "":
            raise InputError(f"{folder}: its model was given without a name; expected load(folder, encoder=model)")
        model = embedder_of(load(given, device=device) if isinstance(given, str) else given)
        known = given if isinstance(given, str) else kept.name
        found = _signature(model, known, kept.kind)
        if _unnamed(found) != _unnamed(kept.signature):
            raise InputError(
                f"{folder}: its vectors are of {kept.signature}; {known or model.kind} is {found}; expected the same"
                " model, or an index that is built again"
            )
        _require_kind(model, kept.kind)
        return cls(model, kept)

    def save(self, folder: PathLike) -> Path:
        """Write the index, which a kill leaves as it was before or as it is now; returns the folder.

        Raises: InputError if the folder holds something else, or for a model that nothing tells from another. OSError
            if it cannot be written.
        """
        require_path(folder)
        if not self._kept.signature:
            raise InputError(f"{self._model.kind}: no weights to know it by; expected one with a text, `signature`")
        search_folder.write(Path(folder), self._kept)
        return Path(folder)

    def __len__(self) -> int:
        return len(self._kept.vectors_ND)

    @property
    def name(self) -> str:
        """The model's, by which `load` finds it; "" if it was given without one."""
        return self._kept.name

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._kept.vectors_ND.shape[1])

    @property
    def unread_rows(self) -> list[int]:
        """The rows of texts that the model cannot read."""
        rows: list[int] = self._without.tolist()
        return rows

    def unread(self, questions: Sequence[str]) -> NDArray[np.bool_]:
        """Which questions the model cannot read, so that `search` compares them by their letters alone."""
        return unread_by(self._model, require_texts(questions))

    @overload
    def search(self, questions: str, num: int = 10, least: float | None = None) -> list[Hit]: ...
    @overload
    def search(
        self, questions: list[str] | tuple[str, ...], num: int = 10, least: float | None = None
    ) -> list[list[Hit]]: ...
    def search(
        self, questions: str | list[str] | tuple[str, ...], num: int = 10, least: float | None = None
    ) -> list[Hit] | list[list[Hit]]:
        """The texts that are nearest to a question, nearest first; of equally near ones the lower row. Many: of each.

        A question that the model cannot read finds texts that differ from it in case and white space alone, or none; a
        warning counts such questions.

        Args:
            questions: one text, or a list of them.
            num: how many are found at most.
            least: the cosine that they have at least, −1 to 1; None: any.
        Raises: InputError for what are no texts, no count or no cosine; or if a line of the index is damaged.
        """
        asked = require_texts([questions] if isinstance(questions, str) else questions)
        require_count(num, "num", 1)
        require_kind(least, (int, float, type(None)), "least")
        if least is not None and not -1 <= least <= 1:
            raise InputError(f"least {least}; expected a cosine, -1 to 1")
        found = self._search(asked, num, LEAST if least is None else least)
        return found[0] if isinstance(questions, str) else found

    def _search(self, asked: list[str], num: int, least: float) -> list[list[Hit]]:
        unread_Q = self.unread(asked)
        if unread_Q.any():
            logging.getLogger("paraform").warning(UNREAD, unread_Q.sum(), len(asked), self.name or self._model.kind)
        found: list[list[Hit]] = [[] for _ in asked]
        read = np.flatnonzero(~unread_Q).tolist()
        if len(self._without) < len(self) and read:
            embedded_QD = vectors_of([asked[at] for at in read], lambda part: self._model.embed(part, self._kept.kind))
            if embedded_QD.shape[1] != self.dimension:
                width = embedded_QD.shape[1]
                raise InputError(f"a damaged index: vectors of {self.dimension} numbers; its model's have {width}")
            answers = nearest(self._vectors_ND, unit(embedded_QD), num, least, self._without)
            for at, answer in zip(read, answers, strict=True):
                pairs = zip(answer.rows.tolist(), answer.cosines.tolist(), strict=True)
                found[at] = [self._hit(row, cosine) for row, cosine in pairs]
        for at in np.flatnonzero(unread_Q).tolist():
            found[at] = [self._hit(row, 1.0) for row in self._rows_of_letters.get(letters_of(asked[at]), [])[:num]]
        return found

    def _hit(self, row: int, similarity: float) -> Hit:
        text, fields = self._kept.rows.row(row)
        return Hit(text, similarity, row, fields)

    @cached_property
    def _rows_of_letters(self) -> dict[str, list[int]]:
        """Of texts that the model cannot read; a thread that asks for it meanwhile makes the same."""
        rows: dict[str, list[int]] = {}
        for row in self.unread_rows:
            rows.setdefault(letters_of(self._kept.rows.row(row)[0]), []).append(row)
        return rows


def _require_kind(model: Embedder, vectors: str) -> None:
    if vectors and vectors not in model.vector_names:
        raise InputError(f"vectors {vectors[:40]!r}: {model.kind}; expected {' or '.join(model.vector_names)}")


def _signature(model: Embedder, name: str, vectors: str) -> str:
    """The model's; "" of one without weights, such as somebody's own class."""
    try:
        return signature_of(model, name, vectors)
    except AttributeError:
        return ""


def _unnamed(signature: str) -> str:
    """All but the name, which a folder may have changed: `model:NAME|…`."""
    return signature.partition("|")[2]
