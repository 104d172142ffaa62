//===- Conv.cpp - convolutions --------------------------------------------===//
//
// ONNX: Conv (opsets 13 to 23: groups, dilations, auto_pad, an optional bias) and
// ConvTranspose (output_padding and output_shape, too), over any number of spatial
// dimensions. ConvTranspose is the gradient of a Conv with respect to its input, so
// it is expanded to that. Gradients, with the windows of Windows.h:
//   zero::ConvGradX(dy, w) {strides, dilations, pads, group}: of the input
//   zero::ConvGradW(dy, x) {strides, dilations, pads, group}: of the weights
//   bias: the sum of dy over all but the channels
// All three are one contraction, and in f32 one call of the library.
//
// ONNX Runtime: ConvGrad and ConvTransposeGrad(dy, x, w) -> (dx, dw, dbias) are these.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "ConvForms.h"
#include "Movement.h"
#include "Windows.h"

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The shapes of a convolution of x [batch, in, input...] with w [out, in / groups,
/// kernel...] to y [batch, out, output...].
struct Convolution {
  Windows windows;
  int64_t batch, groups, in, out;
};
} // namespace

static FailureOr<Convolution> convolutionOf(onnx::NodeOp node, RankedTensorType x,
                                            RankedTensorType w, RankedTensorType y) {
  if (x.getRank() < 3 || w.getRank() != x.getRank())
    return nodeError(node) << "expected an image of at least 3 dimensions and weights of as many, "
                              "got "
                           << x << " and " << w;
  FailureOr<Windows> windows = windowsOf(node, x.getShape().drop_front(2),
                                         w.getShape().drop_front(2), y.getShape().drop_front(2));
  if (failed(windows))
    return failure();
  Convolution conv{*windows, x.getDimSize(0), node.getInt("group", 1), x.getDimSize(1),
                   w.getDimSize(0)};
  if (conv.groups < 1 || conv.in % conv.groups || w.getDimSize(1) != conv.in / conv.groups ||
      conv.out % conv.groups)
    return nodeError(node) << "expected weights for " << conv.in << " channels in " << conv.groups
                           << " groups, got " << w;
  return conv;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
/// The loops of the contraction: batch, [group,] out, in, window..., and last those along an image,
/// which are contiguous in memory.
struct Loops {
  Loops(ImplicitLocOpBuilder &b, const Convolution &conv) : conv(conv) {
    auto dim = [&] { return b.getAffineDimExpr(count++); };
    batch = dim();
    if (conv.groups > 1)
      group = dim();
    out = dim();
    in = dim();
    for (int64_t i = 0; i < conv.windows.rank(); ++i)
      window.push_back(dim());
    for (int64_t i = 0; i < conv.windows.rank(); ++i)
      image.push_back(dim());
  }

  /// The map of a tensor [batch, channels..., spatial...].
  AffineMap imageMap(AffineExpr channel, ArrayRef<AffineExpr> spatial) const {
    return map(batch, channel, AffineExpr(), spatial);
  }
  AffineMap weightMap() const { return map(AffineExpr(), out, in, window); }

  const Convolution &conv;
  unsigned count = 0;
  AffineExpr batch, group, out, in;
  SmallVector<AffineExpr> window, image;

private:
  AffineMap map(AffineExpr first, AffineExpr channel, AffineExpr second,
                ArrayRef<AffineExpr> spatial) const {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : {first, group, channel, second})
      if (expr)
        exprs.push_back(expr);
    llvm::append_range(exprs, spatial);
    return AffineMap::get(count, 0, exprs, out.getContext());
  }
};
} // namespace

/// `value` with dimension `dim`, the channels, as [groups, channels / groups].
static Value grouped(ImplicitLocOpBuilder &b, Value value, int64_t dim, int64_t groups) {
  if (groups == 1)
    return value;
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= groups;
  shape.insert(shape.begin() + dim, groups);
  return reshaped(b, value, type.clone(shape));
}

