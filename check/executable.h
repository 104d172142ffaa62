//===- executable.h - read executables --------------------------*- C++ -*-===//
// The frame of a .zexe, read without the code of the runtime. docs/reference/executable.md
// describes it.
//===----------------------------------------------------------------------===//

#ifndef CHECK_EXECUTABLE_H
#define CHECK_EXECUTABLE_H

#include "check/refusal.h"
#include "runtime/format/executable.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zero::check {

namespace proto = rt::proto;

using Strides = google::protobuf::RepeatedField<int64_t>;

/// The contents of a .zexe.
struct Executable {
  proto::Program program;
  std::string code, data;
  std::vector<int64_t> kernelNumbers; ///< of `program.kernels`, by their content

  /// The bytes of the data section that `tensor` begins with, if any.
  std::string dataOf(const proto::Tensor &tensor) const;
  int ranks() const { return int(program.ranks()); }
  int64_t coordinateOf(int rank, int axis) const;
  /// The index of a rank among those that differ along `axes` only, of which the first is
  /// outermost.
  int indexOf(int rank, const std::vector<uint32_t> &axes) const;
  /// The elements of `tensor` that a rank has: fewer than all if it is split.
  uint64_t elementsOf(const proto::Tensor &tensor) const;
  /// The number of the slice of `buffer` that a rank has.
  int64_t sliceOf(const proto::Buffer &buffer, int rank) const {
    return buffer.shards() > 1
               ? indexOf(rank, {buffer.shard_axes().begin(), buffer.shard_axes().end()})
               : 0;
  }
  /// Where `rank` has what an address or a buffer has at `offset`, with these strides by axis.
  int64_t placeOf(uint64_t offset, const Strides &strides, int rank) const;
};

/// Reads and checks `path`: its program, then those of other shapes of the inputs. Throws a Refusal
/// that names what is wrong.
std::vector<Executable> readExecutable(const std::string &path);

uint64_t bytesOf(proto::DType type);
/// Axes as a set of bits.
template <typename Axes>
uint32_t setOf(const Axes &axes) {
  uint32_t set = 0;
  for (uint32_t axis : axes)
    set |= 1u << axis;
  return set;
}

/// Throws a Refusal that names a feature which the checker does not handle, or an entry of a table
/// that points nowhere.
void expectSupported(const Executable &executable);
/// The axes over which the batch of `program` is cut, but not that of `reference`.
std::vector<uint32_t> partAxes(const proto::Program &reference, const proto::Program &program);
/// Throws a Refusal unless `reference` is one of `program`: one micro-batch, stage 0, all on the
/// device, one rank along axes over which its batch is not cut, and along others the same ranks.
void expectReference(const proto::Program &reference, const proto::Program &program);
/// Throws a Refusal unless both have the same states, with the same initial values, and the same
/// inputs of a rank.
void expectSameModel(const Executable &reference, const Executable &executable);

inline uint64_t elementsOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  return elements;
}

} // namespace zero::check

#endif // CHECK_EXECUTABLE_H
