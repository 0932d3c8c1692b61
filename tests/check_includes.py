"""Checks who may include whom in csrc/: the layers of docs/how-it-works.md.

interpose > capture > runtime > trace > base      analysis > trace > base
python > interception > runtime                   python > analysis
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent / "csrc"
ALLOWED = {
    "base": {"base"},
    "trace": {"trace", "base"},
    "runtime": {"runtime", "trace", "base"},
    "capture": {"capture", "runtime", "trace", "base"},
    "interpose": {"interpose", "capture", "runtime", "trace", "base"},
    "analysis": {"analysis", "trace", "base"},
    "interception": {"interception", "runtime", "trace", "base"},
    "python": {"python", "interception", "runtime", "analysis", "trace", "base"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/', re.MULTILINE)


def violations() -> list[str]:
    found: list[str] = []
    for path in sorted([*ROOT.rglob("*.h"), *ROOT.rglob("*.cc")]):
        folder = path.relative_to(ROOT).parts[0]
        foreign = set(INCLUDE.findall(path.read_text())) & ALLOWED.keys() - ALLOWED[folder]
        name = path.relative_to(ROOT.parent)
        found.extend(f"{name}: {folder} must not include {target}" for target in sorted(foreign))
    return found


if __name__ == "__main__":
    problems = violations()
    print("\n".join(problems) or "includes: ok")
    sys.exit(bool(problems))
