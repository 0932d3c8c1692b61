"""PettingZoo: its environments are Python and so layer python; their physics and emulators are not.

multi_agent_ale_py is the emulator of its Atari family, pymunk (with the Chipmunk library, through
cffi) the physics of its butterfly family, magent2 a C++ battle simulator.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["pettingzoo", "multi_agent_ale_py", "pymunk", "magent2"])
