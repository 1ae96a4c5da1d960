"""512 bits as one value of compiled code: vector instructions take them together, however wide the processor's are.

numba has no such type, and what it makes of a loop over eight words must ask each time whether the arrays overlap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # what numba itself compiles by
from numba import types
from numba.extending import intrinsic, models, overload, register_model

WORDS = 8
WIDTH = 64 * WORDS  # bits
VECTOR = ir.VectorType(ir.IntType(64), WORDS)


class LanesType(types.Type):
    """What the compiler knows such a value as."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = LanesType()


@register_model(LanesType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]  # numba has no type for it


def _operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """What numba replaces by the instructions that a function's inner one gives."""
    return cast(Callable[..., Any], intrinsic(function))


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())


@_operation
def load(typing: Any, words: Any, at: Any) -> Any:
    """The eight words of a flat array that begin at a place."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *values), align=8)

    return LANES(words, types.uint64), code


@_operation
def store(typing: Any, words: Any, at: Any, lanes: Any) -> Any:
    """Put them there."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, signature.args[0], *values[:2]), align=8)
        return context.get_dummy_value()

    return types.void(words, types.uint64, LANES), code


@_operation
def same(typing: Any, bit: Any) -> Any:
    """All bits set, or none."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(values[0], ir.Constant(VECTOR, [-1] * WORDS), ir.Constant(VECTOR, [0] * WORDS))

    return LANES(types.boolean), code


@_operation
def some(typing: Any, lanes: Any) -> Any:
    """Whether any bit is set."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        words = builder.icmp_unsigned("!=", values[0], ir.Constant(VECTOR, [0] * WORDS))
        return builder.icmp_unsigned("!=", builder.bitcast(words, ir.IntType(WORDS)), ir.IntType(WORDS)(0))

    return types.boolean(LANES), code


def _with_operator(symbol: Callable[..., Any], name: str) -> None:
    @_operation
    def combined(typing: Any, one: Any, other: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, name)(*values)

        return LANES(LANES, LANES), code

    # Functions with annotations would not do: numba wants the signature of what is chosen to be that of what chooses.
    overload(symbol)(lambda one, other: (lambda one, other: combined(one, other)) if one == other == LANES else None)


_with_operator(operator.and_, "and_")
_with_operator(operator.or_, "or_")
_with_operator(operator.xor, "xor")


@_operation
def _inverted(typing: Any, lanes: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.not_(values[0])

    return LANES(LANES), code


overload(operator.invert)(lambda lanes: (lambda lanes: _inverted(lanes)) if lanes == LANES else None)
