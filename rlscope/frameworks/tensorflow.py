"""TensorFlow 2: everything below the folder of `tensorflow`.

Its entry points are the pybind11 modules tensorflow/python/**/_pywrap_*.so (eager execution,
tf.function, gradient tapes) and tensorflow/lite; the code behind them is
libtensorflow_cc.so.2 and libtensorflow_framework.so.2 of the same folder. Keras 3 is pure Python
and so layer python; the code that it runs is TensorFlow's.
"""

from rlscope.capture.library import Library

LIBRARY = Library(["tensorflow"])
