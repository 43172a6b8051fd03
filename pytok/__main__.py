"""``python -m pytok``."""

import sys

from pytok.cli import main

sys.exit(main())
