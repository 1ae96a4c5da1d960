"""What a test finds does not depend on what the machine keeps, or what else it does.

The cache folder is the checkout's own, and the threads are as many as cores: sums of fewer may round otherwise.
"""

import os
from pathlib import Path

os.environ["PARAFORM_CACHE"] = str(Path(__file__).parents[1] / ".pytest_cache" / "paraform")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
os.environ.setdefault("OMP_NUM_THREADS", str(CORES))
