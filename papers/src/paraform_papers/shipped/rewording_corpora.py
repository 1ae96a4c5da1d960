"""What `compact` learns from, corpus by corpus: pairs, sentences without a partner, and what it is measured by."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraform import corpora, encoders
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.evaluation.embedding.development import PAWS, paws_halves
from paraform.records import Origin, Pair, Record, Sentence, texts_of
from paraform.rewording.frames import rewrite
from paraform.rewording.parts import sentences_of
from paraform.rewording.tagged import Tagged
from paraform.syntax import annotate
from paraform.words import detokenize, recase, tokenize
from paraform_papers.par.squad import read_squad
from paraform_papers.shipped.banking_intents import near_duplicates, two_parts
from paraform_papers.shipped.thinning import thinned

FILES = {  # of each corpus of pairs, and how it is read
    "quora": ("quora/train.tsv", "pairs"),
    "paranmt": ("paranmt/train.tsv", "paranmt"),
    "tatoeba": ("tatoeba/pairs.tsv", "pairs"),
    "mrpc": ("mrpc/msr_paraphrase_train.txt", "labelled-pairs"),
    "pan": ("pan/pan-train.labels", "labelled-pairs"),
    "paws": (PAWS, "labelled-pairs"),
    "banking77": ("banking77/train.csv", ""),
}
ONE_WAY = {"paranmt", "pan"}
"""The first column is what a person wrote, the second a machine's translation back, or a disguise with many slips: only
the first is learned to write."""
OWN_DEV = {"quora": "quora/dev.tsv", "paranmt": "paranmt/dev.tsv"}


@dataclass(frozen=True)
class Alone:
    """Sentences of a corpus that have no partner.

    Args:
        file: of the training part.
        most: how many are looked at, commands first, of which not all can be changed; 0: all.
        least_words, most_words: of a sentence, tokenised. The Penn Treebank's language-model split has no commas, and
            its long sentences are hard to read without.
        ending: the full stop of a corpus that has none.
        framed: the sources are made by sentence frames where one fits.
    """

    file: str
    most: int = 0
    least_words: int = 5
    most_words: int = 24
    ending: str = ""
    framed: bool = False


ALONE = {
    "yelp": Alone("yelp/train.txt", most=40_000, most_words=20),
    "ptb": Alone("ptb/ptb.train.txt", most=6_000, least_words=6, most_words=16, ending="."),
    "squad": Alone("squad/train-part.json", least_words=6),
    "banking77": Alone("banking77/train.csv", least_words=4, framed=True),
}
SQUAD_TESTS = ("squad/dev-part.json", "squad/add_sent.jsonl", "squad/add_one_sent.jsonl")
TESTS = (
    *("quora/dev.tsv", "quora/test.tsv", "paranmt/dev.tsv", "paranmt/test.tsv", "pan/pan-test_s1.txt"),
    *("pan/pan-test_s2.txt", "mrpc/msr_paraphrase_test.txt", "multi30k/dev.tsv", "multi30k/test.tsv"),
    *("stsb/stsb-en-dev.csv", "stsb/stsb-en-test.csv", "sick/SICK_trial.txt", "sick/SICK_test_annotated.txt", "sts"),
    *("senteval", "yelp/valid.txt", "yelp/test.txt", "yahoo/valid.txt", "yahoo/test.txt", "ptb/ptb.valid.txt"),
    *("ptb/ptb.test.txt", "treebank/gum/dev", "treebank/gum/test", "treebank/questionbank"),
)
"""Test and development files of all that is measured, beside SQuAD's, a half of PAWS and a third of Banking77."""
COMMANDS = {"ask", "avoid", "be", "bring", "call", "check", "come", "do", "enjoy", "find", "get", "give", "go", "keep"}
COMMANDS |= {
    "leave",
    "let",
    "look",
    "make",
    "never",
    "order",
    "pay",
    "please",
    "read",
    "remember",
    "run",
    "save",
    "see",
}
COMMANDS |= {"show", "skip", "spend", "stay", "stop", "take", "tell", "think", "trust", "try", "use", "wait"}


