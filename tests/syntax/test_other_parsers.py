"""Stanza's own code with a model that learned two sentences; NLTK's client before a server that answers as CoreNLP."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import torch

from paraform.records import InputError
from paraform.syntax import other_parsers
from paraform.syntax.other_parsers import corenlp_parser, stanza_parser
from paraform.syntax.trees import Tree

START = r'start it in CoreNLP\'s folder: java -mx4g -cp "\*" edu\.stanford\.nlp\.pipeline\.StanfordCoreNLPServer -port '
LEARNED = [
    "(ROOT (S (NP (PRP I)) (VP (VBP see) (NP (DT a) (NN cat)) (PRN (-LRB- -LRB-) (NP (NN dog)) (-RRB- -RRB-))) (. .)))",
    "(ROOT (SQ (VBZ does) (NP (NN cat)) (VP (VB see)) (. ?)))",
]


def words_of(*sentences: str) -> list[list[str]]:
    return [sentence.split() for sentence in sentences]


class Server(ThreadingHTTPServer):
    """CoreNLP as it answers the client: each line of the text a sentence, between spaces its words, flat trees."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.paths: list[str] = []  # asked for so far
        self.texts: list[str] = []
        self.most = 1000  # sentences in one request before it is too much
        self.answer: tuple[int, str] | None = None  # what it says instead
        self.wait = 0.0  # seconds before it does


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        query = parse_qs(urlsplit(self.path).query, strict_parsing=True)
        assert json.loads(query["properties"][0]) == {**other_parsers.CORENLP_PROPERTIES, "outputFormat": "json"}
        assert re.fullmatch("text/plain; charset=utf-?8", self.headers["Content-Type"])
        text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
        self.server.paths.append(self.path)
        self.server.texts.append(text)
        released.wait(self.server.wait)
        lines = text.split("\n")
        if self.server.answer:
            self.reply(*self.server.answer)
        elif len(lines) > self.server.most:
            self.reply(500, "CoreNLP request timed out. Your document may be too long.")
        else:
            found = [corenlp_sentence(i, part) for i, line in enumerate(lines) for part in line.split("SPLIT")]
            text = json.dumps({"sentences": found}, ensure_ascii=False)
            self.reply(200, text.replace("\\u0001", "\x01"))  # only some control characters are escaped

    def reply(self, status: int, text: str) -> None:
        body = text.encode("utf-8")
        with contextlib.suppress(ConnectionError):  # whoever asked may have lost patience
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def corenlp_sentence(index: int, line: str) -> dict[str, Any]:
    """One of `sentences` in CoreNLP's JSON; it writes quotes its own way and, told to, loses a word."""
    words = [{'"': "``", "'": "`"}.get(word, word) for word in line.split(" ")]
    leaves = "\n".join(f"    (T{i} {word})" for i, word in enumerate(words) if word != "LOST")
    tokens = [
        {"index": i + 1, "word": word, "originalText": word, "pos": f"T{i}", "before": " ", "after": " "}
        for i, word in enumerate(words)
    ]
    return {"index": index, "parse": f"(ROOT\n  (NP-TMP\n{leaves}))", "basicDependencies": [], "tokens": tokens}


released = threading.Event()  # ends every wait


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("nltk.parse.corenlp")
    with Server() as running:
        released.clear()
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        released.set()
        running.shutdown()
        thread.join()


def flat(words: list[str]) -> Tree:
    return Tree("ROOT", (Tree("NP-TMP", tuple(Tree(f"T{i}", word=word) for i, word in enumerate(words))),))


def test_corenlp_gives_each_sentence_its_tree(server: Server) -> None:
    """The words are those that were given, though the server writes its own."""
    sentences = [
        *words_of("I do n't know .", "f(x) ( see [ 3 ] ) ; -LRB- 100 % a+b %41 <b> &amp; \\n"),
        [],
        *words_of("She said \" ' naïve ' \" – 日本 ☂ \x01 .", "Yes"),
        [],
    ]
    assert corenlp_parser(server.url)(sentences) == [flat(words) if words else None for words in sentences]
    (text,) = server.texts
    assert text.splitlines()[1] == "f-LRB-x-RRB- -LRB- see [ 3 ] -RRB- ; -LRB- 100 % a+b %41 <b> &amp; \\n"


