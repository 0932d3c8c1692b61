#include "cupti/connection.h"

#include <atomic>
#include <csignal>

#include "cupti/settings.h"
#include "cupti/status.h"

namespace simcuda {
namespace {

// Numbers of releases.
constexpr uint32_t k12_2 = 20;
constexpr uint32_t k13_0 = 130000;
constexpr uint32_t k13_2 = 130200;
constexpr uint32_t k13_3 = 130300;

std::atomic<bool> tried{false};

uint32_t Number() { return GetSettings().version->number; }

bool IsConnected() { return FindCore() != nullptr && !GetSettings().refuses_connection; }

int Refusal() { return Number() < k13_0 ? kCuptiNotInitialized : kCuptiUnknown; }

}  // namespace

int Enter() {
  if (Number() < k13_2 || IsConnected()) return kCuptiSuccess;
  if (Number() < k13_3) raise(SIGSEGV);
  return kCuptiUnknown;
}

int Connect() {
  tried = true;
  if (!IsConnected()) return Refusal();
  return FindCore()->forked() ? kCuptiNotInitialized : kCuptiSuccess;
}

bool IsDriverPresent() { return FindCore() != nullptr; }

void ExpectTry() {
  const bool expects = Number() >= k12_2 && Number() < k13_0;
  if (expects && !tried && !IsConnected()) raise(SIGSEGV);
}

}  // namespace simcuda
