"""What a checkpoint says of an encoder whose weights it does not hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import final

from paraform.encoders.encoder import Encoder
from paraform.fields import MOST_LAYERS, MOST_WIDTH
from paraform.json_text import parse_json
from paraform.records import InputError

FACTS = "encoder.json"  # the asset's name


@final
@dataclass(frozen=True)
class EncoderFacts:
    """An encoder's sizes and digests.

    Args:
        width: of what is read of it.
        layers: the encoder's.
        weights, tokenizer: SHA-256.
    """

    width: int
    layers: int
    weights: str
    tokenizer: str

    @classmethod
    def of(cls, encoder: Encoder) -> EncoderFacts:
        """Of an encoder at hand, whose states are read."""
        return cls(encoder.dimension, encoder.num_layers, encoder.digest, encoder.tokenizer_digest)

    def to_json(self, **more: float) -> str:
        """The asset's text, with whatever else it is to say."""
        return json.dumps({**vars(self), **more}, indent=1) + "\n"

    @classmethod
    def read(cls, text: str) -> EncoderFacts:
        """From JSON. Raises: InputError for what is none of it."""
        try:
            found = parse_json(text, FACTS, "what is said of an encoder")
            made = cls(int(found["width"]), int(found["layers"]), str(found["weights"]), str(found["tokenizer"]))
        except InputError:
            raise
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{FACTS}: {' '.join(repr(error).split())[:200]}; expected what is said of an encoder"
            ) from error
        if not 1 <= made.width <= MOST_WIDTH or not 1 <= made.layers <= MOST_LAYERS:
            raise InputError(
                f"{FACTS}: width {made.width}, {made.layers} layers; expected 1 to {MOST_WIDTH}, {MOST_LAYERS}"
            )
        return made

    def require(self, found: EncoderFacts, name: str, *, trained: str) -> None:
        """Raises: InputError, naming what differs, if another encoder was found.

        Args:
            name: the encoder's.
            trained: what was trained with it.
        """
        for field in ("width", "layers", "weights", "tokenizer"):
            own, came = getattr(self, field), getattr(found, field)
            if own != came:
                what = field if field in ("width", "layers") else f"SHA-256 of the {field}"
                raise InputError(
                    f"encoder {name!r} is not the one that {trained} was trained with: {what} {came}; expected {own}"
                )
