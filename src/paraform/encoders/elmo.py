"""ELMo: the bidirectional language model of Peters et al. 2018, from its published files, as an `Encoder`.

A word's characters go through convolutions, highway layers and a projection (layer 0); two LSTM stacks read the
projected words of a sentence, one from either end (layers 1 and up). All arithmetic is float32.

Shape key: N words of all sentences end to end, B sentences, U different words, C characters of a word, E features of
a character, F filters, P projection, H cells of an LSTM, L layers, D = 2 P features of a state.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from paraform.encoders.elmo_words import BOS_NUMBER, CHARACTERS, EOS_NUMBER, NO_CHARACTER, characters_of
from paraform.encoders.encoder import Forward
from paraform.encoders.precision import float32_products
from paraform.fields import MOST_LAYERS, MOST_WIDTH
from paraform.records import InputError

AT_ONCE = 256  # words whose characters are convolved together
FORGET_BIAS = 1.0  # which TensorFlow adds at run time, so that the published bias lacks it


@dataclass(frozen=True, slots=True)
class ElmoConfig:
    """The sizes of an ELMo, as `options.json` has them.

    Args:
        character_width: E, features of a character.
        max_characters: of a word, its two boundary marks among them; longer words are cut.
        filters: width in characters and number of each convolution.
        activation: behind each convolution.
        highways: highway layers behind them.
        projection: P, of a word and of an LSTM's output.
        cells: H, of an LSTM.
        layers: LSTMs of either direction.
        skip: whether the second and further LSTMs add their input to their output.
        cell_clip, projection_clip: the largest absolute value of a cell and of an output; infinity: not clipped.
    """

    character_width: int
    max_characters: int
    filters: tuple[tuple[int, int], ...]
    activation: Literal["relu", "tanh"]
    highways: int
    projection: int
    cells: int
    layers: int
    skip: bool
    cell_clip: float
    projection_clip: float

    def __post_init__(self) -> None:
        """Raises: InputError for a size that no ELMo has."""
        widths = [self.character_width, self.projection, self.cells, *(count for _, count in self.filters)]
        bad = [width for width in widths if not 1 <= width <= MOST_WIDTH]
        if bad or not self.filters:
            raise InputError(f"a width of {bad[0] if bad else 0}; expected 1 to {MOST_WIDTH:,}")
        if not 1 <= self.layers <= MOST_LAYERS or not 0 <= self.highways <= MOST_LAYERS:
            came = f"{self.layers} LSTM and {self.highways} highway layers"
            raise InputError(f"{came}; expected 1 to {MOST_LAYERS} and 0 to {MOST_LAYERS}")
        if not 3 <= self.max_characters <= MOST_WIDTH:
            raise InputError(f"max_characters_per_token is {self.max_characters}; expected 3 to {MOST_WIDTH:,}")
        if not all(1 <= width <= self.max_characters for width, _ in self.filters):
            raise InputError(f"filters {list(self.filters)}; expected widths of 1 to {self.max_characters} characters")
        if not (self.cell_clip > 0 and self.projection_clip > 0):
            raise InputError(f"clips {self.cell_clip} and {self.projection_clip}; expected numbers above 0, or null")

    @property
    def convolved(self) -> int:
        """F, the filters of all convolutions."""
        return sum(count for _, count in self.filters)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The published names of all weights, and their shapes.

        An LSTM's `W_0` has a row for each number of its input, then one for each of its last output; its columns, and
        those of `B`, are the gates input, candidate, forget and output, in TensorFlow's order.
        """
        shapes: dict[str, tuple[int, ...]] = {"char_embed": (CHARACTERS, self.character_width)}
        for number, (width, count) in enumerate(self.filters):
            shapes[f"CNN/W_cnn_{number}"] = (1, width, self.character_width, count)
            shapes[f"CNN/b_cnn_{number}"] = (count,)
        for number, gate in itertools.product(range(self.highways), ("carry", "transform")):
            shapes[f"CNN_high_{number}/W_{gate}"] = (self.convolved, self.convolved)
            shapes[f"CNN_high_{number}/b_{gate}"] = (self.convolved,)
        shapes["CNN_proj/W_proj"] = (self.convolved, self.projection)
        shapes["CNN_proj/b_proj"] = (self.projection,)
        for direction, layer in itertools.product(range(2), range(self.layers)):
            lstm = lstm_name(direction, layer)
            shapes[f"{lstm}/W_0"] = (2 * self.projection, 4 * self.cells)
            shapes[f"{lstm}/B"] = (4 * self.cells,)
            shapes[f"{lstm}/W_P_0"] = (self.cells, self.projection)
        return shapes


