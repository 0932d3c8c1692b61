"""Run by another interpreter: prints, as JSON, its version and which of some libraries it has.

    python probe_python.py DISTRIBUTION...

Standard library only, any Python from 3.7 on; nothing of the libraries is imported but rlscope.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import sysconfig


def versions(names: list[str]) -> dict[str, str]:
    """Those of the distributions that are installed, by name."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        return {}

    def version(name: str) -> str:
        try:
            return metadata.version(name)
        except Exception:  # not installed, or its metadata are damaged: not there either way
            return ""

    found = {name: version(name) for name in names}
    return {name: text for name, text in found.items() if text}


def recorder() -> dict[str, str]:
    """Whether the recorder works in this interpreter, and by which engine."""
    try:
        from rlscope import recorder
        from rlscope.capture import native as calls
    except Exception as error:
        return {"reason": f"{type(error).__name__}: {error}"}
    if recorder.REASON:
        return {"reason": recorder.REASON}
    engine, why = calls.choose("patch")
    return {"reason": "", "library": recorder.LIBRARY, "engine": engine, "engine_reason": why}


def has_line() -> bool:
    """Whether site-packages carries the line that reports an interpreter of a traced program."""
    return any(os.path.exists(os.path.join(folder, "rlscope.pth")) for folder in sys.path if folder)


def main() -> None:
    """Prints the facts."""
    libraries = versions(sys.argv[1:])
    facts = {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "gil": not sysconfig.get_config_var("Py_GIL_DISABLED"),
        "executable": sys.executable,
        "paths": sys.path,
        "libraries": libraries,
        "line": has_line(),
        "recorder": recorder() if "rlscope" in libraries else None,
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
