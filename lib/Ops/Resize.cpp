//===- Resize.cpp - images of another size --------------------------------===//
//
// ONNX: Resize (opsets 10 to 28; all modes, coordinate_transformation_modes and
// nearest_modes, antialias, axes, exclude_outside, extrapolation_value,
// keep_aspect_ratio_policy) and Upsample (7 to 9), with constant scales, sizes and roi.
// Both are expanded, one axis after the other; axes that get shorter come first:
//   - mode nearest by integer factors, all axes in one step: Reshape, Expand, Reshape;
//   - floats otherwise: zero::Resample of each axis, see Resample.h;
//   - integers and booleans, in mode nearest only: Gather of each axis.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Resample.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

namespace {
/// One dimension and how it is resized.
struct Axis {
  int64_t dim;
  AxisResize resize;
};

struct Sizes {
  SmallVector<int64_t> axes;  ///< dimensions that the lists below are about
  SmallVector<double> scales; ///< empty if `sizes` are given
  SmallVector<int64_t> sizes;
  SmallVector<double> roi; ///< begins, then ends
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// The numbers in operand `index`, none if it is left out; an error at the node when
/// they are not constant.
static FailureOr<SmallVector<double>> requireFloats(onnx::NodeOp node, unsigned index,
                                                    StringRef what) {
  if (!node.hasInput(index) || node.inputType(index).getNumElements() == 0)
    return SmallVector<double>();
  DenseFPElementsAttr elements;
  if (!matchPattern(node.getInputs()[index], m_Constant(&elements)))
    return nodeError(node) << "expected '" << what << "' to be a constant";
  SmallVector<double> numbers;
  for (APFloat number : elements.getValues<APFloat>()) {
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    numbers.push_back(number.convertToDouble());
    if (!std::isfinite(numbers.back()))
      return nodeError(node) << "expected finite numbers in '" << what << "'";
  }
  return numbers;
}

static FailureOr<SmallVector<int64_t>> axesOf(onnx::NodeOp node, int64_t rank) {
  auto axes = node.getInts("axes");
  if (!axes)
    return llvm::to_vector(llvm::seq<int64_t>(rank));
  llvm::BitVector seen(rank);
  for (int64_t &axis : *axes) {
    axis = normalAxis(axis, rank);
    if (axis < 0 || axis >= rank || seen[axis])
      return nodeError(node) << "expected axes of " << rank << " dimensions, each at most once";
    seen.set(axis);
  }
  return *axes;
}

/// Checks that there is one of `count` numbers for each of `axes`.
static LogicalResult checkCount(onnx::NodeOp node, StringRef what, size_t count, size_t axes) {
  if (count == axes)
    return success();
  return nodeError(node) << "expected " << axes << " numbers in '" << what << "', got " << count;
}

static LogicalResult checkSizes(onnx::NodeOp node, const Sizes &sizes, bool crops) {
  if (sizes.scales.empty() == sizes.sizes.empty())
    return nodeError(node) << "expected either 'scales' or 'sizes'";
  size_t given = sizes.scales.size() + sizes.sizes.size();
  if (failed(
          checkCount(node, sizes.scales.empty() ? "sizes" : "scales", given, sizes.axes.size())) ||
      (crops && failed(checkCount(node, "roi", sizes.roi.size(), 2 * sizes.axes.size()))))
    return failure();
  for (double scale : sizes.scales)
    if (!(scale > 0))
      return nodeError(node) << "expected positive scales, got " << scale;
  return success();
}

/// The operands of Resize; of opset 10 there are only scales.
static FailureOr<Sizes> resizeSizes(onnx::NodeOp node) {
  bool isOld = node.getOpset() < 11;
  auto axes = axesOf(node, node.inputType(0).getRank());
  auto scales = requireFloats(node, isOld ? 1 : 2, "scales");
  FailureOr<SmallVector<double>> roi = SmallVector<double>();
  bool crops = node.getString("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  if (crops)
    roi = requireFloats(node, 1, "roi");
  FailureOr<SmallVector<int64_t>> sizes = SmallVector<int64_t>();
  if (!isOld && node.hasInput(3) && node.inputType(3).getNumElements() != 0)
    sizes = requireInts(node, 3, "sizes");
  if (failed(axes) || failed(scales) || failed(sizes) || failed(roi))
    return failure();
  Sizes all{*axes, *scales, *sizes, *roi};
  if (failed(checkSizes(node, all, crops)))
    return failure();
  return all;
}

/// The scales of Upsample, an attribute up to opset 8.
static FailureOr<Sizes> upsampleSizes(onnx::NodeOp node) {
  Sizes sizes{llvm::to_vector(llvm::seq<int64_t>(node.inputType(0).getRank())), {}, {}, {}};
  if (auto attr = node.getAttrs().getAs<DenseF32ArrayAttr>("scales")) {
    llvm::append_range(sizes.scales, attr.asArrayRef());
  } else {
    auto scales = requireFloats(node, 1, "scales");
    if (failed(scales))
      return failure();
    sizes.scales = *scales;
  }
  if (failed(checkSizes(node, sizes, /*crops=*/false)))
    return failure();
  return sizes;
}

/// An error at the node unless `value` of attribute `name` is one of `known`.
static LogicalResult checkChoice(onnx::NodeOp node, StringRef name, StringRef value,
                                 ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, value))
    return success();
  InFlightDiagnostic error = nodeError(node) << "expected " << name << " ";
  llvm::interleave(
      known, [&](StringRef choice) { error << "'" << choice << "'"; }, [&] { error << ", "; });
  return error << ", got '" << value << "'";
}

/// The settings that all axes of `node` share.
static FailureOr<AxisResize> modesOf(onnx::NodeOp node) {
  // Before opset 11 there was one way.
  bool isOld = node.getOpset() < 11;
  AxisResize modes;
  modes.mode = node.getString("mode", "nearest").str();
  if (modes.mode == "bilinear")
    modes.mode = "linear";
  modes.coordinates =
      node.getString("coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel").str();
  modes.nearest = node.getString("nearest_mode", isOld ? "floor" : "round_prefer_floor").str();
  modes.cubicA = node.getFloat("cubic_coeff_a", -0.75);
  modes.antialias = node.getInt("antialias", 0) != 0;
  modes.excludeOutside = node.getInt("exclude_outside", 0) != 0;
  if (failed(checkChoice(node, "mode", modes.mode, {"nearest", "linear", "cubic"})) ||
      failed(checkChoice(node, "coordinate_transformation_mode", modes.coordinates,
                         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                          "align_corners", "asymmetric", "tf_crop_and_resize"})) ||
      failed(checkChoice(node, "nearest_mode", modes.nearest,
                         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) ||
      failed(checkChoice(node, "keep_aspect_ratio_policy",
                         node.getString("keep_aspect_ratio_policy", "stretch"),
                         {"stretch", "not_larger", "not_smaller"})))
    return failure();
  if (modes.antialias && modes.mode == "nearest")
    return nodeError(node) << "expected no antialias in mode 'nearest'";
  return modes;
}

/// The factor of each axis. With a policy that keeps the aspect ratio all have that of
/// the axis that fits, or covers, its size.
static SmallVector<double> scalesOf(onnx::NodeOp node, const Sizes &sizes) {
  if (!sizes.scales.empty())
    return sizes.scales;
  SmallVector<double> scales;
  for (auto [axis, size] : llvm::zip_equal(sizes.axes, sizes.sizes))
    scales.push_back(double(size) / double(node.inputType(0).getDimSize(axis)));
  StringRef policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && !scales.empty()) {
    double one = policy == "not_larger" ? *llvm::min_element(scales) : *llvm::max_element(scales);
    llvm::fill(scales, one);
  }
  return scales;
}

