//===- RecurrentGradient.cpp - gradients of recurrent layers --------------===//
// Backpropagation through time (Werbos, 1990) from the states that forward saved. The gates of all
// steps are two products of the library: the contribution of the input, recomputed, and all states
// times the recurrent weights. One kernel iterates over the steps in reverse
// (RecurrentBackward.cpp) and computes the gradients of the gates; those of the weights are one
// product over all steps.
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Movement.h"
#include "Recurrent.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/Concat.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero::ops {

/// `value` from clones of the product that gave it, so that its bytes are not kept from
/// forward to backward; itself where something else gave it.
static Value cloned(NodeBuilder &builder, Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node || !node.isAnyOf({op::Reshape, op::Add, op::Cast, own::Contract}))
    return value;
  IRMapping clones;
  if (!node.is(own::Contract))
    clones.map(node.getInputs()[0], cloned(builder, node.getInputs()[0]));
  Operation *clone = builder.getBuilder().clone(*node, clones);
  clone->setAttr(kRecomputeAttr, builder.getBuilder().getUnitAttr());
  return clone->getResult(0);
}

namespace {
/// The gradient of one node.
class StepsGradient {
public:
  StepsGradient(onnx::NodeOp node, ValueRange outputGrads, NodeBuilder &builder)
      : node(node), builder(builder), form(node), outputGrads(outputGrads) {}

  void run(ArrayRef<bool> wanted, MutableArrayRef<Value> grads);

private:
  using In = StepsOperand;

  Value operand(unsigned index) { return node.getInputs()[index]; }
  Value orNone(Value value) { return value ? value : builder.none(); }
  Value outputGrad(unsigned index) {
    return orNone(index < outputGrads.size() ? outputGrads[index] : Value());
  }
  /// All steps of the batch as rows of one matrix.
  Value matrix(Value value) {
    RankedTensorType type = tensorType(value);
    return builder.reshape(value, {form.steps * form.batch, type.getShape().back()});
  }
  Value inSteps(Value value) {
    int64_t columns = tensorType(value).getShape().back();
    return builder.reshape(value, {form.steps, form.batch, columns});
  }
  Value previousStates();
  onnx::NodeOp createKernel();
  Value weightsGradient();
  Value resettingWeightsGradient();
  Value peepholesGradient();
  Value part(Value value, int64_t gate, int64_t count = 1) {
    int64_t last = tensorType(value).getRank() - 1;
    return sliceNode(builder, value, last, gate * form.hidden, (gate + count) * form.hidden);
  }

  onnx::NodeOp node;
  NodeBuilder &builder;
  RecurrentForm form;
  ValueRange outputGrads;
  Value previous;      ///< the state before each step
  onnx::NodeOp kernel; ///< that walks back
};
} // namespace

Value StepsGradient::previousStates() {
  Value states = node.getOutputs()[StepsResult::States];
  RankedTensorType type = tensorType(states);
  Value first =
      node.hasInput(In::Initial)
          ? builder.cast(builder.reshape(operand(In::Initial), {1, form.batch, form.hidden}),
                         type.getElementType())
          : Value();
  auto one = type.clone({1, form.batch, form.hidden});
  if (form.steps == 1)
    return first ? first : builder.splat(0, one);
  int64_t begin = form.reverse ? 1 : 0;
  Value others = sliceNode(builder, states, 0, begin, begin + form.steps - 1);
  if (first)
    return form.reverse ? concatNode(builder, {others, first}, 0)
                        : concatNode(builder, {first, others}, 0);
  SmallVector<int64_t> pads(6, 0);
  pads[form.reverse ? 3 : 0] = 1;
  return builder.create(op::Pad, type, {others, builder.indices(pads)}).getResult(0);
}

