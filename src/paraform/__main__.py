"""`python -m paraform`: the command line."""

import sys

from paraform.cli import main

sys.exit(main())
