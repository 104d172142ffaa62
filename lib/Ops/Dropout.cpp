//===- Dropout.cpp --------------------------------------------------------===//
//
// ONNX: Dropout. With ratio 0, or outside of training mode,
// it is the identity and its mask is all true. Else it is expanded to
//
//   zero.DropoutKey(step)                 {op, seed}  -> tensor<4xi32>
//   zero.DropoutMask(key, part, training) {ratio}     -> a truth value for each element
//
// and a Where. The mask is drawn by Philox4x32-10 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011): the counter of an element is
// (its place in the row, the row's number in the global batch, op, step), the key
// is the seed, and the first word drawn decides. So nothing depends on how the
// batch, whose rows lie along the first dimension, is cut over ranks and
// micro-batches, nor on the order of evaluation. `op` is a hash of the node's
// name; `seed` joins --seed and the node's own.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// The ratio dropped; 0 outside of training mode. Fails after an error when it is
/// not known.
static FailureOr<double> droppedRatio(onnx::NodeOp node) {
  if (!node.hasInput(2) || splatNumber(node.getInputs()[2]) == 0.0)
    return 0.0;
  std::optional<double> ratio = node.hasInput(1) ? splatNumber(node.getInputs()[1]) : 0.5;
  if (!ratio || !splatNumber(node.getInputs()[2]))
    return nodeError(node) << "expected a constant ratio and training mode";
  if (!(*ratio >= 0 && *ratio < 1))
    return nodeError(node) << "expected a ratio of at least 0 and below 1, got " << *ratio;
  return *ratio;
}

/// --seed in one half and the node's own seed in the other.
static int64_t seedOf(onnx::NodeOp node) {
  auto program = node->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(kSeedAttr);
  uint64_t seed = program ? program.getInt() : 0;
  return int64_t(seed ^ (uint64_t(node.getInt("seed", 0)) << 32));
}

/// The random mask of `node`.
static Value drawMask(onnx::NodeOp node, double ratio, NodeBuilder &nodes) {
  Builder &builder = nodes.getBuilder();
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  int64_t op = uint32_t(llvm::xxh3_64bits(node.getNode()));
  Value key =
      nodes
          .create(kZeroDomain, "DropoutKey", RankedTensorType::get({4}, builder.getI32Type()),
                  nodes.programInput(kStepNumber, i64),
                  {nodes.attr("op", op), nodes.attr("seed", seedOf(node))})
          .getResult(0);
  return nodes
      .create(kZeroDomain, "DropoutMask", node.outputType(0).clone(i1),
              {key, nodes.programInput(kBatchPart, i64), nodes.programInput(kTraining, i1)},
              nodes.attr("ratio", ratio))
      .getResult(0);
}

static LogicalResult expandDropout(onnx::NodeOp node, NodeBuilder &nodes,
                                   SmallVectorImpl<Value> &results) {
  FailureOr<double> ratio = droppedRatio(node);
  if (failed(ratio))
    return failure();
  Value data = node.getInputs().front();
  if (*ratio == 0) {
    results.push_back(data);
    if (node.getOutputs().size() > 1)
      results.push_back(arith::ConstantOp::create(
          nodes.getBuilder(), nodes.getLoc(), DenseElementsAttr::get(node.outputType(1), true)));
    return success();
  }
  Value mask = drawMask(node, *ratio, nodes);
  Value training = nodes.programInput(kTraining, nodes.getBuilder().getI1Type());
  Type type = data.getType();
  Value scale = nodes.where(training, nodes.scalar(1 / (1 - *ratio), type), nodes.scalar(1, type));
  results.push_back(nodes.where(mask, nodes.mul(data, scale), nodes.scalar(0, type)));
  if (node.getOutputs().size() > 1)
    results.push_back(mask);
  return success();
}

//===----------------------------------------------------------------------===//
// Key and mask
//===----------------------------------------------------------------------===//

/// (op, step, low half of the seed, high half).
static LogicalResult lowerDropoutKey(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Type i32 = b.getI32Type();
  auto word = [&](uint64_t value) {
    return arith::ConstantIntOp::create(b, i32, int32_t(value)).getResult();
  };
  uint64_t seed = node.getInt("seed", 0);
  Value step =
      arith::TruncIOp::create(b, i32, tensor::ExtractOp::create(b, inputs[0], ValueRange()));
  Value words[] = {word(node.getInt("op", 0)), step, word(seed), word(seed >> 32)};
  lowered.results.push_back(tensor::FromElementsOp::create(b, node.outputType(0), words));
  return success();
}

