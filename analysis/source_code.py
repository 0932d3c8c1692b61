"""The program's own text, as the run kept it: what stands around a line, and what a line does."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rlscope.analysis import statement

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_LOOPS = (ast.For, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
LOOPS = (*_LOOPS, *_COMPREHENSIONS)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What gives parameters of a network, and what changes a tensor in place, in PyTorch.
_PARAMETERS = frozenset(("parameters", "named_parameters", "buffers", "state_dict"))
IN_PLACE = frozenset(("add_", "copy_", "lerp_", "mul_", "set_", "sub_"))
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
GRADIENTS_OFF = frozenset(("no_grad", "inference_mode", "set_grad_enabled"))
"""What turns PyTorch's autograd off, as a decorator or in a `with`."""
# Methods of tensors and arrays that leave one network to be called.
_CONVERTS = frozenset(
    "astype bool clone contiguous copy cpu cuda detach double expand flatten float int item long"
    " mean numpy permute repeat reshape squeeze sum to tolist transpose unsqueeze view".split()
)
_REDUCTIONS = frozenset(("all", "any", "max", "min", "sum"))
# What makes a key of items, and what a text is made for that people read.
_MADE_OF_ITEMS = frozenset(("frozenset", "tuple"))
_PLAIN = frozenset("abs bin bool chr float format hash hex int len ord repr round str".split())
TELLS = frozenset("debug error info log print warning write".split())
"""What is called for people."""
SCOPES = (*_FUNCTIONS, ast.Lambda)


