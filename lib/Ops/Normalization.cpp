//===- Normalization.cpp - layer and root-mean-square normalization -------===//
//
// ONNX LayerNormalization (opset 17; optional results Mean and InvStdDev) and
// RMSNormalization (opset 23): over the dimensions from `axis` on, a "row".
//   x^ = (x - mean) r, r = 1 / sqrt(mean((x - mean)^2) + epsilon), y = x^ scale + bias;
//   RMS the same without mean and bias (Zhang and Sennrich, arXiv 1910.07467).
//
// Gradients, with g = dy scale (Ba et al., arXiv 1607.06450, differentiated):
//   zero::LayerNormGrad(dy, x, scale[, mean, r]) {axis, epsilon} -> (dx, dscale, dbias), each
//   of which may be none: r (g - mean(g) - x^ mean(g x^)); the sums over rows of dy x^ and of dy
//   zero::RMSNormGrad(dy, x, scale[, r]) -> (dx, dscale): the same without the means of x and g
//   Mean and InvStdDev: see addStatistics
// Unless they are given, it computes mean and r of each row again, two short passes over data that
// is in the cache then, so that nothing but x is kept for backward.
//
// ONNX Runtime: LayerNormalizationGrad(dy, x, scale, mean, r); SimplifiedLayerNormalization(x,
// scale) -> (y, r), which is RMSNormalization, and its Grad(dy, x, scale, r).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The rows of one normalization and their statistics.
struct Rows {
  /// `centred`: with the mean, so not RMS.
  Rows(onnx::NodeOp node, OpBuilder &builder, RankedTensorType type, bool centred)
      : b(node.getLoc(), builder), type(type), centred(centred),
        epsilon(node.getFloat("epsilon", 1e-5)) {
    int64_t rank = type.getRank();
    axis = normalAxis(node.getInt("axis", -1), rank);
    axes = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
    leading = llvm::to_vector(llvm::seq<int64_t>(axis));
    perRow = withoutAxes(b.getContext(), rank, axes);
    for (int64_t dim : axes)
      count *= type.getDimSize(dim);
  }

  /// Fills `mean` and `inverse` from `x`.
  void measure(Value x);
  /// Fills them from the operands of a gradient, if they are given there, else from its x.
  void measureOrTake(ValueRange inputs);
  /// The mean over each row of the results of `body` for the elements.
  Value meanOf(ValueRange operands, ArrayRef<AffineMap> maps, Body body);

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  bool centred;
  double epsilon;
  int64_t axis = 0;
  int64_t count = 1;
  SmallVector<int64_t> axes, leading;
  /// How a value per row is read; null reads with NumPy broadcasting.
  AffineMap perRow;
  /// One value per row: its mean, null unless centred, and 1 / its deviation.
  Value mean, inverse;
};
} // namespace

static Value times(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::MulFOp::create(b, a, c);
}
static Value minus(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::SubFOp::create(b, a, c);
}
static Value plus(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::AddFOp::create(b, a, c);
}

Value Rows::meanOf(ValueRange operands, ArrayRef<AffineMap> maps, Body body) {
  Value sum = reduce(b, operands, maps, type, axes, Combine::Sum, body);
  return elementwise(b, sum, tensorType(sum), [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    return arith::DivFOp::create(in, x[0], constant(in, x[0].getType(), double(count)));
  });
}

void Rows::measure(Value x) {
  SmallVector<Value> operands{x};
  if (centred) {
    mean = meanOf(x, {}, [](ImplicitLocOpBuilder &, ValueRange in) { return in[0]; });
    operands.push_back(mean);
  }
  Value variance = meanOf(operands, {{}, perRow}, [&](ImplicitLocOpBuilder &in, ValueRange x) {
    Value deviation = centred ? minus(in, x[0], x[1]) : x[0];
    return times(in, deviation, deviation);
  });
  inverse = elementwise(b, variance, tensorType(variance),
                        [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                          Type type = x[0].getType();
                          Value safe = plus(in, x[0], constant(in, type, epsilon));
                          Value deviation = math::SqrtOp::create(in, safe);
                          return arith::DivFOp::create(in, constant(in, type, 1), deviation);
                        });
}

