"""What the layers benchmark runs: training loops and env.step in short blocks, each the same work
every time as far as the library allows it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_PPO_STEPS = 4


@dataclass(frozen=True)
class Block:
    """A piece of work of about a millisecond: the machine's speed wanders, and pieces that are to
    be compared must be over before it does."""

    run: Callable[[], Any]
    prepare: Callable[[], Any] = lambda: None
    """Puts the state back to where the block begins; not measured."""
    times: int = 1
    """How often the work consists of it."""


def ppo() -> list[Block]:
    """An iteration of 4 steps of 8 environments and one update: as many updates per step as the
    workload has by default, on batches an eighth as large, so that native calls are denser."""
    import torch

    from rlscope.workloads import ppo_cartpole

    torch.set_num_threads(1)
    short = {"num_steps": _PPO_STEPS, "update_epochs": 1, "num_minibatches": 1}
    args = ppo_cartpole.Args(annotate=False, print_every=0, **short)
    trainer = ppo_cartpole.Trainer(args)
    trainer.collect()

    def use_steps(steps: int) -> Callable[[], None]:
        return lambda: setattr(args, "num_steps", steps)

    return [
        Block(trainer.collect, use_steps(1), times=_PPO_STEPS),
        Block(trainer.learn, use_steps(_PPO_STEPS)),
    ]


def environment(name: str, steps: int) -> list[Block]:
    """The first steps of an episode, again and again."""
    import gymnasium as gym

    env = gym.make(name)
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(steps)]

    def run() -> None:
        for action in actions:
            env.step(action)

    return [Block(run, lambda: env.reset(seed=1))]


def atari(name: str) -> list[Block]:
    """Steps of one long episode: a reset takes as long as a hundred of them."""
    import ale_py
    import gymnasium as gym

    gym.register_envs(ale_py)
    env = gym.make(name, max_episode_steps=1_000_000)
    env.action_space.seed(1)
    over = True

    def begin() -> None:
        nonlocal over
        if over:
            env.reset(seed=1)
        over = False

    def run() -> None:
        nonlocal over
        for action in range(4):
            over |= env.step(action)[2]

    return [Block(run, begin)]


def pybullet_world() -> list[Block]:
    """A reinforcement learning step as the Gymnasium environments of pybullet make it: four
    simulation steps, then where each body is."""
    import pybullet

    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -10)
    ground = pybullet.createCollisionShape(pybullet.GEOM_PLANE)
    box = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3)
    pybullet.createMultiBody(0, ground)
    bodies = [pybullet.createMultiBody(1, box, basePosition=[0, 0, 0.2 * i]) for i in range(1, 11)]
    start = pybullet.saveState()

    def run() -> None:
        for _ in range(3):
            for _ in range(4):
                pybullet.stepSimulation()
            for body in bodies:
                pybullet.getBasePositionAndOrientation(body)

    return [Block(run, lambda: pybullet.restoreState(start))]


def tensorflow() -> list[Block]:
    """An eager step of a small network under Keras' Adam."""
    import tensorflow as tf

    x = tf.ones((16, 16))
    weights = [tf.Variable(tf.ones((16, 32)) * 0.01), tf.Variable(tf.ones((32, 4)) * 0.01)]
    optimizer = tf.keras.optimizers.Adam(1e-3)

    def run() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1]) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    return [Block(run)]


def jax() -> list[Block]:
    """Ten jitted updates of a small network."""
    import jax
    import jax.numpy as jnp

    x, weights = jnp.ones((64, 16)), [jnp.ones((16, 16)), jnp.ones((16, 4))]

    @jax.jit
    def update(weights: Any) -> Any:
        gradients = jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w[0]) @ w[1]) ** 2))(weights)
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients)

    def run() -> None:
        new = weights
        for _ in range(10):
            new = update(new)
        jax.block_until_ready(new)

    return [Block(run)]


@dataclass(frozen=True)
class Workload:
    module: str
    """What must be installed."""
    make: Callable[[], list[Block]]
    target_percent: float
    """What recording may add to the CPU time of the thread."""


WORKLOADS = {
    "ppo": Workload("torch", ppo, 1.5),
    "mujoco": Workload("mujoco", lambda: environment("HalfCheetah-v5", 15), 1.5),
    "box2d": Workload("Box2D", lambda: environment("LunarLander-v3", 20), 1.5),
    "ale": Workload("ale_py", lambda: atari("ALE/Pong-v5"), 0.5),
    "pybullet": Workload("pybullet", pybullet_world, 0.5),
    "tensorflow": Workload("tensorflow", tensorflow, 2.5),
    "jax": Workload("jaxlib", jax, 2.5),
}
