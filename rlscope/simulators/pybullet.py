"""PyBullet: one extension module beside the packages, pybullet*.so, physics and renderer included.

Its neighbours in site-packages are other people's, so the file belongs to the layer and not its
folder. eglRenderer is loaded as a plug-in of its own.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["pybullet"], files=["*/eglRenderer*.so"])
