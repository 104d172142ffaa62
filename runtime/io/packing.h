//===- packing.h - documents that share rows --------------------*- C++ -*-===//

#ifndef RUNTIME_IO_PACKING_H
#define RUNTIME_IO_PACKING_H

#include <cstdint>
#include <functional>
#include <vector>

namespace zero::rt {

/// The documents of each row, row after row.
struct PackedRows {
  std::vector<uint64_t> documents;
  std::vector<uint64_t> begins; ///< of each row in `documents`, and the end of the last one

  uint64_t size() const { return begins.size() - 1; }
};

/// Puts documents 0 to `count` - 1 into rows of `width` tokens. A document that is longer fills a
/// row alone. Best fit by decreasing length, `window` documents at a time: each goes into the row
/// with the least space that still holds it, among equal ones into the earliest. A window then has
/// at most 11/9 of the fewest possible rows, and 4 (Johnson et al., Worst-Case Performance Bounds
/// for Simple One-Dimensional Packing Algorithms, SIAM J. Comput. 3(4), 1974). Takes n log n steps.
PackedRows packDocuments(uint64_t count, const std::function<uint64_t(uint64_t)> &lengthOf,
                         uint64_t width, uint64_t window);

} // namespace zero::rt

#endif // RUNTIME_IO_PACKING_H
