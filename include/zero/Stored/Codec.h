//===- Codec.h - IR that decodes and encodes elements -----------*- C++ -*-===//

#ifndef ZERO_STORED_CODEC_H
#define ZERO_STORED_CODEC_H

#include "zero/Stored/CodeTable.h"

#include "mlir/IR/Builders.h"

namespace zero::stored {

/// The smallest scale of a block, so that a block of zeros is divided by something.
inline constexpr double kLeastScale = 1e-12;

/// The numbers of `table` as a constant tensor, of which `decode` takes elements.
mlir::Value buildTable(mlir::OpBuilder &builder, mlir::Location loc, const CodeTable &table);

/// The element with the code `code` (an integer of any width) of a block with the scale `scale`, as
/// f32.
mlir::Value decode(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value table,
                   mlir::Value code, mlir::Value scale);

/// The place (i32) in a byte of the lowest bit of half `half` (index, 0 the low one).
mlir::Value shiftOfHalf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value half);

/// The code (i32) of 4 bits in half `half` (index, 0 the low one) of `byte` (i8).
mlir::Value codeOfHalf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value byte,
                       mlir::Value half);

/// The code (i32) whose number is nearest to `value` times `inverse`, that of the scale of its
/// block, both f32. NaN has some code.
mlir::Value encode(mlir::OpBuilder &builder, mlir::Location loc, const CodeTable &table,
                   mlir::Value value, mlir::Value inverse);

/// `value`, f32, as bf16: the neighbour above or below it, the nearer one more often, so that the
/// mean over many `bits` (i32) is `value`. These are mixed with the bits of `value`.
mlir::Value roundAtRandom(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          mlir::Value bits);

/// i32 bits of step number `step` (i64) in a run with the seed `seed`.
mlir::Value bitsOfStep(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value step,
                       int64_t seed);

/// i32 bits that depend on every bit of `bits` (i32), each with a probability of about 1/2.
mlir::Value mixBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value bits);

} // namespace zero::stored

#endif // ZERO_STORED_CODEC_H
