//===- communicator.h - the communicator of one rank ------------*- C++ -*-===//
//
// The same collectives in the same order on all ranks, each in groups of ranks that differ along
// the same axes of the mesh. Sums run in the order of members, which is that of ranks, in the type
// that is asked for, so that the bits do not depend on who arrives first, and the sum of a slice is
// the same by reduceScatter() as by allReduce().
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_COMM_COMMUNICATOR_H
#define RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/support/dtype.h"
#include "runtime/support/mesh.h"
#include "runtime/support/status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace zero::rt {

/// The name of a collective in errors, how it is counted, and who takes part.
struct Call {
  const char *label;    ///< must outlive the call
  uint64_t index = 0;   ///< among the collectives of this step
  bool control = false; ///< a value of the program, not a parameter or gradient
  /// The members of a rank's group are the ranks that differ from it along these axes only.
  AxisSet axes = kAllAxes;
  /// In a gather or a reduce-scatter: the number of the slice of each member; none: its index. Must
  /// outlive the call.
  std::span<const int> slices = {};
};

/// How values of all members become one.
struct Reduction {
  DType dtype;
  bool mean = false; ///< divides the sum by the number of members
  /// The type of additions and divisions. The result is rounded to `dtype` once. Without a type:
  /// `dtype`, with a rounding after each addition.
  DType arithmetic = ZERO_RT_NO_DTYPE;

  DType arithmeticType() const { return arithmetic == ZERO_RT_NO_DTYPE ? dtype : arithmetic; }
};

/// Elements and bytes that came from other ranks.
struct Traffic {
  uint64_t modelElements = 0, controlElements = 0;
  uint64_t modelBytes = 0, controlBytes = 0;
  uint64_t linkBytes = 0; ///< of messages that this rank received from other nodes

  Traffic &operator+=(const Traffic &other) {
    modelElements += other.modelElements, controlElements += other.controlElements;
    modelBytes += other.modelBytes, controlBytes += other.controlBytes;
    linkBytes += other.linkBytes;
    return *this;
  }
  Traffic operator-(const Traffic &other) const {
    return {modelElements - other.modelElements, controlElements - other.controlElements,
            modelBytes - other.modelBytes, controlBytes - other.controlBytes,
            linkBytes - other.linkBytes};
  }
};

/// Collectives of a graph, which is launched again.
struct Repeated {
  uint64_t count = 0; ///< of them
  Call last{};        ///< of them
  Traffic traffic;
  std::map<AxisSet, uint64_t> volumes; ///< see Communicator::volumes()
};

/// How collectives and graphs of a device go together.
enum class GraphUse {
  None,    ///< the rank makes no graphs
  Between, ///< graphs end before collectives and begin behind them
  Within,  ///< graphs contain collectives
};

/// The communicator of one rank. Every call is collective, used by one thread, and returns on all
/// ranks: with success, or within the timeout with an error that names the collective and the rank
/// that did not arrive. All ranks call the same, also those whose group has one member. After an
/// error none can be used. If the data is on a device, the
/// call may return before it has moved: it has moved when the stream of the collective has reached
/// this point.
class Communicator {
public:
  virtual ~Communicator() = default;
  /// Before the first collective: most of these read and write this memory, which is freed after
  /// this object.
  virtual Status use(void * /*memory*/, uint64_t /*bytes*/) { return {}; }

  virtual int rank() const = 0;
  virtual const Mesh &mesh() const = 0;
  int ranks() const { return mesh().ranks(); }

  /// destination[slice of member i * elements ...] = source of member i, for all i, of any type.
  /// `source` may be the own slice of `destination`, else the two do not overlap.
  virtual Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                           uint64_t elements) = 0;

  /// destination = sum over members s of source_s[own slice * elements ...]. `destination` may be
  /// the own slice of `source`.
  virtual Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                               void *destination, uint64_t elements) = 0;

  /// data = sum over members of data, in place, for any number of elements.
  virtual Status allReduce(const Call &call, const Reduction &how, void *data,
                           uint64_t elements) = 0;

  /// destination = source of member `root`, of any type. The two are the same, or do not overlap;
  /// only the root's source is read.
  virtual Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                           uint64_t elements, int root) = 0;

  /// Whether all ranks are threads of this process.
  virtual bool isOneProcess() const { return true; }
  /// Waits on the host until all ranks of this process have come here. Fails like a collective.
  virtual Status meet(const Call &) { return {}; }

  virtual GraphUse graphUse() const { return GraphUse::None; }
  /// A graph is launched again: its collectives begin as they did when it was made.
  virtual void repeat(const Repeated &) {}

  /// Returns an error of previous collectives, if these may still be in progress when a call
  /// returns.
  virtual Status check() { return {}; }

  /// Ends the waits of all ranks with `reason`; the first reason given stays.
  virtual void abort(const Status &reason) = 0;

  /// Received so far.
  virtual Traffic traffic() const = 0;
  /// Elements of it that are no control values, by the axes of the groups (see Mesh::proper()).
  virtual const std::map<AxisSet, uint64_t> &volumes() const = 0;

  /// Collectives that this rank has begun so far. From any thread.
  virtual uint64_t begunSoFar() const { return 0; }
  /// The last of them, for errors: "collective 3 ('layer.7')"; empty if there was none.
  virtual std::string lastBegun() const { return {}; }

  /// Nanoseconds that this rank has waited for others so far, in collectives.
  virtual uint64_t waited() const = 0;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_COMMUNICATOR_H