def lstm_name(direction: int, layer: int) -> str:
    """The published group of an LSTM's weights; direction 0 reads forwards."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


class _Order(NamedTuple):
    """The rows of sentences that lie end to end, step by step, the longest sentence first in each step.

    Args:
        rows_N: which row each place of the steps is.
        sizes: how many sentences each step has.
    """

    rows_N: NDArray[np.int64]
    sizes: list[int]


@final
class CharacterEncoder(nn.Module):
    """A word's characters to its vector: convolutions, their maxima, highways, a projection (layer 0 of ELMo)."""

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(CHARACTERS, config.character_width)
        self.convolutions = nn.ModuleList(nn.Conv1d(config.character_width, n, width) for width, n in config.filters)
        wide = config.convolved
        self.carries = nn.ModuleList(nn.Linear(wide, wide) for _ in range(config.highways))
        self.transforms = nn.ModuleList(nn.Linear(wide, wide) for _ in range(config.highways))
        self.projection = nn.Linear(wide, config.projection)

    def forward(self, characters_UC: Tensor) -> Tensor:
        """Character numbers [U, C] → [U, P]."""
        embedded_UEC = self.embedding(characters_UC).transpose(1, 2)
        activation = torch.relu if self.config.activation == "relu" else torch.tanh
        words_UF = torch.cat([activation(conv(embedded_UEC).amax(-1)) for conv in self.convolutions], dim=-1)
        for carry, transform in zip(self.carries, self.transforms, strict=True):
            gate_UF = torch.sigmoid(carry(words_UF))
            words_UF = gate_UF * torch.relu(transform(words_UF)) + (1 - gate_UF) * words_UF
        projected_UP: Tensor = self.projection(words_UF)
        return projected_UP


@final
class ClippedLSTM(nn.Module):
    """An LSTM with a projection of its output, whose cells and outputs are clipped at every step.

    The published models were trained with clips; `torch.nn.LSTM` has a projection and none, and computes something else
    wherever a cell grows beyond them. Its names, shapes and order of gates are kept (input, forget, candidate, output),
    so that without clips the two are one: a test compares them. The products with the inputs are computed at once for
    all steps; what is left is one product a step, of all sentences that are that long.
    """

    def __init__(self, width: int, cells: int, cell_clip: float, projection_clip: float) -> None:
        super().__init__()
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.weight_ih = nn.Parameter(torch.empty(4 * cells, width))
        self.weight_hh = nn.Parameter(torch.empty(4 * cells, width))
        self.bias = nn.Parameter(torch.empty(4 * cells))
        self.weight_hr = nn.Parameter(torch.empty(width, cells))

    def forward(self, steps_NP: Tensor, sizes: Sequence[int]) -> Tensor:
        """The outputs, [N, P], in the order of the inputs; every sentence begins with cells and output 0.

        Args:
            steps_NP: the inputs of the first step, then of the second, and so on.
            sizes: sentences of each step; they never grow.
        """
        gates_N4H = nn.functional.linear(steps_NP, self.weight_ih, self.bias)
        cells_BH = steps_NP.new_zeros(sizes[0], self.weight_hr.shape[1])
        out_BP = steps_NP.new_zeros(sizes[0], self.weight_hr.shape[0])
        outs: list[Tensor] = []
        for begin, size in zip(itertools.accumulate(sizes, initial=0), sizes, strict=False):
            gates_B4H = gates_N4H[begin : begin + size] + nn.functional.linear(out_BP[:size], self.weight_hh)
            input_BH, forget_BH, candidate_BH, output_BH = gates_B4H.chunk(4, dim=-1)
            kept_BH = torch.sigmoid(forget_BH) * cells_BH[:size]
            cells_BH = kept_BH + torch.sigmoid(input_BH) * torch.tanh(candidate_BH)
            cells_BH = cells_BH.clamp(-self.cell_clip, self.cell_clip)
            out_BP = nn.functional.linear(torch.sigmoid(output_BH) * torch.tanh(cells_BH), self.weight_hr)
            out_BP = out_BP.clamp(-self.projection_clip, self.projection_clip)
            outs.append(out_BP)
        return torch.cat(outs)


