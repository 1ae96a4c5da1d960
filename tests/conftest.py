"""What a test finds does not depend on what the machine keeps: the cache folder is the checkout's own."""

import os
from pathlib import Path

os.environ["PARAFORM_CACHE"] = str(Path(__file__).parents[1] / ".pytest_cache" / "paraform")
