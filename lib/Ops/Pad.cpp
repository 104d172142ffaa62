//===- Pad.cpp ------------------------------------------------------------===//
//
// ONNX: Pad, with constant pads and axes; negative pads crop.
// Modes constant, reflect, edge and wrap. Gradients: of mode constant the opposite
// pads with zeros, and for the value the sum of what was put around; of the others
// zero::PadGrad(dy) {mode, before, shape}, which adds each element of dy to the one
// that it repeats, in row-major order.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
struct Pads {
  SmallVector<int64_t> before, after;
};
} // namespace

static FailureOr<Pads> padsOf(onnx::NodeOp node) {
  int64_t rank = node.inputType(0).getRank();
  auto values = requireInts(node, 1, "pads");
  FailureOr<SmallVector<int64_t>> axes = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (node.hasInput(3))
    axes = requireInts(node, 3, "axes");
  if (failed(values) || failed(axes))
    return failure();
  if (values->size() != 2 * axes->size())
    return nodeError(node) << "expected " << 2 * axes->size() << " pads, got " << values->size();
  Pads pads{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    pads.before[normalAxis(axis, rank)] = (*values)[i];
    pads.after[normalAxis(axis, rank)] = (*values)[axes->size() + i];
  }
  return pads;
}

/// The value that mode constant pads with, as a scalar.
static Value padValue(onnx::NodeOp node, ValueRange inputs, ImplicitLocOpBuilder &b) {
  Type element = node.inputType(0).getElementType();
  if (!node.hasInput(2))
    return constant(b, element, 0);
  if (TypedAttr known = splatOf(inputs[2]))
    return arith::ConstantOp::create(b, known);
  Value scalar = reshaped(b, inputs[2], RankedTensorType::get({}, element));
  return tensor::ExtractOp::create(b, scalar, ValueRange());
}

static Value padConstant(onnx::NodeOp node, ValueRange inputs, const Pads &pads,
                         ImplicitLocOpBuilder &b) {
  Window from = Window::all(node.inputType(0).getShape());
  Window to = from;
  for (size_t dim = 0; dim < pads.before.size(); ++dim) {
    int64_t kept = from.sizes[dim] + std::min<int64_t>(pads.before[dim], 0) +
                   std::min<int64_t>(pads.after[dim], 0);
    from.sizes[dim] = to.sizes[dim] = std::max<int64_t>(kept, 0);
    from.offsets[dim] = std::max<int64_t>(-pads.before[dim], 0);
    to.offsets[dim] = std::max<int64_t>(pads.before[dim], 0);
  }
  Value fill = linalg::FillOp::create(b, padValue(node, inputs, b), empty(b, node.outputType(0)))
                   .getResult(0);
  return put(b, cut(b, inputs.front(), from), fill, to);
}

/// The index of the operand that `index` of the result repeats.
static Value sourceIndex(ImplicitLocOpBuilder &b, StringRef mode, Value index, int64_t before,
                         int64_t extent) {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  Value shifted = arith::SubIOp::create(b, index, number(before));
  if (mode == "edge") {
    Value atLeast = arith::MaxSIOp::create(b, shifted, number(0));
    return arith::MinSIOp::create(b, atLeast, number(extent - 1));
  }
  // Both others repeat with a period: reflect there and back, wrap there only.
  int64_t period = mode == "wrap" ? extent : std::max<int64_t>(2 * (extent - 1), 1);
  Value remainder = arith::RemSIOp::create(b, shifted, number(period));
  Value lifted = arith::AddIOp::create(b, remainder, number(period));
  Value phase = arith::RemSIOp::create(b, lifted, number(period));
  if (mode == "wrap")
    return phase;
  Value back = arith::SubIOp::create(b, number(period), phase);
  return extent == 1 ? number(0) : arith::MinSIOp::create(b, phase, back).getResult();
}

static Value padRepeating(onnx::NodeOp node, Value input, StringRef mode, const Pads &pads,
                          ImplicitLocOpBuilder &b) {
  return elementwise(b, {}, node.outputType(0), [&](ImplicitLocOpBuilder &s, ValueRange) {
    SmallVector<Value> indices;
    for (auto [dim, extent] : llvm::enumerate(node.inputType(0).getShape())) {
      Value index = linalg::IndexOp::create(s, dim);
      indices.push_back(sourceIndex(s, mode, index, pads.before[dim], extent));
    }
    return tensor::ExtractOp::create(s, input, indices).getResult();
  });
}