/// Sums the products of `left` and `right` over the loops that `maps.back()` lacks.
static Value sumOfProducts(ImplicitLocOpBuilder &b, Value left, Value right,
                           RankedTensorType result, ArrayRef<AffineMap> maps) {
  SmallVector<utils::IteratorType> loops(maps.back().getNumDims(), utils::IteratorType::reduction);
  for (AffineExpr expr : maps.back().getResults())
    loops[cast<AffineDimExpr>(expr).getPosition()] = utils::IteratorType::parallel;
  auto generic = linalg::GenericOp::create(
      b, TypeRange(result), ValueRange{left, right}, filled(b, result, 0), maps, loops,
      [](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, multiplyAdd(inner, loc, elements));
      });
  return generic.getResult(0);
}

/// The type of the result before its channels, dimension `dim`, are joined.
static RankedTensorType groupedType(RankedTensorType type, int64_t dim, int64_t groups) {
  SmallVector<int64_t> shape(type.getShape());
  if (groups > 1) {
    shape[dim] /= groups;
    shape.insert(shape.begin() + dim, groups);
  }
  return type.clone(shape);
}

static Value emitForward(ImplicitLocOpBuilder &b, const Convolution &conv, Value x, Value w,
                         RankedTensorType result) {
  Loops loops(b, conv);
  Value image = grouped(b, paddedInput(b, x, conv.windows, 0), 1, conv.groups);
  AffineMap seen = loops.imageMap(loops.in, windowExprs(conv.windows, loops.image, loops.window));
  Value y =
      sumOfProducts(b, image, grouped(b, w, 0, conv.groups), groupedType(result, 1, conv.groups),
                    {seen, loops.weightMap(), loops.imageMap(loops.out, loops.image)});
  return reshaped(b, y, result);
}

static Value emitGradX(ImplicitLocOpBuilder &b, const Convolution &conv, Value dy, Value w,
                       RankedTensorType result) {
  Loops loops(b, conv);
  Value spread = grouped(b, spreadOutput(b, dy, conv.windows), 1, conv.groups);
  AffineMap seen = loops.imageMap(loops.out, spreadExprs(conv.windows, loops.image, loops.window));
  Value dx =
      sumOfProducts(b, spread, grouped(b, w, 0, conv.groups), groupedType(result, 1, conv.groups),
                    {seen, loops.weightMap(), loops.imageMap(loops.in, loops.image)});
  return reshaped(b, dx, result);
}

/// The gradient of the weights where each group has one channel in and out. The sum for an element
/// of a window is over one contiguous range of each image instead of over rows, which are often
/// shorter than a few vectors. It is innermost, so it is in a register.
static Value emitDepthwiseGradW(ImplicitLocOpBuilder &b, const Convolution &conv, Value dy, Value x,
                                RankedTensorType result) {
  const int64_t rank = conv.windows.rank();
  SmallVector<AffineExpr> written; // channel, then the window
  for (int64_t dim = 0; dim <= rank; ++dim)
    written.push_back(b.getAffineDimExpr(dim));
  AffineExpr batch = b.getAffineDimExpr(rank + 1), output = b.getAffineDimExpr(rank + 2);
  AffineExpr seen = flatExpr(conv.windows, output, ArrayRef(written).drop_front());
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(rank + 3, 0, exprs, b.getContext());
  };
  SmallVector<int64_t> shape{conv.out};
  llvm::append_range(shape, conv.windows.kernel);
  Value dw = sumOfProducts(
      b, flatOutput(b, dy, conv.windows), flatInput(b, x, conv.windows), result.clone(shape),
      {map({batch, written.front(), output}), map({batch, written.front(), seen}), map(written)});
  return reshaped(b, dw, result);
}

