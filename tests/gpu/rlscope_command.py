"""The command `rlscope` of the installation that this Python has, not of a checkout around it."""

from rlscope.commands import main

if __name__ == "__main__":
    raise SystemExit(main())
