"""Native calls of this interpreter: which libraries are watched, since when, by which engine.

    begin()     at the first import of rlscope: chooses the engine, asks for a call per library
    on_load()   native code was loaded: watches the packages that are new
    layer()     a library that the program names itself
    end()       the end of rls.profile's block: every pointer is put back

Engines: `patch` replaces the function pointers of the interpreter (csrc/native_calls),
`monitoring` uses sys.monitoring where that is refused, `off` leaves native code to the layer
of its caller. Nothing here is imported, read or written before a program loads native code: a
process without any pays for this module and one call.
"""

import os
import sys

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from rlscope.capture.watched import Watched

PATCH = "patch"
MONITORING = "monitoring"
OFF = "off"
ENGINES = (PATCH, MONITORING, OFF)

# Where extension modules of the standard library lie, in every installation.
_STANDARD_LIBRARY = "/lib-dynload/"

METADATA = "rlscope.interception"
"""Key under which a process reports its engine and what that could not see, as JSON."""


class Interception:
    """What this interpreter intercepts, from begin() to end()."""

    def __init__(self, engine: str, reason: str) -> None:
        self.engine = engine
        self.reason = reason
        """Why it is not the engine that was asked for; empty if it is."""
        self._watched: Watched | None = None
        self._notes_collections = False
        self._after_watching: list[Callable[[], None]] = []

    def start(self) -> None:
        """Starts the engine; from now on libraries are watched as they are loaded."""
        if self.engine == MONITORING:
            refused = runtime.monitoring_begin()
            if refused is not None:
                self.engine, self.reason = OFF, _joined(self.reason, refused)
        if self.engine != OFF:
            runtime.intercept_at_import(self.on_load, self.on_scan, self.engine == PATCH)
            if self.engine == PATCH and _records_waits():
                from rlscope.capture import named_functions

                named_functions.begin()
        elif self.reason:
            self.describe({})

    def stop(self) -> None:
        """Puts every pointer back, or ends listening."""
        if self.engine == OFF:
            return
        if self._notes_collections:
            from rlscope.capture import garbage

            garbage.end()
        runtime.intercept_at_import(None, None, False)
        if self.engine == PATCH:
            runtime.intercept_unpatch()
        else:
            runtime.monitoring_end()

    def on_load(self, spec: object) -> None:
        """importlib loaded native code from `spec`, or ctypes did (None). Its calls cannot be
        intercepted: the libraries that are watched already are enough."""
        name, file = getattr(spec, "name", None), getattr(spec, "origin", None)
        if isinstance(name, str) and isinstance(file, str) and _STANDARD_LIBRARY not in file:
            self._libraries().add_extension(name, file)
            self.watch()
            if self.engine == MONITORING:  # the engine that patches follows libraries by itself
                runtime.monitoring_refresh()

    def on_scan(self) -> None:
        """The functions of the libraries that were watched by now are intercepted."""
        self.describe(runtime.intercept_counts())

    def watch(self) -> bool:
        """Watches the libraries that are new in sys.modules; False: there are none."""
        new = self._libraries().update(sys.modules)
        if not new:
            return False
        self.record_collections()
        for pattern, layer in new:
            runtime.intercept_watch(pattern, layer)
        if self.engine == MONITORING:
            self.describe({})
        for function in self._after_watching:
            function()
        return True

    def record_collections(self) -> None:
        """From now on collections of garbage are recorded."""
        if not self._notes_collections:
            from rlscope.capture import garbage

            self._notes_collections = True
            garbage.begin()

    def name(self, layer: str, module: str) -> None:
        """Adds a library that the program names; it may be loaded already."""
        self._libraries().add(layer, module)
        self.catch_up()

    def catch_up(self) -> None:
        """Intercepts the libraries that were loaded before."""
        if self.watch():
            self._look()

    def _look(self) -> None:
        if self.engine == PATCH:
            runtime.intercept_scan()
        else:
            runtime.monitoring_refresh()

    def after_watching(self, function: "Callable[[], None]") -> None:
        self._after_watching.append(function)

    def describe(self, counts: dict[str, int]) -> None:
        """Notes the libraries in the trace; a later note replaces this one."""
        import json  # 3 ms, in processes with native libraries only

        watched = self._libraries()
        facts = {
            "engine": self.engine,
            "reason": self.reason,
            "libraries": watched.loaded(),
            "counts": counts,
            "problems": watched.problems,
            "waits": self.engine == PATCH and _records_waits(),
            "startup_ns": _startup_ns,
        }
        runtime.metadata(METADATA, json.dumps(facts))

    def _libraries(self) -> "Watched":
        if self._watched is None:
            from rlscope.capture.watched import Watched

            self._watched = Watched.from_environ(os.environ)
        return self._watched


_interception: Interception | None = None
_startup_ns = 0


def note_startup(spent_ns: int) -> None:
    """The interpreter took so long until it was ready to record the program's first line."""
    global _startup_ns
    _startup_ns = spent_ns


def _records_waits() -> bool:
    return os.environ.get("RLSCOPE_WAITS") != "0"


def begin() -> None:
    """Starts to intercept native calls, once, if this process is recorded. Never raises."""
    global _interception
    if _interception is not None or runtime.state() == "off":
        return
    try:
        engine, reason = choose(os.environ.get("RLSCOPE_INTERCEPT") or PATCH)
        interception = Interception(engine, reason)
        interception.start()
    except Exception:  # hidden from the program: its time is then Python's
        return
    _interception = interception


def catch_up() -> None:
    """Intercepts the libraries that are loaded already."""
    if _interception is not None and _interception.engine != OFF:
        _interception.catch_up()


def end() -> None:
    """Stops intercepting; begin() may follow."""
    global _interception
    if _interception is not None:
        _interception.stop()
        _interception = None


def layer(layer: str, module: str) -> None:
    """Counts the native code of `module` as `layer`, if this process intercepts anything."""
    if _interception is not None and _interception.engine != OFF:
        _interception.name(layer, module)


def record_collections() -> None:
    """From now on collections of garbage are recorded, if this process intercepts anything."""
    if _interception is not None and _interception.engine != OFF:
        _interception.record_collections()


def after_watching(function: "Callable[[], None]") -> None:
    """From now on `function()` runs each time a library begins to be watched, while the program
    imports it; nothing happens in a process that intercepts nothing."""
    if _interception is not None:
        _interception.after_watching(function)


def choose(asked: str) -> tuple[str, str]:
    """The engine for this interpreter, and why it is not the one that was asked for."""
    if asked == OFF:
        return OFF, ""
    reason = ""
    if asked != MONITORING:
        refused = runtime.intercept_supported()
        if refused is None:
            return PATCH, ""
        reason = refused
    if not hasattr(sys, "monitoring"):
        return OFF, _joined(reason, "sys.monitoring needs Python 3.12")
    return MONITORING, reason


def _joined(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)