static Value emitGradW(ImplicitLocOpBuilder &b, const Convolution &conv, Value dy, Value x,
                       RankedTensorType result) {
  if (conv.groups > 1 && conv.groups == conv.in && conv.groups == conv.out)
    return emitDepthwiseGradW(b, conv, dy, x, result);
  Loops loops(b, conv);
  Value image = grouped(b, paddedInput(b, x, conv.windows, 0), 1, conv.groups);
  AffineMap seen = loops.imageMap(loops.in, windowExprs(conv.windows, loops.image, loops.window));
  Value dw =
      sumOfProducts(b, grouped(b, dy, 1, conv.groups), image, groupedType(result, 0, conv.groups),
                    {loops.imageMap(loops.out, loops.image), seen, loops.weightMap()});
  return reshaped(b, dw, result);
}

/// The library's call, or null where it has none: it knows f32, 1 to 3 spatial
/// dimensions and nothing empty.
static ConvolutionAttr libraryCall(OpBuilder &builder, const Convolution &conv, Type element,
                                   ConvolutionDirection direction, bool bias) {
  const Windows &w = conv.windows;
  auto isNegative = [](int64_t pad) { return pad < 0; };
  if (!element.isF32() || w.rank() > 3 || llvm::any_of(w.padsBegin, isNegative) ||
      llvm::any_of(w.padsEnd, isNegative))
    return {};
  auto list = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
  return ConvolutionAttr::get(builder.getContext(), direction, conv.batch, conv.groups, conv.in,
                              conv.out, list(w.input), list(w.output), list(w.kernel),
                              list(w.strides), list(w.dilations), list(w.padsBegin),
                              list(w.padsEnd), bias);
}

static LogicalResult lowerConv(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto conv = convolutionOf(node, node.inputType(0), node.inputType(1), result);
  if (failed(conv))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value y = emitForward(b, *conv, inputs[0], inputs[1], result);
  bool hasBias = inputs.size() > 2 && inputs[2];
  if (hasBias) {
    AffineMap channel = AffineMap::get(result.getRank(), 0, b.getAffineDimExpr(1));
    y = elementwise(b, {y, inputs[2]}, {{}, channel}, result,
                    [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                      return arith::AddFOp::create(in, x[0], x[1]);
                    });
  }
  lowered.results.push_back(y);
  lowered.call =
      libraryCall(builder, *conv, result.getElementType(), ConvolutionDirection::Forward, hasBias);
  return success();
}

static LogicalResult lowerGradX(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto conv = convolutionOf(node, result, node.inputType(1), node.inputType(0));
  if (failed(conv))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(emitGradX(b, *conv, inputs[0], inputs[1], result));
  lowered.call = libraryCall(builder, *conv, result.getElementType(),
                             ConvolutionDirection::BackwardData, false);
  return success();
}

static LogicalResult lowerGradW(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto conv = convolutionOf(node, node.inputType(1), result, node.inputType(0));
  if (failed(conv))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(emitGradW(b, *conv, inputs[0], inputs[1], result));
  lowered.call = libraryCall(builder, *conv, result.getElementType(),
                             ConvolutionDirection::BackwardWeights, false);
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static SmallVector<NamedAttribute> attributesOf(NodeBuilder &builder, const Convolution &conv) {
  SmallVector<NamedAttribute> attrs = windowAttributes(builder, conv.windows);
  attrs.push_back(builder.attr("group", conv.groups));
  return attrs;
}

/// Sums over everything but the channels.
static Value biasGradient(NodeBuilder &builder, Value dy) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, tensorType(dy).getRank()));
  axes[0] = 0;
  return builder.reduceSum(dy, axes, /*keepdims=*/false);
}

static LogicalResult convGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0], w = node.getInputs()[1];
  auto conv = convolutionOf(node, node.inputType(0), node.inputType(1), node.outputType(0));
  if (failed(conv))
    return failure();
  auto attrs = attributesOf(builder, *conv);
  if (wanted[0])
    grads[0] = builder.create(own::ConvGradX, x.getType(), {dy[0], w}, attrs).getResult(0);
  if (wanted[1])
    grads[1] = builder.create(own::ConvGradW, w.getType(), {dy[0], x}, attrs).getResult(0);
  if (wanted.size() > 2 && wanted[2])
    grads[2] = biasGradient(builder, dy[0]);
  return success();
}