static LogicalResult lowerPad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                              Lowered &lowered) {
  FailureOr<Pads> pads = padsOf(node);
  if (failed(pads))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  StringRef mode = node.getString("mode", "constant");
  if (mode == "constant")
    lowered.results.push_back(padConstant(node, inputs, *pads, b));
  else if (mode == "reflect" || mode == "edge" || mode == "wrap")
    lowered.results.push_back(padRepeating(node, inputs.front(), mode, *pads, b));
  else
    return nodeError(node) << "expected mode 'constant', 'reflect', 'edge' or 'wrap', got '" << mode
                           << "'";
  return success();
}

/// The part of `grad`, shaped as the result, at the place of the operand.
static Value unpadded(onnx::NodeOp node, const Pads &pads, Value grad, NodeBuilder &builder) {
  SmallVector<int64_t> opposite = pads.before;
  llvm::append_range(opposite, pads.after);
  for (int64_t &pad : opposite)
    pad = -pad;
  return builder.create(op::Pad, node.inputType(0), {grad, builder.indices(opposite)}).getResult(0);
}

static LogicalResult padGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  FailureOr<Pads> pads = padsOf(node);
  if (failed(pads))
    return failure();
  StringRef mode = node.getString("mode", "constant");
  if (mode != "constant") {
    if (wanted.front())
      inputGrads.front() = builder
                               .create(own::PadGrad, node.inputType(0), outputGrads,
                                       {builder.attr("mode", mode),
                                        builder.attr("before", ArrayRef<int64_t>(pads->before)),
                                        builder.attr("shape", node.inputType(0).getShape())})
                               .getResult(0);
    return success();
  }
  Value inside = unpadded(node, *pads, outputGrads.front(), builder);
  if (wanted.front())
    inputGrads.front() = inside;
  if (wanted.size() > 2 && wanted[2]) {
    auto scalar = RankedTensorType::get({}, node.inputType(0).getElementType());
    Value around = builder.sub(builder.reduceTo(outputGrads.front(), scalar),
                               builder.reduceTo(inside, scalar));
    inputGrads[2] = builder.reshape(around, node.inputType(2).getShape());
  }
  return success();
}

static LogicalResult lowerPadGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  SmallVector<int64_t> before = *node.getInts("before");
  StringRef mode = node.getString("mode", "");
  ArrayRef<int64_t> shape = node.outputType(0).getShape();
  Value sums = forEachIndex(b, node.inputType(0).getShape(), filled(b, node.outputType(0), 0),
                            [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
                              SmallVector<Value> at;
                              for (auto [dim, index] : llvm::enumerate(point))
                                at.push_back(sourceIndex(s, mode, index, before[dim], shape[dim]));
                              Value sum = combined(s, Combine::Sum,
                                                   tensor::ExtractOp::create(s, carried, at),
                                                   tensor::ExtractOp::create(s, inputs[0], point));
                              return tensor::InsertOp::create(s, sum, carried, at);
                            });
  lowered.results.push_back(sums);
  return success();
}

/// The dimensions that are not padded.
static Factors padFactors(onnx::NodeOp node) {
  if (!constantInts(node.getInputs()[1]) ||
      (node.hasInput(3) && !constantInts(node.getInputs()[3])))
    return {};
  FailureOr<Pads> pads = padsOf(node);
  FactorBuilder factors(node);
  for (int64_t dim = 0; succeeded(pads) && dim < int64_t(pads->before.size()); ++dim)
    if (pads->before[dim] == 0 && pads->after[dim] == 0)
      factors.add(dim, dim);
  return factors.take();
}

static Factors padGradFactors(onnx::NodeOp node) {
  SmallVector<int64_t> before = *node.getInts("before");
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim)
    if (before[dim] == 0 && node.inputType(0).getDimSize(dim) == node.outputType(0).getDimSize(dim))
      factors.add(dim, dim);
  return factors.take();
}