def pairs_of(data: Path, corpus: str) -> list[Pair]:
    """The paraphrases of a corpus's training part."""
    file, layout = FILES[corpus]
    if corpus == "banking77":
        return near_duplicates(two_parts(data / file).used.values(), encoders.load("minilm").encode)
    choosing = corpus == "paws"
    read: Iterable[Record] = paws_halves(data / file).choosing if choosing else corpora.read(data / file, layout)
    return [record for record in read if isinstance(record, Pair) and record.label != 0]


def own_dev(data: Path, corpus: str) -> list[Pair]:
    """The pairs of a corpus's development part; none of one that is distributed without."""
    read = corpora.read(data / OWN_DEV[corpus]) if corpus in OWN_DEV else ()
    return [record for record in read if isinstance(record, Pair)]


def sentences(data: Path, corpus: str, *, seed: int, part: float = 1.0) -> list[Sentence]:
    """The different sentences of a corpus that have no partner, commands first, in an order drawn by the seed.

    Of Banking77 those of the used intents.

    Args:
        part: such a share of them.
    """
    path = data / ALONE[corpus].file
    if corpus == "banking77":
        found = [one for utterances in two_parts(path).used.values() for one in utterances]
    elif corpus == "squad":
        contexts = dict.fromkeys(one.context for one in read_squad(path))
        origin = Origin(str(path), 1)  # it is one line
        found = [Sentence(text, origin=origin) for context in contexts for text in sentences_of(context)]
    else:
        found = [record for record in corpora.read(path, "text") if isinstance(record, Sentence)]
    different = list({one.text: one for one in found}.values())
    drawn = random.Random(seed).sample(different, round(part * len(different)))
    return sorted(drawn, key=lambda one: kind_of(one.text) != "command")


def kind_of(text: str) -> str:
    """ "question", "command" or "statement", told by its mark and first word."""
    if text.rstrip().endswith("?"):
        return "question"
    return "command" if text.split(" ")[0].lower() in COMMANDS else "statement"


def sources_of(texts: Sequence[str], usual: Mapping[str, str], *, seed: int, framed: bool) -> list[str]:
    """For each sentence one that says the same in another form, as far as there is one, else a thinned one.

    Args:
        usual: lower-cased word → how it is mostly written.
        framed: where a sentence frame fits, the source is the sentence in another one of its group, drawn by the seed.
    """
    drawn = random.Random(seed)
    tagged = [Tagged(one.tokens, one.tags) for one in annotate(texts)] if framed else []
    forms = [[found.words for found in rewrite(one.words, one.tags) if not found.wrapped] for one in tagged] or [
        []
    ] * len(texts)
    sources = []
    for text, some in zip(texts, forms, strict=True):
        words = tokenize(text)
        other = drawn.choice(some) if some else thinned(words, drawn)
        if other == words:
            other = thinned(words, drawn, left_out=1.0)
        sources.append(detokenize(recase([word.lower() for word in other], usual, words)))
    return sources


def measured_by(data: Path) -> list[str]:
    """The sentences of `TESTS`, of SQuAD's, of PAWS's reporting half and of Banking77's untouched third."""
    there = [data / name for name in TESTS if (data / name).exists()]
    texts = [text for some in read_evaluation_sets(there).values() for text in some]
    for name in SQUAD_TESTS:
        for question in read_squad(data / name) if (data / name).exists() else ():
            texts.append(question.text)
            texts += sentences_of(question.context)
    if (data / PAWS).exists():
        texts += texts_of(paws_halves(data / PAWS).reporting)
    untouched = two_parts(data / FILES["banking77"][0]).untouched
    return [*texts, *(one.text for utterances in untouched.values() for one in utterances)]
