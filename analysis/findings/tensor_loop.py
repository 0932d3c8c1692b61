"""Python loops over elements of tensors, or over small tensors, with an operator for each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, groups, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import calls_beside, estimate_of
from rlscope.analysis.independent_passes import two_loops
from rlscope.analysis.operations import OUTSIDE
from rlscope.analysis.own_loops import OwnLoop, loop_around, operations_in
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, name_of, source_of, variables
from rlscope.analysis.trained_networks import GIVE_TENSORS
from rlscope.relations.groups import LEARNING, SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What changes a tensor in place, in PyTorch.
_CHANGES = frozenset(("add_", "copy_", "lerp_", "mul_", "set_", "sub_"))
Row = Mapping[str, Any]
_STATEMENT = "findings/tensor_loop"
_CHANGE = "findings/change_in_place"
_IN_PLACE = r"\.[a-z]+_$"
_SUMS = r"\.__r?(mul|add)__$"
_FORWARDS = frozenset(("forward", "__call__"))
# What a loop over the parameters of a network calls beside, and operators on lists do not need.
_DICTIONARIES = frozenset(("state_dict", "load_state_dict"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, SIMULATION),
        "looped": finding_verdicts.LOOPED_CALLS,
        "between": finding_verdicts.LOOPED_BETWEEN,
    }
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for around, lines in _loops(trace, loop, rows):
        first = lines[0]
        updates = _updates(trace, first)
        if updates:
            first = {**first, **_change(trace, loop, first)}
        if not finding_verdicts.is_looped(first, updates_parameters=updates):
            continue
        time = estimate_of(lines)
        if updates:
            place = first["file"], first["line"]
            time = time.plus(calls_beside(trace, loop, place, _DICTIONARIES))
        price = time.part(0.8, 0.92, 1.0)
        if not updates and _is_nested(trace, loop, first):
            # No pass is left, nor what libraries do for the lines.
            beside_ns = max(around.total_ns - time.saving_ns, 0)
            price = time.part(0.85, 0.98, 1.0).plus(Price(0.8 * beside_ns, 0, beside_ns))
        yield Finding(
            title=f"a Python loop over tensors takes {share(time.saving_ns, loop.loop_ns)} of the "
            "loop",
            evidence=f"{count(first['calls'])} calls of {first['function']} in "
            f"{count(first['entries'])} entries, {duration(first['duration_ns'] / first['calls'])} "
            "each: the call costs more than the arithmetic.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Use one operator on a whole tensor, torch._foreach_* on a list of them, or NumPy "
            "for a recursion in time.",
            no_effect="Little effect where each element is large.",
            price=price,
            operation=first["operation"],
            file=first["file"],
            line=first["line"],
        )


def _is_nested(trace: Trace, loop: Loop, row: Row) -> bool:
    """Whether the loop around a line stands in another one of the same operation, so that passes
    multiply: rows, and in each the atoms of a distribution."""
    _, around = two_loops(source_of(trace, row["file"]), row["line"])
    if not isinstance(around, ast.For):
        return False
    place = around.lineno, around.end_lineno or around.lineno
    return operations_in(trace, loop, row["file"], place) <= {row["operation"], OUTSIDE}


def _updates(trace: Trace, row: Row) -> bool:
    """Whether a loop moves a network, or steps without an optimizer."""
    source, line = source_of(trace, row["file"]), row["line"]
    learns = group_of(row["operation"]) == LEARNING
    return _updates_parameters(source, line) or (learns and source.calls_any(line, _CHANGES))


def _change(trace: Trace, loop: Loop, row: Row) -> Row:
    """The function that changes tensors at a line, or that sums what replaces them: an update of
    networks has far longer calls beside. Nothing, if the operation calls none."""
    source = source_of(trace, row["file"])
    asked = {"process_id": loop.process_id, "operation": row["operation"]}
    in_place = source.calls_any(row["line"], _CHANGES)
    patterns = (_IN_PLACE,) if in_place else (_SUMS, _IN_PLACE)
    found = (statement.run(trace, _CHANGE, pattern=each, **asked).to_dicts() for each in patterns)
    rows = next(filter(None, found), [])
    called = (
        each
        for each in rows
        if source.calls_any(row["line"], (each["function"].rpartition(".")[2],))
    )
    return next(called, rows[0] if rows else {})


def _loops(trace: Trace, loop: Loop, rows: Sequence[Row]) -> Iterator[tuple[OwnLoop, list[Row]]]:
    """Loops, with the rows of lines that are in one of them, in one operation."""
    found: dict[tuple[str, OwnLoop, str], list[Row]] = {}
    for row in rows:
        if not finding_verdicts.is_line_noticed(row["own_ns"], loop.loop_ns):
            continue  # the question who calls it takes some 10 ms
        # A comprehension is mostly over a few things, such as the heads of a network.
        source = source_of(trace, row["file"])
        if source.is_in_comprehension(row["line"]) or _is_together(source, row["line"]):
            continue
        asked = {key: row[key] for key in ("file", "line", "operation")}
        around = loop_around(trace, loop, **asked)
        if around is not None and not _is_of_network(trace, row, around):
            found.setdefault((*around, row["operation"]), []).append(row)
    for (_, place, _), lines in found.items():
        own_ns = sum(row["own_ns"] for row in lines)
        calls_itself = any(row["framework_ns"] > 0 for row in lines)
        if calls_itself and finding_verdicts.is_loop_of_operators(own_ns, place.total_ns):
            yield place, lines


def _is_together(source: Source, line: int) -> bool:
    """Whether a line stands beside operators on lists of tensors, as is advised: the function
    around it has some, and no loop of its own around the line."""
    function = source.function_node(line) if source.loop_at(line) is None else None
    calls = (node for node in ast.walk(function or ast.Pass()) if isinstance(node, ast.Call))
    return any(name_of(call.func).startswith("_foreach_") for call in calls)


def _is_of_network(trace: Trace, row: Row, around: tuple[str, OwnLoop]) -> bool:
    """Whether a line is in the forward of a network, which the loop calls."""
    function = source_of(trace, row["file"]).function_node(row["line"])
    if function is None or function.name not in _FORWARDS:
        return False
    file, place = around
    return file != row["file"] or not function.lineno <= place.first <= row["line"]


def _updates_parameters(source: Source, line: int) -> bool:
    """Whether a line changes tensors in place, or puts sums into a dictionary, in a loop over
    parameters of networks."""
    for node in source.around(line):
        if isinstance(node, ast.For):
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
            given = {name_of(each.func) for each in calls if each.lineno == node.lineno}
            given |= _makers(source, node)
            inside = {name_of(each.func) for each in calls if each.lineno > node.lineno}
            if given & GIVE_TENSORS and (inside & _CHANGES or _puts_sums(node)):
                return True
    return False


def _makers(source: Source, loop: ast.For) -> set[str]:
    """Functions that made what a loop goes through, if that is a variable or its items."""
    over = {part.id for part in ast.walk(loop.iter) if isinstance(part, ast.Name)}
    around = source.function_node(loop.lineno) or source.tree or loop
    return {
        name_of(node.value.func)
        for node in ast.walk(around)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if variables(node.targets) & over
    }


def _puts_sums(loop: ast.For) -> bool:
    """Whether a loop assigns what it computes to entries: rows[name] = 0.9 * rows[name] + value."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and any(isinstance(target, ast.Subscript) for target in node.targets)
        for node in ast.walk(loop)
    )


RULE = Rule(_find, of_lines=True)
