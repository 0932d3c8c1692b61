"""What rules read in the program's own text."""

from __future__ import annotations

import ast
import textwrap

import pytest

from rlscope.analysis.findings.state_keys import joins_items, writes_list
from rlscope.analysis.findings.whole_copy import copies_itself
from rlscope.analysis.source_code import Source

PROGRAM = Source(
    ast.parse(
        textwrap.dedent(
            """\
            for step in range(9):
                def act(state):
                    return net(state)
                values = [net(state)
                          for state in states]
                while True:
                    gc.collect()

            @torch.no_grad()
            def evaluate(net):
                return net(1)

            with torch.inference_mode(), other:
                rollout.collect()
            """
        )
    )
)
NOTHING = Source(None)


@pytest.mark.parametrize(
    ("line", "loop"),
    [
        (1, (1, 7)),
        (3, None),  # the loop is around the function
        (4, (4, 5)),
        (7, (6, 7)),
        (11, None),
        (99, None),
    ],
)
def test_the_innermost_loop_of_a_line(line, loop):
    assert PROGRAM.loop_at(line) == loop


@pytest.mark.parametrize(("line", "inside"), [(4, True), (5, True), (7, False), (11, False)])
def test_which_lines_are_in_a_comprehension(line, inside):
    assert PROGRAM.is_in_comprehension(line) is inside


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("for layer in layers:\n  x = layer(x)", True),
        ("for layer in layers:\n  x += layer(x)", True),
        ("for t in range(3):\n  self.h = self.cell(x[t], self.h)", True),
        ("for net in nets:\n  net(x)", True),
        ("y = [\n  net(x) for net in nets]", True),
        ("for name in agents:\n  net[name](x[name])", True),
        ("for name in agents:\n  net(x[name])", False),
        ("for o in seen:\n  nets[0](o)", False),
        ("for o in seen:\n  a = net(o)", False),
        ("for o in seen:\n  out = out + [net(o)]", False),
        ("for i in all:\n  a, h[i] = net(o[i], h[i])", False),
        ("for o, h in all:\n  a, h = net(o, h)", False),
        ("y = [\n  net(x) for x in seen]", False),
        ("\nx = net(x)", False),
    ],
)
def test_what_cannot_be_one_call(text, chain):
    assert Source(ast.parse(text)).is_chain(2) is chain


@pytest.mark.parametrize(("line", "under"), [(11, True), (14, True), (7, False)])
def test_what_a_line_is_under(line, under):
    assert PROGRAM.is_under(line, {"no_grad", "inference_mode"}) is under


def test_where_a_function_of_a_module_is_called():
    assert PROGRAM.call_of("collect", owner="gc") == 7
    assert PROGRAM.call_of("collect", owner="os") is None
    assert PROGRAM.call_of("net") == 3


def test_the_function_of_a_line():
    assert PROGRAM.function_at(3) == (2, 3)
    assert PROGRAM.function_at(7) is None


def test_of_a_text_that_is_not_there_nothing_is_known():
    assert NOTHING.loop_at(1) is None
    assert NOTHING.function_at(1) is None
    assert NOTHING.call_of("net") is None
    assert not NOTHING.is_under(1, {"no_grad"})
    assert copies_itself(NOTHING, 1, {"cat"}) is None


@pytest.mark.parametrize(
    ("line", "joins"),
    [
        ('key = "".join(str(cell) for row in board for cell in row)', True),
        ("key = tuple(int(each) for each in state)", True),
        ("return tuple(map(int, state)), 1", True),
        ("seen.add(frozenset([cell.name for cell in cells]))", True),
        ("key = tuple(state[place] for place in range(9))", True),
        ("row = tuple([None for _ in range(9)])", False),
        ("key = tuple(state)", False),
        ("key = board.tobytes()", False),
        ("thread.join(each for each in threads)", False),
        ('print(" ".join(str(each) for each in scores))', False),
        ('log.info(", ".join(map(str, scores)))', False),
        ('raise ValueError(", ".join(str(each) for each in names))', False),
        ("return tuple(torch.stack(each) for each in zip(*batch))", False),
        ("return tuple(map(np.array, zip(*batch)))", False),
        ("batch = tuple(each.to(device) for each in batch)", False),
    ],
)
def test_a_key_is_made_item_by_item(line, joins):
    assert joins_items(Source(ast.parse(f"def key(state):\n    {line}\n")), 2) is joins


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("return md5(str(state.tolist()).encode()).hexdigest()", True),
        ("return json.dumps(state.ravel().tolist())", True),
        ('return f"{state.tolist()}"', True),
        ("return tuple(state.tolist())", False),
        ("return str(state), other.tolist()", False),
        ("print(str(state.tolist()))", False),
    ],
)
def test_a_list_of_an_array_is_written_as_text(line, writes):
    assert writes_list(Source(ast.parse(f"def key(state):\n    {line}\n")), 2) is writes
