//===- memory.h - contents of an arena --------------------------*- C++ -*-===//

#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

#include "check/terms.h"

#include <map>

namespace zero::check {

/// The value of each byte of an arena, and the command that wrote it.
class Memory {
public:
  /// The values of bytes [begin, begin + size), in as few slices as possible; of those without one,
  /// the term is 0.
  Slices read(int64_t begin, int64_t size) const;
  void write(int64_t begin, const Slices &values, int32_t writer);
  void write(int64_t begin, int64_t size, Slice value, int32_t writer) {
    write(begin, {{value.term, value.offset, size}}, writer);
  }
  /// The command that wrote the byte, -1 if it was none.
  int32_t writerOf(int64_t place) const;

private:
  struct Piece {
    int64_t end;
    Term term; ///< 0: overwritten by `writer` with what is no value
    int64_t offset;
    int32_t writer;
  };
  using Pieces = std::map<int64_t, Piece>; ///< by their first byte

  /// The first piece that ends behind `begin`.
  Pieces::const_iterator firstFrom(int64_t begin) const;
  void erase(int64_t begin, int64_t end);

  Pieces pieces;
};

/// Appends `slice`, as part of the last one if it continues that.
void append(Slices &slices, Slice slice);

/// Bytes [begin, begin + size) of `values`.
Slices sliceOf(const Slices &values, int64_t begin, int64_t size);

} // namespace zero::check

#endif // CHECK_MEMORY_H
