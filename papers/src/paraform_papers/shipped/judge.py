r"""The embedded judges of meaning: `smollm2-judge` and `-all`, adapters on SmolLM2, `minilm-judge`, those on minilm.

    python -m paraform_papers.shipped.judge_data ../shared/data --terms free --most 44000 --times 2 --ways 0 720 \
        --out runs/first
    python -m paraform_papers.shipped.judge --name smollm2-judge --pairs runs/first --out runs/first
    python -m paraform_papers.shipped.judge_data ../shared/data --terms free --most 30000 --ways 720 2472 \
        --out runs/second
    python -m paraform_papers.shipped.judge --name smollm2-judge --from runs/first/smollm2-judge --pairs runs/second \
        --out runs/second
    python -m paraform_papers.shipped.judge_data ../shared/data --terms free --most 18000 --ways 2472 3392 \
        --out runs/third
    python -m paraform_papers.shipped.judge --name smollm2-judge --from runs/second/smollm2-judge --pairs runs/third \
        --out runs/third
    python -m paraform_papers.shipped.judge_data ../shared/data --terms all --most 25000 --each 2500 --ways 2472 2892 \
        --out runs/all
    python -m paraform_papers.shipped.judge --name smollm2-judge-all --from runs/second/smollm2-judge \
        --pairs runs/all --out runs/all

    python -m paraform_papers.shipped.judge_data ../shared/data --terms free --times 2 --out runs/many
    python -m paraform_papers.shipped.judge --name minilm-judge --pairs runs/many --out runs/many
    python -m paraform_papers.shipped.judge_data ../shared/data --terms all --times 2 --each 12000 --most 100000 \
        --ways 2472 2892 --out runs/terms
    python -m paraform_papers.shipped.judge --name minilm-judge --from runs/many/minilm-judge --pairs runs/terms \
        --out runs/terms

Each is trained for one pass over its pairs; the weights with the best likelihood of the development pairs, calibrated
by these, are written to OUT/NAME. Interrupted, it goes on. `--run` takes a run that was trained already, or one of its
checkpoints, such as runs/all/run/last. The cards say where the embedded ones differ. Running time with AVX512_BF16: 68
minutes of two cores; 75, 42, 66, 78 and about 35 of one.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora, manifest
from paraform.ending import status_of
from paraform.models.judge import JudgeConfig, MeaningJudge
from paraform.records import InputError, Pair
from paraform.trainers.judge import BY_NLL, train_judge

CONFIGS = {"smollm2-judge": JudgeConfig.lm(), "smollm2-judge-all": JudgeConfig.lm(), "minilm-judge": JudgeConfig()}
SAME = 0.5  # from it on a judge takes two texts for the same
FURTHER = 3e-4  # learning rate of what goes on from another one, at most
CARDS = Path(__file__).parent / "cards"


def train(name: str, pairs: Path, run: Path, start: str | None = None) -> None:
    """The run, or the rest of it. Raises: KeyboardInterrupt if interrupted, and saved."""
    train, dev = (
        [one for one in corpora.read_jsonl(pairs / f"{part}.jsonl") if isinstance(one, Pair)]
        for part in ("train", "dev")
    )
    loop = replace(BY_NLL, device="cpu", tensorboard=False)
    config = CONFIGS[name]
    config = replace(config, learning_rate=min(FURTHER, config.learning_rate)) if start else config
    train_judge(
        train, run, validation=dev, config=config, loop=loop, start=judge_of(start) if start else None, resume=True
    ).require_over()


def judge_of(folder: str) -> MeaningJudge:
    """Raises: InputError if it is none."""
    model = checkpoint.load(folder, device="cpu")
    if not isinstance(model, MeaningJudge):
        raise InputError(f"{folder}: {getattr(model, 'kind', type(model).__name__)}; expected a judge of meaning")
    return model


def finish(name: str, run: Path, out: Path) -> str:
    """Write OUT/NAME with its card, in float16: 6.5 MB, and 5 MB."""
    about = manifest.read(run / "best" if (run / "best").is_dir() else run)
    nll = next((f"{score['value']:.3f}" for score in about.scores if score["name"] == "nll"), "unknown")
    text = (CARDS / f"{name}.md").read_text(encoding="utf-8")
    card = text.format(commit=(about.git or manifest.revision() or "unknown")[:7], nll=nll)
    checkpoint.save(
        judge_of(str(run)), out / name, card=card, data_digests=about.data, seed=about.seed, dtype="float16"
    )
    return card


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--name", choices=tuple(CONFIGS), required=True)
    parser.add_argument("--pairs", type=Path, help="what judge_data wrote")
    parser.add_argument("--from", dest="start", help="a judge to go on from")
    parser.add_argument("--run", type=Path, help="a run that was trained already")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    run = options.run or options.out / "run"
    try:
        if options.run is None:
            if options.pairs is None:
                parser.error("expected --pairs, or --run")
            train(options.name, options.pairs, run, options.start)
        print(finish(options.name, run, options.out))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
