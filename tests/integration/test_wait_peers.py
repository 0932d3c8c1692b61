"""Which process a wait is for: processes that share semaphores, locks and queues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import roles, waits
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

# Both processes have a semaphore for each direction, and a third process has none of them.
_SEMAPHORES = """
import multiprocessing, sys, time
import rlscope as rls

def serve(asked, answered):
    rls.process("server")
    for _ in range(10):
        asked.acquire()
        time.sleep(0.01)
        answered.release()

def stand_by(mine):
    rls.process("bystander")
    mine.release()
    with mine:
        time.sleep(0.05)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    asked, answered, mine = (context.Semaphore(0) for _ in range(3))
    server = context.Process(target=serve, args=(asked, answered))
    bystander = context.Process(target=stand_by, args=(mine,))
    server.start()
    bystander.start()
    with rls.operation("ask"):
        for _ in range(10):
            asked.release()
            answered.acquire()
    server.join()
    bystander.join()
"""

_SHARED = """
import multiprocessing, time
import rlscope as rls

def hold(lock):
    for _ in range(20):
        with lock:
            time.sleep(0.005)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    lock = context.Lock()
    workers = [context.Process(target=hold, args=(lock,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""

_QUEUE = """
import multiprocessing, sys, time
import rlscope as rls

def produce(queue):
    rls.process("producer")
    for number in range(20):
        time.sleep(0.01)
        queue.put(number)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    producer = context.Process(target=produce, args=(queue,))
    producer.start()
    with rls.operation("take"):
        for _ in range(20):
            queue.get()
    producer.join()
"""

_FULL_QUEUE = """
import multiprocessing, time
import rlscope as rls

def consume(queue):
    rls.process("consumer")
    for _ in range(20):
        time.sleep(0.01)
        queue.get()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue(maxsize=1)
    consumer = context.Process(target=consume, args=(queue,))
    consumer.start()
    with rls.operation("put"):
        for number in range(20):
            queue.put(number)
    consumer.join()
"""


# A learner takes from a queue between its operations. The threads of its own queues idle.
_TWO_WRITERS = """
import multiprocessing, time
import rlscope as rls

def produce(number, tasks, results):
    rls.process(f"producer {number}")
    while tasks.get() is not None:
        time.sleep(0.01)
        results.put(number)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    tasks, results = [context.Queue() for _ in range(2)], context.Queue()
    for number, own in enumerate(tasks):
        context.Process(target=produce, args=(number, own, results)).start()
        own.put(0)
    for _ in range(40):
        number = results.get()
        with rls.operation("learning"):
            sum(range(10_000))
        tasks[number].put(0)
    for own in tasks:
        own.put(None)
"""

# Two actors send to a learner, and one is slow. The learner reads its clock around its waits.
_ACTORS = """
import json, multiprocessing, time
import rlscope as rls

def act(number, results, stop):
    rls.process(f"actor {number}")
    while not stop.is_set():
        for _ in range(5):
            with rls.operation("simulation"):
                time.sleep(0.002 + 0.01 * number)
        with rls.operation("send"):
            results.put(number)
    results.cancel_join_thread()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    results, stop = context.Queue(maxsize=2), context.Event()
    actors = [context.Process(target=act, args=(n, results, stop)) for n in range(2)]
    for actor in actors:
        actor.start()
    waited, began = 0, time.perf_counter_ns()
    for _ in range(60):
        rls.iteration()
        with rls.operation("receive"):
            start = time.perf_counter_ns()
            results.get()
            waited += time.perf_counter_ns() - start
        with rls.operation("learning"):
            sum(range(10_000))
    whole = time.perf_counter_ns() - began
    stop.set()
    for actor in actors:
        actor.join(5)
        actor.terminate()
    print(json.dumps([waited, whole]))
"""

# Offline training from a slow disk: the program reads its clock around the next batch.
_LOADER = """
import json, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Replay(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, at):
        time.sleep(0.002)
        return torch.full((16,), float(at)), torch.zeros(4)

if __name__ == "__main__":
    torch.set_num_threads(1)
    loader = DataLoader(
        Replay(), batch_size=32, num_workers=2, persistent_workers=True,
        multiprocessing_context=sys.argv[1],
    )
    net = torch.nn.Linear(16, 4)
    optimizer = torch.optim.SGD(net.parameters(), 1e-6)
    waited = 0
    for _ in range(3):
        batches = iter(loader)
        while True:
            start = time.perf_counter_ns()
            batch = next(batches, None)
            waited += time.perf_counter_ns() - start
            if batch is None:
                break
            loss = (net(batch[0]) - batch[1]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(json.dumps(waited))
"""

# Rollouts in a pool, whose thread takes the results for the main thread.
_POOL = """
import multiprocessing, time
import rlscope as rls

def roll_out(number):
    time.sleep(0.02)
    return number

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for _ in range(10):
            with rls.operation("learning"):
                sum(range(10_000))
            pool.map(roll_out, range(4), chunksize=1)
        with rls.operation("learning"):
            sum(range(10_000))
"""


def _run(
    traced: TracedPython, directory: str, folder: Path, program: str, *arguments: str
) -> list[dict[str, Any]]:
    """The rows of `wait` with the names of processes."""
    traced.record(directory, folder / "program.py", program, *arguments)
    with rls.load(directory) as trace:
        return trace.sql("""
            SELECT wait.*, own.name AS process, peer.name AS peer FROM wait
            JOIN process AS own USING (process_id)
            LEFT JOIN process AS peer ON peer.process_id = wait.peer_process_id
            ORDER BY duration_ns DESC""").to_dicts()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_other_process_that_uses_a_semaphore_is_waited_for(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    rows = _run(traced, directory, tmp_path, _SEMAPHORES, method)
    waits = [row for row in rows if row["kind"] == "semaphore"]
    asked = next(row for row in waits if row["operation"] == "ask")
    assert asked["peer"] == "server"
    assert asked["count"] >= 10
    assert asked["duration_ns"] >= 5e7  # the server sleeps for 0.1 s in all
    served = next(row for row in waits if row["process"] == "server")
    assert served["peer_process_id"] == asked["process_id"]
    assert {row["peer"] for row in waits if row["process"] == "bystander"} == {None}


def test_a_lock_of_several_processes_has_no_single_peer(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    rows = _run(traced, directory, tmp_path, _SHARED)
    waits = [row for row in rows if row["kind"] == "semaphore"]
    assert len({row["process_id"] for row in waits}) == 3
    assert len({row["object"] for row in waits}) == 1
    assert {row["peer_process_id"] for row in waits} == {None}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_who_takes_from_a_queue_waits_for_who_puts(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    rows = _run(traced, directory, tmp_path, _QUEUE, method)
    longest = next(row for row in rows if row["operation"] == "take")
    assert (longest["kind"], longest["peer"]) == ("pipe", "producer")


def test_who_puts_into_a_full_queue_waits_for_who_takes(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    rows = _run(traced, directory, tmp_path, _FULL_QUEUE)
    longest = next(row for row in rows if row["operation"] == "put")
    assert (longest["kind"], longest["peer"]) == ("semaphore", "consumer")


def test_all_writers_of_a_queue_are_waited_for_and_idle_threads_say_nothing(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    traced.record(directory, tmp_path / "program.py", _TWO_WRITERS)
    with rls.load(directory) as trace:
        targets = waits.waited_for(trace).to_dicts()
        sentence = headline.read(trace).sentence
    between = [row for row in targets if (row["stage"], row["operation"]) == ("loop", "(none)")]
    longest = between[0]
    assert longest["peers"] == 2
    assert (longest["name"], longest["last_name"]) == ("producer 0", "producer 1")
    idle = [row for row in between if row["kind"] == "thread"]
    # Those threads wait during all of the run, but the main thread never waits for them.
    assert sum(row["self_ns"] for row in idle) < longest["self_ns"] / 2
    _, _, waiting = sentence.partition("waiting")
    assert "producer 0 and producer 1" in waiting


def test_a_thread_that_waits_for_a_pool_explains_the_waits_for_it(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    traced.record(directory, tmp_path / "program.py", _POOL)
    with rls.load(directory) as trace:
        beside = {row["stage"]: row for row in waits.waited_beside(trace).to_dicts()}
        sentence = headline.read(trace).sentence
    loop = beside["loop"]
    assert (loop["name"], loop["last_name"]) == ("pool worker 0", "pool worker 1")
    assert loop["self_ns"] >= 10 * 20_000_000
    _, _, waiting = sentence.partition("mostly for ")
    assert waiting == "pool worker 0 and pool worker 1, by way of another thread."


def test_a_learner_that_starves_is_first_and_its_slow_actor_is_named(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    waited, whole = json.loads(traced.record(directory, tmp_path / "program.py", _ACTORS))
    with rls.load(directory) as trace:
        learner, actors = roles.role_loops(trace).to_dicts()
        read = headline.read(trace)
        iterations = waits.critical_iterations(trace).to_dicts()
    # The stopwatch also counts unpickling, and time without a core.
    assert waited / 2 <= learner["waited_ns"] <= waited
    assert learner["loop_ns"] <= whole
    assert learner["processes"] == 1
    assert (learner["target_name"], learner["target_last_name"]) == ("actor 0", "actor 1")
    assert (actors["family"], actors["processes"]) == ("actor", 2)
    assert read.sentence.startswith("program.py waits for actor 0 and actor 1 ")
    (straggler,) = (each.text for each in read.details if "straggler" in each.text)
    assert straggler.startswith("actor 1 ") and "simulation" in straggler
    assert {row["process"] for row in iterations} == {"program.py"}
    # Each is rounded to the nearest nanosecond.
    rounded_ns = len(iterations) / 2
    assert sum(row["waited_ns"] for row in iterations) <= learner["waited_ns"] + rounded_ns


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_loop_that_waits_for_its_batches_waits_for_the_loader_workers(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    """A thread of the main process reads the pipe for its queue: nobody waits for that thread."""
    measured = json.loads(traced.record(directory, tmp_path / "program.py", _LOADER, method))
    with rls.load(directory) as trace:
        targets = waits.waited_for(trace).to_dicts()
        sentence = headline.read(trace).sentence
    taken = [row for row in targets if row["operation"] == "replay" and row["stage"] == "loop"]
    awaited = [row for row in taken if row["family"] == "data loader"]
    names = {(row["name"], row["last_name"]) for row in awaited}
    assert names == {("data loader 0", "data loader 1")}
    assert measured / 2 <= sum(row["self_ns"] for row in awaited) <= measured
    assert sentence.startswith("Replay takes ") and sentence.endswith(
        "mostly for 2 data loader workers."
    )
