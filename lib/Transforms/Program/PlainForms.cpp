//===- PlainForms.cpp - rules that write nodes in plain ONNX --------------===//
//
// Rules for operators whose lowering is not a loop over elements, or for which ONNX has an operator
// that does the same: products, convolutions, scatters. Rules for operators of ai.onnx write an
// older form of an operator, or one that only passes build, as opset 21 has it.
//
//===----------------------------------------------------------------------===//

#include "zero/Transforms/Program/PlainForms.h"

#include "zero/Ops/CallAttrs.h"
#include "zero/Ops/ResampleMatrix.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {

using Results = SmallVectorImpl<Value>;

/// The elements of an integer constant; nothing when `value` is not constant.
static std::optional<SmallVector<int64_t>> constantInts(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(elements.getValues<APInt>(),
                             [](const APInt &element) { return element.getSExtValue(); });
}

//===----------------------------------------------------------------------===//
// Products and convolutions
//===----------------------------------------------------------------------===//

static LogicalResult contract(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  Value a = node.getInputs()[0], b = node.getInputs()[1];
  int64_t transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  if (tensorType(a).getRank() == 2 && tensorType(b).getRank() == 2) {
    results.push_back(nodes
                          .create(op::Gemm, node.getResult(0).getType(), {a, b},
                                  {nodes.attr("transA", transA), nodes.attr("transB", transB)})
                          .getResult(0));
    return success();
  }
  results.push_back(
      nodes.matmul(transA ? nodes.transposeLast(a) : a, transB ? nodes.transposeLast(b) : b));
  return success();
}

namespace {
/// The windows of a gradient of a convolution.
struct ConvWindows {
  explicit ConvWindows(onnx::NodeOp node)
      : strides(*node.getInts("strides")), dilations(*node.getInts("dilations")),
        pads(*node.getInts("pads")), group(node.getInt("group", 1)) {}

  bool hasNegativePads() const {
    return llvm::any_of(pads, [](int64_t pad) { return pad < 0; });
  }
  int64_t padding(int64_t dim) const { return pads[dim] + pads[strides.size() + dim]; }

  SmallVector<int64_t> strides, dilations, pads;
  int64_t group;
};
} // namespace

/// ConvGradX(dy, w) is a ConvTranspose.
static LogicalResult convGradX(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  ConvWindows windows(node);
  if (windows.hasNegativePads())
    return success();
  SmallVector<int64_t> more;
  ArrayRef<int64_t> input = node.outputType(0).getShape().drop_front(2);
  ArrayRef<int64_t> kernel = node.inputType(1).getShape().drop_front(2);
  ArrayRef<int64_t> output = node.inputType(0).getShape().drop_front(2);
  for (auto [dim, extent] : llvm::enumerate(input)) {
    int64_t reach = (kernel[dim] - 1) * windows.dilations[dim] + 1;
    more.push_back(extent + windows.padding(dim) - reach -
                   (output[dim] - 1) * windows.strides[dim]);
    if (more.back() < 0)
      return success();
  }
  results.push_back(
      nodes
          .create(op::ConvTranspose, node.getResult(0).getType(), node.getInputs(),
                  {nodes.attr("dilations", ArrayRef<int64_t>(windows.dilations)),
                   nodes.attr("group", windows.group), nodes.attr("kernel_shape", kernel),
                   nodes.attr("output_padding", ArrayRef<int64_t>(more)),
                   nodes.attr("pads", ArrayRef<int64_t>(windows.pads)),
                   nodes.attr("strides", ArrayRef<int64_t>(windows.strides))})
          .getResult(0));
  return success();
}

/// `value` with its first two dimensions swapped, [batch, channels, ...]; with groups its channels
/// become [channels / groups, groups batch, ...].
static Value channelsFirst(NodeBuilder &nodes, Value value, int64_t groups) {
  SmallVector<int64_t> shape(tensorType(value).getShape()), split(shape), order{1, 0};
  split[1] /= groups;
  split.insert(split.begin() + 1, groups);
  if (groups > 1) {
    value = nodes.reshape(value, split);
    order = {2, 1, 0};
  }
  for (int64_t dim = order.size(); dim < tensorType(value).getRank(); ++dim)
    order.push_back(dim);
  value = nodes.transpose(value, order);
  SmallVector<int64_t> joined(shape);
  joined[0] = shape[1] / groups;
  joined[1] = groups * shape[0];
  return nodes.reshape(value, joined);
}

