"""The rules of Algorithm 1 (CRL-EGPG): which sentences may be exemplars of a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from paraform.fields import require_types, with_fields
from paraform.records import InputError

MOST = 2**62  # what compiled code can add to without running over


@dataclass(frozen=True)
class MiningConfig:
    """Which sentences may be a target's exemplar, and which of those are kept (Algorithm 1; REFERENCE.md, CRL item 6).

    A sentence's words are its lower-cased tokens, its length is their number. Never an exemplar, whatever is set
    here: the target, its source (both by text, apart from case and spaces) and a sentence without words. Of
    several sentences of the same words one is given. A target that nothing matches gets no exemplar.

    Args:
        pool: the side of the pairs that `mine` searches: their targets (the authors' code) or sources (the paper).
            `ExemplarIndex.nearest` searches its index and does not look here.
        pool_size: `mine` deals the pairs by seed into pools of about this many, and searches each target in its own, so
            that exemplars are as far off as in a split of that size; 0: one pool. `nearest` does not look here either.
        length_gap: greatest difference between the lengths of exemplar and target, in words. The code has 1 on ParaNMT.
        min_new_words: an exemplar shares at most len(target) − min_new_words words with the target.
        distinct: a word counts once, however often both hold it (the code); False: as often as both hold it.
        exclude_cluster: nothing of the target's duplicate cluster; neither paper nor code does this.
        window: greatest difference between the rows of exemplar and target (the code on ParaNMT: 20,000); None: any.
        keep: K, the most exemplars a target gets.
        among: "tied" keeps only exemplars at the smallest distance (the code); "nearest" keeps the K nearest.
        ties: at equal distance, "random" draws by seed, the target's row and the words alone; "first" goes by place.
        seed: ≥ 0, of the random ties.

    Raises: InputError if a value is not one of those above.
    """

    pool: Literal["targets", "sources"] = "targets"
    pool_size: int = 0
    length_gap: int = 2
    min_new_words: int = 2
    distinct: bool = True
    exclude_cluster: bool = True
    window: int | None = None
    keep: int = 5
    among: Literal["tied", "nearest"] = "tied"
    ties: Literal["random", "first"] = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        require_types(self)
        least_of = {"pool_size": 0, "length_gap": 0, "min_new_words": 0, "window": 0, "keep": 1, "seed": 0}
        for name, least in least_of.items():
            value = getattr(self, name)
            if value is None and name == "window":
                continue
            if not isinstance(value, int) or not least <= value <= MOST:
                raise InputError(f"{name} is {value}; expected {least} to {MOST:,}")
        if self.pool_size and self.window is not None:
            raise InputError(f"pool_size {self.pool_size} with window {self.window}; rows have no places in a pool")

    @classmethod
    def paper(cls, **fields: Any) -> MiningConfig:
        """As Algorithm 1 is printed: the one nearest source."""
        return with_fields(cls(pool="sources", exclude_cluster=False, keep=1, ties="first"), fields)

    @classmethod
    def reference(cls, corpus: Literal["quora", "paranmt"] = "quora", **fields: Any) -> MiningConfig:
        """As the authors' code searches each corpus, save that it gives a target without a candidate to itself."""
        if corpus == "quora":
            return with_fields(cls(exclude_cluster=False), fields)
        if corpus == "paranmt":
            return with_fields(cls(length_gap=1, exclude_cluster=False, window=20_000), fields)
        raise InputError(f"corpus is {corpus!r}; expected 'quora' or 'paranmt'")
