// What a producer writes is what the reader finds.
#include <fcntl.h>
#include <string.h>

#include <thread>

#include "runtime_run.h"

namespace rlscope::test {
namespace {

using trace::EntryKind;

PROGRAM(two_operations) {
  const uint32_t outer = Intern("outer");
  const uint32_t inner = Intern("inner");
  Enter(outer);
  Repeat(inner, 1000);
  Exit(outer);
  return 0;
}

TEST(RuntimeRecords, KeepsEveryRecordInOrderWithItsName) {
  TracedRun run;
  ASSERT_EQ(run.Execute("two_operations"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_NE(process.trace, nullptr);
  ASSERT_EQ(process.trace->threads().size(), 1u);
  const std::vector<Item> items = ReadItems(*process.trace, 0);
  EXPECT_EQ(CountKind(items, trace::kOperationEnter), 1001u);
  EXPECT_EQ(CountKind(items, trace::kOperationExit), 1001u);
  ASSERT_GE(items.size(), 2u);
  EXPECT_EQ(items[0].kind, trace::kThreadBegin);
  ASSERT_NE(process.trace->FindName(items[1].id), nullptr);
  EXPECT_EQ(process.trace->FindName(items[1].id)->text, "outer");
  EXPECT_EQ(process.trace->FindName(items[2].id)->text, "inner");
  EXPECT_EQ(process.ended, trace::Ended::kExit);
  EXPECT_EQ(process.exit_code, 0);
  for (size_t i = 1; i < items.size(); i++) ASSERT_LE(items[i - 1].time_ns, items[i].time_ns);
  EXPECT_GE(items.front().time_ns, process.start_ns);
  EXPECT_LE(items.back().time_ns, process.end_ns);
}

TEST(RuntimeRecords, RemovesTheRingsOfAProcessThatEnded) {
  TracedRun run;
  ASSERT_EQ(run.Execute("two_operations"), 0);
  run.Stop();
  EXPECT_EQ(run.FilesLeft(".ring"), 0u);
  EXPECT_EQ(run.FilesLeft(".process"), 0u);
  EXPECT_EQ(run.FilesLeft(".rls"), 1u);
}

PROGRAM(nothing) { return 3; }

TEST(RuntimeRecords, AProcessThatRecordsNothingLeavesItsRowsOnly) {
  TracedRun run;
  ASSERT_EQ(run.Execute("nothing"), 3);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(process.trace, nullptr);
  EXPECT_EQ(process.exit_code, 3);
  EXPECT_EQ(run.FilesLeft(".process"), 0u);
  EXPECT_EQ(run.FilesLeft(".rls"), 0u);
}

PROGRAM(values) {
  // An odd number of single slots first, and enough pairs to meet every end of the ring.
  const uint32_t id = Intern("x");
  for (int i = 0; i < 20000; i++) {
    if (i % 3 == 0) Enter(id);
    rlscope_record_value(trace::kProgressTotal, 0, 20000);
    rlscope_record_value(trace::kProgressDone, 0, static_cast<uint64_t>(i));
  }
  return 0;
}

TEST(RuntimeRecords, PairsOfSlotsSurviveTheEndOfTheRing) {
  TracedRun run;
  ASSERT_EQ(run.Execute("values"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  uint64_t next = 0;
  for (const Item& item : ReadItems(*process.trace, 0)) {
    if (item.kind == trace::kProgressDone) {
      ASSERT_EQ(item.value, next++);
    }
  }
  EXPECT_EQ(next, 20000u);
}

PROGRAM(many_names) {
  for (int i = 0; i < 70000; i++) {
    const std::string name = "operation number " + std::to_string(i);
    const uint32_t id = Intern(name.c_str());
    if (id == 0) return 1;
    Enter(id);
    Exit(id);
  }
  return 0;
}

TEST(RuntimeRecords, NamesBeyondTheLimitAreOtherAndCounted) {
  TracedRun run;
  ASSERT_EQ(run.Execute("many_names"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(process.trace->names().size(), trace::kMaxNames + 1u);
  EXPECT_EQ(LossOf(process, "names"), 70000u - trace::kMaxNames);
  size_t other = 0;
  for (const Item& item : ReadItems(*process.trace, 0)) {
    if (item.kind != trace::kOperationEnter) continue;
    const trace::Name* name = process.trace->FindName(item.id);
    ASSERT_NE(name, nullptr);
    other += name->text == "(other)";
  }
  EXPECT_EQ(other, 70000u - trace::kMaxNames);
}

PROGRAM(described) {
  rlscope_python_begin("3.11.7", "/usr/bin/python3");
  rlscope_set_process_name("learner", 7);
  rlscope_set_thread_name("main thread", 11);
  rlscope_add_metadata("seed", 4, "17", 2);
  const std::string large(60000, 'x');
  rlscope_add_metadata("large", 5, large.data(), large.size());
  const std::string too_large(70000, 'x');
  rlscope_add_metadata("too_large", 9, too_large.data(), too_large.size());
  Enter(Intern("x"));
  rlscope_python_end();
  return 0;
}

TEST(RuntimeRecords, DescriptionsTravelWithTheProcess) {
  TracedRun run;
  ASSERT_EQ(run.Execute("described", {"--api-key=topsecret", "--token", "alsosecret"}), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(process.name, "learner");
  EXPECT_EQ(process.python, "3.11.7");
  EXPECT_NE(process.program.find("described"), std::string::npos);
  EXPECT_EQ(process.program.find("secret"), std::string::npos) << process.program;
  ASSERT_EQ(process.trace->threads().size(), 1u);
  EXPECT_EQ(process.trace->threads()[0].thread.name, "main thread");
  EXPECT_TRUE(process.trace->threads()[0].thread.is_python);
  const auto& entries = process.trace->metadata().entries;
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0], std::make_pair(std::string("seed"), std::string("17")));
  EXPECT_EQ(entries[1].second.size(), 60000u);
  EXPECT_EQ(LossOf(process, "metadata_too_long"), 1u);
  EXPECT_GT(process.python_end_ns, process.python_begin_ns);
}

PROGRAM(iterations) {
  const uint32_t id = Intern("step");
  for (int i = 0; i < 20; i++) {
    if (rlscope_iteration(0) != RLSCOPE_COUNTED) return 10 + i;
    Repeat(id, 1);
    int of_other_thread = 0;
    std::thread([&] { of_other_thread = rlscope_iteration(0); }).join();
    if (of_other_thread != 0) return 50 + i;
  }
  return 0;
}

TEST(RuntimeRecords, TheFirstThreadOwnsTheIterations) {
  TracedRun run;
  ASSERT_EQ(run.Execute("iterations"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(CountKind(ReadItems(*process.trace, 0), trace::kIteration), 20u);
  EXPECT_EQ(LossOf(process, "iteration_of_other_thread"), 20u);
}

TEST(RuntimeRecords, AWindowOfIterationsHoldsWholeOnes) {
  trace::DrainOptions options;
  options.delay_iterations = 5;
  options.iterations = 3;
  options.exit_after = 12;
  TracedRun run(options);
  ASSERT_EQ(run.Execute("iterations"), 10 + 12);
  const trace::ProcessImage& process = run.ReadOne();
  std::vector<uint32_t> kinds;
  for (const Item& item : ReadItems(*process.trace, 0)) {
    if (item.kind != trace::kThreadBegin) kinds.push_back(item.kind);
  }
  const std::vector<uint32_t> expected = {
      trace::kWindowStart,    trace::kIteration,      trace::kOperationEnter, trace::kOperationExit,
      trace::kIteration,      trace::kOperationEnter, trace::kOperationExit,  trace::kIteration,
      trace::kOperationEnter, trace::kOperationExit,  trace::kIteration,      trace::kWindowStop};
  EXPECT_EQ(kinds, expected);
}

PROGRAM(paused_in_the_middle) {
  const uint32_t id = Intern("x");
  Repeat(id, 1);
  rlscope_stop();
  rlscope_stop();
  Repeat(id, 1000);
  rlscope_start();
  rlscope_start();
  Repeat(id, 2);
  return 0;
}

TEST(RuntimeRecords, StopAndStartOfTheProcess) {
  TracedRun run;
  ASSERT_EQ(run.Execute("paused_in_the_middle"), 0);
  const std::vector<Item> items = ReadItems(*run.ReadOne().trace, 0);
  EXPECT_EQ(CountKind(items, trace::kOperationEnter), 3u);
  EXPECT_EQ(CountKind(items, trace::kWindowStop), 1u);
  EXPECT_EQ(CountKind(items, trace::kWindowStart), 1u);
}

PROGRAM(records_at_signs) {
  // Each byte from the test lets it go on; a byte back says that it did.
  const uint32_t id = Intern("x");
  char sign;
  while (read(0, &sign, 1) == 1) {
    Repeat(id, 1);
    if (write(1, &sign, 1) != 1) return 1;
  }
  return 0;
}

TEST(RuntimeRecords, ATimeWindowIsFollowedAtTheNextRecordWithItsOwnTime) {
  TracedRun run;
  int to_child[2], from_child[2];
  ASSERT_EQ(pipe2(to_child, O_CLOEXEC) | pipe2(from_child, O_CLOEXEC), 0);
  const int saved_in = fcntl(0, F_DUPFD_CLOEXEC, 3), saved_out = fcntl(1, F_DUPFD_CLOEXEC, 3);
  dup2(to_child[0], 0);
  dup2(from_child[1], 1);
  const pid_t pid = run.Spawn("records_at_signs");
  dup2(saved_in, 0);
  dup2(saved_out, 1);
  const auto step = [&] {
    char sign = 'x';
    ASSERT_EQ(write(to_child[1], &sign, 1), 1);
    ASSERT_EQ(read(from_child[0], &sign, 1), 1);
  };
  for (const int descriptor : {to_child[0], from_child[1], saved_in, saved_out}) close(descriptor);
  step();
  run.drainer().SetRecording(false);
  const int64_t stopped_before = base::ReadMonotonicNs();
  step();
  step();
  run.drainer().SetRecording(true);
  step();
  close(to_child[1]);
  ASSERT_EQ(TracedRun::Wait(pid), 0);
  close(from_child[0]);
  const trace::ProcessImage& process = run.ReadOne();
  const std::vector<Item> items = ReadItems(*process.trace, 0);
  EXPECT_EQ(CountKind(items, trace::kOperationEnter), 2u);
  ASSERT_EQ(CountKind(items, trace::kWindowStop), 1u);
  ASSERT_EQ(CountKind(items, trace::kWindowStart), 1u);
  for (const Item& item : items) {
    if (item.kind == trace::kWindowStop) {
      EXPECT_LE(item.time_ns, stopped_before);
    }
  }
}

// A thread's own records do not tell that another one ended the window and with it the operation.
PROGRAM(window_changed_by_another_thread) {
  const uint32_t x = Intern("x");
  Enter(x);  // of the main thread, whose ring is drained last or first, as it comes
  std::thread([x] {
    rlscope_record(trace::kTask, 1);
    Enter(x);
    std::thread([] {
      rlscope_stop();
      rlscope_start();
    }).join();
    rlscope_record(trace::kTask, 0);
    Enter(x);
    rlscope_record(trace::kTask, 1);
    Exit(x);  // task 1 has none any more: it is the one outside of tasks
  }).join();
  return 0;
}

TEST(RuntimeRecords, AnExitAfterAnotherThreadsWindowKeepsItsName) {
  TracedRun run;
  ASSERT_EQ(run.Execute("window_changed_by_another_thread"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  size_t exits = 0;
  for (size_t thread = 0; thread < process.trace->threads().size(); thread++) {
    for (const Item& item : ReadItems(*process.trace, thread)) {
      if (item.kind != trace::kOperationExit) continue;
      exits++;
      ASSERT_NE(item.id, 0u) << "shortened: closes the innermost of task 1, so nothing";
      EXPECT_EQ(process.trace->FindName(item.id)->text, "x");
    }
  }
  EXPECT_EQ(exits, 1u);
}

// As a clock does that runs differently on another CPU.
PROGRAM(ticks_run_backwards) {
  const uint32_t x = Intern("x");
  Repeat(x, 10);
  for (int i = 0; i < 3; i++) {
    if (runtime::HasRoom()) runtime::Publish(trace::kOperationEnter, x, 1, 0);
  }
  return 0;
}

TEST(RuntimeRecords, TicksThatRunBackwardsAreALossOfTheProcess) {
  TracedRun run;
  ASSERT_EQ(run.Execute("ticks_run_backwards"), 0);
  EXPECT_EQ(LossOf(run.ReadOne(), "clamped"), 3u);
}

}  // namespace
}  // namespace rlscope::test