/// ConvGradW(dy, x) is the convolution of x with dy, whose strides and dilations are swapped: the
/// channels of x are its batch and the batch is its channels.
static LogicalResult convGradW(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  ConvWindows windows(node);
  if (windows.hasNegativePads())
    return success();
  Value dy = node.getInputs()[0], x = node.getInputs()[1];
  RankedTensorType type = node.outputType(0);
  Value images = channelsFirst(nodes, x, windows.group), kernels = channelsFirst(nodes, dy, 1);
  // The convolution also has results beyond the window, for elements that no window sees.
  SmallVector<int64_t> shape{tensorType(images).getDimSize(0), type.getDimSize(0)};
  SmallVector<int64_t> starts, ends, axes;
  for (int64_t dim = 2; dim < type.getRank(); ++dim) {
    int64_t reach = (tensorType(dy).getDimSize(dim) - 1) * windows.strides[dim - 2] + 1;
    int64_t room = tensorType(x).getDimSize(dim) + windows.padding(dim - 2) - reach;
    shape.push_back(room / windows.dilations[dim - 2] + 1);
    starts.push_back(0);
    ends.push_back(type.getDimSize(dim));
    axes.push_back(dim);
  }
  Value made = nodes
                   .create(op::Conv, type.clone(shape), {images, kernels},
                           {nodes.attr("dilations", ArrayRef<int64_t>(windows.strides)),
                            nodes.attr("group", windows.group),
                            nodes.attr("pads", ArrayRef<int64_t>(windows.pads)),
                            nodes.attr("strides", ArrayRef<int64_t>(windows.dilations))})
                   .getResult(0);
  SmallVector<int64_t> seen(shape);
  llvm::copy(type.getShape().drop_front(2), seen.begin() + 2);
  if (seen != shape)
    made = nodes
               .create(op::Slice, type.clone(seen),
                       {made, nodes.indices(starts), nodes.indices(ends), nodes.indices(axes)})
               .getResult(0);
  results.push_back(channelsFirst(nodes, made, 1));
  return success();
}

/// Resample(x) is a product of its axis with a matrix of weights.
static LogicalResult resample(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  DenseElementsAttr matrix = resampleMatrix(node);
  if (!matrix)
    return success();
  const int64_t axis = node.getInt("axis", 0), last = node.inputType(0).getRank() - 1;
  auto order = llvm::to_vector(llvm::seq<int64_t>(last + 1));
  std::swap(order[axis], order[last]);
  Value x = node.getInputs()[0];
  Value weights = arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(), matrix);
  Value made = nodes.matmul(axis == last ? x : nodes.transpose(x, order), weights);
  results.push_back(axis == last ? made : nodes.transpose(made, order));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static Value asInt64(NodeBuilder &nodes, Value indices) {
  return nodes.cast(indices, nodes.getBuilder().getI64Type());
}

/// Adds `updates` to `into` at the tuples `indices`.
static Value scatterAdd(NodeBuilder &nodes, Value into, Value indices, Value updates) {
  return nodes
      .create(op::ScatterND, into.getType(), {into, asInt64(nodes, indices), updates},
              nodes.attr("reduction", "add"))
      .getResult(0);
}

static Value scatterElementsAdd(NodeBuilder &nodes, Value into, Value indices, Value updates,
                                int64_t axis) {
  return nodes
      .create(op::ScatterElements, into.getType(), {into, indices, updates},
              {nodes.attr("axis", axis), nodes.attr("reduction", "add")})
      .getResult(0);
}

/// MaxPoolGrad(dy, x): the positions of the maxima are the second result of MaxPool.
static LogicalResult maxPoolGrad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  Value dy = node.getInputs()[0], x = node.getInputs()[1];
  RankedTensorType type = tensorType(dy), image = tensorType(x);
  Type i64 = nodes.getBuilder().getI64Type();
  SmallVector<NamedAttribute> attrs;
  for (StringRef name : {"dilations", "kernel_shape", "pads", "strides"})
    attrs.push_back(nodes.attr(name, ArrayRef<int64_t>(*node.getInts(name))));
  auto pool = nodes.create(op::MaxPool, {type, type.clone(i64)}, x, attrs);
  Value zeros = nodes.splat(0, image.clone({image.getNumElements()}));
  Value at = nodes.reshape(pool.getResult(1), {type.getNumElements()});
  Value updates = nodes.reshape(dy, {type.getNumElements()});
  results.push_back(
      nodes.reshape(scatterElementsAdd(nodes, zeros, at, updates, 0), image.getShape()));
  return success();
}

