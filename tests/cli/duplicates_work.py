"""`paraform`, in pieces of few rows: a program that the tests of `duplicates --out FOLDER` kill."""

from __future__ import annotations

import sys

from paraform.cli import main
from paraform.neighbours import near_on_disk, on_disk

if __name__ == "__main__":
    on_disk.SHARD, near_on_disk.EXACT_ROWS = 8, 10
    sys.exit(main())