def test_corenlp_asks_for_several_sentences_at_once(server: Server) -> None:
    sentences = [[] if i % 5 == 2 else [f"w{i}", *["x"] * (i % 3)] for i in range(29)]
    expected = [flat(words) if words else None for words in sentences]
    assert corenlp_parser(server.url)(sentences) == expected
    assert [text.count("\n") + 1 for text in server.texts] == [10, 10, 3]
    server.texts.clear()
    server.most = 3  # it gives up on more
    assert corenlp_parser(server.url + "/")(sentences) == expected
    assert [text.count("\n") + 1 for text in server.texts] == [10, 5, 2, 3, 5, 2, 3, 10, 5, 2, 3, 5, 2, 3, 3]


def test_corenlp_is_not_asked_without_words(server: Server) -> None:
    parser = corenlp_parser(server.url)
    assert parser([]) == [] and parser([[], []]) == [None, None]
    for word in ("", " ", "a b", "a\u00a0b", "end\n", "\u2028", "\ud800"):
        with pytest.raises(InputError, match=r"^the word '.*' in 'well .*'; expected text, no white space$") as caught:
            parser([["fine"], ["well", word]])
        assert len(str(caught.value).splitlines()) == 1
    assert server.texts == []


def test_trees_that_do_not_fit(server: Server) -> None:
    parser = corenlp_parser(server.url)
    long = "one LOST " + "word " * 30
    shortened = re.escape(repr(" ".join(long.split())[:60]))
    where = re.escape(f"CoreNLP at {server.url}: ")
    with pytest.raises(InputError, match=f"^{where}{shortened}: a tree of 31 words for a sentence of 32$"):
        parser(words_of("fine .", long, "fine ."))
    with pytest.raises(InputError, match=f"^{where}'x SPLIT y': 2 trees for 1 sentence$"):
        parser(words_of("fine .", "x SPLIT y", "fine ."))
    server.answer = (200, '{"sentences": [{"parse": "SENTENCE_SKIPPED_OR_UNPARSABLE"}]}')
    with pytest.raises(InputError, match=f"^{where}'Well .': character 1: 'SENTENCE_SKIPPED.* expected one"):
        parser(words_of("Well ."))


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, "java.lang.OutOfMemoryError:\n  heap", "'a b': HTTP status 500, 'java.lang.OutOfMemoryError: heap'; "),
        (404, "", "'a b': HTTP status 404, ''; "),
        (200, "<html><p>It works!</p></html>", "the answer is not CoreNLP's JSON with parses; "),
        (200, '{"sentences": [{"tokens": []}, {"tokens": []}]}', "the answer is not CoreNLP's JSON with parses; "),
        (200, "[]", "the answer is not CoreNLP's JSON with parses; "),
    ],
)
def test_servers_that_are_no_corenlp(status: int, body: str, said: str, server: Server) -> None:
    server.answer = (status, body)
    with pytest.raises(InputError, match=rf"^CoreNLP at {server.url}: {re.escape(said)}{START}\d+ -timeout 60000$"):
        corenlp_parser(server.url)(words_of("a b", "c"))


def test_servers_that_do_not_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_parsers, "CORENLP_TIMEOUT", (5.0, 0.2))
    server.wait = 60.0
    with pytest.raises(InputError, match=f"^CoreNLP at {server.url}: no answer in time; {START}"):
        corenlp_parser(server.url)(words_of("a b"))
    with socket.socket() as taken:  # nobody listens behind this port
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        told = f"^CoreNLP at http://127.0.0.1:{port}/x: cannot be reached; {START}{port} "  # no password
        with pytest.raises(InputError, match=told):
            corenlp_parser(f"http://me:secret@127.0.0.1:{port}/x")(words_of("a b"))