@dataclass(frozen=True)
class Source:
    """A file. Without a text, or with one that is no Python, nothing is known of its lines."""

    tree: ast.AST | None

    def loop_at(self, line: int) -> tuple[int, int] | None:
        """The first and the last line of the innermost loop in which a line is executed again and
        again, within its function."""
        found = None
        for node in self.around(line):
            if isinstance(node, SCOPES):
                found = None
            elif isinstance(node, LOOPS):
                found = (node.lineno, node.end_lineno or node.lineno)
        return found

    def is_in_while(self, line: int) -> bool:
        """Whether the innermost loop around a line, within its function, is a `while`."""
        return self.loop_at(line) is not None and isinstance(self.innermost_loop(line), ast.While)

    def is_in_comprehension(self, line: int) -> bool:
        """Whether the innermost loop around a line is a comprehension."""
        return isinstance(self.innermost_loop(line), _COMPREHENSIONS)

    def steps_through(self, line: int) -> bool:
        """Whether the innermost loop around a line is a comprehension that goes through items one
        by one. One that indexes each with a variable, as in column[rows] for each column, gathers
        many at a time. So does one over a few names, as in memory[name][rows] for each."""
        loop = self.innermost_loop(line)
        if not isinstance(loop, _COMPREHENSIONS) or _is_over_names(loop):
            return False
        looped = looped_names(loop)
        return not any(
            isinstance(node, ast.Subscript)
            and variables([node.value]) & looped
            and variables([node.slice]) - looped
            for node in ast.walk(loop)
        )

    def is_under(self, line: int, names: Container[str]) -> bool:
        """Whether a line is in a function that one of them decorates, or in a `with` of one."""
        for node in self.around(line):
            asked: list[ast.expr] = []
            if isinstance(node, _FUNCTIONS):
                asked = node.decorator_list
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                asked = [item.context_expr for item in node.items]
            called = (each.func if isinstance(each, ast.Call) else each for each in asked)
            if any(name_of(each) in names for each in called):
                return True
        return False

    def call_of(self, name: str, owner: str | None = None) -> int | None:
        """The first line that calls a function of this name, of a module (None: of any)."""
        calls = (
            node.lineno
            for node in ast.walk(self.tree or ast.Module([], []))
            if isinstance(node, ast.Call)
            and name_of(node.func) == name
            and owner in (None, name_of(getattr(node.func, "value", node)))
        )
        return min(calls, default=None)

    def number_given(self, name: str) -> int | None:
        """The number that the first call of a function of this name is given, as a literal."""
        for node in ast.walk(self.tree or ast.Module([], [])):
            if isinstance(node, ast.Call) and name_of(node.func) == name and node.args:
                value = getattr(node.args[0], "value", None)
                return value if isinstance(value, int) else None
        return None

    def function_at(self, line: int) -> tuple[int, int] | None:
        """The first and the last line of the innermost function around a line."""
        node = self.function_node(line)
        return (node.lineno, node.end_lineno or node.lineno) if node else None

    def function_node(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a line."""
        functions = [node for node in self.around(line) if isinstance(node, _FUNCTIONS)]
        return functions[-1] if functions else None

    def calls_any(self, line: int, names: Container[str]) -> bool:
        """Whether a call of one of some names begins in a line."""
        return any(
            isinstance(node, ast.Call) and name_of(node.func) in names and node.lineno == line
            for node in self.around(line)
        )

    def calls_like(self, line: int, prefix: str) -> bool:
        """The same of names that begin with a prefix."""
        return any(
            isinstance(node, ast.Call) and name_of(node.func).startswith(prefix)
            for node in self.around(line)
        )

    def calls_of(self, line: int, module: str, names: Container[str]) -> bool:
        """Whether a call of one of some names of a module begins in a line: cv2.resize(x)."""
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == module
            and node.func.attr in names
            and node.lineno == line
            for node in self.around(line)
        )

    def defines(self, name: str) -> bool:
        """Whether a function of the file has a name; <lambda> is that of any."""
        return any(
            getattr(node, "name", "<lambda>") == name
            for node in ast.walk(self.tree or ast.Module([], []))
            if isinstance(node, SCOPES)
        )

    def depth_of(self, line: int) -> int:
        """In how many `for`s of its function, one in the other, a line is executed again and
        again. Those of a comprehension count, too."""
        depth = 0
        for node in self.around(line):
            if isinstance(node, SCOPES):
                depth = 0
            elif isinstance(node, ast.For):
                depth += line > node.lineno
            elif isinstance(node, _COMPREHENSIONS):
                depth += len(node.generators)
        return depth

    def asks_each(self, line: int) -> bool:
        """Whether the innermost loop around a line goes through objects, and calls a method of
        each: env.step(action) for each env, player.move(net) for each player."""
        loop = self.innermost_loop(line)
        if self.loop_at(line) is None or isinstance(loop, ast.While) or loop is None:
            return False
        looped = looped_names(loop)
        calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call))
        owners = (getattr(call.func, "value", None) for call in calls)
        return any(
            isinstance(owner, (ast.Name, ast.Attribute))
            and any(f"{ast.unparse(owner)}.".startswith(f"{name}.") for name in looped)
            for owner in owners
        )

    def is_chain(self, line: int) -> bool:
        """Whether the innermost loop around a line cannot call what it calls in one go. Either a
        pass needs a variable that the one before it set, as in x = layer(x). Or it calls what it
        loops over, as in layer(x) for each layer, layers[name](x) for each name, or agent.act(x)
        for each agent, which may have networks of their own."""
        loop = self.innermost_loop(line)
        if loop is None:
            return False
        looped = looped_names(loop)
        for node in self.around(line):
            value = getattr(node, "value", None)
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
            if isinstance(node, ast.expr) and any(is_one_of(each.func, looped) for each in calls):
                return True
            if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(value, ast.expr):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                given = variables(each for call in calls for each in call.args)
                if (variables(targets) & given) - looped:
                    return True
        return False

    def computes(self, line: int) -> bool:
        """Whether a statement in a line does arithmetic, or sums or compares what a comprehension
        gives. One that makes an object of a class does that, and its arguments are nothing
        beside."""
        nodes = [*self.around(line)]
        if any(isinstance(node, ast.Call) and name_of(node.func)[:1].isupper() for node in nodes):
            return False
        return any(
            (isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _ARITHMETIC))
            or (isinstance(node, ast.Call) and _reduces(node))
            for node in nodes
        )

    def joins_items(self, line: int) -> bool:
        """Whether a line makes one value of what a comprehension or map makes of each item, as a
        key is made: "".join(str(cell) for cell in row), tuple(map(int, state)). A text that is
        printed or written is none."""
        calls = [node for node in self.around(line) if isinstance(node, ast.Call)]
        if any(name_of(call.func) in TELLS for call in calls):
            return False
        if any(isinstance(node, (ast.Raise, ast.Assert)) for node in self.around(line)):
            return False
        return any(map(_joins, calls))

    def updates_parameters(self, line: int) -> bool:
        """Whether a line changes tensors in place, or puts sums into a dictionary, in a loop over
        parameters of networks."""
        for node in self.around(line):
            if isinstance(node, ast.For):
                calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
                given = {name_of(each.func) for each in calls if each.lineno == node.lineno}
                given |= self._makers(node)
                inside = {name_of(each.func) for each in calls if each.lineno > node.lineno}
                if given & _PARAMETERS and (inside & IN_PLACE or _puts_sums(node)):
                    return True
        return False

    def _makers(self, loop: ast.For) -> set[str]:
        """Functions that made what a loop goes through, if that is a variable or its items."""
        over = {part.id for part in ast.walk(loop.iter) if isinstance(part, ast.Name)}
        around = self.function_node(loop.lineno) or self.tree or loop
        return {
            name_of(node.value.func)
            for node in ast.walk(around)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            if variables(node.targets) & over
        }

    def lines_of_calls(self, line: int, names: Container[str]) -> set[int]:
        """Lines of the largest statement around a line that does nothing but call functions of some
        names: a call with what it is given, a loop over such calls, or an `if` around them."""
        for node in self.around(line):
            if isinstance(node, ast.stmt) and _only_calls(node, names):
                return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return set()

    def copies_state(self, line: int) -> bool:
        """Whether a line gives a network the state of another one:
        slow.load_state_dict(net.state_dict())."""
        return any(
            isinstance(node, ast.Call)
            and name_of(node.func) == "load_state_dict"
            and any(
                isinstance(part, ast.Call) and name_of(part.func) == "state_dict"
                for given in node.args
                for part in ast.walk(given)
            )
            and node.lineno == line
            for node in self.around(line)
        )

    def copies_itself(self, line: int, functions: Container[str]) -> str | None:
        """Which of some functions makes a value of itself: x = cat([x, y]). None: none does."""
        for node in self.around(line):
            if isinstance(node, ast.Assign):
                targets = {ast.unparse(target) for target in node.targets}
                call = _made_by(node.value)
                if call is not None and name_of(call.func) in functions:
                    parts = (part for given in call.args for part in ast.walk(given))
                    read = (part for part in parts if isinstance(part, ast.expr))
                    if any(ast.unparse(part) in targets for part in read):
                        return name_of(call.func)
        return None

    def lines_that_sum(self, line: int, functions: Container[str]) -> set[int]:
        """Other lines of the function that call one of some functions with what a line assigns:
        seen.mean(), np.std(seen)."""
        function = self.function_node(line)
        made = [node for node in self.around(line) if isinstance(node, ast.Assign)]
        names = variables(target for each in made for target in each.targets)
        calls = (node for node in ast.walk(function or ast.Pass()) if isinstance(node, ast.Call))
        return {
            call.lineno
            for call in calls
            if name_of(call.func) in functions
            and variables([getattr(call.func, "value", call.func), *call.args]) & names
        } - {line}

    def innermost_loop(self, line: int) -> ast.AST | None:
        """Of all loops and comprehensions around a line, whatever functions lie between."""
        loops = (each for each in self.around(line) if isinstance(each, LOOPS))
        return next(iter(deque(loops, maxlen=1)), None)

    def around(self, line: int) -> Iterator[ast.AST]:
        """Nodes that contain a line, the outermost first."""
        nodes = deque([self.tree] if self.tree else ())
        while nodes:
            node = nodes.popleft()
            first = getattr(node, "lineno", None)
            if first is not None:
                if not first <= line <= (getattr(node, "end_lineno", None) or first):
                    continue
                yield node
            nodes.extend(ast.iter_child_nodes(node))


_sources: WeakKeyDictionary[Trace, dict[str, Source]] = WeakKeyDictionary()


def source_of(trace: Trace, file: str) -> Source:
    """What the run kept of a file, which is read once of a trace."""
    files = _sources.setdefault(trace, {})
    if file not in files:
        rows = statement.run(trace, "findings/source", file=file).to_dicts()
        text = [""] * max((row["line"] for row in rows), default=0)
        for row in rows:
            text[row["line"] - 1] = row["text"]
        files[file] = Source(_parsed("\n".join(text)))
    return files[file]


def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _made_by(value: ast.expr) -> ast.Call | None:
    """The call that makes a value, if the rest only takes a part of that, or converts it:
    cat([x, y])[-100:].float()."""
    while True:
        if isinstance(value, ast.Subscript):
            value = value.value
        elif not isinstance(value, ast.Call):
            return None
        elif isinstance(value.func, ast.Attribute) and isinstance(
            value.func.value, (ast.Call, ast.Subscript)
        ):
            value = value.func.value
        else:
            return value


def _reduces(call: ast.Call) -> bool:
    """Whether a call makes one value of what a comprehension gives: sum(x.cost for x in xs)."""
    return (
        isinstance(call.func, ast.Name)
        and call.func.id in _REDUCTIONS
        and any(isinstance(each, _COMPREHENSIONS) for each in call.args)
    )


def _joins(call: ast.Call) -> bool:
    owner = getattr(call.func, "value", None)
    joins = isinstance(owner, ast.Constant) and name_of(call.func) == "join"
    if not joins and getattr(call.func, "id", "") not in _MADE_OF_ITEMS:
        return False
    return any(map(_makes_plain_items, call.args))


def _makes_plain_items(value: ast.expr) -> bool:
    """Whether a comprehension, or map, makes numbers, texts or parts of its items: no tensors."""
    if isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        names = {part.id for part in ast.walk(value.elt) if isinstance(part, ast.Name)}
        if not names & looped_names(value):  # as many of one thing
            return False
        calls = [part.func for part in ast.walk(value.elt) if isinstance(part, ast.Call)]
    elif isinstance(value, ast.Call) and name_of(value.func) == "map":
        calls = list(value.args[:1])
    else:
        return False
    return all(getattr(each, "id", "") in _PLAIN for each in calls)


def _only_calls(node: ast.stmt, names: Container[str]) -> bool:
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return isinstance(value, ast.Call) and name_of(value.func) in names
    if isinstance(node, (*_LOOPS, ast.If, ast.With)):
        return all(_only_calls(each, names) for each in (*node.body, *getattr(node, "orelse", ())))
    return False


def is_one_of(function: ast.expr, looped: set[str]) -> bool:
    """Whether a function is a variable of a loop, an entry by one, or a method of either that does
    more than convert it."""
    if isinstance(function, ast.Attribute) and function.attr not in _CONVERTS:
        while isinstance(function, ast.Attribute):
            function = function.value
    if isinstance(function, ast.Subscript):
        return bool(variables([function.slice]) & looped)
    return name_of(function) in looped


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


def looped_names(loop: ast.AST) -> set[str]:
    """The variables of a loop, or of a comprehension."""
    parts = getattr(loop, "generators", [loop])
    return variables(part.target for part in parts if hasattr(part, "target"))


def variables(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables and attributes, but nothing that is an entry of a list or an array."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Subscript):
            continue
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.add(ast.unparse(node))
        else:
            found |= variables(ast.iter_child_nodes(node))
    return found


def _puts_sums(loop: ast.For) -> bool:
    """Whether a loop assigns what it computes to entries: rows[name] = 0.9 * rows[name] + value."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and any(isinstance(target, ast.Subscript) for target in node.targets)
        for node in ast.walk(loop)
    )


def name_of(function: ast.AST) -> str:
    """np.concatenate: concatenate."""
    return getattr(function, "attr", getattr(function, "id", ""))
