#include "core/host_functions.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "core/clock.h"
#include "core/interface.h"

namespace simcuda {
namespace {

struct Due {
  uint32_t context;
  uint32_t stream;
  std::function<void()> function;
};

class Caller {
 public:
  void Add(uint64_t time_ns, Due due) {
    std::lock_guard<std::mutex> guard(lock_);
    due_.emplace(time_ns, std::move(due));
    if (!started_) Start();
    changed_.notify_all();
  }

  void Wait(uint64_t time_ns, uint32_t context, uint32_t stream) {
    std::unique_lock<std::mutex> guard(lock_);
    if (!started_ || std::this_thread::get_id() == thread_) return;
    changed_.wait(guard, [&] { return !Pending(time_ns, context, stream); });
  }

 private:
  bool Pending(uint64_t time_ns, uint32_t context, uint32_t stream) const {
    for (const auto& [at_ns, due] : due_) {
      if (at_ns > time_ns) break;
      if (due.context == context && (stream == kNoId || due.stream == stream)) return true;
    }
    return false;
  }

  // The program's signals are its own threads' business.
  void Start() {
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    std::thread thread([this] { Run(); });
    thread_ = thread.get_id();
    pthread_setname_np(thread.native_handle(), "simcuda-host");
    thread.detach();
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    started_ = true;
  }

  void Run() {
    std::unique_lock<std::mutex> guard(lock_);
    while (true) {
      if (due_.empty()) {
        changed_.wait(guard);
        continue;
      }
      auto first = due_.begin();
      uint64_t now_ns = NowNs();
      if (first->first > now_ns) {
        changed_.wait_for(guard, std::chrono::nanoseconds(first->first - now_ns));
        continue;
      }
      // It stays listed while it runs: a synchronisation must find it.
      guard.unlock();
      first->second.function();
      guard.lock();
      due_.erase(first);
      changed_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::multimap<uint64_t, Due> due_;
  std::thread::id thread_;
  bool started_ = false;
};

Caller& TheCaller() {
  static Caller& caller = *new Caller;  // its thread runs until the process ends
  return caller;
}

}  // namespace

void CallAt(uint64_t time_ns, uint32_t context, uint32_t stream, std::function<void()> function) {
  TheCaller().Add(time_ns, {context, stream, std::move(function)});
}

void WaitForHostFunctions(uint64_t time_ns, uint32_t context, uint32_t stream) {
  TheCaller().Wait(time_ns, context, stream);
}

}  // namespace simcuda
