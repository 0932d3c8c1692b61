"""Panels Source and Flame graph in a browser: mouse, keyboard, screen reader, hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.files import flames
from support.files.relation_rows import Relations
from support.files.report_page import ReportPage
from support.files.report_rows import full_run

from rlscope.report import operation_choices, units

pytestmark = pytest.mark.browser

_FRAMES = """
const left = document.querySelector("#flame-graph .frames").getBoundingClientRect().left;
return [...document.querySelectorAll("#flame-graph .frame")].map((each) => {
  const box = each.getBoundingClientRect();
  return {
    label: each.getAttribute("aria-label"), level: Number(each.getAttribute("aria-level")),
    left: box.left - left, width: box.width + 1,
    zoomed: each.getAttribute("aria-selected") === "true",
    match: each.classList.contains("match"), other: each.classList.contains("other"),
  };
});
"""
_FOCUS = "return document.activeElement.getAttribute('aria-label')"
_WIDE = "return document.querySelector('#flame-graph .frames').clientWidth"
_TOLERANCE = 2  # pixels


@pytest.fixture(scope="module")
def trace() -> Relations:
    return full_run(stacks=40)


@pytest.fixture(scope="module")
def page(trace: Relations, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(flames.render_panels(trace, "flame", "source"), encoding="utf-8")
    return path


@pytest.fixture
def opened(report_page: ReportPage, page: Path) -> Iterator[ReportPage]:
    """The page; whatever is done to it, the console stays silent."""
    report_page.open(page)
    yield report_page
    assert report_page.complaints() == []


def _frames(page: ReportPage) -> list[dict[str, Any]]:
    return [
        {**each, "label": each["label"].replace("\u00a0", " ")}
        for each in page.driver.execute_script(_FRAMES)
    ]


def _names(page: ReportPage) -> list[str]:
    return [each["label"].rpartition(", ")[0] for each in _frames(page)]


def _text(page: ReportPage, part: str) -> str:
    script = "return document.querySelector(arguments[0]).textContent"
    return str(page.texts(script, f"#flame-graph {part}"))


def _keys(page: ReportPage, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(page.driver).send_keys(*keys).perform()


def _enter_tree(page: ReportPage) -> None:
    """With the Tab key, from the button before it."""
    from selenium.webdriver.common.keys import Keys

    page.driver.execute_script("document.querySelector('#flame-graph select').focus()")
    _keys(page, Keys.TAB)
    if page.driver.execute_script(_FOCUS) is None:  # the button is there while it can be used
        _keys(page, Keys.TAB)


def _choose(page: ReportPage, part: str, name: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(page.driver.find_element("css selector", f"{part} select")).select_by_value(name)


def _click(page: ReportPage, label: str) -> None:
    element = page.driver.find_element("css selector", f'#flame-graph [aria-label^="{label}"]')
    page.click(element)


def _is_zoomed(page: ReportPage, name: str) -> bool:
    (zoomed,) = (each for each in _frames(page) if each["zoomed"])
    return bool(zoomed["label"].startswith(f"{name}, "))


def test_a_click_shows_a_frame_over_the_whole_width_and_a_button_all(opened: ReportPage) -> None:
    before = _frames(opened)
    wide = opened.driver.execute_script(_WIDE)
    levels = [each["level"] for each in before]
    chosen = before[levels.index(3)]  # called by a call of the main function
    name = chosen["label"].rpartition(", ")[0]
    assert chosen["width"] < wide / 2
    button = opened.driver.find_element("css selector", "#flame-graph button")
    assert not button.is_enabled()
    _click(opened, name)
    shown = _frames(opened)
    assert [each["label"] for each in shown if each["zoomed"]] == [chosen["label"]]
    for each in shown[: chosen["level"]]:  # what called it, and itself
        assert each["width"] == pytest.approx(wide, abs=_TOLERANCE)
    scale = wide / chosen["width"]
    below = [each for each in before if _is_inside(each, chosen)]
    assert below
    assert len(shown) == chosen["level"] + len(below)
    for one, other in zip(below, shown[chosen["level"] :], strict=True):
        assert one["label"] == other["label"]
        assert other["width"] == pytest.approx(scale * one["width"], abs=scale * _TOLERANCE)
    opened.click(button)
    assert _frames(opened) == before


def _is_inside(frame: dict[str, Any], outer: dict[str, Any]) -> bool:
    inner = outer["left"] - 1 < frame["left"] < outer["left"] + outer["width"] - 1
    return bool(inner and frame["level"] > outer["level"])


def test_keys_go_from_frame_to_frame_zoom_and_return(opened: ReportPage) -> None:
    from selenium.webdriver.common.keys import Keys

    before = _frames(opened)

    def focus() -> str:
        return str(opened.texts(_FOCUS))

    _enter_tree(opened)
    assert focus() == before[0]["label"] == "all, 100.0 %"
    first, second = [each["label"] for each in before if each["level"] == 2][:2]
    for key, label in (
        (Keys.ARROW_DOWN, first),
        (Keys.ARROW_LEFT, first),  # nothing is there
        (Keys.ARROW_RIGHT, second),
        (Keys.ARROW_LEFT, first),
        (Keys.ARROW_UP, before[0]["label"]),
        (Keys.ARROW_UP, before[0]["label"]),
        (Keys.ARROW_DOWN, first),
    ):
        _keys(opened, key)
        assert focus() == label
        assert _text(opened, ".chosen").startswith(label.rpartition(", ")[0])
    for key in (Keys.ENTER, Keys.SPACE):
        _keys(opened, key)
        assert focus() == first
        assert _is_zoomed(opened, first.rpartition(", ")[0])
        _keys(opened, Keys.ESCAPE)
        assert focus() == before[0]["label"]
        assert _frames(opened) == before
        _keys(opened, Keys.ARROW_DOWN)
    stops = "return document.querySelectorAll('#flame-graph .frame[tabindex=\"0\"]').length"
    assert opened.driver.execute_script(stops) == 1, "Tab leaves the graph at once"


def test_a_search_marks_frames_and_adds_up_their_time(opened: ReportPage, trace: Relations) -> None:
    field = opened.driver.find_element("css selector", "#flame-graph input[type='search']")
    field.send_keys("MODULE._call")
    for each in _frames(opened):
        assert each["match"] == ("Module._call_impl" in each["label"])
        assert each["other"] != each["match"]
    stacks = {(row["process_id"], row["stack_id"]): row for row in trace.table("stack").to_dicts()}

    def is_inside(process_id: int, stack_id: int | None) -> bool:
        while stack_id is not None:
            row = stacks[process_id, stack_id]
            if row["function"] == "Module._call_impl":
                return True
            stack_id = row["parent_id"]
        return False

    times = list(trace.sql("SELECT process_id, stack_id, self_ns FROM stack_time"))
    found = sum(ns for *stack, ns in times if is_inside(*stack))
    assert units.share(found, sum(ns for *_, ns in times)) in _text(opened, ".found")
    field.clear()
    field.send_keys("al")  # the root of all calls is none
    assert not _frames(opened)[0]["match"]
    field.clear()
    field.send_keys("no such call")
    assert _text(opened, ".found").startswith("0 calls found, 0.0 %")
    assert not any(each["match"] for each in _frames(opened))


def _total_of(trace: Relations, column: str, **where: str) -> int:
    condition = "".join(f" AND {name} = ${name}" for name in where)
    rows = trace.sql(
        f"SELECT CAST(SUM({column}) AS BIGINT) FROM stack_time WHERE TRUE{condition}", where
    )
    return int(next(iter(rows))[0])


def _measure(page: ReportPage) -> dict[str, bool]:
    """What the switch offers, and whether it is chosen."""
    return dict(page.texts(_MEASURES))


_MEASURES = """
return [...document.querySelectorAll("#flame-graph fieldset label")].map((each) =>
  [each.textContent.trim(), each.querySelector("input").checked]);
