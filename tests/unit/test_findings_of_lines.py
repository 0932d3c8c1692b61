"""Advice on lines of the program: loops over tensors, and copies."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import tensor_loop, whole_copy

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
POLYAK = """\
def follow(pairs):
    for online, target in pairs:
        target.mul_(0.995).add_(0.005 * online)

def update(batch):
    return batch
"""


# ---- loops over tensors --------------------------------------------------------------------------


def polyak(count: int = 40_000, each_ns: int = 50_000, line: int = 3, entries: int = 400):
    direct = Time("(none)", "framework", 2 * SECOND, line)
    return loop_rows(
        direct,
        Time("simulation", "python", SECOND, 5),
        entries={"simulation": entries},
        text=POLYAK,
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", count, count * each_ns)],
    )


@pytest.mark.parametrize(
    "entries",
    [400, 4_000],  # a loop in each step; a longer one once in many steps
)
def test_a_loop_with_an_operator_for_each_tensor_is_named(entries):
    (finding,) = found(tensor_loop.RULE, polyak(entries=entries))
    assert (finding.file, finding.line) == (FILE, 3)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 2 * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"count": 800},  # two calls a step are no loop
        {"count": 40_000, "each_ns": 200_000},  # the arithmetic takes the time
        {"line": 6},  # not in a loop
        {"entries": 10_000},  # a few calls in each of many steps
    ],
)
def test_operators_outside_of_such_loops_are_not(silent):
    assert found(tensor_loop.RULE, polyak(**silent)) == []


ATOMS = """
def project(rewards, atoms):
    for row in range(64):
        for atom in range(51):
            moved = rewards[row] + self.support[atom]
            m[row, atom] = moved
