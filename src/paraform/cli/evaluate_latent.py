"""How good a latent-variable model is, by the paper's protocol and by an honest one, side by side.

Reconstruction, KL, −ELBO, perplexity, mutual information and active units. The paper's KL is its critics' estimate,
which is no bound; the honest one is the closed form, and likelihoods are importance-weighted bounds. Alarms say where
the two do not go together, and where more draws would tighten the bound (--bound-samples). With --training FILE,
forward and reverse perplexity of greedy samples by 5-gram models too. With --against MODEL, another one that knows the
same words beside it, and whether the sentences tell the two bounds apart.

Example:
  paraform evaluate latent --model runs/latent --data test.txt --samples 128
  paraform evaluate latent --model runs/vae --against runs/clvae --data test.txt --no-refit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import Count, add_reading, bad_values, load_latent, show_progress, tell
from paraform.cli.output import print_json
from paraform.cli.reading import sentences_of
from paraform.records import InputError

if TYPE_CHECKING:  # their import takes longer than a short answer
    from paraform.evaluation.latent import LatentReport
    from paraform.models.latent import LatentLanguageModel


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--model", type=str, required=True, help="a run's folder, a checkpoint, or a hub id")
    parser.add_argument("--against", type=str | None, default=None, metavar="MODEL", help="another, to compare with")
    parser.add_argument("--data", type=str, required=True, metavar="PATH", help="sentences that it has not seen")
    parser.add_argument("--samples", type=Count, default=128, help="of each sentence's posterior")
    parser.add_argument(
        "--bound-samples",
        type=Count | None,
        default=None,
        help="draws for the bound on −ln p(x): the more, the tighter; from 256 on, as many more may fit what they are"
        " drawn from; null: as --samples",
    )
    parser.add_argument("--no-refit", action="store_true", help="fit no critic anew, which takes minutes")
    parser.add_argument("--training", type=str | None, default=None, metavar="PATH", help="its training sentences")
    add_reading(parser, "text")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation import table
    from paraform.evaluation.latent import compare_latent
    from paraform.evaluation.latent.ngram import find_lmplz
    from paraform.recipes.latent_training import short_enough

    if options.batch_size:
        raise InputError("--batch-size: this command scores as many words together as its memory allows; leave it out")
    training = None
    if options.training is not None:  # what is missing is said before minutes of work
        training = sentences_of(options.training, options)
        find_lmplz()
    texts = sentences_of(options.data, options)
    models = {options.model: load_latent(options)}
    if options.against is not None:
        models[options.against] = load_latent(options, "against")
        require_comparable(models)
    for model in models.values():
        texts = short_enough(texts, model.config, options.data)
    if not options.no_refit and options.samples > 1 and any(model.posterior != "point" for model in models.values()):
        tell("critics are fitted anew as well, which takes minutes; --no-refit leaves them out")
    several = len(models) > 1
    reports = {
        name: measured(model, texts, training, options, name if several else "") for name, model in models.items()
    }
    scores = [score for report in reports.values() for score in report.scores]
    lines = [f"{name}: {line}" if several else line for name, report in reports.items() for line in report.alarms]
    about: dict[str, Any] = {"scores": [score.to_json() for score in scores], "alarms": lines}
    printed = [table(scores), *(f"alarm: {line}" for line in lines)]
    if several:
        first, second = reports
        comparison = compare_latent(reports[first], reports[second], names=(first, second))
        about |= {"against": second, "comparisons": [comparison.to_json()]}
        printed.append(str(comparison))
    if options.json:
        print_json({"model": options.model, "data": options.data, **about})
    else:
        print("\n".join(printed))
    return 0


def require_comparable(models: Mapping[str, LatentLanguageModel]) -> None:
    """Raise InputError if the two are one, one has no likelihood, or theirs are not of the same words."""
    if len(models) < 2:
        raise InputError(f"--against {next(iter(models))}: the same as --model; expected another one")
    (first, one), (second, other) = models.items()
    for name, model in models.items():
        if model.posterior == "point":
            raise InputError(f"{name} is an autoencoder, which has no likelihood; expected a model with noise")
    if set(one.vocabulary.words) != set(other.vocabulary.words) or one.config.text != other.config.text:
        raise InputError(
            f"{first} and {second} do not know the same words: their likelihoods do not compare; expected two models of"
            " one vocabulary"
        )


def measured(
    model: LatentLanguageModel, texts: Sequence[str], training: Sequence[str] | None, options: Namespace, name: str
) -> LatentReport:
    """The report of one model."""
    from paraform.encoders import bfloat16_products, product_dtype
    from paraform.evaluation.latent import evaluate_latent
    from paraform.recipes.latent_ngrams import with_ngrams

    with bad_values(), bfloat16_products(model.device):
        report = evaluate_latent(
            model,
            texts,
            name=name,
            samples=options.samples,
            bound_samples=options.bound_samples,
            seed=options.seed,
            refit=not options.no_refit,
            precision=str(product_dtype(model.device)).removeprefix("torch."),
            progress=show_progress(),
        )
    if training is None:
        return report
    return with_ngrams(report, model, training, texts, name=name, seed=options.seed)