/// x^ from the elements of x, inverse and, unless it is null, mean.
static Value normalized(ImplicitLocOpBuilder &b, Value x, Value inverse, Value mean) {
  return times(b, mean ? minus(b, x, mean) : x, inverse);
}

/// `statistic` in its result's type, which is f32 for rows of any type.
static Value asStored(ImplicitLocOpBuilder &b, Value statistic, RankedTensorType type) {
  Type to = type.getElementType(), from = tensorType(statistic).getElementType();
  if (to != from)
    statistic = elementwise(b, statistic, tensorType(statistic).clone(to),
                            [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                              if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
                                return arith::TruncFOp::create(in, to, x[0]);
                              return arith::ExtFOp::create(in, to, x[0]);
                            });
  return reshaped(b, statistic, type);
}

void Rows::measureOrTake(ValueRange inputs) {
  if (inputs.size() < 4)
    return measure(inputs[1]);
  RankedTensorType stored = withoutAxes(type, axes);
  if (centred)
    mean = asStored(b, inputs[3], stored);
  inverse = asStored(b, inputs.back(), stored);
}

template <bool centred>
static LogicalResult lowerForward(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  Rows rows(node, builder, node.inputType(0), centred);
  rows.measure(inputs[0]);
  bool hasBias = inputs.size() > 2 && inputs[2];
  SmallVector<Value> operands{inputs[0], rows.inverse, inputs[1]};
  SmallVector<AffineMap> maps{{}, rows.perRow, {}};
  if (centred) {
    operands.push_back(rows.mean);
    maps.push_back(rows.perRow);
  }
  if (hasBias)
    operands.push_back(inputs[2]);
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    Value scaled = times(b, normalized(b, x[0], x[1], centred ? x[3] : Value()), x[2]);
    return hasBias ? plus(b, scaled, x.back()) : scaled;
  };
  lowered.results.push_back(elementwise(rows.b, operands, maps, rows.type, body));
  for (unsigned index = 1; index < node.getNumResults(); ++index) {
    Value statistic = index == 1 ? rows.mean : rows.inverse;
    if (!isa<NoneType>(node.getResult(index).getType()))
      statistic = asStored(rows.b, statistic, node.outputType(index));
    lowered.results.push_back(statistic);
  }
  return success();
}

/// The operands of the gradient: dy, x, scale, inverse and, if centred, mean.
static std::pair<SmallVector<Value>, SmallVector<AffineMap>> gradientOperands(const Rows &rows,
                                                                              ValueRange inputs) {
  SmallVector<Value> operands{inputs[0], inputs[1], inputs[2], rows.inverse};
  SmallVector<AffineMap> maps{{}, {}, {}, rows.perRow};
  if (rows.centred) {
    operands.push_back(rows.mean);
    maps.push_back(rows.perRow);
  }
  return {operands, maps};
}

/// x^ from the elements of these operands.
static Value normalOf(const Rows &rows, ImplicitLocOpBuilder &b, ValueRange x) {
  return normalized(b, x[1], x[3], rows.centred ? x[4] : Value());
}

static Value gradientOfX(Rows &rows, ValueRange inputs) {
  auto [operands, maps] = gradientOperands(rows, inputs);
  const bool centred = rows.centred;
  Value dot = rows.meanOf(operands, maps, [&](ImplicitLocOpBuilder &b, ValueRange x) {
    return times(b, times(b, x[0], x[2]), normalOf(rows, b, x));
  });
  operands.push_back(dot);
  maps.push_back(rows.perRow);
  if (centred) {
    operands.push_back(
        rows.meanOf({inputs[0], inputs[2]}, {},
                    [](ImplicitLocOpBuilder &b, ValueRange x) { return times(b, x[0], x[1]); }));
    maps.push_back(rows.perRow);
  }
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    Value g = times(b, x[0], x[2]);
    Value centredG = centred ? minus(b, g, x[6]) : g;
    Value along = times(b, normalOf(rows, b, x), x[centred ? 5 : 4]);
    return times(b, x[3], minus(b, centredG, along));
  };
  return elementwise(rows.b, operands, maps, rows.type, body);
}

