"""Collapsed stacks, as flamegraph.pl and most viewers of flame graphs read them: a line each, the
process and its calls, and their time in ns."""

from __future__ import annotations

from pathlib import Path

from rlscope.export import stacks
from rlscope.export.exporter import Exported, Tell
from rlscope.export.output import new_file
from rlscope.export.stacks import Frame, StackTime
from rlscope.export.window import Window
from rlscope.relations.trace import Trace
from rlscope.visible import visible


class _Collapsed:
    ending = ".collapsed.txt"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        sums: dict[str, int] = {}
        for time in stacks.read(trace, window):
            sums[_line(time)] = sums.get(_line(time), 0) + time.self_ns
        with new_file(path, force=force) as file:
            file.writelines(
                f"{line} {ns}\n".encode(errors="backslashreplace") for line, ns in sums.items()
            )
        exported = Exported(left_out=["without operations and layers: the format has none"])
        exported.counts["stacks"] = len(sums)
        return exported


def _line(time: StackTime) -> str:
    return ";".join([_text(time.process), *map(_call, time.frames)])


def _call(frame: Frame) -> str:
    return _text(f"{frame.function} ({frame.file}:{frame.line})" if frame.file else frame.function)


def _text(name: str) -> str:
    """The name on one line, without the character that ends it."""
    return visible(name).replace(";", ":")


EXPORTER = _Collapsed()
