//===- Bytes.h - mutates plain bytes and text -------------------*- C++ -*-===//

#ifndef TEST_FUZZ_BYTES_H
#define TEST_FUZZ_BYTES_H

#include "Random.h"

#include <string>

namespace zero::fuzz {

/// Flips, overwrites, cuts, repeats or moves bytes a few times.
void mutateBytes(std::string &bytes, Random &random);

/// Swaps, repeats, drops and replaces words, numbers and lines of `text`.
void mutateText(std::string &text, Random &random);

} // namespace zero::fuzz

#endif // TEST_FUZZ_BYTES_H
