"""Box2D (box2d, box2d-py): everything below the folder of `Box2D`.

SWIG's one module, Box2D/_Box2D*.so, with the physics inside it. The classes of Box2D/Box2D.py
around it are Python and stay layer python. Contact listeners are called back from the physics:
their time is Python again.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["Box2D"])