step()
""".lstrip()


@pytest.mark.parametrize(
    ("text", "other", "won"),
    [
        (ATOMS, 6, 0.98 * 3 + 0.8),  # with the second in which a library looks up an attribute
        (ATOMS.replace("for row in range(64)", "if rewards.any()"), 6, 0.92 * 3),
        (ATOMS, 2, 0.92 * 3),  # the outer loop steps
    ],
)
def test_passes_of_a_loop_in_a_loop_leave_nothing(text: str, other: int, won: float):
    trace = loop_rows(
        Time("target", "framework", 2 * SECOND, 4),
        Time("target", "framework", SECOND, 5),
        Time("target", "python", SECOND, 4, (("/lib/torch/nn/module.py", "__getattr__"),)),
        Time("simulation", "python", SECOND, other),
        entries={"target": 10},
        text=text,
        native_call=[calls("target", "torch._C:TensorBase.__getitem__", 40_000, 2 * SECOND)],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won * SECOND)


@pytest.mark.parametrize(
    "in_place", ["target.data.copy_(online.data)", "target.lerp_(online, 0.1)"]
)
@pytest.mark.parametrize("count", [800, 3200])
def test_an_update_of_a_few_parameters_is_one(in_place, count):
    """Two calls a step are none, eight are."""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 2),
        Time("simulation", "python", SECOND, 5),
        entries={"simulation": 400},
        text=f"for online, target in zip(net.parameters(), other.parameters()):\n    {in_place}\n",
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", count, SECOND // 100)],
    )
    assert len(found(tensor_loop.RULE, trace)) == (count > 800)


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("pairs", ["zip(net.parameters(), other.parameters())", "self.pairs"])
def test_an_update_of_parameters_has_longer_calls_beside(in_place, pairs):
    """As where it is a part of the operation with the backward."""
    name = "mul_" if in_place else "mul"
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 2),
        entries={"backprop": 400},
        text=f"for online, target in {pairs}:\n    target.data.mul_(0.5)\n",
        native_call=[
            calls("backprop", "torch._C._engine:run_backward", 400, 4 * SECOND),
            *[calls("backprop", "torch._C:TensorBase.addcdiv_", 6400, SECOND)] * in_place,
            calls("backprop", f"torch._C:TensorBase.{name}", 3200, SECOND // 100),
        ],
    )
    findings = found(tensor_loop.RULE, trace)
    assert len(findings) == in_place
    assert all("3,200 calls of torch._C:TensorBase.mul_" in each.evidence for each in findings)


def test_sums_of_state_dictionaries_count_with_these():
    """As in PyTorch's tutorial: the file has no function around it."""
    text = (
        "for step in range(9):\n    slow = target.state_dict()\n    fast = net.state_dict()\n"
        "    for key in fast:\n        slow[key] = fast[key] * 0.1 + slow[key] * 0.9\n"
        "    target.load_state_dict(slow)\n"
    )
    trace = loop_rows(
        Time("backprop", "framework", SECOND, 5),
        *(Time("backprop", "python", SECOND // 2, line) for line in (2, 3, 6)),
        entries={"backprop": 400},
        text=text,
        native_call=[
            calls("backprop", "torch._C:TensorBase.addcdiv_", 800, SECOND),
            calls("backprop", "torch._C:TensorBase.__mul__", 4800, SECOND // 10),
        ],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert "__mul__" in finding.evidence
    assert finding.line == 5
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 2.5 * SECOND)


def test_a_loop_for_a_loss_is_one_beside_a_long_backward():
    """As that over the steps of an episode."""
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 2),
        entries={"backprop": 400},
        text="for value, goal in zip(values, goals):\n    losses.append(-value * goal)\n",
        native_call=[
            calls("backprop", "torch._C._engine:run_backward", 400, 4 * SECOND),
            calls("backprop", "torch._C:TensorBase.__mul__", 24_000, SECOND // 10),
        ],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.evidence.startswith("24,000 calls of torch._C:TensorBase.__mul__ in 400 entries")


def test_layers_of_a_network_are_no_loop_over_tensors():
    """The program's own line calls modules, and these call the framework."""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 3, (MODULE,)),
        entries={"simulation": 1},
        text=POLYAK,
        native_call=[calls("(none)", "torch._C._nn:linear", 40_000, 2 * SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


def test_operators_beside_a_network_in_a_loop_are_none():
    """Such as sampling a token between two forwards."""
    trace = loop_rows(
        Time("generation", "framework", 2 * SECOND, 3),
        Time("generation", "framework", 5 * SECOND, 3, (MODULE,)),
        text=POLYAK,
        native_call=[calls("generation", "torch._C._nn:linear", 40_000, SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


@pytest.mark.parametrize(("name", "lines"), [("forward", []), ("advantages", [2])])
def test_lines_of_a_network_that_a_loop_calls_are_none(name, lines):
    trace = loop_rows(
        Time("generation", "framework", 2 * SECOND, 2),
        Time("generation", "framework", 2 * SECOND, 6, ((FILE, name),)),
        text=f"def {name}(x):\n    return torch.relu(x)\n\n\nfor token in range(50):\n"
        f"    {name}(token)\n",
        native_call=[calls("generation", "torch:relu", 40_000, SECOND)],
    )
    assert [each.line for each in found(tensor_loop.RULE, trace)] == lines


def test_the_loop_in_which_environments_step_is_the_training():
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 3),
        Time("simulation", "python", SECOND, 3),
        text=POLYAK,
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", 40_000, 2 * SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


def test_dictionaries_of_parameters_are_a_part_of_the_update():
    text = """\
def follow(online, target):
    mixed = target.state_dict()
    for name, value in online.state_dict().items():
        mixed[name] = 0.99 * mixed[name] + 0.01 * value
    target.load_state_dict(mixed)
    print(mixed)
"""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 4),
        *(Time("(none)", "python", SECOND, line) for line in (2, 5, 6)),
        entries={"update": 400},
        text=text,
        native_call=[calls("(none)", "torch._C:TensorBase.mul", 3200, SECOND // 100)],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.line == 4
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 4 * SECOND)


# ---- copies of buffers ---------------------------------------------------------------------------


def copying(line: str, duration_ns: int = 3 * SECOND):
    return loop_rows(Time("replay", "python", duration_ns, 1), text=line + "\n")


@pytest.mark.parametrize(
    "line",
    [
        "self.frames = np.concatenate([self.frames[1:], frame[None]])",
        "buffer = torch.cat((buffer, rows))",
        "buffer = torch.cat([buffer, rows])[-100:].float()",
        "history[key] = np.roll(history[key], -1)",
        "seen = np.append(seen, value)",
    ],
)
def test_a_buffer_that_is_made_anew_of_itself_is_named(line):
    (finding,) = found(whole_copy.RULE, copying(line))
    assert (finding.file, finding.line) == (FILE, 1)


@pytest.mark.parametrize(
    "line",
    [
        "batch = np.concatenate([first, second])",
        "frames[at] = frame",
        "frames = process(frames)",
        "state = state + model(torch.cat([state, action], 1))",  # the input of a network
        "state = model(torch.cat([state, action], 1))",
        "this is no Python",
    ],
)
def test_other_copies_are_not(line):
    assert found(whole_copy.RULE, copying(line)) == []


@pytest.mark.parametrize(("copied_ns", "saving_ns"), [(SECOND, SECOND), (9 * SECOND, 3 * SECOND)])
def test_what_else_a_line_calls_goes_on(copied_ns, saving_ns):
    """As the sample of the item that is added."""
    call = {"process_id": 0, "operation": "replay", "layer": "framework", "calls": 100}
    trace = loop_rows(
        Time("replay", "python", 3 * SECOND, 1),
        text="texts = torch.cat([texts, policy.sample(texts)])\n",
        native_call=[
            {**call, "function": "torch:cat", "self_ns": copied_ns},
            {**call, "function": "torch:concat", "self_ns": SECOND},
        ],
    )
    (finding,) = found(whole_copy.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * saving_ns)


def test_a_small_buffer_is_not_worth_a_word():
    line = "seen = np.append(seen, value)"
    assert found(whole_copy.RULE, copying(line, SECOND // 10)) == []


KEPT = """\
class Scores:
    def __init__(self):
        self.seen = []

    def push(self, value):
        self.seen.append(value)
        return {use}

    def forget(self):
        {forget}
"""


def reading(use: str, forget: str = "pass", steps: int = 1000):
    return loop_rows(
        Time("(none)", "python", 3 * SECOND, 7),
        Time("simulation", "python", SECOND, 10),
        entries={"simulation": steps},
        text=KEPT.format(use=use, forget=forget),
    )


@pytest.mark.parametrize(
    "use",
    [
        "np.array(self.seen)",
        "np.stack(list(self.seen), 1)",
        "value - np.mean([each for each in self.seen])",
        "sum(self.seen) / len(self.seen)",
        "sorted(range(len(self.seen)), key=lambda each: -self.value[each])",
        "np.mean(self.seen[-300:])",
        "value in self.seen",
        "self.seen.index(value)",
        "0 if value not in self.seen else 1",
        "self.seen.pop(0)",
        "self.seen.insert(0, value)",
    ],
)
def test_a_line_that_goes_through_a_growing_list_in_each_step_is_named(use):
    (finding,) = found(whole_copy.RULE, reading(use))
    assert (finding.file, finding.line) == (FILE, 7)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 3 * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"use": "np.array(self.seen)", "forget": "self.seen = []"},  # a rollout
        {"use": "np.array(self.seen)", "forget": "self.seen.clear()"},
        {"use": "np.array(self.seen)", "forget": "self.seen, self.sum = [], 0"},
        {"use": "np.array(self.seen)", "forget": "del self.seen[:]"},
        {"use": "np.array(self.seen)", "steps": 1_000_000},  # once in many steps
        {"use": "np.array(self.seen[-100:])"},
        {"use": "np.array([each for each in self.seen if each])"},
        {"use": "np.array(value)"},
        {"use": "len(self.seen)"},
        {"use": "value in self.seen", "forget": "self.seen = []"},
        {"use": "value in self.seen", "steps": 1_000_000},  # a few items
        {"use": "value in self.other"},
        {"use": "self.seen.pop()"},
        {"use": "self.seen.pop(-1)"},
        {"use": "'seen'.index(value)"},
    ],
)
def test_a_list_that_is_emptied_or_read_in_part_is_not(silent):
    assert found(whole_copy.RULE, reading(**silent)) == []


def test_other_containers_may_find_an_item_at_once():
    text = KEPT.format(use="value in self.seen", forget="pass")
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 7),
        text=text.replace("self.seen = []", "self.seen = Bag()"),
    )
    assert found(whole_copy.RULE, trace) == []


FRONTIER = """\
def search(frontier):
    while frontier:
        {sorts}
        place = frontier.{takes}
        for each in near(place):
            frontier.append(each)
"""


@pytest.mark.parametrize(
    ("sorts", "takes", "is_queue"),
    [
        ("frontier.sort()", "pop(0)", True),
        ("frontier.sort(key=cost)", "pop()", True),
        ("others.sort()", "pop(0)", False),
        ("frontier.sort()", "copy()", False),
    ],
)
def test_a_list_that_is_sorted_for_each_item_is_a_queue(sorts, takes, is_queue):
    text = FRONTIER.format(sorts=sorts, takes=takes)
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 3), text=text)
    assert [("heapq" in each.fix) for each in found(whole_copy.RULE, trace)] == [True] * is_queue


IN_LOOP = """\
seen, rows = [], []
for step in range(9):
    seen.append(env.step())
    {line}
    rows.append(seen[-1])
{after}
"""


@pytest.mark.parametrize(
    ("line", "after", "speaks"),
    [
        ("batch = torch.as_tensor(np.array(seen)[picks])", "", True),
        ("batch = np.array(other)", "", False),  # nothing is added to it
        ("seen = []; batch = np.array(seen)", "", False),  # of one rollout
        ("pass", "np.array(rows)", False),  # once, after the loop
    ],
)
def test_a_growing_list_of_the_file_is_kept_too(line, after, speaks):
    place = 6 if after else 4
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, place),
        Time("simulation", "python", SECOND, 3),
        entries={"simulation": 1000},
        text=IN_LOOP.format(line=line, after=after),
    )
    assert [each.line for each in found(whole_copy.RULE, trace)] == ([place] if speaks else [])


