"""The index against Algorithm 1 written as a double loop, on sentences small enough for every rule to bite."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from paraform.records import InputError, Pair, Sentence, Triple
from paraform.syntax import ExemplarIndex, Match, MiningConfig, exemplars, mine
from paraform.syntax.mining import dealt_pools, why_none

EVERY_RULE = [
    MiningConfig(length_gap=gap, min_new_words=new, distinct=distinct, exclude_cluster=exclude, window=window)
    for gap, new, distinct, exclude, window in itertools.product(
        (0, 1, 2), (0, 2), (True, False), (True, False), (None, 7)
    )
]
QUICK = MiningConfig(length_gap=9, min_new_words=0)


def sentence(words: str, tags: str | None = None) -> Sentence:
    tokens = tuple(words.split())
    return Sentence(words, tokens, tuple((tags or words).split()))


def random_sentences(count: int, seed: int) -> list[Sentence]:
    """0 to 6 words of 10, in either case, with tags of 3: repeated words, wordings and ties occur, and texts that are
    equal apart from spaces while their words are not ("a b", "ab")."""
    draw = random.Random(seed)
    sentences = []
    for _ in range(count):
        length = draw.choice((0, 1, 2, 3, 4, 4, 5, 6))
        tokens = tuple(draw.choice([*"abcdefghABCDEFGH", "ab", "bc"]) for _ in range(length))
        sentences.append(Sentence(" ".join(tokens), tokens, tuple(draw.choice(("NN", "VB", "DT")) for _ in tokens)))
    return sentences + draw.sample(sentences, count // 5)


def random_pairs(count: int, seed: int) -> list[Pair]:
    sources, targets = random_sentences(count, seed), random_sentences(count, seed + 1)
    draw = random.Random(seed)
    return [
        Pair(source, draw.choice((target, target, source)), cluster=draw.randrange(12))
        for source, target in zip(sources, targets, strict=True)
    ]


def edit_distance(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    table = [[max(i, j) if not i or not j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, j in itertools.product(range(1, len(one) + 1), range(1, len(other) + 1)):
        changed = table[i - 1][j - 1] + (one[i - 1] != other[j - 1])
        table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, changed)
    return table[-1][-1]


def same_text(one: Sentence, other: Sentence) -> bool:
    return "".join(one.text.split()).lower() == "".join(other.text.split()).lower()


def same_words(one: Sentence, other: Sentence) -> bool:
    return [word.lower() for word in one.tokens] == [word.lower() for word in other.tokens]


def shared_words(one: Sentence, other: Sentence, distinct: bool) -> int:
    left, right = (Counter(word.lower() for word in side.tokens) for side in (one, other))
    both = left & right
    return len(both) if distinct else both.total()


def brute_force(pool: list[Sentence], pairs: list[Pair], row: int, config: MiningConfig) -> list[Match]:
    """All that may be exemplars of this row's target, nearest first, then by number; each wording once."""
    target, candidates = pairs[row].target, []
    for number, candidate in enumerate(pool):
        if (
            candidate.tokens
            and abs(len(candidate.tokens) - len(target.tokens)) <= config.length_gap
            and shared_words(candidate, target, config.distinct) + config.min_new_words <= len(target.tokens)
            and not same_text(candidate, target)
            and not same_text(candidate, pairs[row].source)
            and not (config.exclude_cluster and pairs[number].cluster == pairs[row].cluster)
            and (config.window is None or abs(number - row) <= config.window)
        ):
            candidates.append(Match(number, edit_distance(candidate.tags, target.tags)))
    candidates.sort(key=lambda match: (match.distance, match.row))
    once: list[Match] = []
    for match in candidates:
        if not any(same_words(pool[earlier.row], pool[match.row]) for earlier in once):
            once.append(match)
    return once


def tied(matches: list[Match]) -> list[Match]:
    return [match for match in matches if match.distance == matches[0].distance]


def kept(mined, row: int) -> list[Match]:
    lines = zip(mined.exemplars[row], mined.distances[row], strict=True)
    return [Match(int(number), int(distance)) for number, distance in lines if number >= 0]