/// ConvGradX is linear in both operands. Its gradients are the convolution of the incoming gradient
/// with the weights, and the gradient of the weights of that convolution.
static LogicalResult gradXGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value y = node.getInputs()[0], w = node.getInputs()[1];
  auto conv = convolutionOf(node, node.outputType(0), node.inputType(1), node.inputType(0));
  if (failed(conv))
    return failure();
  auto attrs = attributesOf(builder, *conv);
  if (wanted[0])
    grads[0] = builder.create(op::Conv, y.getType(), {dy[0], w}, attrs).getResult(0);
  if (wanted[1])
    grads[1] = builder.create(own::ConvGradW, w.getType(), {y, dy[0]}, attrs).getResult(0);
  return success();
}

/// ConvGradW is linear in both operands, too.
static LogicalResult gradWGradient(onnx::NodeOp node, ValueRange grad, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value dy = node.getInputs()[0], x = node.getInputs()[1];
  auto conv = convolutionOf(node, node.inputType(1), node.outputType(0), node.inputType(0));
  if (failed(conv))
    return failure();
  auto attrs = attributesOf(builder, *conv);
  if (wanted[0])
    grads[0] = builder.create(op::Conv, dy.getType(), {x, grad[0]}, attrs).getResult(0);
  if (wanted[1])
    grads[1] = builder.create(own::ConvGradX, x.getType(), {dy, grad[0]}, attrs).getResult(0);
  return success();
}

//===----------------------------------------------------------------------===//
// ConvTranspose
//===----------------------------------------------------------------------===//

/// The pads that make the result as large as it is, where the node does not say.
static SmallVector<int64_t> transposedPads(onnx::NodeOp node, const Windows &windows) {
  SmallVector<int64_t> begin, end;
  bool upper = node.getString("auto_pad", "NOTSET") == "SAME_UPPER";
  auto more = node.getInts("output_padding").value_or(SmallVector<int64_t>(windows.rank(), 0));
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    int64_t total = std::max<int64_t>(windows.span(dim) + more[dim] - windows.input[dim], 0);
    begin.push_back(upper ? total / 2 : total - total / 2);
    end.push_back(total - begin.back());
  }
  begin.append(end);
  return begin;
}

/// The attributes of the convolution whose input's gradient is the transposed convolution of `x`
/// with `w` to `y`.
static FailureOr<SmallVector<NamedAttribute>>
transposeAttributes(onnx::NodeOp node, NodeBuilder &builder, RankedTensorType x, RankedTensorType w,
                    RankedTensorType y) {
  auto conv = convolutionOf(node, y, w, x);
  if (failed(conv))
    return failure();
  SmallVector<NamedAttribute> attrs = attributesOf(builder, *conv);
  StringRef mode = node.getString("auto_pad", "NOTSET");
  bool hasPads = (mode == "NOTSET" || mode == "VALID") && !node.getInts("output_shape");
  for (int64_t more : node.getInts("output_padding").value_or(SmallVector<int64_t>()))
    if (!llvm::isUInt<32>(more))
      return nodeError(node) << "expected output_padding of 0 to 2^32, got " << more;
  if (!hasPads)
    for (NamedAttribute &attr : attrs)
      if (attr.getName() == "pads")
        attr = builder.attr("pads", transposedPads(node, conv->windows));
  return attrs;
}

