"""What `fuzz.py` does to files: the readers', a model's, an encoder's, a run's, an index's."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from paraform.records import InputError

LONGEST = 1000  # characters of a refusal
Attempt = Callable[[random.Random, Path], bool]
"""One try in an empty folder: whether it was answered; False if it was refused. Raises: anything else is a finding."""


TOLD: list[str] = []  # of the try in hand: what was called, and the refusal


class Wrong(Exception):
    """An answer, and not the right one."""


def answered(call: Callable[[], object], right: Callable[[Any], bool] = lambda _: True) -> bool:
    """Whether the call was answered, rightly; False if it was refused in one line."""
    try:
        value = call()
    except OSError as error:  # as documented for what cannot be written; the command line makes one line of it
        if error.strerror is None:
            raise
        TOLD.append(f"{error}")
        return False
    except InputError as error:
        TOLD.append(str(error))
        if "\n" in str(error) or not 0 < len(str(error)) <= LONGEST:
            raise Wrong(f"a refusal that is no line: {str(error)[:300]!r}") from error
        return False
    if not right(value):
        raise Wrong(f"answered with {str(value)[:300]!r}")
    return True


PIECES = [
    *b'\0 \xff \xed\xa0\x80 \r \r\n \n\n \t \t\t " "" \' \\ \\ud800 { } [ ] ( ) , : nan -1 1e999 null true'.split(b" "),
    *b"\xef\xbb\xbf \xc2\x85 \xe2\x80\xa8 \x1b[0m (( -LRB- <unk> </s> \xf0\x9f\xaa\x9e 9223372036854775808".split(b" "),
    *(b"9" * 400, b"[" * 950, b'{"a":' * 200, b"word " * 30_000, b"(S " * 2000, b" ", b"1" * 30),
]


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """The content after one to three changes of bytes, lines or pieces."""
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        start = draw.randrange(len(made) + 1)
        end = min(len(made), start + draw.choice((1, 2, 8, 64, 512)))
        kind = draw.randrange(8)
        if kind == 0 and made:
            made[min(start, len(made) - 1)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del made[start:end]
        elif kind == 2:
            made[start:start] = made[start:end] * draw.choice((1, 2, 100))
        elif kind == 3:
            made[start:end] = draw.randbytes(end - start)
        elif kind == 4:
            del made[start:]
        elif kind == 5:
            lines = made.splitlines(keepends=True)
            draw.shuffle(lines)
            made = bytearray(b"".join(lines))
        else:
            made[start : end if kind == 6 else start] = draw.choice(PIECES)
    return bytes(made)


PLAIN = (None, True, -1, 0, 1.5, 2**63, 10**30, -(10**30), 10**9, 1e308, "", "x", "\ud800", "a\0b", "../x", "9" * 400)
VALUES: tuple[Callable[[], Any], ...] = (
    *((lambda value=value: value) for value in PLAIN),
    *(lambda: {}, lambda: [], lambda: [None], lambda: [[[]]], lambda: {"a": None}, lambda: ["\ud800"]),
)


def changed_json(value: Any, draw: random.Random) -> Any:
    """The value with something else, or nothing, at one place of it."""
    places: list[tuple[Any, Any]] = []
    below = [value]
    while below:
        one = below.pop()
        for key in one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ():
            places.append((one, key))
            below.append(one[key])
    holder, key = draw.choice(places)
    if draw.random() < 0.2:
        del holder[key]
    else:
        holder[key] = draw.choice(VALUES)()
    return value


PIPES = ("model", "last", "encoder", "index")  # of a corpus a pipe is waited for, as it should be: <(zcat FILE)


def change_file(path: Path, draw: random.Random) -> None:
    """A file of a folder is gone, a pipe, a folder, or its content has changed."""
    if not path.is_file():
        return
    kind = draw.randrange(20)
    content = path.read_bytes()
    if kind < 3:
        path.unlink()
        if kind == 1 and path.parent.name in PIPES:
            os.mkfifo(path)
        elif kind == 2:
            path.mkdir()
    elif path.suffix == ".json" and kind < 14:
        path.write_text(json.dumps(changed_json(json.loads(content), draw)))
    elif path.suffix == ".npy" and kind < 12:  # one number of it is another
        array = np.load(path)
        if array.size:
            array.reshape(-1)[draw.randrange(array.size)] = draw.choice((0, 1, 2, 200, np.iinfo(array.dtype).max))
        np.save(path, array)
    elif path.suffix in (".safetensors", ".npy") and kind < 16:  # most of it is numbers, and its head is what is read
        path.write_bytes(changed_bytes(content[:600], draw) + content[600:])
    else:
        path.write_bytes(changed_bytes(content, draw))


PAIR_LINES = "".join(f"How do I {verb} chess ?\tWhat is the way to {verb} chess{mark}\n" for verb in
                     ("learn", "teach", "“play”", "naïvely play") for mark in ("?", " 😀 ?"))  # fmt: skip
SQUAD = {"data": [{"title": "t", "paragraphs": [{"context": "The dog runs home.", "qas": [
    {"id": "1", "question": "Who runs?", "answers": [{"text": "The dog", "answer_start": 0}]}]}]}]}  # fmt: skip
JSON_LINES = (
    '{"source": "a b", "target": {"text": "b a", "tokens": ["b", "a"], "tags": ["NN", "DT"]}, "score": 0.5}\n'
    '{"source": "a", "exemplar": "c d", "target": "b", "distance": 3, "cluster": 1}\n'
    '{"text": "x", "tree": "(S (NN x))"}\n'
)
TABLE = 'id,text,label\n1,"a ""b"", c",x\n2,how do I learn?,y\n'
PROBING = "".join(f"{part}\t{label}\tthe dog runs {n}\n" for part in ("tr", "va", "te") for label in "IO" for n in "12")
# name of the file, its content, and the module and function that read it
FILES: tuple[tuple[str, str, str], ...] = (
    ("pairs.tsv", PAIR_LINES, "pairs"),
    ("quora.tsv", 'id\tquestion1\tquestion2\tis_duplicate\n0\t"a\tb ""c"""\tb ?\t1\n1\tx\ty\t0\n', "quora"),
    ("labelled.tsv", "sentence1\tsentence2\tlabel\na b\tb a\t1\nc d\te f\t0\n", "labelled-pairs"),
    ("pan.labels", "1\n0\n", "labelled-pairs"),
    ("paranmt.txt", "a b\tb a\t0.91\nc\td\t0.5\n", "paranmt"),
    ("captions.tsv", "a man runs\tthe man is running\trunning\nb c\tc b\n", "captions"),
    ("triples.tsv", "a b\tc d\tb a\ne\tf\tg\n", "triples"),
    ("texts.txt", "The dog runs .\nIt is 5' 8\" (long) – naïve 😀\n", "text"),
    ("yahoo.tsv", "3\tthe dog runs\n1\thow so ?\n", "labelled"),
    ("records.jsonl", JSON_LINES, "jsonl"),
    ("squad.json", json.dumps(SQUAD), "paraform_papers.par.squad.read_squad"),
    ("trees.mrg", "( (S (NP (DT the) (NN dog)) (VP (VBZ runs)) (. .)) )\n(ROOT (NP (-NONE- *) (NN x)))\n",
     "treebank.read_treebank"),
    ("sick.txt", "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n1\ta b\tb a\t4.5\n", "scored.read_scored"),
    ("sts.csv", "sentence1,sentence2,score\na,\"b, c\",3.5\nd,e,\n", "scored.read_scored"),
    ("probing.txt", PROBING, "probing.read_probing"),
    ("table.csv", TABLE, "tables.read_table"),
    ("table.tsv", TABLE.replace(",", "\t"), "tables.read_table"),
    ("table.jsonl", '{"text": "a b", "n": 1}\n{"text": "c", "n": null}\n', "tables.read_table"),
    ("any.txt", "DESC:manner how so ?\nHUM:ind who is it ?\n", "evaluation_sets.read_evaluation_texts"),
    ("any.csv", TABLE, "evaluation_sets.read_evaluation_texts"),
    ("vectors.txt", "2 3\nthe 0.1 0.2 -3e-1\ndog 1 2 3\n", ""),
)  # fmt: skip


