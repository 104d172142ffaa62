//===- launch.cpp - run a kernel ------------------------------------------===//
//
// Blocks run one after the other, since nothing orders them; the shadow of memory finds what they
// should not share. The warps of a block take turns of a few branches.
//
//===----------------------------------------------------------------------===//

#include "launch.h"
#include "warp.h"

#include <algorithm>
#include <numeric>

namespace ptx {

namespace {

constexpr uint32_t kMostBranches = 4; ///< of a warp's turn

class Block {
public:
  explicit Block(Launch &launch) : launch(launch) {
    for (uint32_t first = 0; first < launch.shape.threads; first += kLanes)
      warps.push_back(std::make_unique<Warp>(launch, first / kLanes));
  }

  void run(uint32_t number) {
    launch.block = number;
    launch.blockPhase = launch.phase = launch.memory.nextPhase();
    launch.shared.shadow.forget();
    running.clear();
    for (auto &warp : warps) {
      warp->begin();
      running.push_back(warp.get());
    }
    while (!running.empty() || passBarrier())
      runOne();
  }

private:
  void runOne() {
    const size_t chosen = launch.random() % running.size();
    running[chosen]->run(1 + uint32_t(launch.random() % kMostBranches));
    if (running[chosen]->state() != Warp::State::Running) {
      running[chosen] = running.back();
      running.pop_back();
    }
  }

  /// Called when no warp can run. Returns false if all have ended.
  bool passBarrier() {
    for (auto &warp : warps)
      if (warp->state() == Warp::State::AtBarrier)
        running.push_back(warp.get());
    if (running.empty())
      return false;
    const Warp &first = *running.front();
    for (auto &warp : warps)
      if (warp->hasEndedThreads() || warp->barrier() != first.barrier())
        throw Fault("kernel '" + launch.entry.name + "', line " +
                    std::to_string(first.waiting().line) + " (" + first.waiting().opcode +
                    "): block " + std::to_string(launch.block) +
                    ": threads wait at the barrier, and others have ended or wait at another one");
    launch.phase = launch.memory.nextPhase();
    for (Warp *warp : running)
      warp->pass();
    return true;
  }

  Launch &launch;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Warp *> running;
};

} // namespace

void run(const Entry &entry, Shape shape, const std::vector<uint8_t> &arguments,
         uint64_t dynamicSharedBytes, DeviceMemory &memory, std::mt19937_64 &random) {
  if (shape.threads > entry.mostThreads)
    throw Fault("kernel '" + entry.name + "': " + std::to_string(shape.threads) +
                " threads in a block, at most " + std::to_string(entry.mostThreads) +
                " are declared");
  Launch launch{entry, shape, arguments, memory, random, entry.sharedBytes + dynamicSharedBytes};
  launch.firstPhase = memory.nextPhase();
  std::vector<uint32_t> order(shape.blocks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Block block(launch);
  for (uint32_t number : order)
    block.run(number);
}

} // namespace ptx
