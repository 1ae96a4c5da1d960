"""How good a latent-variable model is, by the paper's protocol and by an honest one, side by side.

Reconstruction, KL, −ELBO, perplexity, mutual information and active units. The paper's KL is its critics' estimate,
which is no bound; the honest one is the closed form, and likelihoods are importance-weighted bounds. Alarms say where
the two do not go together, and where more draws would tighten the bound (--bound-samples). With --training FILE,
forward and reverse perplexity of greedy samples by 5-gram models too.

Example:
  paraform evaluate latent --model runs/latent --data test.txt --samples 128
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import Count, add_reading, bad_values, load_latent, show_progress, tell
from paraform.cli.output import print_json
from paraform.cli.reading import sentences_of
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--model", type=str, required=True, help="a run's folder, a checkpoint, or a hub id")
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
    from paraform.encoders import bfloat16_products, product_dtype
    from paraform.evaluation.latent import evaluate_latent
    from paraform.evaluation.latent.ngram import find_lmplz
    from paraform.recipes.latent_ngrams import with_ngrams
    from paraform.recipes.latent_training import short_enough

    if options.batch_size:
        raise InputError("--batch-size: this command scores as many words together as its memory allows; leave it out")
    training = None
    if options.training is not None:  # what is missing is said before minutes of work
        training = sentences_of(options.training, options)
        find_lmplz()
    texts = sentences_of(options.data, options)
    model = load_latent(options)
    texts = short_enough(texts, model.config, options.data)
    if not options.no_refit and model.posterior != "point" and options.samples > 1:
        tell("critics are fitted anew as well, which takes minutes; --no-refit leaves them out")
    with bad_values(), bfloat16_products(model.device):
        report = evaluate_latent(
            model,
            texts,
            samples=options.samples,
            bound_samples=options.bound_samples,
            seed=options.seed,
            refit=not options.no_refit,
            precision=str(product_dtype(model.device)).removeprefix("torch."),
            progress=show_progress(),
        )
    if training is not None:
        report = with_ngrams(report, model, training, texts, seed=options.seed)
    if options.json:
        print_json({"model": options.model, "data": options.data, **report.to_json()})
    else:
        print(report.table())
    return 0
