"""Checks which folder may include which in csrc/: the layers of docs/how-it-works.md.

preload > cupti > runtime > drain > base      analysis > directory > base
python > native_calls > runtime                   python > analysis
python > importers > write > base                 python > exporters > base

and inside of csrc/trace, where write and read know nothing of each other:

directory > drain > write > format > layout > base
directory > read > format
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent / "csrc"
FORMAT = {"trace/format", "trace/layout", "base"}
DRAIN = {"trace/drain", "trace/write", *FORMAT}
READ = {"trace/read", *FORMAT}
RECORDER = {"runtime", "trace/drain", "trace/layout", "base"}
ALLOWED = {
    "base": {"base"},
    "trace/layout": {"trace/layout", "base"},
    "trace/format": FORMAT,
    "trace/write": {"trace/write", *FORMAT},
    "trace/drain": DRAIN,
    "trace/read": READ,
    "trace/directory": {"trace/directory", *DRAIN, *READ},
    "runtime": RECORDER,
    "cupti": {"cupti", *RECORDER},
    "preload": {"preload", "cupti", *RECORDER},
    "analysis": {"analysis", "trace/directory", *READ},
    "importers": {"importers", "trace/write", *FORMAT},
    "exporters": {"exporters", "base"},
    "native_calls": {"native_calls", *RECORDER},
    "python": {
        "python",
        "native_calls",
        "analysis",
        "importers",
        "exporters",
        "trace/directory",
        *DRAIN,
        *READ,
        *RECORDER,
    },
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+/[^"]+)"', re.MULTILINE)


def layer_of(path: str) -> str:
    """The layer of a file, relative to csrc; a folder that has none is its own."""
    folder = path.rpartition("/")[0]
    return next((f for f in ALLOWED if f"{folder}/".startswith(f"{f}/")), folder)


def violations(root: Path = ROOT) -> list[str]:
    found: list[str] = []
    for path in sorted([*root.rglob("*.h"), *root.rglob("*.cc")]):
        layer = layer_of(path.relative_to(root).as_posix())
        name = path.relative_to(root.parent)
        if layer not in ALLOWED:
            found.append(f"{name}: {layer} is no layer")
            continue
        targets = {layer_of(included) for included in INCLUDE.findall(path.read_text())}
        foreign = sorted(targets - ALLOWED[layer])
        found.extend(f"{name}: {layer} must not include {target}" for target in foreign)
    return found


if __name__ == "__main__":
    problems = violations()
    print("\n".join(problems) or "includes: ok")
    sys.exit(bool(problems))