/// The kernel that walks back, with the gates' sums of all steps.
onnx::NodeOp StepsGradient::createKernel() {
  Value weights = operand(In::Weights);
  Value gates = cloned(builder, operand(In::Gates));
  Value product = contractNode(builder, matrix(previous), weights, false, true,
                               tensorType(gates).getElementType());
  const bool isGru = form.cell == Cell::GRU;
  if (!isGru)
    gates = inSteps(builder.add(product, matrix(gates)));
  RankedTensorType state = node.outputType(StepsResult::States);
  auto perRow = state.clone({form.batch, form.hidden});
  SmallVector<Type> results{gates.getType(), perRow};
  SmallVector<Value> operands(GradOperand::Count, builder.none());
  operands[GradOperand::States] = outputGrad(StepsResult::States);
  operands[GradOperand::Last] = outputGrad(StepsResult::Last);
  operands[GradOperand::Gates] = gates;
  operands[GradOperand::Transposed] = builder.transposeLast(weights);
  operands[GradOperand::Lengths] = operand(In::Lengths);
  if (form.cell == Cell::LSTM) {
    operands[GradOperand::LastCell] = outputGrad(StepsResult::LastCell);
    operands[GradOperand::Cells] = node.getOutputs()[StepsResult::Cells];
    operands[GradOperand::Peepholes] = operand(In::Peepholes);
    results.push_back(perRow);
  }
  if (isGru) {
    operands[GradOperand::Recurrent] = inSteps(product);
    operands[GradOperand::Previous] = previous;
    operands[GradOperand::CandidateBias] = operand(In::CandidateBias);
    if (!form.linearBeforeReset)
      operands[GradOperand::Weights] = weights;
    results.push_back(form.linearBeforeReset ? gates.getType() : previous.getType());
  }
  return builder.create({kZeroDomain, (node.getOpType() + "Grad").str()}, results, operands,
                        node.getAttrs().getValue());
}

/// The gradient of a GRU that resets the state: the candidate's weights multiply the reset state.
Value StepsGradient::resettingWeightsGradient() {
  Value gates = matrix(kernel.getResult(0)), reset = matrix(kernel.getResult(2));
  Value others = contractNode(builder, part(gates, 0, 2), matrix(previous), true, false);
  Value candidate = contractNode(builder, part(gates, 2), reset, true, false);
  return concatNode(builder, {others, candidate}, 0);
}

Value StepsGradient::weightsGradient() {
  if (form.cell == Cell::GRU && !form.linearBeforeReset)
    return resettingWeightsGradient();
  Value ofProduct = kernel.getResult(form.cell == Cell::GRU ? 2 : 0);
  return contractNode(builder, matrix(ofProduct), matrix(previous), true, false,
                      tensorType(operand(In::Weights)).getElementType());
}

/// Input and forget gates see the cell before the step, the output gate that after it.
Value StepsGradient::peepholesGradient() {
  Value gates = kernel.getResult(0), cells = node.getOutputs()[StepsResult::Cells];
  Value early = sliceNode(builder, cells, 0, 0, form.steps);
  Value late = sliceNode(builder, cells, 0, 1, form.steps + 1);
  Value before = form.reverse ? late : early, after = form.reverse ? early : late;
  auto sum = [&](int64_t gate, Value cell) {
    return builder.reduceSum(builder.mul(part(gates, gate), cell), {0, 1}, false);
  };
  return concatNode(builder, {sum(0, before), sum(1, after), sum(2, before)}, 0);
}

void StepsGradient::run(ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  previous = previousStates();
  kernel = createKernel();
  grads[In::Gates] = kernel.getResult(0);
  grads[In::Initial] = kernel.getResult(1);
  if (form.cell == Cell::LSTM)
    grads[In::InitialCell] = kernel.getResult(2);
  if (wanted[In::Weights])
    grads[In::Weights] = weightsGradient();
  if (wanted[In::CandidateBias])
    grads[In::CandidateBias] = builder.reduceSum(part(kernel.getResult(2), 2), {0, 1}, false);
  if (wanted[In::Peepholes])
    grads[In::Peepholes] = peepholesGradient();
}

LogicalResult stepsGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                            NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  StepsGradient(node, outputGrads, builder).run(wanted, inputGrads);
  return success();
}

} // namespace zero::ops
