"""_pickle: what multiprocessing sends through pipes and queues, and environments in vectors return
to the program. cloudpickle and torch.save call it, too."""

FUNCTIONS = ("dump", "dumps", "load", "loads", "Pickler.dump", "Unpickler.load")