"""
_LEGEND = """
return [...document.querySelectorAll("#flame-graph .legend li")].map((each) => each.textContent);
"""


def test_a_switch_makes_frames_as_wide_as_their_gpu_time(
    opened: ReportPage, trace: Relations
) -> None:
    """By the keyboard alone; the same frames return when it is switched back."""
    from selenium.webdriver.common.keys import Keys

    before = _frames(opened)
    assert _measure(opened) == {"wall time": True, "GPU time": False}
    assert "gpu" not in opened.texts(_LEGEND)
    opened.driver.execute_script(_FOCUS_SWITCH)
    _keys(opened, Keys.ARROW_RIGHT)
    assert _measure(opened) == {"wall time": False, "GPU time": True}
    gpu_ns = _total_of(trace, "gpu_ns")
    assert _text(opened, ".chosen").startswith(f"all · {units.duration(gpu_ns)}, 100.0 %")
    assert opened.texts(_LEGEND) == ["gpu"]
    frames = _frames(opened)
    assert {each["label"]: each["width"] for each in frames} != {
        each["label"]: each["width"] for each in before
    }
    unknown = _total_of(trace, "CASE WHEN stack_id IS NULL THEN gpu_ns END")
    assert f"(stack not known), {units.share(unknown, gpu_ns)}" in {
        each["label"] for each in frames
    }
    assert any(
        name.startswith("Calls by the share of the GPU time")
        for name in _accessible(opened, "tree")
    )
    _keys(opened, Keys.ARROW_LEFT)
    assert _measure(opened) == {"wall time": True, "GPU time": False}
    assert _frames(opened) == before


_FOCUS_SWITCH = "document.querySelector('#flame-graph fieldset input').focus()"


def test_the_gpu_time_is_that_of_the_chosen_operation(opened: ReportPage, trace: Relations) -> None:
    rows = trace.sql(
        "SELECT operation FROM stack_time WHERE operation LIKE '%/%' AND gpu_ns > 0 LIMIT 1"
    )
    ((path,),) = rows
    opened.driver.execute_script(_CHOOSE_GPU)
    _choose(opened, "#flame", path)
    expected = _total_of(trace, "gpu_ns", operation=path)
    assert _text(opened, ".chosen").startswith(f"all · {units.duration(expected)}, 100.0 %")
    field = opened.driver.find_element("css selector", "#flame-graph input[type='search']")
    field.send_keys("Module._call")
    assert _text(opened, ".found").endswith("% of the GPU time.")


_CHOOSE_GPU = "document.querySelectorAll('#flame-graph fieldset input')[1].click()"


def test_a_screen_reader_hears_the_switch(opened: ReportPage) -> None:
    assert _accessible(opened, "radio") == ["wall time", "GPU time"]
    assert "Width" in _accessible(opened, "group")


def test_an_operation_is_chosen_in_each_panel(opened: ReportPage, trace: Relations) -> None:
    whole, path, ns = next(
        iter(
            trace.sql(
                "SELECT (SELECT CAST(SUM(self_ns) AS BIGINT) FROM stack_time), operation,"
                " CAST(SUM(self_ns) AS BIGINT) AS ns FROM stack_time GROUP BY operation"
                " HAVING operation LIKE '%/%' ORDER BY ns LIMIT 1"
            )
        )
    )
    assert 0 < ns < whole
    all_frames = _frames(opened)
    _choose(opened, "#flame", path)
    assert _text(opened, ".chosen").startswith(f"all · {units.duration(ns)}, 100.0 %")
    assert _frames(opened) != all_frames
    expected = {
        (row["file"], str(row["line"])): (
            units.duration_or_blank(row["own_ns"]),
            units.duration_or_blank(row["total_ns"]),
        )
        for row in trace.sql(
            "SELECT file, line, CAST(SUM(own_ns) AS BIGINT) AS own_ns,"
            " CAST(SUM(total_ns) AS BIGINT) AS total_ns FROM source_line"
            " WHERE is_own AND operation = $path GROUP BY file, line",
            {"path": path},
        ).to_dicts()
    }
    before = _listing(opened)
    _choose(opened, "#source", path)
    shown = _listing(opened)
    assert {line: times for line, times in shown.items() if times != ("", "")} == expected
    assert shown != before
    _choose(opened, "#flame", operation_choices.ALL)
    _choose(opened, "#source", operation_choices.ALL)
    assert _frames(opened) == all_frames
    assert _listing(opened) == before


def _backward_cells(page: ReportPage) -> dict[str, str]:
    """Line -> what column "backward" says; lines where that is blank are left out."""
    return {line: text for line, text in page.texts(_BACKWARD) if text}


_BACKWARD = """
return [...document.querySelectorAll("#source [data-line]")].map((row) => {
  const heads = [...row.closest("table").querySelectorAll("thead th")];
  const place = heads.findIndex((each) => each.textContent === "backward");
  return [row.querySelector("th").textContent, row.children[place].textContent];
});
"""


def test_a_line_has_the_time_of_its_backward_over_all_operations(
    opened: ReportPage, trace: Relations
) -> None:
    rows = trace.sql(
        "SELECT CAST(line AS VARCHAR), CAST(SUM(backward_ns) AS BIGINT) FROM backward_line"
        " WHERE line = 8 GROUP BY line"
    )
    ((line, backward_ns),) = rows
    assert _backward_cells(opened) == {line: units.duration(backward_ns)}
    ((path,),) = trace.sql("SELECT operation FROM stack_time WHERE operation LIKE '%/%' LIMIT 1")
    _choose(opened, "#source", path)
    assert _backward_cells(opened) == {}
    _choose(opened, "#source", operation_choices.ALL)
    assert _backward_cells(opened) == {line: units.duration(backward_ns)}


_LISTING = """
return [...document.querySelectorAll("#source [data-line]")].map((row) => [
  row.closest("details").querySelector(".path").textContent,
  row.querySelector("th").textContent, row.cells[0].textContent, row.cells[3].textContent]);
