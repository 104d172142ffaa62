//===- RowTiles.h - number of rows of scores at a time ----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHAPE_ROWTILES_H
#define LIB_TRANSFORMS_SHAPE_ROWTILES_H

#include <cstdint>

namespace zero {

/// Rows of a tile of `rows` of `rowBytes` each, of at most `limit` bytes of scores, but at
/// least one; 0: the default.
int64_t rowsPerTile(int64_t rows, int64_t rowBytes, uint64_t limit);

} // namespace zero

#endif // LIB_TRANSFORMS_SHAPE_ROWTILES_H
