"""What the passes of a loop in a program's text need of each other: whether one call could take
what a line gives a function in each, and what is the same in all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rlscope.analysis.pure_functions import is_pure
from rlscope.analysis.read_names import meet, names_in, set_by, with_owners
from rlscope.analysis.repeated_calls import given, is_at, named_calls_at, trains
from rlscope.analysis.source_code import (
    COMPREHENSIONS,
    LOOPS,
    SCOPES,
    TELLS,
    Source,
    is_one_of,
    looped_names,
    name_of,
)

_LOOPS = (ast.For, ast.ListComp, ast.GeneratorExp)
_LEAVES = (ast.Break, ast.Continue, ast.Return)
# What only puts items into its object.
_PUTS = frozenset("add append extend insert push put".split())
# Words in the names of what is gone through, if it has many items at a time.
_STRETCHES = re.compile("batches|chunks|epoch|folds|loader|split")
# Functions that go through all that they are given, of Python and of NumPy.
_THROUGH_ALL = frozenset("dict frozenset list max min set sorted sum tuple".split())
_MODULES = frozenset(("np", "numpy"))
_OF_NUMPY = frozenset(
    (
        *"argsort array asarray concatenate cov cumsum diag dot eig eigh exp histogram".split(),
        *"inv linspace log matmul mean median meshgrid outer percentile pinv quantile".split(),
        *"solve sort stack std sum svd tile unique var".split(),
    )
)
# Functions of NumPy that only make or join arrays, which other rules speak of.
_MAKES_ARRAYS = frozenset(
    "append arange array asarray concatenate copy empty frombuffer full hstack ones stack vstack"
    " zeros".split()
)
# Methods of distributions, which are no networks.
_OF_DISTRIBUTIONS = frozenset("cdf entropy icdf log_prob rsample sample".split())
# What makes a batch of one item: a number, and which argument it is.
_OF_ONE = {"unsqueeze": (0, 0), "expand_dims": (0, 1), "reshape": (1, 0), "view": (1, 0)}


@dataclass(frozen=True)
class _Statement:
    node: ast.AST
    sets: set[str]
    reads: set[str]


def could_be_one_call(source: Source, line: int) -> bool:
    """Whether a line calls the same function in each pass of its loop, with other arguments, none
    of which comes of an earlier pass."""
    loop = loop_of_passes(source, line)
    if loop is None:
        return False
    statements = [*_statements(loop)]
    changed = looped_names(loop).union(*(each.sets for each in statements))
    calls = [
        call
        for call in named_calls_at(loop, line)
        if not meet(names_in([call.func]), changed) and meet(names_in(given(call)), changed)
    ]
    return bool(calls) and not any(_feeds_itself(call, statements) for call in calls)


def chains_could_be_one_call(source: Source, line: int) -> bool:
    """Whether the loop around a line makes a chain of calls, and the loop around that one begins
    each chain anew: a plan after the other, step by step. One call could take a step of all."""
    chain, around = two_loops(source, line)
    if not isinstance(chain, _LOOPS) or not isinstance(around, ast.For) or trains(around):
        return False
    if any(isinstance(node, _LEAVES) for node in ast.walk(around)):
        return False
    inside, before = [*_statements(chain)], []
    for statement in around.body:
        if any(node is chain for node in ast.walk(statement)):
            break
        before += [*_statements(ast.Module([statement], []))]
    carried = set[str]().union(*(each.sets for each in inside))
    begun = set[str]().union(*(e.sets for e in before if isinstance(e.node, ast.Assign)))
    started = set[str]().union(*(each.reads for each in before))
    for call in named_calls_at(chain, line):
        needed = _needed(call, inside)
        differs = meet(needed | started, looped_names(around))
        changes = meet(names_in([call.func]), carried | looped_names(around))
        if differs and not changes and (needed & carried) - looped_names(chain) <= begun:
            return not meet(started, carried)
    return False


def two_loops(source: Source, line: int) -> tuple[ast.AST | None, ast.AST | None]:
    """The innermost loop around a line, and the one around that, in one function."""
    loops: list[ast.AST | None] = [None, None]
    for node in source.around(line):
        if isinstance(node, SCOPES):
            loops = [None, None]
        elif isinstance(node, LOOPS):
            loops.append(node)
    return loops[-1], loops[-2]


def calls_each(source: Source, line: int) -> bool:
    """Whether a line calls what its loop goes through, as one network of a list after the other,
    with nothing that an earlier pass made."""
    loop = loop_of_passes(source, line)
    if loop is None:
        return False
    looped, statements = looped_names(loop), [*_statements(loop)]
    calls = [
        node
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and is_at(node, line, loop) and is_one_of(node.func, looped)
        if name_of(node.func) not in _OF_DISTRIBUTIONS
    ]
    return bool(calls) and not any(_feeds_itself(call, statements) for call in calls)


def function_of_rows(source: Source, line: int) -> str | None:
    """The function of NumPy that a line computes with, of one row in each pass of its loop: np.pad,
    in `rows[i] = np.pad(batch[i], 4)`. None: there is none, or passes need earlier ones."""
    for call in _calls_of_rows(source, line):
        if _computes_rows(call):
            return ast.unparse(call.func)
    return None


def row_taken(source: Source, line: int) -> str | None:
    """What a statement takes one row of in each pass of its loop, and names or gives away: batch,
    in `row = batch[i]` and `memory.add(batch[i])`. None: nothing, or it does more than that."""
    loop = loop_of_passes(source, line)
    if loop is None:
        return None
    for node in ast.walk(loop):
        if getattr(node, "lineno", None) != line:
            continue
        if isinstance(node, ast.Assign):
            taken = [node.value]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            taken = given(node.value) if name_of(node.value.func) in _PUTS else []
        else:
            continue
        for each in taken:
            read = names_in([each.slice]) if isinstance(each, ast.Subscript) else set()
            if isinstance(each, ast.Subscript) and read and read <= looped_names(loop):
                text = ast.unparse(each.value)
                return None if text.endswith("loc") else text  # rule table_rows speaks of these
    return None


def _calls_of_rows(source: Source, line: int) -> Iterator[ast.Call]:
    """Calls of a line that are given what differs from pass to pass, and no earlier result."""
    loop = loop_of_passes(source, line)
    if loop is None:
        return
    statements = [*_statements(loop)]
    changed = looped_names(loop).union(*(each.sets for each in statements))
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and is_at(node, line, loop):
            parts = [part for each in given(node) for part in ast.walk(each)]
            indexes = [part.slice for part in parts if isinstance(part, ast.Subscript)]
            is_row = meet(names_in(given(node)), looped_names(loop)) or meet(
                names_in(indexes), changed
            )
            if is_row and not _feeds_itself(node, statements):
                yield node


def _computes_rows(call: ast.Call) -> bool:
    """Whether a function of NumPy computes with what it is given, and is no draw."""
    text = ast.unparse(call.func)
    is_numpy = text.partition(".")[0] in _MODULES and ".random" not in text
    return is_numpy and name_of(call.func) not in _MAKES_ARRAYS


def loop_of_passes(source: Source, line: int) -> ast.AST | None:
    """The loop around a line that does the same in each pass."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or not isinstance(loop, _LOOPS) or trains(loop):
        return None
    # A result may decide about the next pass.
    return None if any(isinstance(node, _LEAVES) for node in ast.walk(loop)) else loop


