"""Work in chunks on all cores or on a Ray cluster, the results in order: the same bytes whatever does it."""

from paraform.engines.running import LOCAL, Engine, kept_open, rows_of, run
from paraform.engines.work import Work

__all__ = ["LOCAL", "Engine", "Work", "kept_open", "rows_of", "run"]