/// Whether `node` crops by constant pads.
static bool crops(onnx::NodeOp node) {
  std::optional<SmallVector<int64_t>> pads = constantInts(node.getInputs()[1]);
  return pads && !node.hasInput(3) && node.getString("mode", "constant") == "constant" &&
         llvm::any_of(*pads, [](int64_t pad) { return pad < 0; });
}

/// A Pad with constant pads that crops: a Slice, then a Pad of the rest.
static LogicalResult padPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                SmallVectorImpl<Value> &results) {
  if (!node.hasInput(1) || !crops(node))
    return success();
  SmallVector<int64_t> pads = *constantInts(node.getInputs()[1]), sizes, starts, ends, axes;
  Value value = node.getInputs()[0];
  for (auto [dim, extent] : llvm::enumerate(tensorType(value).getShape())) {
    int64_t &before = pads[dim], &after = pads[tensorType(value).getRank() + dim];
    axes.push_back(dim);
    starts.push_back(std::max<int64_t>(-before, 0));
    ends.push_back(std::max(extent + std::min<int64_t>(after, 0), starts.back()));
    sizes.push_back(ends.back() - starts.back());
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  value = nodes
              .create(op::Slice, tensorType(value).clone(sizes),
                      {value, nodes.indices(starts), nodes.indices(ends), nodes.indices(axes)})
              .getResult(0);
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    SmallVector<Value> inputs{value, nodes.indices(pads)};
    if (node.hasInput(2))
      inputs.push_back(node.getInputs()[2]);
    value = nodes.create(op::Pad, node.getResultTypes(), inputs).getResult(0);
  }
  results.push_back(value);
  return success();
}

/// PadGrad(dy) {mode, before}: the same Pad of the positions says where each element comes from.
static LogicalResult padGradPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                    SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.outputType(0), padded = node.inputType(0);
  Type i64 = nodes.getBuilder().getI64Type();
  SmallVector<int64_t> pads(*node.getInts("before")), after;
  for (auto [dim, before] : llvm::enumerate(pads))
    after.push_back(padded.getDimSize(dim) - type.getDimSize(dim) - before);
  pads.append(after);
  Value bounds[] = {nodes.scalar(0, i64), nodes.scalar(double(type.getNumElements()), i64),
                    nodes.scalar(1, i64)};
  auto list = RankedTensorType::get({type.getNumElements()}, i64);
  Value positions = nodes.create(op::Range, list, bounds).getResult(0);
  Value sources = nodes
                      .create(op::Pad, padded.clone(i64),
                              {nodes.reshape(positions, type.getShape()), nodes.indices(pads)},
                              nodes.attr("mode", node.getString("mode", "edge")))
                      .getResult(0);
  SmallVector<int64_t> flat{padded.getNumElements()};
  Value zeros = nodes.splat(0, type.clone({type.getNumElements()}));
  Value sums = addAtElements(nodes, zeros, nodes.reshape(sources, flat),
                             nodes.reshape(node.getInputs()[0], flat), 0);
  results.push_back(nodes.reshape(sums, type.getShape()));
  return success();
}

/// What is put around nothing: the value everywhere. The other modes have nothing to repeat.
static LogicalResult padNothing(onnx::NodeOp node, NodeBuilder &nodes,
                                SmallVectorImpl<Value> &results) {
  if (node.getString("mode", "constant") != "constant")
    return success();
  RankedTensorType type = node.outputType(0);
  Value value = node.hasInput(2) ? nodes.reshape(node.getInputs()[2], {})
                                 : nodes.scalar(0, type.getElementType());
  results.push_back(nodes.expand(value, type.getShape()));
  return success();
}

void registerPad() {
  registerAnySign(OpDef{op::Pad, 11, kNewestOpset, Kind::Other, lowerPad, padGradient}
                      .moves()
                      .dividedBy(padFactors)
                      .writtenBy(padPlainly)
                      .omittingEmpty(padNothing)
                      .operand(1, OperandRole::Setting)
                      .operand(3, OperandRole::Setting));
  registerOp(OpDef{own::PadGrad, 1, 1, Kind::Other, lowerPadGrad}
                 .dividedBy(padGradFactors)
                 .writtenBy(padGradPlainly));
}

} // namespace zero::ops
