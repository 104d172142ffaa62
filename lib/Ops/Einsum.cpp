//===- Einsum.cpp ---------------------------------------------------------===//
//
// ONNX: Einsum. Of two operands with each index at most once in each it is one
// linalg.generic whose maps are the equation; EinsumForms.cpp makes this of all
// others. Gradient: the Einsum that puts the result in an operand's place.
//
//===----------------------------------------------------------------------===//

#include "Einsum.h"
#include "Contraction.h"
#include "Movement.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <map>

using namespace mlir;

namespace zero::ops {

namespace {
/// The indices of the operands and of the result, one letter each.
struct Equation {
  std::string sides[3];

  bool has(unsigned side, char index) const { return sides[side].find(index) != std::string::npos; }
};
} // namespace

/// Without `->` the result has the indices that occur once, in alphabetical order.
static std::string impliedResult(const Equation &equation) {
  std::map<char, int> counts;
  for (char index : equation.sides[0] + equation.sides[1])
    ++counts[index];
  std::string result;
  for (auto [index, count] : counts)
    if (count == 1)
      result += index;
  return result;
}

/// The equation of a node that expandEinsum does not change.
static Equation equationOf(onnx::NodeOp node) {
  std::string text = node.getString("equation", "").str();
  llvm::erase(text, ' ');
  auto [operands, result] = StringRef(text).split("->");
  auto [left, right] = operands.split(',');
  Equation equation{{left.str(), right.str(), result.str()}};
  if (!StringRef(text).contains("->"))
    equation.sides[2] = impliedResult(equation);
  return equation;
}

static LogicalResult lowerEinsum(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  Equation equation = equationOf(node);
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  // Loops: the result's indices in its order, then those that are summed.
  std::string loops = equation.sides[2];
  for (char index : equation.sides[0] + equation.sides[1])
    if (loops.find(index) == std::string::npos)
      loops += index;
  SmallVector<AffineMap> maps;
  for (const std::string &side : equation.sides) {
    auto exprs = llvm::map_to_vector(
        side, [&](char index) { return b.getAffineDimExpr(loops.find(index)); });
    maps.push_back(AffineMap::get(loops.size(), 0, exprs, b.getContext()));
  }
  SmallVector<utils::IteratorType> iterators(loops.size(), utils::IteratorType::parallel);
  for (size_t loop = equation.sides[2].size(); loop < loops.size(); ++loop)
    iterators[loop] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      b, TypeRange(node.outputType(0)), inputs, filled(b, node.outputType(0), 0), maps, iterators,
      [](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, multiplyAdd(inner, loc, elements));
      });
  lowered.results.push_back(generic.getResult(0));
  return success();
}

/// The gradient of operand `side`; an index that only it has was summed out and
/// is repeated.
static Value gradientOf(onnx::NodeOp node, const Equation &equation, unsigned side, Value grad,
                        NodeBuilder &builder) {
  RankedTensorType type = node.inputType(side);
  std::string present;
  SmallVector<int64_t> extents, repeated(type.getShape());
  for (auto [dim, index] : llvm::enumerate(equation.sides[side])) {
    bool found = equation.has(1 - side, index) || equation.has(2, index);
    if (found) {
      present += index;
      extents.push_back(type.getDimSize(dim));
    } else {
      repeated[dim] = 1;
    }
  }
  std::string text = equation.sides[2] + "," + equation.sides[1 - side] + "->" + present;
  Value value = builder
                    .create(op::Einsum, type.clone(extents), {grad, node.getInputs()[1 - side]},
                            builder.attr("equation", StringRef(text)))
                    .getResult(0);
  return builder.expand(builder.reshape(value, repeated), type.getShape());
}

static LogicalResult einsumGradient(onnx::NodeOp node, ValueRange outputGrads,
                                    ArrayRef<bool> wanted, NodeBuilder &builder,
                                    MutableArrayRef<Value> inputGrads) {
  Equation equation = equationOf(node);
  for (unsigned side : {0, 1})
    if (wanted[side] && outputGrads.front())
      inputGrads[side] = gradientOf(node, equation, side, outputGrads.front(), builder);
  return success();
}

/// One for each index. An index that an operand has twice is a diagonal, which stays whole.
static Factors einsumFactors(onnx::NodeOp node) {
  StringRef text = node.getString("equation", "");
  if (node.getInputs().size() != 2 || text.contains('.'))
    return {};
  Equation equation = equationOf(node);
  FactorBuilder factors(node);
  std::string done;
  for (char index : equation.sides[0] + equation.sides[1]) {
    if (StringRef(done).contains(index))
      continue;
    done += index;
    SmallVector<int64_t> dims;
    bool isDiagonal = false;
    for (const std::string &side : equation.sides) {
      const size_t at = side.find(index);
      isDiagonal |= at != side.rfind(index);
      dims.push_back(at == std::string::npos ? -1 : int64_t(at));
    }
    if (!isDiagonal)
      factors.add({dims[0], dims[1]}, dims[2],
                  dims[2] < 0 ? FactorKind::Sum : FactorKind::Parallel);
  }
  return factors.take();
}

void registerEinsum() {
  registerOp(
      OpDef{op::Einsum, 12, kNewestOpset, Kind::Other, lowerEinsum, einsumGradient, expandEinsum}
          .linearly(Linear::InEach)
          .dividedBy(einsumFactors)
          .computing(Function::Product)
          .omittingEmpty(zeros));
}

} // namespace zero::ops
