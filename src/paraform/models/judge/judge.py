"""Whether two texts say the same: adapters on a base that reads both, and a calibrated answer.

Shape key: N pairs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.pairs import parts_of_rows
from paraform.capabilities import Verdicts
from paraform.encoders import best_dtype, load, load_module
from paraform.encoders.bert import PackedBert, can_run
from paraform.encoders.causal import load_causal
from paraform.encoders.folder import WEIGHTS, ModelFolder
from paraform.encoders.locating import locate
from paraform.encoders.transformers_modules import config_of, sizes_of
from paraform.fields import MOST_LAYERS, MOST_WIDTH, require_restorable
from paraform.json_text import parse_json
from paraform.models.adapters import Adapters, digests_of, maps_of, require_base
from paraform.models.judge.batches import JudgeBatch, PieceMaker
from paraform.models.judge.config import JudgeConfig
from paraform.models.judge.network import JudgeNetwork, parts, told
from paraform.models.lm.prompts import Marks
from paraform.progress import track
from paraform.records import InputError, require_count, require_text
from paraform.weights import load_tensors
from paraform.words import tell_cut

BASE = "base.json"
ROWS, PART = 64, 1024  # read at once; pairs whose pieces are held
MOST_MAPS = 20 * MOST_LAYERS


@final
class MeaningJudge(nn.Module):
    """Tells whether two texts say the same, and, apart, whether each says all of the other.

    A checkpoint holds the adapters and the head alone; the base is looked for where it was, and must have the same
    weights.

    Args:
        config: sizes and choices.
        about: of the base: `maps`, the shapes of those that have adapters, by name; `width`, features of a state;
            `ends`, of a causal model the pieces that begin and end a turn, else null; `digests`.
    """

    system: ClassVar[str] = "judge"
    config_class: ClassVar[type] = JudgeConfig
    kind: ClassVar[str] = "a judge of meaning"

    def __init__(self, config: JudgeConfig, about: Mapping[str, Any]) -> None:
        super().__init__()
        self.config, self.about = config, dict(about)
        self.adapters = Adapters({name: tuple(shape) for name, shape in about["maps"].items()}, config.rank)
        self.head = nn.Linear(parts(causal=self.causal) * about["width"], 2)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        # As `calibrated` has it; training fits all three to held-out pairs.
        self.calibration: Tensor
        self.register_buffer("calibration", torch.tensor([1.0, 0.0, 0.0]))
        self._reading: list[tuple[Any, torch.device]] = []  # in a list: its weights are not this model's own

    @classmethod
    def of(cls, config: JudgeConfig) -> Self:
        """A judge before its first step. Raises: InputError if its base is not to be had, or reads fewer pieces."""
        folder = ModelFolder(locate(config.base))
        own = config_of(folder)
        sizes = sizes_of(own, folder.path)
        if sizes.tokens is not None and config.max_pieces > sizes.tokens:
            raise InputError(f"max_pieces {config.max_pieces}; expected at most {sizes.tokens}, as {config.base} reads")
        ends: list[int] | None = None
        if any(str(name).endswith("ForCausalLM") for name in getattr(own, "architectures", None) or ()):
            module: Any = load_causal(folder, torch.float32).base_model
            ends = list(Marks.of(own.bos_token_id, own.eos_token_id))
        else:
            module = load_module(config.base)
        maps = maps_of(module, config.layers)
        about = {
            "maps": {name: list(shape) for name, shape in maps.items()},
            "width": sizes.width,
            "ends": ends,
            "digests": digests_of(folder),
        }
        return cls(config, about)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.calibration.device

    @property
    def causal(self) -> bool:
        """Whether the base is a language model that reads from left to right."""
        return self.about["ends"] is not None

    @cached_property
    def pieces(self) -> PieceMaker:
        """What makes rows of pairs. Raises: InputError as `logits`."""
        ends = self.about["ends"]
        return PieceMaker(self._folder.tokenizer(), None if ends is None else tuple(ends), self.config.max_pieces)

    def forget(self) -> None:
        """Let go of the base, so that the adapters are added to it again as they are now."""
        self._reading.clear()

    def trainable(self) -> JudgeNetwork:
        """The base with the adapters beside its weights, in float32: what is trained.

        Raises: InputError as `judge`, for the base.
        """
        self.forget()
        folder = self._folder
        module: Any = load_causal(folder, torch.float32).base_model if self.causal else load_module(self.config.base)
        self.adapters.inject(module.to(self.device))
        return JudgeNetwork(module, self.head, causal=self.causal)

    def judge(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        cosines: NDArray[np.float32] | None = None,
        batch_size: int = ROWS,
        progress: bool = False,
    ) -> Verdicts:
        """What is thought of pairs of texts; of (a, b) and (b, a) the same, the other way round.

        Args:
            cosines: [N], of both texts' vectors by minilm, where they are known; None: they are made.
            batch_size: rows read at once, of about one length; it changes answers by how sums are rounded alone.
            progress: say on stderr how far it is.
        A pair that is longer than `config.max_pieces` is cut, and a warning counts such pairs.
        Raises: InputError for what are no pairs of texts, cosines that are not N finite numbers, or a base that is not
        to be had or has other weights.
        """
        both = require_pairs(pairs)
        require_count(batch_size, "batch_size", 1)
        logits_N2 = self.logits(both, batch_size=batch_size, progress=progress)
        cosines_N = cosines_of(both, self.device) if cosines is None else given_cosines(cosines, len(both))
        ways_N2 = calibrated(logits_N2, cosines_N, self.calibration.cpu()).sigmoid().numpy()
        return Verdicts(ways_N2.prod(1), ways_N2[:, 0], ways_N2[:, 1])

    @torch.inference_mode()
    def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int = ROWS, progress: bool = False) -> Tensor:
        """[N, 2] before they are calibrated.

        A causal base reads a pair in both orders, and the mean counts, since the first text is read without the
        second. Any other reads it once, the text first that sorts first.
        """
        different = list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))
        places, parts, cut = {pair: at for at, pair in enumerate(different)}, list[Tensor](), 0
        for start in track(range(0, len(different), PART), "judging", show=progress):
            some = different[start : start + PART]
            one_way_M2, own = self._read_all(some, batch_size)
            cut += own
            if self.causal:
                turned_M2 = self._read_all([(other, one) for one, other in some], batch_size)[0].flip(1)
                one_way_M2 = (one_way_M2 + turned_M2) / 2
            parts.append(one_way_M2)
        tell_cut(cut, len(different), f"{self.config.max_pieces} pieces of both texts", self.kind)
        if not pairs:
            return torch.zeros(0, 2)
        logits_N2 = torch.cat(parts)[torch.tensor([places[min(pair), max(pair)] for pair in pairs])]
        turned_N = torch.tensor([one > other for one, other in pairs])
        equal_N = torch.tensor([one == other for one, other in pairs])
        logits_N2[turned_N] = logits_N2[turned_N].flip(1)
        logits_N2[equal_N] = logits_N2[equal_N].mean(1, keepdim=True)
        return logits_N2

    def _read_all(self, pairs: Sequence[tuple[str, str]], batch_size: int) -> tuple[Tensor, int]:
        """[M, 2], read in this order, and how many of them are cut."""
        rows, seconds, cut = self.pieces.rows(pairs)
        table, starts = Ragged.of(rows), np.array(seconds, np.int64)
        order = np.argsort([len(row) for row in rows], kind="stable")
        out_M2 = torch.empty(len(rows), 2)
        for some in parts_of_rows(len(rows), batch_size):
            chosen = order[some]
            batch = JudgeBatch(SentenceBatch(*table.padded(chosen)), torch.from_numpy(starts[chosen]), torch.empty(0))
            out_M2[chosen] = self._read(batch.to(self.device)).float().cpu()
        return out_M2, cut

    def _read(self, batch: JudgeBatch) -> Tensor:
        """[B, 2], by the base with the adapters added, which is made when it is first asked for."""
        if not self._reading or self._reading[0][1] != self.device:
            self._reading[:] = [(self._merged(), self.device)]
        merged = self._reading[0][0]
        if isinstance(merged, JudgeNetwork):
            out: Tensor = merged(batch)
            return out
        lengths = batch.rows.lengths_B.tolist()
        rows = [row[:length] for row, length in zip(batch.rows.words_BT.tolist(), lengths, strict=True)]
        (states_ND,) = merged.states(rows, [merged.num_layers], seconds=batch.seconds_B.tolist())
        lengths_B = batch.rows.lengths_B.to(self.device)
        logits_B2: Tensor = self.head(told(states_ND, lengths_B, batch.seconds_B, causal=False))
        return logits_B2

    def _merged(self) -> Any:
        dtype = best_dtype(self.device)
        config = self._folder.config
        if not self.causal and can_run(config) and (self._folder.path / WEIGHTS).is_file():
            tensors = load_tensors(self._folder.path / WEIGHTS)
            own = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
            self._require_maps({name.removesuffix(".weight"): tuple(one.shape) for name, one in own.items()})
            maps = {name: own[f"{name}.weight"] for name in self.adapters.shapes}
            self.adapters.add_to(maps)
            return PackedBert(own, config).to(self.device, dtype)
        if self.causal:
            module: Any = load_causal(self._folder, dtype).base_model
        else:
            module = load_module(self.config.base).to(dtype)
        self._require_maps(maps_of(module, 0))
        self.adapters.merge(module.to(self.device))
        return JudgeNetwork(module.eval(), self.head, causal=self.causal)

    @cached_property
    def _folder(self) -> ModelFolder:
        """The base's, read and compared once."""
        folder = ModelFolder(locate(self.config.base))
        require_base(self.config.base, folder, self.about["digests"])
        sizes = sizes_of(SimpleNamespace(**folder.config), folder.path)  # without transformers, which takes a second
        fits = self.about["width"] == sizes.width and (sizes.tokens is None or self.config.max_pieces <= sizes.tokens)
        if not fits or any(end not in range(folder.config["vocab_size"]) for end in self.about["ends"] or ()):
            raise InputError(f"{BASE}: width, ends or max_pieces do not fit {self.config.base}; expected its own")
        return folder

    def _require_maps(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raises: InputError if an adapter is for a map that the base has not, or for one of another shape."""
        if wrong := next((name for name, shape in self.adapters.shapes.items() if shapes.get(name) != shape), ""):
            raise InputError(
                f"{BASE}: {self.config.base} has no map {wrong[:80]!r} of that shape; expected its own maps"
            )

    def assets(self) -> dict[str, str]:
        """What is known of the base; the maps are in the order of the adapters."""
        return {BASE: json.dumps(self.about, indent=1) + "\n"}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> MeaningJudge:
        """A judge with fresh weights from what a checkpoint holds.

        Raises: InputError if the asset is missing or damaged, or a field is unknown.
        """
        require_restorable(JudgeConfig, config, assets, (BASE,))
        return cls(JudgeConfig(**config), _checked(parse_json(assets[BASE], BASE)))


def calibrated(logits_N2: Tensor, cosines_N: Tensor, calibration_3: Tensor) -> Tensor:
    """[N, 2]: the logits times the first number, the second, and the third times the cosine.

    The base knows what differs, and thinks too little of what is worded quite otherwise; of the cosine it is the other
    way round.
    """
    return logits_N2 * calibration_3[0] + calibration_3[1] + cosines_N[:, None] * calibration_3[2]


def cosines_of(pairs: Sequence[tuple[str, str]], device: torch.device) -> Tensor:
    """[N] of both texts' vectors by minilm, on the CPU."""
    places = {text: at for at, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    if not places:
        return torch.zeros(0)
    vectors_MD = torch.from_numpy(load(device=device).encode(list(places)))
    one, other = (vectors_MD[[places[pair[side]] for pair in pairs]] for side in (0, 1))
    return torch.cosine_similarity(one, other)


def given_cosines(cosines: object, count: int) -> Tensor:
    """[N] as float32. Raises: InputError unless they are `count` finite numbers."""
    try:
        cosines_N = np.asarray(cosines, np.float32)
    except (TypeError, ValueError):
        cosines_N = np.zeros((0, 0), np.float32)
    if cosines_N.shape != (count,) or not np.isfinite(cosines_N).all():
        raise InputError(f"cosines of shape {list(cosines_N.shape)}; expected {count} finite numbers, one a pair")
    return torch.from_numpy(cosines_N.copy())


def require_pairs(pairs: object) -> list[tuple[str, str]]:
    """Pairs of texts as tuples. Raises: InputError that counts the first that is none, or has an empty side."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise InputError(f"pairs of type {type(pairs).__name__}; expected a list of pairs of texts")
    out = []
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InputError(f"pair {number}: {str(pair)[:40]!r}; expected two texts")
        for side in pair:
            require_text(side, f"a side of pair {number}")
            if not side.strip():
                raise InputError(f"pair {number} has an empty side; expected two texts")
        out.append((pair[0], pair[1]))
    return out


def _checked(about: Any) -> Mapping[str, Any]:
    """Raises: InputError if it does not say what `MeaningJudge` needs, or asks for more than any base has."""
    found: dict[str, Any] = about if isinstance(about, dict) else {}
    maps, ends, width = found.get("maps"), found.get("ends"), found.get("width")
    shapes = list(maps.values()) if isinstance(maps, dict) else []
    fits = 0 < len(shapes) <= MOST_MAPS and isinstance(found.get("digests"), dict)
    fits = fits and all(isinstance(shape, list) and len(shape) == 2 for shape in shapes)
    sizes = [width, *(size for shape in shapes for size in shape)] if fits else []
    fits = fits and all(type(size) is int and 0 < size <= MOST_WIDTH for size in sizes)
    if not fits or not (ends is None or (isinstance(ends, list) and [*map(type, ends)] == [int, int])):
        raise InputError(f"{BASE}: {str(about)[:40]!r}; expected the base's maps, width, ends and digests")
    return found
