//===- graph_test.cpp - commands that are captured ------------------------===//
//
// Graphs of the lanes of a rank, and what the recording driver refuses while a stream is captured.
//
//===----------------------------------------------------------------------===//

#include "on_gpu.h"

#include <set>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

/// Lanes 0 and 1 of a rank, and pinned bytes that copies move to and fro.
class Graphs : public OnGpu {
protected:
  static constexpr uint64_t kBytes = 4;

  void SetUp() override {
    OnGpu::SetUp();
    start(1);
  }
  void start(uint64_t seed) {
    pinned.reset(), arena.reset(), lanes.reset(), gpu.reset();
    recording::reset({.seed = seed});
    std::shared_ptr<const Driver> driver;
    const uint32_t used[] = {0, 1, Lanes::kCalls};
    expectOk(Driver::open(driver));
    expectOk(Gpu::open(driver, 0, gpu));
    expectOk(Lanes::create(gpu, used, 30, lanes));
    expectOk(lanes->makeSignals(4));
    expectOk(reserveGpuMemory(gpu, 64, 30, arena));
    expectOk(arena->touch());
    expectOk((pinned = std::make_unique<PinnedMemory>())->allocate(gpu, 64));
    std::memset(pinned->get(), 0, 64);
  }
  /// Copies word `from` of the host to word `to` of the GPU, on the current lane.
  void up(int from, int to) {
    expectOk(check(gpu->driver().cuMemcpyHtoDAsync(address(to), pinned->get() + from * kBytes,
                                                   kBytes, lanes->current())));
  }
  void down(int from, int to) {
    expectOk(check(gpu->driver().cuMemcpyDtoHAsync(pinned->get() + to * kBytes, address(from),
                                                   kBytes, lanes->current())));
  }
  Address address(int word) const {
    return reinterpret_cast<Address>(arena->base()) + uint64_t(word) * kBytes;
  }
  int32_t &word(int index) const { return reinterpret_cast<int32_t *>(pinned->get())[index]; }
  Status check(int result) const { return gpu->driver().check(result, "call"); }
  /// Gives lane `lane` a command.
  template <typename Body>
  void on(uint32_t lane, std::vector<uint32_t> waits, int32_t signal, Body body) {
    const Order order{lane, std::move(waits), signal};
    expectOk(lanes->begin(order));
    body();
    expectOk(lanes->end(order));
  }
  /// Two lanes copy beside each other; a third command waits for one of them.
  void give() {
    on(0, {}, 0, [&] { up(0, 0); });
    on(1, {}, 1, [&] { up(1, 1); });
    on(1, {0}, -1, [&] { down(0, 2); });
    on(0, {1}, -1, [&] { down(1, 3); });
  }
  /// The problems that the driver has noticed; they are no failures of the test.
  static std::string takeProblems() {
    std::string all;
    for (const std::string &each : recording::takeProblems())
      all += each + "\n";
    return all;
  }
  void TearDown() override {
    pinned.reset(), arena.reset(), lanes.reset();
    OnGpu::TearDown();
  }

  std::unique_ptr<PinnedMemory> pinned;
};

TEST_F(Graphs, RunAgainWithTheirOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    start(seed);
    std::unique_ptr<Graph> graph;
    expectOk(lanes->beginGraph());
    give();
    expectOk(lanes->endGraph(graph));
    expectOk(lanes->finish());
    EXPECT_EQ(word(2), 0) << "nothing has run";
    for (int round = 1; round <= 3; ++round) {
      word(0) = 10 * round, word(1) = 10 * round + 1;
      expectOk(lanes->run(static_cast<const GpuGraph &>(*graph)));
      expectOk(lanes->finish());
      EXPECT_EQ(word(2), word(0)) << "seed " << seed;
      EXPECT_EQ(word(3), word(1)) << "seed " << seed;
    }
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
}

