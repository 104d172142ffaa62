//===- AttentionLowering.cpp - attention in linalg ------------------------===//
//
// What the nodes compute: AttentionCore.cpp. Written as the formulas read, with
// matrices of queries by keys inside the kernel: it runs where the library's call is
// not taken, and says what that computes. The heads of a group are rows of one
// matrix, so that keys and values are never repeated.
//
//===----------------------------------------------------------------------===//

#include "AttentionCore.h"
#include "Contraction.h"
#include "Masking.h"
#include "Movement.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// One attention inside a kernel. Values are [batch, heads, rows, width] here.
struct Formula {
  Formula(onnx::NodeOp node, OpBuilder &builder, const AttentionForm &form, ValueRange inputs)
      : form(form), inputs(inputs),
        masking(node, builder,
                node.inputType(form.first)
                    .clone({form.batch, form.query.heads, form.query.rows, form.key.rows})),
        b(masking.b) {}

  /// A tensor in the layout of `tensor`, and back.
  Value heads(Value value, const HeadTensor &tensor);
  Value stored(Value value, const HeadTensor &tensor) { return heads(value, tensor); }
  std::array<Value, 3> operands();
  /// The gradients of queries, keys and values in their layouts.
  SmallVector<Value> gradients(ArrayRef<Value> grads, RankedTensorType packed);
  /// a op(b) per group: [batch, heads, ...] with [batch, groups, ...]. With `transA`
  /// summed over the heads of a group, too.
  Value contractGroups(Value a, Value other, bool transA, bool transB);
  Value maskedScores(Value query, Value key);

  const AttentionForm &form;
  ValueRange inputs;
  Masking masking;
  ImplicitLocOpBuilder &b;
};
} // namespace

/// `value` with its middle dimensions swapped.
static Value swapped(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType type = tensorType(value);
  ArrayRef<int64_t> shape = type.getShape();
  AffineMap map = AffineMap::getPermutationMap(ArrayRef<int64_t>{0, 2, 1, 3}, b.getContext());
  return elementwise(b, value, map, type.clone({shape[0], shape[2], shape[1], shape[3]}),
                     [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; });
}

Value Formula::heads(Value value, const HeadTensor &tensor) {
  return tensor.rowsFirst ? swapped(b, value) : value;
}

/// The window of `tensor`, which starts at `start`, in the packed rows.
static Window packedWindow(const AttentionForm &form, const HeadTensor &tensor, int64_t start) {
  Window window = Window::all({form.batch, tensor.rows, form.packedWidth()});
  window.set(2, start, 1, tensor.heads * tensor.width);
  return window;
}

std::array<Value, 3> Formula::operands() {
  std::array<Value, 3> parts;
  int64_t start = 0;
  for (auto [index, tensor] : llvm::enumerate(std::array{form.query, form.key, form.value})) {
    Value part = inputs[form.first + (form.packed ? 0 : index)];
    if (form.packed) {
      part = cut(b, part, packedWindow(form, tensor, start));
      part = reshaped(
          b, part, tensorType(part).clone({form.batch, tensor.rows, tensor.heads, tensor.width}));
      start += tensor.heads * tensor.width;
    }
    parts[index] = heads(part, tensor);
  }
  return parts;
}

SmallVector<Value> Formula::gradients(ArrayRef<Value> grads, RankedTensorType packed) {
  SmallVector<Value> results;
  Value joined = form.packed ? empty(b, packed) : Value();
  int64_t start = 0;
  for (auto [index, tensor] : llvm::enumerate(std::array{form.query, form.key, form.value})) {
    results.push_back(stored(grads[index], tensor));
    if (!form.packed)
      continue;
    int64_t width = tensor.heads * tensor.width;
    Value rows = reshaped(b, results.back(), packed.clone({form.batch, tensor.rows, width}));
    joined = put(b, rows, joined, packedWindow(form, tensor, start));
    start += width;
  }
  return form.packed ? SmallVector<Value>{joined} : results;
}

/// `value`, [batch, heads, n, m], as [batch, groups, heads / groups * n, m].
static Value grouped(ImplicitLocOpBuilder &b, Value value, int64_t groups) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[2] *= shape[1] / groups;
  shape[1] = groups;
  return reshaped(b, value, tensorType(value).clone(shape));
}

Value Formula::contractGroups(Value a, Value other, bool transA, bool transB) {
  int64_t groups = form.key.heads, heads = form.query.heads, rows = form.query.rows;
  if (transA)
    return contract(b, grouped(b, a, groups), grouped(b, other, groups), true, false);
  Value product = contract(b, grouped(b, a, groups), other, false, transB);
  RankedTensorType type = tensorType(product);
  return reshaped(b, product, type.clone({form.batch, heads, rows, type.getDimSize(3)}));
}

Value Formula::maskedScores(Value query, Value key) {
  return masking.scores(contractGroups(query, key, false, true), inputs.drop_front(form.padding));
}

LogicalResult lowerAttention(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                             Lowered &lowered) {
  AttentionForm form(node);
  if (failed(checkHeads(node, form.query.heads, form.key.heads)))
    return failure();
  Formula formula(node, builder, form, inputs);
  auto [query, key, value] = formula.operands();
  Value scores = formula.maskedScores(query, key);
  Value top = formula.masking.top(scores);
  Value powers = formula.masking.powers(scores, top);
  Value sum = reduce(formula.b, powers, 3, Combine::Sum);
  Value mixed =
      formula.contractGroups(formula.masking.normalized(powers, sum), value, false, false);
  lowered.results = {formula.stored(mixed, form.result), formula.masking.logSumExp(top, sum)};
  lowered.call = attentionCall(node, form, builder);
  return success();
}

LogicalResult lowerAttentionGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  AttentionForm form(node);
  Formula formula(node, builder, form, inputs);
  auto [query, key, value] = formula.operands();
  Value slope = formula.heads(inputs[0], form.result),
        mixed = formula.heads(inputs[4], form.result);
  // If a large fill hides an entire row, its lse contains only the fill and not the logarithm. Its
  // weights are therefore divided by their sum once more.
  Value powers = formula.masking.powers(formula.maskedScores(query, key), inputs[5]);
  Value weights = formula.masking.normalized(powers, reduce(formula.b, powers, 3, Combine::Sum));
  // The correction for the normalization of a row's weights: sum(dweights weights) = do o.
  Value dot = formula.masking.rowDot(slope, mixed);
  Value dWeights = formula.contractGroups(slope, value, false, true);
  Value dScores = formula.masking.slope(dWeights, weights, dot);
  lowered.results = formula.gradients({formula.contractGroups(dScores, key, false, false),
                                       formula.contractGroups(dScores, query, true, false),
                                       formula.contractGroups(weights, slope, true, false)},
                                      node.outputType(0));
  lowered.call = attentionCall(node, form, builder);
  return success();
}

} // namespace zero::ops