static Value gradientOfScale(Rows &rows, ValueRange inputs) {
  auto [operands, maps] = gradientOperands(rows, inputs);
  return reduce(
      rows.b, operands, maps, rows.type, rows.leading, Combine::Sum,
      [&](ImplicitLocOpBuilder &b, ValueRange x) { return times(b, x[0], normalOf(rows, b, x)); });
}

template <bool centred>
static LogicalResult lowerGradient(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  Rows rows(node, builder, node.inputType(1), centred);
  rows.measureOrTake(inputs);
  for (unsigned index = 0; index < node.getNumResults(); ++index) {
    Value result = inputs[0]; // an unused result may have any value
    if (isa<NoneType>(node.getResult(index).getType()))
      lowered.results.push_back(result);
    else if (index == 0)
      lowered.results.push_back(gradientOfX(rows, inputs));
    else if (index == 1)
      lowered.results.push_back(gradientOfScale(rows, inputs));
    else
      lowered.results.push_back(reduce(rows.b, inputs[0], rows.leading, Combine::Sum));
  }
  return success();
}

/// Adds to `grad` the gradients of the results Mean and InvStdDev, which have dimensions of 1 for
/// the row: dmean / n - dinverse inverse^3 (x - mean) / n.
static void addStatistics(onnx::NodeOp node, ValueRange dy, int64_t axis, NodeBuilder &builder,
                          Value &grad) {
  RankedTensorType type = node.inputType(0);
  // Statistics are f32, at least.
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = builder.getBuilder().getF32Type();
  int64_t count = 1;
  for (int64_t extent : type.getShape().drop_front(axis))
    count *= extent;
  Value n = builder.scalar(double(count), element);
  auto addPart = [&](Value part) {
    Value whole = builder.expand(part, type.getShape());
    grad = grad ? builder.add(grad, whole) : whole;
  };
  if (dy.size() > 0 && dy[0])
    addPart(builder.div(builder.cast(dy[0], element), n));
  if (dy.size() < 2 || !dy[1])
    return;
  Value x = node.getInputs()[0], mean = node.getResult(1), inverse = node.getResult(2);
  if (isa<NoneType>(mean.getType())) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, type.getRank()));
    mean = builder.div(builder.reduceSum(x, axes, /*keepdims=*/true), n);
  }
  mean = builder.cast(mean, element);
  inverse = builder.cast(inverse, element);
  Value cube = builder.mul(inverse, builder.mul(inverse, inverse));
  Value scaled = builder.mul(builder.cast(dy[1], element), cube);
  Value factor = builder.neg(builder.div(scaled, n));
  addPart(builder.mul(factor, builder.sub(x, mean)));
}

/// The gradients of x, of the scale of a row and of its bias, as far as they are `wanted`; others
/// are none. `operands` are those of LayerNormGrad or, unless `centred`, of RMSNormGrad.
static SmallVector<Value> emitGradient(onnx::NodeOp node, NodeBuilder &builder, bool centred,
                                       int64_t axis, ValueRange operands,
                                       std::array<bool, 3> wanted) {
  RankedTensorType type = tensorType(operands[1]);
  Type none = builder.getBuilder().getNoneType();
  RankedTensorType row = RankedTensorType::get(type.getShape().drop_front(axis),
                                               tensorType(operands[2]).getElementType());
  SmallVector<Type> results{wanted[0] ? Type(type) : none, wanted[1] ? Type(row) : none};
  if (centred)
    results.push_back(wanted[2] ? Type(row) : none);
  onnx::NodeOp made = builder.create(
      centred ? own::LayerNormGrad : own::RMSNormGrad, results, operands,
      {builder.attr("axis", axis), builder.attr("epsilon", node.getFloat("epsilon", 1e-5))});
  return llvm::to_vector_of<Value>(made->getResults());
}

/// ONNX Runtime's gradient, with operands dy, x, scale and statistics.
template <bool centred>
static LogicalResult expandGradient(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  int64_t axis = normalAxis(node.getInt("axis", -1), node.inputType(1).getRank());
  auto isWanted = [&](unsigned index) {
    return index < node.getNumResults() && !isa<NoneType>(node.getResult(index).getType());
  };
  auto made = emitGradient(node, builder, centred, axis, node.getInputs(),
                           {isWanted(0), isWanted(1), isWanted(2)});
  for (unsigned index : {1, 2})
    if (isWanted(index))
      made[index] = builder.reduceTo(made[index], node.outputType(index));
  addResults(node, made, builder, results);
  return success();
}

