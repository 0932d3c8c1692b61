"""The answer in words, for the top of the page and of the terminal's screen.

    Learning takes 54.2 % of the training loop: 3.21 s of 5.92 s.

Built from tables alone; every number in a sentence is a cell of one of them, or a sum of cells.
All shares have one denominator, which rlscope/report/shares.py names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlscope.analysis import (
    compilations,
    coverage,
    groups,
    imports,
    iterations,
    lines,
    machine,
    operations,
    process_verdicts,
    processes,
    roles,
    run_facts,
    threads,
    verdicts,
    waits,
)
from rlscope.analysis.verdicts import Failure, Subject, Unrecorded
from rlscope.report import (
    collective_sentences,
    compilation_sentences,
    group_sentences,
    import_sentences,
    limits,
    line_sentences,
    loop_sentences,
    process_sentences,
    role_sentences,
    run_sentences,
    sentences,
    shares,
    token_sentences,
    units,
)

if TYPE_CHECKING:
    from rlscope.opening import Trace


Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Detail:
    text: str
    warning: bool = False
    minor: bool = False
    """Said on the page, and not on the terminal's one screen."""


@dataclass(frozen=True)
class Headline:
    """What stands above the panels."""

    title: str
    """Name of the run."""
    run: str
    """Length, size and command in one line; the command last, which may be long."""
    sentence: str
    """Where the time goes: one sentence, or a few."""
    cut: str = ""
    """That recording stopped before the program did, and when: said first. Empty: it did not."""
    busy: list[str] = field(default_factory=list)
    """That the program lacked CPUs, and who had them: said before the sentence."""
    details: list[Detail] = field(default_factory=list)
    version: str = ""
    """Version of rlscope that recorded the run; "" unknown."""
    about: str = ""
    """Name, date, host and that version in one line."""

    @property
    def first(self) -> list[str]:
        """Warnings that stand above everything: they change what any share means."""
        return [*filter(None, [self.cut]), *self.busy]


def first_sentence(trace: Trace) -> str:
    """Headline.sentence alone, which takes a tenth of the time of all."""
    return _first_sentence(trace, _known(trace))


def is_sound(trace: Trace) -> bool:
    """Whether the shares of the loop mean something: the program did not fail before its first
    update, and nearly all of its time is not outside of the loop."""
    known = _known(trace)
    if known.run.get("imported"):
        return True
    (loop,) = iterations.loop_iterations(trace).to_dicts()
    brief = verdicts.brevity(known.facts, loop) is verdicts.Brevity.SHORT_LOOP
    return known.failure() not in (Failure.NO_UPDATE, Failure.NO_LOOP) and not brief


@dataclass(frozen=True)
class _Known:
    """What several sentences are about: rows of the analysis functions of these names."""

    run: dict[str, Any]
    facts: dict[str, Any]
    """What `coverage` says."""
    times: Rows
    """Rows of `group_time`."""
    waited: Rows
    """Rows of `waited_for`."""
    loops: Rows
    """Rows of `role_loops`."""
    unrecorded: Rows
    """Rows of `unrecorded_programs`."""
    ending: dict[str, Any]
    """The row of `ending`."""

    def failure(self) -> Failure:
        """Other tools do not say how a program ended."""
        if self.run.get("imported"):
            return Failure.NONE
        return verdicts.failure(self.ending, self.times, self.facts)

    def is_loop_missing(self) -> bool:
        """Whether the training loop may be in a program that nothing recorded."""
        return not self.facts["looping_processes"] and bool(self.missing(Unrecorded.FIRST))

    def missing(self, wanted: Unrecorded) -> list[str]:
        return process_sentences.unrecorded(self.unrecorded, self.facts, wanted)


def _known(trace: Trace) -> _Known:
    (facts,) = coverage.coverage(trace).to_dicts()
    (ending,) = run_facts.ending(trace).to_dicts()
    return _Known(
        run=next(iter(trace.table("run").to_dicts()), {}),
        facts=facts,
        times=groups.group_time(trace, waiting=facts["looping_processes"] > 1).to_dicts(),
        waited=waits.explained_waits(trace),
        loops=roles.role_loops(trace).to_dicts(),
        unrecorded=processes.unrecorded_programs(trace, programs=limits.ROWS).to_dicts(),
        ending=ending,
    )


