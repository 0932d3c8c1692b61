"""Batches are drawn out of the replay memory by Python, one transition after the other."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, groups, learning_verdicts, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import OBJECT_COPIES, estimate_of, of_functions
from rlscope.analysis.kept_containers import is_deque
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.prices import Price
from rlscope.analysis.random_draws import is_cut_permutation
from rlscope.analysis.source_code import (
    COMPREHENSIONS,
    Source,
    looped_names,
    name_of,
    source_of,
    variables,
)
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"
# What goes through rows in libraries, and what does better there.
_LIBRARIES = {
    r".*/torch/utils/data/_utils/fetch\.py:.*": "If the rows are in memory, draw their "
    "numbers (torch.randint, randperm) and index the tensors, in place of a DataLoader.",
    r".*/torchrl/data/replay_buffers/storages.*:ListStorage\..*": "Keep transitions in a "
    "LazyTensorStorage: it indexes all rows of a batch at once, where a ListStorage stacks them.",
}
# What goes through transitions one by one.
_ONE_BY_ONE = (
    r".*/random\.py:Random\.(sample|choices?|randrange|randint|shuffle)",
    r".*/numpy/_?core/shape_base\.py:v?stack",
    r".*/torch/utils/data/_utils/collate\.py:.*",
    *_LIBRARIES,
    r".*/tensordict/_torch_func\.py:_(lazy_)?stack.*",
)
# What takes items of a list, or of a deque, by their numbers.
_TAKE = frozenset(("choice", "choices", "sample"))
_WRITTEN = (ast.Constant, ast.Slice, ast.UnaryOp)  # a number, such as -1
# What goes through all of the memory for each batch.
_THROUGH_ALL = frozenset(
    "argpartition argsort choice choices cumsum nlargest nsmallest sort sorted".split()
)
# What indexing arrays with a batch of rows costs an entry instead, and what a tree of sums does
# that goes down a level for all of the batch at once.
_INDEXING = Price(20_000, 5_000, 50_000)
_DESCENT = Price(150_000, 50_000, 300_000)
# What kept sums win of draws that add up all priorities: looking for numbers in them costs, too.
_OF_SUMS = (0.3, 0.55, 0.8)
# What drawing some whole numbers costs.
_DRAWING = Price(5_000, 2_000, 15_000)
# What is found, and how to mend it.
_STEPPED = (
    "Python goes through transitions one by one, or a function through all of the memory",
    "Keep each field in one array, and index it with the rows of the batch; keep priorities in a "
    "tree of sums.",
)
_DESCENDED = (
    "Python goes through a tree of sums for one transition after the other",
    "Go down the tree for all numbers of a batch at once, with arrays of NumPy. Change priorities "
    "so, too: level by level.",
)
_IN_DEQUE = (
    "Python goes through transitions one by one, and finds each from an end of a deque",
    "Keep transitions in a list: a deque looks for each from an end. Better, keep each field in "
    "one array, and index it with the rows of the batch.",
)
_SUMMED = (
    "NumPy goes through the priorities of all of the memory",
    "Keep sums of priorities in a tree, or add them up once (cumsum) and look for each number in "
    "the sums (searchsorted): choice(p=...) checks all of them, too.",
)
_SHUFFLED = (
    "NumPy shuffles the numbers of all rows of the memory",
    "Draw the rows of a batch by integers(n, size=k) or randint(n, size=k): choice(replace=False), "
    "permutation and randperm shuffle all n of them.",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "replay")
    if not operations:
        return
    asked = {"process_id": loop.process_id, "operations": operations}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    if not finding_verdicts.are_readings_enough(sum(row["readings"] for row in rows)):
        return
    time = estimate_of(rows)
    copies = of_functions(trace, loop, OBJECT_COPIES, operations)
    if copies is not None:  # rule object_copies speaks of these
        time = time.less(copies.time).at_least(0)
    called_ns = min(_called_ns(trace, loop, operations, rows), time.saving_ns)
    stepped_ns = min(_stepped_ns(trace, loop, operations, rows) + called_ns, time.saving_ns)
    if not learning_verdicts.is_replay_stepped(stepped_ns, time.saving_ns):
        return
    first, place, entries = rows[0], rows[0], rows[0]["entries"]
    is_descent = verdicts.is_most(called_ns, stepped_ns)
    draws = _draws(trace, loop, entries)
    price = time.less((_DESCENT if is_descent else _INDEXING).times(draws))
    what, fix = _IN_DEQUE if any(_looks_in_deque(trace, row) for row in rows) else _STEPPED
    tree = [row for row in rows if _halves(trace, row)] if is_descent else []
    if verdicts.is_most(_all_ns(tree), called_ns):
        place, (what, fix) = tree[0], _DESCENDED
    shuffling = [row for row in rows if _permutes(trace, row)]
    if verdicts.is_most(_all_ns(shuffling), stepped_ns):
        price = estimate_of(shuffling).less(_DRAWING.times(draws))
        what, fix = _SHUFFLED
    elif not verdicts.is_most(called_ns, stepped_ns) and any(_weighs(trace, row) for row in rows):
        kept, descended = time.part(*_OF_SUMS), time.less(_DESCENT.times(draws))
        price = max(kept, descended, key=lambda each: each.saving_ns)
        what, fix = _SUMMED
    for functions, better in _LIBRARIES.items():
        if what == _STEPPED[0] and of_functions(trace, loop, (functions,), operations):
            fix = better
    yield Finding(
        title="storing transitions and drawing batches takes "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{count(entries)} entries into {first['operation']} take "
        f"{duration(time.saving_ns)}; in {share(stepped_ns, time.saving_ns)} of it, {what}.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix=fix,
        no_effect="No effect where a transition is so large that copying it takes the time.",
        price=price,
        operation=first["operation"],
        file=place["file"],
        line=place["line"],
    )


def _draws(trace: Trace, loop: Loop, entries: int) -> int:
    """Entries that draw a batch: at most as many as learn. Others store a transition each."""
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    asked = {"process_id": loop.process_id, "operations": learning}
    (row,) = statement.run(trace, "findings/most_entries", **asked).to_dicts()
    return min(entries, row["entries"] or entries)


def _looks_in_deque(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether a line takes items of a deque by their numbers: memory[i], sample(memory, 32)."""
    source = source_of(trace, row["file"])
    asked: list[ast.expr] = []
    for node in ast.walk(source.tree or ast.Module([], [])):
        if row["line"] == getattr(node, "lineno", 0):
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, _WRITTEN):
                asked.append(node.value)
            elif isinstance(node, ast.Call) and name_of(node.func) in _TAKE:
                asked += node.args[:1]
    return any(is_deque(source, ast.unparse(each)) for each in asked)


