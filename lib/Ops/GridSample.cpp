//===- GridSample.cpp - images sampled at the places of a grid ------------===//
//
// ONNX: GridSample (opsets 16 to 28; nearest, linear and cubic, also under their older
// names; all padding modes; align_corners) of x [N, C, D...] at grid [N, O..., d] for
// images of one to three dimensions. Gradients, with the same attributes:
//   zero::GridSampleGradX(dy, grid) {shape}: adds what each place gives to the pixels it
//     touches, places in row-major order; images and channels run beside each other;
//   zero::GridSampleGradGrid(dy, x, grid): sums over channels, in order. Places beyond
//     the border have none in padding mode border, and mode nearest has none at all.
//
//===----------------------------------------------------------------------===//

#include "GridTaps.h"
#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static FailureOr<Sampler> samplerOf(onnx::NodeOp node, RankedTensorType x, RankedTensorType grid) {
  ArrayRef<int64_t> extents = x.getShape().drop_front(std::min<int64_t>(x.getRank(), 2));
  int64_t rank = extents.size();
  if (!isa<FloatType>(x.getElementType()) || !isa<FloatType>(grid.getElementType()))
    return nodeError(node) << "expected images and a grid of floats, got " << x << " and " << grid;
  if (rank < 1 || rank > 3 || grid.getRank() != rank + 2 || grid.getShape().back() != rank ||
      grid.getDimSize(0) != x.getDimSize(0))
    return nodeError(node) << "expected images [N, C, ...] of one to three dimensions and a grid "
                              "of as many [N, ..., dimensions], got "
                           << x << " and " << grid;
  constexpr int64_t kMostPixels = int64_t(1) << 24;
  for (int64_t extent : extents)
    if (extent < 1 || extent > kMostPixels)
      return nodeError(node) << "expected 1 to " << kMostPixels
                             << " pixels along a dimension of the image, got " << extent;
  if (product(extents) > INT32_MAX)
    return nodeError(node) << "expected images of fewer than 2^31 pixels, got " << x;
  StringRef modeName = node.getString("mode", "linear");
  auto mode = llvm::StringSwitch<std::optional<Sampler::Mode>>(modeName)
                  .Case("nearest", Sampler::Mode::Nearest)
                  .Cases({"linear", "bilinear"}, Sampler::Mode::Linear)
                  .Cases({"cubic", "bicubic"}, Sampler::Mode::Cubic)
                  .Default(std::nullopt);
  StringRef paddingName = node.getString("padding_mode", "zeros");
  auto padding = llvm::StringSwitch<std::optional<Sampler::Padding>>(paddingName)
                     .Case("zeros", Sampler::Padding::Zeros)
                     .Case("border", Sampler::Padding::Border)
                     .Case("reflection", Sampler::Padding::Reflection)
                     .Default(std::nullopt);
  if (!mode)
    return nodeError(node) << "expected mode 'nearest', 'linear' or 'cubic', got '" << modeName
                           << "'";
  if (!padding)
    return nodeError(node) << "expected padding_mode 'zeros', 'border' or 'reflection', got '"
                           << paddingName << "'";
  return Sampler{SmallVector<int64_t>(extents), *mode, *padding,
                 node.getInt("align_corners", 0) != 0};
}

//===----------------------------------------------------------------------===//
// Places and pixels
//===----------------------------------------------------------------------===//

/// [N, C, ...] as [N, C, elements].
static RankedTensorType linesOf(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  return type.clone({shape[0], shape[1], product(shape.drop_front(2))});
}

static Value asLines(ImplicitLocOpBuilder &b, Value value) {
  return reshaped(b, value, linesOf(tensorType(value)));
}

/// A grid [N, O..., d] as [N, places, d].
static Value asPlaces(ImplicitLocOpBuilder &b, Value grid) {
  RankedTensorType type = tensorType(grid);
  ArrayRef<int64_t> shape = type.getShape();
  return reshaped(b, grid,
                  type.clone({shape[0], product(shape.drop_front().drop_back()), shape.back()}));
}

/// `value` as a float of `type`.
static Value converted(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (!value || value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, type, value);
  return arith::TruncFOp::create(b, type, value);
}

/// The pixels that place `place` of image `image` touches, computed in the wider type of
/// the grid and the images; weights are `element`.
static SmallVector<PixelTap> tapsAt(ImplicitLocOpBuilder &b, const Sampler &sampler, Value grid,
                                    Value image, Value place, Type element, bool wantSlopes) {
  int64_t rank = sampler.extents.size();
  Type own = tensorType(grid).getElementType();
  Type wide = own.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth() ? element : own;
  SmallVector<Value> coordinates;
  // A grid names the last dimension first.
  for (int64_t dim = rank; dim-- > 0;) {
    Value which = arith::ConstantIndexOp::create(b, dim);
    Value coordinate = tensor::ExtractOp::create(b, grid, ValueRange{image, place, which});
    coordinates.push_back(converted(b, coordinate, wide));
  }
  SmallVector<PixelTap> taps = pixelTaps(b, sampler, coordinates, wantSlopes);
  for (PixelTap &tap : taps) {
    tap.weight = converted(b, tap.weight, element);
    for (Value &slope : tap.slopes)
      slope = converted(b, slope, element);
  }
  return taps;
}

