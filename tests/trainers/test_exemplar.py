"""CRL-EGPG from Python: pairs and a folder are enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stopped import goes_on_to_the_same_weights

import paraform
from paraform import checkpoint, corpora
from paraform.models.exemplar import ExemplarConfig
from paraform.records import InputError, Pair, Sentence
from paraform.syntax.mining import mined_exemplars
from paraform.syntax.rules import MiningConfig
from paraform.trainers import exemplar
from paraform.trainers.exemplar import BY_BLEU
from paraform.trainers.exemplar_bank import exemplar_bank, plain_targets
from paraform.trainers.held_out import hold_out_pairs
from paraform.training import TrainingConfig, text_digest


def test_pairs_without_clusters_get_them_and_a_part_is_held_out(
    question_pairs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Equal pairs share a cluster, so that none of them is in both parts."""
    once = [record for record in paraform.read(question_pairs) if isinstance(record, Pair)][:60]
    no_paraphrase = Pair(Sentence("where is it ?"), Sentence("who is it ?"), label=0)
    pairs = [replace(once[0], cluster=7), *once[1:], no_paraphrase, *once]
    config = replace(
        ExemplarConfig.compact(),
        word_width=8,
        content_width=8,
        decoder_width=8,
        style_width=8,
        word_vectors="random",
        min_count=1,
        batch_size=8,
        epochs=1,
        pool_size=0,
    )
    loop = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100)
    assert paraform.train_exemplar(iter(pairs), tmp_path / "run", config=config, loop=loop, validation_rows=2).step > 0
    training, validation = hold_out_pairs([pair for pair in paraform.clusters(pairs) if pair.label != 0], seed=2)
    assert "1 of 121 pairs are labelled 0 (no paraphrases); left out" in caplog.text
    assert not {pair.source.text for pair in training} & {pair.source.text for pair in validation}
    digests = json.loads((tmp_path / "run" / "best" / "paraform.json").read_text())["data"]
    assert digests == {
        f"{split} pairs": text_digest(text for pair in part for text in (pair.source.text, pair.target.text))
        for split, part in (("training", training), ("validation", validation))
    }


