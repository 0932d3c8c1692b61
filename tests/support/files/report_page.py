"""The page of a report in a headless Chromium, as its reader sees it: marks, numbers, texts."""

from __future__ import annotations

import html
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# A page of 2 MB is drawn in a second; on a machine with twenty busy neighbours it took 40.
PATIENCE_S = 240

# Every bar that is in the picture: series, name, exact ns of its data, and ns by its width.
_BARS = """
const chart = document.querySelector(`#${arguments[0]} .chart`);
const axis = chart._fullLayout.xaxis;
const unit = (axis.range[1] - axis.range[0]) / axis._length;
return [...chart.querySelectorAll(".bars .point > path")].map((path) => {
  const trace = path.closest(".trace").__data__[0].trace;
  const index = path.parentNode.__data__.i;
  return {
    series: trace.name,
    name: trace.y[index],
    ns: trace.customdata[index][0],
    drawn: path.getBBox().width * unit,
    value: trace.x[index],
    pixel: unit,
  };
});
"""

# Every line that is in the picture: its points, and the box around it in the units of its axes.
_LINES = """
const chart = document.querySelector(`#${arguments[0]} .chart`);
return [...chart.querySelectorAll(".scatterlayer .trace .js-line")].map((path) => {
  const trace = path.closest(".trace").__data__[0].trace;
  const layout = chart._fullLayout;
  const across = layout[`xaxis${trace.xaxis.slice(1)}`];
  const up = layout[`yaxis${trace.yaxis.slice(1)}`];
  const box = path.getBBox();
  return {
    name: trace.name,
    x: [...trace.x],
    y: [...trace.y],
    drawn: [across.p2d(box.x), across.p2d(box.x + box.width),
            up.p2d(box.y + box.height), up.p2d(box.y)],
    pixels: [1 / across._m, 1 / across._m, -1 / up._m, -1 / up._m],
  };
});
"""

# Shares of the timeline: of each layer by its area, and of each operation by its strip.
_SHARES = """
const chart = document.querySelector(`#${arguments[0]} .chart`);
const areas = chart._fullData.filter((trace) => trace.stackgroup);
const strips = chart._fullData.filter((trace) => trace.type === "heatmap");
const names = chart._fullLayout.yaxis2 ? chart._fullLayout.yaxis2.ticktext : [];
return [
  areas.map((trace) => [trace.name, [...trace.y].slice(0, -1)]),
  strips.flatMap((trace) => [...trace.z].map((row, i) => [names[i], [...row]])),
];
"""

# What a reader sees of each chart: marks of bars, areas, lines and heat strips with a size.
_MARKS = """
return [...document.querySelectorAll("figure")].map((figure) => {
  const marks = figure.querySelectorAll(
    ".bars .point > path, .scatterlayer .js-line, .scatterlayer .fills path, " +
    ".scatterlayer .points > path, .heatmaplayer image");
  const visible = [...marks].filter((mark) => {
    const box = mark.getBBox();
    return box.width > 0 || box.height > 0;
  });
  return [figure.id, visible.length];
});
"""

# Texts of charts that reach beyond their chart or the screen, or that run over another text.
_CUT = """
const wide = document.documentElement.clientWidth;
const cut = document.documentElement.scrollWidth > wide ? ["the page scrolls sideways"] : [];
for (const chart of document.querySelectorAll(".chart")) {
  const frame = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll("svg text")]
    .map((text) => [text, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && down > 4) cut.push(`${one.textContent} over ${other.textContent}`);
  }));
  for (const [text, box] of texts) {
    const inside = box.left >= frame.left - 1 && box.right <= Math.min(frame.right, wide) + 1
      && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    if (!inside) cut.push(`${chart.parentNode.id}: ${text.textContent}`);
  }
  const plot = chart.querySelector(".plot, .bglayer");
  const share = plot ? plot.getBoundingClientRect().width / frame.width : 1;
  if (share < 0.5) cut.push(`${chart.parentNode.id}: ${share} of its width are left to the plot`);
}
return cut;
"""

_CELLS_CUT = """
return [...document.querySelectorAll("td")].filter((cell) => cell.getClientRects().length > 0)
  .filter((cell) => !cell.closest(".code")) // source text scrolls
  .filter((cell) => cell.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((cell) => cell.textContent);
"""

