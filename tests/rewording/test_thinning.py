"""What a thinned sentence keeps: every word but those that grammar puts back, as often as before."""

from __future__ import annotations

from collections import Counter
from random import Random

from paraform.words import tokenize
from paraform_papers.shipped.thinning import BREAKS, LEFT_OUT, thinned

SENTENCES = [
    "We had the best pie of the town with my two sisters on Friday.",
    "Can you tell me if the transfer from my account to Tom's is late?",
    "In the end, the cook did not burn the fish because she left.",
    "Stop.",
    "?",
    "",
]


def test_only_function_words_and_commas_go() -> None:
    for text in SENTENCES:
        words = tokenize(text)
        for seed in range(50):
            out = thinned(words, Random(seed))
            gone = Counter(words) - Counter(out)
            assert not Counter(out) - Counter(words)
            assert {word.lower() for word in gone} <= LEFT_OUT | BREAKS
            assert out[-1:] == words[-1:]


def test_words_of_a_phrase_keep_their_order() -> None:
    """Each phrase stands in one piece, and none has moved past more than one other."""
    words = tokenize("The man bit a dog in Old York with two teeth on Friday.")
    phrases = ["man bit dog", "in Old York", "with two teeth", "on Friday"]
    orders = set()
    for seed in range(200):
        text = " ".join(thinned(words, Random(seed), left_out=1.0))
        assert sorted(text.removesuffix(" .")) == sorted(" ".join(phrases))
        places = [text.index(phrase) for phrase in phrases]
        order = sorted(range(4), key=places.__getitem__)
        assert all(abs(place - number) <= 1 for place, number in enumerate(order))
        orders.add(tuple(order))
    assert len(orders) == 5  # of four, those in which none is more than one place off: Fibonacci's number


def test_how_much_goes() -> None:
    words = tokenize("The man is at the end of a road.")
    assert thinned(words, Random(0), left_out=0.0, moved=0.0) == words
    assert not LEFT_OUT.intersection(word.lower() for word in thinned(words, Random(0), left_out=1.0))
    kept = [word for seed in range(400) for word in thinned(words, Random(seed)) if word.lower() in LEFT_OUT]
    assert abs(len(kept) / 400 / 5 - 0.5) < 0.05  # five of them, a half each
    two = tokenize("We sat in Rome.")
    orders = [thinned(two, Random(seed), moved=0.25)[0] for seed in range(400)]
    assert abs(orders.count("in") / 400 - 0.25) < 0.07
