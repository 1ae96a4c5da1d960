"""The table of what became of each corpus's records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from paraform.records import Pair


@dataclass(frozen=True)
class Counts:
    """How many records of each corpus were read, what was left out and why, and what is written."""

    rows: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, corpus: str, why: str, count: int = 1) -> None:
        """Count further records."""
        self.rows.setdefault(corpus, Counter())[why] += count

    def add_all(self, pairs: Iterable[Pair], why: str) -> None:
        """Count each pair for its corpus."""
        for corpus, count in Counter(map(corpus_of, pairs)).items():
            self.add(corpus, why, count)

    def add_lost(self, before: Iterable[Pair], after: Iterable[Pair], why: str) -> None:
        """Count the pairs of before that are not in after."""
        for corpus, count in (Counter(map(corpus_of, before)) - Counter(map(corpus_of, after))).items():
            self.add(corpus, why, count)

    def markdown(self) -> str:
        """A row a corpus, a column a reason."""
        columns = list(dict.fromkeys(why for row in self.rows.values() for why in row))
        rows = [[name, *(f"{row[why]:,}" if row[why] else "" for why in columns)] for name, row in self.rows.items()]
        grid = [["corpus", *columns], ["---", *["---:"] * len(columns)], *rows]
        return "".join(f"| {' | '.join(row)} |\n" for row in grid)


def corpus_of(pair: Pair) -> str:
    """The folder that it was read from."""
    return Path(pair.origin.path).parent.name if pair.origin else ""