/// Work before and behind a graph is ordered with it on all lanes.
TEST_F(Graphs, AreBetweenTheWorkAroundThem) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    start(seed);
    std::unique_ptr<Graph> graph;
    expectOk(lanes->beginGraph());
    on(0, {}, -1, [&] { down(1, 2); });
    expectOk(lanes->endGraph(graph));
    word(0) = 7, word(1) = 8;
    on(1, {}, 0, [&] { up(0, 1); });
    expectOk(lanes->run(static_cast<const GpuGraph &>(*graph)));
    // The signal was given before the graph: there is nothing to wait for.
    on(1, {0}, -1, [&] { up(1, 1); });
    expectOk(lanes->finish());
    EXPECT_EQ(word(2), 7) << "seed " << seed;
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
}

/// Functions of the host are called in order, behind the work before them.
TEST_F(Graphs, CallTheHostEachTime) {
  struct Seen {
    const int32_t *word;
    std::vector<int32_t> values;
  } seen{&word(1), {}};
  std::unique_ptr<Graph> graph;
  expectOk(lanes->beginGraph());
  on(0, {}, -1, [&] {
    up(0, 0), down(0, 1);
    expectOk(lanes->call(
        [](void *context) {
          auto &all = *static_cast<Seen *>(context);
          all.values.push_back(*all.word);
        },
        &seen));
  });
  expectOk(lanes->endGraph(graph));
  for (int round = 0; round < 3; ++round) {
    word(0) = round;
    expectOk(lanes->run(static_cast<const GpuGraph &>(*graph)));
    expectOk(lanes->finish());
  }
  EXPECT_EQ(seen.values, (std::vector<int32_t>{0, 1, 2}));
}

/// The order of nodes that do not depend on each other is not fixed.
TEST_F(Graphs, RunInDifferentOrders) {
  std::set<int32_t> found;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    start(seed);
    std::unique_ptr<Graph> graph;
    expectOk(lanes->beginGraph());
    on(0, {}, -1, [&] { up(0, 0); });
    on(1, {}, -1, [&] { up(1, 0); }); // a race
    expectOk(lanes->endGraph(graph));
    word(0) = 1, word(1) = 2;
    expectOk(lanes->run(static_cast<const GpuGraph &>(*graph)));
    down(0, 2);
    expectOk(lanes->finish());
    found.insert(word(2));
  }
  EXPECT_EQ(found, (std::set<int32_t>{1, 2}));
}

/// What CUDA forbids makes a capture invalid, and its end fails.
TEST_F(Graphs, RefuseWaitsAndAllocations) {
  auto refuses = [&](auto call, const char *part) {
    expectOk(lanes->beginGraph());
    call();
    std::unique_ptr<Graph> graph;
    const Status status = lanes->endGraph(graph);
    EXPECT_NE(status.getMessage().find("; --gpu-graphs=off runs without graphs"), std::string::npos)
        << part;
    lanes->dropGraph();
    EXPECT_NE(takeProblems().find(part), std::string::npos) << part;
  };
  const Driver &driver = gpu->driver();
  OwnedEvent outside;
  expectOk(outside.create(gpu));
  refuses([&] { driver.cuStreamQuery(lanes->current()); }, "cuStreamQuery of a captured stream");
  refuses([&] { driver.cuEventQuery(outside.get()); }, "cuEventQuery while a stream is captured");
  refuses([&] { EXPECT_FALSE(lanes->finish().ok()); }, "cuStreamQuery of a captured stream");
  refuses([&] { EXPECT_FALSE(PinnedMemory().allocate(gpu, 8).ok()); },
          "cuMemHostAlloc while a stream is captured");
  refuses(
      [&] {
        Address more;
        driver.cuMemAlloc(&more, 8);
      },
      "cuMemAlloc_v2 while a stream is captured");
  refuses([&] { driver.cuStreamWaitEvent(lanes->current(), outside.get(), 0); },
          "a captured stream waits for work outside");
  expectOk(lanes->finish());
}