_NOTES = """
return [...document.querySelectorAll(`#${arguments[0]} .note`)]
  .filter((note) => note.getClientRects().length > 0).map((note) => note.textContent);
"""

OPERATION = "IF(operation = '(none)', '(between operations)', operation)"
"""SQL: what charts and tables call an operation."""

# Tables behind their title are among them.
_TABLES = """
return [...document.querySelectorAll(`#${arguments[0]} details`)].map((details) => [
  details.querySelector("summary").textContent,
  [...details.querySelectorAll("tbody tr")]
    .map((row) => [...row.cells].map((cell) => cell.textContent)),
]);
"""

# The parts of a panel that hold its answer: sentences, charts, flame graphs, lists, tables.
_PARTS = (
    "[...document.querySelectorAll(`#${arguments[0]} :is(.note, figure, .frames, .jump, tbody)`)]"
)

_NAMES = f"""
return {_PARTS}.map((part) =>
  part.id || (part.closest("details") || part).firstElementChild?.textContent || part.textContent);
"""

_EMPTY = f"""
const part = {_PARTS}[arguments[1]];
const chart = part.querySelector(".chart");
const done = arguments[2];
if (chart) {{
  window.emptied = () => Plotly.newPlot(chart, data, layout);
  const [data, layout] = [chart.data, chart.layout];
  Plotly.newPlot(chart, [], layout).then(() => done());
}} else {{
  const content = part.innerHTML;
  window.emptied = async () => {{ part.innerHTML = content; }};
  part.innerHTML = "";
  done();
}}
"""
_FILL = "const done = arguments[0]; window.emptied().then(() => done());"


def browser_programs() -> tuple[str | None, str | None]:
    """Paths of Chromium and its driver, where they are installed."""
    return shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")


@contextmanager
def headless_page() -> Iterator[ReportPage]:
    """A headless Chromium."""
    from selenium import webdriver

    chromium, chromedriver = browser_programs()
    options: Any = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1600"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service: Any = webdriver.ChromeService(executable_path=chromedriver)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield ReportPage(driver)
    finally:
        driver.quit()


@dataclass(frozen=True)
class Line:
    """The points of one line."""

    x: list[float]
    y: list[float]


