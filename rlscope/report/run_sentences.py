"""Whether a run can be judged: its length, and whether it had the machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from rlscope.analysis import verdicts
from rlscope.analysis.operations import OUTSIDE
from rlscope.analysis.verdicts import Brevity, Failure
from rlscope.report import units

_CORES = {1: "The core was", 2: "Both cores were"}
_OUTSIDE = {"start-up": "startup_ns", "warm-up": "warmup_ns", "end": "end_ns"}


def failure(found: Failure, ending: dict[str, Any]) -> str:
    """That the program failed, and how; "" where it did not.

    Args:
        ending: the row of `ending`.
    """
    if found is Failure.NONE:
        return ""
    ended = f"ended with exit code {ending['exit']}{_error(ending)}."
    if found is Failure.NO_UPDATE:
        return f"The program failed before its first update: shares mean nothing. It {ended}"
    return f"The program {ended}"


def ended(ending: dict[str, Any]) -> str:
    """The same in a few words for each run: "interrupted"; "" where it ended well, or as nobody
    knows."""
    if verdicts.is_interrupted(ending):
        return "interrupted"
    return f"failed with exit code {ending['exit']}" if ending["exit"] else ""


def _error(ending: dict[str, Any]) -> str:
    if not ending["exception"]:
        return ""
    place = f", {os.path.basename(ending['file'])} line {ending['line']}" if ending["file"] else ""
    message = f": {ending['message']}" if ending["message"] else ""
    return units.visible(f"{place}: {ending['exception']}{message}").rstrip(".")


def mixed_greenlets(facts: dict[str, Any]) -> str:
    """That operations without annotation hold those of other greenlets; "" where none does.

    Args:
        facts: the row of `coverage`.
    """
    if not facts["mixed_greenlets"]:
        return ""
    return (
        "Greenlets switched inside of operations that rlscope found by itself, so these operations "
        "cannot be told apart. Put them into `with rls.operation(name):`, which follows greenlets."
    )


def brevity(facts: dict[str, Any], loop: dict[str, Any], unawaited: str = "") -> str:
    """That a run is too short to judge its training loop, and what is long enough; "" where it is.

    Args:
        facts: the row of `coverage`.
        loop: the row of `loop_iteration`.
        unawaited: why a loop may be short, however long it runs; "" there is no such reason.
    """
    found = verdicts.brevity(facts, loop)
    if found is Brevity.SHORT_LOOP:
        return f"{_short_loop(facts, loop)} {unawaited or _enough(facts, loop)}"
    if found is Brevity.FEW_ITERATIONS:
        return _few_iterations(facts, loop)
    return ""


def _short_loop(facts: dict[str, Any], loop: dict[str, Any]) -> str:
    processes = facts["looping_processes"]
    whole = units.duration(facts["outside_ns"] + facts["span_ns"])
    whole += f" of {units.plural(processes, 'process')}" if processes > 1 else ""
    length = units.duration(facts["span_ns"])
    length += f" in {units.plural(loop['iterations'], 'iteration')}" if loop["iterations"] else ""
    return (
        f"This run is too short to judge its training loop: {_outside(facts)} "
        f"{units.duration(facts['outside_ns'])} of {whole}, and the loop {length}."
    )


def _enough(facts: dict[str, Any], loop: dict[str, Any]) -> str:
    iterations, loop_ns = verdicts.enough(facts, loop)
    enough = units.duration(loop_ns)
    if iterations:
        return f"Run it for {iterations:,} iterations or more, which take {enough}."
    return f"Run its loop for {enough} or more."


def _few_iterations(facts: dict[str, Any], loop: dict[str, Any]) -> str:
    iterations, loop_ns = verdicts.enough(facts, loop)
    each = units.duration(verdicts.iteration_ns(facts, loop))
    return (
        f"The training loop completed only {units.plural(loop['iterations'], 'iteration')} of "
        f"{each}. To judge it, run {iterations:,} or more, which take {units.duration(loop_ns)}."
    )


def _outside(facts: dict[str, Any]) -> str:
    """ "start-up and end take": what most of the time outside the loop is."""
    named = [
        name
        for name, column in _OUTSIDE.items()
        if verdicts.is_outside_named(facts[column], facts["outside_ns"])
    ]
    if len(named) < 2:
        return f"{''.join(named)} takes"
    return f"{', '.join(named[:-1])} and {named[-1]} take"


def busy(machines: Sequence[dict[str, Any]], lacks: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Who lacked CPUs, and which machines other programs kept busy.

    Args:
        machines: rows of `machine_share`.
        lacks: rows of `cpu_lack`.
    """
    crowds = [_crowd(row) for row in machines if verdicts.is_machine_crowded(row)]
    lacking = [
        _lack(row)
        for row in lacks
        if verdicts.is_cpu_lacking(row["runnable_ns"], row["measured_ns"])
    ]
    if len(crowds) == 1:
        which = f"{', '.join(lacking)}, so times" if lacking else "Times"
        yield f"{crowds[0]} {which} are longer than on an idle machine."
        return
    for said in crowds:
        yield f"{said} Times are longer than on an idle machine."
    for said in lacking:
        yield f"{said}: other threads or programs had it."


def _lack(row: dict[str, Any]) -> str:
    length, whole = units.duration(row["runnable_ns"]), units.duration(row["measured_ns"])
    return f"{_who(row)} lacked a CPU for {length} of {whole}"


def _crowd(row: dict[str, Any]) -> str:
    cores = _CORES.get(row["cores"], f"All {row['cores']} cores were")
    polled, own = (units.whole_percent(row[f"{who}_percent"]) for who in ("polled", "run"))
    return (
        f"{cores} {polled} busy: this run used {own} of that machine, and other programs the rest."
    )


def _who(row: dict[str, Any]) -> str:
    if row["role"]:
        return f"{units.plural(row['processes'], row['role'])} together"
    if row["processes"] > 1:
        return f"{units.plural(row['processes'], 'process')} together"
    return f"{row['threads']:,} threads together" if row["threads"] > 1 else "The program"


def blocked(rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Rows of `blocked`: which operations were blocked, where no call of Python shows it."""
    for row in rows:
        if verdicts.is_blocking_notable(row["blocked_ns"], row["loop_ns"]):
            yield (
                f"{_place(row)}: blocked in native code for about "
                f"{units.duration(row['blocked_ns'])} of {units.duration(row['operation_ns'])} "
                f"(a queue, a lock or threads of a library, which no call of the interpreter "
                f"shows)."
            )


def _place(row: dict[str, Any]) -> str:
    return "Between operations" if row["operation"] == OUTSIDE else units.label(row["operation"])


def about(run: dict[str, Any], hosts: Sequence[dict[str, Any]]) -> str:
    """ "ppo · 2026-11-29 23:17 UTC · host box · rlscope 0.1.0"."""
    names = [*dict.fromkeys(units.label(row["name"]) for row in hosts if row["name"])]
    others = f" and {len(names) - 1:,} more" if names[1:] else ""
    parts = [
        units.visible(str(run.get("name") or "")),
        _date(run.get("start_time")),
        f"host {names[0]}{others}" if names else "",
        f"rlscope {units.visible(str(run['version']))}" if run.get("version") else "",
    ]
    return " · ".join(filter(None, parts))


def _date(start_time: str | None) -> str:
    """In UTC: nobody knows where the page is read."""
    try:
        began = datetime.fromisoformat(start_time or "").astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return ""
    return began.strftime("%Y-%m-%d %H:%M UTC")