@pytest.mark.parametrize(("given", "speaks"), [("seen", False), ("other", True)])
def test_an_argument_of_the_same_name_is_another_list(given, speaks):
    text = (
        f"seen = []\ndef learn({given}):\n    return np.array(seen)\n"
        "for step in range(9):\n    seen.append(env.step())\n"
    )
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 3),
        Time("simulation", "python", SECOND, 5),
        entries={"simulation": 1000},
        text=text,
    )
    assert [each.line for each in found(whole_copy.RULE, trace)] == ([3] if speaks else [])


def test_a_field_of_a_dataclass_is_kept_too():
    text = (
        "@dataclass\nclass Memory:\n    seen: np.ndarray = field(default_factory=rows)\n"
        "    def add(self, one, other):\n"
        "        self.seen[self.n], self.more[self.n] = one, other\n"
        "    def stats(self):\n        return self.seen[:self.n].mean(axis=0)\n"
    )
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 7),
        Time("simulation", "python", SECOND, 10),
        entries={"simulation": 1000},
        text=text,
    )
    assert [each.line for each in found(whole_copy.RULE, trace)] == [7]


def test_what_a_constructor_fills_does_not_grow():
    text = (
        "class Critics:\n    def __init__(self):\n        self.nets = []\n"
        "        for n in range(2):\n            self.nets.append(net(n))\n\n"
        "    def forward(self, x):\n        return tuple(net(x) for net in self.nets)\n"
    )
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 8),
        Time("simulation", "python", SECOND, 10),
        entries={"simulation": 1000},
        text=text,
    )
    assert found(whole_copy.RULE, trace) == []


FILLED = """\
class Filter:
    def __init__(self):
        self.seen = np.zeros((700, 24))

    def push(self, value):
        self.seen[self.count] = value
        past = self.seen[:self.count]
        return {use}
"""


@pytest.mark.parametrize(
    ("use", "names"),
    [
        ("past.std(axis=0)", ["Std"]),
        ("np.mean(self.seen[:self.count])", ["Mean"]),
        ("np.stack(past)", []),
        ("self.seen.sum()", []),  # it is as large as it will be
        ("self.seen[:9].sum()", []),
        ("np.max(self.seen[:self.count], axis=0)", []),  # no sum that could be kept
        ("self.seen[-2:].mean()", []),
    ],
)
def test_statistics_of_what_an_array_holds_so_far_are_named(use, names):
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 8),
        Time("simulation", "python", SECOND, 10),
        entries={"simulation": 1000},
        text=FILLED.format(use=use),
    )
    titles = [each.title for each in found(whole_copy.RULE, trace)]
    functions = [title.removeprefix("a call of ").split()[0] for title in titles]
    assert [function.capitalize() for function in functions] == names
