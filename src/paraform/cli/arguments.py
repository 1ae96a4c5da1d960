"""What the commands have in common: options, help, and reading what the user names."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from jsonargparse import ArgumentParser, DefaultHelpFormatter, Namespace
from jsonargparse.typing import NonNegativeFloat, PositiveInt, restricted_number_type

from paraform.records import InputError
from paraform.words import CUT, UNREAD

if TYPE_CHECKING:
    from paraform.capabilities import Embedder, LatentSpace, Paraphraser
    from paraform.decoding import Decoding
    from paraform.engines import Engine

# The keys of corpora.FORMATS, whose import would bring torch along; a test compares the two.
FORMATS = ("pairs", "quora", "labelled-pairs", "paranmt", "qqp-pos", "captions", "triples", "text", "labelled", "jsonl")
TABLES = ("csv", "tsv", "jsonl")  # those of corpora.tables, likewise


Item = TypeVar("Item")
LATENT_MODEL = "latent-compact"
Share = restricted_number_type("Share", float, [(">", 0), ("<=", 1)])
Seed = restricted_number_type("Seed", int, [(">=", 0), ("<", 2**32)])
Count = restricted_number_type("Count", int, [(">", 0), ("<=", 10**9)])
Steps = restricted_number_type("Steps", int, [(">=", 2), ("<=", 10**9)])


class HelpFormatter(argparse.RawDescriptionHelpFormatter, DefaultHelpFormatter):
    """jsonargparse's help, with description and example as they are written."""


def make_parser(command: str, doc: str | None) -> ArgumentParser:
    """A parser with the options of every command.

    Args:
        doc: a text on what the command does, and its example behind "Example:".
    """
    description, _, example = (doc or "").strip().partition("Example:\n")
    parser = ArgumentParser(
        prog=f"paraform {command}",
        description=description,
        epilog=f"Example:\n{example}",
        formatter_class=HelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
    )
    from paraform import __version__

    parser.add_argument("--version", action="version", version=f"paraform {__version__}", help="Print the version.")
    parser.add_argument("--device", type=str | None, default=None, help="cpu, cuda …; null: the GPU if there is one")
    parser.add_argument(
        "--products",
        type=Literal["float32", "bfloat16"] | None,
        default=None,
        help="numbers of matrix products; else $PARAFORM_PRODUCTS, else what this machine multiplies fastest",
    )
    parser.add_argument("--batch-size", type=PositiveInt | None, default=None, help="sentences computed at once")
    parser.add_argument("--seed", type=Seed, default=0, help="the seed of every draw")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, and nothing else there")
    return parser


def add_reading(parser: ArgumentParser, default: str = "pairs", *, tables: bool = False) -> None:
    """The options of a command that reads records; with `tables`, of one that `reading.rows_of` reads for."""
    formats = tuple(dict.fromkeys([*FORMATS, *TABLES])) if tables else FORMATS
    parser.add_argument("--format", choices=formats, default=default, help="the file's; README.md describes each")
    if tables:
        add_text_column(parser)
    add_skipping(parser)


def add_skipping(parser: ArgumentParser) -> None:
    """The option of a command that reads lines."""
    parser.add_argument("--skip-bad-lines", action="store_true", help="count them in a warning instead of stopping")


def add_text_column(parser: ArgumentParser) -> None:
    """The option of a command that reads tables."""
    parser.add_argument(
        "--text-column",
        type=str | None,
        default=None,
        help="that of the texts in a table; null: the one named text, sentence, utterance, question or source",
    )


def add_texts(parser: ArgumentParser, *, tables: bool = False) -> None:
    """The positional argument of a command that reads texts; with `tables`, from columns of tables, too."""
    parser.add_argument(
        "text",
        nargs="*",
        type=str,
        default=[],
        metavar="TEXT|FILE|-",
        help="texts, files with one a line (of pairs: the sources), or - for stdin",
    )
    add_reading(parser, "text", tables=tables)


def add_search(parser: ArgumentParser) -> None:
    """The options of a command that decodes from sources."""
    parser.add_argument("--beam", type=PositiveInt, default=1, help="hypotheses kept; 1 is greedy")
    parser.add_argument(
        "--no-ration", action="store_true", help="words may be said twice running, and any number of times"
    )


def add_decoding(parser: ArgumentParser) -> None:
    """The options of a command that says what latent vectors mean."""
    parser.add_argument(
        "--model", type=str, default=LATENT_MODEL, help="embedded, a run's folder, a checkpoint, or a hub id"
    )
    parser.add_argument("--beam", type=PositiveInt, default=1, help="hypotheses kept; 1 is greedy")
    add_drawing(parser)


