// CUDA calls whose stacks are known: through rings and arenas to the reader.
#include <string.h>

#include "runtime/call_sites.h"
#include "runtime_run.h"
#include "trace/layout/shared_pages.h"
#include "trace/read/stack_tree.h"

namespace rlscope::test {
namespace {

// What the finder answers, one after the other; then nothing is known.
uint32_t answers[8];
uint32_t asked = 0;
uint32_t Answer(void** kept) {
  *kept = &answers;  // stays the thread's
  return asked < 8 ? answers[asked++] : 0;
}

uint32_t Number(uint32_t parent, const char* name, uint32_t line) {
  const char file[] = "train.py";
  const uint32_t function = rlscope_number_function(file, strlen(file), name, strlen(name), 1);
  return rlscope_number_stack(parent, function, line);
}

void Call() {
  const uint32_t name = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kCudaCallName),
                                            0, "cuLaunchKernel", 14);
  if (rlscope_begin_cuda_call()) rlscope_end_cuda_call(name, 0);
}

// Four calls: of a line, of one that it calls, of the first again, and of an unknown one.
void MakeCalls() {
  const uint32_t main = Number(0, "main", 3), helper = Number(main, "helper", 7);
  asked = 0;
  answers[0] = answers[2] = main;
  answers[1] = helper;
  answers[3] = 0;
  rlscope_find_call_sites(&Answer);
  for (int i = 0; i < 4; i++) Call();
}

PROGRAM(make_calls) {
  MakeCalls();
  return Number(0, "main", 3) == answers[0] ? 0 : 1;
}

PROGRAM(fork_between_calls) {
  MakeCalls();
  const pid_t child = fork();
  if (child == 0) {
    MakeCalls();
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::vector<std::string> StacksOfCalls(const trace::ProcessTrace& trace) {
  const trace::StackTree tree(trace.stacks());
  std::vector<std::string> stacks;
  trace::CudaCallCursor cursor(trace, 0);
  while (const trace::CudaCallBatch* batch = cursor.Next()) {
    for (uint32_t i = 0; i < batch->count; i++) {
      std::string stack;
      const trace::StackNode* node = tree.Find(SiteOf(*batch, i));
      for (; node != nullptr; node = tree.Find(node->parent)) {
        const trace::StackFunction* const function = tree.FunctionOf(*node);
        stack += function->file + ":" + std::to_string(node->line) + " " + function->name + ";";
      }
      stacks.push_back(stack);
    }
  }
  return stacks;
}

const std::vector<std::string> kStacks = {"train.py:3 main;", "train.py:7 helper;train.py:3 main;",
                                          "train.py:3 main;", ""};

TEST(RuntimeCallSites, ComeBackWithTheirCalls) {
  TracedRun run;
  EXPECT_EQ(run.Execute("make_calls"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(StacksOfCalls(*process.trace), kStacks);
  EXPECT_EQ(LossOf(process, "call_site"), 0u);
}

TEST(RuntimeCallSites, AreKnownInTheTraceOfAForkChild) {
  TracedRun run;
  EXPECT_EQ(run.Execute("fork_between_calls"), 0);
  const trace::Directory& directory = run.Read();
  ASSERT_EQ(directory.processes().size(), 2u);
  for (const trace::ProcessImage& process : directory.processes()) {
    EXPECT_EQ(StacksOfCalls(*process.trace), kStacks);
  }
}

}  // namespace
}  // namespace rlscope::test
