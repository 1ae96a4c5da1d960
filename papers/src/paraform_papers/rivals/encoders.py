"""Training the rows of ParaBART's tables that are other systems: sp-average, InferSent and VGVAE.

    paraform reproduce parabart/table1 --scale small --data ../shared/data --out runs/rivals \
        --row sp-average infersent vgvae

Each also stands there untrained: the same words and network, with weights that training might have started from (of
VGVAE random words, though training starts from `minilm`'s vectors of them). None is the published system: sp-average's
own data are 25.85 million pairs of ParaNMT, and VGVAE's half a million, and here Quora's duplicates; InferSent's are
SNLI and MultiNLI with GloVe, and here SICK's 4,500 pairs with `minilm`'s vectors of single words.
Running time at scale small: 3 and 2 minutes of one core, VGVAE a quarter of an hour. Figures:
docs/results/rival-encoders.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import corpora
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.evaluation.embedding.development import MEAN, Development
from paraform.records import Pair
from paraform_papers.rivals.averaged import AveragedConfig
from paraform_papers.rivals.averaged.trainer import BY_MRR, train_averaged
from paraform_papers.rivals.infersent import InferSentConfig
from paraform_papers.rivals.infersent.entailment import read_entailment
from paraform_papers.rivals.infersent.trainer import BY_ACCURACY, train_infersent
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rivals.vgvae.trainer import BY_BLEU, train_vgvae
from paraform_papers.tables import Asked

SMOKE = 60  # pairs of that scale
QUORA = "quora/train.tsv"
SICK = ("sick/SICK_train.txt", "sick/SICK_trial.txt")
OTHERS = ("sts", "stsb", "senteval", "mrpc", "pan", "paws", "quora/dev.tsv", "quora/test.tsv")
"""What InferSent is not trained on. Nearly every pair of SICK's training part has a sentence of its test part."""


def train_rival(
    config: AveragedConfig | InferSentConfig | VgvaeConfig,
    asked: Asked,
    folder: Path,
    against: Sequence[str],
    sets: Development,
) -> None:
    """Train one, or go on with it. Raises: KeyboardInterrupt if interrupted, and saved.

    Args:
        against: texts that sp-average and VGVAE are not trained on.
        sets: what chooses their weights; InferSent's are chosen by SICK's trial part, as the authors do.
    """
    most = SMOKE if asked.scale == "smoke" else None
    loop: dict[str, Any] = {"seed": asked.seed, "device": asked.trained_on}
    given: dict[str, Any] = {"config": config, "resume": True}
    if not isinstance(config, InferSentConfig):
        read = [record for record in corpora.read(asked.data / QUORA) if isinstance(record, Pair)]
        random.Random(asked.seed).shuffle(read)
        given |= {"against": against, "development": sets}
        if isinstance(config, AveragedConfig):
            result = train_averaged(read[:most], folder, loop=replace(BY_MRR, metric=MEAN, **loop), **given)
        else:
            every = replace(BY_BLEU, metric=MEAN, evaluate_every=60, checkpoint_every=60, **loop)
            result = train_vgvae(read[:most], folder, loop=every, **given)
    else:
        training, validation = (list(read_entailment(asked.data / file))[:most] for file in SICK)
        others = read_evaluation_sets([asked.data / name for name in OTHERS if (asked.data / name).exists()])
        given |= {"against": [text for some in others.values() for text in some], "validation": validation}
        result = train_infersent(training, folder, loop=replace(BY_ACCURACY, **loop), **given)
    result.require_over()