def files(folder: Path) -> Attempt:
    from paraform import corpora, encoders
    from paraform.records import Pair, Sentence, Triple, from_json, to_json

    def attempt(draw: random.Random, scratch: Path) -> bool:
        name, content, how = draw.choice(FILES)
        (scratch / "pan_s1.txt").write_text("a b\nc\n")
        (scratch / "pan_s2.txt").write_text("b a\nd\n")
        path = scratch / name
        path.write_bytes(content.encode())
        if draw.random() > 0.02:
            change_file(path, draw)
        skip = draw.random() < 0.4
        if not how:
            return answered(lambda: encoders.load_embedder(str(path), device="cpu").embed(["the dog", "x"]))
        if "." not in how:

            def whole(records: Sequence[Any]) -> bool:
                kinds = all(isinstance(record, (Pair, Sentence, Triple)) for record in records)
                return kinds and [from_json(json.loads(json.dumps(to_json(one)))) for one in records] == list(records)

            return answered(lambda: list(corpora.read(path, how, skip_bad_lines=skip)), whole)
        module, _, function = how.rpartition(".")
        place = module if module.startswith("paraform_papers") else f"paraform.corpora.{module}"
        reader = getattr(importlib.import_module(place), function)
        return answered(lambda: list(getattr(read := reader(path), "rows", read)))

    return attempt


