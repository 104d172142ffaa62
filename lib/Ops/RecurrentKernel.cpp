//===- RecurrentKernel.cpp - kernels of recurrent layers ------------------===//

#include "RecurrentKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

/// The axis of the batch in a tensor of `rank`: after the steps, if it has them.
static int64_t batchAxis(int64_t rank) { return rank == 3 ? 1 : 0; }

/// `type` with its batch as [chunks, rows].
static RankedTensorType cutBatch(RankedTensorType type, int64_t chunks, int64_t rows) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t axis = batchAxis(type.getRank());
  shape[axis] = rows;
  shape.insert(shape.begin() + axis, chunks);
  return type.clone(shape);
}

static bool hasBatch(onnx::NodeOp node, unsigned operand) {
  bool isGradient = node.getOpType().ends_with("Grad");
  auto among = [&](std::initializer_list<unsigned> which) {
    return llvm::is_contained(which, operand);
  };
  if (isGradient)
    return !among({GradOperand::Transposed, GradOperand::Peepholes, GradOperand::Weights,
                   GradOperand::CandidateBias});
  return !among({StepsOperand::Weights, StepsOperand::CandidateBias, StepsOperand::Peepholes});
}

RecurrentKernel::RecurrentKernel(onnx::NodeOp node, ValueRange operands, OpBuilder &builder,
                                 unsigned gatesOperand, unsigned weightsOperand)
    : node(node), b(node.getLoc(), builder), form(node),
      element(tensorType(operands[gatesOperand]).getElementType()), rows(rowsTogether(form.batch)),
      chunks(form.batch / rows), width(form.hidden), inputs(operands) {
  if (tensorType(inputs[weightsOperand]).getRank() == 3)
    width = llvm::alignTo(form.hidden, kBlockColumns);
  for (auto [index, input] : llvm::enumerate(inputs))
    if (input && hasBatch(node, index))
      input = reshaped(b, input, cutBatch(tensorType(input), chunks, rows));
}

Value RecurrentKernel::result(unsigned index) {
  return empty(b, cutBatch(node.outputType(index).clone(element), chunks, rows));
}

SmallVector<Value> RecurrentKernel::forChunks(unsigned slots, CarryBody visit) {
  Carry results;
  for (unsigned index = 0; index < node.getNumResults(); ++index)
    results.push_back(result(index));
  repeatOver(b, chunks, results, [&](ImplicitLocOpBuilder &in, Value chunk, Carry &values) {
    Carry carry(slots);
    llvm::copy(values, carry.begin());
    visit(in, chunk, carry);
    llvm::copy(ArrayRef(carry).take_front(values.size()), values.begin());
  });
  for (auto [index, value] : llvm::enumerate(results))
    value = reshaped(b, value, node.outputType(index));
  return results;
}

Value RecurrentKernel::scratch(ImplicitLocOpBuilder &in, int64_t columns) const {
  return empty(in, local(columns));
}

Value RecurrentKernel::multiplyGates(ImplicitLocOpBuilder &in, unsigned weights, int64_t firstGate,
                                     int64_t endGate, ElementAt left, Value out,
                                     int64_t firstColumn) {
  const bool isPacked = tensorType(inputs[weights]).getRank() == 3;
  const int64_t each = isPacked ? width / kBlockColumns : width;
  ProductShape shape{rows, firstGate * each, endGate * each, form.hidden, 0, firstColumn};
  return multiplied(in, shape, left, inputs[weights], out);
}

Value RecurrentKernel::loaded(ImplicitLocOpBuilder &outer, unsigned operand, Value chunk) {
  Carry carry{scratch(outer, form.hidden)};
  forPoints(outer, rows, form.hidden, carry,
            [&](ImplicitLocOpBuilder &in, Value row, Value unit, Carry &values) {
              Value value = has(operand) ? at(in, inputs[operand], {chunk, row, unit})
                                         : constant(in, element, 0);
              values[0] = with(in, values[0], {row, unit}, value);
            });
  return carry[0];
}

Value RecurrentKernel::stored(ImplicitLocOpBuilder &outer, Value value, Value into, Value chunk) {
  Carry carry{into};
  forPoints(outer, rows, form.hidden, carry,
            [&](ImplicitLocOpBuilder &in, Value row, Value unit, Carry &values) {
              values[0] = with(in, values[0], {chunk, row, unit}, at(in, value, {row, unit}));
            });
  return carry[0];
}

Value RecurrentKernel::stepOf(ImplicitLocOpBuilder &in, Value index, bool fromLast) const {
  if (form.reverse == fromLast)
    return index;
  return arith::SubIOp::create(in, arith::ConstantIndexOp::create(in, form.steps - 1), index);
}

Number RecurrentKernel::own(const Place &p, Value tensor, int64_t gate) const {
  return number(p, at(p.b, tensor, {p.row, shifted(p.b, p.unit, gate * width)}));
}

Number RecurrentKernel::inStep(const Place &p, Value tensor, int64_t gate, int64_t later) const {
  Value column = shifted(p.b, p.unit, gate * form.hidden);
  return number(p, at(p.b, tensor, {shifted(p.b, p.step, later), p.chunk, p.row, column}));
}

Value RecurrentKernel::putStep(const Place &p, Value tensor, Value value, int64_t gate,
                               int64_t later) const {
  Value column = shifted(p.b, p.unit, gate * form.hidden);
  return with(p.b, tensor, {shifted(p.b, p.step, later), p.chunk, p.row, column}, value);
}

Number RecurrentKernel::peephole(const Place &p, unsigned operand, int64_t gate) const {
  return number(p, at(p.b, inputs[operand], shifted(p.b, p.unit, gate * form.hidden)));
}

Value RecurrentKernel::isActive(const Place &p, unsigned lengths) const {
  if (!has(lengths))
    return nullptr;
  Value length = arith::IndexCastOp::create(p.b, p.b.getIndexType(),
                                            at(p.b, inputs[lengths], {p.chunk, p.row}));
  return arith::CmpIOp::create(p.b, arith::CmpIPredicate::slt, p.step, length);
}

} // namespace zero::ops