def _first_sentence(trace: Trace, known: _Known) -> str:
    """Where the time goes, behind what makes shares mean little; nothing but that where they mean
    nothing. Other tools record a few steps on purpose."""
    if nested := _of_nested(known.run, known.facts):
        return nested
    if known.run.get("imported"):
        return _where(trace, known)
    failure = known.failure()
    failed = "" if failure is Failure.AFTER_UPDATES else _failed(known)
    if failure is Failure.NO_UPDATE:
        return failed
    (loop,) = iterations.loop_iterations(trace).to_dicts()
    calls = compilations.compiled_call(trace).to_dicts()
    brevity = run_sentences.brevity(known.facts, loop, compilation_sentences.unawaited(calls))
    # It would ask to annotate a loop that may be there, and is not recorded.
    is_silent = known.is_loop_missing() or failure is Failure.NO_LOOP
    where = "" if is_silent else _where(trace, known)
    mixed = run_sentences.mixed_greenlets(known.facts)
    said = [*known.missing(Unrecorded.FIRST), failed, mixed, brevity, where]
    return " ".join(filter(None, said))


def _failed(known: _Known) -> str:
    return run_sentences.failure(known.failure(), known.ending)


def _where(trace: Trace, known: _Known) -> str:
    found = operations.automatic_operations(trace, operations=limits.ROWS).to_dicts()
    libraries = operations.unnamed_libraries(trace).to_dicts()
    said = sentence(known.times, known.facts, known.waited, found, libraries, known.loops)
    return said + _most_between(trace, known)


def _most_between(trace: Trace, known: _Known) -> str:
    """What most of the time between operations lies between, and its lines, where the sentence is
    about that time."""
    if not verdicts.is_about_between(known.times, known.facts):
        return ""
    pauses = operations.between_operations(trace, rows=limits.ROWS).to_dicts()
    where = loop_sentences.largest_pause(pauses)
    between = lines.between_lines(trace, rows=limits.ROWS).to_dicts() if where else []
    return f"{where}{line_sentences.hottest_between(between)}"


def read(trace: Trace) -> Headline:
    """The headline of a trace; raises RlscopeError as analysis does."""
    known = _known(trace)
    return Headline(
        title=str(known.run.get("name") or "run"),
        run=_run_line(known),
        sentence=_first_sentence(trace, known),
        cut=" ".join(sentences.cut(row) for row in coverage.cut(trace).to_dicts()),
        busy=[] if known.failure() is Failure.NO_LOOP else [*busy(trace)],
        details=[
            *_spoiling(trace, known),
            *_in_loop(trace, known),
            *_around(trace, known),
            *_left_out(trace, known),
        ],
        version=str(known.run.get("version") or ""),
        about=run_sentences.about(known.run, trace.table("host").to_dicts()),
    )


def busy(trace: Trace) -> Iterator[str]:
    """Who lacked CPUs, and who had them: all times are longer for that, and waits above all."""
    yield from run_sentences.busy(
        machine.machine_share(trace).to_dicts(), threads.cpu_lack(trace).to_dicts()
    )


def _spoiling(trace: Trace, known: _Known) -> Iterator[Detail]:
    """What an engineer has to know before any share."""
    if known.failure() is Failure.AFTER_UPDATES:
        yield from _warnings([_failed(known)])
    blocked = threads.blocked(trace, rows=limits.ROWS).to_dicts()
    yield from _warnings(run_sentences.blocked(blocked))
    yield from _warnings(known.missing(Unrecorded.BESIDE))
    opaque = compilations.compiled_call(trace).to_dicts()
    yield from _warnings(compilation_sentences.opaque(opaque))
    compiled = compilations.compilations(trace, rows=limits.ROWS).to_dicts()
    yield from map(Detail, compilation_sentences.compilations(compiled))
    met = waits.collectives(trace, rows=limits.ROWS).to_dicts()
    yield from _warnings(collective_sentences.waiting(met))


