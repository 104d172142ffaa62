//===- RecurrentForward.cpp - the loop over steps -------------------------===//
//
// What the nodes compute: Recurrent.cpp. For each chunk of rows, step after step: the
// product of the state with the recurrent weights, added to what the input gives, then the
// gates, unit by unit. State and gates of a chunk are small tensors of the kernel; what
// backward needs of a step is a result.
//
//===----------------------------------------------------------------------===//

#include "RecurrentKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
class Forward : RecurrentKernel {
public:
  Forward(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder)
      : RecurrentKernel(node, inputs, builder, StepsOperand::Gates, StepsOperand::Weights) {}

  void run(Lowered &lowered);

private:
  /// The loop-carried values: the results, and those of a chunk.
  enum Slot : unsigned { States, Last, Cells, LastCell, State, CellState, Gates, Reset, Count };

  void runChunk(ImplicitLocOpBuilder &in, Value chunk, Carry &carry);
  void runStep(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry);
  void multiply(ImplicitLocOpBuilder &in, int64_t firstGate, int64_t endGate, Value state,
                Carry &carry);
  Number gate(const Place &p, const Carry &carry, int64_t index);
  void finishLstm(const Place &place, Carry &carry);
  void finishGru(const Place &place, Carry &carry);
  void finishRnn(const Place &place, Carry &carry);
  void keep(const Place &place, Carry &carry, Number state);
  bool isRead(unsigned result);

  bool isLstm() const { return form.cell == Cell::LSTM; }
};
} // namespace

/// Whether result `index` is read. If a node has no reader at all, it was created for another one.
bool Forward::isRead(unsigned index) {
  return node->use_empty() || !node.getOutputs()[index].use_empty();
}

/// Multiplies `state` by the recurrent weights of gates [firstGate, endGate).
void Forward::multiply(ImplicitLocOpBuilder &in, int64_t firstGate, int64_t endGate, Value state,
                       Carry &carry) {
  carry[Gates] = multiplyGates(
      in, StepsOperand::Weights, firstGate, endGate,
      [&](ImplicitLocOpBuilder &s, Value row, Value k) { return at(s, state, {row, k}); },
      carry[Gates], firstGate * width);
}

/// What a gate's activation sees: the products of the state and of the input.
Number Forward::gate(const Place &p, const Carry &carry, int64_t index) {
  return own(p, carry[Gates], index) + inStep(p, inputs[StepsOperand::Gates], index);
}

/// Notes the new state of a unit, unless its sequence has ended.
void Forward::keep(const Place &p, Carry &carry, Number state) {
  state = chosen(isActive(p, StepsOperand::Lengths), state, own(p, carry[State]));
  carry[State] = with(p.b, carry[State], {p.row, p.unit}, state.value);
  if (isRead(StepsResult::States))
    carry[States] = putStep(p, carry[States], state.value);
}

void Forward::finishRnn(const Place &p, Carry &carry) {
  keep(p, carry, form.activations[0].value(gate(p, carry, 0)));
}

/// Gates z, r and h.
void Forward::finishGru(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0], &g = form.activations[1];
  Number z = f.value(gate(p, carry, 0)), state = own(p, carry[State]);
  Number candidate = own(p, carry[Gates], 2), input = inStep(p, inputs[StepsOperand::Gates], 2);
  if (form.linearBeforeReset && has(StepsOperand::CandidateBias))
    candidate = candidate + peephole(p, StepsOperand::CandidateBias, 0);
  if (form.linearBeforeReset)
    candidate = f.value(gate(p, carry, 1)) * candidate;
  candidate = input + candidate;
  keep(p, carry, (1.0 - z) * g.value(candidate) + z * state);
}

/// Gates i, o, f and c.
void Forward::finishLstm(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0];
  Number before = own(p, carry[CellState]);
  auto activated = [&](int64_t index, int64_t peep, Number cell) {
    Number x = gate(p, carry, index);
    return f.value(
        has(StepsOperand::Peepholes) ? x + peephole(p, StepsOperand::Peepholes, peep) * cell : x);
  };
  Number input = activated(0, 0, before);
  Number forget = form.inputForget ? 1.0 - input : activated(2, 2, before);
  Number cell = forget * before + input * form.activations[1].value(gate(p, carry, 3));
  Number output = activated(1, 1, cell);
  Number state = output * form.activations[2].value(cell);
  cell = chosen(isActive(p, StepsOperand::Lengths), cell, before);
  carry[CellState] = with(p.b, carry[CellState], {p.row, p.unit}, cell.value);
  if (isRead(StepsResult::Cells))
    carry[Cells] = putStep(p, carry[Cells], cell.value, 0, form.reverse ? 0 : 1);
  keep(p, carry, state);
}