def add_drawing(parser: ArgumentParser) -> None:
    """The options of drawing words."""
    parser.add_argument("--temperature", type=NonNegativeFloat, default=0.0, help="above 0 words are drawn")
    parser.add_argument("--top-p", type=Share, default=1.0, help="share of the probability that is drawn from")


def decoding_of(options: Namespace) -> Decoding:
    """What the options of decoding say. Raises: InputError as `require_decoding` does."""
    from paraform.decoding import Decoding, require_decoding

    how = Decoding(beam=options.beam, temperature=options.temperature, top_p=options.top_p, seed=options.seed)
    how["progress"] = True
    if options.batch_size:
        how["batch_size"] = options.batch_size
    require_decoding(how, lambda name: f"--{name.replace('_', '-')}")
    return how


def add_engine(parser: ArgumentParser) -> None:
    """The options of a command that goes through a corpus in chunks."""
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="all cores here, or a Ray cluster")
    parser.add_argument("--workers", type=PositiveInt | None, default=None, help="processes; null: one a core")
    parser.add_argument(
        "--address", type=str | None, default=None, help="the Ray cluster's; null: one that runs, else one here"
    )


def engine_of(options: Namespace) -> Engine:
    """Where the chunks are computed. Raises: InputError if the options do not fit together."""
    from paraform.engines import Engine

    return Engine(options.engine, options.workers, options.address)


def early(given: Sequence[str], option: str, default: str) -> str:
    """An option's value, before the arguments are parsed: the defaults of --config.FIELD depend on it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(option, dest="value", default=default)
    try:
        return str(parser.parse_known_args(list(given))[0].value)
    except argparse.ArgumentError:  # without a value, which the real parser will report
        return default


def field_help(parser: ArgumentParser, config: type[Any], prefix: str = "") -> None:
    """Give the options made from a dataclass's fields the words of its docstring."""
    words: dict[str, str] = {}
    for names, text in re.findall(r"^ {4}([\w, ]+): (.+(?:\n {8}.+)*)", inspect.getdoc(config) or "", re.MULTILINE):
        words |= {name: " ".join(text.split()).replace("%", "%%") for name in names.split(", ")}
    for action in parser._actions:
        if action.dest.startswith(prefix) and not action.help:
            action.help = words.get(action.dest.removeprefix(prefix))


def device_of(options: Namespace) -> str | None:
    """The device, if torch can use it. Raises: InputError otherwise."""
    if options.device is None:
        return None
    import torch

    try:
        if torch.empty(0, device=options.device).is_meta:
            raise RuntimeError("it holds no numbers")
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was compiled with CUDA
        reason = re.sub(r"^Expected one of .*", "no kind of device", str(error).splitlines()[0])  # a line of nineteen
        raise InputError(f"--device {options.device}: {reason}; cpu always works") from error
    return str(options.device)


def training_device(options: Namespace) -> str:
    """The kind of device that accelerate trains on. Raises: InputError for another GPU than the first."""
    device, _, number = (device_of(options) or "auto").partition(":")
    if number not in ("", "0"):
        raise InputError(f"--device {options.device}: expected {device}; CUDA_VISIBLE_DEVICES says which")
    return device


def checkpoint_named(name: str) -> str:
    """The best checkpoint of a run's folder; any other name as it is."""
    from paraform.manifest import NAME

    best = os.path.join(name, "best")
    run = not os.path.isfile(os.path.join(name, NAME)) and os.path.isfile(os.path.join(best, NAME))
    return best if run else name


def chosen_name(given: str, options: Namespace) -> str:
    """A model's name as `checkpoint.load` takes it: of a run's folder the best checkpoint, with --layer and --pooling.

    Raises: InputError if one of them is chosen in the name already.
    """
    from paraform.encoders.names import with_choices

    return with_choices(checkpoint_named(given), {key: options.get(key) for key in ("layer", "pooling")})


def load_able(options: Namespace, ability: Any, expected: str, option: str = "model", name: str | None = None) -> Any:
    """The model that the option names (of a run's folder the best checkpoint), if it can do what a protocol asks.

    Args:
        ability: one of `capabilities`.
        expected: such a model in words.
        name: one of several that the option names; None: the only one.
    Raises: InputError otherwise.
    """
    from paraform import checkpoint

    given = options[option] if name is None else name
    model = checkpoint.load(chosen_name(given, options), device=device_of(options))
    if not isinstance(model, ability):
        raise InputError(f"--{option} {given}: {model.kind}; expected {expected}")
    return model


def load_paraphraser(options: Namespace) -> Paraphraser:
    """The model, if it can paraphrase. Raises: InputError otherwise."""
    from paraform.capabilities import Paraphraser

    model: Paraphraser = load_able(options, Paraphraser, "a model that paraphrases")
    return model


