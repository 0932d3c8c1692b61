"""Workers of multiprocessing by a start method, or of subprocess: processes.py METHOD [kill]"""

import multiprocessing
import subprocess
import sys

import work


def start(method: str, kill: bool) -> None:
    context = multiprocessing.get_context(method)
    workers = [
        context.Process(target=work.run, args=(worker,), kwargs={"kill": kill})
        for worker in range(work.WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def start_subprocesses(kill: bool) -> None:
    code = f"import sys, work; work.run(int(sys.argv[1]), kill={kill})"
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(worker)], cwd=sys.path[0])
        for worker in range(work.WORKERS)
    ]
    for worker in workers:
        worker.wait()


if __name__ == "__main__":
    if sys.argv[1] == "subprocess":
        start_subprocesses("kill" in sys.argv)
    else:
        start(sys.argv[1], "kill" in sys.argv)