/// `dy` without the slices whose index is that of the padding row.
static Value withoutPadding(onnx::NodeOp node, NodeBuilder &nodes, Value rows, Value indices,
                            int64_t extent) {
  if (!node.getAttrs().contains(ops::kPaddingIndex))
    return rows;
  int64_t padding = node.getInt(ops::kPaddingIndex, 0);
  Type element = getElementTypeOrSelf(indices);
  auto is = [&](int64_t row) {
    return nodes.binary(op::Equal, indices, nodes.scalar(double(row), element));
  };
  Value isPadding = nodes.binary(op::Or, is(padding), is(padding - extent));
  SmallVector<int64_t> shape(tensorType(isPadding).getShape());
  shape.resize(tensorType(rows).getRank(), 1);
  return nodes.where(nodes.reshape(isPadding, shape), nodes.scalar(0, rows.getType()), rows);
}

/// GatherGrad(dy, indices, [start]): a scatter of rows, with `axis` in front.
static LogicalResult gatherGrad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  if (node.getAttrs().contains("begin"))
    return success(); // of a tile
  Value dy = node.getInputs()[0], indices = node.getInputs()[1];
  RankedTensorType type = node.outputType(0);
  const int64_t axis = node.getInt("axis", 0), count = tensorType(indices).getRank();
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < count; ++dim)
    order.push_back(axis + dim);
  for (int64_t dim = 0; dim < tensorType(dy).getRank(); ++dim)
    if (dim < axis || dim >= axis + count)
      order.push_back(dim);
  Value rows = llvm::is_sorted(order) ? dy : nodes.transpose(dy, order);
  rows = withoutPadding(node, nodes, rows, indices, type.getDimSize(axis));
  // The table with its rows in front, and the way back.
  SmallVector<int64_t> forth{axis}, back, shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim != axis)
      forth.push_back(dim);
    back.push_back(dim < axis ? dim + 1 : dim == axis ? 0 : dim);
  }
  for (int64_t dim : forth)
    shape.push_back(type.getDimSize(dim));
  Value table = nodes.splat(0, type.clone(shape));
  if (node.hasInput(2))
    table = axis == 0 ? node.getInputs()[2] : nodes.transpose(node.getInputs()[2], forth);
  SmallVector<int64_t> tuples(tensorType(indices).getShape());
  tuples.push_back(1);
  Value sums = scatterAdd(nodes, table, nodes.reshape(indices, tuples), rows);
  results.push_back(axis == 0 ? sums : nodes.transpose(sums, back));
  return success();
}

static LogicalResult gatherElementsGrad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  Value zeros = nodes.splat(0, node.outputType(0));
  results.push_back(scatterElementsAdd(nodes, zeros, node.getInputs()[1], node.getInputs()[0],
                                       node.getInt("axis", 0)));
  return success();
}

/// GatherNDGrad(dy, indices) {batch_dims}: the indices of batches become part of the tuples.
static LogicalResult gatherNDGrad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  Value indices = asInt64(nodes, node.getInputs()[1]);
  SmallVector<int64_t> shape(tensorType(indices).getShape());
  SmallVector<Value> parts;
  const int64_t batches = node.getInt("batch_dims", 0);
  for (int64_t dim = 0; dim < batches; ++dim) {
    SmallVector<int64_t> own(shape.size(), 1), full(shape);
    own[dim] = shape[dim];
    full.back() = 1;
    Value numbers = nodes.indices(llvm::to_vector(llvm::seq<int64_t>(shape[dim])));
    parts.push_back(nodes.expand(nodes.reshape(numbers, own), full));
  }
  parts.push_back(indices);
  shape.back() += batches;
  if (parts.size() > 1)
    indices = nodes
                  .create(op::Concat, tensorType(indices).clone(shape), parts,
                          nodes.attr("axis", int64_t(shape.size()) - 1))
                  .getResult(0);
  results.push_back(
      scatterAdd(nodes, nodes.splat(0, node.outputType(0)), indices, node.getInputs()[0]));
  return success();
}

/// PadGrad(dy) {mode, before}: the same Pad of the positions says where each element comes from.
static LogicalResult padGrad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
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
  Value sums = scatterElementsAdd(nodes, zeros, nodes.reshape(sources, flat),
                                  nodes.reshape(node.getInputs()[0], flat), 0);
  results.push_back(nodes.reshape(sums, type.getShape()));
  return success();
}

//===----------------------------------------------------------------------===//
// Operators of ai.onnx in another form
//===----------------------------------------------------------------------===//

/// Shapes are static, so views need neither axes nor a computed shape.
static LogicalResult view(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  results.push_back(nodes.reshape(node.getInputs()[0], node.outputType(0).getShape()));
  return success();
}

