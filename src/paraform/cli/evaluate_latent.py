"""How good a latent-variable model is, by the paper's protocol and by an honest one, side by side.

Reconstruction, KL, −ELBO, perplexity, mutual information and active units. The paper's KL is its critics' estimate,
which is no bound; the honest one is the closed form, and likelihoods are importance-weighted bounds. Alarms say where
the two do not go together, and where more draws would tighten the bound (--bound-samples). With --training FILE,
forward and reverse perplexity of greedy samples by 5-gram models too. With --against MODEL, another one that knows the
same words beside it, and the difference of the two bounds with the interval that 95 % of resamples of the sentences
fall into: above 0 the other is better, and one that holds 0 does not tell them apart. Anyone's model can be measured:
docs/yours.md has the few methods that are asked of it, and an example.

Example:
  paraform evaluate latent --model runs/latent --data test.txt --samples 128
  paraform evaluate latent --model runs/vae --against runs/clvae --data test.txt --no-refit
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.messages import tell
from paraform.cli.models import checkpoint_named, load_able
from paraform.cli.options import Count, add_reading
from paraform.cli.output import show
from paraform.cli.reading import sentences_of
from paraform.records import InputError

if TYPE_CHECKING:  # their import takes longer than a short answer
    from paraform.evaluation.latent import LatentModel, LatentReport


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--model", type=str, required=True, help="a run's folder, a checkpoint, or a hub id")
    parser.add_argument("--against", type=str | None, default=None, metavar="MODEL", help="another, to compare with")
    parser.add_argument("--data", type=str, required=True, metavar="PATH", help="sentences that it has not seen")
    parser.add_argument("--samples", type=Count, default=128, help="draws of each sentence's posterior")
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
    from paraform.capabilities import LatentSpace
    from paraform.checkpoint.abilities import require_able
    from paraform.evaluation.latent import ReadsSoManyWords, side_by_side
    from paraform.evaluation.latent.ngram import require_ngrams
    from paraform.models.latent.texts import short_enough

    if options.batch_size:
        raise InputError("--batch-size: this command scores as many words together as its memory allows; leave it out")
    training = None
    if options.training is not None:  # what is missing is said before minutes of work
        training = sentences_of(options.training, options)
        require_ngrams()
    texts = sentences_of(options.data, options)
    models = [load_measurable(options)]
    if options.against is not None:
        models.append(rival(options, models[0]))
    if training is not None:
        for option in ("model", "against") if options.against else ("model",):
            expected = "a model with `sample`, `words` and the like, or no --training"
            require_able(models[option == "against"], LatentSpace, expected, called=f"--{option} {options[option]}")
    for model in models:
        if isinstance(model, ReadsSoManyWords):
            texts = short_enough(texts, model.words, model.max_tokens, options.data)
    if options.against is not None and len(texts) < 2:
        raise InputError(f"{options.data}: 1 sentence; expected two or more, to tell luck from a difference")
    if not options.no_refit and options.samples > 1 and any(model.has_noise for model in models):
        tell("critics are fitted anew as well, which takes minutes; --no-refit leaves them out")
    about = {"model": options.model, "data": options.data}
    if options.against is None:
        report = measured(models[0], "", texts, training, options)
    else:
        about["against"] = options.against
        names = (options.model, options.against)
        both = [measured(*named, texts, training, options) for named in zip(models, names, strict=True)]
        report = side_by_side(both[0], both[1], names)
    return show(options, {**about, **report.to_json()}, report.table())


def load_measurable(options: Namespace, option: str = "model") -> LatentModel:
    """A latent-variable model whose densities evaluation can ask for. Raises: InputError otherwise."""
    from paraform.evaluation.latent import LatentModel

    expected = "a latent-variable model that tells its densities (evaluation.latent.LatentModel)"
    model: LatentModel = load_able(options, LatentModel, expected, option)
    return model


def rival(options: Namespace, model: LatentModel) -> LatentModel:
    """The model of --against. Raises: InputError if its likelihoods do not compare with that one's."""
    from paraform.evaluation.latent import HasLexicon

    if len({os.path.realpath(checkpoint_named(name)) for name in (options.model, options.against)}) < 2:
        raise InputError(f"--against {options.against}: the model of --model; expected another one")
    other = load_measurable(options, "against")
    for name, one in ((options.model, model), (options.against, other)):
        if not one.has_noise:
            raise InputError(f"{name} is an autoencoder, which has no likelihood; expected a model with noise")
    if not isinstance(model, HasLexicon) or not isinstance(other, HasLexicon):
        silent = options.against if isinstance(model, HasLexicon) else options.model
        tell(f"{silent} has no `lexicon`: whether both models know the same words, as a comparison needs, is unchecked")
    elif model.lexicon != other.lexicon:
        raise InputError(
            f"{options.model} and {options.against} do not know the same words: their likelihoods do not compare;"
            " expected two models of one vocabulary"
        )
    return other


def measured(
    model: Any, name: str, texts: Sequence[str], training: Sequence[str] | None, options: Namespace
) -> LatentReport:
    """The report of one model; one that does not say what device it is on multiplies as it likes."""
    from paraform.encoders import bfloat16_products, product_dtype
    from paraform.evaluation.latent import evaluate_latent, with_ngrams

    device = getattr(model, "device", None)
    with bad_values(), nullcontext() if device is None else bfloat16_products(device):
        report = evaluate_latent(
            model,
            texts,
            name=name,
            samples=options.samples,
            bound_samples=options.bound_samples,
            seed=options.seed,
            refit=not options.no_refit,
            precision="the model's own" if device is None else str(product_dtype(device)).removeprefix("torch."),
            progress=True,
        )
    if training is None:
        return report
    return with_ngrams(report, model.sample, model.words, training, texts, name=name, seed=options.seed)
