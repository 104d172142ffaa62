//===- Training.cpp - ONNX's operators for training -----------------------===//
//
// ai.onnx.preview.training, version 1: Adagrad, Adam, Momentum and Gradient.
//
// An optimizer takes a rate R, a count T, and n tensors of each kind: X1..Xn, G1..Gn, then states.
// It returns the next values of X and of the states in the same order. Each expands, for each
// tensor, to the formulas of its specification; what depends on R and T alone is computed once, in
// f64. With Gr = norm_coefficient X + G:
//   Adagrad   H' = H + Gr^2           X' = X - R / (1 + decay_factor T) Gr / (sqrt(H') + epsilon)
//   Adam      V' = alpha V + (1 - alpha) Gr     H' = beta H + (1 - beta) Gr^2
//             X' = (1 - norm_coefficient_post) (X - r V' / (sqrt(H') + epsilon))
//             r = R sqrt(1 - beta^T) / (1 - alpha^T) where T > 0, else R
//   Momentum  V' = alpha V + b Gr, b = beta where T > 0, else 1
//             X' = X - R V' (standard) or X - R (Gr + alpha V') (nesterov)
//
// Gradient(values of xs, values of zs, the tensors named xs, those named zs, y) has more operands
// than ONNX's: the importer adds what the attributes name. zero-expand-gradients replaces it.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/OpTable.h"

#include "dialects/Onnx/Operators.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The operands of an optimizer for one tensor, and code for its formulas.
class Optimizer {
public:
  Optimizer(onnx::NodeOp node, NodeBuilder &builder, Value rate, Value count, ValueRange tensors)
      : b(builder), rate(rate), count(count), x(tensors[0]), states(tensors.drop_front(2)),
        node(node) {
    const double coefficient = node.getFloat("norm_coefficient", 0);
    gradient = coefficient == 0 ? tensors[1] : b.add(times(coefficient, x), tensors[1]);
  }

  double attribute(StringRef name, double fallback) { return node.getFloat(name, fallback); }
  Value number(double value, Value like) { return b.scalar(value, like.getType()); }
  Value times(double factor, Value value) {
    return factor == 1 ? value : b.mul(number(factor, value), value);
  }
  /// `scalar`, computed in f64, in the type of the tensors.
  Value narrowed(Value scalar) { return b.cast(scalar, tensorType(x).getElementType()); }
  /// sqrt(`squares`) + epsilon.
  Value root(Value squares) {
    return b.add(b.unary(op::Sqrt, squares), number(attribute("epsilon", 1e-6), squares));
  }
  /// `value` where T > 0, else `first`.
  Value afterFirst(Value value, Value first) {
    return b.where(b.binary(op::Greater, count, number(0, count)), value, first);
  }

  NodeBuilder &b;
  Value rate, count; ///< f64
  Value x, gradient;
  ValueRange states;

private:
  onnx::NodeOp node;
};

/// The next values of a tensor and its states.
using UpdateFn = SmallVector<Value> (*)(Optimizer &);
} // namespace

static SmallVector<Value> adagrad(Optimizer &o) {
  NodeBuilder &b = o.b;
  Value decay = b.mul(o.number(o.attribute("decay_factor", 0), o.count), o.count);
  Value rate = o.narrowed(b.div(o.rate, b.add(decay, o.number(1, decay))));
  Value squares = b.add(o.states[0], b.mul(o.gradient, o.gradient));
  Value step = b.mul(rate, b.div(o.gradient, o.root(squares)));
  return {b.sub(o.x, step), squares};
}

static SmallVector<Value> adam(Optimizer &o) {
  NodeBuilder &b = o.b;
  const double alpha = o.attribute("alpha", 0.9F), beta = o.attribute("beta", 0.999F);
  auto rest = [&](double factor) { // 1 - factor^T
    Value power = b.binary(op::Pow, o.number(factor, o.count), o.count);
    return b.sub(o.number(1, power), power);
  };
  Value mean = b.add(o.times(alpha, o.states[0]), o.times(1 - alpha, o.gradient));
  Value squares =
      b.add(o.times(beta, o.states[1]), o.times(1 - beta, b.mul(o.gradient, o.gradient)));
  Value corrected = b.div(b.mul(o.rate, b.unary(op::Sqrt, rest(beta))), rest(alpha));
  Value rate = o.narrowed(o.afterFirst(corrected, o.rate));
  Value next = b.sub(o.x, b.mul(rate, b.div(mean, o.root(squares))));
  return {o.times(1 - o.attribute("norm_coefficient_post", 0), next), mean, squares};
}

