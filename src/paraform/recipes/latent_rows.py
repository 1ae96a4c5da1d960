"""What the tables of the latent-variable family share: a corpus of sentences, a row trained, a row measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from paraform import checkpoint, corpora, manifest
from paraform.encoders import bfloat16_products, product_dtype
from paraform.evaluation import Comparison, Score, table
from paraform.evaluation.latent import LatentReport, compare_latent, evaluate_latent, validations
from paraform.evaluation.latent.ngram import require_ngrams
from paraform.evaluation.score import signature
from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform.models.latent.reading import short_enough
from paraform.recipes.kept_report import kept_report
from paraform.recipes.latent_ngrams import SAMPLES, with_ngrams
from paraform.records import InputError, Sentence
from paraform.trainers.latent import EACH_EPOCH, train_latent
from paraform.weights import sha256

Corpus = Literal["ptb", "yahoo", "yelp"]
Scale = Literal["smoke", "small", "full"]
FILES = {
    corpus: {split: f"{corpus}/{'ptb.' if corpus == 'ptb' else ''}{split}.txt" for split in ("train", "valid", "test")}
    for corpus in ("ptb", "yahoo", "yelp")
}


@dataclass(frozen=True)
class Size:
    """What a scale means: the first so many sentences of each split (0: all), samples a sentence, epochs.

    Args:
        scale: its name, and that of the folder of its runs.
        documents: for `train`, of Yahoo, whose texts are four times as long as PTB's.
        svi_epochs: of SaVAE, each step of which takes as long as a few dozen of another row's.
        refit: whether critics are fitted anew, to the last epoch's posterior; that takes minutes.
    """

    scale: Scale
    train: int
    documents: int
    held_out: int
    samples: int
    epochs: int
    svi_epochs: int
    refit: bool


SIZES: dict[Scale, Size] = {
    "smoke": Size("smoke", 300, 300, 60, 4, 1, 1, False),
    "small": Size("small", 10_000, 5_000, 1000, 32, 5, 1, False),
    "full": Size("full", 0, 0, 0, 128, 40, 40, True),
}
BRIEF = SIZES | {"small": replace(SIZES["small"], train=20_000, epochs=2)}
"""Of what shares no row with Table 1: Figure 4's nine rows, and two more corpora."""
NAMES = ("−ELBO", "PPL", "KL", "MI", "AU")
NGRAM_NAMES = ("forward PPL", "reverse PPL")
SLOW = ("savae", "lagvae")
CONTROLS = (
    *(f"{row}-{control}" for row in ("vae", "ivae", "ivae_mi") for control in ("dropout", "two-views")),
    *("clvae+-two-views", "clvae+_mi-two-views", "vae+contrast-h"),
)
"""What tells contrast from what comes with it: the encoder's dropout, and two views that are decoded; see `config_of`.
As the slow rows they are trained where they are asked for, and taken once they are trained."""
PTB: dict[str, Any] = {"word_width": 256, "hidden_width": 256, "vocabulary_size": 10_000}
TINY: dict[str, Any] = {
    "word_width": 16,
    "hidden_width": 16,
    "latent_width": 4,
    "critic_width": 16,
    "vocabulary_size": 500,
}


def config_of(objective: str, size: Size, corpus: Corpus = "ptb") -> LatentConfig:
    """A row's configuration, that of the authors' script.

    "clvae-h" is clVAE with contrast on h; "vae-dropout" is VAE, one view, with the encoder's dropout of the rows with
    contrast; "vae-two-views" is VAE with that dropout and two views of a sentence, both decoded and not contrasted:
    vae+contrast with the contrast's weight at 0 (so is "ivae-two-views" of clvae, "ivae_mi-two-views" of clvae_mi).

    At the small scale Yahoo's and Yelp's networks, which need about ten times as many operations a word, are of
    PTB's size.
    """
    config = replace(LatentConfig.reference(corpus), **{"smoke": TINY, "small": PTB, "full": {}}[size.scale])
    name, _, part = objective.partition("-") if objective not in OBJECTIVES else (objective, "", "")
    config = config.with_objective(name)
    if part == "h":
        config = replace(config, contrast="h")
    elif part == "dropout":
        config = replace(config, plain_dropout=config.encoder_dropout)
    elif part == "two-views":
        config = config.with_two_views()
    if objective == "beta-vae" and corpus != "ptb":
        config = replace(config, beta=0.4)  # as in Table 2
    return replace(config, epochs=size.svi_epochs if config.inner == "svi" else size.epochs)