static LogicalResult expandSimplified(onnx::NodeOp node, NodeBuilder &builder,
                                      SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.inputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), type.getRank());
  double epsilon = node.getFloat("epsilon", 1e-5);
  Value x = node.getInputs()[0];
  Value y = builder
                .create(op::RMSNormalization, type, node.getInputs(),
                        {builder.attr("axis", axis), builder.attr("epsilon", epsilon)})
                .getResult(0);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, type.getRank()));
  double count = 1;
  for (int64_t dim : axes)
    count *= double(type.getDimSize(dim));
  Value sum = builder.reduceSum(builder.mul(x, x), axes, /*keepdims=*/true);
  Value safe =
      builder.add(builder.div(sum, builder.scalar(count, type)), builder.scalar(epsilon, type));
  Value inverse = builder.unary(op::Reciprocal, builder.unary(op::Sqrt, safe));
  addResults(node, {y, inverse}, builder, results);
  return success();
}

template <bool centred>
static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  RankedTensorType type = node.inputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), type.getRank());
  if (node.inputType(1).getRank() > type.getRank() - axis)
    return node.emitError() << "expected a scale of at most " << type.getRank() - axis
                            << " dimensions in " << node.describe() << ", got "
                            << node.inputType(1);
  bool hasBias = wanted.size() > 2 && wanted[2];
  // A separate node sums a bias whose shape differs from a row.
  bool sumsBias = hasBias && node.inputType(2).getShape() == type.getShape().drop_front(axis);
  if (dy[0]) {
    auto made = emitGradient(node, builder, centred, axis,
                             {dy[0], node.getInputs()[0], node.getInputs()[1]},
                             {wanted[0], wanted[1], sumsBias});
    if (wanted[0])
      grads[0] = made[0];
    if (wanted[1])
      grads[1] = builder.reduceTo(made[1], node.inputType(1));
    if (hasBias)
      grads[2] = builder.reduceTo(sumsBias ? made[2] : dy[0], node.inputType(2));
  }
  if (wanted[0])
    addStatistics(node, dy.drop_front(), axis, builder, grads[0]);
  return success();
}

/// The dimensions in front of `axis`, which the operands and results have that are no vectors of
/// scales. The gradients of those are sums over rows.
static Factors rowFactors(onnx::NodeOp node) {
  const bool isGrad = node.getDomain() == kZeroDomain;
  const int64_t rank = node.inputType(0).getRank();
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < normalAxis(node.getInt("axis", -1), rank); ++dim)
    if (isGrad)
      factors.add({dim, dim, -1, dim, dim}, {dim}, FactorKind::Sum);
    else
      factors.add({dim}, SmallVector<int64_t>(node.getNumResults(), dim));
  return factors.take();
}

void registerNormalization() {
  // All but y: statistics.
  auto add = [](OpDef def) { registerOp(def.dividedBy(rowFactors)); };
  add(OpDef{op::LayerNormalization, 17, kNewestOpset, Kind::Rows, lowerForward<true>,
            gradient<true>}
          .keepsWide(~1u)
          .operand(1, OperandRole::Scale)
          .operand(2, OperandRole::Offset));
  add(OpDef{op::RMSNormalization, 23, kNewestOpset, Kind::Rows, lowerForward<false>,
            gradient<false>}
          .operand(1, OperandRole::Scale));
  add({own::LayerNormGrad, 1, 1, Kind::Rows, lowerGradient<true>});
  add({own::RMSNormGrad, 1, 1, Kind::Rows, lowerGradient<false>});
  registerRuntimeOp("LayerNormalizationGrad", expandGradient<true>);
  registerOp(OpDef{{"", "SimplifiedLayerNormalization"},
                   1,
                   kNewestOpset,
                   Kind::Other,
                   nullptr,
                   nullptr,
                   expandSimplified}
                 .operand(1, OperandRole::Scale));
  registerRuntimeOp("SimplifiedLayerNormalizationGrad", expandGradient<false>);
}

} // namespace zero::ops
