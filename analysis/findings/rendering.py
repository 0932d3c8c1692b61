"""The environment draws a picture in its steps, or the loop asks it to."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls
from rlscope.relations.groups import RENDERING, SIMULATION

RULE = of_calls(
    # Gymnasium's name of what draws, other usual ones, and libraries that only draw.
    (
        r".*:(.*\.)?_?(draw|paint|plot|rasteri[sz]e|render)"
        r"(_(canvas|frame|human|image|picture|rgb|scene|screen|world))?",
        r".*/(pygame|pyglet|matplotlib)/.*",
        r".*/PIL/ImageDraw\.py:.*",
    ),
    in_groups=(SIMULATION, RENDERING),
    title="the environment draws for",
    what="functions that draw",
    fix="Draw only what is looked at: no render mode in training, or each n-th episode.",
    no_effect="No effect where the picture is what the policy observes.",
    part=(0.9, 1.0, 1.0),
)