def configs_of(rows: Iterable[str], size: Size, corpus: Corpus = "ptb") -> dict[str, LatentConfig]:
    """Configurations by row, as `config_of` has them."""
    return {row: config_of(row, size, corpus) for row in rows}


def chosen_rows(known: Mapping[str, LatentConfig], asked: Sequence[str], place: Path) -> dict[str, LatentConfig]:
    """Those of a table's rows that are to be trained and measured.

    Args:
        known: all that the table has.
        asked: (): all but SaVAE, LagVAE and the `CONTROLS`, which are runs of their own, and those of them that have
            been trained.
        place: holds a folder for each row.
    Raises: InputError for a row that the table has not.
    """
    for row in asked:
        if row not in known:
            raise InputError(f"row {row!r}; expected one of {', '.join(known)}")
    if asked:
        return {row: known[row] for row in asked}
    done = {row: len(validations(place / row / "log.jsonl")) for row in (*SLOW, *CONTROLS)}  # one an epoch
    return {row: config for row, config in known.items() if done.get(row, config.epochs) >= config.epochs}


def training_texts(data: Path, corpus: Corpus, size: Size) -> list[str]:
    """What a row is trained on."""
    return texts_of(data, corpus, "train", size.documents if corpus == "yahoo" else size.train)


def texts_of(data: Path, corpus: Corpus, split: str, most: int) -> list[str]:
    """The first sentences of a split; 0: all."""
    records = corpora.read(data / FILES[corpus][split], "text")
    texts = [record.text for record in records if isinstance(record, Sentence)]
    return texts[:most] if most else texts


def train_row(
    config: LatentConfig, size: Size, corpus: Corpus, data: Path, folder: Path, *, seed: int, device: str
) -> Path:
    """Train a row, or go on with it; returns its folder.

    Raises: KeyboardInterrupt if it was interrupted, and saved.
    """
    result = train_latent(
        training_texts(data, corpus, size),
        folder,
        validation=texts_of(data, corpus, "valid", size.held_out),
        config=config,
        loop=replace(EACH_EPOCH, seed=seed, checkpoint_every=100, device=device),
        data_digests={FILES[corpus]["train"]: sha256(data / FILES[corpus]["train"])},
        resume=True,
    )
    if result.ended == "interrupted":
        raise KeyboardInterrupt
    return folder


