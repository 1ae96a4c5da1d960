"""What `fuzz.py` does to calls: an argument of the public API is nonsense, or valid in another form."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fuzz_files import PAIR_LINES, TEXTS, TINY, TOLD, VALUES, Attempt, Wrong, answered, tagged_texts, tiny_encoder
from fuzz_files import tiny_training as train_latent


class Odd:
    """What has no sensible string."""

    def __str__(self) -> str:
        return "line\nline"

    __repr__ = __str__


NONSENSE: tuple[Callable[[Any], Any], ...] = (
    *((lambda valid, make=make: make()) for make in VALUES),
    *((lambda valid, value=value: value) for value in (float("nan"), float("inf"), b"x", -2, 2, 0.5, "minilm", "\n")),
    lambda valid: Odd(),
    lambda valid: object,
    lambda valid: print,
    lambda valid: range(3),
    lambda valid: Path("nowhere"),
    lambda valid: [*valid, None],
    lambda valid: [*valid, *valid],
    lambda valid: [valid, valid],
    lambda valid: valid[:1],
    lambda valid: [1.5] * len(valid),
    lambda valid: {one: one for one in valid},
    lambda valid: np.array(valid),
    lambda valid: torch.zeros(2, 3),
    lambda valid: type(valid)(),
)
ALIKE: tuple[Callable[[Any], Any], ...] = (iter, tuple, lambda valid: (one for one in valid))
"""Other forms of a valid list, of which the answer is the same, if there is one."""


def calls(folder: Path) -> list[tuple[int, Callable[..., Any], dict[str, Any]]]:
    """Of the public API: how often each is tried, what is called, and valid arguments; `folder` is filled in."""
    import paraform
    import paraform_papers
    from paraform import MiningConfig, Pair, Sentence, Triple, encoders
    from paraform.records import from_json, to_json
    from paraform.trainers.disentangled import BY_MRR
    from paraform.trainers.exemplar import BY_BLEU
    from paraform.trainers.retrofit import BY_RATIO
    from paraform.training.journal import Journal

    Journal.draw = lambda *_, **__: None  # type: ignore[method-assign] # longer than a tiny run
    encoder = tiny_encoder(folder / "encoder")
    latent, known = paraform.load("latent-compact", device="cpu"), encoders.load(encoder, device="cpu")
    exemplar = paraform.load("compact", device="cpu")
    reworder = paraform.Reworder.default(paraphraser=exemplar)
    tagger, parser = paraform.load_tagger(device="cpu"), paraform.load_parser(device="cpu")
    two, words = ["How old are you ?", "my dog sleeps"], [["my", "dog", "sleeps"], ["How", "so", "?"]]
    sentences, pairs = tagged_texts(), [Pair(*(Sentence(side) for side in line.split("\t"))) for line in
                                        PAIR_LINES.splitlines()]  # fmt: skip
    mined = [Pair(sentences[row], sentences[row + 1], cluster=row) for row in range(0, 16, 2)]
    index = paraform.ExemplarIndex.build(sentences)
    tree = paraform.Tree.parse("(S (NP (PRP$ my) (NN dog)) (VP (VBZ sleeps)))")
    rows = [paraform.GenerationRow(text, text, (text,), text, row) for row, text in enumerate(TEXTS[:4])]
    how: dict[str, Any] = {
        "beam": 1,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 1,
        "batch_size": 4,
        "constrain_repetition": True,
    }
    how["constrain_repetition"] = True
    drawn: dict[str, Any] = {name: how[name] for name in ("temperature", "top_p", "seed", "batch_size")}
    quick = {"device": "cpu", "tensorboard": False, "progress": "never"}
    train: dict[str, Any] = {"folder": ..., "against": [], "card": "c", "data_digests": {}, "resume": False}

    def read(**given: Any) -> Any:
        return list(paraform.read(**given))

    return [
        (3, Sentence, {"text": "a b", "tokens": ("a", "b"), "tags": ("X", "Y"), "tree": "(S (X a) (Y b))"}),
        (3, Pair, {"source": Sentence("a"), "target": Sentence("b"), "label": 1, "score": 0.5, "cluster": 2}),
        (3, Triple, {"source": Sentence("a"), "exemplar": Sentence("c"), "target": Sentence("b"), "distance": 1}),
        (2, to_json, {"record": pairs[0]}),
        (2, from_json, {"value": {"source": "a", "target": "b"}}),
        (2, paraform.tokenize, {"text": two[0]}),
        (2, paraform.detokenize, {"words": words[0]}),
        (3, paraform.Tree.parse, {"text": str(tree)}),
        (3, read, {"path": folder / "encoder" / "config.json", "format": "text", "skip_bad_lines": True}),
        (3, paraform.write_jsonl, {"written": pairs, "path": ...}),
        (3, paraform.clusters, {"pairs": pairs}),
        (3, paraform.overlap, {"training": TEXTS, "evaluation": TEXTS[:2]}),
        (3, paraform.without_overlap, {"records": pairs, "evaluation": two}),
        (3, paraform.ExemplarIndex.build, {"sentences": sentences, "clusters": list(range(len(TEXTS)))}),
        (3, index.nearest, {"targets": sentences[:3], "config": MiningConfig(), "k": 2, "sources": sentences[1:4],
                            "clusters": [1, 2, 3], "rows": [0, 1, 2]}),
        (1, index.save, {"folder": ...}),
        (1, index.text, {"row": 2}),
        (3, paraform.mine, {"pairs": mined, "config": MiningConfig(), "threads": 1}),
        (2, paraform.load, {"name": encoder, "device": "cpu"}),
        (1, paraform.load_tagger, {"name": "syntax", "device": "cpu"}),
        (1, paraform.load_parser, {"name": "syntax", "device": "cpu"}),
        (3, lambda sentences: tagger(sentences), {"sentences": words}),
        (3, lambda sentences: parser(sentences), {"sentences": words}),
        (3, known.encode, {"texts": two, "layer": 1, "pooling": "mean", "normalize": True, "batch_tokens": 64}),
        (3, known.embed, {"texts": two, "name": "", "batch_size": 4, "seed": 0}),
        (2, known.states, {"texts": two, "layers": [1], "batch_tokens": 64}),
        (2, known.word_states, {"sentences": words, "layers": [1], "batch_tokens": 64}),
        (1, known.fitting, {"sentences": words}),
        (1, known.count_tokens, {"texts": two}),
        (2, known.export, {"folder": ..., "onnx": False, "terms": "t"}),
        (3, exemplar.content, {"texts": two, "batch_size": 4}),
        (3, exemplar.style, {"texts": two, "batch_size": 4}),
        (2, exemplar.embed, {"texts": two, "name": "style", "batch_size": 4, "seed": 0}),
        (4, exemplar.paraphrase, {"sources": two, "like": two, "each": False, "num": 1} | how),
        (2, exemplar.decode, {"sources": two, "exemplars": two} | drawn),
        (3, exemplar.exemplars, {"sources": two, "like": [two, two], "each": False, "num": 2, "seed": 0}),
        (2, paraform.reword, {"texts": two[:1], "num": 1, "force": False, "model": None, "device": "cpu"}),
        (2, reworder.assess, {"texts": two, "outputs": two, "exemplars": two}),
        (2, exemplar.log_likelihood, {"targets": two, "sources": two, "exemplars": two, "batch_size": 4}),
        (3, latent.sample, {"count": 2} | drawn),
        (3, latent.interpolate, {"first": "a cat", "second": "a dog", "steps": 3} | drawn),
        (2, latent.reconstruct, {"texts": two} | drawn),
        (2, latent.encode, {"texts": two, "batch_size": 4}),
        (2, latent.vectors, {"texts": two, "samples": 3, "seed": 0, "batch_size": 4}),
        (1, latent.unknown, {"texts": two}),
        (1, latent.words, {"text": two[0]}),
        (2, paraform.save, {"model": latent, "folder": ..., "card": "c", "scores": [], "data_digests": {}, "seed": 1,
                            "dtype": "float16"}),
        (2, paraform.evaluate_generation, {"paraphrase": lambda sources, likes: list(sources), "rows": rows,
            "tag": tagger, "embed": known.embed,
            "settings": paraform.GenerationSettings(("first",), resamples=5)}),
        (1, paraform.GenerationSettings, {"protocols": ("first",), "max_tokens": 15, "resamples": 5, "seed": 0,
            "name": "m", "bleu_tokenize": "none"}),
        (2, paraform.evaluate_style, {"sources": TEXTS[:4], "targets": TEXTS[4:8], "clusters": [0, 1, 2, 3],
            "tag": tagger, "content": known.embed, "style": known.embed,
            "settings": paraform.StyleSettings(top=2, queries=2)}),
        (1, paraform.StyleSettings, {"name": "m", "max_tokens": 15, "top": 2, "queries": 2, "seed": 0}),
        (2, paraform.evaluate_syntax, {"gold": [tree], "found": [tree], "parser": "p", "data": "d",
            "groups": {"a": [0]}}),
        (1, paraform.evaluate_latent, {"model": latent, "texts": TEXTS[:4], "name": "m", "samples": 4, "seed": 0,
            "bound_samples": 4, "refit": False}),
        (2, paraform.TrainingConfig, {"steps": 3, "average_last": 0.5, "metric": "loss", "device": "cpu"}),
        (1, paraform.erase, {"encoder": encoder, "texts": TEXTS, "folder": ..., "erased": "form", "seed": 0,
            "terms": "t", "parser": "syntax", "device": "cpu"}),
        (1, paraform.distil, {"encoder": encoder, "texts": [f"{text} {row}" for row in range(90) for text in TEXTS],
            "folder": ..., "seed": 0, "terms": "t", "device": "cpu"}),
        (2, train_latent, {"validation": TEXTS[:6], "texts": TEXTS,
            "config": paraform.LatentConfig.compact(**TINY)} | train),
        (1, paraform.train_retrofit, {"pairs": pairs, "validation": pairs[:3], "shares": (),
            "config": paraform.RetrofitConfig(encoder=encoder, epochs=1), "loop": replace(BY_RATIO, **quick)} | train),
        (1, paraform.train_disentangled, {"pairs": pairs, "validation": pairs[:3], "parser": "syntax", "shares": (),
            "config": paraform.DisentangledConfig.compact(encoder=encoder, epochs=1),
            "loop": replace(BY_MRR, **quick)} | train),
        (1, paraform.train_exemplar, {"pairs": pairs, "validation": pairs[:3], "validation_rows": 2, "tagger": "syntax",
            "config": paraform.ExemplarConfig.compact(word_width=8, content_width=8, decoder_width=8, style_width=8,
                epochs=1, min_count=1, word_vectors="random"), "loop": replace(BY_BLEU, **quick)} | train),
        (1, paraform_papers.train_scpn, {"pairs": pairs, "validation": pairs[:3], "validation_rows": 2,
            "config": paraform_papers.ScpnConfig.compact(word_width=8, label_width=4, encoder_width=8, decoder_width=8,
                generator_label_width=4, generator_width=8, epochs=1, min_count=1, parser="syntax"),
            "loop": replace(BY_BLEU, **quick)} | train),
        (1, paraform_papers.train_sgcp, {"pairs": pairs, "validation": pairs[:3], "validation_rows": 2,
            "config": paraform_papers.SgcpConfig.compact(word_width=8, width=8, epochs=1, min_count=1, parser="syntax"),
            "loop": replace(BY_BLEU, **quick)} | train),
        (1, paraform_papers.train_vgvae, {"pairs": pairs, "validation": pairs[:3], "validation_rows": 2,
            "tagger": "syntax", "config": paraform_papers.VgvaeConfig.compact(word_width=8, semantic_width=4,
                syntax_width=4, hidden_width=8, encoder_width=4, decoder_width=8, epochs=1, min_count=1,
                word_vectors="random"),
            "loop": replace(BY_BLEU, **quick)} | train),
    ]  # fmt: skip


def python(folder: Path) -> Attempt:
    known = calls(folder)

    def attempt(draw: random.Random, scratch: Path) -> bool:
        ((_, call, valid),) = draw.choices(known, [often for often, _, _ in known])
        given = {name: scratch / "made" if value is ... else value for name, value in valid.items()}
        names = [name for name in sorted(given) if not isinstance(given[name], bool)]  # anything is true or false
        name = draw.choice(names)
        alike = isinstance(valid[name], list) and draw.random() < 0.3
        form = draw.choice(ALIKE if alike else NONSENSE)
        try:
            changed = form(given[name])
        except (TypeError, ValueError, AttributeError):  # no such change of this
            changed = None
        if callable(valid[name]) and callable(changed):  # whatever that one answers
            changed = None
        said = getattr(call, "__qualname__", str(call)).split(".<locals>.")[-1]
        TOLD.append(f"{said}({name}={changed!r:.60})")
        here = os.getcwd()
        os.chdir(scratch)
        try:
            done = answered(lambda: consumed(call(**given | {name: changed})))
        finally:
            os.chdir(here)
        if not done and (left := sorted(path.name for path in scratch.rglob("*") if path.is_file())):
            raise Wrong(f"refused, and left {left[:5]}")
        if done and alike and "made" not in str(given):
            expected, found = (consumed(call(**given | {name: value})) for value in (valid[name], form(valid[name])))
            if " at 0x" not in str(expected) and str(expected) != str(found):
                raise Wrong(f"{str(found)[:100]} of an iterator, {str(expected)[:100]} of a list")
        return done

    return attempt


def consumed(value: Any) -> Any:
    return list(value) if isinstance(value, Iterator) else value