/// `value` where `tap` is a pixel, else zero.
static Value ifInside(ImplicitLocOpBuilder &b, const PixelTap &tap, Value value) {
  if (!tap.inside)
    return value;
  return arith::SelectOp::create(b, tap.inside, value, constant(b, value.getType(), 0));
}

static Value pixelAt(ImplicitLocOpBuilder &b, Value lines, Value image, Value channel,
                     const PixelTap &tap) {
  Value value = tensor::ExtractOp::create(b, lines, ValueRange{image, channel, tap.offset});
  return ifInside(b, tap, value);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static LogicalResult lowerGridSample(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  FailureOr<Sampler> sampler = samplerOf(node, node.inputType(0), node.inputType(1));
  if (failed(sampler))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value lines = asLines(b, inputs[0]), grid = asPlaces(b, inputs[1]);
  auto sample = [&](ImplicitLocOpBuilder &s, ValueRange) {
    Value image = linalg::IndexOp::create(s, 0), channel = linalg::IndexOp::create(s, 1),
          place = linalg::IndexOp::create(s, 2), sum;
    for (const PixelTap &tap :
         tapsAt(s, *sampler, grid, image, place, result.getElementType(), false)) {
      Value pixel = pixelAt(s, lines, image, channel, tap);
      Value part = arith::MulFOp::create(s, pixel, tap.weight);
      sum = sum ? arith::AddFOp::create(s, sum, part).getResult() : part;
    }
    return sum;
  };
  lowered.results.push_back(reshaped(b, elementwise(b, {}, linesOf(result), sample), result));
  return success();
}

namespace {
/// The pixels that all places touch, tap by tap: offsets i32 and weights, [N, places].
/// They are found once for all channels, each of which then stays in the cache.
struct TapTables {
  TapTables(ImplicitLocOpBuilder &b, const Sampler &sampler, Value grid, Type element) {
    int64_t count = 1;
    for (size_t dim = 0; dim < sampler.extents.size(); ++dim)
      count *= sampler.width();
    ArrayRef<int64_t> shape = tensorType(grid).getShape().drop_back();
    for (int64_t tap = 0; tap < count; ++tap) {
      auto find = [&](ImplicitLocOpBuilder &s) {
        Value image = linalg::IndexOp::create(s, 0), place = linalg::IndexOp::create(s, 1);
        return tapsAt(s, sampler, grid, image, place, element, false)[tap];
      };
      auto i32 = RankedTensorType::get(shape, b.getI32Type());
      offsets.push_back(elementwise(b, {}, i32, [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
        return arith::IndexCastOp::create(s, s.getI32Type(), find(s).offset);
      }));
      auto floats = RankedTensorType::get(shape, element);
      weights.push_back(elementwise(b, {}, floats, [&](ImplicitLocOpBuilder &s, ValueRange) {
        PixelTap found = find(s);
        return ifInside(s, found, found.weight);
      }));
    }
  }

  SmallVector<Value> offsets, weights;
};
} // namespace

static LogicalResult lowerGradX(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  FailureOr<Sampler> sampler = samplerOf(node, result, node.inputType(1));
  if (failed(sampler))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value dy = asLines(b, inputs[0]), grid = asPlaces(b, inputs[1]);
  Value zeros = filled(b, linesOf(result), 0);
  TapTables taps(b, *sampler, grid, result.getElementType());
  auto addPlace = [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
    Value given = tensor::ExtractOp::create(s, dy, point);
    SmallVector<Value> place{point[0], point[2]};
    for (auto [offsets, weights] : llvm::zip_equal(taps.offsets, taps.weights)) {
      Value offset = tensor::ExtractOp::create(s, offsets, place);
      SmallVector<Value> at{point[0], point[1],
                            arith::IndexCastOp::create(s, s.getIndexType(), offset)};
      Value weight = tensor::ExtractOp::create(s, weights, place);
      Value part = arith::MulFOp::create(s, given, weight);
      Value before = tensor::ExtractOp::create(s, carried, at);
      Value sum = arith::AddFOp::create(s, before, part);
      carried = tensor::InsertOp::create(s, sum, carried, at);
    }
    return carried;
  };
  Value dx = forEachIndex(b, tensorType(dy).getShape(), zeros, addPlace);
  lowered.results.push_back(reshaped(b, dx, result));
  return success();
}

/// The sums over all channels of dy times the slopes of its sample: one number for each
/// dimension of the image, first dimension first.
static SmallVector<Value> slopesOverChannels(ImplicitLocOpBuilder &b, Value dy, Value lines,
                                             ArrayRef<PixelTap> taps, Value image, Value place) {
  Type element = tensorType(lines).getElementType();
  SmallVector<Value> zeros(taps.front().slopes.size(), constant(b, element, 0));
  Value first = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value end = arith::ConstantIndexOp::create(b, tensorType(lines).getDimSize(1));
  auto loop = scf::buildLoopNest(
      b, b.getLoc(), first, end, one, zeros,
      [&](OpBuilder &inner, Location loc, ValueRange channel, ValueRange sums) {
        ImplicitLocOpBuilder s(loc, inner);
        Value given = tensor::ExtractOp::create(s, dy, ValueRange{image, channel[0], place});
        SmallVector<Value> slopes(sums.size());
        for (const PixelTap &tap : taps) {
          Value pixel = pixelAt(s, lines, image, channel[0], tap);
          for (auto [slope, of] : llvm::zip_equal(slopes, tap.slopes)) {
            Value part = arith::MulFOp::create(s, pixel, of);
            slope = slope ? arith::AddFOp::create(s, slope, part).getResult() : part;
          }
        }
        scf::ValueVector more;
        for (auto [sum, slope] : llvm::zip_equal(sums, slopes))
          more.push_back(
              arith::AddFOp::create(s, sum, arith::MulFOp::create(s, given, slope).getResult()));
        return more;
      });
  return loop.results;
}

static LogicalResult lowerGradGrid(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  Type element = node.inputType(1).getElementType();
  FailureOr<Sampler> sampler = samplerOf(node, node.inputType(1), result);
  if (failed(sampler))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value dy = asLines(b, inputs[0]), lines = asLines(b, inputs[1]), grid = asPlaces(b, inputs[2]);
  int64_t rank = sampler->extents.size();
  auto onePlace = [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
    SmallVector<PixelTap> taps =
        tapsAt(s, *sampler, grid, point[0], point[1], element, /*wantSlopes=*/true);
    auto slopes = slopesOverChannels(s, dy, lines, taps, point[0], point[1]);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value which = arith::ConstantIndexOp::create(s, rank - 1 - dim);
      Value slope = converted(s, slopes[dim], result.getElementType());
      carried = tensor::InsertOp::create(s, slope, carried, ValueRange{point[0], point[1], which});
    }
    return carried;
  };
  RankedTensorType flat = tensorType(grid);
  Value slopes = forEachIndex(b, flat.getShape().drop_back(), empty(b, flat), onePlace);
  lowered.results.push_back(reshaped(b, slopes, result));
  return success();
}

