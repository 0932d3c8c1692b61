// The name that Python gives a thread, for the trace.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_THREAD_NAME_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_THREAD_NAME_H_

namespace rlscope::python {

// Gives the recorder the threading.Thread name of the calling thread. Does nothing where
// `threading` is not imported or does not know the thread. No exception may be pending. Once per
// thread, at its first record.
void NameThread();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_THREAD_NAME_H_
