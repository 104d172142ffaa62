//===- attention_cases.h - attentions of all devices ------------*- C++ -*-===//
//
// Lists that the tests of the CPU and those of GPUs share. The sizes are arguments: a GPU is
// interpreted, which takes longer.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_ATTENTION_CASES_H
#define TEST_UNIT_RUNTIME_ATTENTION_CASES_H

#include "attention_case.h"

namespace zero::rt {

/// `within`: the limit of errors; 0: that of the test.
struct ListedCase {
  AttentionCase data;
  double within = 0;
};
using Cases = std::vector<ListedCase>;
using Lengths = std::vector<std::array<uint64_t, 2>>; ///< of queries and keys

Cases casesOfLayouts(uint64_t length);
Cases casesOfWidths(const std::vector<uint64_t> &widths);
/// Not causal, and causal with several offsets.
Cases casesOfLengths(const Lengths &lengths);
/// Without batches, heads, rows or columns.
Cases casesOfNothing();
/// Masks over some of the dimensions, with and without padding.
Cases casesOfMasks(const std::vector<std::array<bool, 4>> &over, const Lengths &lengths);
/// Windows and prefixes of keys, with and without causal bounds and masks.
Cases casesOfWindows(const Lengths &lengths);
/// Segments next to every other mask, within a window, and of other lengths than tiles.
Cases casesOfSegments(const Lengths &lengths);
/// Rows whose keys are all hidden.
Cases casesOfBlindRows(uint64_t keys);
/// Hidden keys that have weight all the same.
Cases casesOfSmallFills(uint64_t length);
/// Stored in 16 bits, with factors of float32.
Cases casesOfShortTypes(uint64_t length, const std::vector<Layout> &layouts);

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_ATTENTION_CASES_H
