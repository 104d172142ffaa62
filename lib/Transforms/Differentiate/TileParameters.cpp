//===- TileParameters.cpp - split large parameters into tiles -------------===//

#include "TiledReaders.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "dialects/Zero/Part.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Differentiate/Passes.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TILEPARAMETERS
#include "include/zero/Transforms/Differentiate/Passes.h.inc"
} // namespace zero

using namespace zero;
using planning::formatBytes;

namespace {
/// How one parameter is cut: `extents` of dimension `axis`.
struct Cut {
  int64_t axis = 0;
  SmallVector<int64_t> extents;
};

class Tiler {
public:
  Tiler(ModuleOp module, func::FuncOp step, int64_t limit)
      : module(module), limit(limit), symbols(module) {
    for (auto read : step.getBody().getOps<ReadOp>())
      reads[read.getSymbolAttr().getAttr()].push_back(read);
  }

  LogicalResult run();

private:
  std::optional<Cut> findCut(ParameterOp parameter);
  std::optional<int64_t> findAxis(ParameterOp parameter);
  InFlightDiagnostic refuse(ParameterOp parameter);
  SmallVector<ParameterOp> split(ParameterOp parameter, const Cut &cut);
  void rewriteReads(ParameterOp parameter, ArrayRef<ParameterOp> parts);
  void report();

  ModuleOp module;
  int64_t limit;
  SymbolTable symbols;
  llvm::DenseMap<StringAttr, SmallVector<ReadOp>> reads;
  /// The divided parameters, by type and dimension.
  llvm::MapVector<std::pair<RankedTensorType, int64_t>, SmallVector<StringRef>> done;
};
} // namespace

InFlightDiagnostic Tiler::refuse(ParameterOp parameter) {
  return emitError(parameter.getLoc())
         << "parameter '" << parameter.getSymName() << "' of "
         << formatBytes(tensorBytes(parameter.getTensorType()))
         << " is above --tile-params-over=" << limit << " and cannot be tiled: ";
}

static std::string describe(Operation *reader) {
  if (auto node = dyn_cast<onnx::NodeOp>(reader))
    return node.describe();
  return ("'" + reader->getName().getStringRef() + "'").str();
}

/// The dimension that all readers of `parameter` can cut; 0 where there is no reader.
/// Fails after an error.
std::optional<int64_t> Tiler::findAxis(ParameterOp parameter) {
  std::optional<int64_t> common;
  Operation *first = nullptr;
  for (ReadOp read : reads.lookup(parameter.getSymNameAttr()))
    for (OpOperand &use : read.getResult().getUses()) {
      std::optional<int64_t> axis = tileAxis(use);
      if (!axis) {
        refuse(parameter) << "it is read by " << describe(use.getOwner())
                          << "; expected products, convolutions and gathers of rows";
        return std::nullopt;
      }
      if (common && *common != *axis) {
        refuse(parameter) << describe(first) << " can split dimension " << *common << " of it, "
                          << describe(use.getOwner()) << " dimension " << *axis;
        return std::nullopt;
      }
      common = axis;
      first = use.getOwner();
    }
  return common.value_or(0);
}

/// The minimal number of parts of nearly equal size. Sizes are multiples of the alignment of
/// tensors if this does not increase the number.
static SmallVector<int64_t> divide(int64_t extent, int64_t most) {
  int64_t tiles = llvm::divideCeil(extent, most), each = llvm::divideCeil(extent, tiles);
  int64_t aligned = llvm::alignTo(each, kTensorAlignment);
  if (aligned <= most && int64_t(llvm::divideCeil(extent, aligned)) == tiles)
    each = aligned;
  SmallVector<int64_t> extents;
  for (; extent > 0; extent -= each)
    extents.push_back(std::min(extent, each));
  return extents;
}

std::optional<Cut> Tiler::findCut(ParameterOp parameter) {
  RankedTensorType type = parameter.getTensorType();
  std::optional<int64_t> axis = findAxis(parameter);
  if (!axis)
    return std::nullopt;
  int64_t extent = type.getDimSize(*axis), unit = tensorBytes(type) / extent;
  if (unit > limit) {
    refuse(parameter) << "one of its " << extent << (*axis == 0 ? " rows" : " columns") << " takes "
                      << unit << " bytes";
    return std::nullopt;
  }
  return Cut{*axis, divide(extent, limit / unit)};
}

