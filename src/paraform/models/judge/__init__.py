"""A judge of meaning: whether two texts say the same, read together by an encoder or a language model."""

from paraform.models.judge.config import JudgeConfig
from paraform.models.judge.judge import MeaningJudge
from paraform.models.judge.update import make_update

__all__ = ["JudgeConfig", "MeaningJudge", "make_update"]