/// Whether an axis stays as it is.
static bool isUntouched(const AxisResize &resize) {
  return resize.input == resize.output && std::abs(resize.scale - 1) <= 1e-9 &&
         (resize.coordinates != "tf_crop_and_resize" ||
          (resize.roiBegin == 0 && resize.roiEnd == 1));
}

/// The axes that change, in the order in which they do.
static FailureOr<SmallVector<Axis>> changedAxes(onnx::NodeOp node, const Sizes &sizes) {
  FailureOr<AxisResize> modes = modesOf(node);
  if (failed(modes))
    return failure();
  SmallVector<Axis> changed;
  SmallVector<double> scales = scalesOf(node, sizes);
  for (auto [i, dim] : llvm::enumerate(sizes.axes)) {
    AxisResize resize = *modes;
    resize.input = node.inputType(0).getDimSize(dim);
    resize.output = node.outputType(0).getDimSize(dim);
    resize.scale = scales[i];
    if (!sizes.roi.empty()) {
      resize.roiBegin = sizes.roi[i];
      resize.roiEnd = sizes.roi[sizes.axes.size() + i];
    }
    if (isUntouched(resize))
      continue;
    int64_t taps = footprint(resize);
    if (taps > kMostTaps || resize.output > kMostTaps / taps)
      return nodeError(node) << "dimension " << dim << ": resizing " << resize.input
                             << " elements to " << resize.output
                             << " takes too large a table; expected at most " << kMostTaps
                             << " weights";
    changed.push_back({dim, resize});
  }
  // Few elements first: then rows, which are cheap while they are short, get longer last.
  llvm::sort(changed, [](const Axis &a, const Axis &b) {
    bool shrinks = a.resize.scale < 1, otherShrinks = b.resize.scale < 1;
    if (shrinks != otherShrinks)
      return shrinks;
    return shrinks ? a.dim < b.dim : a.dim > b.dim;
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// How often each element of an axis comes, one after the other; 0 if `table` is not
/// such a repetition.
static int64_t repetition(const AxisResize &resize, const TapTable &table) {
  if (resize.mode != "nearest" || resize.output % resize.input != 0 || table.outside.any())
    return 0;
  int64_t factor = resize.output / resize.input;
  for (auto [output, taps] : llvm::enumerate(table.rows))
    if (taps.size() != 1 || taps[0].index != int64_t(output) / factor)
      return 0;
  return factor;
}

/// `value` with each element of dimension i factors[i] times.
static Value repeated(NodeBuilder &builder, Value value, ArrayRef<int64_t> factors) {
  SmallVector<int64_t> apart, wide, shape;
  for (auto [extent, factor] : llvm::zip_equal(tensorType(value).getShape(), factors)) {
    apart.push_back(extent);
    wide.push_back(extent);
    shape.push_back(extent * factor);
    if (factor > 1) {
      apart.push_back(1);
      wide.push_back(factor);
    }
  }
  return builder.reshape(builder.expand(builder.reshape(value, apart), wide), shape);
}

/// The value that is added along dimension `dim` for elements outside of the axis.
static Value addOutside(onnx::NodeOp node, NodeBuilder &builder, Value value, int64_t dim,
                        const llvm::BitVector &outside) {
  double extrapolation = node.getFloat("extrapolation_value", 0);
  if (extrapolation == 0 || outside.none())
    return value;
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getRank() - dim, 1);
  shape.front() = type.getDimSize(dim);
  Builder &attrs = builder.getBuilder();
  SmallVector<Attribute> elements;
  for (unsigned i = 0; i < outside.size(); ++i)
    elements.push_back(attrs.getFloatAttr(type.getElementType(), outside[i] ? extrapolation : 0));
  auto constant = DenseElementsAttr::get(type.clone(shape), elements);
  return builder.add(value,
                     arith::ConstantOp::create(builder.getBuilder(), builder.getLoc(), constant));
}

/// Mode nearest for elements that are no floats.
static FailureOr<Value> gathered(onnx::NodeOp node, NodeBuilder &builder, Value value,
                                 const Axis &axis, const TapTable &table) {
  if (axis.resize.mode != "nearest" || table.outside.any())
    return nodeError(node) << "expected floating-point numbers in mode '" << axis.resize.mode << "'"
                           << (table.outside.any() ? " beyond the image" : "") << ", got "
                           << node.getInputs()[0].getType();
  SmallVector<int64_t> indices, shape(tensorType(value).getShape());
  for (const Taps &taps : table.rows)
    indices.push_back(taps.front().index);
  shape[axis.dim] = axis.resize.output;
  return builder
      .create(op::Gather, tensorType(value).clone(shape), {value, builder.indices(indices)},
              builder.attr("axis", axis.dim))
      .getResult(0);
}

static LogicalResult expand(onnx::NodeOp node, FailureOr<Sizes> sizes, NodeBuilder &builder,
                            SmallVectorImpl<Value> &results) {
  RankedTensorType from = node.inputType(0), to = node.outputType(0);
  if (failed(sizes))
    return failure();
  if (from.getNumElements() == 0 || to.getNumElements() == 0)
    return nodeError(node) << "expected images of at least one element, got " << from << " and "
                           << to;
  auto axes = changedAxes(node, *sizes);
  if (failed(axes))
    return failure();
  Value value = node.getInputs()[0];
  SmallVector<int64_t> factors(from.getRank(), 1);
  for (const Axis &axis : *axes) {
    TapTable table = makeTable(axis.resize);
    if (int64_t factor = repetition(axis.resize, table)) {
      factors[axis.dim] = factor;
    } else if (isFloat(value)) {
      value = resampleNode(builder, value, axis.dim, axis.resize);
      value = addOutside(node, builder, value, axis.dim, table.outside);
    } else {
      FailureOr<Value> rows = gathered(node, builder, value, axis, table);
      if (failed(rows))
        return failure();
      value = *rows;
    }
  }
  results.push_back(repeated(builder, value, factors));
  return success();
}

static LogicalResult expandResize(onnx::NodeOp node, NodeBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  return expand(node, resizeSizes(node), builder, results);
}

static LogicalResult expandUpsample(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  return expand(node, upsampleSizes(node), builder, results);
}

void registerResize() {
  registerAnySign(OpDef{op::Resize, 10, kNewestOpset, Kind::Other, nullptr, nullptr, expandResize}
                      .operand(1, OperandRole::Setting)
                      .operand(2, OperandRole::Setting)
                      .operand(3, OperandRole::Setting));
  registerAnySign({{"", "Upsample"}, 7, 9, Kind::Other, nullptr, nullptr, expandUpsample});
}

} // namespace zero::ops
