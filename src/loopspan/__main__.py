"""`python -m loopspan` is the command line."""

import sys

from loopspan.cli import main

if __name__ == "__main__":
    sys.exit(main())