@pytest.mark.parametrize("pool", ["targets", "sources"])
@pytest.mark.parametrize("config", EVERY_RULE, ids=str)
def test_equals_brute_force_under_every_combination_of_rules(config, pool):
    pairs = random_pairs(25, seed=EVERY_RULE.index(config))
    sentences = [pair.target if pool == "targets" else pair.source for pair in pairs]
    config = replace(config, pool=pool)
    wanted = [brute_force(sentences, pairs, row, config) for row in range(len(pairs))]
    assert any(wanted)
    everyone = mine(pairs, replace(config, keep=len(pairs)))
    few = mine(pairs, replace(config, keep=2, seed=5))
    first = mine(pairs, replace(config, keep=2, ties="first"))
    nearest = mine(pairs, replace(config, keep=4, among="nearest", ties="first"))
    drawn = mine(pairs, replace(config, keep=4, among="nearest"))
    for row, candidates in enumerate(wanted):
        best = tied(candidates) if candidates else []
        assert sorted(kept(everyone, row)) == best
        assert len(kept(few, row)) == min(2, len(best))
        assert set(kept(few, row)) <= set(best)
        assert kept(first, row) == best[:2]
        assert kept(nearest, row) == candidates[:4]
        assert [match.distance for match in kept(drawn, row)] == [match.distance for match in candidates[:4]]
        assert set(kept(drawn, row)) <= set(candidates)