def _halves(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether the function around a line finds nodes below or above: 2 * i + 1, (i - 1) // 2."""
    function = source_of(trace, row["file"]).function_node(row["line"])
    return any(
        (isinstance(node.op, (ast.FloorDiv, ast.Mult)) and _is(2, node.left, node.right))
        or (isinstance(node.op, (ast.LShift, ast.RShift)) and _is(1, node.right))
        for node in (ast.walk(function) if function else ())
        if isinstance(node, ast.BinOp)
    )


def _is(number: int, *operands: ast.expr) -> bool:
    return any(isinstance(each, ast.Constant) and each.value == number for each in operands)


def _weighs(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether a line draws many rows at once with their priorities: choice(n, 64, p=chances)."""
    return any(
        isinstance(node, ast.Call)
        and name_of(node.func) == "choice"
        and any(each.arg == "p" for each in node.keywords)
        and (len(node.args) > 1 or any(each.arg == "size" for each in node.keywords))
        and node.lineno == row["line"]
        for node in source_of(trace, row["file"]).around(row["line"])
    )


def _permutes(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether a line draws rows of the memory without repetition, and all alike: choice(n, 64,
    replace=False), randperm(n)[:64]."""
    for node in source_of(trace, row["file"]).around(row["line"]):
        if isinstance(node, ast.Call) and name_of(node.func) == "choice":
            given = {each.arg: each.value for each in node.keywords}
            replace = given.get("replace")
            return isinstance(replace, ast.Constant) and not replace.value and "p" not in given
        if is_cut_permutation(node):
            return True
    return False


def _stepped_ns(
    trace: Trace, loop: Loop, operations: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> float:
    """Time of replay that goes through transitions one by one: in functions that do, and at lines
    of `rows` with a comprehension, or with a call that sorts or sums all of the memory."""
    inside = of_functions(trace, loop, _ONE_BY_ONE, operations)
    stepped = [row for row in rows if _steps_through(trace, row) or _permutes(trace, row)]
    functions_ns = inside.time.saving_ns if inside else 0.0
    # A comprehension may be what calls the function.
    return min(functions_ns, _all_ns(rows) - _all_ns(stepped)) + _all_ns(stepped)


def _called_ns(
    trace: Trace,
    loop: Loop,
    operations: Container[str],
    rows: Sequence[Mapping[str, Any]],
) -> float:
    """Time of replay in functions of the program that a line of a loop or a comprehension calls
    for one transition after the other, as a tree of sums does."""
    own_ns = {(row["file"], row["line"], row["operation"]): row["own_ns"] for row in rows}
    found = 0.0
    for file in {row["file"] for row in rows}:
        asked = {"process_id": loop.process_id, "file": file}
        source = source_of(trace, file)
        for row in statement.run(trace, "findings/line_operation", **asked).to_dicts():
            if source.is_in_comprehension(row["line"]) and not _is_item_by_item(
                source, row["line"]
            ):
                continue  # over the fields of a batch
            at = {"file": file, "line": row["line"], "operation": row["operation"]}
            # The loop of the training is none.
            if row["operation"] in operations and own_loop(trace, loop, **at) is not None:
                own = own_ns.get((file, row["line"], row["operation"]), 0)
                found += max(row["total_ns"] - own, 0)
    return found


def _steps_through(trace: Trace, row: Mapping[str, Any]) -> bool:
    source = source_of(trace, row["file"])
    return _is_item_by_item(source, row["line"]) or source.calls_any(row["line"], _THROUGH_ALL)


def _all_ns(rows: Sequence[Mapping[str, Any]]) -> float:
    return float(sum(row["own_ns"] for row in rows))


def _is_item_by_item(source: Source, line: int) -> bool:
    """Whether the innermost loop around a line is a comprehension that goes through items one
    by one. One that indexes each with a variable, as in column[rows] for each column, gathers
    many at a time. So does one over a few names, as in memory[name][rows] for each."""
    loop = source.innermost_loop(line)
    if not isinstance(loop, COMPREHENSIONS) or _is_over_names(loop):
        return False
    looped = looped_names(loop)
    return not any(
        isinstance(node, ast.Subscript)
        and variables([node.value]) & looped
        and variables([node.slice]) - looped
        for node in ast.walk(loop)
    )


def _is_over_names(loop: ast.AST) -> bool:
    """Whether a comprehension goes through what is written there, or through the keys of what it
    looks up. A dictionary that is made of another one, as of whole columns, does so, too."""
    if isinstance(loop, ast.DictComp):
        return True
    over = [part.iter for part in getattr(loop, "generators", ())]
    looked_up = {ast.unparse(n.value) for n in ast.walk(loop) if isinstance(n, ast.Subscript)}
    return any(
        isinstance(each, (ast.Constant, ast.List, ast.Tuple)) or ast.unparse(each) in looked_up
        for each in over
    )


RULE = Rule(_find)
