"""NumPy, when asked for (`rls-prof --numpy`): the shared objects below the folder of `numpy`.

It is not watched otherwise: environments, replay buffers and frameworks all call it in small
pieces, 6 to 26 ns are added to each, and to most readers it is part of the Python program.

Number slots are left alone (csrc/native_calls knows): numpy's BINOP_IS_FORWARD compares their
addresses to find out which operand a binary operator belongs to, so replacing them would change
what it computes. Operators on arrays (a + b) therefore stay layer python; np.add(a, b), indexing
and methods of arrays are seen.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["numpy"])