def _in_loop(trace: Trace, known: _Known) -> Iterator[Detail]:
    """What the time of the training loops is made of."""
    hot = lines.hot_lines(trace, lines=limits.LINES).to_dicts()
    yield from _minor(line_sentences.hottest(hot, shares.whole_name(known.facts)))
    yield from _minor(_together(known.times, known.facts, known.waited, known.loops))
    if not known.is_loop_missing() and known.failure() is not Failure.NO_LOOP:
        yield from map(Detail, group_sentences.shares_of_operations(known.times, known.facts))
        yield from _minor(group_sentences.shares_of_layers(known.times, known.facts))
        yield from map(Detail, group_sentences.others(known.times, known.facts))
    written = operations.generations(trace, rows=limits.PROCESSES).to_dicts()
    yield from map(Detail, token_sentences.generations(written))
    steps = roles.peer_steps(trace).to_dicts()
    yield from map(Detail, role_sentences.straggler(steps, known.loops))
    yield from map(Detail, loop_sentences.workers(waits.worker_steps(trace).to_dicts()))
    yield from _minor(loop_sentences.critical(waits.critical_iterations(trace).to_dicts()))


def _around(trace: Trace, known: _Known) -> Iterator[Detail]:
    """What runs around the training loops, and between their operations."""
    around = operations.around_loop(trace).to_dicts()
    yield from map(Detail, loop_sentences.around(around, known.waited, known.facts))
    parts = operations.ending_parts(trace, rows=limits.ROWS).to_dicts()
    last = operations.ending_lines(trace, rows=1).to_dicts()
    yield from _minor(loop_sentences.ending(around, parts, last, known.facts))
    totals = imports.totals(trace).to_dicts()
    modules = imports.modules(trace, rows=limits.ROWS).to_dicts()
    first, *others = [*import_sentences.notable(totals, modules), ""]
    yield from map(Detail, filter(None, [first]))
    yield from _minor(filter(None, others))
    yield from _states(operations.state_time(trace, operations=0, processes=0).to_dicts())
    pauses = operations.between_operations(trace, rows=limits.ROWS).to_dicts()
    between = lines.between_lines(trace, rows=limits.ROWS).to_dicts()
    yield from _between(known, pauses, line_sentences.between(between))


def _left_out(trace: Trace, known: _Known) -> Iterator[Detail]:
    """What the numbers do not hold."""
    uncounted = processes.uncounted_roles(trace).to_dicts()
    yield from map(Detail, loop_sentences.uncounted(uncounted, known.facts))
    yield from _nested(known.run, known.facts)
    yield from _lost(coverage.loss_summary(trace, rows=limits.ROWS).to_dicts())


def _warnings(texts: Iterable[str]) -> Iterator[Detail]:
    return (Detail(each, warning=True) for each in texts)


def _minor(texts: Iterable[str]) -> Iterator[Detail]:
    return (Detail(each, minor=True) for each in texts)


def _of_nested(run: dict[str, Any], facts: dict[str, Any]) -> str:
    """The sentence instead where nothing is recorded here, but in another trace."""
    if not run.get("nested") or facts["events"]:
        return ""
    return f"Nothing was recorded here. {sentences.nested(units.visible(run['nested']))}"


def _nested(run: dict[str, Any], facts: dict[str, Any]) -> Iterable[Detail]:
    if run.get("nested") and facts["events"]:
        yield Detail(sentences.nested(units.visible(run["nested"])))


def _run_line(known: _Known) -> str:
    run, facts = known.run, known.facts
    if not run:
        return "run.json is missing"
    parts = [
        units.duration(run["end_ns"] - run["start_ns"]),
        "" if run.get("imported") else run_sentences.ended(known.ending),
        units.plural(facts["processes"], "process"),
        f"{units.count(facts['events'])} events",
        units.visible(_what_ran(run)),
    ]
    return " · ".join(part for part in parts if part)