def test_seed_fixes_the_ties_whatever_else_is_asked():
    pairs = random_pairs(200, seed=3)
    one, again, other = (mine(pairs, MiningConfig(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.exemplars, again.exemplars)
    assert (one.exemplars != other.exemplars).any()
    targets, clusters = [pair.target for pair in pairs], [pair.cluster for pair in pairs]
    sources = [pair.source for pair in pairs]
    alone = ExemplarIndex.build(targets, clusters).nearest(
        targets[50:51], MiningConfig(seed=1), sources=sources[50:51], clusters=clusters[50:51], rows=[50]
    )
    assert alone == [kept(one, 50)]


def test_every_tied_sentence_is_drawn_equally_often():
    """8 sentences tied: in 4,000 draws each is first about 500 times; ± 5 standard deviations is 105."""
    index = ExemplarIndex.build([sentence(f"a{number} b{number}", "NN VB") for number in range(8)])
    target = sentence("one two", "NN VB")
    found = index.nearest([target] * 4000, MiningConfig(keep=1))
    counts = Counter(matches[0].row for matches in found)
    assert sorted(counts) == list(range(8))
    assert all(abs(count - 500) < 105 for count in counts.values())


def test_worked_by_hand():
    """Of the 4 words of "what is love ?", "who is he ?" shares 2 (2 + 2 ≤ 4) and "what is hate ?" 3 (3 + 2 > 4)."""
    target = sentence("What is love ?", "WP VBZ NN .")
    pool = [
        sentence("what is hate ?", "WP VBZ NN ."),
        sentence("who is he ?", "WP VBZ PRP ."),
        sentence("go away", "VB RB"),
        Sentence("what  is Love?", ("other", "words", "same", "text"), target.tags),
    ]
    index = ExemplarIndex.build(pool)
    assert index.nearest([target]) == [[Match(1, 1)]]
    assert index.nearest([target], MiningConfig(among="nearest")) == [[Match(1, 1), Match(2, 4)]]
    assert index.nearest([target], MiningConfig(min_new_words=1)) == [[Match(0, 0)]]


def test_one_text_in_other_words_is_another_sentence():
    """Found on Quora: of "0 ! = 1" and "0 ! =1" only the second shares few enough words with the target."""
    target = sentence("a b c d", "N N N N")
    pool = [sentence("a b c ef", "N N N N"), sentence("a bc e f", "N N N N")]
    assert ExemplarIndex.build(pool).nearest([target]) == [[Match(1, 0)]]


def test_repeated_words_count_once_or_as_often_as_both_have_them():
    target, candidate = sentence("the cat the dog", "D N D N"), sentence("the the big cow", "D D J N")
    index = ExemplarIndex.build([candidate])
    assert index.nearest([target], MiningConfig(min_new_words=3)) == [[Match(0, 2)]]
    assert index.nearest([target], MiningConfig(min_new_words=3, distinct=False)) == [[]]


@pytest.mark.parametrize("among", ["tied", "nearest"])
def test_alike_sentences_give_no_exemplar(among):
    config = replace(QUICK, among=among)
    pairs = [Pair(sentence("how are you ?"), sentence("How are you ?"), cluster=row) for row in range(50)]
    assert (mine(pairs, config).exemplars == -1).all()
    assert list(mine(pairs, config).triples()) == []


def test_few_and_empty_sentences():
    a, b, nothing = sentence("a"), sentence("b"), Sentence("")
    assert ExemplarIndex.build([a]).nearest([a, b, nothing], QUICK) == [[], [Match(0, 1)], [Match(0, 1)]]
    assert ExemplarIndex.build([nothing]).nearest([a, nothing], QUICK) == [[], []]
    assert ExemplarIndex.build([nothing, a]).nearest([nothing], MiningConfig(length_gap=9)) == [[]]
    assert ExemplarIndex.build([a]).nearest([]) == []


def test_source_and_cluster_never_come_back():
    pool = [sentence("a b c", "N N N"), sentence("d e f", "N N N"), sentence("g h i", "N N N")]
    target = sentence("x y z", "N N N")
    index = ExemplarIndex.build(pool, [1, 2, None])
    kwargs = {"sources": [Sentence("A b  C")], "clusters": [2]}
    assert index.nearest([target], **kwargs) == [[Match(2, 0)]]
    assert set(index.nearest([target], MiningConfig(exclude_cluster=False), **kwargs)[0]) == {Match(1, 0), Match(2, 0)}
    assert len(index.nearest([target])[0]) == 3


def test_unknown_tags_and_words_of_the_target_equal_none_of_the_index():
    index = ExemplarIndex.build([sentence("a b c", "X Y Z")])
    assert index.nearest([sentence("p q r", "U V Z")]) == [[Match(0, 2)]]


def test_sentences_longer_than_255_words():
    long = Sentence("long", tuple(f"w{i}" for i in range(700)), ("NN",) * 700)
    other = Sentence("other", tuple(f"v{i}" for i in range(699)), ("VB",) * 699)
    assert ExemplarIndex.build([other]).nearest([long]) == [[Match(0, 700)]]


def test_more_tags_than_a_byte_has_values():
    tags = [f"T{number}" for number in range(400)]
    index = ExemplarIndex.build([Sentence(tag, (tag, tag), (tag, tag)) for tag in tags])
    found = index.nearest([Sentence("new", ("new", "one"), (tag, tag)) for tag in tags])
    assert found == [[Match(number, 0)] for number in range(400)]


def many_sentences(count: int, lengths: tuple[int, int], seed: int) -> list[Sentence]:
    """Words of their own, tags of 12 by a chain, so that blocks of many sequences are near and far."""
    draw = random.Random(seed)
    out = []
    for number in range(count):
        tags = [draw.randrange(12)]
        while len(tags) < draw.randint(*lengths):
            tags.append((tags[-1] + draw.choice((1, 1, 1, 2, 5))) % 12)
        tokens = tuple(f"w{number}-{place}" for place in range(len(tags)))
        out.append(Sentence(" ".join(tokens), tokens, tuple(f"T{tag}" for tag in tags)))
    return out


@pytest.mark.parametrize(("lengths", "count"), [((5, 14), 3000), ((28, 36), 600), ((60, 70), 300)])
def test_equals_a_peer_over_many_blocks(lengths, count):
    """rapidfuzz compares all with all; sequences of up to 32, of up to 64 and of more words take different ways."""
    sentences = many_sentences(count, lengths, seed=count)
    letters = {f"T{tag}": chr(97 + tag) for tag in range(12)}
    texts = ["".join(letters[tag] for tag in sentence.tags) for sentence in sentences]
    asked = range(0, count, 7)
    distances = cdist([texts[row] for row in asked], texts, scorer=Levenshtein.distance, dtype=np.int32)
    index = ExemplarIndex.build(sentences)
    found = index.nearest([sentences[row] for row in asked], MiningConfig(keep=count), rows=list(asked))
    five = index.nearest([sentences[row] for row in asked], MiningConfig(ties="first"), k=5)
    for place, row in enumerate(asked):
        line = {
            other: int(distances[place, other])
            for other in range(count)
            if other != row and abs(len(texts[other]) - len(texts[row])) <= 2
        }
        best = min(line.values(), default=-1)
        assert sorted(found[place]) == [Match(other, best) for other, distance in line.items() if distance == best]
        assert five[place] == [Match(*item) for item in sorted(line.items(), key=lambda item: (item[1], item[0]))[:5]]


def test_a_corpus_of_equal_sentences_is_answered_at_once():
    """20,000 × 20,000 rows would take minutes; no sentence is its own exemplar."""
    alike = [sentence("how are you ?", "WRB VBP PRP .")] * 20_000
    other = sentence("who is he ?", "WP VBZ PRP .")
    found = ExemplarIndex.build([*alike, other]).nearest_rows(None)
    assert (found.rows[:-1, 0] == 20_000).all() and (found.rows[:-1, 1:] == -1).all()
    assert found.rows[-1].tolist() == [0, -1, -1, -1, -1] and found.distances[-1, 0] == 2


def test_added_sentences_are_found_as_if_they_had_been_there():
    pairs = random_pairs(90, seed=12)
    targets, clusters = [pair.target for pair in pairs], [pair.cluster for pair in pairs]
    index = ExemplarIndex.build(targets[:30], clusters[:30])
    index.nearest(targets[:5])
    index.add(targets[30:70], clusters[30:70])
    index.add([])
    index.add(targets[70:], clusters[70:])
    whole = ExemplarIndex.build(targets, clusters)
    assert len(index) == len(whole) == len(targets)
    assert index.nearest(targets, k=4, clusters=clusters) == whole.nearest(targets, k=4, clusters=clusters)
    assert [index.text(row) for row in range(len(index))] == [target.text for target in targets]
    with pytest.raises(ValueError, match="1 clusters for 2 sentences"):
        index.add(targets[:2], [1])
    assert len(index) == len(targets)
    with pytest.raises(InputError, match=f"row {len(targets)} of {len(targets)}"):
        index.text(len(targets))


def test_an_addition_that_fails_leaves_no_trace():
    """Its tags are not known afterwards: compiled code would look for them outside its arrays."""
    index = ExemplarIndex.build([sentence("a b", "NN VB"), sentence("c d", "NN NN")])
    target = sentence("e f", "NN NEW")
    before = index.nearest([target])
    for clusters, error in ((["one"], ValueError), ([-1], ValueError), ([0, 1], ValueError)):
        with pytest.raises(error):
            index.add([target], clusters)
        assert len(index) == 2 and index.nearest([target]) == before
        assert "NEW" not in index._numbers.tags
    with pytest.raises(ValueError, match="cluster -1; expected numbers of at least 0"):
        index.add([target], [-1])


def test_of_one_wording_the_one_whose_text_is_allowed():
    """Rows of the same tags, words and cluster whose texts differ: the first is the source's text, the second not."""
    pool = [Sentence("A B", ("a", "b"), ("NN", "VB")), Sentence("a b!", ("a", "b"), ("NN", "VB"))]
    index = ExemplarIndex.build(pool, [1, 1])
    found = index.nearest([sentence("c d", "NN VB")], sources=[Sentence("a b")], clusters=[2])
    assert found == [[Match(1, 0)]]


def test_pairs_that_are_no_paraphrases_are_refused():
    pairs = [Pair(sentence("a b"), sentence("c d"), cluster=0, label=0)]
    with pytest.raises(ValueError, match="a pair is labelled 0"):
        mine(pairs)
    assert len(mine(pairs, MiningConfig(exclude_cluster=False)).exemplars) == 1


def test_threads_are_as_many_as_asked(monkeypatch):
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads):
            asked.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(exemplars, "ThreadPoolExecutor", Pool)
    pairs = random_pairs(20, seed=1)
    one, other = mine(pairs, threads=1), mine(pairs, threads=3)
    assert asked == [1, 3]
    np.testing.assert_array_equal(one.exemplars, other.exemplars)


def test_a_huge_length_gap_costs_no_more_than_the_longest_sentence():
    pool = [sentence("a b", "NN VB"), sentence("c", "NN")]
    assert ExemplarIndex.build(pool).nearest([pool[0]], MiningConfig(length_gap=2**62)) == [[Match(1, 1)]]


def test_pools_are_searched_each_by_itself():
    """Every pair is in one pool, and finds what it finds where its pool is all there is."""
    pairs = random_pairs(120, seed=6)[:120]
    config = MiningConfig(pool_size=40, keep=120)
    pools = dealt_pools(120, config)
    assert sorted(row for rows in pools for row in rows) == list(range(120)) and [*map(len, pools)] == [40, 40, 40]
    assert pools != dealt_pools(120, replace(config, seed=1))
    mined = mine(pairs, config)
    for rows in pools:
        alone = mine([pairs[row] for row in rows], replace(config, pool_size=0))
        for place, row in enumerate(rows):
            assert sorted(kept(mined, row)) == sorted(Match(rows[m.row], m.distance) for m in kept(alone, place))
    assert dealt_pools(5, MiningConfig(pool_size=40)) == dealt_pools(5, MiningConfig()) == [[0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="pool_size 40 with window 9"):
        MiningConfig(pool_size=40, window=9)


def test_triples_carry_the_distance_and_progress_counts_all_targets():
    pairs = random_pairs(80, seed=4)
    done: list[int] = []
    mined = mine(pairs, progress=done.append)
    assert sum(done) == len(pairs)
    assert mined.exemplars.dtype == mined.distances.dtype == np.int32
    assert mined.exemplars.shape == (len(pairs), 5)
    wanted = [
        Triple(pair.source, pairs[match.row].target, pair.target, match.distance, pair.cluster)
        for row, pair in enumerate(pairs)
        for match in kept(mined, row)
    ]
    assert list(mined.triples()) == wanted


def test_presets_differ_from_the_default_in_the_named_fields_alone():
    def changed(config: MiningConfig) -> set[str]:
        return {name for name in vars(config) if getattr(config, name) != getattr(MiningConfig(), name)}

    assert changed(MiningConfig.paper()) == {"pool", "exclude_cluster", "keep", "ties"}
    assert changed(MiningConfig.reference()) == {"exclude_cluster"}
    assert changed(MiningConfig.reference("paranmt")) == {"exclude_cluster", "length_gap", "window"}


def test_mistakes_say_what_to_call():
    tagged = sentence("a b")
    with pytest.raises(ValueError, match=r"holds 0 sentences; call ExemplarIndex\.build\(sentences\) first"):
        ExemplarIndex().nearest([tagged])
    with pytest.raises(ValueError, match="holds 0 sentences"):
        mine([])
    with pytest.raises(ValueError, match=r"sentence 1 has 2 tokens and 0 tags; .*load_tagger"):
        ExemplarIndex.build([tagged, Sentence("a b", ("a", "b"))])
    with pytest.raises(ValueError, match=r"sentence 0 has 0 tokens and 0 tags; tokenise"):
        ExemplarIndex.build([tagged]).nearest([Sentence("a b")])
    with pytest.raises(ValueError, match="1 clusters for 2 sentences"):
        ExemplarIndex.build([tagged, tagged], [1])
    with pytest.raises(ValueError, match="2 rows for 1 targets"):
        ExemplarIndex.build([tagged]).nearest([tagged], rows=[1, 2])
    with pytest.raises(ValueError, match="corpus is 'ptb'; expected 'quora' or 'paranmt'"):
        MiningConfig.reference("ptb")
    with pytest.raises(ValueError, match=r"pair 0 has no cluster; .*exclude_cluster=False"):
        mine([Pair(tagged, tagged)])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pool", "all"),
        ("ties", "last"),
        ("among", "k"),
        ("keep", 0),
        ("length_gap", -1),
        ("length_gap", None),
        ("seed", -1),
        ("pool_size", -1),
    ],
)
def test_a_bad_option_is_named(field, value):
    with pytest.raises(ValueError, match=field):
        MiningConfig(**{field: value})


def test_why_no_pair_has_an_exemplar() -> None:
    def pairs(*targets: str, clusters: Sequence[int] = range(100)) -> list[Pair]:
        made = []
        for target, cluster in zip(targets, clusters, strict=False):
            words = tuple(target.split())
            made.append(Pair(Sentence("a source"), Sentence(target, words, ("NN",) * len(words)), cluster=cluster))
        return made

    for given, rules, reason in [
        (pairs("a b c d", "e f g h", clusters=[1, 1]), MiningConfig(), "all are of one duplicate cluster"),
        (pairs("a b c d"), MiningConfig(), "all are of one duplicate cluster"),
        (pairs("a", "b c d e f g"), MiningConfig(), "within length_gap 2 words as long"),
        (pairs("a b c d", "a b c d"), MiningConfig(), "the target or its source again"),
        (pairs("a b c d", "a b c e"), MiningConfig(), "too many of the target's words (min_new_words 2)"),
        (pairs("a b c d", "a b c e", "e f g h"), MiningConfig(window=0), "no other cluster has a row within window 0"),
    ]:
        assert not (mine(given, rules).exemplars >= 0).any()
        assert reason in why_none(given, rules)
