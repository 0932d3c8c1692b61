"""EnvPool: everything below the folder of `envpool`.

One pybind11 module for each family of environments (envpool/atari/atari_envpool.so, ...), with the
simulators inside it. They run on C++ threads of their own, which are layer none; what a Python
thread spends in recv() and step(), waiting for them, is layer simulator.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["envpool"])
