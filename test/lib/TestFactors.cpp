//===- TestFactors.cpp - factors of nodes, for tests ----------------------===//

#include "test/lib/Passes.h"
#include "zero/Ops/Concat.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Sharding.h"

#include <numeric>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TESTPRINTFACTORS
#define GEN_PASS_DEF_TESTDIVIDENODES
#include "test/lib/Passes.h.inc"

using ops::Factor;
using ops::FactorKind;
using ops::Factors;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The dimensions of tensors as letters of factors, as in "(ij, jk)"; "*" is in no factor, and "-"
/// no tensor.
static std::string print(ValueRange values, const Factors &factors,
                         llvm::function_ref<ArrayRef<int64_t>(const Factor &)> dimsOf) {
  SmallVector<std::string> texts;
  for (auto [index, value] : llvm::enumerate(values)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::string text = type ? std::string(type.getRank(), '*') : "-";
    for (auto [letter, factor] : llvm::enumerate(factors))
      if (int64_t dim = dimsOf(factor)[index]; dim >= 0)
        text[dim] = char('i' + letter);
    texts.push_back(text);
  }
  return "(" + llvm::join(texts, ", ") + ")";
}

static std::string print(onnx::NodeOp node) {
  const Factors factors = ops::factorsOf(node);
  std::string text =
      print(node.getInputs(), factors,
            [](const Factor &factor) -> ArrayRef<int64_t> { return factor.operands; }) +
      " -> " + print(node.getOutputs(), factors, [](const Factor &factor) -> ArrayRef<int64_t> {
        return factor.results;
      });
  for (auto [letter, factor] : llvm::enumerate(factors))
    if (factor.kind != FactorKind::Parallel) {
      text += factor.kind == FactorKind::Sum ? " sum " : " mean ";
      text += char('i' + letter);
      if (factor.addend >= 0)
        text += " + operand " + std::to_string(factor.addend);
    }
  return text;
}

namespace {
struct TestPrintFactors : impl::TestPrintFactorsBase<TestPrintFactors> {
  void runOnOperation() override {
    getOperation().walk([](onnx::NodeOp node) {
      emitRemark(node.getLoc()) << node.getOpType() << ": " << print(node);
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Dividing
//===----------------------------------------------------------------------===//

/// The smallest number of parts, more than one, that divides all dimensions of `factor`; 1 if there
/// is none.
static int64_t partsOf(onnx::NodeOp node, const Factor &factor) {
  int64_t common = 0;
  auto visit = [&](ValueRange values, ArrayRef<int64_t> dims) {
    for (auto [value, dim] : llvm::zip_equal(values, dims))
      if (dim >= 0)
        common = std::gcd(common, tensorType(value).getDimSize(dim));
  };
  visit(node.getInputs(), factor.operands);
  visit(node.getOutputs(), factor.results);
  for (int64_t parts = 2; parts <= common; ++parts)
    if (common % parts == 0)
      return parts;
  return 1;
}

/// `node` applied to part `part` of its operands.
static onnx::NodeOp applyToPart(NodeBuilder &builder, onnx::NodeOp node, const Factor &factor,
                                ArrayRef<SmallVector<Value>> operands, int64_t part) {
  const int64_t parts = operands.front().size();
  Value nothing;
  if (factor.addend >= 0)
    nothing = factor.addend == 0 ? builder.splat(0, node.inputType(0)) : builder.none();
  auto copy = cast<onnx::NodeOp>(builder.getBuilder().clone(*node));
  for (auto [index, values] : llvm::enumerate(operands))
    copy->setOperand(index, values[part]);
  if (factor.addend >= 0 && part > 0)
    copy->setOperand(factor.addend, nothing);
  for (auto [result, dim] : llvm::zip_equal(copy.getOutputs(), factor.results))
    if (dim >= 0)
      result.setType(
          tensorType(result).clone(*ops::shardShape(tensorType(result), ops::Cut{dim}, parts)));
  ops::adjustExtents(copy, parts);
  return copy;
}

/// What `values` of the parts of a result are together.
static Value join(NodeBuilder &builder, const SmallVector<Value> &values, int64_t dim,
                  FactorKind kind) {
  if (dim >= 0)
    return concatNode(builder, values, dim);
  Value result = values.front();
  if (kind == FactorKind::Parallel)
    return result;
  for (Value value : ArrayRef(values).drop_front())
    result = builder.add(result, value);
  return kind == FactorKind::Sum
             ? result
             : builder.div(result, builder.scalar(double(values.size()), result.getType()));
}

/// Replaces `node` by its application to parts along each of its factors from `first` on.
static void divide(onnx::NodeOp node, size_t first) {
  const Factors factors = ops::factorsOf(node);
  for (size_t index = first; index < factors.size(); ++index) {
    const Factor &factor = factors[index];
    const int64_t parts = partsOf(node, factor);
    if (parts == 1)
      continue;
    OpBuilder at(node);
    NodeBuilder builder(at, node.getLoc(), node.getNode());
    SmallVector<SmallVector<Value>> operands;
    for (auto [input, dim] : llvm::zip_equal(node.getInputs(), factor.operands)) {
      SmallVector<int64_t> sizes(parts, dim < 0 ? 0 : tensorType(input).getDimSize(dim) / parts);
      operands.push_back(dim < 0 ? SmallVector<Value>(parts, input)
                                 : splitNode(builder, input, sizes, dim));
    }
    SmallVector<onnx::NodeOp> copies;
    for (int64_t part = 0; part < parts; ++part)
      copies.push_back(applyToPart(builder, node, factor, operands, part));
    for (auto [number, result] : llvm::enumerate(node.getOutputs())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      SmallVector<Value> values;
      for (onnx::NodeOp copy : copies)
        values.push_back(copy.getResult(number));
      result.replaceAllUsesWith(join(builder, values, factor.results[number], factor.kind));
    }
    node.erase();
    for (onnx::NodeOp copy : copies)
      divide(copy, index + 1);
    return;
  }
}

namespace {
struct TestDivideNodes : impl::TestDivideNodesBase<TestDivideNodes> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes)
      divide(node, 0);
  }
};
} // namespace

} // namespace zero
