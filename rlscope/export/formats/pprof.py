"""pprof's profile.proto: the time of each stack, with its stage, operation and layer as labels.

The message is https://github.com/google/pprof/blob/main/proto/profile.proto. It is written without
a library, because only three kinds of fields are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rlscope.export import stacks
from rlscope.export.exporter import Exported, Tell
from rlscope.export.output import new_file
from rlscope.export.stacks import Frame, StackTime
from rlscope.export.window import Window
from rlscope.relations.trace import Trace

# Numbers of fields, by message.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING_TABLE = 1, 2, 4, 5, 6
_DURATION_NANOS = 10
_TYPE, _UNIT = 1, 2  # ValueType
_LOCATION_ID, _VALUE, _LABEL = 1, 2, 3  # Sample
_KEY, _STR = 1, 2  # Label
_ID, _LINE = 1, 4  # Location
_FUNCTION_ID, _LINE_NUMBER = 1, 2  # Line
_NAME, _SYSTEM_NAME, _FILENAME, _START_LINE = 2, 3, 4, 5  # Function

_VARINT, _BYTES = 0, 2  # types of the wire


class _Pprof:
    ending = ".pb.gz"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        times = stacks.read(trace, window)
        (run,) = trace.table("run").to_dicts()
        profile = _Profile()
        samples = [profile.sample(time) for time in times]
        with new_file(path, force=force) as file:
            file.write(profile.head(run["end_ns"] - run["start_ns"]))
            file.writelines(samples)
            file.writelines(profile.tail())
        exported = Exported()
        exported.counts["samples"] = len(samples)
        return exported


class _Profile:
    """Gives each text, function and location a number."""

    def __init__(self) -> None:
        self._texts = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[Frame, int] = {}

    def head(self, duration_ns: int) -> bytes:
        """What the values of samples are."""
        kind = _number(_TYPE, self._text("time")) + _number(_UNIT, self._text("nanoseconds"))
        return _field(_SAMPLE_TYPE, kind) + _number(_DURATION_NANOS, duration_ns)

    def sample(self, time: StackTime) -> bytes:
        """The innermost call comes first; the process is the outermost one."""
        calls = [*reversed(time.frames), Frame(time.process, "", 0, 0)]
        labels = {"stage": time.stage, "operation": time.operation, "layer": time.layer}
        content = _numbers(_LOCATION_ID, map(self._location, calls))
        content += _numbers(_VALUE, [time.self_ns])
        for key, value in labels.items():
            label = _number(_KEY, self._text(key)) + _number(_STR, self._text(value))
            content += _field(_LABEL, label)
        return _field(_SAMPLE, content)

    def tail(self) -> Iterator[bytes]:
        """What the samples refer to."""
        for frame, number in self._locations.items():
            function = self._function(frame)
            line = _number(_FUNCTION_ID, function) + _number(_LINE_NUMBER, frame.line)
            yield _field(_LOCATION, _number(_ID, number) + _field(_LINE, line))
        for (name, file, first_line), number in self._functions.items():
            text = self._text(name)
            content = _number(_ID, number) + _number(_NAME, text) + _number(_SYSTEM_NAME, text)
            content += _number(_FILENAME, self._text(file)) + _number(_START_LINE, first_line)
            yield _field(_FUNCTION, content)
        for each in self._texts:
            yield _field(_STRING_TABLE, each.encode(errors="backslashreplace"))

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _location(self, frame: Frame) -> int:
        return self._locations.setdefault(frame, len(self._locations) + 1)

    def _function(self, frame: Frame) -> int:
        key = (frame.function, frame.file, frame.first_line)
        return self._functions.setdefault(key, len(self._functions) + 1)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _field(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def _numbers(field: int, values: Iterable[int]) -> bytes:
    return _field(field, b"".join(map(_varint, values)))


EXPORTER = _Pprof()
