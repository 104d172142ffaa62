//===- RecurrentLoops.cpp - loops of recurrent layers ---------------------===//

#include "RecurrentLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zero::ops {

/// A tile's sums are 8 vectors: with 6 operands they fit into the 16 registers of AVX2.
static constexpr int64_t kTileRows = 4, kTileColumns = 2;
static constexpr int64_t kFewRows = 4, kMostRows = 8;

int64_t rowsTogether(int64_t batch) {
  for (int64_t rows = kMostRows; rows >= kFewRows; --rows)
    if (batch % rows == 0)
      return rows;
  return batch;
}

Values repeat(ImplicitLocOpBuilder &b, int64_t extent, ValueRange carried, LoopBody body) {
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value end = arith::ConstantIndexOp::create(b, extent);
  auto loop = scf::ForOp::create(b, zero, end, one, carried,
                                 [&](OpBuilder &inner, Location loc, Value index, ValueRange in) {
                                   ImplicitLocOpBuilder nested(loc, inner);
                                   scf::YieldOp::create(nested, body(nested, index, in));
                                 });
  return Values(loop.getResults());
}

/// `carry` without null values.
static Values packed(const Carry &carry) {
  Values values;
  llvm::copy_if(carry, std::back_inserter(values), [](Value value) { return bool(value); });
  return values;
}

static void unpack(ValueRange values, Carry &carry) {
  for (Value &value : carry)
    if (value) {
      value = values.front();
      values = values.drop_front();
    }
}

void repeatOver(ImplicitLocOpBuilder &b, int64_t extent, Carry &carry, CarryBody body) {
  Values results = repeat(b, extent, packed(carry),
                          [&](ImplicitLocOpBuilder &in, Value index, ValueRange values) {
                            Carry inner = carry;
                            unpack(values, inner);
                            body(in, index, inner);
                            return packed(inner);
                          });
  unpack(results, carry);
}

void forPoints(ImplicitLocOpBuilder &b, int64_t rows, int64_t columns, Carry &carry,
               PointBody body) {
  repeatOver(b, rows, carry, [&](ImplicitLocOpBuilder &outer, Value row, Carry &inRow) {
    repeatOver(outer, columns, inRow, [&](ImplicitLocOpBuilder &in, Value column, Carry &values) {
      body(in, row, column, values);
    });
  });
}

Value at(ImplicitLocOpBuilder &b, Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, tensor, indices);
}

Value with(ImplicitLocOpBuilder &b, Value tensor, ValueRange indices, Value value) {
  return tensor::InsertOp::create(b, value, tensor, indices);
}

Value shifted(ImplicitLocOpBuilder &b, Value index, int64_t by) {
  if (by == 0)
    return index;
  return arith::AddIOp::create(b, index, arith::ConstantIndexOp::create(b, by));
}

/// The body of a tile, which gets its start and its width.
using TileBody =
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value start, int64_t width, Value carried)>;

/// Runs `body` over [begin, end) in tiles of `width`; the last may be narrower.
static Value forTiles(ImplicitLocOpBuilder &b, int64_t begin, int64_t end, int64_t width,
                      Value carried, TileBody body) {
  int64_t whole = (end - begin) / width, rest = (end - begin) % width;
  if (whole > 0)
    carried = repeat(b, whole, carried,
                     [&](ImplicitLocOpBuilder &in, Value index, ValueRange values) -> Values {
                       Value scale = arith::ConstantIndexOp::create(in, width);
                       Value scaled = arith::MulIOp::create(in, index, scale);
                       return {body(in, shifted(in, scaled, begin), width, values.front())};
                     })
                  .front();
  if (rest > 0)
    carried = body(b, arith::ConstantIndexOp::create(b, begin + whole * width), rest, carried);
  return carried;
}

/// `start`, and the `count` - 1 indices after it.
static Values indicesFrom(ImplicitLocOpBuilder &b, Value start, int64_t count) {
  Values indices;
  for (int64_t i = 0; i < count; ++i)
    indices.push_back(shifted(b, start, i));
  return indices;
}

static constexpr auto kContract = arith::FastMathFlags::contract;