void Forward::runStep(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry) {
  const bool isGru = form.cell == Cell::GRU;
  multiply(in, 0, isGru ? 2 : form.gates(), carry[State], carry);
  if (isGru && !form.linearBeforeReset) {
    Carry reset{carry[Reset]};
    forPoints(in, rows, form.hidden, reset,
              [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
                Place p{s, chunk, step, row, unit};
                Number kept = form.activations[0].value(gate(p, carry, 1)) * own(p, carry[State]);
                values[0] = with(s, values[0], {row, unit}, kept.value);
              });
    carry[Reset] = reset[0];
  }
  if (isGru)
    multiply(in, 2, 3, form.linearBeforeReset ? carry[State] : carry[Reset], carry);
  forPoints(
      in, rows, form.hidden, carry,
      [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
        Place p{s, chunk, step, row, unit};
        isGru ? finishGru(p, values) : isLstm() ? finishLstm(p, values) : finishRnn(p, values);
      });
}

void Forward::runChunk(ImplicitLocOpBuilder &in, Value chunk, Carry &carry) {
  carry[State] = loaded(in, StepsOperand::Initial, chunk);
  carry[Gates] = scratch(in, form.gates() * width);
  if (form.cell == Cell::GRU && !form.linearBeforeReset)
    carry[Reset] = scratch(in, form.hidden);
  if (isLstm()) {
    carry[CellState] = loaded(in, StepsOperand::InitialCell, chunk);
    if (isRead(StepsResult::Cells)) {
      Value first = arith::ConstantIndexOp::create(in, form.reverse ? form.steps : 0);
      Carry cells{carry[Cells]};
      forPoints(in, rows, form.hidden, cells,
                [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
                  values[0] = with(s, values[0], {first, chunk, row, unit},
                                   at(s, carry[CellState], {row, unit}));
                });
      carry[Cells] = cells[0];
    }
  }
  repeatOver(in, form.steps, carry, [&](ImplicitLocOpBuilder &s, Value index, Carry &values) {
    runStep(s, chunk, stepOf(s, index, /*fromLast=*/false), values);
  });
  if (isRead(StepsResult::Last))
    carry[Last] = stored(in, carry[State], carry[Last], chunk);
  if (isLstm() && isRead(StepsResult::LastCell))
    carry[LastCell] = stored(in, carry[CellState], carry[LastCell], chunk);
}

void Forward::run(Lowered &lowered) {
  lowered.results = forChunks(Count, [&](ImplicitLocOpBuilder &in, Value chunk, Carry &carry) {
    runChunk(in, chunk, carry);
  });
}

/// That every length is one of a sequence.
static RangeCheck checkLengths(onnx::NodeOp node, Value lengths, int64_t steps,
                               ImplicitLocOpBuilder &b) {
  RankedTensorType wide = tensorType(lengths).clone(b.getI64Type());
  auto body = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    return arith::ExtSIOp::create(in, in.getI64Type(), x[0]);
  };
  Value least = reduce(b, lengths, {}, wide, 0, Combine::Min, body);
  Value most = reduce(b, lengths, {}, wide, 0, Combine::Max, body);
  Value pair = tensor::FromElementsOp::create(
      b, ValueRange{tensor::ExtractOp::create(b, least), tensor::ExtractOp::create(b, most)});
  return {pair, 0, steps,
          "sequence_lens of " + node.describe() + " must lie in [0, " + std::to_string(steps) +
              "]"};
}

LogicalResult lowerSteps(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                         Lowered &lowered) {
  Forward(node, inputs, builder).run(lowered);
  if (Value lengths = inputs[StepsOperand::Lengths]) {
    ImplicitLocOpBuilder b(node.getLoc(), builder);
    lowered.checks.push_back(checkLengths(node, lengths, RecurrentForm(node).steps, b));
  }
  return success();
}

} // namespace zero::ops
