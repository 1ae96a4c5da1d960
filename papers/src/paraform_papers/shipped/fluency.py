"""The embedded models `fluency` and `grammar`: n-grams of words, and of tags with the words of closed classes.

    python -m paraform_papers.shipped.fluency ../shared/data --out src/paraform/pretrained

Needs lmplz (tools/build_lmplz.sh). Running time: about eight minutes on one core, nearly all for tags. `fluency` is of
all sentences of Quora's and ParaNMT's training pairs and of Tatoeba's, `grammar` of Tatoeba's and 50,000 of Quora's.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from paraform.evaluation.latent.ngram import find_lmplz, require_ngrams
from paraform.rewording import fluency
from paraform.syntax import load_tagger
from paraform.weights import sha256
from paraform.words import tokenize

QUORA, TATOEBA, PARANMT = "quora/train.tsv", "tatoeba/pairs.tsv", "paranmt/train.tsv"
TAGGED = 50_000  # sentences of Quora's
LEAST = {"fluency": 3, "grammar": 40}  # times that a word, or a word with its tag, stands there at least
CLOSED = re.compile(r"DT|IN|TO|MD|PRP\$?|WP\$?|WDT|WRB|CC|EX|RP|POS|PDT|[.,:]")
TELLING = re.compile(  # words of no closed class, but as telling
    "do|does|did|is|are|was|were|be|been|being|am|have|has|had|having|n't|not|'s|'re|'m|'ve|'d|'ll|get|go|make|so|very"
    "|much|many|more|most|there"
)
CARD = Path(__file__).parent / "cards" / "fluency.md"


def main() -> None:
    """Estimate both and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with quora/, tatoeba/ and paranmt/")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    require_ngrams()
    digests = {name: sha256(options.data / name) for name in (QUORA, TATOEBA, PARANMT)}
    quora, tatoeba, paranmt = (sentences(options.data / name) for name in digests)
    words = [[word.lower() for word in tokenize(text)] for text in sorted({*quora, *tatoeba, *paranmt})]
    counts = Counter(word for row in words for word in row)
    known = [[word if counts[word] >= LEAST["fluency"] else fluency.UNKNOWN for word in row] for row in words]
    write(known, 3, ("0", "1", "1"), options.out / "fluency", digests)

    tagged = [tokenize(text) for text in [*tatoeba, *random.Random(3).sample(quora, TAGGED)]]
    pairs = [list(zip(row, tags, strict=True)) for row, tags in zip(tagged, load_tagger()(tagged), strict=True)]
    telling = Counter(
        f"{word}/{tag}".lower()
        for row in pairs
        for word, tag in row
        if CLOSED.fullmatch(tag) or TELLING.fullmatch(word.lower())
    )
    kept = {both for both, count in telling.items() if count >= LEAST["grammar"]}
    short = [row for row in pairs if 2 <= len(row) <= 30]
    classes = [fluency.classes([word for word, _ in row], [tag for _, tag in row], kept) for row in short]
    write(classes, 5, ("0", "0", "1", "1", "2"), options.out / "grammar", digests)


def sentences(path: Path) -> list[str]:
    """The different sentences of a file of pairs, sorted."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sorted({text for line in lines for text in line.split("\t")[:2] if text.strip()})


def write(
    rows: Iterable[Sequence[str]], order: int, prune: Sequence[str], folder: Path, digests: dict[str, str]
) -> None:
    """Estimate the n-grams of those rows, but for those of each order that stand there no more often than `prune`."""
    with tempfile.TemporaryDirectory() as place:
        text, arpa = Path(place, "text"), Path(place, "arpa")
        text.write_text("".join(" ".join(row) + "\n" for row in rows if row), encoding="utf-8")
        given = ["-o", str(order), "--prune", *prune, "--text", str(text), "--arpa", str(arpa)]
        command = [find_lmplz(), *given, "--skip_symbols", "--discount_fallback"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with arpa.open(encoding="utf-8") as lines:
            model = fluency.read_arpa(lines)
    fluency.save(model, folder, card=CARD.read_text(encoding="utf-8").format(name=folder.name), data_digests=digests)


if __name__ == "__main__":
    main()
