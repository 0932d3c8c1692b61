"""PPO of the workloads, on the GPU; prints how many iterations there were."""

from __future__ import annotations

from driver import say

from rlscope.workloads import ppo_cartpole

STEPS, PER_ITERATION = 8192, 1024

if __name__ == "__main__":
    ppo_cartpole.main(["--device", "cuda", "--total-timesteps", str(STEPS)])
    say(iterations=STEPS // PER_ITERATION)
