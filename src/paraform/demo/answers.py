"""What the page asks of the embedded models, each answer as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import resources
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import paraform
from paraform import InputError, Tree
from paraform.demo.forms import Forms

PARAPHRASER = "compact"
LATENT = "latent-compact"
JUDGES = ("smollm2-judge", "minilm-judge")  # the first whose base is to be had
ENCODERS = ("minilm", "minilm-disentangled", "minilm-par")  # those that are there
LIKELY, SURE = 0.5, 0.8  # from them on the judge is believed, and taken at its word
STEPS = 11  # of the way between two sentences, both ends among them
CANDIDATES = 4
OFFERED = 5  # exemplars
SAMPLES = 8


@final
class Answers:
    """The models, loaded once, each when it is first asked. Not for several threads at once.

    Args:
        device: "cpu", "cuda", …; None: the GPU if there is one.
    """

    def __init__(self, device: str | None = None) -> None:
        self.device = device

    @cached_property
    def paraphraser(self) -> paraform.ExemplarParaphraser:
        """What says this like that."""
        model: paraform.ExemplarParaphraser = paraform.load(PARAPHRASER, device=self.device)
        return model

    @cached_property
    def _forms(self) -> Forms:
        return Forms.embedded()

    @cached_property
    def encoders(self) -> dict[str, Any]:
        """By name, those of `ENCODERS` that this version of paraform has."""
        found = {}
        for name in ENCODERS:
            try:
                found[name] = paraform.load(name, device=self.device)
            except InputError:
                if name == ENCODERS[0]:
                    raise
        return found

    @cached_property
    def judge(self) -> tuple[str, Any]:
        """What reads both sentences at once, and its name: on `smollm2` where that was fetched, else the quick one.

        Beside the quick one's name stands what the better one lacks.
        """
        better, quick = (paraform.load(name, device=self.device) for name in JUDGES)
        try:
            better.judge([("a", "b")])
        except InputError as error:
            return f"{JUDGES[1]} ({JUDGES[0]} knows more: {error})", quick
        return JUDGES[0], better

    @cached_property
    def latent(self) -> paraform.LatentLanguageModel:
        """The space of sentences."""
        model: paraform.LatentLanguageModel = paraform.load(LATENT, device=self.device)
        return model

    @cached_property
    def trained_on(self) -> list[str]:
        """The sentences that `latent` has seen: Tatoeba's, CC BY 2.0."""
        return (resources.files("paraform.demo") / "tatoeba.txt").read_text(encoding="utf-8").splitlines()

    @cached_property
    def _parser(self) -> Callable[[Sequence[Sequence[str]]], list[Tree | None]]:
        return paraform.load_parser(device=self.device)

    @cached_property
    def _tagger(self) -> Callable[[Sequence[Sequence[str]]], list[list[str]]]:
        return paraform.load_tagger(device=self.device)

    def warm(self) -> dict[str, Any]:
        """Each answer once, so that the first person does not wait for what is loaded and compiled."""
        self.say("Can I use my card abroad?", [])
        self.say("Can I use my card abroad?", ["Is it hard to learn chess?"])
        self.forms("Can I use my card abroad?")
        self.same("A cat sleeps.", "The cat is asleep.")
        self.walk("He is happy.", "I am here.")
        return {}

    def say(self, text: str, like: list[str]) -> dict[str, Any]:
        """Candidates for the text with their checks, and the trees of the form and of what came out.

        Args:
            like: sentences whose form to take, of which nothing is dropped; []: other words, and only what
                passes every check.
        """
        reason = ""
        if like:
            outputs = self.paraphraser.decode([text] * len(like), like)
            judge = paraform.Reworder.default(self.device, paraphraser=self.paraphraser)
            candidates = judge.assess([text] * len(like), outputs, like)
        else:
            (found,) = paraform.reword([text], num=CANDIDATES, device=self.device)
            candidates, reason = list(found.candidates), found.reason
        # A frame is no sentence with a tree of its own; the text's tree stands beside what became of it.
        beside = [text if one.framed else one.exemplar for one in candidates]
        different = list(dict.fromkeys([*beside, *(one.text for one in candidates)]))
        trees = dict(zip(different, self._trees(different), strict=True))
        rows = [
            {
                "text": one.text,
                "form": one.exemplar,
                "checks": dict(one.checks),
                "content": round(float(one.figures["content"]), 3),
                "beside": other,
                "trees": [trees[other], trees[one.text]],
            }
            for one, other in zip(candidates, beside, strict=True)
        ]
        return {"candidates": rows, "reason": reason}

    def forms(self, text: str) -> dict[str, Any]:
        """Exemplars that fit: what sentences of like tags were really reworded into."""
        (tags,) = self._tagger([paraform.tokenize(text)])
        return {"forms": self._forms.nearest(tags, OFFERED)}

    def same(self, first: str, second: str) -> dict[str, Any]:
        """What the judge thinks, each encoder's cosine, and how far words of both moved: 1 − cosine of their states."""
        words = [paraform.tokenize(first), paraform.tokenize(second)]
        lowered = [[word.lower() for word in some] for some in words]
        rows = []
        for name, encoder in self.encoders.items():
            left, right = _unit(encoder.embed([first, second]))
            rows.append({"encoder": name, "cosine": round(float(left @ right), 3), "moved": _moved(encoder, words)})
        only = [
            [word for word in dict.fromkeys(some) if word not in others and _counts(word)]
            for some, others in (lowered, lowered[::-1])
        ]
        return {"encoders": rows, "only": only, "judged": self._judged(first, second)}

    def _judged(self, first: str, second: str) -> dict[str, Any]:
        """What the judge thinks, in words and in shares."""
        name, judge = self.judge
        found = judge.judge([(first, second)])
        same, forth, back = (round(float(values[0]), 3) for values in found)
        said = ("both say the same", "the first says all of the second", "the second says all of the first")
        told = "They say different things."
        if same >= LIKELY:
            told = "They say the same." if same >= SURE else "They probably say the same."
        elif min(forth, back) >= LIKELY:
            told = "They may well say the same."
        elif max(forth, back) >= LIKELY:
            told = f"The second {'leaves something out' if forth >= back else 'adds something'}."
        return {"by": name, "told": told, "shares": [*zip(said, (same, forth, back), strict=True)]}

    def walk(self, first: str, second: str) -> dict[str, Any]:
        """What is said at equal steps on the line between the vectors of the two, in the latent space."""
        said = self.latent.interpolate(first, second, steps=STEPS)
        return {"said": self._beside_nearest(said), "unknown": self.latent.unknown([first, second])}

    def sample(self, seed: int) -> dict[str, Any]:
        """Sentences drawn from the space."""
        return {"said": self._beside_nearest(self.latent.sample(SAMPLES, seed=seed))}

    @cached_property
    def _words_trained_on(self) -> dict[str, list[str]]:
        return {text: list(self.latent.words(text)) for text in self.trained_on}

    def _beside_nearest(self, said: Sequence[str]) -> list[dict[str, Any]]:
        """Each with the training sentence that is nearest to it by edits of words, so that memorising shows."""
        known = self._words_trained_on  # to split them anew for each question takes longer than to answer it
        near = paraform.nearest_sentences(
            said, self.trained_on, lambda text: known[text] if text in known else self.latent.words(text)
        )
        return [
            {"text": text, "nearest": one.text, "similarity": round(one.similarity, 3)}
            for text, one in zip(said, near, strict=True)
        ]

    def _trees(self, texts: Sequence[str]) -> list[Any]:
        return [_plain(tree) for tree in self._parser([paraform.tokenize(text) for text in texts])]