class ReportPage:
    def __init__(self, driver: Any) -> None:
        self.driver = driver
        driver.set_script_timeout(PATIENCE_S)

    def open(self, page: Path) -> None:
        """Loads the page and waits until its script has drawn it."""
        self.driver.get_log("browser")  # what an earlier page said
        self.driver.get(page.as_uri())
        done = "return document.documentElement.dataset.drawn === 'true'"
        self.wait_until(lambda: bool(self.driver.execute_script(done)))

    def click(self, element: Any) -> None:
        """Scrolls at once: the page scrolls smoothly otherwise, and the click comes on the way."""
        script = "arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})"
        self.driver.execute_script(script, element)
        element.click()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Fails if it never is."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, PATIENCE_S).until(lambda _: is_so())

    def complaints(self) -> list[dict[str, Any]]:
        """What the console says since the page was opened, or since the last call."""
        return [each for each in self.driver.get_log("browser") if each["level"] == "SEVERE"]

    def texts(self, script: str, *arguments: Any) -> Any:
        """What a script finds, as a reader takes it: any blank is a blank."""
        return _with_plain_blanks(self.driver.execute_script(script, *arguments))

    def panels(self) -> list[str]:
        """Panels that have a section."""
        sections = "return [...document.querySelectorAll('section')].map((each) => each.id)"
        return list(self.driver.execute_script(sections))

    def marks(self) -> dict[str, int]:
        """Visible marks of each chart."""
        return dict(self.driver.execute_script(_MARKS))

    def blank(self) -> list[str]:
        """Charts that show nothing."""
        return [chart for chart, number in self.marks().items() if not number]

    def cut(self) -> list[str]:
        """Texts of charts that are not whole on the screen, and charts without room."""
        return list(self.driver.execute_script(_CUT))

    def open_tables(self) -> None:
        """Shows all tables, also those behind their title."""
        script = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
        self.driver.execute_script(script)

    def cells_cut(self) -> list[str]:
        """Cells of tables that are not whole in the window."""
        return list(self.driver.execute_script(_CELLS_CUT))

    def barriers(self) -> list[str]:
        """Rules of accessibility that axe finds broken, and calls serious or critical."""
        axe: Any = pytest.importorskip("axe_core_python.selenium")
        found = axe.Axe().run(self.driver)["violations"]
        return [each["id"] for each in found if each["impact"] in ("serious", "critical")]

    def faults(self, page: Path, width: int, scheme: str) -> list[object]:
        """What is wrong with a page on a window so wide, for a reader who prefers the scheme."""
        with self.in_scheme(scheme), self.as_wide_as(width):
            self.open(page)
            shown = [*self.complaints(), *self.blank(), *self.cut(), *self.cells_cut()]
            return [*shown, *self.barriers()]

    def names_in(self, chart: str) -> list[str]:
        """Every text of a chart."""
        script = "return [...document.querySelectorAll(`#${arguments[0]} svg text`)]"
        return list(self.driver.execute_script(f"{script}.map((t) => t.textContent)", chart))

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Meanwhile pages that are opened see a browser that lacks this."""
        source = {"source": f"delete window.{name};"}
        command = "Page.addScriptToEvaluateOnNewDocument"
        added = self.driver.execute_cdp_cmd(command, source)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    @contextmanager
    def as_wide_as(self, pixels: int) -> Iterator[None]:
        """Meanwhile pages that are opened see a screen of this width."""
        metrics = {"width": pixels, "height": 1600, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    @contextmanager
    def in_scheme(self, scheme: str) -> Iterator[None]:
        """Meanwhile pages see a reader who prefers "light" or "dark"."""
        command = "Emulation.setEmulatedMedia"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd(command, {"features": features})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd(command, {"features": []})

    def bars(self, chart: str) -> dict[tuple[str, str], int]:
        """(series, name) -> ns of every bar; its width on the screen must agree to a pixel."""
        bars = self.driver.execute_script(_BARS, chart)
        for bar in bars:
            assert bar["drawn"] == pytest.approx(bar["value"], abs=1.5 * bar["pixel"])
        return {(bar["series"], html.unescape(bar["name"])): bar["ns"] for bar in bars}

    def lines(self, chart: str) -> dict[str, Line]:
        """Points of every line by its name; its place on the screen must agree to two pixels."""
        lines = self.driver.execute_script(_LINES, chart)
        for line in lines:
            ends = [min(line["x"]), max(line["x"]), min(line["y"]), max(line["y"])]
            for drawn, value, pixel in zip(line["drawn"], ends, line["pixels"], strict=True):
                assert drawn == pytest.approx(value, abs=2 * pixel), line["name"]
        named = {html.unescape(line["name"]): Line(line["x"], line["y"]) for line in lines}
        assert len(named) == len(lines), "lines of one name"
        return named

    def shares(self, chart: str) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        """The share of each bucket in every area of a timeline, and percent of every strip."""
        areas, strips = self.driver.execute_script(_SHARES, chart)
        return dict(areas), {html.unescape(name): row for name, row in strips}

    def notes(self, panel: str) -> list[str]:
        """The sentences of a panel."""
        return list(self.texts(_NOTES, panel))

    def table(self, panel: str, title: str) -> list[list[str]]:
        """Cells of the table that has `title` in its title."""
        tables = self.texts(_TABLES, panel)
        found = [rows for shown, rows in tables if title in shown]
        assert len(found) == 1, f"{panel}: {[shown for shown, _ in tables]}"
        return list(found[0])

    def parts(self, panel: str) -> list[str]:
        """The sentences, charts and tables of a panel by their texts, keys and titles."""
        return list(self.texts(_NAMES, panel))

    @contextmanager
    def emptied(self, panel: str, part: int) -> Iterator[None]:
        """Meanwhile that sentence, chart or table of the panel shows nothing."""
        self.driver.execute_async_script(_EMPTY, panel, part)
        try:
            yield
        finally:
            self.driver.execute_async_script(_FILL)


def _with_plain_blanks(found: Any) -> Any:
    if isinstance(found, str):
        return found.replace("\u00a0", " ")
    return [_with_plain_blanks(each) for each in found] if isinstance(found, list) else found
