"""The Arcade Learning Environment (ale-py): everything below the folder of `ale_py`.

One nanobind module, ale_py/_ale_py*.so, holds the interface and the emulator. Its functions are
no builtins but objects with a vectorcall pointer of their own.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["ale_py"])
