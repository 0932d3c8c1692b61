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

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
LOOPS = (ast.For, ast.While, *COMPREHENSIONS)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
GRADIENTS_OFF = frozenset(("no_grad", "inference_mode", "set_grad_enabled"))
"""What turns PyTorch's autograd off, as a decorator or in a `with`."""
# Methods of tensors and arrays that leave one network to be called.
_CONVERTS = frozenset(
    "astype bool clone contiguous copy cpu cuda detach double expand flatten float int item long"
    " mean numpy permute repeat reshape squeeze sum to tolist transpose unsqueeze view".split()
)
TELLS = frozenset("debug error info log print warning write".split())
"""What is called for people."""
_TEXTS = frozenset(("chr", "format", "join", "repr", "str"))
SCOPES = (*_FUNCTIONS, ast.Lambda)


@dataclass(frozen=True)
class Source:
    """A file. Without a text, or with one that is no Python, nothing is known of its lines."""

    tree: ast.AST | None
    command: str = ""
    """What ran the program."""

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

    def is_in_comprehension(self, line: int) -> bool:
        """Whether the innermost loop around a line is a comprehension."""
        return isinstance(self.innermost_loop(line), COMPREHENSIONS)

    def is_under(self, line: int, names: Container[str]) -> bool:
        """Whether a line is in a function that one of them decorates, or in a `with` of one."""
        asked = self.entered(line)
        called = (each.func if isinstance(each, ast.Call) else each for each in asked)
        return any(name_of(each) in names for each in called)

    def entered(self, line: int) -> Iterator[ast.expr]:
        """What decorates the functions around a line, and what the `with` around it enter."""
        for node in self.around(line):
            if isinstance(node, _FUNCTIONS):
                yield from node.decorator_list
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                yield from (item.context_expr for item in node.items)

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

    def function_at(self, line: int) -> tuple[int, int] | None:
        """The first and the last line of the innermost function around a line."""
        node = self.function_node(line)
        return (node.lineno, node.end_lineno or node.lineno) if node else None

    def function_node(self, line: int) -> Function | None:
        """The innermost function around a line."""
        functions = [node for node in self.around(line) if isinstance(node, _FUNCTIONS)]
        return functions[-1] if functions else None

    def functions_by_name(self) -> dict[str, Function]:
        """Those of a name that no other one has, by that."""
        named = self.functions_of_name()
        return {name: nodes[0] for name, nodes in named.items() if len(nodes) == 1}

    def functions_of_name(self) -> dict[str, list[Function]]:
        """All of each name."""
        found: dict[str, list[Function]] = {}
        for node in ast.walk(self.tree or ast.Module([], [])):
            if isinstance(node, _FUNCTIONS):
                found.setdefault(node.name, []).append(node)
        return found

    def calls_any(self, line: int, names: Container[str]) -> bool:
        """Whether a call of one of some names begins in a line."""
        return any(
            isinstance(node, ast.Call) and name_of(node.func) in names and node.lineno == line
            for node in self.around(line)
        )

    def imports(self, line: int) -> bool:
        """Whether a line imports something."""
        return any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in self.around(line))

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
        command = next((each.command for each in files.values()), None)
        files[file] = Source(_parsed("\n".join(text)), command or _command(trace))
    return files[file]


def _command(trace: Trace) -> str:
    runs = trace.table("run").to_dicts()
    return str(runs[0]["command"] or "") if runs else ""


def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_one_of(function: ast.expr, looped: set[str]) -> bool:
    """Whether a function is a variable of a loop, an entry by one, or a method of either that does
    more than convert it."""
    if isinstance(function, ast.Attribute) and function.attr not in _CONVERTS:
        while isinstance(function, ast.Attribute):
            function = function.value
    if isinstance(function, ast.Subscript):
        return bool(variables([function.slice]) & looped)
    return name_of(function) in looped


def looped_names(loop: ast.AST) -> set[str]:
    """The variables of a loop, or of a comprehension."""
    parts = getattr(loop, "generators", [loop])
    return variables(part.target for part in parts if hasattr(part, "target"))


def grows_text(source: Source, line: int) -> bool:
    """Whether a line appends to a text: text += str(cell) + ","."""
    return any(
        isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_text(node.value)
        for node in source.around(line)
    )


def _is_text(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_text(value.left) or _is_text(value.right)
    if isinstance(value, ast.Call):
        return name_of(value.func) in _TEXTS
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


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


def name_of(function: ast.AST) -> str:
    """np.concatenate: concatenate."""
    return getattr(function, "attr", getattr(function, "id", ""))
