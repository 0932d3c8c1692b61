// For assembler and C++.
#ifndef RLSCOPE_NATIVE_CALLS_STUB_COUNT_H_
#define RLSCOPE_NATIVE_CALLS_STUB_COUNT_H_

// torch has about 16,700 places with a function of its own, TensorFlow and JAX 4,000 more.
#define RLSCOPE_STUBS 32768

#endif  // RLSCOPE_NATIVE_CALLS_STUB_COUNT_H_
