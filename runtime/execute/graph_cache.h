//===- graph_cache.h - graphs of stretches of commands ----------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_GRAPH_CACHE_H
#define RUNTIME_EXECUTE_GRAPH_CACHE_H

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"

namespace zero::rt {

/// Neighbouring commands of a segment that the host gives to a device without a wait, and which of
/// them run: that depends on the iteration, on predicates, and on the mode.
struct Stretch {
  size_t segment = 0;
  uint32_t begin = 0;
  std::vector<bool> runs; ///< by command, from `begin` on

  uint32_t end() const { return begin + uint32_t(runs.size()); }
  bool operator==(const Stretch &) const = default;
};

/// What is kept of a stretch.
struct KeptStretch {
  Stretch stretch;
  /// A first run without a graph lets NCCL connect and the driver load kernels, which they cannot
  /// while commands are captured.
  bool hasRun = false;
  std::unique_ptr<Graph> graph;
  /// The effects of its commands on the host.
  std::vector<uint32_t> settles; ///< predicates
  Repeated collectives;
};

/// The stretches of a rank's program that have run.
class GraphCache {
public:
  /// What is kept of `stretch`; added if it is new.
  KeptStretch &find(const Stretch &stretch) {
    for (const auto &each : kept)
      if (each->stretch == stretch)
        return *each;
    kept.push_back(std::make_unique<KeptStretch>());
    kept.back()->stretch = stretch;
    return *kept.back();
  }

  void clear() { kept.clear(); }

private:
  std::vector<std::unique_ptr<KeptStretch>> kept;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_GRAPH_CACHE_H
