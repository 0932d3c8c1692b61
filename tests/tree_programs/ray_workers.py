"""Actors or tasks of Ray: ray_workers.py actors|tasks [--kill] [--address ADDRESS [--recorded]]

ADDRESS is that of a cluster that runs already; --recorded: its workers are to be in the trace.
"""

import argparse
import contextlib
import os

import ray
import work

from rlscope.integrations.ray import runtime_env


@ray.remote(num_cpus=1)
class Actor:
    def run(self, worker: int, kill: bool) -> None:
        work.run(worker, kill=kill)


@ray.remote(num_cpus=1, max_retries=0)
def task(worker: int, kill: bool) -> None:
    work.run(worker, kill=kill)


def results_of_actors(kill: bool) -> list[ray.ObjectRef]:
    actors = [Actor.remote() for _ in range(work.WORKERS)]
    return [actor.run.remote(worker, kill) for worker, actor in enumerate(actors)]


def results_of_tasks(kill: bool) -> list[ray.ObjectRef]:
    return [task.remote(worker, kill) for worker in range(work.WORKERS)]


def connect(address: str, recorded: bool) -> None:
    """The workers of a cluster inherit nothing: neither the folder of counts nor this one."""
    own = {"TREE_COUNTS": os.environ["TREE_COUNTS"], "PYTHONPATH": os.path.dirname(__file__)}
    environment = {"env_vars": own}
    ray.init(address, runtime_env=runtime_env(environment) if recorded else environment)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("actors", "tasks"))
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--address")
    parser.add_argument("--recorded", action="store_true")
    options = parser.parse_args()
    if options.address:
        connect(options.address, options.recorded)
    else:
        ray.init(num_cpus=work.WORKERS, include_dashboard=False)
    results = {"actors": results_of_actors, "tasks": results_of_tasks}[options.kind](options.kill)
    if options.kill:
        with contextlib.suppress(ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError):
            ray.get(results.pop(0))
    ray.get(results)
