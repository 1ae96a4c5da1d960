"""What the library says, as JSON, and whether another checkout says the same: a refactor proves itself.

    python tools/same_outputs.py OLD.json
    PYTHONPATH=OTHER/src python tools/same_outputs.py NEW.json --against OLD.json --only losses

Three parts: `outputs` (what the embedded models say of 200 real texts), `losses` (of every system, over the first five
steps of a tiny training, and its validation) and `scores` (of every evaluation on a small set). --against gives a line
for each difference (name, index, old, new), and exit status 1 if there is one; numbers may differ by a millionth. Both
runs must be on one machine. What goes or fails is "nothing", and stderr says why. Five minutes of one core.
"""

from __future__ import annotations

import os

os.environ |= {"PARAFORM_PRODUCTS": "float32", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "MPLBACKEND": "Agg"}
if hasattr(os, "sched_setaffinity"):  # so that no command starts a process beside this one
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import argparse
import contextlib
import dataclasses
import hashlib
import importlib
import io
import itertools
import json
import math
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import paraform
from paraform.cli import main as paraform_command

DATA = Path(os.environ.get("PARAFORM_DATA") or Path(__file__).parents[2] / "shared" / "data").resolve()
MOVED = {  # where a module of paraform 0.1.0 is now, if it is no more below `paraform`: edit here when it moves
    "corpora.squad": "paraform_papers.par.squad",
    "trainers.reader": "paraform_papers.par.reader.trainer",
    **{f"trainers.{rival}": f"paraform_papers.rivals.{rival}.trainer"
       for rival in ("averaged", "infersent", "scpn", "sgcp", "vgvae")},
}  # fmt: skip
STEPS, SAME, NOTHING = 5, 1e-6, "nothing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the JSON file to write")
    parser.add_argument("--against", type=Path, help="one that was written before")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts; default: all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    old = json.loads(options.against.read_text(encoding="utf-8")) if options.against else {}
    said: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):  # names of files stand in signatures
        os.environ["PARAFORM_CACHE"] = str(Path(place) / "cache")
        write_files()
        for part in options.only:
            said[part] = dict(PARTS[part]())
    options.out.write_text(json.dumps(said, ensure_ascii=False, indent=1), encoding="utf-8")
    found = [line for part in options.only for line in differences(part, old[part], said[part])] if old else []
    print("".join(f"{line}\n" for line in found), end="")
    return 1 if found else 0


def differences(name: str, old: Any, new: Any, index: str = "") -> Iterator[str]:
    """A line for each: name, index, old, new."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(f"{name}/{key}", old.get(key, NOTHING), new.get(key, NOTHING), index)
    elif isinstance(old, list) and isinstance(new, list):
        for at, pair in enumerate(itertools.zip_longest(old, new, fillvalue=NOTHING)):
            yield from differences(name, *pair, f"{index}.{at}" if index else str(at))
    elif isinstance(old, float) and isinstance(new, float):
        if not (math.isclose(old, new, rel_tol=SAME, abs_tol=1e-9) or (math.isnan(old) and math.isnan(new))):
            yield f"{name}, {index or '-'}, {old!r}, {new!r}"
    elif old != new:
        yield ", ".join([name, index or "-", *(json.dumps(one, ensure_ascii=False)[:300] for one in (old, new))])


def find(module: str, name: str) -> Any:
    """What has that name in a module of paraform 0.1.0, wherever that is by now."""
    try:
        return getattr(importlib.import_module(f"paraform.{module}"), name)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(MOVED[module]), name)


def tried(name: str, ask: Callable[..., Any], *given: Any) -> Iterator[tuple[str, Any]]:
    """The name with its answer; if there is none, the traceback on stderr and nothing here."""
    torch.manual_seed(0)
    try:
        yield name, ask(*given)
        print(f"{time.process_time():.0f} s of one core: {name}", file=sys.stderr)
    except Exception:
        print(f"{name}: {traceback.format_exc()}", file=sys.stderr)


def command(given: str) -> dict[str, Any]:
    """What `paraform … --json` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = paraform_command([*given.split(), "--json", "--device", "cpu"])
    if status:
        raise RuntimeError(f"exit status {status}: {err.getvalue()[-500:]}")
    return dict(json.loads(out.getvalue()))


def drawn(file: str, num: int) -> list[str]:
    """So many lines of a data file, by a fixed seed; one each, in the file's order."""
    lines = list(dict.fromkeys((DATA / file).read_text(encoding="utf-8").splitlines()[1:]))
    return [lines[at] for at in sorted(random.Random(0).sample(range(len(lines)), num))]