@dataclass(frozen=True)
class Rows:
    """The rows of a table: as published where they are, and ours under both protocols; alarms by row.

    Args:
        comparisons: of the bounds of the last epoch's weights, pair by pair.
    """

    scores: tuple[Score, ...]
    alarms: dict[str, tuple[str, ...]]
    comparisons: tuple[Comparison, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        comparisons = [comparison.to_json() for comparison in self.comparisons]
        return {"scores": [score.to_json() for score in self.scores], "alarms": self.alarms, "comparisons": comparisons}

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The table, then the comparisons and the alarms."""
        alarms = [f"{row}: {line}" for row, found in self.alarms.items() for line in found]
        lines = [*map(str, self.comparisons), *alarms]
        return "\n".join(
            [table(self.scores, style), "", *(f"- {line}" if style == "markdown" else line for line in lines)]
        )


def run_rows(
    known: Mapping[str, LatentConfig],
    published: Mapping[str, tuple[float, ...]],
    size: Size,
    corpus: Corpus,
    *,
    asked: Sequence[str],
    data: Path,
    out: Path,
    seed: int = 0,
    device: str | None = None,
    ngrams: bool = False,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Rows:
    """Train rows (those begun go on, each in OUT/CORPUS/SCALE/ROW), then measure them.

    Args:
        known: all rows of the table; one of one name is the same run in every table.
        asked: which of them, as `chosen_rows` has it.
        published: −ELBO, PPL, KL, MI and AU, or with `ngrams` both perplexities, as the paper prints them, of its own
            setting.
        pairs: of rows whose bounds are compared; None: the first that has one, and each other.
        ngrams: forward and reverse perplexity in place of all other figures (needs lmplz).
    Raises: InputError for a row that the table has not, or if lmplz or kenlm is missing; KeyboardInterrupt if a
        training was interrupted, and saved.
    """
    if ngrams:  # what is missing is said before hours of training
        require_ngrams()
    place = out / corpus / size.scale
    configs = chosen_rows(known, asked, place)
    for row, config in configs.items():
        train_row(config, size, corpus, data, place / row, seed=seed, device=device or "auto")
    scores: list[Score] = []
    reports: dict[str, LatentReport] = {}
    for row in configs:
        settings = "as printed, of the paper's own setting"
        scores += [
            Score(name, value, settings, row, "published", digits=0 if name == "AU" else 2)
            for name, value in zip(NGRAM_NAMES if ngrams else NAMES, published.get(row, ()), strict=False)
        ]
        updates = validations(place / row / "log.jsonl")[-1][0]
        of_run = signature(epochs=configs[row].epochs, batch=configs[row].batch_size, seed=seed)
        scores.append(Score("updates", updates, of_run, row, "paper", digits=0))
        found, reports[row] = measure_row(place / row, row, size, corpus, data, seed=seed, device=device, ngrams=ngrams)
        scores += found
    bounded = [row for row, report in reports.items() if report.bounds and len(report.bounds.nats) > 1]
    if pairs is None:
        pairs = [(bounded[0], row) for row in bounded[1:]]
    comparisons = [
        replace(compare_latent(reports[first], reports[second], names=(first, second)), protocol="honest, same weights")
        for first, second in pairs
        if first in bounded and second in bounded
    ]
    return Rows(tuple(scores), {row: report.alarms for row, report in reports.items()}, tuple(comparisons))


def measure_row(
    folder: Path,
    name: str,
    size: Size,
    corpus: Corpus,
    data: Path,
    *,
    seed: int,
    device: str | None,
    ngrams: bool = False,
) -> tuple[list[Score], LatentReport]:
    """Both protocols on the test split, of the last epoch's weights, which the authors' code leaves; and the honest one
    of those with the best bound on the validation split. And the report of the former.
    """
    measured = partial(
        _measured, name=name, size=size, corpus=corpus, data=data, seed=seed, device=device, ngrams=ngrams
    )
    last = measured(folder, "last")
    weights = [manifest.read(folder / part).files[manifest.WEIGHTS] for part in ("last", "best")]
    best = last if weights[0] == weights[1] else measured(folder, "best")
    chosen = [replace(score, protocol="honest, best epoch") for score in best.scores if score.protocol == "honest"]
    shown = [
        replace(score, protocol="honest, same weights") if score.protocol == "honest" else score
        for score in last.scores
    ]
    return [*shown, *chosen], last


def _measured(
    folder: Path,
    part: str,
    *,
    name: str,
    size: Size,
    corpus: Corpus,
    data: Path,
    seed: int,
    device: str | None,
    ngrams: bool,
) -> LatentReport:
    """The report of a run's checkpoint `part`, kept in the run's folder."""
    model = checkpoint.load(folder / part, device=device)
    smoke = size.scale == "smoke"
    texts: Sequence[str] = short_enough(texts_of(data, corpus, "test", size.held_out), model.config, "test")
    settings: dict[str, object] = {"name": name, "seed": seed, "sentences": len(texts)}
    settings["test"] = sha256(data / FILES[corpus]["test"])
    with bfloat16_products(model.device):
        precision = str(product_dtype(model.device)).removeprefix("torch.")
        settings |= {"precision": precision, "device": model.device.type}
        if ngrams:
            training, samples = training_texts(data, corpus, size), 160 if smoke else SAMPLES
            settings |= {"train": sha256(data / FILES[corpus]["train"]), "known": len(training), "samples": samples}

            def measure() -> LatentReport:
                return with_ngrams(LatentReport((), ()), model, training, texts, name=name, samples=samples, seed=seed)

        else:
            refit = size.refit and part == "last"
            settings |= {"samples": size.samples, "refit": refit}

            def measure() -> LatentReport:
                return evaluate_latent(
                    model, texts, name=name, samples=size.samples, seed=seed, precision=precision, refit=refit
                )

        kind = "ngrams" if ngrams else "measured"
        return kept_report(folder / f"{part}.{kind}.json", folder / part, settings, measure)
