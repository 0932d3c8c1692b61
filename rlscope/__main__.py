"""`python -m rlscope`: the command `rlscope`, for an interpreter that is not on PATH."""

import sys

from rlscope.commands import main

if __name__ == "__main__":
    sys.exit(main())
