// Which pages of loaded libraries are read-only, and stores into them.
#ifndef RLSCOPE_NATIVE_CALLS_PAGE_ACCESS_H_
#define RLSCOPE_NATIVE_CALLS_PAGE_ACCESS_H_

namespace rlscope::native_calls {

enum class Access {
  kWritable,  // also all memory outside of libraries
  kReadOnly,  // a read-only segment, or what the loader made read-only after relocation (RELRO)
  kText,      // shares its pages with code, which other threads may be running: never opened
};

// Asks the loader, at the price of a lock (60 ns), and looks at every library again when one was
// loaded.
Access AccessOf(const void* location);

// Replaces *location by `value` if it is still `expected`, in one atomic step; a read-only page is
// made writable for it and read-only again. False: it was something else, or the kernel refused.
bool StorePointer(void** location, void* expected, void* value, Access access);

// Whether the kernel lets a process make a read-only page of its own writable.
bool CanOpenPages();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_PAGE_ACCESS_H_
