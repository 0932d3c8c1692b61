"""The kit's own client of CUPTI (cupti_client.c), which can use it in ways that rlscope does not.

It costs what CUPTI costs, and little else: so it says what a recorder could be set to.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path

from subscribed import load_cupti

# The table of the functions that rlscope records, as it is in the checkout and in the kit.
WATCHED = Path(__file__).parents[3] / "csrc" / "cupti" / "watched_calls.cc"
DRIVER, RUNTIME = 1, 2
LAUNCHES = {DRIVER: (307, 442, 652, 653), RUNTIME: (211, 214, 430, 431, 505, 506)}
KERNEL = 10
KINDS = (KERNEL, 1, 2, 38, 22, 17)
"""What rlscope records: kernels, copies, memsets, waits, copies between GPUs, CUPTI's own time."""

_COUNTED = ("calls", "callbacks", "kernels", "others", "dropped", "buffers")

Ids = dict[int, tuple[int, ...]]


def watched_ids() -> Ids:
    """Callback ids by domain, of the functions that rlscope records."""
    text = WATCHED.read_text()
    return {RUNTIME: _table(text, "kRuntimeIds"), DRIVER: _table(text, "kDriverIds")}


def _table(text: str, name: str) -> tuple[int, ...]:
    body = text.partition(f"constexpr Ids {name}[] = {{")[2].partition("};")[0]
    pairs = re.findall(r"\{(\d+), +(\d+)\}", body)
    if not pairs:
        raise SystemExit(f"{WATCHED} has no table {name}")
    return tuple(id for first, last in pairs for id in range(int(first), int(last) + 1))


@dataclass(frozen=True)
class Setting:
    """How CUPTI is used."""

    ids: Ids | None = None
    """Callbacks of these functions; None: of all."""
    kinds: tuple[int, ...] = KINDS
    buffer_bytes: int = 512 << 10
    reuses_buffers: bool = True
    flush_ns: int = 200_000_000
    """How often a thread flushes; 0: none does."""
    own_flush_ms: int = 0
    """How often CUPTI's own thread gives back full buffers; 0: as it likes."""


class Client:
    """CUPTI as one program uses it."""

    def __init__(self, library: str) -> None:
        self._cupti = load_cupti()
        self._client = ctypes.CDLL(library)
        if self._call("client_open", c_void_p(self._cupti._handle)) != 0:
            raise SystemExit("the CUPTI that was found lacks a function")
        self.refused: dict[str, int] = {}
        """What CUPTI answered to a step that it did not do."""
        self._attached: Setting | None = None

    def _call(self, name: str, *arguments: object) -> int:
        status: int = getattr(self._client, name)(*arguments)
        return status

    def _try(self, name: str, *arguments: object) -> None:
        status = self._call(name, *arguments)
        if status != 0:
            self.refused[f"{name}{arguments}"] = status

    # ---- before CUDA begins ----

    def set_attribute(self, attribute: int, value: int, size: int) -> None:
        self._try("client_set", attribute, c_uint64(value), c_size_t(size))

    def time_latency(self) -> None:
        """Kernels' records have the times at which they were queued and submitted."""
        self._try("client_time_latency", 1)

    # ---- attaching, and the steps back ----

    def attach(self, setting: Setting) -> None:
        if self._call("client_subscribe") != 0:
            raise SystemExit("CUPTI refused the subscription")
        self._attached = setting
        self._switch_calls(setting, True)
        if setting.kinds:
            reuses = int(setting.reuses_buffers)
            self._try("client_use_buffers", c_size_t(setting.buffer_bytes), reuses)
            self._try("client_let_flush_every", setting.own_flush_ms)
        for kind in setting.kinds:
            self._try("client_record", kind, 1)
        self._try("client_flush_every", c_uint64(setting.flush_ns if setting.kinds else 0))

    def _switch_calls(self, setting: Setting, on: bool) -> None:
        if setting.ids is None:
            for domain in (DRIVER, RUNTIME):
                self._try("client_watch_all", domain, int(on))
            return
        for domain, ids in setting.ids.items():
            for each in ids:  # those that this CUPTI is too old for are refused
                self._call("client_watch", domain, each, int(on))

    def disable_kinds(self) -> None:
        if self._attached is None or not self._attached.kinds:
            return
        self._try("client_flush_every", c_uint64(0))
        for kind in self._attached.kinds:
            self._try("client_record", kind, 0)
        self._try("client_flush", 1)

    def disable_callbacks(self) -> None:
        if self._attached is not None:
            self._switch_calls(self._attached, False)

    def unsubscribe(self) -> None:
        self._try("client_unsubscribe")
        self._attached = None

    def detach(self) -> None:
        """All of these, if it is attached."""
        if self._attached is not None:
            self.disable_kinds()
            self.disable_callbacks()
            self.unsubscribe()

    def finalize(self) -> None:
        """Ends CUPTI in this process, outside of any call."""
        self._try("client_finalize")

    def finalize_at_exit(self) -> None:
        """The next call with a callback ends CUPTI at its exit, as NVIDIA advises."""
        self._try("client_flush_every", c_uint64(0))
        self._try("client_flush", 1)
        self._call("client_finalize_at_exit")

    def finalized(self) -> None:
        """That call has been made."""
        status = self._call("client_finalized")
        if status != 0:
            self.refused["cuptiFinalize at an exit"] = status
        self._attached = None

    # ---- what came ----

    def read(self) -> dict[str, int]:
        """Has all finished records read, and says what came since the last time."""
        if self._attached is not None and self._attached.kinds:
            self._try("client_flush", 0)
        counts = (c_uint64 * len(_COUNTED))()
        self._client.client_count(counts)
        return dict(zip(_COUNTED, counts, strict=True))
