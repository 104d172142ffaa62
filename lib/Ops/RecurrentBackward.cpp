//===- RecurrentBackward.cpp - the backward loop over steps ---------------===//
//
// What the nodes compute: Recurrent.cpp. The gates of every step are known from the states
// that forward kept, so that a step only takes the gradient of the state through them:
// unit by unit to the gradients of the gates, and these times the recurrent weights to the
// step before.
//
//===----------------------------------------------------------------------===//

#include "RecurrentKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

namespace {
class Backward : RecurrentKernel {
public:
  Backward(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder)
      : RecurrentKernel(node, inputs, builder, GradOperand::Gates, GradOperand::Transposed) {}

  void run(Lowered &lowered);

private:
  /// The loop-carried values: the results (the third is that of an LSTM or a GRU), and those of a
  /// chunk.
  enum Slot : unsigned { Gates, Initial, Third, State, CellState, Candidate, Product, Count };

  void runChunk(ImplicitLocOpBuilder &in, Value chunk, Carry &carry);
  void runStep(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry);
  void stepLstm(const Place &place, Carry &carry);
  void stepRnn(const Place &place, Carry &carry);
  void stepLinearGru(const Place &place, Carry &carry);
  void runResettingGru(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry);
  void candidateGru(const Place &place, Carry &carry);
  void resetGru(const Place &place, Carry &carry);
  void multiplyBack(ImplicitLocOpBuilder &in, Value chunk, Value step, Value gates,
                    int64_t firstGate, int64_t endGate, Carry &carry);
  void addProduct(ImplicitLocOpBuilder &in, Carry &carry);

  Number ofState(const Place &p, const Carry &carry);
  void carryOn(const Place &p, Carry &carry, Value active, Number next, Number whole);
  Number gruGate(const Place &p, int64_t gate);
};
} // namespace

/// The gradient of the state after the step.
Number Backward::ofState(const Place &p, const Carry &carry) {
  Number later = own(p, carry[State]);
  return has(GradOperand::States) ? later + inStep(p, inputs[GradOperand::States]) : later;
}

/// Adds the part of the state's gradient that passes to the previous step without a product:
/// `next`, or the entire gradient if the sequence lacks the step.
void Backward::carryOn(const Place &p, Carry &carry, Value active, Number next, Number whole) {
  carry[State] = with(p.b, carry[State], {p.row, p.unit}, chosen(active, next, whole).value);
}

/// Multiplies the gradients of gates [firstGate, endGate) by their recurrent weights.
void Backward::multiplyBack(ImplicitLocOpBuilder &in, Value chunk, Value step, Value gates,
                            int64_t firstGate, int64_t endGate, Carry &carry) {
  const Value weights = inputs[GradOperand::Transposed];
  const bool isPacked = tensorType(weights).getRank() == 3;
  const int64_t first = firstGate * form.hidden, end = endGate * form.hidden;
  ProductShape shape{rows, 0, isPacked ? width / kBlockColumns : width, end - first, first, 0};
  carry[Product] = multiplied(
      in, shape,
      [&](ImplicitLocOpBuilder &s, Value row, Value k) {
        return at(s, gates, {step, chunk, row, shifted(s, k, first)});
      },
      weights, carry[Product]);
}

/// Adds the product to the gradient of the state.
void Backward::addProduct(ImplicitLocOpBuilder &in, Carry &carry) {
  forPoints(in, rows, form.hidden, carry,
            [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
              Place p{s, {}, {}, row, unit};
              Number sum = own(p, values[State]) + own(p, values[Product]);
              values[State] = with(s, values[State], {row, unit}, sum.value);
            });
}

void Backward::stepRnn(const Place &p, Carry &carry) {
  Value active = isActive(p, GradOperand::Lengths);
  Number state = ofState(p, carry), x = inStep(p, inputs[GradOperand::Gates]);
  Number zero = x.constant(0);
  const Activation &f = form.activations[0];
  Number gate = chosen(active, state * f.slope(x, f.value(x)), zero);
  carry[Gates] = putStep(p, carry[Gates], gate.value);
  carryOn(p, carry, active, zero, state);
}

