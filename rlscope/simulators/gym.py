"""gym 0.26 and older: like gymnasium pure Python, with native packages that only it used.

atari_py (its bindings are ctypes, which is not intercepted: see docs/guide/layers.md) and
mujoco_py, a Cython module that is compiled on the user's machine into mujoco_py/generated.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["gym", "mujoco_py", "atari_py"])
