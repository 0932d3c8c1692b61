"""The loop makes environments anew, which it could reset."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (
        r".*/gym(nasium)?/envs/registration\.py:(make|make_vec)",
        r".*/dm_control/suite/__init__\.py:load",
        r".*/envpool/registration\.py:.*",
        r".*/ale_py/env\.py:AtariEnv\.__init__",
    ),
    title="making environments takes",
    what="functions that make environments",
    fix="Make each environment once, before the loop, and reset it for each episode.",
    no_effect="No effect where each episode needs an environment with other arguments.",
    # The first reset of a new environment, and what ends the old one, take longer, too. In all, it
    # took 1.0 to 3.1 times as long as making it, in eight environments of Gymnasium; least where
    # making one takes milliseconds. Mending it won 1.4 times as much in a loop over a MuJoCo
    # environment, and 2.2 times in one over LunarLander.
    part=(0.95, 1.6, 3.0),
)
