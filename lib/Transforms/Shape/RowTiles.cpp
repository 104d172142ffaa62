//===- RowTiles.cpp - number of rows of scores at a time ------------------===//

#include "RowTiles.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace zero {

// Without a limit from the user. Fewer rows would read the weights, and add to their
// gradient, more often than the products' own work hides.
static constexpr uint64_t kTileBytes = 8 << 20;
static constexpr int64_t kTileRows = 256;
/// Tiles start where rows are aligned to cache lines.
static constexpr int64_t kRowGrain = 16;

int64_t rowsPerTile(int64_t rows, int64_t rowBytes, uint64_t limit) {
  int64_t most =
      std::max<int64_t>((limit ? limit : kTileBytes) / std::max<int64_t>(rowBytes, 1), 1);
  if (!limit)
    most = std::max(most, kTileRows);
  if (most >= rows)
    return rows;
  int64_t even = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  int64_t aligned = llvm::alignTo(even, kRowGrain);
  return aligned <= most ? aligned : even;
}

} // namespace zero
