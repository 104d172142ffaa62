//===- bounds.h - check addresses -------------------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_BOUNDS_H
#define RUNTIME_LOAD_BOUNDS_H

#include "runtime/load/program.h"

#include <array>

namespace zero::rt {

/// An error about the `what` with name `name` of the tables.
Status badTable(const char *what, const std::string &name, const char *why);

/// Checks that the `what` with name `name` lists axes of `mesh`, each once, and in order if the
/// list is a set.
using AxisList = google::protobuf::RepeatedField<uint32_t>;
enum class AxisOrder { Any, Ascending };
Status checkAxes(const Mesh &mesh, const char *what, const std::string &name, const AxisList &axes,
                 AxisOrder order);

/// Bytes of `count` elements; false for an unknown type or an overflow.
bool sizeInBytes(proto::DType dtype, uint64_t count, uint64_t &bytes);

/// The arenas and the mesh of a program whose sizes have been checked.
class Bounds {
public:
  explicit Bounds(const proto::Program &program);

  /// Bytes of the largest arena.
  uint64_t most() const { return *std::max_element(arenas.begin(), arenas.end()); }
  bool fits(proto::Tier tier, uint64_t offset, uint64_t bytes) const;
  const Mesh &getMesh() const { return mesh; }
  /// `bytes` at `address` are in the arena of its tier on all ranks.
  Status check(const std::string &label, const proto::Address &address, uint64_t bytes) const;
  /// The same for one side of a copy. A disk moves full blocks.
  Status checkCopied(const std::string &label, const proto::Address &address, uint64_t bytes) const;

private:
  Mesh mesh;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> arenas; ///< bytes
};

} // namespace zero::rt

#endif // RUNTIME_LOAD_BOUNDS_H