def needs_earlier(source: Source, line: int) -> bool:
    """Whether a call of a line is given what comes of its own result of an earlier pass."""
    loop = source.innermost_loop(line)
    if loop is None:
        return False
    statements = [*_statements(loop)]
    return any(_feeds_itself(call, statements) for call in named_calls_at(loop, line))


def input_needs_earlier(source: Source, line: int) -> bool:
    """Whether the first argument of what a line sets, with its state as another one, comes of what
    an earlier pass set: h = cell(actor(h), h), and not h = cell(x[t], h)."""
    loop = source.innermost_loop(line)
    if loop is None:
        return False
    statements = [*_statements(loop)]
    for each in statements:
        for call in ast.walk(each.node):
            if isinstance(call, ast.Call) and len(call.args) > 1 and is_at(call, line, loop):
                if meet(each.sets, names_in(call.args[1:])):
                    return meet(each.sets, _come_of(names_in(call.args[:1]), statements))
    return False


def goes_through_items(source: Source, line: int) -> bool:
    """Whether a line gives a function what a `for` goes through, item by item: no stretches of it,
    as minibatches are."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or not isinstance(loop, ast.For):
        return False
    if any(isinstance(node, ast.Slice) and node.lower for node in ast.walk(loop)):
        return False
    items = looped_names(loop)
    if any(_STRETCHES.search(name) for name in names_in([loop.iter])):
        return False
    return any(
        meet(names_in(call.args), items) and not meet(names_in([call.func]), items)
        for call in named_calls_at(loop, line)
    )


def unchanged_call(source: Source, line: int) -> str | None:
    """A function of Python or NumPy that goes through what it is given, and that a line calls in
    each pass of a loop with variables that the loop changes in none: sorted(scores)."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or not isinstance(loop, _LOOPS):
        return None
    changed = looped_names(loop).union(*(each.sets for each in _statements(loop)))
    header = {
        id(node) for part in getattr(loop, "generators", [loop])[:1] for node in ast.walk(part.iter)
    }
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and node.lineno == line and id(node) not in header:
            names = names_in(given(node))
            plain = names and not any("." in name for name in names)
            if plain and _goes_through(node) and not meet(names, changed):
                return name_of(node.func)
    return None


