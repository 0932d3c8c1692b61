// Messages of a thread to other processes, and their answers, where environments step in those.
//
//   forward   out out   in in     forward   out out   in in
//            |--- exchange ---|            |--- exchange ---|
//
// Three exchanges with a forward before each, and no update between them, show that the answers are
// what the thread's policy reads next. Tasks for a pool, and their results, are such messages, too.
// They need no forward: where a program has them done three times, they are its episodes. A process
// that has environments of its own is not asked, but for tasks of a pool of threads: its threads
// may step them. They do if tasks and results are like messages, and the thread itself steps none
// between.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_EXCHANGE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_EXCHANGE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "python/runtime_module/own_environments.h"

namespace rlscope::python {

class Track;

class Exchange {
 public:
  explicit constexpr Exchange(bool is_of_tasks) : is_of_tasks_(is_of_tasks) {}

  // A message is on its way, or a task, which may be one of threads. False: the program ends here,
  // with an exception set.
  bool Send(Track* track, bool is_of_threads);
  // One has come; null: the call raised.
  void Take(Track* track, PyObject* message);

 private:
  static constexpr int kEnough = 3;

  bool AreEpisodes() const { return is_of_tasks_ && !has_own_environment; }
  void NoteSteps(uint32_t steps);
  void Judge(const PolicyCalls& calls);
  void Renew(Track* track);

  bool is_of_tasks_;
  // Of the exchange that is open.
  uint32_t sent_ = 0;
  uint32_t taken_ = 0;
  // Before the thread is known to exchange: what the thread had called when it sent a message
  // last, and when it took an answer.
  bool has_sent_ = false;
  bool is_answered_ = false;
  PolicyCalls sent_at_;
  PolicyCalls answered_at_;
  int exchanges_ = 0;
  uint32_t steps_ = 0;       // of the thread itself, before the last task of a pool of threads
  uint32_t generation_ = 0;  // of the process image
};

// Whether a message of the calling thread is none of another one's, which may be made of it.
bool BeginMessage();
void EndMessage();

// Those of the calling thread.
extern __thread Exchange own_messages;
extern __thread Exchange own_tasks;

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_EXCHANGE_H_
