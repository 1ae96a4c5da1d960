"""Trees by parsers of others: stanza, or a running CoreNLP server through NLTK's client, behind one function."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from paraform.records import InputError, counted
from paraform.syntax.trees import Parser, Tree, without_root
from paraform.words import escape

Words: TypeAlias = tuple[str, ...]

STANZA_SENTENCES = 1000  # parsed at once; stanza sorts them by length and holds them all in memory
STANZA_NEEDS = ("tokenize", "pos", "constituency")
CORENLP_SENTENCES = 10  # in one request; a server gives up on one after 15 s unless it was started otherwise
CORENLP_TIMEOUT = (5.0, 120.0)  # seconds to connect, and to wait for an answer; the first one waits for the models
CORENLP_PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,parse",
    "tokenize.whitespace": "true",
    "ssplit.eolonly": "true",
}


class _Refused(Exception):
    """No trees for these sentences together; there may be some for fewer of them."""


def stanza_parser(package: str = "default", *, device: str | None = None) -> Parser:
    """Stanza's constituency parser with stanza's tags, from models that are on this machine; nothing is downloaded.

    Args:
        package: a package of stanza's English models with a constituency parser: "default", "default_accurate".
        device: a device by torch's name; None takes a GPU if there is one.
    Raises: InputError if stanza or the models are not there; the message says how to get them.
    """
    try:
        import stanza
        from stanza.resources.common import DEFAULT_MODEL_DIR
    except ImportError as error:
        raise InputError("parser 'stanza' needs stanza; pip install 'paraform[stanza]'") from error
    folder = Path(os.environ.get("STANZA_RESOURCES_DIR") or DEFAULT_MODEL_DIR)
    chosen = "'en'" if package == "default" else f"'en', package={package!r}"
    remedy = f'python -c "import stanza; stanza.download({chosen})"'
    with _silent_stanza():
        try:
            missing = [file for file in _stanza_files(folder, package) if not (folder / file).is_file()]
            if missing:
                raise InputError(f"stanza's package {package!r} has no {missing[0]} in {folder}; {remedy}")
            models = {"dir": str(folder), "package": package, "processors": ",".join(STANZA_NEEDS)}
            pipeline = stanza.Pipeline("en", **models, tokenize_pretokenized=True, download_method=None, device=device)
        except InputError:
            raise
        except Exception as error:  # damaged files end in whatever stanza, torch, pickle or json trips over
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise InputError(f"stanza cannot load package {package!r} from {folder} ({reason}); {remedy}") from error

    def ask(batch: Sequence[Words]) -> list[str]:
        with _silent_stanza():
            try:
                document = pipeline([list(words) for words in batch])
            except AssertionError as error:  # it drops a sentence whose search does not end, then counts its trees
                raise _Refused("no tree was found") from error
        return [str(sentence.constituency) for sentence in document.sentences]

    return _parser("stanza", ask, at_once=STANZA_SENTENCES)


def _stanza_files(folder: Path, package: str) -> list[str]:
    """What the pipeline will load. Where some of it is missing, stanza would download it, whatever it is told."""
    from stanza.resources import common

    if not (folder / "resources.json").is_file():
        return ["resources.json"]
    resources = common.load_resources_json(str(folder))
    *_, wanted = common.process_pipeline_parameters("en", str(folder), package, ",".join(STANZA_NEEDS))
    listed = common.maintain_processor_list(resources, "en", None, wanted, maybe_add_mwt=False)
    if {name for name, _ in listed} != set(STANZA_NEEDS):
        able = [name for name, models in resources["en"]["packages"].items() if "constituency" in models]
        raise InputError(f"stanza has no English parser in package {package!r}; expected one of {', '.join(able)}")
    models = [item for item in common.add_dependencies(resources, "en", listed) if item[0] != "tokenize"]
    return sorted(f"en/{kind}/{name}.pt" for kind, name in common.flatten_processor_list(models))


@contextmanager
def _silent_stanza() -> Iterator[None]:
    """Stanza logs what it then raises, with a traceback; the user sees one line."""
    level = (logger := logging.getLogger("stanza")).level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def corenlp_parser(url: str = "http://localhost:9000") -> Parser:
    """The parser of a CoreNLP server that is running; the server is first asked when there are words to parse.

    Args:
        url: the server's; a user and password may stand in it. A server on this machine is asked past any proxy.
    Raises: InputError if NLTK is not installed or the URL is none; and, when parsing, if no CoreNLP answers there.
    """
    shown = re.sub(r"//[^/]*@", "//", url)  # without the password
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise InputError(f"CoreNLP's URL is {shown!r}; expected http://HOST:PORT or https://HOST:PORT")
    try:
        import requests
        from nltk.parse.corenlp import CoreNLPParser
    except ImportError as error:
        raise InputError("parser 'corenlp' needs NLTK and requests; pip install 'paraform[corenlp]'") from error
    client = CoreNLPParser(url, strict_json=False)  # some control characters come back as they are
    client.session.trust_env = not (host in ("localhost", "::1") or host.startswith("127."))  # else no proxy
    name = f"CoreNLP at {shown}"
    server = f"edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port {port or 9000} -timeout 60000"
    remedy = f'start it in CoreNLP\'s folder: java -mx4g -cp "*" {server}'

    def ask(batch: Sequence[Words]) -> list[str]:
        # A server that is given words takes the treebank's brackets, and some versions write others into trees as is.
        text = escape("\n".join(map(" ".join, batch)))
        try:
            answer = client.api_call(text, properties=CORENLP_PROPERTIES, timeout=CORENLP_TIMEOUT)
            return [str(sentence["parse"]) for sentence in answer["sentences"]]
        except requests.HTTPError as error:
            assert error.response is not None  # it is about one
            status, body = error.response.status_code, " ".join(error.response.text.split())[:80]
            raise _Refused(f"HTTP status {status}, {body!r}; {remedy}") from error  # perhaps it took too long
        except (requests.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"{name}: the answer is not CoreNLP's JSON with parses; {remedy}") from error
        except requests.RequestException as error:
            reason = "no answer in time" if isinstance(error, requests.Timeout) else "cannot be reached"
            raise InputError(f"{name}: {reason}; {remedy}") from error

    return _parser(name, ask, at_once=CORENLP_SENTENCES)


def _parser(name: str, ask: Callable[[Sequence[Words]], list[str]], *, at_once: int) -> Parser:
    def parse(sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        rows = [tuple(words) for words in sentences]
        for words in rows:
            for word in words:
                if word.split() != [word] or word.encode(errors="ignore").decode() != word:
                    raise InputError(f"the word {word[:40]!r} in {_shortened(words)}; expected text, no white space")
        full = [words for words in rows if words]
        batches = [full[start : start + at_once] for start in range(0, len(full), at_once)]
        found = iter([tree for batch in batches for tree in _trees(name, ask, batch)])
        return [next(found) if words else None for words in rows]

    return parse


def _trees(name: str, ask: Callable[[Sequence[Words]], list[str]], batch: Sequence[Words]) -> list[Tree]:
    """The trees of a batch, or of its halves if it is refused, so that an error names the one sentence."""
    try:
        found = ask(batch)
        if len(found) != len(batch):
            raise _Refused(f"{counted(len(found), 'tree')} for {counted(len(batch), 'sentence')}")
    except _Refused as error:
        if len(batch) == 1:
            raise InputError(f"{name}: {_shortened(batch[0])}: {error}") from error
        half = len(batch) // 2
        return _trees(name, ask, batch[:half]) + _trees(name, ask, batch[half:])
    return [_fitted(name, text, words) for text, words in zip(found, batch, strict=True)]


def _fitted(name: str, text: str, words: Words) -> Tree:
    """The tree of a bracketed text below one ROOT, with these words: a parser may write quotes and brackets its way."""
    try:
        tree = Tree.parse(text)
        count = sum(1 for _ in tree.leaves())
        if count != len(words):
            raise InputError(f"a tree of {count} words for a sentence of {len(words)}")
    except InputError as error:
        raise InputError(f"{name}: {_shortened(words)}: {error}") from error
    following = iter(words)

    def with_words(node: Tree) -> Tree:
        if node.children:
            return Tree(node.label, tuple(map(with_words, node.children)))
        return Tree(node.label, word=next(following))

    return Tree("ROOT", tuple(map(with_words, without_root(tree))))


def _shortened(words: Words) -> str:
    return repr(" ".join(words)[:60])