def test_proxies(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of this machine is asked past them; here the same one is the proxy to another."""
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(variable, server.url)
    for url in (server.url, "http://parser.invalid/"):
        assert corenlp_parser(url)(words_of("a b")) == [flat(["a", "b"])]
    assert [path.split("?")[0] for path in server.paths] == ["/", "http://parser.invalid/"]


@pytest.mark.parametrize("url", ["localhost:9000", "ftp://localhost", "http://", "http://h:port", "http://[1", ""])
def test_urls(url: str) -> None:
    with pytest.raises(InputError, match=f"^CoreNLP's URL is {re.escape(repr(url))}; expected http://HOST:PORT or"):
        corenlp_parser(url)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("(ROOT (S (X a) (Y b)))", "(ROOT (S (X a) (Y b)))"),
        ("(TOP (S (X a) (Y b)))", "(ROOT (S (X a) (Y b)))"),
        ("( (S (X a) (Y b)))", "(ROOT (S (X a) (Y b)))"),
        ("(ROOT (S1 (S (X a) (Y b))))", "(ROOT (S (X a) (Y b)))"),
        ("(S (X a) (Y b))", "(ROOT (S (X a) (Y b)))"),
        ("(ROOT (X a) (Y b))", "(ROOT (X a) (Y b))"),
    ],
)
def test_one_root_stands_above(given: str, expected: str) -> None:
    assert str(other_parsers._fitted("it", given, ("a", "b"))) == expected


def test_a_tree_of_stanza() -> None:
    """Its own class, which writes round brackets as a treebank does and keeps every other word."""
    pytest.importorskip("stanza")
    from stanza.models.constituency.parse_tree import Tree as StanzaTree

    words = ("f(x)", "(", "-RRB-", '"', "日本", "[", "''")
    leaves = [StanzaTree(f"T{i}", StanzaTree(word)) for i, word in enumerate(words)]
    text = str(StanzaTree("ROOT", [StanzaTree("S", [StanzaTree("NP-SBJ", leaves[:3]), *leaves[3:]])]))
    tags = tuple(Tree(f"T{i}", word=word) for i, word in enumerate(words))
    assert other_parsers._fitted("stanza", text, words) == Tree(
        "ROOT", (Tree("S", (Tree("NP-SBJ", tags[:3]), *tags[3:])),)
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder as stanza downloads it; its tagger and its parser were made, trained and saved by stanza's code here."""
    pytest.importorskip("stanza")
    from stanza.models import constituency_parser, tagger

    folder = tmp_path_factory.mktemp("stanza")
    for kind in ("pretrain", "pos", "constituency"):
        (folder / "en" / kind).mkdir(parents=True)
    logger, threads = logging.getLogger("stanza"), torch.get_num_threads()
    logger.setLevel(logging.CRITICAL)
    torch.set_num_threads(1)  # these tensors are tiny
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shared = ["--save_dir", str(folder), "--wordvec_pretrain_file", str(save_vectors(folder))]
        shared += ["--lang", "en", "--shorthand", "en_tiny", "--device", "cpu", "--word_dropout", "0"]
        save_tagger(folder, tagger, shared)
        save_parser(folder, constituency_parser, shared)
    torch.set_num_threads(threads)
    logger.setLevel(logging.INFO)
    needs = {"dependencies": [{"model": "pretrain", "package": "tiny"}]}
    lost = {"dependencies": [{"model": "pretrain", "package": "lost"}]}
    english = {
        "lang_name": "English",
        "packages": {
            "default": {"tokenize": "tiny", "pos": "tiny", "constituency": "tiny"},
            "default_fast": {"tokenize": "tiny", "pos": "tiny"},
            "default_accurate": {"tokenize": "tiny", "pos": "large", "constituency": "large"},
            "half": {"tokenize": "tiny", "pos": "tiny", "constituency": "half"},
            "damaged": {"tokenize": "tiny", "pos": "tiny", "constituency": "damaged"},
        },
        "tokenize": {"tiny": {}},
        "pos": {"tiny": needs, "large": needs},
        "constituency": {"tiny": needs, "large": needs, "half": lost, "damaged": needs},
    }
    (folder / "resources.json").write_text(json.dumps({"en": english}))
    whole = (folder / "en" / "constituency" / "tiny.pt").read_bytes()
    (folder / "en" / "constituency" / "half.pt").write_bytes(whole)
    (folder / "en" / "constituency" / "damaged.pt").write_bytes(whole[: len(whole) // 2])
    yield folder


def save_vectors(folder: Path) -> Path:
    from stanza.models.common.pretrain import Pretrain

    words = sorted({word for text in LEARNED for word in Tree.parse(text).words()})
    rows = torch.randn(len(words), 8).tolist()
    (folder / "vectors.txt").write_text(
        "".join(f"{word} {str(row)[1:-1].replace(',', '')}\n" for word, row in zip(words, rows, strict=True))
    )
    Pretrain(str(folder / "en" / "pretrain" / "tiny.pt"), str(folder / "vectors.txt")).load()
    return folder / "en" / "pretrain" / "tiny.pt"


def save_tagger(folder: Path, tagger: Any, shared: list[str]) -> None:
    from stanza.models.common.pretrain import Pretrain
    from stanza.models.pos.trainer import Trainer

    lines = []
    for tree in map(Tree.parse, LEARNED):
        for i, leaf in enumerate(tree.leaves()):
            lines.append(f"{i + 1}\t{leaf.word}\t_\tX\t{leaf.label}\t_\t{i}\t{'dep' if i else 'root'}\t_\t_\n")
        lines.append("\n")
    (folder / "tags.conllu").write_text("".join(lines))
    small = "--hidden_dim 16 --char_hidden_dim 8 --char_emb_dim 8 --deep_biaff_hidden_dim 16 --word_emb_dim 8"
    small += (
        " --tag_emb_dim 8 --transformed_dim 8 --num_layers 1 --dropout 0 --lr 0.02 --augment_nopunct 0 --word_cutoff 0"
    )
    args = tagger.parse_args([*shared, *small.split(), "--train_file", str(folder / "tags.conllu")])
    pretrain = Pretrain(args["wordvec_pretrain_file"])
    vocab, _, batches = tagger.load_training_data(args, pretrain)
    trainer = Trainer(args=args, vocab=vocab, pretrain=pretrain, device="cpu")
    for _ in range(500):
        if trainer.update(next(iter(batches))) < 0.01:
            break
    trainer.save(str(folder / "en" / "pos" / "tiny.pt"))


def save_parser(folder: Path, constituency_parser: Any, shared: list[str]) -> None:
    from stanza.models.common.foundation_cache import FoundationCache
    from stanza.models.constituency import parser_training, tree_reader

    small = "--hidden_size 32 --transition_hidden_size 8 --delta_embedding_dim 8 --num_lstm_layers 1 --lattn_d_proj 0"
    small += " --no_multistage --optim adamw --learning_rate 0.02 --learning_weight_decay 0 --predict_dropout 0"
    small += " --lstm_input_dropout 0 --rare_word_unknown_frequency 0 --tag_unknown_frequency 0"
    args = constituency_parser.parse_args([*shared, *small.split()])
    trees = tree_reader.read_trees("\n".join(LEARNED))
    trainer, moves, *_ = parser_training.build_trainer(args, trees, trees, [], FoundationCache(), None)
    numbers = {move: torch.tensor([number]) for number, move in enumerate(trainer.transitions)}
    examples = parser_training.compose_train_data(trees, moves)
    loss = torch.nn.CrossEntropyLoss(reduction="sum")
    for _ in range(500):
        epoch = parser_training.train_model_one_epoch(1, trainer, numbers, lambda x: x, loss, examples, None, args)
        if epoch.epoch_loss < 0.5:
            break
    trainer.save(str(folder / "en" / "constituency" / "tiny.pt"), save_optimizer=False)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the test tried to reach, in vain."""
    tried: list[object] = []

    def refuse(*given: object, **_: object) -> None:
        tried.append(given)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tried


def test_stanza_gives_back_what_it_learned(
    models: Path, connections: list[object], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(models))
    parser = stanza_parser(device="cpu")
    first, second = map(Tree.parse, LEARNED)
    sentences = [(), second.words(), first.words(), (), second.words(), first.words(), first.words()]
    expected = [None, second, first, None, second, first, first]
    assert parser(sentences) == expected
    monkeypatch.setattr(other_parsers, "STANZA_SENTENCES", 2)
    assert stanza_parser(device="cpu")(sentences) == expected
    odd = words_of("( \" naïve 日本 ) '' _ a|b=c %", "-LRB- # \x01 x_y \\", "☂")
    trees = parser(odd)
    assert [list(tree.words()) for tree in trees if tree] == odd
    assert all(tree and tree.label == "ROOT" for tree in trees)
    assert parser([]) == [] and parser([[], []]) == [None, None]
    with pytest.raises(InputError, match=r"^the word 'a b' in 'a b'; expected text, no white space$"):
        parser([["a b"]])
    assert connections == [] and caplog.records == []
    assert logging.getLogger("stanza").level == logging.INFO  # as before


def test_stanza_drops_a_sentence(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that takes too many steps is given up, and stanza has a tree too few; the error names its sentence."""
    from stanza.models.constituency.base_model import BaseModel

    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(models))
    parse = BaseModel.parse_tagged_words

    def dropping(self: Any, words: list[list[tuple[str, str]]], batch_size: int) -> Any:
        return parse(self, [row for row in words if "endless" not in dict(row)], batch_size)

    monkeypatch.setattr(BaseModel, "parse_tagged_words", dropping)
    first, second = (Tree.parse(text).words() for text in LEARNED)
    with pytest.raises(InputError, match=r"^stanza: 'an endless story': no tree was found$"):
        stanza_parser(device="cpu")([first, second, ("an", "endless", "story"), second])


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("default_accurate", "stanza's package 'default_accurate' has no en/constituency/large.pt in FOLDER; GET"),
        ("half", "stanza's package 'half' has no en/pretrain/lost.pt in FOLDER; GET"),
        ("damaged", r"stanza cannot load package 'damaged' from FOLDER \(\w+: .+\); GET"),
        (
            "default_fast",
            "stanza has no English parser in package 'default_fast'; expected one of default, default_acc.*",
        ),
        ("nobody", "stanza has no English parser in package 'nobody'; expected one of default, default_accurate, .*"),
    ],
)
def test_stanza_without_its_models(
    package: str,
    said: str,
    models: Path,
    connections: list[object],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(models))
    get = re.escape(f"python -c \"import stanza; stanza.download('en', package='{package}')\"")
    with pytest.raises(InputError, match=f"^{said.replace('FOLDER', re.escape(str(models))).replace('GET', get)}$"):
        stanza_parser(package, device="cpu")
    assert connections == [] and caplog.records == []


def test_stanza_without_anything(
    tmp_path: Path, connections: list[object], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("stanza")
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
    get = re.escape("python -c \"import stanza; stanza.download('en')\"")
    with pytest.raises(InputError, match=rf"^stanza's package 'default' has no resources\.json in .*; {get}$"):
        stanza_parser()
    (tmp_path / "resources.json").write_text("{")
    with pytest.raises(
        InputError, match=rf"^stanza cannot load package 'default' from .* \(JSONDecodeError: .*\); {get}$"
    ):
        stanza_parser()
    assert connections == [] and caplog.records == [] and list(tmp_path.iterdir()) == [tmp_path / "resources.json"]


def test_extras_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(InputError, match=r"^parser 'stanza' needs stanza; pip install 'paraform\[stanza\]'$"):
        stanza_parser()
    for module in ("nltk.parse.corenlp", "requests"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(InputError, match=r"^parser 'corenlp' needs .*; pip install 'paraform\[corenlp\]'$"):
                corenlp_parser()
