//===- Philox.cpp - counter-based random numbers --------------------------===//
//
// zero.RandomKey(step) {op, seed} -> tensor<4xi32>: (op, step, low half of the seed,
// high half). `op` is the node's number, `seed` joins --seed and the node's own.
//
//===----------------------------------------------------------------------===//

#include "Philox.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/Random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace zero {

bool drawsRandom(onnx::NodeOp node) {
  return node.isAnyOf({op::Dropout, op::Bernoulli, op::Multinomial, op::RandomUniform,
                       op::RandomUniformLike, op::RandomNormal, op::RandomNormalLike});
}

uint32_t randomNodeNumber(StringRef name) { return uint32_t(llvm::xxh3_64bits(name)); }

} // namespace zero

namespace zero::ops {

Value randomKey(onnx::NodeOp node, uint32_t ownSeed, NodeBuilder &nodes) {
  Builder &builder = nodes.getBuilder();
  auto program = node->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(kSeedAttr);
  uint64_t seed = (program ? program.getInt() : 0) ^ (uint64_t(ownSeed) << 32);
  return nodes
      .create(own::RandomKey, RankedTensorType::get({4}, builder.getI32Type()),
              nodes.programInput(kStepNumber, builder.getI64Type()),
              {nodes.attr("op", int64_t(randomNodeNumber(node.getNode()))),
               nodes.attr("seed", int64_t(seed))})
      .getResult(0);
}

static LogicalResult lowerRandomKey(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
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

/// The words of Philox4x32-10 for `counter` and `key`.
static std::array<Value, 4> philox(ImplicitLocOpBuilder &b, std::array<Value, 4> counter,
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
  return counter;
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

std::array<Value, 4> drawWords(ImplicitLocOpBuilder &b, RankedTensorType type, Value key,
                               Value part) {
  auto word = [&](int64_t index) -> Value {
    return tensor::ExtractOp::create(b, key, arith::ConstantIndexOp::create(b, index).getResult());
  };
  auto [element, row] = elementAndRow(b, type, tensor::ExtractOp::create(b, part, ValueRange()));
  return philox(b, {element, row, word(0), word(1)}, {word(2), word(3)});
}

void registerPhilox() { registerOp({own::RandomKey, 1, 1, Kind::Other, lowerRandomKey}); }

} // namespace zero::ops