@final
class Elmo(nn.Module):
    """The bidirectional language model: words' characters to states at every layer.

    Between `characters` and `contextual` stands what depends on the word alone, [*, P]: a matrix on ELMo's input is
    applied there, and folds into `characters.projection`.
    """

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        self.config = config
        self.characters = CharacterEncoder(config)
        clips = (config.cell_clip, config.projection_clip)
        self.lstms = nn.ModuleList(
            nn.ModuleList(ClippedLSTM(config.projection, config.cells, *clips) for _ in range(config.layers))
            for _ in range(2)
        )

    def words(self, numbers: Sequence[int]) -> Tensor:
        """Words' numbers (`word_number`) → their vectors [U, P]."""
        device = self.characters.embedding.weight.device
        projected_UP: Tensor = self.characters(torch.from_numpy(self._characters(numbers)).to(device))
        return projected_UP

    def contextual(self, words_NP: Tensor, lengths: Sequence[int]) -> list[Tensor]:
        """Words' vectors → states [N, D] of layer 0 (the vectors, twice) and of each LSTM, forwards and backwards.

        Args:
            words_NP: sentences end to end, each with its boundary marks.
            lengths: words of each sentence, its marks among them; each at least 1.
        """
        layers: list[list[Tensor]] = [[words_NP] for _ in range(self.config.layers + 1)]
        layers[0].append(words_NP)
        for direction, lstms in enumerate(self.lstms):
            order = _steps(lengths, backwards=direction == 1)
            rows_N = torch.from_numpy(order.rows_N).to(words_NP.device)
            steps_NP = words_NP[rows_N]
            for number, lstm in enumerate(cast(nn.ModuleList, lstms)):
                out_NP = lstm(steps_NP, order.sizes)
                steps_NP = out_NP + steps_NP if self.config.skip and number else out_NP
                placed_NP = torch.empty_like(steps_NP).index_copy(0, rows_N, steps_NP)
                layers[number + 1] = [placed_NP] if direction == 0 else [*layers[number + 1], placed_NP]
        return [torch.cat(both, dim=-1) for both in layers]

    def states(self, sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        """A `Forward`: words' numbers (`word_number`) to states [N, D] of each wanted layer.

        A word's characters are read once, however often it stands in the sentences. The marks of a sentence's ends are
        read with it, and have no states here. Every sentence is read by itself: no state goes from one to the next.
        """
        marked = [[BOS_NUMBER, *words, EOS_NUMBER] for words in sentences if len(words)]
        device = self.characters.embedding.weight.device
        if not marked:
            return [torch.zeros(0, 2 * self.config.projection, device=device) for _ in wanted]
        numbers = list(itertools.chain.from_iterable(marked))
        # Of words that are about equally long few characters are padding.
        different = sorted(dict.fromkeys(numbers))
        vectors_UP = torch.cat([
            self.words(different[at : at + AT_ONCE]) for at in range(0, len(different), AT_ONCE)
        ])  # fmt: skip
        row = {number: at for at, number in enumerate(different)}
        words_NP = vectors_UP[torch.tensor([row[number] for number in numbers], device=device)]
        layers = self.contextual(words_NP, list(map(len, marked)))
        inside = torch.tensor([number not in (BOS_NUMBER, EOS_NUMBER) for number in numbers], device=device)
        return [layers[layer][inside] for layer in wanted]

    def _characters(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Characters of words, [U, C], with no more padding than changes a maximum.

        A window of padding alone has the same value wherever it stands, so that one for each convolution is enough.
        """
        most = self.config.max_characters
        words = [characters_of(number, most) for number in numbers]
        widest = max(width for width, _ in self.config.filters)
        length = min(most, max(map(len, words)) + widest)
        characters_UC = np.full((len(words), length), NO_CHARACTER, np.int64)
        for row, characters in enumerate(words):
            characters_UC[row, : len(characters)] = characters
        return characters_UC


def mix_layers(states_NLD: Tensor, weights_L: Tensor | None = None, scale: float = 1.0) -> Tensor:
    """γ Σ_l softmax(s)_l h_l: ELMo's layer mix, [N, D] (Peters et al. 2018, eq. 1).

    Args:
        states_NLD: as `Encoder.word_states` gives them.
        weights_L: s, of a task; None: all the same, the mean of the layers.
        scale: γ.
    Raises: ValueError if there are not as many weights as layers.
    """
    layers = states_NLD.shape[1]
    weights_L = torch.zeros(layers, device=states_NLD.device) if weights_L is None else weights_L
    if weights_L.shape != (layers,):
        raise ValueError(f"weights {list(weights_L.shape)} for {layers} layers; expected one a layer")
    return scale * torch.einsum("nld,l->nd", states_NLD, torch.softmax(weights_L, 0).to(states_NLD.dtype))


def elmo_of(config: ElmoConfig, weights: Mapping[str, Tensor]) -> Elmo:
    """The network of published weights.

    Args:
        weights: by `ElmoConfig.shapes`, of these shapes.
    """
    elmo = Elmo(config)
    own: dict[str, Tensor] = {"characters.embedding.weight": weights["char_embed"]}
    for number in range(len(config.filters)):
        own[f"characters.convolutions.{number}.weight"] = weights[f"CNN/W_cnn_{number}"][0].permute(2, 1, 0)
        own[f"characters.convolutions.{number}.bias"] = weights[f"CNN/b_cnn_{number}"]
    for name, published in _linear(config).items():
        own |= {f"{name}.weight": weights[published.format("W")].T, f"{name}.bias": weights[published.format("b")]}
    for direction, layer in itertools.product(range(2), range(config.layers)):
        name, published = f"lstms.{direction}.{layer}", lstm_name(direction, layer)
        rows_4H2P = _torch_gates(weights[f"{published}/W_0"].T)
        own[f"{name}.weight_ih"] = rows_4H2P[:, : config.projection]
        own[f"{name}.weight_hh"] = rows_4H2P[:, config.projection :]
        bias_4H = _torch_gates(weights[f"{published}/B"])
        forget = slice(config.cells, 2 * config.cells)
        bias_4H[forget] += FORGET_BIAS
        own[f"{name}.bias"] = bias_4H
        own[f"{name}.weight_hr"] = weights[f"{published}/W_P_0"].T
    elmo.load_state_dict(own)
    return elmo.eval().requires_grad_(False)


def weights_of(elmo: Elmo) -> dict[str, Tensor]:
    """The network's weights by their published names, and in their order of gates: what `elmo_of` reads."""
    config, own = elmo.config, elmo.state_dict()
    weights: dict[str, Tensor] = {"char_embed": own["characters.embedding.weight"]}
    for number in range(len(config.filters)):
        weights[f"CNN/W_cnn_{number}"] = own[f"characters.convolutions.{number}.weight"].permute(2, 1, 0)[None]
        weights[f"CNN/b_cnn_{number}"] = own[f"characters.convolutions.{number}.bias"]
    for name, published in _linear(config).items():
        weights |= {published.format("W"): own[f"{name}.weight"].T, published.format("b"): own[f"{name}.bias"]}
    for direction, layer in itertools.product(range(2), range(config.layers)):
        name, published = f"lstms.{direction}.{layer}", lstm_name(direction, layer)
        rows_4H2P = torch.cat([own[f"{name}.weight_ih"], own[f"{name}.weight_hh"]], dim=1)
        bias_4H = own[f"{name}.bias"].clone()
        bias_4H[config.cells : 2 * config.cells] -= FORGET_BIAS
        weights[f"{published}/W_0"] = _published_gates(rows_4H2P).T
        weights[f"{published}/B"] = _published_gates(bias_4H)
        weights[f"{published}/W_P_0"] = own[f"{name}.weight_hr"].T
    return weights


def _linear(config: ElmoConfig) -> dict[str, str]:
    """Linear maps behind the convolutions, and what they are published as; {} is W or b."""
    linear = {"characters.projection": "CNN_proj/{}_proj"}
    for number in range(config.highways):
        linear[f"characters.carries.{number}"] = f"CNN_high_{number}/{{}}_carry"
        linear[f"characters.transforms.{number}"] = f"CNN_high_{number}/{{}}_transform"
    return linear


def elmo_forward(elmo: Elmo) -> Forward:
    """The network as an `Encoder` calls it, in float32 whatever is around it."""

    @torch.inference_mode()
    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        with float32_products(elmo.characters.projection.weight.device):
            return elmo.states(sentences, wanted)

    return forward


def clip_of(value: object) -> float:
    """A clip of `options.json`, where 0 and null are none."""
    return float(value) if isinstance(value, int | float) and value else math.inf


def _torch_gates(rows_4HX: Tensor) -> Tensor:
    """TensorFlow's gates, input, candidate, forget, output, in torch's order: input, forget, candidate, output."""
    input_HX, candidate_HX, forget_HX, output_HX = rows_4HX.chunk(4)
    return torch.cat([input_HX, forget_HX, candidate_HX, output_HX])


def _published_gates(rows_4HX: Tensor) -> Tensor:
    """Torch's gates in TensorFlow's order."""
    input_HX, forget_HX, candidate_HX, output_HX = rows_4HX.chunk(4)
    return torch.cat([input_HX, candidate_HX, forget_HX, output_HX])


def _steps(lengths: Sequence[int], *, backwards: bool) -> _Order:
    """The order in which sentences that lie end to end are read, forwards or from their ends."""
    lengths_B = np.asarray(lengths, np.int64)
    begins_B = np.cumsum(lengths_B) - lengths_B
    longest_first = np.argsort(-lengths_B, kind="stable")
    lengths_B, begins_B = lengths_B[longest_first], begins_B[longest_first]
    step_T1 = np.arange(lengths_B[0])[:, None]
    there_TB = step_T1 < lengths_B
    places_TB = begins_B + (lengths_B - 1 - step_T1 if backwards else step_T1)
    return _Order(places_TB[there_TB], there_TB.sum(1).tolist())
