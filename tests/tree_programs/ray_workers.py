"""Actors or tasks of Ray: ray_workers.py actors|tasks [kill]"""

import contextlib
import sys

import ray
import work


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


if __name__ == "__main__":
    kill = "kill" in sys.argv
    ray.init(num_cpus=work.WORKERS, include_dashboard=False)
    results = {"actors": results_of_actors, "tasks": results_of_tasks}[sys.argv[1]](kill)
    if kill:
        with contextlib.suppress(ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError):
            ray.get(results.pop(0))
    ray.get(results)