"""


def _listing(page: ReportPage) -> dict[tuple[str, str], tuple[str, str]]:
    """(file, line) -> own time and total."""
    return {(file, line): (own, total) for file, line, own, total in page.texts(_LISTING)}


def test_a_link_of_the_hottest_lines_opens_its_file_and_leads_to_the_line(
    opened: ReportPage,
) -> None:
    close = "document.querySelectorAll('#source details').forEach((each) => { each.open = false; })"
    links = opened.driver.find_elements("css selector", "#source .jump a")
    assert len(links) == 10
    for link in (links[0], links[-1]):
        opened.driver.execute_script(close)
        opened.click(link)
        found = opened.driver.execute_script(_TARGET)
        assert found["name"] == link.text
        opened.wait_until(lambda: opened.driver.execute_script(_TARGET)["isInWindow"])


_TARGET = """
const row = document.querySelector(":target");
const box = row.getBoundingClientRect();
const file = row.closest("details").querySelector("summary").textContent.split(":")[0];
return {
  name: `${file}:${row.querySelector("th").textContent}`,
  isInWindow: box.height > 0 && box.top >= 0 && box.bottom <= innerHeight,
};
"""


def _accessible(page: ReportPage, role: str) -> list[str]:
    """What a screen reader says of each element of a role."""
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [
        node["name"]["value"].replace("\u00a0", " ")
        for node in nodes
        if not node["ignored"] and node["role"]["value"] == role
    ]


def test_a_screen_reader_hears_each_frame_and_each_line(opened: ReportPage) -> None:
    opened.open_tables()
    frames = _frames(opened)
    assert _accessible(opened, "treeitem") == [each["label"] for each in frames]
    assert any(name.startswith("Calls by their share") for name in _accessible(opened, "tree"))
    assert "Search" in _accessible(opened, "searchbox")
    assert "Hottest lines" in _accessible(opened, "list")
    heads = _accessible(opened, "columnheader")
    assert {"own time", "layers", "source"} <= set(heads)
    lines = {line for _, line in _listing(opened)}
    assert lines <= set(_accessible(opened, "rowheader"))
    for part in (".found", ".chosen"):
        text = opened.driver.find_element("css selector", f"#flame-graph {part}")
        assert text.get_attribute("aria-live") == "polite"


HOSTILE = [
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><b onmouseover="window.pwned=1">',
    "${window.pwned = 1}`;window.pwned=1//",
    "a\u2028window.pwned=1\u2029b",
    "\u202egnp.\u2066x\u2069\u200f\x1b[31m",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_and_no_source_text_is_code(
    name: str, report_page: ReportPage, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    trace = full_run(name=name, stacks=40)
    page.write_text(flames.render_panels(trace, "flame", "source"), encoding="utf-8")
    report_page.open(page)
    report_page.open_tables()
    shown = units.visible(name)
    assert any(shown in each for each in _names(report_page))
    texts = report_page.texts(
        "return [...document.querySelectorAll('#source td code')].map((each) => each.textContent)"
    )
    assert any(f"{shown} = step(" in each for each in texts)
    assert any(shown in each for each in report_page.texts(_PATHS))
    for width in (390, 1280):
        with report_page.as_wide_as(width):
            field = report_page.driver.find_element(
                "css selector", "#flame-graph input[type='search']"
            )
            field.send_keys(shown[:12])
            assert report_page.driver.execute_script(_FOREIGN) == [0, False]
            field.clear()
    assert report_page.complaints() == []


_PATHS = "return [...document.querySelectorAll('#source .path')].map((each) => each.textContent)"
_FOREIGN = """
const foreign = "#source :is(img, b, script:not([type])), #flame :is(img, b, script:not([type]))";
return [document.querySelectorAll(foreign).length, "pwned" in window];
"""


@pytest.mark.parametrize(("count", "depth"), [(500, 40), (4000, 5)])
def test_of_20_000_frames_those_of_a_pixel_are_drawn(
    count: int, depth: int, report_page: ReportPage, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(flames.render(flames.columns(count, depth)), encoding="utf-8")
    report_page.open(page)
    wide = report_page.driver.execute_script(_WIDE)
    are_drawn = count <= wide
    drawn = count * depth if are_drawn else 0
    boxes = "return document.querySelectorAll('.frame').length"
    assert report_page.driver.execute_script(boxes) == 1 + drawn
    said = "" if are_drawn else "20,000 calls narrower than a pixel are not drawn."
    assert _text(report_page, ".found") == said
    if are_drawn:
        zoom = """document.querySelector('[aria-label^="call_7_2 "]').click()"""
        report_page.driver.execute_script(zoom)
        assert len(_frames(report_page)) == 1 + depth
        assert _text(report_page, ".found") == ""
    assert report_page.complaints() == []


_COLOURS = """
return Object.fromEntries([...document.querySelectorAll("#flame-graph .frame")].map((each) =>
  [each.getAttribute("aria-label").split(" ")[0].replace(",", ""), each.style.backgroundColor]));
