"""Advice on lines that copy a whole container, or go through all of one."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import whole_copy


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
    assert finding.price.saving_ns == pytest.approx(1.1 * saving_ns)


def test_what_a_line_logs_is_no_copy():
    text = "history = deque(maxlen=1000)\nfor step in range(9):\n    history.append(reward)\n"
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 4, (("/lib/tqdm/std.py", "tqdm.set_postfix"),)),
        Time("(none)", "python", SECOND, 4),
        text=text + "    bar.set_postfix(mean=np.mean(history))\n",
        entries={"simulation": 1000},
    )
    (finding,) = found(whole_copy.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * SECOND)


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


def stepping(line: int, text: str, steps: int = 1000):
    """3 s between steps of an environment, in a line of the text."""
    return loop_rows(
        Time("(none)", "python", 3 * SECOND, line),
        Time("simulation", "python", SECOND, 99),
        entries={"simulation": steps},
        text=text,
    )


def reading(use: str, forget: str = "pass", steps: int = 1000):
    return stepping(7, KEPT.format(use=use, forget=forget), steps)


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


MODEL = """\
class Model:
    def __init__(self):
        self.seen = {made}

    def learn(self, state, after):
        self.seen[{key}] = after

    def recall(self):
        return random.choice(list(self.seen.keys()))
"""


@pytest.mark.parametrize(
    ("made", "key", "speaks"),
    [("{}", "state", True), ("losses()", "state", False), ("{}", "'loss'", False)],
)
def test_a_dictionary_that_grows_is_kept_too(made, key, speaks):
    text = MODEL.replace("{made}", made).replace("{key}", key)
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 9), text=text)
    assert [each.line for each in found(whole_copy.RULE, trace)] == [9] * speaks


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
    trace = stepping(place, IN_LOOP.format(line=line, after=after))
    assert [each.line for each in found(whole_copy.RULE, trace)] == ([place] if speaks else [])


@pytest.mark.parametrize(("given", "speaks"), [("seen", False), ("other", True)])
def test_an_argument_of_the_same_name_is_another_list(given, speaks):
    text = (
        f"seen = []\ndef learn({given}):\n    return np.array(seen)\n"
        "for step in range(9):\n    seen.append(env.step())\n"
    )
    trace = stepping(3, text)
    assert [each.line for each in found(whole_copy.RULE, trace)] == ([3] if speaks else [])


def test_a_field_of_a_dataclass_is_kept_too():
    text = (
        "@dataclass\nclass Memory:\n    seen: np.ndarray = field(default_factory=rows)\n"
        "    def add(self, one, other):\n"
        "        self.seen[self.n], self.more[self.n] = one, other\n"
        "    def stats(self):\n        return self.seen[:self.n].mean(axis=0)\n"
    )
    trace = stepping(7, text)
    assert [each.line for each in found(whole_copy.RULE, trace)] == [7]


def test_what_a_constructor_fills_does_not_grow():
    text = (
        "class Critics:\n    def __init__(self):\n        self.nets = []\n"
        "        for n in range(2):\n            self.nets.append(net(n))\n\n"
        "    def forward(self, x):\n        return tuple(net(x) for net in self.nets)\n"
    )
    trace = stepping(8, text)
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
    trace = stepping(8, FILLED.format(use=use))
    titles = [each.title for each in found(whole_copy.RULE, trace)]
    functions = [title.removeprefix("a call of ").split()[0] for title in titles]
    assert [function.capitalize() for function in functions] == names
