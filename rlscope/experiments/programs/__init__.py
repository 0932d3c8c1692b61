"""The experiments. Each file is read by runner.py in another interpreter, so it imports nothing of
rlscope.

    def make(settings: dict, largest: Callable) -> tuple[Callable, Callable]:
        the program's way, the advised way; runner.largest() finds a size
"""