def write_files() -> None:
    """The files that commands read, in the working folder."""
    quora, tatoeba = drawn("quora/test.tsv", 100), drawn("tatoeba/pairs.tsv", 50)
    texts = [line.split("\t")[0] for line in [*quora[:50], *tatoeba]]
    texts += [line.rpartition(",")[0].strip('"') for line in drawn("banking77/train.csv", 50)]
    texts += drawn("yelp/test.txt", 50)
    files = {"texts.txt": texts, "sources.txt": texts[:60], "two.txt": texts[50:52], "ten.txt": texts[45:55]}
    files |= {"sentences.txt": texts[150:], "questions.txt": quora[:20]}
    files |= {"exemplars.txt": [line.split("\t")[1] for line in quora[40:]]}
    sets = "stsb/stsb-en-test.csv mrpc/msr_paraphrase_test.txt senteval/custrev.pos senteval/custrev.neg"
    files |= {name: drawn(name, 100) for name in sets.split()}
    files["mrpc/msr_paraphrase_test.txt"].insert(0, "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String")
    files["treebank/trees.mrg"] = drawn("treebank/questionbank/4000qs.mrg", 300)
    files["twenty.mrg"] = files["treebank/trees.mrg"][:20]
    for name, lines in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def outputs() -> Iterator[tuple[str, Any]]:
    """What the embedded models say."""
    texts = Path("texts.txt").read_text(encoding="utf-8").splitlines()
    for name in ("minilm", "minilm-disentangled", "minilm-par", "compact", "latent-compact"):
        model = paraform.load(name, device="cpu")
        yield f"embed {name}: vectors", list(model.vector_names)
        for kind in model.vector_names:
            for title, values in tried(f"embed {name} {kind}", model.embed, texts, kind):
                yield f"{title}: SHA-256", [hashlib.sha256(row.astype("<f4").tobytes()).hexdigest() for row in values]
                yield f"{title}: first number", values[:, 0].tolist()  # tells rounding from a change
    for head in ("syntax", "syntax-all"):
        yield from tried(f"tag {head}", command, f"tag texts.txt --tagger {head}")
        yield from tried(f"parse {head}", command, f"parse texts.txt --parser {head}")
    yield from tried("paraphrase", command, "paraphrase sources.txt --like exemplars.txt --model compact")
    yield from tried("reword by rules", reworded_by_rules, texts)
    for given in ("sample --num 20", "interpolate two.txt", "reconstruct ten.txt"):
        yield from tried(given, command, given)


def reworded_by_rules(texts: list[str]) -> list[Any]:
    """The default rewording without any decoder: three of each text, with checks and scores, or the reason."""
    if hasattr(paraform, "reword"):
        found = paraform.reword(texts, num=3)
    else:  # 0.1.0
        tools = dataclasses.replace(paraform.load("compact", device="cpu").tools, decode=None, source_given=None)
        found = find("rewording.reword", "reword")(texts, tools, num=3)
    return [[each.reason, *([c.text, dict(c.checks), float(c.score)] for c in each.candidates)] for each in found]