"""
_SLOWER, _FASTER = "rgb(230, 159, 0)", "rgb(0, 114, 178)"


def test_a_frame_has_its_own_colour_where_the_graph_says_so(
    report_page: ReportPage, tmp_path: Path
) -> None:
    """All time is of one layer, and no frame has its colour for that."""
    flame = replace(
        flames.columns(2, 2),
        layers=[("slower", "#E69F00"), ("faster", "#0072B2"), ("the same", "#9AA0A6")],
        colours=[1, 1, 0, 1, 1],
    )
    path = tmp_path / "page.html"
    path.write_text(flames.render(flame), encoding="utf-8")
    report_page.open(path)
    assert report_page.driver.execute_script(_COLOURS) == {
        "all": _FASTER, "call_0_0": _FASTER, "call_0_1": _SLOWER, "call_1_0": _FASTER,
        "call_1_1": _FASTER,
    }  # fmt: skip
    text = "return document.querySelector(`#flame-graph ${arguments[0]}`).textContent"
    assert report_page.driver.execute_script(text, ".chosen").split(" · ")[-1] == "faster"
    legend = report_page.driver.execute_script(text, ".legend")
    assert ("slower" in legend, "faster" in legend, "the same" in legend) == (True, True, False)
    assert report_page.complaints() == []