/// A Split whose results say their sizes.
static LogicalResult split(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  int64_t axis = node.getInt("axis", 0), rank = node.inputType(0).getRank();
  axis += axis < 0 ? rank : 0;
  SmallVector<int64_t> sizes;
  for (Value output : node.getOutputs())
    sizes.push_back(tensorType(output).getDimSize(axis));
  auto made = nodes.create(op::Split, node.getResultTypes(),
                           {node.getInputs()[0], nodes.indices(sizes)}, nodes.attr("axis", axis));
  llvm::append_range(results, made.getResults());
  return success();
}

/// A Pad with constant pads that crops: a Slice, then a Pad of the rest.
static LogicalResult pad(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
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

/// Whether `node` is such a Pad.
static bool crops(onnx::NodeOp node) {
  std::optional<SmallVector<int64_t>> pads = constantInts(node.getInputs()[1]);
  return pads && !node.hasInput(3) && node.getString("mode", "constant") == "constant" &&
         llvm::any_of(*pads, [](int64_t pad) { return pad < 0; });
}

/// A reduction whose axes are an attribute.
static LogicalResult reduction(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  NamedAttrList attrs(node.getAttrs());
  attrs.erase("axes");
  attrs.erase(ops::kFirstOfEqual);
  results.push_back(nodes
                        .create(node.getOperator(), node.getResultTypes(),
                                {node.getInputs()[0], nodes.indices(*node.getInts("axes"))},
                                attrs.getAttrs())
                        .getResult(0));
  return success();
}

/// Attributes that only gradients and checks read.
static constexpr llvm::StringLiteral kCallAttrs[] = {ops::kPaddingIndex, ops::kLeastIndex,
                                                     ops::kFirstOfEqual, ops::kSlopeAtZero};

/// A node without attributes that ONNX does not have.
static LogicalResult withoutCallAttrs(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  NamedAttrList attrs(node.getAttrs());
  for (StringRef name : kCallAttrs)
    attrs.erase(name);
  results.push_back(
      nodes.create(node.getOperator(), node.getResultTypes(), node.getInputs(), attrs.getAttrs())
          .getResult(0));
  return success();
}

/// Opset 20 renamed the modes.
static LogicalResult gridSample(onnx::NodeOp node, NodeBuilder &nodes, Results &results) {
  NamedAttrList attrs(node.getAttrs());
  StringRef mode = node.getString("mode", "linear");
  attrs.set("mode",
            nodes.getBuilder().getStringAttr(mode.starts_with("bi") ? mode.drop_front(2) : mode));
  results.push_back(
      nodes.create(node.getOperator(), node.getResultTypes(), node.getInputs(), attrs.getAttrs())
          .getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct PlainForm {
  onnx::Operator type;
  ops::ExpandFn write;
};
} // namespace

static constexpr PlainForm kOwnForms[] = {
    {own::Contract, contract},         {own::ConvGradX, convGradX},
    {own::ConvGradW, convGradW},       {own::MaxPoolGrad, maxPoolGrad},
    {own::GatherGrad, gatherGrad},     {own::GatherElementsGrad, gatherElementsGrad},
    {own::GatherNDGrad, gatherNDGrad}, {own::PadGrad, padGrad},
    {own::Resample, resample},
};

/// Operators that are newer than the emitted opset.
static constexpr onnx::Operator kNewer[] = {op::Attention, op::BitCast, op::CumProd, op::Swish,
                                            op::RMSNormalization};

ops::ExpandFn plainForm(onnx::NodeOp node) {
  const auto *known =
      llvm::find_if(kOwnForms, [&](const PlainForm &form) { return node.is(form.type); });
  if (known != std::end(kOwnForms))
    return known->write;
  if (!node.getDomain().empty())
    return nullptr;
  StringRef type = node.getOpType();
  const ops::OpDef *def = ops::lookup(node);
  bool isReshape = node.is(op::Reshape) && node.getInt("allowzero", 0) == 1;
  if (def && def->kind == ops::Kind::View && !isReshape && !node.is(op::Identity))
    return view;
  if (node.is(op::Pad) && node.hasInput(1) && crops(node))
    return pad;
  if (node.is(op::Split))
    return node.hasInput(1) && node.getInputs().size() == 2 ? nullptr : split;
  if (type.starts_with("Reduce") && node.getInts("axes"))
    return reduction;
  if (llvm::any_of(kCallAttrs, [&](StringRef name) { return node.getAttrs().contains(name); }))
    return withoutCallAttrs;
  if (node.is(op::GridSample) && node.getOpset() < 20)
    return gridSample;
  return nullptr;
}

bool isPlain(onnx::NodeOp node) { return node.getDomain().empty() && !node.isAnyOf(kNewer); }

} // namespace zero