OBJECTIVES = ["ae", "vae", "vae+contrast", "savae", "lagvae", "ivae", "ivae_mi", "clvae", "clvae_mi", "clvae+_mi"]
RUNS = {  # by system: presets ("": the class's own), objectives, or keys of VARIANTS
    "averaged": [""],
    "disentangled": ["paper", "reference", "compact", "contrast"],
    "exemplar": ["paper", "reference", "shipped", "transformer"],
    "infersent": ["", "pooled"],
    "latent": [*OBJECTIVES, "paper", "reference", "shipped"],
    "reader": [""],
    "retrofit": ["", "paper", "reference", "shipped"],
    **{system: ["paper", "reference", "compact"] for system in ("scpn", "seq2seq", "sgcp")},
    "vgvae": ["paper", "reference", "compact", "averages"],
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {  # a preset, and what differs from it
    "contrast": ("compact_paper", {"contrast_weight": 1.0, "distance_weight": 0.5, "role_negatives": 1.0}),
    "transformer": ("compact", {"decoder": "transformer", "coverage": False, "decoder_heads": 2, "copy_onward": True,
                    "units": "pieces", "spell": True, "content_input": "states", "style_pooling": "mean"}),
    "pooled": ("first", {"word_vectors": "minilm"}),
    "averages": ("paper", {"form": "averages"}),
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "averaged": {"width": 8, "vocabulary_size": 300, "megabatch": 2, "epochs": 3},
    "disentangled": {"encoder": "bart", "max_tokens": 64},
    "exemplar": {"word_width": 16, "content_width": 12, "decoder_width": 16, "style_width": 8, "min_count": 1},
    "infersent": {"hidden_width": 8, "classifier_width": 8},
    "latent": {"word_width": 16, "hidden_width": 16, "latent_width": 4, "critic_width": 16, "vocabulary_size": 300},
    "reader": {"width": 8, "linear": 12},
    "scpn": {"word_width": 12, "label_width": 8, "encoder_width": 8, "decoder_width": 12,
             "generator_label_width": 8, "generator_width": 12, "parser": "syntax", "min_count": 1},
    "seq2seq": {"max_pieces": 256, "max_written": 64, "warmup": 2, "accumulation": 1, "parser": "syntax"},
    "sgcp": {"word_width": 12, "width": 12, "parser": "syntax", "min_count": 1},
    "vgvae": {"word_width": 12, "semantic_width": 6, "syntax_width": 6, "hidden_width": 8, "encoder_width": 8,
              "decoder_width": 12, "min_count": 1, "epochs": 2},
}  # fmt: skip
SHIPPED = {"exemplar": "compact", "latent": "latent-compact", "retrofit": "minilm-par"}  # whose configs are presets


def losses() -> Iterator[tuple[str, Any]]:
    """Every system's, over the first steps."""
    write_bart(Path("bart"))
    for system, run in ((system, run) for system, runs in RUNS.items() for run in runs):
        for name, log in tried(f"{system} {run or 'default'}", trained, system, run):
            for record in log:
                (split,) = record.keys() - {"step"}
                for term, value in record[split].items():
                    yield f"{name}: {split} {term} at step {record['step']}", value


def trained(system: str, run: str) -> list[dict[str, Any]]:
    """The records of the first steps of a training, and its last one, of the validation."""
    train = find(f"trainers.{system}", f"train_{system}")
    module, options = sys.modules[train.__module__], train.__kwdefaults__ or {}
    usual = getattr(module, "TRAINER", None)  # the reader has none
    loop = options.get("loop", usual and usual.loop)  # signatures had it before `RunOptions`
    often = {"log_every": 1, "evaluate_every": 10**6, "patience": 0, "tensorboard": False, "progress": "never"}
    given: dict[str, Any] = {"loop": dataclasses.replace(loop, **often, seed=0, device="cpu")}
    given |= {"validation_rows": 4} if "validation_rows" in options else {}
    given |= {"model": "bart"} if system == "seq2seq" else {}
    made = next(value for name, value in vars(module).items() if name.lower() == f"{system}config")
    records, folder = examples(system, module), Path(f"{system} {run}")
    train(records[12:], folder, validation=records[:12], config=configured(made, system, run), **given)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [*(record for record in log[:-1] if record["step"] <= STEPS), log[-1]]


def configured(made: Any, system: str, run: str) -> Any:
    """A small configuration; fields that the class does not have (any more) are left out."""
    preset, fields = VARIANTS.get(run, (run, {}))
    fields = {"batch_size": 8, "epochs": 1, **SMALL.get(system, {}), **fields}
    if run == "shipped":
        about = Path(find("checkpoint", "__file__")).parents[1] / "pretrained" / SHIPPED[system] / "paraform.json"
        base, fields = made, {**json.loads(about.read_text(encoding="utf-8"))["config"], **fields}
    elif run in OBJECTIVES:
        base = made().with_objective(run)
    else:
        start = getattr(made, preset) if preset else made
        base = start(fields["form"]) if "form" in fields else start()
    known = {name: value for name, value in fields.items() if name in {one.name for one in dataclasses.fields(made)}}
    return base(**known) if run == "shipped" else dataclasses.replace(base, **known)


def examples(system: str, module: Any) -> list[Any]:
    """What a system learns from here: sentences, judged pairs, questions on a text, or pairs of questions."""
    if system == "latent":
        return drawn("yelp/train.txt", 72)
    if system == "infersent":
        labels = {"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2}
        rows = (line.split("\t") for line in drawn("sick/SICK_trial.txt", 72))
        return [module.LabelledText(row[1], row[2], labels[row[4]], "") for row in rows]
    if system == "reader":
        return list(itertools.islice(find("corpora.squad", "read_squad")(DATA / "squad/dev-part.json"), 72))
    rows = (line.split("\t") for line in drawn("quora/train.tsv", 72))
    return list(paraform.clusters(paraform.Pair(*map(paraform.Sentence, row)) for row in rows))


def write_bart(folder: Path) -> None:
    """A BART of random weights, whose pieces are bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import BartConfig, BartForConditionalGeneration

    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({piece: row for row, piece in enumerate(pieces)}, [], unk_token="<unk>"))
    tokenizer.add_special_tokens(pieces[:4])
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    torch.manual_seed(0)
    sizes = {f"{half}_{name}": 2 for half in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    sizes |= {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "d_model": 16, "max_position_embeddings": 256}
    config = BartConfig(vocab_size=len(pieces), init_std=0.1, **sizes)  # whose special tokens have these numbers
    BartForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))


EVALUATIONS = """
    generation --model compact --data questions.txt --resamples 20 --parser syntax
    style --model compact --data questions.txt --queries 10
    syntax --data twenty.mrg --parser syntax
    similarity --data stsb --resamples 20 --model minilm minilm-par
    robustness --data mrpc/msr_paraphrase_test.txt --resamples 20 --floors words
    distances --data mrpc/msr_paraphrase_test.txt --resamples 20 --model minilm-par --against minilm
    probing --data treebank --floors words --protocol default paper
    transfer --data senteval --resamples 20 --floors words --protocol default paper
    latent --model latent-compact --data sentences.txt --samples 16 --no-refit
"""


def scores() -> Iterator[tuple[str, Any]]:
    """Of every evaluation on a small set."""
    for given in EVALUATIONS.strip().splitlines():
        for title, found in tried(given.split()[0], command, f"evaluate {given}"):
            for score in found["scores"]:
                keys = [score[key] for key in ("name", "system", "protocol", "subset") if score.get(key)]
                yield f"{title}: {', '.join(keys)}", [score["value"], score["signature"]]


PARTS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {"outputs": outputs, "losses": losses, "scores": scores}

if __name__ == "__main__":
    sys.exit(main())
