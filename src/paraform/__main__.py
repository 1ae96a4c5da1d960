"""`python -m paraform`: the command line where no `paraform` is on the path, and as `accelerate launch` starts it."""

import sys

from paraform.cli import main

sys.exit(main())
