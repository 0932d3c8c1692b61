"""Which lines of a forward the time of its backward belongs to, in PyTorch (--lines=backward).

One backward in so many is watched. From the end of the backward before it, PyTorch's anomaly mode
is on, without its check for NaN: each node of autograd keeps the stack that made it. Here that is
one line, the innermost of the program's own code. When the backward begins, the mode goes off, and
each node gets a hook that reads the clock before the node runs. Until the next one begins, the time
is that of this node and of the gradients that it adds up. The hooks return nothing and are removed
at the end, so the program computes the same bits.
"""

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType
from typing import Any

from rlscope.auto.spaced_notes import SpacedNotes
from rlscope.recorder import runtime
from rlscope.rundir.own_code import is_own

METADATA = "rlscope.backward_lines"
"""Key of the note, JSON: a list of [file, line, backwards, watched, watched_ns, parts], one for
each line that ran a backward. Its parts are [file, line, function, nodes, ns]."""

_FIRST = 8  # these are watched, but for the very first: nobody knew before that it would come
_EVERY = 37  # and then one in so many: a prime, so that losses that take turns are all met
_MOST_NODES = 20_000
_MOST_BACKWARDS, _MOST_PARTS = 20, 100  # of a note
_LONGEST = 200

Place = tuple[str, int, str]


def watch(module: ModuleType) -> None:
    """torch.autograd.graph: Tensor.backward, autograd.backward and autograd.grad all call one
    function of it."""
    run = getattr(module, "_engine_run_backward", None)  # since 2.3
    if run is None:
        return
    watcher = _Watcher()

    def run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        return watcher.run(run, outputs, *args, **kwargs)

    for owner in (module, sys.modules.get("torch.autograd")):
        if getattr(owner, "_engine_run_backward", None) is run:
            owner._engine_run_backward = run_backward  # type: ignore[union-attr]


class _Backwards:
    """Of one line."""

    def __init__(self) -> None:
        self.count = 0
        self.watched = 0
        self.watched_ns = 0
        self.parts: dict[Place, list[int]] = {}

    def add(self, watched_ns: int, parts: dict[Place, list[int]]) -> None:
        self.watched += 1
        self.watched_ns += watched_ns
        for place, numbers in parts.items():
            known = self.parts.setdefault(place, [0, 0])
            known[:] = [before + number for before, number in zip(known, numbers, strict=True)]


class _Watcher:
    """What is shared is changed under the GIL by single steps, or by the thread that took the one
    watched backward."""

    def __init__(self) -> None:
        self._stacks = _Stacks()
        self._count = 0
        self._of_lines: dict[tuple[str, int], _Backwards] = {}
        self._depth = threading.local()
        self._notes = SpacedNotes(self._note)
        os.register_at_fork(after_in_child=self._forget)

    def run(self, run: Callable[..., Any], outputs: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self._depth, "value", 0) or _is_traced():  # inside a node of another backward
            return run(outputs, *args, **kwargs)
        self._depth.value = 1
        try:
            return self._run(run, outputs, *args, **kwargs)
        finally:
            self._depth.value = 0

    def _run(self, run: Callable[..., Any], outputs: Any, *args: Any, **kwargs: Any) -> Any:
        timing = self._begin(outputs)
        try:
            return run(outputs, *args, **kwargs)
        finally:
            self._end(timing)

    def _begin(self, outputs: Any) -> "_Timing | None":
        try:
            self._count += 1
            is_watched = self._stacks.stop()
            place = self._stacks.innermost_own(sys._getframe(1))
            if place is None or runtime.state() != "recording":
                return None
            of_line = self._of_lines.setdefault(place[:2], _Backwards())
            of_line.count += 1
            return _Timing(of_line, outputs, self._stacks) if is_watched else None
        except Exception:  # the program's backward runs, whatever this could not do
            return None

    def _end(self, timing: "_Timing | None") -> None:
        try:
            if timing is not None:
                timing.end()
                self._notes.soon()
            if self._count < _FIRST or self._count % _EVERY == 0:
                self._stacks.start()
        except Exception:
            return

    def _note(self) -> None:
        try:
            found = sorted(self._of_lines.items(), key=lambda each: -each[1].watched_ns)
            if found:
                rows = [_row(place, each) for place, each in found[:_MOST_BACKWARDS]]
                runtime.metadata(METADATA, json.dumps(rows))
        except Exception:
            return

    def _forget(self) -> None:
        """In a fork child: its parent notes its own backwards."""
        self._count = 0
        self._of_lines = {}
        self._stacks.stop()


def _row(place: tuple[str, int], of_line: _Backwards) -> list[Any]:
    longest = sorted(of_line.parts.items(), key=lambda item: -item[1][1])[:_MOST_PARTS]
    parts = [
        [file[:_LONGEST], line, function[:_LONGEST], *numbers]
        for (file, line, function), numbers in longest
    ]
    return [
        place[0][:_LONGEST],
        place[1],
        of_line.count,
        of_line.watched,
        of_line.watched_ns,
        parts,
    ]