/// The two halves of the product of two 32-bit words, the high one first.
static std::pair<Value, Value> wideProduct(ImplicitLocOpBuilder &b, Value a, uint32_t factor) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value product =
      arith::MulIOp::create(b, arith::ExtUIOp::create(b, i64, a),
                            arith::ConstantIntOp::create(b, i64, int64_t(factor)).getResult());
  Value shift = arith::ConstantIntOp::create(b, i64, 32);
  return {arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, product, shift)),
          arith::TruncIOp::create(b, i32, product)};
}

/// The first word of Philox4x32-10 for `counter` and `key`.
static Value philox(ImplicitLocOpBuilder &b, std::array<Value, 4> counter,
                    std::array<Value, 2> key) {
  constexpr uint32_t kMultipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    auto [high0, low0] = wideProduct(b, counter[0], kMultipliers[0]);
    auto [high1, low1] = wideProduct(b, counter[2], kMultipliers[1]);
    auto mix = [&](Value high, Value word, Value k) -> Value {
      return arith::XOrIOp::create(b, arith::XOrIOp::create(b, high, word), k);
    };
    counter = {mix(high1, counter[1], key[0]), low1, mix(high0, counter[3], key[1]), low0};
    for (auto [k, weyl] : llvm::zip(key, kWeyl))
      k = arith::AddIOp::create(
          b, k, arith::ConstantIntOp::create(b, b.getI32Type(), int32_t(weyl)).getResult());
  }
  return counter[0];
}

/// The place of the current element in its row, and the row's number, as words.
static std::pair<Value, Value> elementAndRow(ImplicitLocOpBuilder &b, RankedTensorType type,
                                             Value part) {
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, i64, value).getResult();
  };
  auto position = [&](int64_t dim) -> Value {
    return arith::IndexCastOp::create(b, i64, linalg::IndexOp::create(b, dim).getResult());
  };
  Value element = number(0), row = part;
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    element = arith::AddIOp::create(
        b, arith::MulIOp::create(b, element, number(type.getDimSize(dim))), position(dim));
  if (type.getRank() > 0)
    row = arith::AddIOp::create(b, arith::MulIOp::create(b, part, number(type.getDimSize(0))),
                                position(0));
  auto word = [&](Value value) -> Value {
    return arith::TruncIOp::create(b, b.getI32Type(), value);
  };
  return {word(element), word(row)};
}

static LogicalResult lowerDropoutMask(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  double ratio = node.getFloat("ratio", 0);
  auto threshold = int32_t(uint32_t(std::ldexp(ratio, 32)));
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
    auto word = [&](int64_t index) -> Value {
      return tensor::ExtractOp::create(s, inputs[0],
                                       arith::ConstantIndexOp::create(s, index).getResult());
    };
    Value part = tensor::ExtractOp::create(s, inputs[1], ValueRange());
    Value training = tensor::ExtractOp::create(s, inputs[2], ValueRange());
    auto [element, row] = elementAndRow(s, type, part);
    Value drawn = philox(s, {element, row, word(0), word(1)}, {word(2), word(3)});
    Value limit = arith::ConstantIntOp::create(s, s.getI32Type(), threshold);
    Value kept = arith::CmpIOp::create(s, arith::CmpIPredicate::uge, drawn, limit);
    Value always = arith::XOrIOp::create(s, training, arith::ConstantIntOp::create(s, 1, 1));
    return arith::OrIOp::create(s, kept, always);
  };
  lowered.results.push_back(elementwise(b, ValueRange(), type, body));
  return success();
}

void registerDropout() {
  registerOp({"", "Dropout", 13, kNewestOpset, Kind::Other, nullptr, nullptr, expandDropout});
  registerOp({kZeroDomain, "DropoutKey", 1, 1, Kind::Other, lowerDropoutKey});
  registerOp({kZeroDomain, "DropoutMask", 1, 1, Kind::Other, lowerDropoutMask});
}

} // namespace zero::ops
