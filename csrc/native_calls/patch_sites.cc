#include "native_calls/patch_sites.h"

namespace rlscope::native_calls {

PatchSites::PatchSites() : first_of_stub_(kStubs, kEnd) {}

void PatchSites::Add(void** location, void* original, void* stored, PyObject* keep, Access access) {
  const Site site = {location, original, stored, keep, access, true, kEnd};
  const auto [found, is_new] = number_of_.emplace(location, static_cast<uint32_t>(sites_.size()));
  const uint32_t number = found->second;
  if (is_new) {
    sites_.push_back(site);
  } else {
    Unlink(number);
    if (sites_[number].in_force) TakeOut(&sites_[number]);
    sites_[number] = site;
  }
  Link(number);
  ++*CountOf(site);
}

const Site* PatchSites::Find(void** location) const {
  const auto found = number_of_.find(location);
  return found == number_of_.end() ? nullptr : &sites_[found->second];
}

void PatchSites::Redirect(uint32_t from, uint32_t to) {
  for (uint32_t number = first_of_stub_[from]; number != kEnd; number = sites_[number].next) {
    Site* site = &sites_[number];
    site->stored = StubAt(to);
    if (site->in_force) StorePointer(site->location, StubAt(from), StubAt(to), site->access);
  }
  first_of_stub_[to] = first_of_stub_[from];
  first_of_stub_[from] = kEnd;
}

void PatchSites::Switch(bool to_stubs) {
  for (const Site& site : sites_) {
    if (!site.in_force || !IsStub(site.stored)) continue;
    void* now = to_stubs ? site.original : site.stored;
    void* then = to_stubs ? site.stored : site.original;
    StorePointer(site.location, now, then, site.access);
  }
}

size_t PatchSites::RestoreAll(std::vector<PyObject*>* released) {
  size_t restored = 0;
  for (Site& site : sites_) {
    if (!site.in_force) continue;
    if (StorePointer(site.location, site.stored, site.original, site.access)) {
      ++restored;
    } else if (__atomic_load_n(site.location, __ATOMIC_ACQUIRE) == site.stored) {
      continue;  // the kernel refused
    }
    if (site.keep != nullptr) released->push_back(site.keep);
    TakeOut(&site);
  }
  return restored;
}

PyObject* PatchSites::Forget(void** location) {
  const auto found = number_of_.find(location);
  if (found == number_of_.end() || !sites_[found->second].in_force) return nullptr;
  Site* site = &sites_[found->second];
  PyObject* keep = site->keep;
  TakeOut(site);
  return keep;
}

void PatchSites::TakeOut(Site* site) {
  --*CountOf(*site);
  site->keep = nullptr;
  site->in_force = false;
}

uint64_t* PatchSites::CountOf(const Site& site) {
  return IsStub(site.stored) ? &stubs_in_force_ : &replacements_in_force_;
}

void PatchSites::Link(uint32_t number) {
  Site* site = &sites_[number];
  if (!IsStub(site->stored)) return;
  uint32_t* first = &first_of_stub_[IndexOf(site->stored)];
  site->next = *first;
  *first = number;
}

void PatchSites::Unlink(uint32_t number) {
  const Site& site = sites_[number];
  if (!IsStub(site.stored)) return;
  uint32_t* link = &first_of_stub_[IndexOf(site.stored)];
  while (*link != number) link = &sites_[*link].next;
  *link = site.next;
}

}  // namespace rlscope::native_calls
