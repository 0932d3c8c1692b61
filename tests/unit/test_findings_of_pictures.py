"""Advice on pictures: those that nobody sees, and those that are made smaller or gray."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

LIBRARY = "/lib/python3/site-packages"
RESIZE = (f"{LIBRARY}/skimage/transform/_warps.py", "resize")


@pytest.mark.parametrize(
    ("inside", "text"),
    [((RESIZE,), ""), ((), "small = cv2.resize(picture, (84, 84))")],
    ids=["a library in Python", "a function of C"],
)
def test_pictures_that_are_made_smaller_are_named(inside, text):
    trace = loop_rows(Time("simulation", "python", 4 * SECOND, 1, inside), text=text)
    (finding,) = found_by("picture_work", trace)
    assert (finding.file, finding.line) == (FILE, 1)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.5 * 4 * SECOND)


def test_other_work_on_arrays_is_none_on_pictures():
    time = Time("simulation", "python", 4 * SECOND, 1)
    assert found_by("picture_work", loop_rows(time, text="window.resize(800, 600)")) == []


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("def step(self):\n    return self.draw(), 1.0\n", False),
        ("def step(self):\n    picture = self.draw()\n    return picture, 1.0\n", False),
        ("def step(self):\n    self.frame = self.draw()\n    return self._obs()\n"
         "def _obs(self):\n    return self.frame / 255\n", False),
        ("def step(self):\n    self.frame = self.draw()\n    return self.at\n", True),
        ("def step(self):\n    self.draw()\n    return self.at\n", True),
        ("def render(self):\n    return self.draw()\n", True),
        ("def describe(self):\n    return {'small': self.draw()}\n", True),
        ("def _get_obs(self):\n    return {'small': self.draw()}\n", False),
    ],
)  # fmt: skip
def test_what_the_policy_observes_is_drawn_for_it(text, is_named):
    line = 1 + next(n for n, each in enumerate(text.splitlines()) if "draw" in each)
    time = Time("simulation", "python", 2 * SECOND, line, ((FILE, "World.draw"),))
    assert bool(found_by("rendering", loop_rows(time, text=text))) == is_named


def test_what_takes_the_picture_in_the_same_line_goes_with_it():
    text = "def describe(self):\n    return {'small': shrink(self.draw())}\n"
    trace = loop_rows(
        Time("simulation", "python", SECOND, 2, ((FILE, "World.draw"),)),
        Time("simulation", "python", 3 * SECOND, 2, ((FILE, "shrink"),)),
        text=text,
    )
    (finding,) = found_by("rendering", trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND)


def test_pictures_that_a_wrapper_gives_the_policy_are_observed():
    wrapper = (f"{LIBRARY}/gymnasium/wrappers/x.py", "AddRenderObservation.observation")
    render = (f"{LIBRARY}/games/world.py", "World.render")
    time = Time("simulation", "python", 2 * SECOND, 7, (wrapper, render))
    assert found_by("rendering", loop_rows(time)) == []


@pytest.mark.parametrize(
    ("text", "is_gray"),
    [
        ("gray = np.dot(rgb[..., :3], [0.299, 0.587, 0.114])", True),
        ("return 0.2989 * r + 0.5870 * g + 0.1140 * b", True),
        ("reward = 0.299 * r + 0.5 * g", False),
    ],
)
def test_sums_of_colours_are_made_of_floats(text, is_gray):
    time = Time("simulation", "python", 4 * SECOND, 2)
    findings = found_by("picture_work", loop_rows(time, text=f"def gray(rgb):\n    {text}\n"))
    prices = [each.price.saving_ns for each in findings if each.price]
    assert prices == ([pytest.approx(0.8 * 4 * SECOND)] if is_gray else [])