/// Puts a parameter for each part in the place of `parameter`.
SmallVector<ParameterOp> Tiler::split(ParameterOp parameter, const Cut &cut) {
  OpBuilder builder(parameter);
  RankedTensorType type = parameter.getTensorType();
  const std::string name = parameter.getSymName().str();
  int64_t begin = 0;
  SmallVector<ParameterOp> parts;
  for (auto [index, extent] : llvm::enumerate(cut.extents)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[cut.axis] = extent;
    auto made = cast<ParameterOp>(builder.clone(*parameter));
    made.setSymName(freeName(symbols, (name + ".part" + Twine(index)).str()));
    made.setType(type.clone(shape));
    made->setAttr(kPartAttr, PartAttr::get(made.getContext(), name, cut.axis, begin,
                                           type.getDimSize(cut.axis)));
    symbols.insert(made);
    parts.push_back(made);
    begin += extent;
  }
  return parts;
}

void Tiler::rewriteReads(ParameterOp parameter, ArrayRef<ParameterOp> parts) {
  SmallVector<int64_t> begins;
  for (ParameterOp part : parts)
    begins.push_back(partOf(part).getBegin());
  // Import makes one read, and differentiation expects one.
  SmallVector<Value> values;
  for (ReadOp read : reads.lookup(parameter.getSymNameAttr())) {
    OpBuilder builder(read);
    for (ParameterOp part : values.empty() ? parts : ArrayRef<ParameterOp>())
      values.push_back(ReadOp::create(builder, read.getLoc(), part.getTensorType(),
                                      FlatSymbolRefAttr::get(part.getSymNameAttr())));
    while (!read.use_empty())
      tileReader(*read.getResult().use_begin(), values, begins);
    read.erase();
  }
}

/// Writes one line for all parameters of a shape that are divided equally.
void Tiler::report() {
  for (auto &[kind, names] : done) {
    auto [type, axis] = kind;
    int64_t bytes = tensorBytes(type), unit = bytes / type.getDimSize(axis);
    SmallVector<int64_t> extents = divide(type.getDimSize(axis), limit / unit);
    std::string which =
        names.size() == 1
            ? ("parameter '" + names.front() + "'").str()
            : (Twine(names.size()) + " parameters like '" + names.front() + "'").str();
    remark::passed(module.getLoc(), remark::RemarkOpts::name("tiled").category("tiles"))
        << (which + " of " + formatBytes(bytes) + " in " + Twine(extents.size()) + " tiles of " +
            formatBytes(unit * extents.front()) + ", gathered one at a time: above " +
            formatBytes(limit))
               .str();
  }
  if (done.empty())
    remark::passed(module.getLoc(), remark::RemarkOpts::name("whole").category("tiles"))
        << "no parameter is above " + formatBytes(limit) + ": none is tiled";
}

LogicalResult Tiler::run() {
  for (auto parameter : llvm::make_early_inc_range(module.getOps<ParameterOp>())) {
    if (parameter.getBlocks())
      continue; // decoded as a whole
    if (tensorBytes(parameter.getTensorType()) <= limit)
      continue;
    std::optional<Cut> cut = findCut(parameter);
    if (!cut)
      return failure();
    done[{parameter.getTensorType(), cut->axis}].push_back(parameter.getSymName());
    rewriteReads(parameter, split(parameter, *cut));
    symbols.erase(parameter);
  }
  report();
  return success();
}

namespace {
struct TileParameters : zero::impl::TileParametersBase<TileParameters> {
  using Base::Base;

  void runOnOperation() override {
    auto planned = getOperation()->getAttrOfType<IntegerAttr>(kTilesAttr);
    const uint64_t limit = planned ? uint64_t(planned.getInt()) : bytes;
    if (limit == 0)
      return;
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (!step->getBody().getOps<GradientOp>().empty()) {
      step->emitError("the graph already contains a training step, so --tile-params-over cannot "
                      "tile its parameters");
      return signalPassFailure();
    }
    if (failed(Tiler(getOperation(), *step, std::min<uint64_t>(limit, INT64_MAX)).run()))
      signalPassFailure();
  }
};
} // namespace
