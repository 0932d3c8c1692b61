#!/usr/bin/env python3
"""Runs the acceptance of rlscope on this GPU machine; needs no network, changes nothing on it.

    python3 run --minutes 9                    the most valuable steps that fit
    python3 run --minutes 12 --first cost      what recording costs, before all else
    python3 run --minutes 9 --after results.jsonl      on: what an earlier call has not passed
    python3 run --list                         the steps
    python3 run --self-check                   is this folder whole? runs without a GPU

The results lie in ./gpu-results (--results DIR): results.jsonl, log.txt, and what the steps left.
Options that are not this page's go to tests/gpu/acceptance.py; --help prints them too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KIT = Path(__file__).resolve().parent
PATHS = "import sysconfig; print(sysconfig.get_path('purelib'))"
INSTALL_SECONDS = 300


class Refusal(Exception):
    """A stated failure: one line, exit 1."""


def prepare(place: Path, facts: dict[str, object]) -> Path:
    """A Python of its own in `place`, with rlscope, and behind it all that this Python has."""
    wanted = list(sys.version_info[:2])
    if facts["python"] != wanted:
        versions = (".".join(map(str, each)) for each in (facts["python"], wanted))
        raise Refusal("this kit has wheels for Python {}, this is {}".format(*versions))
    if importlib.util.find_spec(str(facts["there"])) is None:
        raise Refusal(f"this Python has no {facts['there']}: take the one that has PyTorch")
    python = place / "venv" / "bin" / "python"
    if (place / "ready").exists():
        return python
    run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")])
    site = Path(run([str(python), "-c", PATHS]).strip())
    behind = run([sys.executable, "-c", PATHS]).strip()
    (site / "shared.pth").write_text(f"import site; site.addsitedir({behind!r})\n")
    (pip,) = (KIT / "wheels").glob("pip-*.whl")
    # Its own checks of versions would ask for a network.
    install = [sys.executable, f"{pip}/pip", "--python", str(python), "install", "--quiet"]
    install += ["--no-index", "--no-compile", "--disable-pip-version-check", "--no-cache-dir"]
    run([*install, "--find-links", str(KIT / "wheels"), *facts["packages"]])  # type: ignore[misc]
    run([*install, "--find-links", str(KIT / "wheels"), "--no-deps", *facts["alone"]])  # type: ignore[misc]
    (place / "ready").touch()
    return python


def run(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()[-3:]
        raise Refusal(
            f"{' '.join(command[:4])} ... ended with {done.returncode}: {' / '.join(lines)}"
        )
    return done.stdout


def self_check(python: Path, place: Path) -> None:
    """rlscope records and reads here, and every step can be imported."""
    trace = place / "self-check"
    rlscope = [str(python), str(KIT / "tests/gpu/rlscope_command.py")]
    program = "import rlscope as rls\nwith rls.operation('kit'): pass"
    run([*rlscope, "prof", "--force", "-o", str(trace), "--", str(python), "-c", program])
    found = run([*rlscope, "query", str(trace), "SELECT path FROM operation"])
    if "kit" not in found:
        raise Refusal(f"the operation that was recorded is not in the trace: {found}")
    steps = run([str(python), str(KIT / "tests/gpu/acceptance.py"), "--list"])
    print(f"self-check: good, {len(steps.splitlines())} steps")


def accept(python: Path, options: argparse.Namespace, rest: list[str], begun: float) -> int:
    minutes = options.minutes - (time.monotonic() - begun) / 60
    command = [str(python), str(KIT / "tests/gpu/acceptance.py"), "--minutes", f"{minutes:.2f}"]
    environment = os.environ | {"PATH": f"{python.parent}:{os.environ.get('PATH', '')}"}
    return subprocess.run([*command, *rest], env=environment, check=False).returncode


def main() -> int:
    begun = time.monotonic()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=9.0, help="how long there is (9)")
    parser.add_argument("--self-check", action="store_true", help="is this folder whole?")
    parser.add_argument(
        "--place", type=Path, help="where rlscope is installed (a folder in TMPDIR)"
    )
    options, rest = parser.parse_known_args()
    place = options.place or Path(tempfile.gettempdir()) / "rlscope-gpu-kit"
    place.mkdir(parents=True, exist_ok=True)
    try:
        python = prepare(place, json.loads((KIT / "kit.json").read_text()))
        if options.self_check:
            self_check(python, place)
            return 0
    except (Refusal, OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    return accept(python, options, rest, begun)


if __name__ == "__main__":
    raise SystemExit(main())