EMBEDDERS = """A model is named, by --model:
  minilm, compact, latent-compact  embedded ones
  FOLDER | OWNER/NAME      a checkpoint, a run, a Hugging Face encoder, a seq2seq model (its encoder half), a
                           sentence-transformers model with all its modules; of safetensors, and no code of its own;
                           or ELMo's published options.json and weights.hdf5
  FILE.txt | FILE.vec      GloVe or word2vec: the mean of the words' vectors
What is chosen of it stands behind an @, so that variants are models side by side:
  minilm@layer=3           the states of a layer: 0 the embeddings, negative from the end
  minilm@layer=3,pooling=cls    mean, cls (the first token), max, or last (the last token)
  compact@vectors=style   of a model with several kinds of vectors
  minilm@weights=random,seed=1  the same network untrained, a floor
"""


def load_embedder(options: Namespace) -> Embedder:
    """The model, if it can embed, or what `--vectors SENTENCES VECTORS` names. Raises: InputError otherwise."""
    from paraform.capabilities import Embedder

    if isinstance(given := options.get("vectors"), list):
        from paraform.encoders import read_vectors

        return read_vectors(*given)
    model: Embedder = load_able(options, Embedder, "a model that embeds")
    return model


def name_of_vectors(options: Namespace) -> str:
    """What tables call the model that `load_embedder` gives: --model, or the file of the vectors in its place."""
    given = options.get("vectors")
    return str(given[1] if isinstance(given, list) else options.model)


def add_given_vectors(parser: ArgumentParser) -> None:
    """The option of a command that measures vectors, in the place of --model."""
    parser.add_argument(
        "--vectors",
        nargs=2,
        type=str,
        default=None,
        metavar=("SENTENCES", "VECTORS"),
        help="measure these in the place of --model: a text file, and a .npy file with a row for each of its lines",
    )


def load_latent(options: Namespace, option: str = "model") -> LatentSpace:
    """The model, if it has a latent space to decode from. Raises: InputError otherwise."""
    from paraform.capabilities import LatentSpace

    model: LatentSpace = load_able(options, LatentSpace, "a latent-variable model", option)
    return model


@contextlib.contextmanager
def bad_values() -> Iterator[None]:
    """A ValueError of a config that the options filled is the user's."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


SUMMED = (CUT, UNREAD)  # messages that begin with two counts


class Teller(logging.Handler):
    """The library's warnings, as this program says them; of texts not read whole the sum, when `flush` is called."""

    def __init__(self) -> None:
        super().__init__()
        self._lost: Counter[tuple[str, ...]] = Counter()
        self._texts: Counter[tuple[str, ...]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """One line on stderr."""
        if record.msg in SUMMED:
            lost, texts, *about = cast(tuple[Any, ...], record.args)
            self._lost[record.msg, *about] += lost
            self._texts[record.msg, *about] += texts
        elif record.levelno >= logging.WARNING:
            tell(record.getMessage())

    def flush(self) -> None:
        """A line for each model that has cut texts, or could not read some."""
        for which, lost in (+self._lost).items():
            message, *about = which
            tell(message % (lost, self._texts[which], *about))
        self._lost.clear()
        self._texts.clear()


def tell(message: str) -> None:
    """One line on stderr."""
    print(f"paraform: {message}", file=sys.stderr)


def tell_unknown(model: LatentSpace, texts: Sequence[str]) -> None:
    """How many words a latent-variable model does not know, if there are some: it says others in their place."""
    if unknown := model.unknown(texts):
        words = sum(len(model.words(text)) for text in texts)
        tell(f"{unknown:,} of {words:,} words are unknown to the model")


def readable(
    model: LatentSpace, items: Iterable[Item], options: Namespace, text_of: Callable[[Item], str] = str
) -> Iterator[Item]:
    """The texts that a latent-variable model can read; with --skip-bad-lines longer ones are counted and left out.

    Args:
        items: the texts, or what `text_of` finds them in.

    Raises: InputError for a longer one, by its number among all, or if none is left.
    """
    most = model.max_tokens
    number, long = 0, 0
    for number, item in enumerate(items, start=1):
        count = len(model.words(text_of(item)))
        if count <= most:
            yield item
        elif options.skip_bad_lines:
            long += 1
        else:
            raise InputError(
                f"text {number:,} has {count:,} words; expected at most {most}, as {options.model} was"
                " trained (--skip-bad-lines leaves longer ones out)"
            )
    if long == number:
        raise InputError(f"no text of at most {most} words, as {options.model} was trained on; expected some")
    if long:
        tell(f"{long:,} of {number:,} texts have more than {most} words; left out")


def bound_memory() -> None:
    """For a command that goes through texts without end; to be called before anything imports torch.

    oneDNN and torch each keep what they compiled for the last 1,024 shapes of a product. Each batch of texts has a
    shape of its own, so that these grow for tens of thousands of texts, and save no time (docs/benchmarks.md).
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, "16")