static LogicalResult gridSampleGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                        NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0], grid = node.getInputs()[1];
  StringRef mode = node.getString("mode", "linear");
  SmallVector<NamedAttribute> attrs{
      builder.attr("mode", mode),
      builder.attr("padding_mode", node.getString("padding_mode", "zeros")),
      builder.attr("align_corners", node.getInt("align_corners", 0))};
  if (wanted[1])
    grads[1] =
        mode == "nearest"
            ? builder.splat(0, tensorType(grid))
            : builder.create(own::GridSampleGradGrid, grid.getType(), {dy[0], x, grid}, attrs)
                  .getResult(0);
  attrs.push_back(builder.attr("shape", tensorType(x).getShape()));
  if (wanted[0])
    grads[0] = builder.create(own::GridSampleGradX, x.getType(), {dy[0], grid}, attrs).getResult(0);
  return success();
}

static Factors sampleFactors(onnx::NodeOp node) {
  return FactorBuilder(node).add({0, 0}, {0}).add({1, -1}, {1}).take();
}

/// dy, x, grid -> the gradient of the grid, a sum over channels.
static Factors gradGridFactors(onnx::NodeOp node) {
  return FactorBuilder(node).add({0, 0, 0}, {0}).add({1, 1}, {}, FactorKind::Sum).take();
}

/// Opset 20 renamed the modes.
static LogicalResult gridSamplePlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                       SmallVectorImpl<Value> &results) {
  if (node.getOpset() >= 20)
    return success();
  NamedAttrList attrs(node.getAttrs());
  StringRef mode = node.getString("mode", "linear");
  attrs.set("mode",
            nodes.getBuilder().getStringAttr(mode.starts_with("bi") ? mode.drop_front(2) : mode));
  results.push_back(
      nodes.create(node.getOperator(), node.getResultTypes(), node.getInputs(), attrs.getAttrs())
          .getResult(0));
  return success();
}

void registerGridSample() {
  registerOp(
      OpDef{op::GridSample, 16, kNewestOpset, Kind::Other, lowerGridSample, gridSampleGradient}
          .dividedBy(sampleFactors)
          .writtenBy(gridSamplePlainly));
  registerOp(OpDef{own::GridSampleGradX, 1, 1, Kind::Other, lowerGradX}.dividedBy(sampleFactors));
  registerOp(
      OpDef{own::GridSampleGradGrid, 1, 1, Kind::Other, lowerGradGrid}.dividedBy(gradGridFactors));
}

} // namespace zero::ops
