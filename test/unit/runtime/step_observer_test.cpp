//===- step_observer_test.cpp - observers of a rank's steps ---------------===//

#include "runtime/execute/step_observer.h"

#include "gtest/gtest.h"

using namespace zero::rt;

namespace {

/// Records the calls it receives.
struct Witness : StepObserver {
  Witness(char name, std::string &heard) : name(name), heard(heard) {}

  bool begin(uint64_t, Mode mode) override { return watches && isTraining(mode); }
  Status beforeCommand(const CommandRun &) override {
    (heard += '<') += name;
    return status;
  }
  Status after() override {
    (heard += name) += '>';
    return status;
  }
  void endStep() override { heard += '.'; }

  char name;
  std::string &heard;
  bool watches = true;
  Status status;
};

struct Observers : testing::Test {
  void step(Mode mode = Mode::Step) {
    all.begin(0, mode);
    Status status = all.beforeCommand({});
    if (status.ok())
      status = all.after();
    if (status.ok())
      all.endStep();
  }

  std::string heard;
  Witness outer{'a', heard}, inner{'b', heard};
  StepObservers all;
};

TEST_F(Observers, AreToldFromTheOutermostInwardsAndBack) {
  all.attach(outer);
  all.attach(inner);
  step();
  EXPECT_EQ(heard, "<a<bb>a>..");
}

TEST_F(Observers, AreToldOnlyWhatTheyWatch) {
  all.attach(outer);
  all.attach(inner);
  outer.watches = false;
  step();
  EXPECT_EQ(heard, "<bb>.");
  step(Mode::Evaluation);
  EXPECT_EQ(heard, "<bb>.");
  all.detach(inner);
  step();
  EXPECT_EQ(heard, "<bb>.");
}

TEST_F(Observers, EndTheStepWithAnError) {
  all.attach(outer);
  all.attach(inner);
  outer.status = Status(ZERO_RT_INTERNAL, "no");
  step();
  EXPECT_EQ(heard, "<a");
}

} // namespace
