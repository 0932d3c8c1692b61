// The process image as the drainer sees it: the run's control page, this image's process page, and
// its arena of names, threads and metadata. Opened at the first event, not before.
#ifndef RLSCOPE_RUNTIME_IMAGE_H_
#define RLSCOPE_RUNTIME_IMAGE_H_

#include <limits.h>
#include <stdint.h>

#include "runtime/names.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

constexpr int kImageNameBytes = 64;  // "<pid>.<start_time>.<began_ns>"
constexpr int kRingsPathBytes = PATH_MAX + 16;

struct Image {
  trace::ControlPage* control;  // null: no image is open
  trace::ProcessPage* page;
  char rings[kRingsPathBytes];  // folder of the process page, arenas and rings
  char name[kImageNameBytes];
};

// Zero while no image is open. Members need process_lock; without it use the next two.
extern Image image;

// The run's and the image's page as any thread may read them, null while no image is open: another
// thread may close it at any instant. The page itself stays mapped (until a fork).
inline trace::ControlPage* SharedControl() {
  return __atomic_load_n(&image.control, __ATOMIC_ACQUIRE);
}
inline trace::ProcessPage* SharedPage() { return __atomic_load_n(&image.page, __ATOMIC_ACQUIRE); }

// Whether the process may still change what its drainer sees: from OpenImage() to the exit path or
// the end of the session, after which a new file would be left behind. Needs process_lock.
bool IsImageOpen();

// Opens the image if there is none: maps the control page, creates the process page with the clock
// pair and all names, appends the kForked record of a fork child. False: this process cannot
// record (and the state is RLSCOPE_OFF). Needs process_lock.
bool OpenImage();

// Forgets the image. Its two mappings stay (a fork child has none): another thread may be looking
// at them, and 68 KiB per session do not matter.
void CloseImage();

// Appends an entry to the arena, in a further file when this one is full. False: no room, counted
// by the caller, or no image. Needs process_lock.
bool AppendEntry(trace::EntryKind kind, uint16_t flags, uint32_t id, uint32_t aux, const char* text,
                 uint64_t length);

// Publishes a name in the arena. False as AppendEntry().
bool PublishName(const Name& name);

// The same of a function of call sites and of a stack, by number. What does not fit is counted.
void PublishSiteFunction(uint32_t number);
void PublishSiteStack(uint32_t number);

// <rings>/<image>.<number>.<suffix> into path, which holds kRingsPathBytes + kImageNameBytes + 32.
constexpr int kImagePathBytes = kRingsPathBytes + kImageNameBytes + 32;
void MakeImagePath(char* path, uint32_t number, const char* suffix);

// Tells the drainer where the interpreter keeps its stacks, if that is known.
void ShowInterpreter(trace::ProcessPage* page);

// Announces a new file to the drainer (also wakes it).
void AnnounceFile();

// Wakes the drainer.
void WakeDrainer();

inline void CountLoss(trace::Loss loss, uint64_t count) {
  trace::ProcessPage* page = SharedPage();
  if (page != nullptr) __atomic_fetch_add(trace::LossCount(page, loss), count, __ATOMIC_RELAXED);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_IMAGE_H_
