"""`with rls.profile(directory)`: records this process, and what it spawns, without rls-prof.

The environment that makes a child process record is made here too, for rls-prof as well.
"""

import os
import sys
from collections.abc import Callable, Mapping
from types import TracebackType

from rlscope import auto
from rlscope.capture import native as native_calls
from rlscope.capture import roles
from rlscope.errors import RecordingError
from rlscope.record import config
from rlscope.recorder import LIBRARY, REASON, runtime
from rlscope.rundir.new_run import RunDirectory, prepare_directory
from rlscope.rundir.run_json import write_run_json

__all__ = [
    "Profile",
    "foreign_injection",
    "preload_path",
    "prepare_directory",
    "traced_environment",
    "write_run_json",
]

# Stands in front of CUDA's runtime library (csrc/preload/cudart).
_CUDART = os.path.join(os.path.dirname(LIBRARY), "librlscope_cudart.so")


class Profile:
    """The block of `with rls.profile(directory)`: see rlscope.lazy.profile.

    `directory` is where the trace is, absolute once the block has begun.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, name: str = "", force: bool = False
    ) -> None:
        self.directory = os.fspath(directory)
        self._name = name
        self._force = force
        self._run: RunDirectory | None = None
        self._restore: dict[str, tuple[str, str | None]] = {}
        # What ends the blocks that are open, the innermost last: one object may be entered again.
        self._leave: list[Callable[[], None]] = []

    def __enter__(self) -> "Profile":
        self._leave.append(self._enter())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        leave = self._leave.pop()
        leave()

    def _enter(self) -> Callable[[], None]:
        """Begins to record, if need be; returns what ends that."""
        if REASON:
            _say_once(f"cannot record: {REASON}")
            return _do_nothing
        if runtime.state() != "off":
            return self._begin_window()
        self._begin()
        return self._end

    def _begin(self) -> None:
        for message in config.unknown_variables():
            _say_once(message)
        settings = config.Config.from_environ()  # a bad value is refused before anything is written
        variables = traced_environment(os.path.realpath(self.directory), os.environ)
        self._run = prepare_directory(self.directory, force=self._force)
        self.directory = self._run.path
        try:
            write_run_json(
                self.directory,
                command=sys.orig_argv,
                name=self._name,
                options={"profile": True},
            )
            self._set_environment(variables)
            runtime.profile_begin(self.directory)
        except BaseException as error:
            self._restore_environment()
            self._run.abandon()
            if not isinstance(error, OSError):
                raise
            reason = error.strerror or str(error)
            raise RecordingError(f"cannot record into {self.directory}: {reason}") from error
        runtime.python_begin(sys.version.split()[0], sys.executable or "")
        native_calls.begin()
        native_calls.catch_up()
        roles.note_start()
        auto.begin(settings.auto)

    def _end(self) -> None:
        native_calls.end()
        runtime.profile_end()
        self._restore_environment()
        if self._run is not None and not self._run.found():
            _say(f"the trace directory was removed or renamed during the run: {self.directory}")
        elif self._run is not None:
            self._run.release()

    def _begin_window(self) -> Callable[[], None]:
        active = os.environ.get("RLSCOPE_DIR", "")
        _say(f"already recording into {active}, so this directory is ignored: {self.directory}")
        self.directory = active or self.directory
        if runtime.is_recording():
            return _do_nothing
        runtime.start()
        return runtime.stop

    def _set_environment(self, variables: Mapping[str, str]) -> None:
        for variable, value in variables.items():
            self._restore[variable] = (value, os.environ.get(variable))
            os.environ[variable] = value

    def _restore_environment(self) -> None:
        """Undoes what still stands: a variable that the program changed meanwhile is its own."""
        for variable, (ours, before) in self._restore.items():
            if os.environ.get(variable) != ours:
                continue
            if before is None:
                del os.environ[variable]
            else:
                os.environ[variable] = before
        self._restore.clear()


def traced_environment(
    directory: str, environ: Mapping[str, str], *, interpose: bool = False
) -> dict[str, str]:
    """The variables, with their new values, that make a child process record into `directory`.

    LD_PRELOAD is appended to, because other tools' libraries must stay first; the CUDA driver's
    one injection variable is left alone when somebody else has it.

    Args:
        interpose: preload the library that stands in front of CUDA's runtime library too.
    """
    library = preload_path(LIBRARY)
    wanted = [library, preload_path(_CUDART)] if interpose else [library]
    preloaded = environ.get("LD_PRELOAD", "")
    missing = [path for path in wanted if path not in preloaded.replace(":", " ").split()]
    changes = {"RLSCOPE_DIR": directory}
    if missing:
        changes["LD_PRELOAD"] = ":".join(filter(None, [preloaded, *missing]))
    if not environ.get("CUDA_INJECTION64_PATH"):
        changes["CUDA_INJECTION64_PATH"] = library
    return changes


def foreign_injection(environ: Mapping[str, str]) -> str:
    """One line when the CUDA driver will load another tool's library, not ours; else empty."""
    path = environ.get("CUDA_INJECTION64_PATH", "")
    if not path or "librlscope" in path:
        return ""
    return (
        f"CUDA_INJECTION64_PATH is another tool's and stays: {path}. rlscope begins to record CUDA "
        "up to a second after it is loaded, if that tool leaves CUPTI free. It does so only in "
        "processes that have recorded an operation, or a call of a framework or simulator"
    )


def preload_path(library: str) -> str:
    """A path of `library` that LD_PRELOAD can hold.

    Blanks and colons separate the entries of LD_PRELOAD and cannot be escaped: a path with one
    is reached by a symbolic link in a folder that only this user can write. The link stays, for
    children that start after this process ended.
    """
    if not _separates(library):
        return library
    folder = _private_folder()
    link = os.path.join(folder, f"librlscope-{_digest(library)}.so")
    try:
        os.symlink(library, link)
    except FileExistsError:
        if os.readlink(link) != library:
            raise RecordingError(
                f"this symbolic link is not rlscope's, remove it: {link}"
            ) from None
    return link


def _separates(path: str) -> bool:
    return ":" in path or any(character.isspace() for character in path)


def _private_folder() -> str:
    """A folder below the first temporary one whose path LD_PRELOAD can hold, mode 0700."""
    user = os.getuid()
    import tempfile  # 4 ms that no other run needs

    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):
        folder = os.path.join(parent, f"rlscope-{user}")
        if _separates(folder) or not os.access(parent, os.W_OK):
            continue
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
        if status.st_uid == user and status.st_mode & 0o40077 == 0o40000:
            return folder
    raise RecordingError(
        f"no private folder for a link to {LIBRARY}: move rlscope to a path "
        "without blanks and colons"
    )


def _digest(text: str) -> str:
    from zlib import crc32

    return f"{crc32(os.fsencode(text)):08x}"


_said: set[str] = set()


def _say_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        _say(message)


def _say(message: str) -> None:
    if sys.stderr is not None:
        print(f"rlscope: {message}", file=sys.stderr)


def _do_nothing() -> None:
    return None
