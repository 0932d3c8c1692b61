"""What recording native calls costs: training loops and environments under rls-prof, on and off.

    python tests/benchmarks/layers.py [--seconds 20] [--only NAME ...] [--output FILE]

One process per workload runs under rls-prof --intercept=patch and takes turns, in random order: a
block recorded with every native call, one with recording stopped, and, for PPO, one under a profile
function in C (cProfile's, the least that PyEval_SetProfile can cost). Medians of the blocks' ratios
in CPU time of the thread, with 95 % bootstrap intervals. A workload whose library is not installed
is left out.
"""

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from paired import median_interval, write_result  # noqa: E402
from traced_python import make_traced_python, untraced_environment  # noqa: E402

Step = Callable[[], Any]
_WARM_UP = 3


def ppo() -> Step:
    import torch

    from rlscope.workloads import ppo_cartpole

    torch.set_num_threads(1)
    return ppo_cartpole.Trainer(ppo_cartpole.Args(annotate=False, print_every=0)).run_iteration


def environment(name: str, steps: int) -> Step:
    import gymnasium as gym

    if name.startswith("ALE/"):
        import ale_py

        gym.register_envs(ale_py)
    env = gym.make(name)
    env.reset(seed=1)
    env.action_space.seed(1)

    def run() -> None:
        for _ in range(steps):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()

    return run


def pybullet_world() -> Step:
    import pybullet

    pybullet.connect(pybullet.DIRECT)
    box = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3)
    bodies = [pybullet.createMultiBody(1, box, basePosition=[0, 0, i]) for i in range(5)]

    def run() -> None:
        for _ in range(1000):
            pybullet.stepSimulation()
            pybullet.getBasePositionAndOrientation(bodies[0])

    return run


def tensorflow() -> Step:
    import tensorflow as tf

    x = tf.ones((16, 16))
    weights = [tf.Variable(tf.ones((16, 32)) * 0.01), tf.Variable(tf.ones((32, 4)) * 0.01)]
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def run() -> None:
        for _ in range(20):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1]) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    return run


def jax() -> Step:
    import jax
    import jax.numpy as jnp

    x, weights = jnp.ones((64, 16)), [jnp.ones((16, 16)), jnp.ones((16, 4))]

    @jax.jit
    def update(weights: Any) -> Any:
        gradients = jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w[0]) @ w[1]) ** 2))(weights)
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients)

    def run() -> None:
        new = weights
        for _ in range(1000):
            new = update(new)
        jax.block_until_ready(new)

    return run


# Module that must be installed, what runs, and the target in percent.
WORKLOADS: dict[str, tuple[str, Callable[[], Step], float]] = {
    "ppo": ("torch", ppo, 1.5),
    "mujoco": ("mujoco", lambda: environment("HalfCheetah-v5", 400), 1.5),
    "box2d": ("Box2D", lambda: environment("LunarLander-v3", 400), 1.5),
    "ale": ("ale_py", lambda: environment("ALE/Pong-v5", 100), 0.5),
    "pybullet": ("pybullet", pybullet_world, 0.5),
    "tensorflow": ("tensorflow", tensorflow, 2.5),
    "jax": ("jaxlib", jax, 2.5),
}


def spent_ns(step: Step, kind: str) -> int:
    """CPU time of this thread for one block."""
    import _lsprof

    import rlscope as rls

    profiler = _lsprof.Profiler()
    if kind == "recorded":
        rls.start()
    elif kind == "profiled":
        profiler.enable()
    begun = time.thread_time_ns()
    step()
    spent = time.thread_time_ns() - begun
    profiler.disable()
    rls.stop()
    return spent


def take_turns(name: str, seconds: float) -> None:
    """The process under rls-prof: prints one JSON line for each turn of all kinds."""
    step = WORKLOADS[name][1]()
    kinds = ["off", "recorded", *(["profiled"] if name == "ppo" else [])]
    for _ in range(_WARM_UP):
        for kind in kinds:
            spent_ns(step, kind)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        random.shuffle(kinds)
        print(json.dumps({kind: spent_ns(step, kind) for kind in kinds}), flush=True)


def measure(name: str, seconds: float) -> dict[str, Any]:
    """Percent that blocks of each kind took more than those with recording stopped."""
    with tempfile.TemporaryDirectory(prefix="layers-") as folder:
        traced = make_traced_python(Path(folder) / "venv")
        program = [traced.python, str(Path(__file__).resolve()), "--turns", name, str(seconds)]
        command = traced.command("-o", os.path.join(folder, "run"), "--", *program)
        environ = untraced_environment()
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=True)
    turns = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    added = {
        kind: median_interval([100 * (turn[kind] / turn["off"] - 1) for turn in turns])
        for kind in turns[0]
        if kind != "off"
    }
    return {"added_percent": added, "target_percent": WORKLOADS[name][2], "said": done.stderr}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", nargs="*", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--output", default="build/benchmarks/layers.json")
    parser.add_argument("--turns", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turns:
        take_turns(options.turns[0], float(options.turns[1]))
        return
    results = {}
    for name in options.only:
        if importlib.util.find_spec(WORKLOADS[name][0]) is None:
            continue
        results[name] = measure(name, options.seconds)
        for kind, row in results[name]["added_percent"].items():
            interval = f"[{row['low']:+.2f}, {row['high']:+.2f}]"
            print(f"{name:10} {kind:9} {row['median']:+6.2f} % {interval}")
    write_result(options.output, results)


if __name__ == "__main__":
    main()
