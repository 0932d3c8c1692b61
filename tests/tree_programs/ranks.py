"""A rank of torchrun, with gloo: ranks.py [kill]"""

import os
import sys

import torch.distributed as dist
import work

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support.process import gloo_threads

if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, kill = int(os.environ["RANK"]), "kill" in sys.argv
    if kill and rank == 0:  # after that torchrun ends the other one
        dist.barrier()
        work.run(rank, kill=True)
    work.run(rank, kill=kill)
    dist.barrier()
    dist.destroy_process_group()
    gloo_threads.wait_until_idle()
