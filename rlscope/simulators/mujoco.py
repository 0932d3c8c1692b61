"""MuJoCo: everything below the folder of `mujoco`.

Eight pybind11 modules (mujoco/_functions*.so, _structs*.so, ...) over libmujoco.so in the same
folder; dm_control and Gymnasium call these. Reading a field of the data (data.qpos) is a call too.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["mujoco"])
