//===- collective_lane_test.cpp - collectives beside kernels --------------===//

#include "tier_program.h"

#include "parts.h"
#include "runtime/execute/lane_plan.h"
#include "runtime/support/thread.h"
#include "trial.h"

using namespace zero::rt;

namespace {

/// The tiny step, whose collectives have a lane of their own.
struct PrefetchingProgram : TinyProgram {
  explicit PrefetchingProgram(bool prefetches) : TinyProgram(1) {
    order = orderByBytes;
    program.set_prefetches(prefetches);
    for (proto::Segment &segment : *program.mutable_segments())
      for (proto::Command &command : *segment.mutable_commands())
        if (command.has_collective())
          command.set_lane(proto::COLLECTIVE);
  }

  /// Adds a kernel before the gather that returns when it sees the gathered bytes, or after two
  /// billion reads. It writes 2 to the tensor `flag` in the first case, and 1 in the second.
  void awaitGather() {
    const uint64_t flag = at.end;
    program.mutable_arenas(0)->set_bytes(flag + 64);
    addTensor(program, "flag", proto::OPTIMIZER, proto::I64, {1, 1, flag}, {1})
        ->mutable_init()
        ->set_splat(0);
    addKernels(program, {{"meet"}});
    proto::Segment &step = segment(0);
    proto::Command &meet = launch(step, program.kernels_size() - 1, {flag, at.full});
    meet.mutable_launch()->mutable_args(0)->set_bytes(8); // The gathered bytes are not declared.
    meet.mutable_launch()->mutable_args(0)->set_writes(7);
    for (int i = step.commands_size() - 1; i > 0; --i)
      step.mutable_commands()->SwapElements(i, i - 1);
  }
};

/// The value of `flag` after a step on one rank with one thread.
int64_t runStep(const PrefetchingProgram &program) {
  Trial trial(program);
  trial.options.threads_per_rank = 1;
  trial.start();
  trial.bind(2);
  EXPECT_OK(trial.step());
  int64_t flag = 0;
  EXPECT_OK(zero_rt_session_read_tensor(trial.session, "flag", &flag, 8));
  return flag;
}

TEST(CollectiveLane, HasAThreadOnlyInAProgramThatPrefetchesAndOnAnIdleCore) {
  for (bool prefetches : {false, true})
    for (bool hasIdleCores : {false, true}) {
      const PrefetchingProgram program(prefetches);
      EXPECT_EQ(LanePlan(program.program, hasIdleCores).threads(),
                prefetches && hasIdleCores ? 2u : 1u);
    }
}

TEST(CollectiveLane, RunsBesideAKernelOfARankWithOneThread) {
  if (usableCores() < 2)
    GTEST_SKIP() << "needs an idle core";
  PrefetchingProgram program(true);
  program.awaitGather();
  EXPECT_EQ(runStep(program), 2);
}

TEST(CollectiveLane, RunsInOrderInAProgramThatDoesNotPrefetch) {
  PrefetchingProgram program(false);
  program.awaitGather();
  EXPECT_EQ(runStep(program), 1);
}

} // namespace