TEXTS = [f"{first} {second} {third}" for first in ("the", "my") for second in ("dog", "cat", "big cat") for third in
         ("runs", "sleeps", "likes tea")]  # fmt: skip
TINY = {"word_width": 8, "hidden_width": 8, "latent_width": 3, "epochs": 2, "batch_size": 8, "min_count": 1}


def tiny_encoder(folder: Path) -> str:
    """A BERT of random weights that knows the words of `TEXTS`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = [*special, *sorted({word for text in [*TEXTS, PAIR_LINES] for word in text.lower().split()})]
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(special)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


def tiny_training(folder: Path, *, resume: bool = False, **given: Any) -> Any:
    """A run of four steps in that folder, or what is left of it."""
    import paraform
    from paraform.trainers.latent import EACH_EPOCH

    loop = replace(EACH_EPOCH, device="cpu", tensorboard=False, progress="never")
    known: dict[str, Any] = {"texts": TEXTS, "validation": TEXTS[:6], "config": paraform.LatentConfig.compact(**TINY)}
    return paraform.train_latent(folder=folder, loop=loop, resume=resume, **known | given)


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """Runs draw no curves in the block."""
    from paraform.training.journal import Journal

    draw = Journal.draw
    Journal.draw = lambda *_, **__: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Journal.draw = draw  # type: ignore[method-assign]


def sign(folder: Path) -> None:
    """`paraform.json` as somebody would write it who changed other files, or itself, and knows how it is made."""
    from paraform import manifest

    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, OSError):  # what makes no such file
        value = json.loads((folder / manifest.NAME).read_bytes())
        value["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in value["files"]}
        fields = {name: value[name] for name in value if name not in ("format", "digest")}
        (folder / manifest.NAME).write_text(manifest._text(manifest.Manifest(**fields)))


def checkpoints(folder: Path) -> Attempt:
    import paraform

    tiny_training(folder / "run")
    shutil.copytree(folder / "run" / "best", folder / "model")
    tiny_encoder(folder / "encoder")
    right = paraform.load(folder / "model", device="cpu").embed(TEXTS)

    def attempt(draw: random.Random, scratch: Path) -> bool:
        kind = draw.choice(("model", "model", "run", "encoder", "encoder"))
        made = Path(shutil.copytree(folder / kind, scratch / kind))
        place = made / "last" if kind == "run" else made
        change_file(draw.choice([path for path in sorted(place.iterdir()) if path.is_file()]), draw)
        signed = draw.random() < 0.7
        if signed and all(path.is_file() for path in place.iterdir()):
            sign(place)
        if kind == "run":
            with contextlib.nullcontext() if draw.random() < 1 / 8 else undrawn():  # most of such a try's time
                return answered(lambda: tiny_training(made, resume=True), lambda result: result.ended == "finished")

        def same(vectors: Any) -> bool:
            finite = vectors.shape[0] == len(TEXTS) and np.isfinite(vectors).all()
            return bool(finite and (kind == "encoder" or signed or np.array_equal(vectors, right)))

        return answered(lambda: paraform.load(made, device="cpu").embed(TEXTS), same)

    return attempt


def tagged_texts() -> list[Any]:
    from paraform.records import Sentence

    tags = {"the": "DT", "my": "PRP$", "big": "JJ", "tea": "NN", "dog": "NN", "cat": "NN"}
    words = [text.split() for text in TEXTS]
    return [Sentence(" ".join(one), tuple(one), tuple(tags.get(word, "VBZ") for word in one)) for one in words]


def indexes(folder: Path) -> Attempt:
    from paraform.syntax import ExemplarIndex, index_folder

    index = ExemplarIndex.build(tagged_texts())
    index.save(folder / "index")
    right = index.nearest(tagged_texts())

    def attempt(draw: random.Random, scratch: Path) -> bool:
        made = Path(shutil.copytree(folder / "index", scratch / "index"))
        change_file(draw.choice(sorted(made.iterdir())), draw)
        signed = draw.random() < 0.6
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, OSError):
            if signed and all(path.is_file() for path in made.iterdir()):
                about = json.loads((made / index_folder.NAME).read_bytes())
                found = {name: hashlib.sha256((made / file).read_bytes()) for name, file in about["arrays"].items()}
                about |= {"digests": {name: digest.hexdigest() for name, digest in found.items()}}
                about["digest"] = index_folder._digest({key: about[key] for key in about if key != "digest"})
                (made / index_folder.NAME).write_text(json.dumps(about))

        def read() -> Any:
            loaded = ExemplarIndex.load(made)
            return [[loaded.text(row) for row in range(len(TEXTS))], loaded.nearest(tagged_texts())]

        return answered(read, lambda found: signed or found == [TEXTS, right])

    return attempt
