//===- executable.h - read executables --------------------------*- C++ -*-===//
// The frame of a .zexe, read without the code of the runtime. docs/reference/executable.md
// describes it.
//===----------------------------------------------------------------------===//

#ifndef CHECK_EXECUTABLE_H
#define CHECK_EXECUTABLE_H

#include "runtime/format/executable.pb.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zero::check {

namespace proto = rt::proto;

/// A rank's coordinates in the mesh.
using Coordinates = std::vector<int64_t>;

/// The contents of a .zexe.
struct Executable {
  std::string path;
  proto::Program program;
  std::string code, data;

  int ranks() const { return int(program.ranks()); }
  Coordinates coordinatesOf(int rank) const;
  /// The index of `rank` among the parts of the batch.
  int dataIndexOf(int rank) const;
  /// Where `rank` has what an address or a buffer has at `offset`, with these strides by axis.
  int64_t placeOf(uint64_t offset, const google::protobuf::RepeatedField<int64_t> &strides,
                  int rank) const;
};

/// Reads and checks `path`. Throws a Refusal that names what is wrong.
Executable readExecutable(const std::string &path);

uint64_t bytesOf(proto::DType type);

inline uint64_t elementsOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  return elements;
}

} // namespace zero::check

#endif // CHECK_EXECUTABLE_H