template <bool isNesterov>
static SmallVector<Value> momentum(Optimizer &o) {
  NodeBuilder &b = o.b;
  const double alpha = o.attribute("alpha", 0);
  Value beta = o.number(o.attribute("beta", 0), o.count);
  Value share = o.narrowed(o.afterFirst(beta, o.number(1, beta)));
  Value next = b.add(o.times(alpha, o.states[0]), b.mul(share, o.gradient));
  Value step = isNesterov ? b.add(o.gradient, o.times(alpha, next)) : next;
  return {b.sub(o.x, b.mul(o.narrowed(o.rate), step)), next};
}

/// Fails unless `node` has R, T and one or more tensors of `kinds` kinds, and a result for each new
/// value.
static LogicalResult checkOperands(onnx::NodeOp node, unsigned kinds) {
  const unsigned inputs = node.getInputs().size();
  if (inputs < 2 + kinds || (inputs - 2) % kinds != 0 ||
      node.getNumResults() != (inputs - 2) / kinds * (kinds - 1))
    return node.emitError() << node.describe() << ": expected R, T and " << kinds
                            << " operands for each tensor, and a result for each but its "
                               "gradient, got "
                            << inputs << " operands and " << node.getNumResults() << " results";
  for (unsigned i = 0; i < 2; ++i)
    if (node.inputType(i).getNumElements() != 1)
      return node.emitError() << node.describe() << ": expected one element in operand " << i
                              << ", got " << node.inputType(i);
  const unsigned tensors = (inputs - 2) / kinds;
  for (unsigned i = 2 + tensors; i < inputs; ++i)
    if (node.inputType(i) != node.inputType(2 + (i - 2) % tensors))
      return node.emitError() << node.describe() << ": expected " << node.inputType(i - tensors)
                              << " in operand " << i << ", got " << node.inputType(i);
  return success();
}

static LogicalResult expandOptimizer(onnx::NodeOp node, NodeBuilder &builder, unsigned kinds,
                                     UpdateFn update, SmallVectorImpl<Value> &results) {
  if (failed(checkOperands(node, kinds)))
    return failure();
  auto scalar = [&](unsigned index) {
    Type f64 = Float64Type::get(node.getContext());
    return builder.cast(builder.reshape(node.getInputs()[index], {}), f64);
  };
  Value rate = scalar(0), count = scalar(1);
  ValueRange tensors = node.getInputs().drop_front(2);
  const unsigned number = tensors.size() / kinds;
  results.resize(node.getNumResults());
  for (unsigned i = 0; i < number; ++i) {
    SmallVector<Value> own;
    for (unsigned kind = 0; kind < kinds; ++kind)
      own.push_back(tensors[kind * number + i]);
    Optimizer optimizer(node, builder, rate, count, own);
    for (auto [kind, value] : llvm::enumerate(update(optimizer)))
      results[kind * number + i] = value;
  }
  return success();
}

template <unsigned kinds, UpdateFn update>
static LogicalResult expand(onnx::NodeOp node, NodeBuilder &builder,
                            SmallVectorImpl<Value> &results) {
  return expandOptimizer(node, builder, kinds, update, results);
}

static LogicalResult expandMomentum(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  StringRef mode = node.getString("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return node.emitError() << node.describe()
                            << ": expected mode = 'standard' or 'nesterov', got '" << mode << "'";
  UpdateFn update = mode == "nesterov" ? momentum<true> : momentum<false>;
  return expandOptimizer(node, builder, 3, update, results);
}

static OpDef trainingOp(StringRef name, ExpandFn expand) {
  return {{onnx::kTrainingDomain, name}, 1, 1, Kind::Other, nullptr, nullptr, expand};
}

void registerTraining() {
  registerOp(trainingOp("Adagrad", expand<3, adagrad>));
  registerOp(trainingOp("Adam", expand<4, adam>));
  registerOp(trainingOp("Momentum", expandMomentum));
  registerOp({training::Gradient, 1, 1, Kind::Other});
}

} // namespace zero::ops