/// Gates i, o, f and c.
void Backward::stepLstm(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0], &g = form.activations[1], &h = form.activations[2];
  const bool peeps = has(GradOperand::Peepholes);
  auto peep = [&](int64_t index) { return peephole(p, GradOperand::Peepholes, index); };
  Value active = isActive(p, GradOperand::Lengths);
  Number before = inStep(p, inputs[GradOperand::Cells], 0, form.reverse ? 1 : 0);
  Number after = inStep(p, inputs[GradOperand::Cells], 0, form.reverse ? 0 : 1);
  auto gate = [&](int64_t index, int64_t peepIndex, Number cell) {
    Number x = inStep(p, inputs[GradOperand::Gates], index);
    return peeps ? x + peep(peepIndex) * cell : x;
  };
  Number xi = gate(0, 0, before), xo = gate(1, 1, after), xf = gate(2, 2, before);
  Number xc = inStep(p, inputs[GradOperand::Gates], 3);
  Number input = f.value(xi), output = f.value(xo), fresh = g.value(xc), shown = h.value(after);
  Number forget = form.inputForget ? 1.0 - input : f.value(xf);

  Number state = ofState(p, carry), zero = state.constant(0), later = own(p, carry[CellState]);
  Number dOutput = state * shown * f.slope(xo, output);
  Number cell = later + state * output * h.slope(after, shown);
  if (peeps)
    cell = cell + dOutput * peep(1);
  Number gain = form.inputForget ? fresh - before : fresh;
  Number dInput = cell * gain * f.slope(xi, input);
  Number dForget = form.inputForget ? zero : cell * before * f.slope(xf, forget);
  Number dFresh = cell * input * g.slope(xc, fresh);
  Number cellBefore = cell * forget;
  if (peeps)
    cellBefore = cellBefore + dInput * peep(0) + dForget * peep(2);

  for (auto [index, slope] : llvm::enumerate(std::array{dInput, dOutput, dForget, dFresh}))
    carry[Gates] = putStep(p, carry[Gates], chosen(active, slope, zero).value, index);
  carry[CellState] =
      with(p.b, carry[CellState], {p.row, p.unit}, chosen(active, cellBefore, later).value);
  carryOn(p, carry, active, zero, state);
}

/// The input of gate z or r of a GRU.
Number Backward::gruGate(const Place &p, int64_t gate) {
  return inStep(p, inputs[GradOperand::Gates], gate) +
         inStep(p, inputs[GradOperand::Recurrent], gate);
}

/// A GRU that resets the product of the state: gates z, r and h.
void Backward::stepLinearGru(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0], &g = form.activations[1];
  Value active = isActive(p, GradOperand::Lengths);
  Number xz = gruGate(p, 0), xr = gruGate(p, 1), z = f.value(xz), r = f.value(xr);
  Number product = inStep(p, inputs[GradOperand::Recurrent], 2);
  if (has(GradOperand::CandidateBias))
    product = product + peephole(p, GradOperand::CandidateBias, 0);
  Number xh = inStep(p, inputs[GradOperand::Gates], 2) + r * product, candidate = g.value(xh);
  Number before = inStep(p, inputs[GradOperand::Previous]);

  Number state = ofState(p, carry), zero = state.constant(0);
  Number dz = state * (before - candidate) * f.slope(xz, z);
  Number dh = state * (1.0 - z) * g.slope(xh, candidate);
  Number dr = dh * product * f.slope(xr, r);
  for (auto [index, slope] : llvm::enumerate(std::array{dz, dr, dh})) {
    Number kept = chosen(active, slope, zero);
    carry[Gates] = putStep(p, carry[Gates], kept.value, index);
    Number ofProduct = index == 2 ? kept * r : kept;
    carry[Third] = putStep(p, carry[Third], ofProduct.value, index);
  }
  carryOn(p, carry, active, state * z, state);
}

/// Gates z and h of a GRU that resets the state, whose candidate's sum is known.
void Backward::candidateGru(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0], &g = form.activations[1];
  Value active = isActive(p, GradOperand::Lengths);
  Number xz = gruGate(p, 0), z = f.value(xz);
  Number xh = own(p, carry[Candidate]) + inStep(p, inputs[GradOperand::Gates], 2);
  Number candidate = g.value(xh);
  Number before = inStep(p, inputs[GradOperand::Previous]);
  Number state = ofState(p, carry), zero = state.constant(0);
  Number dz = state * (before - candidate) * f.slope(xz, z);
  Number dh = state * (1.0 - z) * g.slope(xh, candidate);
  carry[Gates] = putStep(p, carry[Gates], chosen(active, dz, zero).value, 0);
  carry[Gates] = putStep(p, carry[Gates], chosen(active, dh, zero).value, 2);
  carryOn(p, carry, active, state * z, state);
}

