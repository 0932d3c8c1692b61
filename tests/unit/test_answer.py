"""What to mend first, in words: the sentence, the list, the page, Markdown and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser

import pytest
from support.files.finding_rows import finding, install, seconds, served, steps, trace
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.report import advice_renderers, answer
from rlscope.report.renderers import html
from rlscope.report.renderers import json as json_renderer
from rlscope.report.renderers.terminal import render_summary

Rules = Callable[..., None]
FILE = "/home/me/ppo.py"
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "``` \n# heading\n[link](javascript:alert(1)) <b>bold</b>",
    "a\nb\x00\x1b[2J\u2028\u202e",
    "%{x} ${y} $plotly &amp; \\u003c",
]
# What Markdown would make of a text of names: a link, HTML, code or emphasis.
MARK = re.compile(r"(?<!\\)[<`\[*_]")


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    return partial(install, monkeypatch)


def text_of(*lines: str) -> list[dict[str, object]]:
    return [{"file": FILE, "line": place, "text": each} for place, each in enumerate(lines, 1)]


def test_the_sentence_has_cause_line_and_price(rules):
    rules(one=[finding(seconds(2, 1.5, 2.5), title="the step is slow", file=FILE, line=7)])
    assert answer.read(trace()).sentence == (
        "The step is slow (ppo.py:7). Mending it is worth 20.0 % of the loop (15.0 to 34.4 %)."
    )


def test_the_fix_stands_below_the_sentence_in_the_terminal_and_on_the_page(rules):
    many = [
        finding(seconds(4 - place, 3 - place, 5), title=f"cause {place}", fix=f"Do thing {place}.")
        for place in range(2)
    ]
    rules(many=many)
    rows = trace()
    assert answer.read(rows).fix == "Fix: Do thing 0."
    lines = render_summary(rows, width=200, unicode=True).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("1 Cause 0"))
    assert lines[place + 1] == "  Fix: Do thing 0."
    assert lines[place + 2].startswith("2 Cause 1")
    assert "`rlscope advise DIR`" in lines[place + 3]
    shown = html.render(rows)  # type: ignore[arg-type]
    top = shown[: shown.index("</header>")]
    assert top.count("Fix: Do thing 0.") == 1
    assert top.index("</h1>") < top.index("Fix: Do thing 0.") < top.index('class="findings"')


def test_without_a_first_finding_no_fix_leads(rules):
    rules(one=[finding(seconds(0.2, 0.15, 0.25), fix="Do it.")])
    rows = trace(iterations=20)
    assert answer.read(rows).fix == ""
    assert "Fix:" not in render_summary(rows, width=200, unicode=True)
    assert html.render(rows).count("Fix: Do it.") == 1  # type: ignore[arg-type]


def test_a_list_of_runs_has_the_first_finding(rules):
    rules(one=[finding(seconds(2, 1.5, 2.5), title="the step is slow", file=FILE, line=7)])
    listed = "ppo.py:7 The step is slow: 20.0 % (15.0 to 34.4 %)"
    assert answer.first_finding(trace()) == listed


def test_a_small_saving_does_not_lead(rules):
    rules(one=[finding(seconds(0.2, 0.15, 0.25))])
    assert answer.first_finding(trace(iterations=20)) == ""
    assert answer.read(trace(iterations=20)).sentence == (
        "No large saving is sure: the best finding may win 2.0 % of the loop (1.5 to 2.9 %). The"
        " loop spends 100.0 % in Python and NumPy in learning."
    )


@pytest.mark.parametrize("vague", [[], [finding(seconds(2, -1, 5))]])
def test_where_nothing_is_sure_the_sentence_says_what_the_loop_does(rules, vague):
    rules(one=vague)
    loop = [
        share(0, "simulation", "simulator", 9 * SECOND),
        share(0, "update", "framework", 1 * SECOND),
    ]
    assert answer.read(trace(iterations=20, breakdown=loop)).sentence == (
        "Nothing here is surely worth your time: the loop spends 90.0 % in the simulator's own"
        " code."
    )


def test_a_loop_that_is_in_nothing_for_long_has_no_state_named(rules):
    rules(one=[])
    loop = [share(0, f"part {n}", "python", SECOND) for n in range(11)]
    sentence = answer.read(trace(iterations=20, breakdown=loop)).sentence
    assert sentence == "Nothing here is surely worth your time."


@pytest.mark.parametrize(
    ("own_s", "advised", "is_named"), [(4, 8, True), (1, 8, False), (4, 7, False)]
)
def test_a_line_without_advice_is_named_if_it_takes_much(rules, own_s, advised, is_named):
    rules(one=[finding(seconds(0.2, 0.15, 0.25), file=FILE, line=advised)])
    times = {"own_ns": own_s * SECOND, "own_low_ns": own_s * SECOND, "total_ns": own_s * SECOND}
    line = {"process_id": 0, "stage": "loop", "file": FILE, "line": 7, "is_own": True}
    state = {"operation": "update", "layer": "python", "own_high_ns": own_s * SECOND}
    rows = trace(iterations=20, source_line=[{**line, **state, **times}])
    named = " The hottest line takes 40.0 % (ppo.py:7): rlscope has no advice on it."
    assert answer.read(rows).sentence.endswith(named) == is_named


@pytest.mark.parametrize(("own_s", "is_named"), [(2, True), (0.5, False)])
def test_a_line_of_workers_is_named_beside_the_one_that_waits_for_them(
    rules, monkeypatch, own_s, is_named
):
    rules(one=[])
    steps(monkeypatch, {"stepped_ns": 2 * SECOND}, {"stepped_ns": SECOND})
    common = {"stage": "loop", "file": FILE, "is_own": True, "operation": "simulation"}
    rows = served(
        source_line=[
            {**common, "process_id": place, "line": number, "layer": layer}
            | dict.fromkeys(("own_ns", "own_low_ns", "own_high_ns", "total_ns"), int(ns))
            for place, number, layer, ns in (
                (0, 7, "wait", 8 * SECOND),
                (1, 40, "python", own_s * SECOND),
            )
        ]
    )
    named = " In the 2 environment workers, one line takes 50.0 % of their work (ppo.py:40)."
    assert answer.read(rows).sentence.endswith(named) is is_named


@pytest.mark.parametrize(
    ("own_s", "layer", "advised", "is_named"),
    [
        (4, "python", 8, True),
        (4, "python", 7, False),
        (4, "framework", 8, False),
        (4, "a library", 8, False),
        (1.5, "python", 8, False),  # the finding wins more
    ],
)
def test_a_line_of_python_that_no_finding_is_of_is_named_beside_a_smaller_one(
    rules, own_s, layer, advised, is_named
):
    rules(one=[finding(seconds(2, 1.5, 2.5), file=FILE, line=advised)])
    times = {name: int(own_s * SECOND) for name in ("own_ns", "own_low_ns", "own_high_ns")}
    line = {"process_id": 0, "stage": "loop", "file": FILE, "line": 7, "is_own": True}
    own_ns = 0 if layer == "a library" else times["own_ns"]
    state = {"operation": "update", "layer": layer, "total_ns": times["own_ns"]}
    state |= {"self_ns": own_ns} | ({"layer": "python"} if layer == "a library" else {})
    rows = trace(iterations=20, source_line=[{**line, **state, **times}])
    named = " The hottest line takes 40.0 % (ppo.py:7), most of it in learning: rlscope has no"
    named += " advice on it."
    assert answer.read(rows).sentence.endswith(named) == is_named


def test_a_line_that_steps_the_environment_is_named_as_such(rules):
    rules(one=[finding(seconds(1, 0.8, 1.2))])
    times = dict.fromkeys(
        ("own_ns", "own_low_ns", "own_high_ns", "total_ns", "self_ns"), 4 * SECOND
    )
    line = {"process_id": 0, "stage": "loop", "file": FILE, "line": 7, "is_own": True}
    state = {"operation": "simulation", "layer": "python"}
    sentence = answer.read(trace(source_line=[{**line, **state, **times}])).sentence
    assert " The environment takes 40.0 % of the loop at one line (ppo.py:7): rlscope" in sentence


def test_lines_that_lead_to_one_without_advice_are_named_where_they_part(rules):
    """As two heads that compute the same trunk: their common caller tells nothing."""
    rules(one=[])
    state = {"process_id": 0, "stage": "loop", "operation": "update", "layer": "framework"}
    stacks = [(1, None, 30), (2, 1, 20), (3, 2, 7), (4, 1, 21), (5, 4, 7), (6, 1, 22), (7, 6, 7)]
    times = {3: 2.0, 5: 1.6, 7: 0.4}
    line = {"file": FILE, "line": 7, "function": "f", "is_own": True}
    own = dict.fromkeys(("own_ns", "own_low_ns", "own_high_ns", "total_ns"), 4 * SECOND)
    rows = trace(
        iterations=20,
        source_line=[state | line | own],
        stack=[
            {"process_id": 0, "stack_id": number, "parent_id": parent, "file": FILE, "line": place}
            | {"function": "f", "is_own": True}
            for number, parent, place in stacks
        ],
        stack_time=[
            state | {"stack_id": number, "self_ns": int(seconds_ * SECOND)}
            for number, seconds_ in times.items()
        ],
    )
    assert answer.read(rows).sentence.endswith(
        "no advice on it. 2 lines lead there: ppo.py:20 55.6 %, ppo.py:21 44.4 %."
    )


def test_advice_says_when_the_program_lacked_a_cpu(rules):
    """Waits are longer for that, and what they are worth."""
    rules(one=[finding(seconds(2, 1.5, 2.5))])
    lacked = {"thread_id": 0, "process_id": 0, "runnable_ns": 4 * SECOND}
    worked = {"thread_id": 0, "process_id": 0, "operation": "update", "duration_ns": SECOND}
    rows = trace(
        thread=[{**lacked, "measured_ns": 10 * SECOND, "start_ns": 0}],
        breakdown_by_thread=[worked],
    )
    said = "The program lacked a CPU for 4.00 s of 10.0 s"
    assert f"! {said}" in advice_renderers.text(rows)
    assert "The program lacked a CPU" in advice_renderers.markdown(rows)


def test_of_a_short_run_it_is_not_said_that_there_is_nothing(rules):
    rules(one=[])
    assert answer.read(trace(iterations=19)).sentence == ""


def test_a_price_that_reaches_zero_is_worth_a_look(rules):
    rules(one=[finding(seconds(2, -1, 5))])
    (shown,) = answer.read(trace()).findings
    assert (shown.rank, shown.price, shown.low) == ("", "a look, up to 67.7 % of the loop", 0)


def test_the_code_around_the_line_is_shown_without_its_margin(rules):
    rules(one=[finding(seconds(2, 1, 3), file=FILE, line=4)])
    rows = trace(source_text=text_of("def f():", "    a", "", "        b", "    c", "    d", "e"))
    (shown,) = answer.read(rows).findings
    assert [(each.number, each.text, each.is_found) for each in shown.code] == [
        (2, "a", False),
        (3, "", False),
        (4, "    b", True),
        (5, "c", False),
        (6, "d", False),
    ]


@pytest.mark.parametrize(
    ("operations", "said"),
    [(("update", "update"), True), (("update", None), True), (("update", "inference"), False)],
)
def test_findings_about_the_same_time_are_named(rules, operations, said):
    rules(one=[finding(seconds(2, 1, 3), operation=each) for each in operations])
    assert ("do not add up" in answer.read(trace()).rest) == said


def test_the_list_says_how_many_it_leaves_out(rules):
    rules(one=[finding(seconds(place, place / 2, place)) for place in (1, 2, 3, 4)])
    found = answer.read(trace(), most=3)
    assert [each.rank for each in found.findings] == ["1", "2", "3"]
    assert found.rest.endswith("`rlscope advise` has 1 more finding.")


def looping(*others, own="train.py", **relations):
    """Processes of these names train beside one of the name `own`."""
    names = [own, *others]
    return trace(
        process=[process(n, 0, 20 * SECOND, name=name) for n, name in enumerate(names)],
        breakdown=[share(n, "update", "python", 10 * SECOND) for n in range(len(names))],
        **relations,
    )


def test_a_share_of_several_loops_says_so(rules):
    rules(one=[])
    times = dict.fromkeys(("own_ns", "own_low_ns", "own_high_ns", "total_ns"), 8 * SECOND)
    line = {"process_id": 1, "stage": "loop", "file": FILE, "line": 7, "is_own": True}
    rows = [{**line, "operation": "update", "layer": "python", **times}]
    said = answer.read(looping("actor", source_line=rows)).sentence
    assert "The hottest line takes 40.0 % of the training loops of 2 processes (ppo.py:7)" in said


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([], "of the loop."),
        (["w01"], "of the loop of train.py. No rule looks at the loop of w01."),
        (["w01", "w02"], "No rule looks at the loops of 2 other processes."),
        (["train.py (2)", "train.py (3)"], "of the loop."),  # they do the same
    ],
)
def test_the_answer_says_which_loops_no_rule_looks_at(rules, others, said):
    rules(one=[finding(seconds(2, 1, 3))])
    assert answer.read(looping(*others)).rest.endswith(said)


@pytest.mark.parametrize(
    ("others", "title", "said"),
    [
        (["actor"], "a step is slow", "In train.py, a step is slow."),
        (["actor"], "train.py waits for actor", "train.py waits for actor."),
        (["train.py (2)"], "a step is slow", "A step is slow."),
    ],
)
def test_the_sentence_says_in_whose_loop_the_cause_lies(rules, others, title, said):
    rules(one=[finding(seconds(2, 1, 3), title=title)])
    assert answer.read(looping(*others)).sentence.startswith(said)


def test_a_sentence_about_a_peer_names_nobody_else(rules):
    rules(one=[finding(seconds(2, 1, 3), title="actor 1 is slow")])
    said = answer.read(looping("actor 1", "learner", own="actor 0")).sentence
    assert said.startswith("Actor 1 is slow.")


def test_the_summary_has_three_findings_and_the_rules_that_failed(rules):
    def failing():
        raise ValueError("no such column")
        yield

    many = [finding(seconds(4, 4 - place, 5), title=f"cause {place}") for place in range(4)]
    rules(many=many, broken=failing())
    shown = render_summary(trace(), width=100, unicode=True)
    assert [f"ause {place}" in shown for place in range(4)] == [True, True, True, False]
    assert "The rule broken failed" in shown
    assert "no such column" in shown


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def hostile_run(rules: Rules, name: str) -> Relations:
    rules(
        **{
            "one": [
                finding(
                    seconds(4, 3, 5),
                    title=f"{name} is slow",
                    evidence=name,
                    fix=name,
                    no_effect=name,
                    evidence_sql=f"SELECT '{name}'",
                    operation=name,
                    file=f"/home/{name}",
                    line=2,
                )
            ],
            name: [None],  # type: ignore[list-item]
        }
    )
    text = [{"file": f"/home/{name}", "line": line, "text": name} for line in (1, 2, 3)]
    return trace(source_text=text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup_on_the_page(rules, name):
    plain = Elements(html.render(hostile_run(rules, "plain")))  # type: ignore[arg-type]
    text = html.render(hostile_run(rules, name))  # type: ignore[arg-type]
    found = Elements(text)
    assert (found.tags, found.attributes) == (plain.tags, plain.attributes)
    assert not any(each in text for each in ("\x00", "\x1b", "\u2028", "\u202e"))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_a_mark_in_markdown(rules, name):
    text = advice_renderers.markdown(hostile_run(rules, name))  # type: ignore[arg-type]
    pieces = re.split(r"^(`{3,}).*?^\1$", text, flags=re.DOTALL | re.MULTILINE)[::2]
    own = re.compile(r"^(\*\*Fix:\*\*|\*\*|### 1\. )|\*\*$", re.MULTILINE)
    assert len(pieces) == 3
    assert [MARK.findall(own.sub("", each)) for each in pieces] == [[], [], []]
    assert sum(line.startswith("#") for line in "".join(pieces).split("\n")) == 1
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("name", HOSTILE)
def test_json_and_text_hold_any_name(rules, name):
    run = hostile_run(rules, name)
    found = json.loads(advice_renderers.as_json(run))  # type: ignore[arg-type]
    assert [row["title"] for row in found["findings"]] == [f"{name} is slow"]
    assert found["findings"][0]["rank"] == 1
    assert found["loop"]["loop_ns"] == 10 * SECOND
    assert found["overlaps"] == []
    assert [each["rule"] for each in found["failed_rules"]] == [name]
    shown = advice_renderers.text(run, width=100, unicode=True)  # type: ignore[arg-type]
    assert all(line.isprintable() for line in shown.split("\n"))


def test_the_json_of_the_report_has_the_findings(rules):
    run = hostile_run(rules, "plain")
    page = json.loads(json_renderer.render(run))  # type: ignore[arg-type]
    assert page["advice"] == json.loads(advice_renderers.as_json(run))  # type: ignore[arg-type]
    assert page["advice"]["findings"][0]["title"] == "plain is slow"


def test_small_findings_of_a_short_run_stand_without_an_answer(rules):
    rules(one=[finding(seconds(0.2, 0.15, 0.25))])
    run = trace(iterations=3)
    for form in (advice_renderers.text, advice_renderers.markdown):
        said = form(run)  # type: ignore[arg-type]
        assert "Nothing can be advised" not in said and "****" not in said
        assert "2.0 %" in said.replace("\\", "")


def test_without_a_loop_prices_are_said_to_be_of_the_run(rules):
    rules(of_lines=True, one=[finding(seconds(2, 1, 3))])
    run = trace(breakdown=[share(0, "(none)", "python", 10 * SECOND, stage="whole")])
    assert json.loads(advice_renderers.as_json(run))["loop"]["is_whole"]  # type: ignore[arg-type]
    for form in (advice_renderers.text, advice_renderers.markdown):
        said = form(run).replace("\\", "")  # type: ignore[arg-type]
        assert "Mending it is worth 20.0 % of the run (10.0 to 41.5 %)." in said
        assert "of the loop" not in said


def test_without_a_loop_the_process_is_named_if_there_are_others(rules):
    rules(of_lines=True, one=[finding(seconds(2, 1, 3))])
    run = trace(
        process=[process(n, 0, 20 * SECOND, name=name) for n, name in enumerate(("game", "store"))],
        breakdown=[share(n, "(none)", "python", 10 * SECOND - n, stage="whole") for n in (0, 1)],
    )
    found = answer.read(run)  # type: ignore[arg-type]
    assert found.sentence.startswith("In game, it is slow. Mending it is worth 20.0 % of the run")
    assert found.rest.endswith("1.0 % of the run of game. No rule looks at store.")


@pytest.mark.parametrize(
    ("most_s", "said"),
    [(3, "The whole run gets at most 1."), (20, "Nearly all of the run may be won back.")],
)
def test_how_much_faster_the_whole_run_can_get(rules, most_s, said):
    rules(one=[finding(seconds(2, 1, most_s))])
    run = trace(run=[{"start_ns": 0, "end_ns": 10 * SECOND}])
    shown = advice_renderers.text(run, width=100, unicode=True)  # type: ignore[arg-type]
    assert said in " ".join(shown.split())