def unchanged_function(source: Source, line: int) -> str | None:
    """A function of the file that gives the same for the same, and that a line calls in each pass
    of a loop with what no pass changes: {name: seen(states) for name in names}."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or not isinstance(loop, (*_LOOPS, ast.DictComp)):
        return None
    functions = source.functions_by_name()
    changed = looped_names(loop).union(*(each.sets for each in _statements(loop)))
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and is_at(node, line, loop):
            owner = _owner_asked(node, loop)
            function = functions.get(name_of(node.func))
            asked = node.args if isinstance(node.func, ast.Name) else owner
            if function is not None and asked and is_pure(function, functions):
                if not meet(names_in([*given(node), *owner]) | _free(function), changed):
                    return function.name
    return None


def _owner_asked(call: ast.Call, loop: ast.AST) -> list[ast.expr]:
    """Whose method a comprehension calls, and no other one of it: game.moves()."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(owner, ast.Name) or not isinstance(loop, COMPREHENSIONS):
        return []
    methods = {
        node.attr
        for node in ast.walk(loop)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == owner.id
    }
    return [owner] if len(methods) == 1 else []


def _free(function: ast.AST) -> set[str]:
    """Variables that a function reads and does not set itself."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return {node.id for node in nodes} - own


def _goes_through(call: ast.Call) -> bool:
    owner = getattr(call.func, "value", None)
    if owner is None:
        return name_of(call.func) in _THROUGH_ALL
    return ast.unparse(owner).partition(".")[0] in _MODULES and name_of(call.func) in _OF_NUMPY


def gives_one(source: Source, line: int) -> bool:
    """Whether a line gives a call a batch of one item, made there or in the loop around it:
    x.unsqueeze(0), x[None]."""
    loop = source.innermost_loop(line)
    if loop is None:
        return False
    arguments = [each for call in named_calls_at(loop, line) for each in given(call)]
    names = names_in(arguments)
    made = (each.node for each in _statements(loop) if meet(each.sets, names))
    return any(_makes_one(node) for each in (*arguments, *made) for node in ast.walk(each))


def _makes_one(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        first = node.slice.elts[:1] if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(isinstance(each, ast.Constant) and each.value is None for each in first)
    if not isinstance(node, ast.Call) or name_of(node.func) not in _OF_ONE:
        return False
    number, place = _OF_ONE[name_of(node.func)]
    asked = node.args[place : place + 1]
    return any(isinstance(each, ast.Constant) and each.value == number for each in asked)


def _statements(loop: ast.AST) -> Iterator[_Statement]:
    """What sets variables in a loop. A call for what it does may change its object: rows.add(x)."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            yield _Statement(node, set_by(node.targets), names_in([node.value]))
        elif isinstance(node, ast.AugAssign):
            yield _Statement(node, set_by([node.target]), names_in([node.target, node.value]))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            yield _Statement(node, set_by([node.target]), names_in([node.value]))
        elif isinstance(node, ast.For) and node is not loop:
            yield _Statement(node.target, set_by([node.target]), names_in([node.iter]))
        elif isinstance(node, (ast.If, ast.While)):
            inside = [part for each in (*node.body, *node.orelse) for part in _statements(each)]
            yield _Statement(
                node.test, set().union(*(part.sets for part in inside)), names_in([node.test])
            )
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield _Statement(node, set_by([node.optional_vars]), names_in([node.context_expr]))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield _effect(node.value)


def _effect(call: ast.Call) -> _Statement:
    """What a call for what it does may change: its object, and what it is given, unless it only
    puts that into its object."""
    told = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    changed = [] if name_of(call.func) in _PUTS | TELLS else given(call)
    functions = {
        id(part.func) for each in changed for part in ast.walk(each) if isinstance(part, ast.Call)
    }
    parts = (part for each in changed for part in ast.walk(each) if id(part) not in functions)
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return _Statement(call, names_in(told) | names, names_in(given(call)))


def _feeds_itself(call: ast.Call, statements: Iterable[_Statement]) -> bool:
    """Whether an argument of a call comes, over whatever statements, of what the call returned."""
    others = [*statements]
    around = [each for each in others if any(part is call for part in ast.walk(each.node))]
    needed = _needed(call, others)
    return any(meet(each.sets, needed) for each in around)


def _needed(call: ast.Call, statements: Iterable[_Statement]) -> set[str]:
    """Variables that the arguments of a call come of, over whatever statements."""
    return _come_of(names_in(given(call)), statements)


def _come_of(names: set[str], statements: Iterable[_Statement]) -> set[str]:
    others, needed = [*statements], names
    found = others
    while found:
        owners = with_owners(needed)
        reached = [meet(each.sets, needed, owners) for each in others]
        found = [each for each, is_reached in zip(others, reached, strict=True) if is_reached]
        others = [each for each, is_reached in zip(others, reached, strict=True) if not is_reached]
        needed = needed.union(*(each.reads for each in found))
    return needed