def _plain(tree: Tree | None) -> Any:
    """[label, [parts]] of a phrase, [tag, word] of a word, None of no tree."""
    if tree is None:
        return None
    return [tree.label, tree.word if tree.word is not None else [_plain(child) for child in tree.children]]


def _moved(encoder: Any, words: Sequence[Sequence[str]]) -> list[tuple[str, float]]:
    """Each word of both sentences with its distance, the farthest first: the mean over every two places of it."""
    kept = [list(some[:most]) for some, most in zip(words, encoder.fitting(words), strict=True)]
    places: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})
    for found, some in zip(places, kept, strict=True):
        for place, word in enumerate(some):
            found.setdefault(word.lower(), []).append(place)
    shared = [word for word in places[0] if word in places[1] and _counts(word)]
    if not shared:
        return []
    states, offsets = encoder.word_states(kept, layers=[encoder.layer])
    unit_ND = _unit(states[:, 0].float().cpu().numpy())
    left_ND, right_ND = unit_ND[: offsets[1]], unit_ND[offsets[1] :]
    distances = {word: 1 - float((left_ND[places[0][word]] @ right_ND[places[1][word]].T).mean()) for word in shared}
    return sorted(((word, round(far, 3)) for word, far in distances.items()), key=lambda row: -row[1])


def _counts(word: str) -> bool:
    return any(letter.isalnum() for letter in word)


def _unit(rows_ND: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length; one of zeros as it is."""
    lengths_N1 = np.linalg.norm(rows_ND, axis=1, keepdims=True)
    unit_ND: NDArray[np.float32] = rows_ND / np.maximum(lengths_N1, np.finfo(np.float32).tiny)
    return unit_ND