def _what_ran(run: dict[str, Any]) -> str:
    if run.get("imported"):
        return f"imported from {run['imported']}"
    return str(run.get("command") or run.get("name") or "")


def sentence(
    times: Rows,
    facts: dict[str, Any],
    waited: Rows = (),
    found: Rows = (),
    libraries: Rows = (),
    loops: Rows = (),
) -> str:
    """The largest group and its share; where operations take little of the loop, how little; where
    processes have different loops, a sentence for each role.

    Args:
        times: rows of `group_time`.
        facts: the row of `coverage`.
        waited: rows of `waited_for`.
        found: rows of `automatic_operation`.
        libraries: rows of `unnamed_library`.
        loops: rows of `role_loops`.
    """
    about = verdicts.subject(times, facts)
    if about is Subject.NOTHING:
        return "Nothing was recorded."
    if about is Subject.NO_LOOP:
        return (
            "The program annotates no operation of a training loop, and rlscope found none in "
            f"{_length(facts)}."
        )
    if about is Subject.UNCOVERED:
        return loop_sentences.uncovered(times, facts, waited, found, libraries)
    if process_verdicts.are_loops_different(loops):
        return role_sentences.loops(loops)
    return loop_sentences.largest(times, facts, waited)


def _together(times: Rows, facts: dict[str, Any], waited: Rows, loops: Rows) -> Iterable[str]:
    """The largest group of all loops, where the first sentence is about each role."""
    is_largest = verdicts.subject(times, facts) is Subject.LARGEST
    if is_largest and process_verdicts.are_loops_different(loops):
        yield loop_sentences.largest(times, facts, waited)


def _length(facts: dict[str, Any]) -> str:
    length, processes = units.duration(facts["span_ns"]), facts["processes"]
    return length if processes < 2 else f"{length} of {units.plural(processes, 'process')}"


def _states(states: Rows) -> Iterable[Detail]:
    """CPU and GPU, when there was GPU work at all."""
    rows = [row for row in states if row["operation"] is None]
    if any(row["state"] in ("gpu", "cpu+gpu") for row in rows):
        parts = [
            f"{row['state']} {units.share(row['duration_ns'], row['group_ns'])}" for row in rows
        ]
        yield Detail(f"By GPU state: {', '.join(parts)}.")


def _between(known: _Known, pauses: Rows, hottest: str) -> Iterable[Detail]:
    """What the time between operations lies between; that it is much, where the first sentence
    does not say so."""
    times, facts, waited = known.times, known.facts, known.waited
    is_known = verdicts.are_pauses_notable(pauses, facts)
    where = loop_sentences.pauses(pauses) if is_known else ""
    is_largest = verdicts.subject(times, facts) is Subject.LARGEST
    if is_largest and verdicts.is_between_notable(times, facts):
        waiting_ns = groups.waiting_between_ns(times)
        share = units.share(facts["between_ns"] - waiting_ns, facts["span_ns"])
        said = f"Without waits, {share}" if waiting_ns else share
        remedy = group_sentences.without_environment(times, facts)
        # The first sentence says as much, but for the shares.
        is_said = verdicts.is_about_between(times, facts) and not remedy
        yield Detail(
            f"{said} of the time lies between operations{': ' if where else ''}{where}."
            f"{hottest}{loop_sentences.waits_of_pauses(times, waited)}{remedy}",
            warning=not is_said,
            minor=is_said,
        )
    elif where:
        waits_said = loop_sentences.waits_of_pauses(times, waited) if is_largest else ""
        yield Detail(
            f"Between operations: {where}.{hottest}{waits_said}",
            minor=not verdicts.is_between_told(pauses, facts),
        )


def _lost(lost: list[dict[str, Any]]) -> Iterable[Detail]:
    harmful = [row for row in lost if verdicts.is_data_missing(row["kind"])]
    if harmful:
        kinds = ", ".join(f"{row['kind']} {units.count(row['count'])}" for row in harmful)
        yield Detail(f"Not everything was recorded ({kinds}); see Data quality.", warning=True)
