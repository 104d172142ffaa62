//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
//
// ONNX: LSTM (Hochreiter and Schmidhuber, 1997; Gers et al., 2002), GRU (Cho et al., arXiv
// 1406.1078) and RNN, opsets 7 to 22: all directions, both layouts, sequence_lens, initial
// states, peepholes, clip, input_forget, linear_before_reset, and each of ONNX's activations.
// They expand, for each direction, to the product of all steps' inputs with W, plus the
// biases, and to
//   zero::LSTM, GRU and RNN(gates, R, candidate_bias?, lengths?, initial?, initial_cell?,
//     peepholes?) {reverse, clip, input_forget, linear_before_reset, activationN, alphaN,
//     betaN} -> (states, last[, cells, last_cell])
// gates are [steps, batch, gates * hidden], R [gates * hidden, hidden], states [steps, batch,
// hidden], cells [steps + 1, batch, hidden], of which cells[t] is that before step t, or, in
// reverse, after it. candidate_bias, [hidden], is what a GRU with linear_before_reset adds
// inside its reset. A row whose length is reached keeps its state.
//
// Gradients, from states and cells alone: RecurrentGradient.cpp,
//   zero::LSTMGrad, GRUGrad and RNNGrad -> (dgates, dinitial[, third])
// where gates are the sums that the activations see, or, of a GRU, those of the input, and the
// state's beside them; third is an LSTM's dinitial_cell, or the gradient of a GRU's product of
// the state, or, without linear_before_reset, the reset states.
//
//===----------------------------------------------------------------------===//

#include "Recurrent.h"
#include "Contraction.h"
#include "Movement.h"
#include "zero/Ops/Concat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

static Cell cellOf(onnx::NodeOp node) {
  return node.getOpType().starts_with("LSTM")  ? Cell::LSTM
         : node.getOpType().starts_with("GRU") ? Cell::GRU
                                               : Cell::RNN;
}