def test_it_is_trained_on_two_deals_and_goes_on_where_it_stopped(question_pairs: Path, tmp_path: Path) -> None:
    """Stopped in the middle of the second epoch, which has exemplars of its own, it ends with the same weights."""
    pairs = [record for record in paraform.read(question_pairs) if isinstance(record, Pair)][:80]
    config = replace(
        ExemplarConfig.compact(),
        word_width=16,
        content_width=16,
        decoder_width=16,
        content_input="states",
        style_pooling="mean",
        exemplar_deals=2,
        min_count=1,
        pool_size=30,
        batch_size=16,
        epochs=2,
    )
    loop = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2)

    def train(name: str, *, resume: bool = False) -> Any:
        return paraform.train_exemplar(
            pairs, tmp_path / name, validation=pairs[:20], config=config, loop=loop, validation_rows=3, resume=resume
        )

    whole = goes_on_to_the_same_weights(train, exemplar, tmp_path, at=lambda steps: steps // 2 + 1)
    losses = [record["train"]["nll"] for record in whole.history if "train" in record]
    assert losses and np.isfinite(losses).all()
    model = checkpoint.load(tmp_path / "stopped", device="cpu")
    assert len(model.paraphrase(["how do i learn chess ?"], like=["What is it?"])) == 1


def test_a_validation_without_an_exemplar_is_named(question_pairs: Path, tmp_path: Path) -> None:
    """A single pair has no other to take one from."""
    first, *pairs = list(corpora.read_pairs(question_pairs))[:40]
    config = replace(ExemplarConfig.compact(), word_vectors="random", min_count=1, batch_size=8, pool_size=0)
    with pytest.raises(InputError, match="validation: none of 1 pairs has an exemplar among the others"):
        paraform.train_exemplar(pairs, tmp_path / "run", validation=[first], config=config)


def test_a_pair_without_an_exemplar_decides_nothing(
    question_pairs: Path, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the validation paraphrases, and in which form, is what mining alone finds; −1 would be the last sentence."""
    odd = Pair(Sentence("Hm, well."), Sentence("To be, or not to be: that, my dear, odd friends, is the question!"))
    model = checkpoint.load(tiny_run, device="cpu")
    pairs = corpora.clusters([odd, *list(corpora.read_pairs(question_pairs))[:20]])
    asked: list[tuple[list[str], list[str]]] = []
    monkeypatch.setattr(type(model), "decode", lambda self, sources, likes: asked.append((sources, likes)) or sources)
    exemplar.validator(model, pairs, tagger="syntax", rows=9, seed=0)()
    rules = MiningConfig(keep=model.config.ties, pool_size=model.config.pool_size, seed=0)
    rows = mined_exemplars(pairs, rules, model.config.max_tokens).exemplars[:, 0].tolist()
    assert rows[0] == -1
    usable = [row for row in range(len(pairs)) if rows[row] >= 0][:9]
    ((sources, likes),) = asked
    assert sources == [pairs[row].source.text for row in usable] and len(sources) == 9
    assert likes == [pairs[rows[row]].target.text for row in usable]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Sentence("c"), "record 2 is of type Sentence; expected a Pair"),
        (("c", "d"), "record 2 is of type tuple; expected a Pair"),
        (Pair(Sentence("c"), Sentence(" ")), "pair 2 has an empty side"),
        (Pair(Sentence("c"), Sentence("caf\udce9")), "pair 2: text 2 holds half of a surrogate pair"),
    ],
)
def test_what_is_no_pair_is_named(record: Any, message: str, tmp_path: Path) -> None:
    given = [Pair(Sentence("a"), Sentence("b"), cluster=0), record]
    with pytest.raises(InputError, match=message):
        paraform.train_exemplar(given, tmp_path / "run")


def test_what_would_choose_the_worst_weights_is_refused_at_once(tmp_path: Path) -> None:
    for loop in (TrainingConfig(metric="bleu"), TrainingConfig(), replace(BY_BLEU, metric="nll")):
        with pytest.raises(InputError, match=r"expected bleu \(higher is better\), nll \(lower is better\)"):
            paraform.train_exemplar([], tmp_path / "run", loop=loop)


def test_pairs_alone_are_trained_on_as_the_command_does(
    question_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    class Enough(InputError):
        """Instead of a training."""

    asked: list[Any] = []

    def look(pairs: Any, config: Any, vocabulary: Any, **more: Any) -> None:
        asked.append((list(pairs), config))
        raise Enough("seen")

    monkeypatch.setattr(exemplar, "triple_table", look)
    with pytest.raises(Enough):
        paraform.train_exemplar(corpora.read_pairs(question_pairs), tmp_path / "run")
    assert command("train", "exemplar", "--data", question_pairs, "--out", tmp_path / "other").status == 2
    assert asked[0] == asked[1]
    assert asked[0][1] == ExemplarConfig.compact()


def pairs_of(*targets: str, source: str = "how is it ?") -> list[Pair]:
    """Each target twice, and in another text its words, without capitals, so that they are no rare ones."""
    pairs = [Pair(Sentence(source), Sentence(target)) for target in targets for _ in range(2)]
    return [*pairs, *(Pair(Sentence(f"well , {target.lower()}"), Sentence("x")) for target in targets)]


@pytest.mark.parametrize(
    ("target", "plain"),
    [
        ("How do i get a visa ?", False),
        ("How do I get a visa?", True),
        ("how do I get a visa?", False),
        ("How do I get a visa", False),
        ("How do I?", True),
        ("How so?", False),
        ("How do I get a Visa?", False),
        ("How do I get 2 visas?", False),
        ("How do I get it? And why?", False),
        ("How do I\tget a visa?", False),
        ("How do I\nget a visa?", False),
        ("How do I kill a process?", False),
        (" ".join(["How do I", *["very"] * 15, "?"]), False),
        ("Why, how do I get it?", True),
    ],
)
def test_plain_targets(target: str, plain: bool) -> None:
    assert plain_targets(pairs_of(target)) == ([target] if plain else [])


def test_plain_targets_have_no_rare_word_and_no_name() -> None:
    rare = Pair(Sentence("how ?"), Sentence("How do I get a quokka?"))
    names = pairs_of("Where is paris now?", source="What of Paris and Paris, Paris?")
    assert plain_targets([*pairs_of("How do I get a visa?"), rare, *names]) == ["How do I get a visa?"]
    assert plain_targets([]) == []


def test_the_bank_opens_in_different_ways() -> None:
    """Of each opening of three words one sentence, that whose rarest word is commonest; commonest openings first."""
    targets = ["How do I get a visa?", "How do I get it?", "How do I get that visa?", "Is it hard to get that?"]
    pairs = [*pairs_of(*targets), *pairs_of("Is it a visa?", "How do I do I do?")]
    assert exemplar_bank(pairs) == ["How do I get it?", "Is it hard to get that?"]
    assert exemplar_bank(pairs, size=1) == ["How do I get it?"]
    assert exemplar_bank([]) == []


def test_training_goes_on_from_another_model(
    question_pairs: Path, tiny_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its words and forms are kept, new words come behind; with a rate of next to nothing it says what it said."""
    start = checkpoint.load(tiny_run, device="cpu")
    pairs = list(corpora.read_pairs(question_pairs))[:80]
    pairs = [replace(pair, source=Sentence(pair.source.text.replace(" do ", " dost "))) for pair in pairs]
    config = replace(start.config, learning_rate=1e-9, epochs=1, batch_size=16)
    loop = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2)

    def train(name: str, **more: Any) -> Any:
        given: dict[str, Any] = {"validation": pairs[:20], "validation_rows": 2, "loop": loop, "start": start} | more
        return paraform.train_exemplar(pairs, tmp_path / name, **given)

    assert train("more", config=config).step > 0
    assert f"knows {len(start.vocabulary)} words; 1 more stand 1 times in these pairs" in caplog.text
    assert "teach a model little" not in caplog.text
    model = checkpoint.load(tmp_path / "more", device="cpu")
    assert model.vocabulary.words == (*start.vocabulary.words, "dost")
    assert set(model.bank) >= set(start.bank[:10])
    sources, likes = ["how do i learn chess ?"], ["What is the best way to learn it?"]
    assert model.decode(sources, likes) == start.decode(sources, likes)
    digests = [json.loads((tmp_path / name / "best" / "paraform.json").read_text())["data"] for name in ("more",)]
    assert len(digests[0]["start"]) == 64
    with pytest.raises(InputError, match=r"config\.word_width is 20, and 16 in the model to start from"):
        train("other", config=replace(start.config, word_width=20))
    train("scratch", start=None, config=config)
    assert "80 pairs teach a model little of a language; expected 5000 or more, or a model to go on" in caplog.text


def test_training_without_a_triple_says_why(question_pairs: Path, tmp_path: Path) -> None:
    one = [Pair(Sentence("is it late ?"), Sentence("is it already late ?"))]
    with pytest.raises(InputError, match="training: no pair has an exemplar: all are of one duplicate cluster"):
        exemplar.train_exemplar(one, tmp_path, validation=list(corpora.read_pairs(question_pairs))[:8])
