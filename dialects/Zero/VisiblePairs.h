//===- VisiblePairs.h - pairs that attention computes -----------*- C++ -*-===//

#ifndef DIALECTS_ZERO_VISIBLEPAIRS_H
#define DIALECTS_ZERO_VISIBLEPAIRS_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// Pairs of a query and a key that the bounds of `call` show, in an attention of so many queries
/// and keys.
int64_t countPairs(AttentionAttr call, int64_t queries, int64_t keys);

} // namespace zero

#endif // DIALECTS_ZERO_VISIBLEPAIRS_H
