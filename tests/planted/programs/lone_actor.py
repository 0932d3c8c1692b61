"""One actor of slow episodes fills a queue for a quick learner; or three do."""

import argparse
import multiprocessing as mp
import time

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--actors", type=int, default=1)
parser.add_argument("--updates", type=int, default=80)
options = parser.parse_args()


class Simulator:
    """Answers after a while, as a device would."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self, *, seed=None):
        return self.rng.normal(size=8), {}

    def step(self, action):
        time.sleep(0.001)
        return self.rng.normal(size=8), float(action), False, False, {}


class Actor(mp.Process):
    def __init__(self, seed, outbox):
        super().__init__(daemon=True)
        self.seed, self.outbox = seed, outbox

    def run(self):
        rng = np.random.default_rng(self.seed)
        env = Simulator(rng)
        state, _ = env.reset()
        while True:
            rows = []
            for _ in range(20):
                state, reward, *_ = env.step(state[0])
                rows.append(np.append(state, reward))
            self.outbox.put(np.stack(rows))


class Learner:
    def __init__(self, inbox):
        self.inbox, self.weights = inbox, np.zeros(8)

    def update(self):
        rows = self.inbox.get()  # planted
        for _ in range(150):
            error = rows[:, :8] @ self.weights - rows[:, 8]
            self.weights -= 0.01 * error @ rows[:, :8] / len(rows)


if __name__ == "__main__":
    queue = mp.Queue(maxsize=4)
    actors = [Actor(seed, queue) for seed in range(options.actors)]
    for actor in actors:
        actor.start()
    learner = Learner(queue)
    learner.update()
    began = stopwatch.now()
    for _ in range(options.updates):
        learner.update()
    print(f"loop {stopwatch.now() - began:.6f}", flush=True)
    for actor in actors:
        actor.kill()
