"""What `rlscope doctor` says of everything that can be wrong, for docs/troubleshooting.md.

python tests/troubleshooting.py        writes it into the page

Each problem is made by the doctor's own functions, from facts in which one thing is wrong.
"""

from __future__ import annotations

import ast
import errno
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from rlscope.doctor import checks, cupti, stacks
from rlscope.doctor.finding import Finding, Status

PAGE = Path(__file__).parents[1] / "docs/troubleshooting.md"
BEGIN, END = "<!-- what doctor says -->", "<!-- so much of doctor -->"
MODULES = (checks, cupti, stacks)
_WRONG = {Status.BAD, Status.LIMITED}
_WORDS = ("BAD", "LIMITED")
_VERSION = "VERSION"
_LIBRARY = "/venv/rlscope/librlscope.so"
Facts = Mapping[str, Any]


def _python(**changes: Any) -> dict[str, Any]:
    return {
        "version": "3.11.7",
        "implementation": "CPython",
        "gil": True,
        "executable": "PYTHON",
        "libraries": {"rlscope": _VERSION},
        "line": True,
        "recorder": {"reason": "", "engine": "patch", "engine_reason": ""},
        **changes,
    }


def _cuda(driver: Facts | None = None, **changes: Any) -> dict[str, Any]:
    good = {"reason": "", "version": 13000, "init": 0, "devices": ["GPU"], **(driver or {})}
    library = {"path": "LIBRARY", "reason": "", "version": 130001, "major": 13}
    asked = {"wanted": 0, "driver": 13000, "subscribe": 0, "enable": 0}
    return {"driver": good, "cupti": [{**asked, **library, **changes}]}


def _old_driver() -> dict[str, Any]:
    facts = _cuda()
    facts["cupti"][0]["driver"] = 12000
    return facts


def _engine(engine: str) -> dict[str, Any]:
    return {"recorder": {"reason": "", "engine": engine, "engine_reason": "REASON"}}


_PYTHONS: Sequence[Facts] = (
    {"libraries": {}, "recorder": None},
    {"recorder": {"reason": "REASON"}},
    {"libraries": {"rlscope": "ANOTHER VERSION"}},
    {"line": False},
    _engine("monitoring"),
    _engine("off"),
)
_STACKS: Sequence[Facts] = ({"version": "3.9.18"}, {"gil": False}, {})
_CUDAS: Sequence[Facts] = (
    {"reason": "REASON"},
    _cuda({"init": 999}),
    _cuda(reason="not found", wanted=12),
    _old_driver(),
    _cuda(enable=40),
)
_ENVIRONMENTS: Sequence[Mapping[str, str]] = (
    {"RLSCOPE_DRI": "x"},
    {"CUDA_INJECTION64_PATH": "/opt/other/lib.so"},
    {"KINETO_USE_DAEMON": "1"},
)


def problems() -> list[Finding]:
    """All that can be wrong, by subject, in the order of the doctor."""
    found = [each for each in _found() if each.status in _WRONG]
    order = list(dict.fromkeys(each.subject for each in found))
    unique = dict.fromkeys(found)
    return sorted(unique, key=lambda each: order.index(each.subject))


def _found() -> Iterator[Finding]:
    for changes in _PYTHONS:
        yield from checks.python_findings(_python(**changes), _VERSION)
    for changes in _STACKS:
        with mock.patch.object(stacks, "_PTRACE_SCOPE", "/nowhere"):
            yield stacks.finding(_python(**changes), lambda: errno.EPERM)
    yield from _machine()
    for environ in _ENVIRONMENTS:
        yield from checks.environment_findings(environ, _LIBRARY)
    for facts in _CUDAS:
        yield from checks.cuda_findings(facts)
    for status in cupti._REFUSALS:
        yield from checks.cuda_findings(_cuda(subscribe=status))
    with (
        mock.patch.object(checks, "_read", lambda _: "RmProfilingAdminOnly: 1"),
        mock.patch("os.geteuid", lambda: 1000),
    ):
        yield from checks.cuda_findings(_cuda())


def _machine() -> Iterator[Finding]:
    little = SimpleNamespace(free=1 << 29, total=1 << 26)

    def missing(path: str) -> SimpleNamespace:
        if path == "/dev/shm":
            raise OSError
        return little

    for usage in (lambda _: little, missing):
        with (
            mock.patch.object(checks, "_read", lambda _: "hpet"),
            mock.patch("shutil.disk_usage", usage),
            mock.patch.dict("os.environ", clear=True),
        ):
            yield from checks.machine_findings("FOLDER")


def sites_without_a_problem() -> list[str]:
    """Calls in the doctor that make a finding that is bad or limited, and that no problem here
    reaches: "checks.py:47"."""
    reached: set[tuple[str, int]] = set()

    def made(*values: Any) -> Finding:
        frame = sys._getframe(1)
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return Finding(*values)

    with (
        mock.patch.object(checks, "Finding", made),
        mock.patch.object(cupti, "Finding", made),
        mock.patch.object(stacks, "Finding", made),
    ):
        problems()
    return [
        f"{Path(file).name}:{first}"
        for module in MODULES
        for file, first, last in _sites(module)
        if not any(path == file and first <= line <= last for path, line in reached)
    ]


def _sites(module: ModuleType) -> Iterator[tuple[str, int, int]]:
    file = str(module.__file__)
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
            if any(word in ast.unparse(node.args[1]) for word in _WORDS):
                yield file, node.lineno, node.end_lineno or node.lineno


def table(found: Sequence[Finding]) -> str:
    """A heading and a table for each subject."""
    parts = []
    for subject in dict.fromkeys(each.subject for each in found):
        rows = [
            f"| {each.status.value} | {_cell(each.text)} | {_cell(each.remedy)} |"
            for each in found
            if each.subject == subject
        ]
        head = "| | the line says | what mends it |\n|---|---|---|"
        parts.append(f"### {subject.capitalize()}\n\n{head}\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")


def written(page: str, found: Callable[[], Sequence[Finding]] = problems) -> str:
    """The page with the tables made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(found())}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
