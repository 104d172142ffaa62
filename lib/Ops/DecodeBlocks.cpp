//===- DecodeBlocks.cpp ---------------------------------------------------===//
//
// Elements that are stored as codes: operand 0 has the codes, operand 1 the f32 scales of blocks
// of `size` elements, and perhaps one element more, which is added to each (see #zero.blocks).
// A parameter that is stored so is frozen: there is no gradient.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Stored/Codec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
class Decoder {
public:
  Decoder(onnx::NodeOp node, ValueRange inputs, ImplicitLocOpBuilder &b)
      : b(b), codes(inputs[0]), scales(inputs[1]), result(node.outputType(0)),
        bits(node.getInt("bits", 8)), size(node.getInt("size", 0)),
        elements(result.getNumElements()), blocks(llvm::divideCeil(elements, size)) {
    const stored::CodeTable numbers(*symbolizeCodeMap(node.getString("map", "")), unsigned(bits));
    table = stored::buildTable(b, b.getLoc(), numbers);
    if (tensorType(scales).getNumElements() > blocks)
      splitMean();
  }

  Value run() {
    Value flat = elements % size != 0 ? decodeFlat() : bits == 4 ? decodeHalves() : decodeBytes();
    auto line = RankedTensorType::get({elements}, result.getElementType());
    return reshaped(b, reshaped(b, flat, line), result);
  }

private:
  /// The last element of the scales is the mean.
  void splitMean() {
    Value last = arith::ConstantIndexOp::create(b, blocks);
    mean = tensor::ExtractOp::create(b, scales, last);
    auto own = RankedTensorType::get({blocks}, b.getF32Type());
    scales =
        tensor::ExtractSliceOp::create(b, own, scales, SmallVector<OpFoldResult>{b.getIndexAttr(0)},
                                       SmallVector<OpFoldResult>{b.getIndexAttr(blocks)},
                                       SmallVector<OpFoldResult>{b.getIndexAttr(1)});
  }

  Value numberOf(ImplicitLocOpBuilder &s, Value code, Value scale) {
    Value number = stored::decode(s, s.getLoc(), table, code, scale);
    if (mean)
      number = arith::AddFOp::create(s, number, mean);
    return result.getElementType().isF32()
               ? number
               : arith::TruncFOp::create(s, result.getElementType(), number).getResult();
  }

  RankedTensorType shaped(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, result.getElementType());
  }
  Value rows(int64_t width) {
    return reshaped(b, codes, RankedTensorType::get({blocks, width}, b.getI8Type()));
  }

  /// Blocks of bytes.
  Value decodeBytes() {
    MLIRContext *context = b.getContext();
    auto all = AffineMap::getMultiDimIdentityMap(2, context);
    auto block = AffineMap::get(2, 0, b.getAffineDimExpr(0));
    return elementwise(
        b, {rows(size), scales}, {all, block}, shaped({blocks, size}),
        [&](ImplicitLocOpBuilder &s, ValueRange each) { return numberOf(s, each[0], each[1]); });
  }

  /// Blocks of 4 bits: first what the low halves of their bytes have, then the high ones.
  Value decodeHalves() {
    MLIRContext *context = b.getContext();
    AffineExpr row = b.getAffineDimExpr(0), column = b.getAffineDimExpr(2);
    return elementwise(b, {rows(size / 2), scales},
                       {AffineMap::get(3, 0, {row, column}, context), AffineMap::get(3, 0, row)},
                       shaped({blocks, 2, size / 2}),
                       [&](ImplicitLocOpBuilder &s, ValueRange each) {
                         Value half = linalg::IndexOp::create(s, 1);
                         Value code = stored::codeOfHalf(s, s.getLoc(), each[0], half);
                         return numberOf(s, code, each[1]);
                       });
  }

  /// Bytes, the last block of which is shorter.
  Value decodeFlat() {
    auto line = AffineMap::getMultiDimIdentityMap(1, b.getContext());
    return elementwise(b, codes, line, shaped({elements}),
                       [&](ImplicitLocOpBuilder &s, ValueRange each) {
                         Value index = linalg::IndexOp::create(s, 0);
                         Value width = arith::ConstantIndexOp::create(s, size);
                         Value block = arith::DivUIOp::create(s, index, width);
                         Value scale = tensor::ExtractOp::create(s, scales, block);
                         return numberOf(s, each[0], scale);
                       });
  }

  ImplicitLocOpBuilder &b;
  Value codes, scales, table, mean;
  RankedTensorType result;
  int64_t bits, size, elements, blocks;
};
} // namespace

static LogicalResult lowerDecodeBlocks(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                       Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(Decoder(node, inputs, b).run());
  return success();
}

void registerDecodeBlocks() {
  OpDef def{own::DecodeBlocks, 1, 1, Kind::Other, lowerDecodeBlocks};
  registerOp(def.with(&OpDef::narrow, Narrow::Own));
}

} // namespace zero::ops
