//===- DftMatrix.cpp - pieces of Fourier transforms -----------------------===//
//
// zero: DftMatrix() {length, parts_in, parts_out, inverse, mirrored}: see Dft.h. It is
// made in each step from a table of `length` angles; transforms of one kind share it.
//
// zero: DftTurn(x) {length, inverse}: see Dft.h. Gradient: the turn the other way.
//
//===----------------------------------------------------------------------===//

#include "Dft.h"
#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Value dftMatrixNode(NodeBuilder &builder, const DftMatrix &matrix, int64_t taken, int64_t made,
                    Type element) {
  auto type = RankedTensorType::get({taken * matrix.partsIn, made * matrix.partsOut}, element);
  return builder
      .create(own::DftMatrix, type, {},
              {builder.attr("length", matrix.length), builder.attr("parts_in", matrix.partsIn),
               builder.attr("parts_out", matrix.partsOut),
               builder.attr("inverse", int64_t(matrix.inverse)),
               builder.attr("mirrored", int64_t(matrix.mirrored))})
      .getResult(0);
}

Value dftTurnNode(NodeBuilder &builder, Value value, int64_t length, bool inverse) {
  return builder
      .create(own::DftTurn, value.getType(), value,
              {builder.attr("length", length), builder.attr("inverse", int64_t(inverse))})
      .getResult(0);
}

static LogicalResult turnGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  grads[0] = dftTurnNode(builder, dy[0], node.getInt("length", 1), node.getInt("inverse", 0) == 0);
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
/// e^(2 pi i / length) to all powers, as two tables in a kernel.
struct Turns {
  Turns(ImplicitLocOpBuilder &b, int64_t length, Type element) : length(length) {
    auto table = [&](double (*function)(double)) -> Value {
      SmallVector<Attribute> values;
      for (int64_t i = 0; i < length; ++i) {
        double value = function(2 * M_PI * double(i) / double(length));
        // Quarter rotations are exact: zeros are exactly zero.
        values.push_back(b.getFloatAttr(element, 4 * i % length == 0 ? std::round(value) : value));
      }
      auto type = RankedTensorType::get({length}, element);
      return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
    };
    cosines = table(std::cos);
    sines = table(std::sin);
  }

  /// The index of the product of two numbers in the tables.
  Value index(ImplicitLocOpBuilder &b, Value m, Value n) const {
    Value product = arith::MulIOp::create(b, m, n);
    return arith::RemUIOp::create(b, product, arith::ConstantIndexOp::create(b, length));
  }

  int64_t length;
  Value cosines, sines;
};
} // namespace

static Value equals(ImplicitLocOpBuilder &b, Value a, int64_t value) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, a,
                               arith::ConstantIndexOp::create(b, value));
}

static Value negative(ImplicitLocOpBuilder &b, Value x) { return arith::NegFOp::create(b, x); }

/// The multiplicity of number `index` of one half in the full `length`. The numbers at the ends of
/// the half have no mirror image.
static Value timesCounted(ImplicitLocOpBuilder &b, Value index, int64_t length, Type element) {
  Value isSingle = equals(b, index, 0);
  if (length % 2 == 0)
    isSingle = arith::OrIOp::create(b, isSingle, equals(b, index, length / 2));
  return arith::SelectOp::create(b, isSingle, constant(b, element, 1), constant(b, element, 2));
}

/// Entry (n, p), (m, q) is the contribution of part p of number n to part q of number m: e^(-+ 2 pi
/// i n m / length) as a real 2 x 2 matrix.
static LogicalResult lowerDftMatrix(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                                    Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  Type element = type.getElementType();
  int64_t partsIn = node.getInt("parts_in", 1), partsOut = node.getInt("parts_out", 1);
  bool inverse = node.getInt("inverse", 0) != 0, mirrored = node.getInt("mirrored", 0) != 0;
  Turns turns(b, node.getInt("length", 1), element);
  auto entry = [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
    Value row = linalg::IndexOp::create(s, 0), column = linalg::IndexOp::create(s, 1);
    Value in = arith::ConstantIndexOp::create(s, partsIn);
    Value out = arith::ConstantIndexOp::create(s, partsOut);
    Value n = arith::DivUIOp::create(s, row, in), m = arith::DivUIOp::create(s, column, out);
    Value isImaginary = equals(s, arith::RemUIOp::create(s, row, in), 1);
    Value toImaginary = equals(s, arith::RemUIOp::create(s, column, out), 1);
    Value index = turns.index(s, n, m);
    Value cosine = tensor::ExtractOp::create(s, turns.cosines, index);
    Value sine = tensor::ExtractOp::create(s, turns.sines, index);
    // From imaginary to real it is the sine in the forward transform, and its negative in the
    // inverse.
    Value opposite = negative(s, sine);
    Value cross = arith::SelectOp::create(s, isImaginary, inverse ? opposite : sine,
                                          inverse ? sine : opposite);
    Value crosses = arith::CmpIOp::create(s, arith::CmpIPredicate::ne, isImaginary, toImaginary);
    Value value = arith::SelectOp::create(s, crosses, cross, cosine);
    if (mirrored)
      value = arith::MulFOp::create(s, value, timesCounted(s, n, turns.length, element));
    if (inverse)
      value = arith::MulFOp::create(s, value, constant(s, element, 1.0 / double(turns.length)));
    return value;
  };
  lowered.results.push_back(elementwise(b, {}, type, entry));
  return success();
}

static LogicalResult lowerTurn(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  bool inverse = node.getInt("inverse", 0) != 0;
  Turns turns(b, node.getInt("length", 1), type.getElementType());
  auto turned = [&](ImplicitLocOpBuilder &s, ValueRange x) -> Value {
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < 4; ++dim)
      at.push_back(linalg::IndexOp::create(s, dim));
    Value part = at[3], index = turns.index(s, at[1], at[2]);
    at[3] = arith::SubIOp::create(s, arith::ConstantIndexOp::create(s, 1), part);
    Value other = tensor::ExtractOp::create(s, inputs[0], at);
    Value cosine = tensor::ExtractOp::create(s, turns.cosines, index);
    Value sine = tensor::ExtractOp::create(s, turns.sines, index), opposite = negative(s, sine);
    Value cross = arith::SelectOp::create(s, equals(s, part, 0), inverse ? opposite : sine,
                                          inverse ? sine : opposite);
    return arith::AddFOp::create(s, arith::MulFOp::create(s, x[0], cosine).getResult(),
                                 arith::MulFOp::create(s, other, cross).getResult());
  };
  lowered.results.push_back(elementwise(b, inputs[0], type, turned));
  return success();
}

void registerDftMatrix() {
  registerOp({own::DftMatrix, 1, 1, Kind::Other, lowerDftMatrix});
  registerOp({own::DftTurn, 1, 1, Kind::Other, lowerTurn, turnGradient});
}

} // namespace zero::ops