class _Stacks:
    """The lines that make nodes, while that is on."""

    def __init__(self) -> None:
        self._folders = [each for each in os.environ.get("RLSCOPE_SOURCE", "").split(":") if each]
        self._own: dict[str, bool] = {}
        self._places: dict[str, Place] = {}
        self._format: Callable[[], list[str]] | None = None  # PyTorch's, while ours is in its place
        self._is_on = self._is_left = self._checks_nan = False

    def start(self) -> None:
        torch = sys.modules["torch"]
        if torch.is_anomaly_enabled() or _is_traced():
            return
        module: Any = importlib.import_module("torch.fx.traceback")
        formats: Callable[[], list[str]] = module.format_stack
        self._format = formats

        def format_stack() -> list[str]:
            if getattr(module, "should_preserve_node_meta", False):  # a compiler keeps its own
                return formats()
            return self._here()

        format_stack.of_rlscope = True  # type: ignore[attr-defined]
        self._places = {}
        module.format_stack = format_stack
        self._checks_nan = torch.is_anomaly_check_nan_enabled()
        torch.autograd.set_detect_anomaly(True, check_nan=False)
        self._is_on = True

    def stop(self) -> bool:
        """Returns whether it was on."""
        if not self._is_on and not self._is_left:
            return False
        was_on, self._is_on = self._is_on, False
        torch = sys.modules["torch"]
        # With the check it is the program that has switched it on. The end of its block leaves it
        # as it found it: on, as ours.
        is_ours = torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        if is_ours:
            torch.autograd.set_detect_anomaly(False, check_nan=self._checks_nan)
        self._is_left = torch.is_anomaly_enabled()
        module: Any = sys.modules["torch.fx.traceback"]
        if getattr(module.format_stack, "of_rlscope", False):
            module.format_stack = self._format
        return was_on and is_ours

    def innermost_own(self, frame: FrameType | None) -> Place | None:
        """From `frame` outwards, the first line of the program's own code."""
        while frame is not None:
            code = frame.f_code
            if self._is_own(code.co_filename):
                name = getattr(code, "co_qualname", code.co_name)
                return code.co_filename, frame.f_lineno, name
            frame = frame.f_back
        return None

    def place_of(self, node: Any) -> Place | None:
        """The line that made it."""
        stack = node.metadata.get("traceback_")
        text = "".join(stack) if isinstance(stack, list) else ""
        return self._places.get(text)

    def is_own_function(self, node: Any) -> bool:
        """Whether it runs Python of the program, whose lines readings find by themselves."""
        function = getattr(getattr(type(node), "_forward_cls", None), "backward", None)
        code = getattr(function, "__code__", None)
        return code is not None and self._is_own(code.co_filename)

    def _here(self) -> list[str]:
        """In the form of traceback.format_list(), as others may read it, too."""
        place = self.innermost_own(sys._getframe(2))
        if place is None:
            return []
        text = '  File "{}", line {}, in {}\n'.format(*place)
        self._places[text] = place
        return [text]

    def _is_own(self, file: str) -> bool:
        known = self._own.get(file)
        if known is None:
            known = self._own[file] = is_own(file, self._folders)
        return known


class _Timing:
    """One watched backward."""

    def __init__(self, of_line: _Backwards, outputs: Sequence[Any], stacks: _Stacks) -> None:
        self._of_line = of_line
        self._handles: list[Any] = []
        self._begins: list[tuple[int, int, Place | bool | None]] = []  # thread, time, what begins
        nodes = list(_nodes(outputs))
        if len(nodes) <= _MOST_NODES:
            for node in nodes:
                place = stacks.is_own_function(node) or stacks.place_of(node)
                self._handles.append(node.register_prehook(self._hook(place)))
        self._began_ns = time.perf_counter_ns()

    def end(self) -> None:
        """The backward has ended."""
        ended_ns = time.perf_counter_ns()
        for handle in self._handles:
            handle.remove()
        if not self._begins:
            return
        watched_ns = ended_ns - self._began_ns
        parts: dict[Place, list[int]] = {}
        for place, took_ns in _intervals(self._begins, ended_ns):
            if place is True:
                watched_ns -= took_ns
            elif place:
                numbers = parts.setdefault(place, [0, 0])
                numbers[:] = numbers[0] + 1, numbers[1] + took_ns
        # Threads of devices may work at the same time.
        known_ns = sum(took_ns for _, took_ns in parts.values())
        self._of_line.add(max(watched_ns, known_ns), parts)

    def _hook(self, place: Place | bool | None) -> Callable[..., None]:
        add, thread, clock = self._begins.append, threading.get_ident, time.perf_counter_ns

        def begins(*_: Any) -> None:
            add((thread(), clock(), place))

        return begins


def _intervals(
    begins: Sequence[tuple[int, int, Place | bool | None]], ended_ns: int
) -> Iterator[tuple[Place | bool | None, int]]:
    """Each until the next one of its thread."""
    last: dict[int, tuple[int, Place | bool | None]] = {}
    for thread, time_ns, place in begins:
        if thread in last:
            began_ns, before = last[thread]
            yield before, time_ns - began_ns
        last[thread] = time_ns, place
    for began_ns, place in last.values():
        yield place, ended_ns - began_ns


def _nodes(outputs: Sequence[Any]) -> Iterator[Any]:
    """All that run in the backward of the outputs, but for those that keep a gradient: hooks of
    those are the program's."""
    waiting = [getattr(each, "node", None) or getattr(each, "grad_fn", None) for each in outputs]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or type(node).__name__ == "AccumulateGrad":
            continue
        seen.add(node)
        yield node
        waiting += [each for each, _ in node.next_functions]


def _is_traced() -> bool:
    """Whether a compiler or a transform looks at what the thread does: hooks would become a part of
    what it makes."""
    torch = sys.modules["torch"]
    compiled = sys.modules.get("torch._dynamo.compiled_autograd")
    names = ("compiled_autograd_enabled", "in_compiled_autograd_region")
    if any(getattr(compiled, name, False) for name in names):
        return True
    functorch = getattr(torch._C, "_functorch", None)
    peek = getattr(functorch, "peek_interpreter_stack", None)
    return torch.compiler.is_compiling() or (peek is not None and peek() is not None)
