"""Which calls of a program's text give the same again: in each pass of a loop, or in two lines of a
function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rlscope.analysis.source_code import LOOPS, SCOPES, Source, looped_names, name_of, variables

# What changes the weights of a network, and what draws at random, as they are mostly called.
_TRAINS = frozenset(
    "backward fit learn load_state_dict optimize step train update zero_grad".split()
)
_DRAWS = frozenset("act draw dropout explore noise random rsample sample sampled".split())
# Modules whose functions call no network.
_LIBRARIES = frozenset(("F", "functional", "math", "np", "numpy", "torch"))
_BUILTINS = frozenset(
    "bool dict enumerate float int isinstance len list map max min next print range reversed set"
    " sorted str sum super tuple zip".split()
)


def same_in_each_pass(source: Source, line: int) -> bool:
    """Whether a line calls a function with the same arguments in each pass of a loop, of which
    nothing changes a network, and no other function with others."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or loop is None or trains(loop):
        return False
    changed = looped_names(loop) | _assigned(loop) | _told(loop)
    calls = named_calls_at(loop, line)
    same = [call for call in calls if not _uses(call, changed)]
    return bool(same) and len(same) == len(calls) and not any(map(_may_differ, same))


def same_of_a_copy(source: Source, line: int, copies: Iterable[str]) -> bool:
    """Whether a line asks a copy of a network with the same arguments in each pass of a loop that
    trains others, and does not change the copy: self.policy_old.logp(states).

    Args:
        copies: networks that are trained by no optimizer, by the last part of their name.
    """
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or loop is None or not trains(loop):
        return False
    changed = looped_names(loop) | _assigned(loop) | _told(loop)
    return any(
        not _uses(call, changed)
        and not asked.isdisjoint(copies)
        and bool(given(call))
        and not _may_differ(call)
        for call in named_calls_at(loop, line)
        if (asked := set(ast.unparse(call.func).split(".")[-2:]))
    )


def lines_of_the_same(source: Source, line: int) -> list[int]:
    """Lines of the function around a line that call the same with the same arguments, one after
    the other, while nothing changes them. Fewer than two: there is none."""
    function = source.function_node(line)
    if function is None:
        return []
    calls = _outermost(_named_calls(function))
    for text in {ast.unparse(call) for call in calls if call.lineno == line}:
        twins = [call for call in calls if ast.unparse(call) == text and given(call)]
        lines = sorted({call.lineno for call in twins})
        if len(lines) > 1 and not _may_differ(twins[0]):
            between = range(lines[0] + 1, lines[-1] + 1)
            if not _is_changed(function, between, twins[0]) and not _are_apart(function, lines):
                return lines
    return []


def _outermost(calls: Iterable[ast.Call]) -> list[ast.Call]:
    """Those that are no argument of another one: what converts the arguments is not repeated with
    a network that is given them."""
    found = [*calls]
    inside = {id(part) for call in found for each in given(call) for part in ast.walk(each)}
    return [call for call in found if id(call) not in inside]


def _named_calls(around: ast.AST) -> Iterator[ast.Call]:
    """Calls of the program's own functions and networks, by a name: critic(x), self.goals(x)."""
    for node in ast.walk(around):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            parts = ast.unparse(node.func).split(".")
            if all(part.isidentifier() for part in parts) and parts[0] not in _LIBRARIES:
                if parts[-1] not in _BUILTINS and parts[-2:-1] != ["functional"]:
                    yield node


def named_calls_at(loop: ast.AST, line: int) -> list[ast.Call]:
    """Calls of the program's own functions and networks around a line, in what each pass of a loop
    does."""
    return [call for call in _named_calls(loop) if is_at(call, line, loop)]


def is_at(call: ast.Call, line: int, loop: ast.AST) -> bool:
    """Whether a call lies around a line, in what each pass of a loop does. What a loop goes through
    is computed once: critic(x) in `for q in critic(x)`, and in a comprehension."""
    header = getattr(getattr(loop, "generators", [loop])[0], "iter", None)
    in_header = header is not None and any(node is call for node in ast.walk(header))
    return not in_header and call.lineno <= line <= (call.end_lineno or call.lineno)


def given(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call."""
    return [*call.args, *(each.value for each in call.keywords)]


def _may_differ(call: ast.Call) -> bool:
    return not _DRAWS.isdisjoint(name_of(call.func).lower().split("_"))


def trains(around: ast.AST) -> bool:
    """Whether it calls what changes the weights of a network, by its name."""
    calls = (node for node in ast.walk(around) if isinstance(node, ast.Call))
    return any(name_of(call.func) in _TRAINS for call in calls)


def _assigned(around: ast.AST) -> set[str]:
    """Variables and attributes that are set in it, or of which an entry is, and variables of the
    loops in it."""
    found: set[str] = set()
    for node in ast.walk(around):
        if isinstance(node, ast.Assign):
            found |= variables(_arrays(node.targets))
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            found |= variables(_arrays([node.target]))
        elif isinstance(node, LOOPS):
            found |= looped_names(node)
    return found


def _arrays(targets: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """What is assigned to: `rows` and `last` of `rows[place], last = values`."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _arrays(target.elts)
        elif isinstance(target, ast.Subscript):
            yield from _arrays([target.value])
        else:
            yield target


def _told(around: ast.AST) -> set[str]:
    """Objects of which a method is called, or that a function is given, for what it does and not
    for a result: board.move(action), shuffle(rows)."""
    found: set[str] = set()
    for node in ast.walk(around):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute):
                found |= variables([call.func.value])
            if name_of(call.func) not in _BUILTINS:
                found |= variables(given(call))
    return found


def _uses(call: ast.Call, changed: set[str]) -> bool:
    """Whether a call uses variables that are changed, or parts of them. A method may use every
    attribute of its object."""
    used = {
        ast.unparse(node)
        for part in (call.func, *given(call))
        for node in ast.walk(part)
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    if ast.unparse(call.func) == f"self.{name_of(call.func)}":
        used |= {each for each in changed if each.startswith("self.")}
    return any(f"{each}.".startswith(f"{name}.") for each in used for name in changed)


def _is_changed(function: ast.AST, between: range, call: ast.Call) -> bool:
    """Whether statements in some lines set what a call uses, or train."""
    statements = (node for node in ast.walk(function) if isinstance(node, ast.stmt))
    simple = (node for node in statements if not hasattr(node, "body") and node.lineno in between)
    return any(_uses(call, _assigned(node)) or trains(node) for node in simple)


def _are_apart(function: ast.AST, lines: list[int]) -> bool:
    """Whether only one of some lines runs: they are in the branches of an `if`, or one of them in
    a function or a loop of its own."""
    for node in ast.walk(function):
        if node is not function and isinstance(node, (ast.If, *LOOPS, *SCOPES)):
            inside = [node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines]
            if any(inside) and (isinstance(node, ast.If) or not all(inside)):
                return True
    return False
