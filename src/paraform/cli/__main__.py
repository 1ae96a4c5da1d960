"""`python -m paraform.cli`, as `accelerate launch` starts it."""

import sys

from paraform.cli import main

sys.exit(main())
