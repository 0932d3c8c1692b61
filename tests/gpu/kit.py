"""Makes the folder that is carried to a GPU machine, where `run` in it is the one command.

    python tests/gpu/kit.py --wheel dist/rlscope-...-cp312-....whl [--output build/gpu-kit]

Run it with the Python release of that machine: wheels are fetched for the Python that runs this.
The folder needs nothing else: no network, no checkout. Packages that the machine's Python has
already (PyTorch, NumPy, ...) are used there and not replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MEBIBYTE = 1 << 20
MOST_BYTES = 45 * MEBIBYTE
"""The folder has no more: some machines take 64 MiB in all, a checkout of 18 MiB included."""

# What the steps' programs use besides rlscope; the second kind without what it needs itself, which
# is PyTorch and comes with the machine.
NEEDED, ALONE = ("gymnasium", "pip"), ("stable-baselines3",)
# What a Python with PyTorch has: its wheel is too large to be carried.
THERE = "numpy"
# What the steps use besides their own folder, each at its place in the checkout.
FILES = (
    "tests/support/cuda/trace.py",
    "tests/support/cuda/witness.py",
    "tests/benchmarks/paired.py",
    "csrc/cupti/watched_calls.cc",
)


def make(wheel: Path, output: Path, there: Path) -> None:
    """`there`: where to unpack what is not carried."""
    shutil.rmtree(output, ignore_errors=True)
    wheels = output / "wheels"
    wheels.mkdir(parents=True)
    download(wheels, [str(wheel), *NEEDED])
    download(wheels, ["--no-deps", *ALONE])
    (left,) = wheels.glob(f"{THERE}-*.whl")
    shutil.unpack_archive(left, there, "zip")
    left.unlink()
    copy_steps(output)
    shutil.move(output / "tests" / "gpu" / "run.py", output / "run")
    (output / "run").chmod(0o755)
    facts = {"python": list(sys.version_info[:2]), "packages": ["rlscope", *NEEDED[:1]]}
    facts |= {"alone": ALONE, "there": THERE}
    (output / "kit.json").write_text(json.dumps(facts, indent=1) + "\n")


def copy_steps(output: Path) -> None:
    """The steps with all that they use of the checkout, which lie in `output` as they do there."""
    skipped = shutil.ignore_patterns("__pycache__", "kit.py")
    shutil.copytree(HERE, output / "tests" / "gpu", ignore=skipped)
    for name in FILES:
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, output / name)


def download(folder: Path, wanted: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(folder), *wanted], check=False)
    if done.returncode != 0:
        raise SystemExit(f"kit.py: pip could not fetch {' '.join(wanted)}: see its lines above")


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def check_itself(output: Path, there: Path) -> None:
    """In a fresh environment with what is not carried alone, and without a network where that can
    be had."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, str(output / "run"), "--self-check", "--place", place]
        alone = ["unshare", "--map-root-user", "--net", *command]
        can = subprocess.run([*alone[:3], "true"], capture_output=True, check=False)
        environment = os.environ | {"PYTHONPATH": str(there)}
        subprocess.run(alone if can.returncode == 0 else command, env=environment, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, required=True, help="of rlscope, for this Python")
    parser.add_argument("--output", type=Path, default=Path("build/gpu-kit"))
    options = parser.parse_args()
    if not options.wheel.is_file():
        print(f"kit.py: no such wheel: {options.wheel}; make wheel makes it", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as there:
        make(options.wheel, options.output, Path(there))
        check_itself(options.output, Path(there))
    size = size_of(options.output)
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    print(f"{options.output}: {size / MEBIBYTE:.1f} MiB, for Python {release}")
    print(f"on the GPU machine: python3 {options.output.name}/run --minutes 9")
    if size > MOST_BYTES:
        print(f"kit.py: that is more than {MOST_BYTES // MEBIBYTE} MiB", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
