"""Gymnasium: no shared object of its own, so its environments and wrappers are layer python.

Their native parts are other packages with rows of their own (Box2D, mujoco, ale_py). The folder is
watched all the same: an environment of it that is one day compiled is a simulator.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["gymnasium"])