/// Gate r, from the gradient of the reset state.
void Backward::resetGru(const Place &p, Carry &carry) {
  const Activation &f = form.activations[0];
  Number xr = gruGate(p, 1), r = f.value(xr), ofReset = own(p, carry[Product]);
  Number dr = ofReset * inStep(p, inputs[GradOperand::Previous]) * f.slope(xr, r);
  carry[Gates] = putStep(p, carry[Gates], dr.value, 1);
  Number state = own(p, carry[State]) + ofReset * r;
  carry[State] = with(p.b, carry[State], {p.row, p.unit}, state.value);
}

void Backward::runResettingGru(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry) {
  auto visit = [&](auto member) {
    forPoints(in, rows, form.hidden, carry,
              [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
                (this->*member)({s, chunk, step, row, unit}, values);
              });
  };
  Carry reset{carry[Third]};
  forPoints(in, rows, form.hidden, reset,
            [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
              Place p{s, chunk, step, row, unit};
              Number kept = form.activations[0].value(gruGate(p, 1)) *
                            inStep(p, inputs[GradOperand::Previous]);
              values[0] = putStep(p, values[0], kept.value);
            });
  carry[Third] = reset[0];
  carry[Candidate] = multiplyGates(
      in, GradOperand::Weights, 2, 3,
      [&](ImplicitLocOpBuilder &s, Value row, Value k) {
        return at(s, carry[Third], {step, chunk, row, k});
      },
      carry[Candidate], 0);
  visit(&Backward::candidateGru);
  multiplyBack(in, chunk, step, carry[Gates], 2, 3, carry);
  visit(&Backward::resetGru);
  multiplyBack(in, chunk, step, carry[Gates], 0, 2, carry);
  addProduct(in, carry);
}

void Backward::runStep(ImplicitLocOpBuilder &in, Value chunk, Value step, Carry &carry) {
  const bool isGru = form.cell == Cell::GRU;
  if (isGru && !form.linearBeforeReset)
    return runResettingGru(in, chunk, step, carry);
  forPoints(in, rows, form.hidden, carry,
            [&](ImplicitLocOpBuilder &s, Value row, Value unit, Carry &values) {
              Place p{s, chunk, step, row, unit};
              isGru                     ? stepLinearGru(p, values)
              : form.cell == Cell::LSTM ? stepLstm(p, values)
                                        : stepRnn(p, values);
            });
  multiplyBack(in, chunk, step, carry[isGru ? Third : Gates], 0, form.gates(), carry);
  addProduct(in, carry);
}

void Backward::runChunk(ImplicitLocOpBuilder &in, Value chunk, Carry &carry) {
  const bool isLstm = form.cell == Cell::LSTM;
  carry[State] = loaded(in, GradOperand::Last, chunk);
  if (isLstm)
    carry[CellState] = loaded(in, GradOperand::LastCell, chunk);
  if (form.cell == Cell::GRU && !form.linearBeforeReset) {
    carry[Candidate] = scratch(in, width);
  }
  carry[Product] = scratch(in, width);
  repeatOver(in, form.steps, carry, [&](ImplicitLocOpBuilder &s, Value index, Carry &values) {
    runStep(s, chunk, stepOf(s, index, /*fromLast=*/true), values);
  });
  carry[Initial] = stored(in, carry[State], carry[Initial], chunk);
  if (isLstm)
    carry[Third] = stored(in, carry[CellState], carry[Third], chunk);
}

void Backward::run(Lowered &lowered) {
  lowered.results = forChunks(Count, [&](ImplicitLocOpBuilder &in, Value chunk, Carry &carry) {
    runChunk(in, chunk, carry);
  });
}

LogicalResult lowerStepsGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                             Lowered &lowered) {
  Backward(node, inputs, builder).run(lowered);
  return success();
}

} // namespace zero::ops