RecurrentForm::RecurrentForm(onnx::NodeOp node)
    : cell(cellOf(node)), reverse(node.getInt("reverse", 0) != 0),
      inputForget(node.getInt("input_forget", 0) != 0),
      linearBeforeReset(node.getInt("linear_before_reset", 0) != 0) {
  bool isGradient = node.getOpType().ends_with("Grad");
  unsigned sums = isGradient ? unsigned(GradOperand::Gates) : unsigned(StepsOperand::Gates);
  ArrayRef<int64_t> shape = node.inputType(sums).getShape();
  steps = shape[0];
  batch = shape[1];
  hidden = shape[2] / gates();
  for (int64_t i = 0; i < functionsOf(cell); ++i) {
    std::string index = std::to_string(i);
    activations.emplace_back(Activation::find(node.getString("activation" + index, "")),
                             node.getFloat("alpha" + index, 0), node.getFloat("beta" + index, 0),
                             node.getFloat("clip", 0));
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The functions of a direction by default.
static StringRef defaultFunction(Cell cell, int64_t index) {
  return cell == Cell::RNN || index > 0 ? "Tanh" : "Sigmoid";
}

namespace {
/// The numbers of activation_alpha or activation_beta, handed out in order.
struct Parameters {
  ArrayRef<float> given;

  /// The next one, or `fallback` where there are no more.
  std::optional<double> next(std::optional<double> fallback) {
    if (given.empty())
      return fallback;
    double value = given.front();
    given = given.drop_front();
    return value;
  }
};
} // namespace

static Parameters parametersOf(onnx::NodeOp node, StringRef name) {
  auto attr = node.getAttrs().getAs<DenseF32ArrayAttr>(name);
  return {attr ? attr.asArrayRef() : ArrayRef<float>()};
}

/// The names of the activations of all directions.
static FailureOr<SmallVector<StringRef>> functionNames(onnx::NodeOp node, Cell cell,
                                                       int64_t directions) {
  SmallVector<StringRef> names;
  if (auto given = node.getAttrs().getAs<ArrayAttr>("activations"))
    for (auto name : given.getAsRange<StringAttr>())
      names.push_back(name);
  if (names.empty())
    for (int64_t i = 0; i < directions * functionsOf(cell); ++i)
      names.push_back(defaultFunction(cell, i % functionsOf(cell)));
  if (int64_t(names.size()) != directions * functionsOf(cell))
    return nodeError(node) << "expected " << directions * functionsOf(cell) << " activations, got "
                           << names.size();
  return names;
}

/// The attributes of the activations of each direction's nodes.
static FailureOr<SmallVector<SmallVector<NamedAttribute>>>
functionAttrs(onnx::NodeOp node, NodeBuilder &builder, Cell cell, int64_t directions) {
  auto names = functionNames(node, cell, directions);
  if (failed(names))
    return failure();
  Parameters alphas = parametersOf(node, "activation_alpha"),
             betas = parametersOf(node, "activation_beta");
  SmallVector<SmallVector<NamedAttribute>> attrs(directions);
  for (auto [position, name] : llvm::enumerate(*names)) {
    const Activation::Function *function = Activation::find(name);
    if (!function)
      return nodeError(node) << "activation '" << name << "' is not supported, expected one of "
                             << Activation::names();
    std::string index = std::to_string(position % functionsOf(cell));
    auto &own = attrs[position / functionsOf(cell)];
    own.push_back(builder.attr("activation" + index, Activation::nameOf(function)));
    auto add = [&](StringRef which, std::optional<double> value) -> LogicalResult {
      if (!value)
        return nodeError(node) << "activation '" << name << "' needs a number in activation_"
                               << which;
      own.push_back(builder.attr((which + index).str(), *value));
      return success();
    };
    if (Activation::takesAlpha(function) &&
        failed(add("alpha", alphas.next(Activation::defaultAlpha(function)))))
      return failure();
    if (Activation::takesBeta(function) &&
        failed(add("beta", betas.next(Activation::defaultBeta(function)))))
      return failure();
  }
  return attrs;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {
/// Operands of ONNX's nodes.
enum Operand : unsigned { X, W, R, B, Lengths, InitialH, InitialC, P };

/// One of ONNX's nodes.
class Layer {
public:
  Layer(onnx::NodeOp node, NodeBuilder &builder)
      : node(node), builder(builder), cell(cellOf(node)), gates(gatesOf(cell)),
        batchFirst(node.getInt("layout", 0) != 0) {}

  /// Reads the sizes; fails after an error where operands do not fit together.
  LogicalResult check();
  LogicalResult expand(SmallVectorImpl<Value> &results);

private:
  LogicalResult checkDirection();
  LogicalResult checkShape(unsigned operand, ArrayRef<int64_t> expected);
  Value operand(unsigned index) { return node.getInputs()[index]; }
  Value stepsFirst();
  Value ofDirection(unsigned index, int64_t direction);
  Value inputGates(Value rows, int64_t direction);
  Value bias(int64_t direction);
  Value candidateBias(int64_t direction);
  Value initial(unsigned index, int64_t direction);
  onnx::NodeOp expandDirection(Value rows, int64_t direction, ArrayRef<NamedAttribute> attrs);
  Value shown(Value states);
  Value joined(ArrayRef<Value> parts, int64_t axis);
  bool resetsProduct() { return cell == Cell::GRU && node.getInt("linear_before_reset", 0) != 0; }

  onnx::NodeOp node;
  NodeBuilder &builder;
  Cell cell;
  int64_t gates;
  bool batchFirst;
  int64_t directions = 1, steps = 0, batch = 0, inputs = 0, hidden = 0;
};
} // namespace

LogicalResult Layer::checkDirection() {
  StringRef direction = node.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return nodeError(node) << "expected direction 'forward', 'reverse' or 'bidirectional', got '"
                           << direction << "'";
  directions = direction == "bidirectional" ? 2 : 1;
  if (node.getFloat("clip", 0) < 0)
    return nodeError(node) << "expected a clip that is not negative, got "
                           << node.getFloat("clip", 0);
  return success();
}

LogicalResult Layer::checkShape(unsigned index, ArrayRef<int64_t> expected) {
  if (!node.hasInput(index) || node.inputType(index).getShape() == expected)
    return success();
  RankedTensorType type = node.inputType(index);
  return nodeError(node) << "expected operand " << index << " of type " << type.clone(expected)
                         << ", got " << type;
}

LogicalResult Layer::check() {
  if (failed(requireFloat(node)) || failed(checkDirection()))
    return failure();
  RankedTensorType x = node.inputType(X), r = node.inputType(R);
  if (x.getRank() != 3 || r.getRank() != 3)
    return nodeError(node) << "expected X and R of 3 dimensions, got " << x << " and " << r;
  steps = x.getDimSize(batchFirst ? 1 : 0);
  batch = x.getDimSize(batchFirst ? 0 : 1);
  inputs = x.getDimSize(2);
  hidden = r.getDimSize(2);
  if (x.getNumElements() == 0 || hidden == 0)
    return nodeError(node) << "expected steps, a batch, inputs and hidden units, got X of type "
                           << x << " and R of type " << r;
  if (int64_t said = node.getInt("hidden_size", hidden); said != hidden)
    return nodeError(node) << "expected hidden_size " << hidden << " as in R, got " << said;
  SmallVector<int64_t> state{directions, batch, hidden};
  if (batchFirst)
    std::swap(state[0], state[1]);
  bool good = succeeded(checkShape(W, {directions, gates * hidden, inputs})) &&
              succeeded(checkShape(R, {directions, gates * hidden, hidden})) &&
              succeeded(checkShape(B, {directions, 2 * gates * hidden})) &&
              succeeded(checkShape(Lengths, batch)) && succeeded(checkShape(InitialH, state));
  if (good && cell == Cell::LSTM)
    good = succeeded(checkShape(InitialC, state)) &&
           succeeded(checkShape(P, {directions, 3 * hidden}));
  return success(good);
}

Value Layer::stepsFirst() {
  return batchFirst ? builder.transpose(operand(X), {1, 0, 2}) : operand(X);
}

/// The part of operand `index` for one direction, whose dimension is the first.
Value Layer::ofDirection(unsigned index, int64_t direction) {
  Value value = operand(index);
  if (directions > 1)
    value = sliceNode(builder, value, 0, direction, direction + 1);
  return builder.reshape(value, tensorType(value).getShape().drop_front());
}

/// The part of `value` from gate `begin` to before gate `end`.
static Value gatesPart(NodeBuilder &builder, Value value, int64_t begin, int64_t end,
                       int64_t hidden) {
  return sliceNode(builder, value, 0, begin * hidden, end * hidden);
}

/// The sum of the biases of input and state that applies to the gates outside a reset.
Value Layer::bias(int64_t direction) {
  Value both = ofDirection(B, direction);
  Value ofInput = gatesPart(builder, both, 0, gates, hidden);
  if (!resetsProduct())
    return builder.add(ofInput, gatesPart(builder, both, gates, 2 * gates, hidden));
  Value others = builder.add(gatesPart(builder, ofInput, 0, 2, hidden),
                             gatesPart(builder, both, gates, gates + 2, hidden));
  return concatNode(builder, {others, gatesPart(builder, ofInput, 2, 3, hidden)}, 0);
}

Value Layer::candidateBias(int64_t direction) {
  if (!resetsProduct() || !node.hasInput(B))
    return builder.none();
  return gatesPart(builder, ofDirection(B, direction), 2 * gates - 1, 2 * gates, hidden);
}

/// The contribution of the input to the gates of all steps, as one product.
Value Layer::inputGates(Value rows, int64_t direction) {
  Value sums = contractNode(builder, rows, ofDirection(W, direction), false, true);
  if (node.hasInput(B))
    sums = builder.add(sums, bias(direction));
  return builder.reshape(sums, {steps, batch, gates * hidden});
}

/// The initial state of a direction; none where it is not given, or zeros.
Value Layer::initial(unsigned index, int64_t direction) {
  if (!node.hasInput(index) || splatNumber(operand(index)) == 0.0)
    return builder.none();
  if (!batchFirst)
    return ofDirection(index, direction);
  Value part = sliceNode(builder, operand(index), 1, direction, direction + 1);
  return builder.reshape(part, {batch, hidden});
}

onnx::NodeOp Layer::expandDirection(Value rows, int64_t direction,
                                    ArrayRef<NamedAttribute> functions) {
  SmallVector<NamedAttribute> attrs(functions);
  bool reverse = node.getString("direction", "forward") == "reverse" || direction == 1;
  attrs.push_back(builder.attr("reverse", int64_t(reverse)));
  attrs.push_back(builder.attr("clip", node.getFloat("clip", 0)));
  for (StringRef name : {"input_forget", "linear_before_reset"})
    attrs.push_back(builder.attr(name, node.getInt(name, 0)));
  SmallVector<Value> operands{inputGates(rows, direction),
                              ofDirection(R, direction),
                              candidateBias(direction),
                              node.hasInput(Lengths) ? operand(Lengths) : builder.none(),
                              initial(InitialH, direction),
                              cell == Cell::LSTM ? initial(InitialC, direction) : builder.none(),
                              cell == Cell::LSTM && node.hasInput(P) ? ofDirection(P, direction)
                                                                     : builder.none()};
  auto state = tensorType(rows).clone({steps, batch, hidden});
  SmallVector<Type> results{state, state.clone({batch, hidden})};
  if (cell == Cell::LSTM)
    results.append({state.clone({steps + 1, batch, hidden}), results.back()});
  return builder.create({kZeroDomain, node.getOpType()}, results, operands, attrs);
}

/// `states` with zeros behind the end of each sequence.
Value Layer::shown(Value states) {
  if (!node.hasInput(Lengths))
    return states;
  OpBuilder &b = builder.getBuilder();
  auto type = RankedTensorType::get({steps, 1, 1}, b.getI32Type());
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(steps)));
  Value step = arith::ConstantOp::create(b, builder.getLoc(),
                                         DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value length = builder.reshape(operand(Lengths), {1, batch, 1});
  return builder.where(builder.binary(op::Less, step, length), states,
                       builder.scalar(0, states.getType()));
}

/// The directions' parts, in the order of dimensions that the node has.
Value Layer::joined(ArrayRef<Value> parts, int64_t axis) {
  SmallVector<Value> shaped;
  for (Value part : parts) {
    SmallVector<int64_t> shape(tensorType(part).getShape());
    shape.insert(shape.begin() + axis, 1);
    shaped.push_back(builder.reshape(part, shape));
  }
  Value all = shaped.size() == 1 ? shaped.front() : concatNode(builder, shaped, axis);
  if (!batchFirst)
    return all;
  return axis == 1 ? builder.transpose(all, {2, 0, 1, 3}) : builder.transpose(all, {1, 0, 2});
}

LogicalResult Layer::expand(SmallVectorImpl<Value> &results) {
  auto attrs = functionAttrs(node, builder, cell, directions);
  if (failed(attrs))
    return failure();
  Value rows = builder.reshape(stepsFirst(), {steps * batch, inputs});
  SmallVector<Value> states, last, lastCells;
  for (int64_t direction = 0; direction < directions; ++direction) {
    onnx::NodeOp made = expandDirection(rows, direction, (*attrs)[direction]);
    states.push_back(shown(made.getResult(StepsResult::States)));
    last.push_back(made.getResult(StepsResult::Last));
    if (cell == Cell::LSTM)
      lastCells.push_back(made.getResult(StepsResult::LastCell));
  }
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    if (isa<NoneType>(result.getType()))
      results.push_back(builder.none());
    else
      results.push_back(index == 0 ? joined(states, 1) : joined(index == 1 ? last : lastCells, 0));
  }
  return success();
}

static LogicalResult expandLayer(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  Layer layer(node, builder);
  return failed(layer.check()) ? failure() : layer.expand(results);
}

/// The batch: [steps, batch, ..] of gates and results, [batch, ..] of what is before or behind the
/// steps.
static Factors stepsFactors(onnx::NodeOp node) {
  SmallVector<int64_t> results;
  for (Value result : node.getOutputs()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    results.push_back(type && type.getRank() == 3 ? 1 : 0);
  }
  // gates, R, candidate_bias, lengths, initial, initial_cell, peepholes
  return FactorBuilder(node).add({1, -1, -1, 0, 0, 0}, results).take();
}

void registerRecurrent() {
  for (llvm::StringLiteral name :
       {llvm::StringLiteral("LSTM"), llvm::StringLiteral("GRU"), llvm::StringLiteral("RNN")}) {
    registerOp({{"", name}, 7, kNewestOpset, Kind::Other, nullptr, nullptr, expandLayer});
    registerOp(OpDef{{kZeroDomain, name}, 1, 1, Kind::Other, lowerSteps, stepsGradient}.dividedBy(
        stepsFactors));
  }
  for (llvm::StringLiteral name : {llvm::StringLiteral("LSTMGrad"), llvm::StringLiteral("GRUGrad"),
                                   llvm::StringLiteral("RNNGrad")})
    registerOp({{kZeroDomain, name}, 1, 1, Kind::Other, lowerStepsGrad});
}

} // namespace zero::ops
