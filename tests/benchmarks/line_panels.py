"""How long a headless Chromium takes to draw the panels of source lines.

    python tests/benchmarks/line_panels.py [--rounds N]

Choosing an operation adds all times up again and draws the panel anew. That is timed, with the
layout. A page opens with the same work.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.files import flames
from support.files.report_page import ReportPage, headless_page
from support.files.report_rows import full_run

from rlscope.report import limits
from rlscope.report.renderers import html

TARGET_MS = 1000
_DRAWN = """
const select = document.querySelector(`${arguments[0]} select`);
const begin = performance.now();
select.dispatchEvent(new Event("change"));
document.body.getBoundingClientRect();
return performance.now() - begin;
"""
_BOXES = "return document.querySelectorAll(`${arguments[0]} :is(.frame, [data-line])`).length"


def pages() -> dict[str, tuple[str, str]]:
    """What is drawn -> its part of a page, and the page."""
    run = html.render(full_run(stacks=limits.FRAMES, file_lines=5000))  # type: ignore[arg-type]
    return {
        "source": ("#source", run),
        "flame graph": ("#flame", run),
        "flame graph of 20,000 frames": ("#flame", flames.render(flames.columns(500, 40))),
    }


def measure(browser: ReportPage, path: Path, part: str, rounds: int) -> tuple[int, float]:
    """Lines or frames that are drawn, and the median of the times in ms."""
    browser.open(path)
    times = [browser.driver.execute_script(_DRAWN, part) for _ in range(rounds)]
    return browser.driver.execute_script(_BOXES, part), statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder, headless_page() as browser:
        for name, (part, text) in pages().items():
            path = Path(folder, "page.html")
            path.write_text(text, encoding="utf-8")
            drawn, ms = measure(browser, path, part, options.rounds)
            results[name] = {"drawn": drawn, "ms": ms}
            print(f"{name}: {drawn:,} drawn in {ms:.0f} ms", flush=True)
    if options.output:
        options.output.write_text(json.dumps(results, indent=2))
    return int(any(each["ms"] > TARGET_MS for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())