TEST_F(Graphs, RefuseStreamsThatAreNotJoined) {
  const Driver &driver = gpu->driver();
  Stream origin = nullptr, other = nullptr;
  OwnedEvent forked;
  expectOk(forked.create(gpu));
  driver.cuStreamCreateWithPriority(&origin, kStreamNonBlocking, 0);
  driver.cuStreamCreateWithPriority(&other, kStreamNonBlocking, 0);
  GraphHandle graph = nullptr;
  EXPECT_EQ(driver.cuStreamBeginCapture(origin, kCaptureThreadLocal), kSuccess);
  driver.cuEventRecord(forked.get(), origin);
  driver.cuStreamWaitEvent(other, forked.get(), 0);
  driver.cuMemsetD8Async(address(0), 1, 4, other);
  EXPECT_EQ(driver.cuStreamEndCapture(origin, &graph), 904);
  EXPECT_EQ(graph, nullptr);
  // The event belongs to a capture that is over.
  EXPECT_EQ(driver.cuStreamWaitEvent(other, forked.get(), 0), 907);
  EXPECT_EQ(driver.cuEventQuery(forked.get()), 907);
  driver.cuStreamDestroy(origin);
  driver.cuStreamDestroy(other);
  EXPECT_NE(takeProblems().find("an event of a capture that is over"), std::string::npos);
}

/// Memory of the host that is not pinned must not be captured, nor the default stream used.
TEST_F(Graphs, RefusePageableMemoryAndTheDefaultStream) {
  int32_t pageable = 0;
  expectOk(lanes->beginGraph());
  gpu->driver().cuMemcpyHtoDAsync(address(0), &pageable, 4, lanes->current());
  gpu->driver().cuMemsetD8Async(address(0), 1, 4, nullptr);
  lanes->dropGraph();
  const std::string problems = takeProblems();
  EXPECT_NE(problems.find("host memory that is not pinned"), std::string::npos) << problems;
  EXPECT_NE(problems.find("work for a stream that is not there"), std::string::npos) << problems;
}

/// After a graph was dropped, the lanes run commands again.
TEST_F(Graphs, CanBeDropped) {
  expectOk(lanes->beginGraph());
  give();
  lanes->dropGraph();
  word(0) = 5, word(1) = 6;
  give();
  expectOk(lanes->finish());
  EXPECT_EQ(word(2), 5);
  EXPECT_EQ(word(3), 6);
}

/// Handles are destroyed once, and not while work uses them.
TEST_F(Graphs, AndEventsAreDestroyedOnce) {
  const Driver &driver = gpu->driver();
  const uint64_t alive = recording::counts().alive;
  Event event = nullptr;
  driver.cuEventCreate(&event, kEventDefault);
  EXPECT_EQ(recording::counts().alive, alive + 1);
  EXPECT_EQ(driver.cuEventDestroy(event), kSuccess);
  EXPECT_EQ(driver.cuEventDestroy(event), kInvalidValue);
  EXPECT_EQ(driver.cuGraphDestroy(nullptr), kInvalidValue);
  EXPECT_EQ(recording::counts().alive, alive);
  EXPECT_EQ(takeProblems(), "cuEventDestroy_v2 of what is not there\n"
                            "cuGraphDestroy of what is not there\n");
  std::unique_ptr<Graph> graph;
  expectOk(lanes->beginGraph());
  give();
  expectOk(lanes->endGraph(graph));
  for (int time = 0; time < 20; ++time) // the driver does some work early
    expectOk(lanes->run(static_cast<const GpuGraph &>(*graph)));
  graph.reset();
  EXPECT_EQ(takeProblems(), "cuGraphExecDestroy of what is in use\n");
  expectOk(lanes->finish());
}

/// Times are between events that were made for it, and are over.
TEST_F(Graphs, AndEventsHaveTimes) {
  const Driver &driver = gpu->driver();
  OwnedEvent begin, end, untimed;
  float milliseconds = -1;
  expectOk(begin.create(gpu, kEventDefault));
  expectOk(end.create(gpu, kEventDefault));
  expectOk(untimed.create(gpu));
  for (const OwnedEvent *each : {&begin, &untimed, &end})
    driver.cuEventRecord(each->get(), lanes->current());
  expectOk(lanes->finish());
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, begin.get(), end.get()), kSuccess);
  EXPECT_EQ(milliseconds, 0); // nothing is between them
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, begin.get(), untimed.get()), kInvalidValue);
  EXPECT_EQ(takeProblems(), "cuEventElapsedTime of an event without a time\n");
}

} // namespace