static LogicalResult expandTranspose(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  RankedTensorType y = node.outputType(0);
  auto attrs = transposeAttributes(node, builder, node.inputType(0), node.inputType(1), y);
  if (failed(attrs))
    return failure();
  Value result =
      builder.create(own::ConvGradX, y, node.getInputs().take_front(2), *attrs).getResult(0);
  if (node.hasInput(2)) {
    SmallVector<int64_t> perChannel(y.getRank(), 1);
    perChannel[1] = y.getDimSize(1);
    result = builder.add(result, builder.reshape(node.getInputs()[2], perChannel));
  }
  results.push_back(result);
  return success();
}

//===----------------------------------------------------------------------===//
// ONNX Runtime
//===----------------------------------------------------------------------===//

static LogicalResult expandConvGrad(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  Value dy = node.getInputs()[0], x = node.getInputs()[1], w = node.getInputs()[2];
  auto conv = convolutionOf(node, node.inputType(1), node.inputType(2), node.inputType(0));
  if (failed(conv))
    return failure();
  auto attrs = attributesOf(builder, *conv);
  addResults(node,
             {builder.create(own::ConvGradX, x.getType(), {dy, w}, attrs).getResult(0),
              builder.create(own::ConvGradW, w.getType(), {dy, x}, attrs).getResult(0),
              biasGradient(builder, dy)},
             builder, results);
  return success();
}

static LogicalResult expandTransposeGrad(onnx::NodeOp node, NodeBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  Value dy = node.getInputs()[0], x = node.getInputs()[1], w = node.getInputs()[2];
  auto attrs =
      transposeAttributes(node, builder, node.inputType(1), node.inputType(2), node.inputType(0));
  if (failed(attrs))
    return failure();
  addResults(node,
             {builder.create(op::Conv, x.getType(), {dy, w}, *attrs).getResult(0),
              builder.create(own::ConvGradW, w.getType(), {x, dy}, *attrs).getResult(0),
              biasGradient(builder, dy)},
             builder, results);
  return success();
}

/// Batches, and, in one group, channels: those of the result, and those that a sum runs over.
static Factors convFactors(onnx::NodeOp node) {
  FactorBuilder factors(node);
  factors.add({0}, {0});
  if (node.getInt("group", 1) == 1)
    factors.add({-1, 0, 0}, {1}).add({1, 1}, {}, FactorKind::Sum, /*addend=*/2);
  return factors.take();
}

/// dy [batch, out, ..], w [out, in, ..] -> dx [batch, in, ..]
static Factors gradXFactors(onnx::NodeOp node) {
  FactorBuilder factors(node);
  factors.add({0}, {0});
  if (node.getInt("group", 1) == 1)
    factors.add({-1, 1}, {1}).add({1, 0}, {}, FactorKind::Sum);
  return factors.take();
}

/// dy [batch, out, ..], x [batch, in, ..] -> dw [out, in, ..]
static Factors gradWFactors(onnx::NodeOp node) {
  FactorBuilder factors(node);
  factors.add({0, 0}, {}, FactorKind::Sum);
  if (node.getInt("group", 1) == 1)
    factors.add({1}, {0}).add({-1, 1}, {1});
  return factors.take();
}

void registerConv() {
  auto add = [](OpDef def) {
    registerOp(def.computing(Function::Product).operand(2, OperandRole::Offset));
  };
  add(OpDef{op::Conv, 13, 23, Kind::Other, lowerConv, convGradient}.dividedBy(convFactors));
  add({op::ConvTranspose, 13, 23, Kind::Other, nullptr, nullptr, expandTranspose});
  registerOp(OpDef{own::ConvGradX, 1, 1, Kind::Other, lowerGradX, gradXGradient}
                 .dividedBy(gradXFactors)
                 .writtenBy(convGradXPlainly));
  registerOp(OpDef{own::ConvGradW, 1, 1, Kind::Other, lowerGradW, gradWGradient}
                 .dividedBy(gradWFactors)
                 .writtenBy(convGradWPlainly));
  registerRuntimeOp("ConvGrad", expandConvGrad);
  registerRuntimeOp("ConvTransposeGrad", expandTransposeGrad);
}

} // namespace zero::ops
