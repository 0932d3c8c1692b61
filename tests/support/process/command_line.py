"""Runs `rlscope VERB ...` as a user does, and what every test of it says about a failure."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from rlscope.commands import main

Done = subprocess.CompletedProcess[str]
RLSCOPE = [sys.executable, "-m", "rlscope"]


class Terminal(io.StringIO):
    """What is written to, or read from, a terminal."""

    def isatty(self) -> bool:
        return True


def rlscope(
    *arguments: object, input: str | io.StringIO = "", out: io.StringIO | None = None
) -> Done:
    """Runs the command in this process: each interpreter of its own costs a second."""
    out, err = out or io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(input) if isinstance(input, str) else input)
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # argparse
            code = error.code
    return Done([], code, out.getvalue(), err.getvalue())


def assert_states_failure(done: Done, *parts: str) -> None:
    """Exit code 1, one line on stderr that holds the parts, nothing on stdout."""
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith("rlscope: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr
