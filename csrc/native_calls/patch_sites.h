// The patched pointers that are remembered. Not synchronised: patch.cc's lock guards it.
#ifndef RLSCOPE_NATIVE_CALLS_PATCH_SITES_H_
#define RLSCOPE_NATIVE_CALLS_PATCH_SITES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include <unordered_map>
#include <vector>

#include "native_calls/page_access.h"
#include "native_calls/stub_pool.h"

namespace rlscope::native_calls {

struct Site {
  void** location;
  void* original;
  void* stored;    // a stub or a replacement
  PyObject* keep;  // strong reference, or null
  Access access;
  bool in_force;  // false after it was taken out: the location may be gone
  uint32_t next;  // further site of the same stub
};

class PatchSites {
 public:
  PatchSites();

  // A pointer that was just stored; takes over the reference. One in force at that location is
  // forgotten, and its reference is the caller's.
  void Add(void** location, void* original, void* stored, PyObject* keep, Access access);

  // The site of a location, also of one that was taken out; null if there never was one.
  const Site* Find(void** location) const;

  // Every place of the stub gets another one.
  void Redirect(uint32_t from, uint32_t to);

  // Puts back the originals of the stubs in force, or the stubs again, wherever the pointer is
  // still the other of the two. The sites stay in force.
  void Switch(bool to_stubs);

  // Puts the original back where the pointer is still ours, and hands over the references. Counts
  // the pointers restored; one that the kernel keeps as it is stays in force.
  size_t RestoreAll(std::vector<PyObject*>* released);
  // The same for one place: its reference or null.
  PyObject* Forget(void** location);

  uint64_t stubs_in_force() const { return stubs_in_force_; }
  uint64_t replacements_in_force() const { return replacements_in_force_; }

 private:
  static constexpr uint32_t kEnd = UINT32_MAX;
  void Link(uint32_t number);
  void Unlink(uint32_t number);
  void TakeOut(Site* site);
  uint64_t* CountOf(const Site& site);

  std::vector<Site> sites_;
  std::unordered_map<void**, uint32_t> number_of_;
  std::vector<uint32_t> first_of_stub_;
  uint64_t stubs_in_force_ = 0;
  uint64_t replacements_in_force_ = 0;
};

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_PATCH_SITES_H_
