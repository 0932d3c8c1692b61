"""The recorder where the kernel refuses it a system call: seccomp, old kernels, sandboxes.

Each call is refused alone. The program must behave as without the recorder, and what could not be
recorded must be counted, or absent.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.process.recorder_programs import (
    compile_program,
    count_enters,
    drained,
    traced_environment,
)

from rlscope import _trace

SANDBOX = r"""
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define DATA(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))

/* The call `number` fails with `error` if its third argument has one of `bits` (0: always). */
static int refuse(unsigned number, unsigned bits, unsigned error) {
  struct sock_filter code[] = {
      DATA(nr),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, bits ? 0 : 2, 3),
      DATA(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int refuse_named(const char *name, int error) {
  static const struct rlimit none = {0, 0};
  if (!strcmp(name, "file-size")) return setrlimit(RLIMIT_FSIZE, &none);
  static const struct { const char *name; long number; unsigned bits; } calls[] = {
      {"clone", SYS_clone, 0},           {"clone3", SYS_clone3, 0},
      {"close_range", SYS_close_range, 0}, {"unshare", SYS_unshare, 0},
      {"fallocate", SYS_fallocate, 0},   {"madvise", SYS_madvise, 0},
      {"statfs", SYS_statfs, 0},         {"openat", SYS_openat, O_WRONLY | O_RDWR}};
  for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (!strcmp(calls[i].name, name))
      return refuse((unsigned)calls[i].number, calls[i].bits, (unsigned)error);
  return 0;
}

extern int rlscope_profile_begin(const char *) __attribute__((weak));
extern void rlscope_profile_end(void) __attribute__((weak));

/* program CALLS ERROR begin|late|profile [DIR]: CALLS are refused before the program's image is
   loaded, or after its first records; `profile` records without a wrapper. */
int main(int count, char **words) {
  int late = !strcmp(words[3], "late"), profile = !strcmp(words[3], "profile");
  char calls[64];
  strcpy(calls, words[1]);
  if (late) record(10);
  if (!getenv("SANDBOXED")) {
    for (char *name = strtok(calls, "+"); name; name = strtok(NULL, "+"))
      if (refuse_named(name, atoi(words[2]))) return 77;
    if (!late) {
      setenv("SANDBOXED", "1", 1);
      execv("/proc/self/exe", words);
    }
  }
  int began = profile && rlscope_profile_begin ? rlscope_profile_begin(words[4]) : 0;
  record(getenv("RECORDS") ? atoi(getenv("RECORDS")) : 200000);
  if (profile && rlscope_profile_end) rlscope_profile_end();
  int lowest = dup(0);
  printf("%d %d %d\n", lowest, began, errno);
  for (int i = 4; i < 4096; i++)
    if (close(i) == 0) return 5;
  return 3;
}
"""
EPERM, ENOSYS, EACCES = 1, 38, 13
RECORDS = 200_000


@dataclass(frozen=True)
class Sandbox:
    """The program above, compiled."""

    program: Path

    def run(
        self, calls: str, error: int, how: str, environ: Mapping[str, str], *more: str
    ) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [self.program, calls, str(error), how, *more],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if result.returncode == 77:
            pytest.skip("seccomp filters are not allowed here")
        return result


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(compile_program(tmp_path_factory.mktemp("sandbox"), SANDBOX))


def losses(directory: Path) -> dict[str, int]:
    return {loss["kind"]: loss["count"] for loss in _trace.Directory(str(directory)).losses(0)}


@pytest.mark.parametrize("error", [EPERM, ENOSYS])
@pytest.mark.parametrize(
    "calls", ["clone", "clone+clone3", "close_range", "fallocate", "madvise", "statfs"]
)
@pytest.mark.parametrize("how", ["begin", "late"])
def test_a_refused_call_that_has_a_substitute_loses_nothing(
    sandbox: Sandbox, tmp_path: Path, calls: str, error: int, how: str
) -> None:
    with drained(tmp_path / "run"):
        result = sandbox.run(calls, error, how, traced_environment(tmp_path / "run"))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    trace = _trace.Directory(str(tmp_path / "run"))
    process = len(trace.processes) - 1
    kept = count_enters(trace, process)
    assert kept == RECORDS + (10 if how == "late" else 0)
    assert trace.losses(process) == []
    assert trace.processes[process]["exit_code"] == 3


@pytest.mark.parametrize("error", [EPERM, EACCES])
def test_a_program_that_may_not_write_is_not_recorded(
    sandbox: Sandbox, tmp_path: Path, error: int
) -> None:
    directory = tmp_path / "run"
    with drained(directory):
        result = sandbox.run("openat", error, "begin", traced_environment(directory))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    trace = _trace.Directory(str(directory))
    # The image before the filter is all that could announce itself.
    assert [count_enters(trace, i) for i in range(len(trace.processes))] == [0]


def test_a_program_that_may_no_longer_write_counts_what_it_loses(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    with drained(directory):
        result = sandbox.run("openat", EACCES, "late", traced_environment(directory))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    trace = _trace.Directory(str(directory))
    exits = sum(
        int((trace.items(0, int(thread))["kind"] == 2).sum())
        for thread in trace.threads(0)["thread"]
    )
    lost = losses(directory).get("ring_full", 0)
    assert count_enters(trace, 0) + exits + lost == 2 * (RECORDS + 10)
    assert trace.processes[0]["ended"] == "gone"  # it could not say goodbye


@pytest.mark.parametrize("calls", ["close_range", "close_range+unshare", "statfs", "fallocate"])
def test_a_profile_keeps_to_its_own_descriptors_whatever_is_refused(
    sandbox: Sandbox, tmp_path: Path, calls: str
) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    environ = {k: v for k, v in traced_environment(directory).items() if k != "RLSCOPE_DIR"}
    result = sandbox.run(calls, EPERM, "profile", environ, str(directory))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    trace = _trace.Directory(str(directory))
    lost = losses(directory).get("ring_full", 0)
    assert count_enters(trace, 0) == RECORDS or lost > 0


def test_a_profile_without_its_thread_is_refused_and_the_program_goes_on(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    environ = {k: v for k, v in traced_environment(directory).items() if k != "RLSCOPE_DIR"}
    result = sandbox.run("clone+clone3", EPERM, "profile", environ, str(directory))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 11 0\n", "")  # EAGAIN


def test_a_program_without_drainer_and_thread_stops_recording_and_says_so(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    with drained(directory):
        pass  # the wrapper is gone before the program begins
    environ = {**traced_environment(directory), "RECORDS": "400000"}
    result = sandbox.run("clone+clone3", EPERM, "begin", environ)
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    trace = _trace.Directory(str(directory))
    process = len(trace.processes) - 1
    lost = {loss["kind"]: loss["count"] for loss in trace.losses(process)}
    assert lost["no_drainer"] == 1
    assert 0 < count_enters(trace, process) < 400_000  # what the rings hold


@pytest.mark.parametrize("calls", ["file-size", "file-size+clone+clone3"])
@pytest.mark.parametrize("how", ["begin", "late"])
def test_a_program_whose_files_may_not_grow_is_not_killed_for_ours(
    sandbox: Sandbox, tmp_path: Path, calls: str, how: str
) -> None:
    """The kernel answers such a write with SIGXFSZ, too, which ends a process by default."""
    with drained(tmp_path / "run"):
        result = sandbox.run(calls, EPERM, how, traced_environment(tmp_path / "run"))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 0 0\n", "")
    kept = count_enters(_trace.Directory(str(tmp_path / "run")), 0)
    assert kept > 0 if how == "late" else kept == 0


def test_a_profile_whose_files_may_not_grow_is_refused_and_the_program_goes_on(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    environ = {k: v for k, v in traced_environment(directory).items() if k != "RLSCOPE_DIR"}
    result = sandbox.run("file-size", EPERM, "profile", environ, str(directory))
    assert (result.returncode, result.stdout, result.stderr) == (3, "3 27 0\n", "")  # EFBIG