/// The sums of a tile, row by row.
static Values sumsOfTile(ImplicitLocOpBuilder &b, const ProductShape &shape, ValueRange rows,
                         ValueRange columns, ElementAt left, Value weights) {
  Values zeros(rows.size() * columns.size(),
               constant(b, getElementTypeOrSelf(weights.getType()), 0));
  return repeat(b, shape.depth, zeros,
                [&](ImplicitLocOpBuilder &in, Value k, ValueRange sums) -> Values {
                  Values factors, next;
                  for (Value column : columns)
                    factors.push_back(at(in, weights, {column, shifted(in, k, shape.firstTerm)}));
                  for (Value row : rows) {
                    Value value = left(in, row, k);
                    for (Value factor : factors) {
                      Value term = arith::MulFOp::create(in, value, factor, kContract);
                      next.push_back(arith::AddFOp::create(
                          in, sums[next.size()], term, kContract | arith::FastMathFlags::reassoc));
                    }
                  }
                  return next;
                });
}

/// The sums of a block, a vector for each row.
static Values sumsOfBlock(ImplicitLocOpBuilder &b, const ProductShape &shape, ValueRange rows,
                          Value block, ElementAt left, Value weights) {
  auto type = VectorType::get({kBlockColumns}, getElementTypeOrSelf(weights.getType()));
  Value zero = arith::ConstantOp::create(b, type, b.getZeroAttr(type));
  return repeat(b, shape.depth, Values(rows.size(), zero),
                [&](ImplicitLocOpBuilder &in, Value k, ValueRange sums) -> Values {
                  Value first = arith::ConstantIndexOp::create(in, 0);
                  Value factors = vector::TransferReadOp::create(
                      in, type, weights, ValueRange{block, shifted(in, k, shape.firstTerm), first},
                      constant(in, type.getElementType(), 0), ArrayRef<bool>{true});
                  Values next;
                  for (auto [row, sum] : llvm::zip(rows, sums)) {
                    Value value = vector::BroadcastOp::create(in, type, left(in, row, k));
                    Value term = arith::MulFOp::create(in, value, factors, kContract);
                    next.push_back(arith::AddFOp::create(in, sum, term, kContract));
                  }
                  return next;
                });
}

static Value multipliedByBlocks(ImplicitLocOpBuilder &b, const ProductShape &shape, ElementAt left,
                                Value weights, Value out) {
  auto ofBlock = [&](ImplicitLocOpBuilder &outer, Value block, Value carried) {
    Value width = arith::ConstantIndexOp::create(outer, kBlockColumns);
    Value scaled = arith::MulIOp::create(outer, shifted(outer, block, -shape.begin), width);
    Value column = shifted(outer, scaled, shape.firstColumn);
    return forTiles(outer, 0, shape.rows, kTileRows, carried,
                    [&](ImplicitLocOpBuilder &in, Value row, int64_t height, Value values) {
                      Values rows = indicesFrom(in, row, height);
                      Values sums = sumsOfBlock(in, shape, rows, block, left, weights);
                      for (auto [r, sum] : llvm::zip(rows, sums))
                        values = vector::TransferWriteOp::create(
                                     in, sum, values, ValueRange{r, column}, ArrayRef<bool>{true})
                                     .getResult();
                      return values;
                    });
  };
  // All rows of a block, which stays in the nearest cache.
  return forTiles(b, shape.begin, shape.end, 1, out,
                  [&](ImplicitLocOpBuilder &in, Value block, int64_t, Value carried) {
                    return ofBlock(in, block, carried);
                  });
}

Value multiplied(ImplicitLocOpBuilder &b, const ProductShape &shape, ElementAt left, Value weights,
                 Value out) {
  if (tensorType(weights).getRank() == 3)
    return multipliedByBlocks(b, shape, left, weights, out);
  auto tile = [&](ImplicitLocOpBuilder &in, Value row, int64_t height, Value column, int64_t width,
                  Value carried) {
    Values rows = indicesFrom(in, row, height), columns = indicesFrom(in, column, width);
    Values sums = sumsOfTile(in, shape, rows, columns, left, weights);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value to = shifted(in, columns[i % width], shape.firstColumn - shape.begin);
      carried = with(in, carried, {rows[i / width], to}, sum);
    }
    return carried;
  };
  // All rows of a few columns: these stay in the nearest cache.
  return forTiles(b, shape.begin, shape.end, kTileColumns, out,
                  [&](ImplicitLocOpBuilder &outer, Value column, int64_t width, Value carried) {
                    return forTiles(
                        outer, 0, shape.rows, kTileRows, carried,
                        [&](ImplicitLocOpBuilder &in, Value row, int64_t height, Value values) {
                          return tile(in, row, height, column, width, values);
                        });
                  });
}

} // namespace zero::ops
