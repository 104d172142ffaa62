//===- bounds.h - check addresses -------------------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_BOUNDS_H
#define RUNTIME_LOAD_BOUNDS_H

#include "runtime/load/program.h"

#include <array>

namespace zero::rt {

/// An error about the `what` with name `name` of the tables.
Status badTable(const char *what, const std::string &name, const char *why);

/// Bytes of `count` elements; false for an unknown type or an overflow.
bool sizeInBytes(proto::DType dtype, uint64_t count, uint64_t &bytes);

/// The arenas of a program whose numbers of ranks and micro-batches have been checked.
class Bounds {
public:
  explicit Bounds(const proto::Program &program);

  /// Bytes of the largest arena.
  uint64_t most() const { return *std::max_element(arenas.begin(), arenas.end()); }
  bool fits(proto::Tier tier, uint64_t offset, uint64_t bytes) const;
  /// `bytes` at `address` are in the arena of its tier on the first and on the last rank, and so on
  /// all ranks between.
  Status check(const std::string &label, const proto::Address &address, uint64_t bytes) const;
  /// The same for one side of a copy. A disk moves full blocks.
  Status checkCopied(const std::string &label, const proto::Address &address, uint64_t bytes) const;

private:
  uint32_t ranks;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> arenas; ///< bytes
};

} // namespace zero::rt

#endif // RUNTIME_LOAD_BOUNDS_H
