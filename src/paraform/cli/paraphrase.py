"""Say each text in other words, or in the form of an exemplar.

Without --like, each text is said in other words, by rules and, where these do not do, by a language model (once
`paraform fetch smollm2` was run); every candidate is checked (numbers, names, negation, kind, who does what, meaning,
grammar), and the best is printed; a text that no candidate does justice to is left out, and counted with the reason.
--model rules leaves the language model out; another one that paraphrases takes its place. Of a table (CSV, TSV, JSON
lines) --text-column says which column the texts are in; --json has the line and the other columns of each.

With --like, texts and exemplars pair up when there are as many of one as of the other; one exemplar serves all texts;
--each gives every combination. Nothing is dropped but what --min-content says; how many may say something else is told
on stderr, and --json has the checks. --template takes trees in the exemplars' place, of a model that writes by trees
(train scpn, sgcp, seq2seq, disentangled); one that has templates of its own (train scpn) takes the --num commonest of
these where no form is given. --height says how much of an exemplar's tree is read, of a model that reads it (train
sgcp, seq2seq).

Example:
  paraform paraphrase "Can I use my card abroad?" --num 3
  paraform paraphrase questions.txt --otherwise copy --json > reworded.json
  paraform paraphrase "how can i earn money online ?" --like "what is the best way to reduce weight ?"
  paraform paraphrase questions.txt --template "(SBARQ (WHNP) (SQ) (.))" --model runs/mine
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt, restricted_number_type

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import add_drawing, add_search, decoding_of, repetition_of
from paraform.cli.messages import tell
from paraform.cli.models import device_of, load_paraphraser
from paraform.cli.options import add_texts
from paraform.cli.output import print_json, print_rewordings
from paraform.cli.reading import GivenText, read_texts, rows_of
from paraform.records import Candidate, InputError, Rewording

if TYPE_CHECKING:
    from paraform.decoding import Decoding
    from paraform.rewording.reworder import Reworder
    from paraform.syntax.trees import Tree

LIKE_MODEL = "compact"
TOLD = ("numbers", "names", "negation", "fluent", "stutter")  # by a warning, of outputs in a given form
KEPT = ("slots", "verbatim", "kept")  # an output in a given form that fails one of these is left out
Cosine = restricted_number_type("Cosine", float, [(">=", -1), ("<=", 1)])


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser, tables=True)
    parser.add_argument(
        "--like", nargs="+", type=str, metavar="EXEMPLAR", help="sentences whose form to take, or a file of them"
    )
    parser.add_argument(
        "--template",
        nargs="+",
        type=str,
        metavar="TREE",
        help="forms to take, trees cut at any height: (S (NP) (VP))",
    )
    parser.add_argument(
        "--height",
        type=Literal["full", "best"] | PositiveInt | None,
        default=None,
        metavar="LEVELS",
        help="of exemplars' trees: so many levels, full, or best, the one of several whose output is nearest the text",
    )
    parser.add_argument("--each", action="store_true", help="every text with every exemplar")
    parser.add_argument("--num", type=PositiveInt, default=1, help="rewordings of each text, at most")
    parser.add_argument("--min-content", type=Cosine | None, default=None, help="drop outputs of a lower content score")
    parser.add_argument(
        "--otherwise", choices=("skip", "copy"), default="skip", help="what becomes of a text without a rewording"
    )
    add_choices(parser)
    add_model(parser, f", {LIKE_MODEL} where a form is given")
    add_search(parser)
    add_drawing(parser)


def run(options: Namespace) -> int:
    """Print the paraphrases."""
    how: Decoding = {**decoding_of(options), **repetition_of(options)}
    if options.like is not None and options.template is not None:
        raise InputError("--like and --template; expected one of them")
    forms = options.template or options.like
    if forms is not None and options.num > 1:
        raise InputError("--num is of rewordings without --like; leave one out, or give --like more exemplars")
    if options.height is not None and options.like is None:
        raise InputError("--height needs --like: it is of exemplars' trees")
    if options.each and forms is None:
        raise InputError("--each needs --like")
    if forms is not None:
        options.model = options.model or LIKE_MODEL
    rows = list(rows_of(options.text, options, whole=True))
    like = options.template if options.like is None else read_texts(options.like, options, "exemplar")
    more = more_by_model(options)
    reworder = load_reworder(options)
    found = filtered(reworded([row.text for row in rows], like, reworder, how, options), options)
    if forms is not None:
        tell_drifted(found)
    if skipped := [one for one in found if one.reason]:
        done = "left out" if options.otherwise == "skip" else "copied"
        reasons = ", ".join(f"{count} {why}" for why, count in Counter(one.reason for one in skipped).most_common())
        tell(f"{len(skipped)} of {len(rows)} texts {done}: {reasons}{forced((one.reason for one in skipped), more)}")
    copy = options.otherwise == "copy"
    shown = [
        (row, candidate)
        for row, one in zip(rows, found, strict=True)
        for candidate in one.candidates or given_back(one, copy)
    ]
    if options.json:
        skips = [{**about(row), "reason": one.reason} for row, one in zip(rows, found, strict=True) if one.reason]
        paraphrases = [{**about(row), **candidate.to_json()} for row, candidate in shown]
        print_json({"paraphrases": paraphrases, "skipped": skips, "model": options.model})
    else:
        pairs = [(row.text, candidate.text) for row, candidate in shown]
        print_rewordings(pairs, alone=len({row.text for row in rows}) <= 1)
    return 0


def add_choices(parser: ArgumentParser) -> None:
    """The options of a command that rewords: which texts, how much of them, and what stays."""
    parser.add_argument(
        "--force", action="store_true", help="try texts too that look like another language, code, shouting or junk"
    )
    parser.add_argument(
        "--change",
        type=Literal["little", "much"] | None,
        default=None,
        help="how much of a text; null: two words, or a synonym",
    )
    parser.add_argument(
        "--keep", nargs="+", type=str, default=(), metavar="TERM", help="words that stay as they are, or a file of them"
    )


def forced(reasons: Iterable[str], more: str) -> str:
    """Behind the reasons of some texts: what lets those through that were not tried, and `more` if others are there."""
    from paraform.rewording.readable import FORCED

    found = {*reasons}
    return (" (--force tries them)" if found & {*FORCED} else "") + (more if found - {*FORCED} else "")


def more_by_model(options: Namespace) -> str:
    """How to get what rewords more, where no model is named and none is there; "" elsewhere."""
    from paraform.default_call import MORE, RULES, default_model

    return f"; {MORE}" if options.model is None and default_model() == RULES else ""


def add_model(parser: ArgumentParser, otherwise: str = "") -> None:
    """The option of a command that rewords.

    Args:
        otherwise: what else null stands for.
    """
    usual = "null: smollm2-free where smollm2 was fetched"
    parser.add_argument(
        "--model", type=str | None, default=None, help=f"embedded, a folder, a hub id, or rules; {usual}{otherwise}"
    )


def load_reworder(options: Namespace) -> Reworder:
    """What rewords and judges: rules, and the model that is named, or the default one; `options.model` says which.

    Raises: InputError for a model that does not paraphrase.
    """
    from paraform.default_call import RULES, default_model, paraphraser_named
    from paraform.rewording.reworder import Reworder

    if options.model is None:
        model, options.model = paraphraser_named(None, device_of(options)), default_model()
    else:
        model = None if options.model == RULES else load_paraphraser(options)
    return Reworder.default(
        device_of(options), paraphraser=model, change=options.change, keep=terms_of(options.keep, options)
    )


def terms_of(given: Sequence[str], options: Namespace) -> list[str]:
    """The terms that arguments give, or name the files of, one a line, whatever the texts are in.

    Raises: InputError as `read_texts`.
    """
    plain = copy.copy(options)
    plain.format, plain.text_column, plain.skip_bad_lines = "text", None, False
    return read_texts(given, plain, "term") if given else []


def reworded(
    texts: Sequence[str], like: Sequence[str] | None, reworder: Reworder, how: Decoding, options: Namespace
) -> list[Rewording]:
    """What is said in the place of each text."""
    from paraform.capabilities import CutsExemplars, HasTemplates, Paraphraser, WritesByTree
    from paraform.models.selection import select_exemplars

    model = reworder.paraphraser
    if model is None or (like is None and not isinstance(model, HasTemplates)):
        with bad_values():
            return reworder.reword(texts, num=options.num, force=options.force, **how)
    if not isinstance(model, Paraphraser):
        raise InputError(f"{options.model} is {model.kind}, which takes no form; leave --like out")
    trees = {text: tree_of(text, number) for number, text in enumerate(options.template or (), start=1)}
    each = options.each
    if like is None and isinstance(model, HasTemplates):
        trees, each = {str(tree): tree for tree in model.templates[: options.num]}, True
        like = list(trees)
    if trees:
        chosen = select_exemplars(texts, like, (), each=each, trees=True)
    else:
        chosen = model.exemplars(texts, like, each=each)
    sources = [text for text, row in zip(texts, chosen, strict=True) for _ in row]
    exemplars = [exemplar for row in chosen for exemplar in row]
    with bad_values():
        if options.height is not None:
            if not isinstance(model, CutsExemplars):
                raise InputError(
                    f"{options.model} is {model.kind}; --height expects a model that reads exemplars' trees"
                )
            outputs = model.decode_at(sources, exemplars, options.height, **how)
        elif not trees:
            outputs = model.decode(sources, exemplars, **how)
        elif isinstance(model, WritesByTree):
            outputs = model.decode_trees(sources, [trees[text] for text in exemplars], **how)
        else:
            raise InputError(f"{options.model} is {model.kind}; --template expects a model that writes by trees")
    candidates = iter(reworder.assess(sources, outputs, exemplars))
    return [Rewording(text, tuple(next(candidates) for _ in row)) for text, row in zip(texts, chosen, strict=True)]


def tree_of(text: str, number: int) -> Tree:
    """The tree that a template is. Raises: InputError, with its number, if it is none."""
    from paraform.syntax.trees import Tree

    try:
        return Tree.parse(text)
    except InputError as error:
        raise InputError(f"template {number}: {error}") from error


def filtered(found: Sequence[Rewording], options: Namespace) -> list[Rewording]:
    """Without candidates that lost a slot or another run of characters, or whose content is below `--min-content`.

    How many there were is told.
    """
    least = options.min_content
    lost = "a slot, a number or a name with marks is lost"

    def why(candidate: Candidate) -> str:
        if {*KEPT} & {*candidate.failed}:
            return lost
        return "" if least is None or candidate.figures["content"] >= least else f"content below {least}"

    dropped, kept = Counter[str](), []
    for one in found:
        reasons = [why(candidate) for candidate in one.candidates]
        dropped.update(filter(None, reasons))
        left = tuple(each for each, reason in zip(one.candidates, reasons, strict=True) if not reason)
        reason = one.reason or ("" if left else Counter(reasons).most_common(1)[0][0])
        kept.append(replace(one, candidates=left, reason=reason))
    if dropped:
        count = sum(len(one.candidates) for one in found)
        why_not = ", ".join(f"{number} × {reason}" for reason, number in dropped.most_common())
        tell(f"{dropped.total()} of {count} paraphrases dropped: {why_not}")
    return kept


def tell_drifted(found: Sequence[Rewording]) -> None:
    """How many outputs in a given form look as if they said something else, or were no good English, if some do."""
    from paraform.rewording.standards import STANDARDS

    least = STANDARDS.content
    outputs = [candidate for one in found for candidate in one.candidates]
    why = [
        [f"content below {least}"] * (candidate.figures["content"] < least)
        + [name for name in candidate.failed if name in TOLD]
        for candidate in outputs
    ]
    if drifted := sum(map(bool, why)):
        counted = ", ".join(f"{count} {name}" for name, count in Counter(itertools.chain(*why)).most_common())
        tell(
            f"{drifted} of {len(outputs)} paraphrases may say something else or read badly ({counted});"
            " --json has their checks"
        )


def given_back(one: Rewording, copy: bool) -> list[Candidate]:
    """The text itself, if it has no rewording and is to be copied."""
    return [Candidate(one.source, "", {}, 0.0)] if one.reason and copy else []


def about(row: GivenText) -> dict[str, Any]:
    """What `--json` says of a text: itself, its line and a table's other columns."""
    line = {} if row.line is None else {"line": row.line}
    return {"source": row.text, **line, **({"row": row.fields} if row.fields else {})}
