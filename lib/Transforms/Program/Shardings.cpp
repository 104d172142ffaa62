//===- Shardings.cpp - how a program shards its arguments -----------------===//
//
// A sharding says where the parts of a tensor are, and changes no value: so all that is read here
// are hints, and what a hint means follows from the arguments that it is on.
//
//===----------------------------------------------------------------------===//

#include "Shardings.h"
#include "ShardyText.h"

#include "dialects/StableHlo/StableHlo.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Options/MeshAxes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kShardyAttr = "sdy.sharding", kGspmdAttr = "mhlo.sharding";

namespace {
class Reader {
public:
  Reader(func::FuncOp program, const ProgramRoles &roles)
      : module(program->getParentOfType<ModuleOp>()), program(program), roles(roles) {}

  LogicalResult run(StringRef mesh);

private:
  using Dims = SmallVector<SmallVector<StringRef>>; ///< axes of more than one device

  FailureOr<Dims> dimsOf(unsigned index);
  LogicalResult takeMesh(unsigned index, const ShardySharding &sharding);
  LogicalResult readData(unsigned index, const Dims &dims);
  LogicalResult readState(unsigned index, const Dims &dims);
  LogicalResult readTensorAxis(unsigned index, unsigned dim, StringRef axis);
  LogicalResult chooseSizes(StringRef mesh);
  LogicalResult checkBackward();
  void markParameters();
  void report(bool isOfProgram);

  /// An error about the sharding of an argument.
  InFlightDiagnostic fail(unsigned index) {
    InFlightDiagnostic error = emitError(locationOfFile(program))
                               << "argument '" << roles.arguments[index].name << "'";
    if (auto text = program.getArgAttrOfType<sdy::TextAttr>(index, kShardyAttr))
      error << " with " << text.getText();
    error << ": ";
    return error;
  }
  int64_t sizeOf(StringRef axis) const;

  ModuleOp module;
  func::FuncOp program;
  const ProgramRoles &roles;
  StringRef meshName; ///< of the only mesh
  ShardyMesh devices; ///< its axes
  llvm::SetVector<StringRef> ofData;
  StringRef ofTensor;                                 ///< empty: none
  SmallVector<std::pair<unsigned, unsigned>> sharded; ///< arguments, and their dimension
  std::string meshText;                               ///< of Zero's axes
  MeshAxes ranks;                                     ///< the same
  bool isStateOfData = false;
};
} // namespace

int64_t Reader::sizeOf(StringRef axis) const {
  const auto *found =
      llvm::find_if(devices, [&](const auto &known) { return known.first == axis; });
  return found == devices.end() ? 0 : found->second;
}

/// All shardings refer to one mesh, whose axes are known then.
LogicalResult Reader::takeMesh(unsigned index, const ShardySharding &sharding) {
  if (!meshName.empty())
    return meshName == sharding.mesh
               ? success()
               : LogicalResult(fail(index) << "expected one mesh for all arguments, got '"
                                           << sharding.mesh << "' and '" << meshName << "'");
  StringRef text = sharding.mesh;
  if (text.consume_front("@")) {
    auto mesh = module.lookupSymbol<sdy::MeshOp>(text.trim('"'));
    text = mesh ? mesh.getMesh().getText() : "";
  }
  std::optional<ShardyMesh> parsed = parseShardyMesh(text);
  if (!parsed)
    return fail(index) << "expected a mesh with names and sizes of axes, got '" << text << "'";
  meshName = sharding.mesh;
  devices = *parsed;
  return success();
}

/// The axes of more than one device along which each dimension of an argument is sharded.
FailureOr<Reader::Dims> Reader::dimsOf(unsigned index) {
  if (auto other = program.getArgAttrOfType<StringAttr>(index, kGspmdAttr))
    if (other.getValue().contains("devices="))
      return fail(index) << "expected a sharding of Shardy, got " << kGspmdAttr << " = " << other
                         << "; set jax_use_shardy_partitioner";
  auto attr = program.getArgAttrOfType<sdy::TextAttr>(index, kShardyAttr);
  if (!attr)
    return Dims();
  std::optional<ShardySharding> sharding = parseShardySharding(attr.getText());
  const auto rank = cast<RankedTensorType>(program.getArgumentTypes()[index]).getRank();
  if (!sharding || int64_t(sharding->dims.size()) != rank)
    return fail(index) << "expected a list of axes for each of " << rank << " dimensions";
  if (sharding->isUnreduced)
    return fail(index) << "expected a tensor, got summands of one (unreduced); sum them before";
  Dims dims;
  for (ArrayRef<StringRef> axes : sharding->dims) {
    dims.emplace_back();
    if (!axes.empty() && failed(takeMesh(index, *sharding)))
      return failure();
    for (StringRef axis : axes)
      if (int64_t size = sizeOf(axis); size == 0)
        return fail(index) << "expected axes of the mesh, got '" << axis << "'";
      else if (size > 1)
        dims.back().push_back(axis);
  }
  if (sharding->hasSubAxis)
    return fail(index) << "expected whole axes of the mesh, got a part of one; give the mesh an "
                          "axis for each part";
  return dims;
}

/// Data is divided along its first dimension, or not at all.
LogicalResult Reader::readData(unsigned index, const Dims &dims) {
  for (auto [dim, axes] : llvm::enumerate(dims))
    if (dim > 0 && !axes.empty())
      return fail(index) << "expected data that is sharded along its first dimension, the batch, "
                            "got axis '"
                         << axes.front() << "' on dimension " << dim
                         << "; leave that dimension whole";
  if (dims.empty() || dims.front().empty())
    return success();
  ofData.insert_range(dims.front());
  program.setArgAttr(index, kSplitAttr, UnitAttr::get(program.getContext()));
  return success();
}

/// Dimension `dim` of state is sharded along an axis that shards no data.
LogicalResult Reader::readTensorAxis(unsigned index, unsigned dim, StringRef axis) {
  if (ofTensor.empty())
    ofTensor = axis;
  if (axis == ofTensor) {
    sharded.push_back({index, dim});
    return success();
  }
  return fail(index) << "expected parameters that are sharded along axes of the data and one "
                        "other, got '"
                     << ofTensor << "' and '" << axis
                     << "', which shard no data; make one axis of them";
}

/// State is sharded along axes of the data, where each rank keeps a part of what all compute with,
/// or along the axis of which ranks compute with parts.
LogicalResult Reader::readState(unsigned index, const Dims &dims) {
  // Each rank holds buffers whole.
  const bool isTrained =
      roles.arguments[index].role == ArgumentRole::Parameter || roles.isWholeStep();
  for (auto [dim, axes] : llvm::enumerate(dims))
    for (StringRef axis : axes) {
      const bool isOfData = ofData.contains(axis);
      isStateOfData |= isOfData;
      if (!isOfData && isTrained && failed(readTensorAxis(index, dim, axis)))
        return failure();
    }
  return success();
}

/// The sizes of the axes of Zero's mesh: those of flags, or else of the program.
LogicalResult Reader::chooseSizes(StringRef mesh) {
  meshText = mesh.str();
  if (mesh.empty()) {
    uint64_t parts = 1;
    for (StringRef axis : ofData)
      parts = llvm::SaturatingMultiply(parts, uint64_t(sizeOf(axis)));
    meshText = "data=" + std::to_string(parts) +
               (ofTensor.empty() ? "" : ",tensor=" + std::to_string(sizeOf(ofTensor)));
  }
  if (std::string error = parseMesh(meshText, ranks); !error.empty())
    return emitError(locationOfFile(program)) << "the program's mesh: " << error;
  return success();
}

/// Zero shards products and adds their backward pass. It cannot shard a backward pass that is
/// there.
LogicalResult Reader::checkBackward() {
  const bool isJoint = llvm::any_of(roles.arguments, [](const ProgramArgument &argument) {
    return argument.role == ArgumentRole::Parameter && argument.result;
  });
  if (sharded.empty() || axisSize(ranks, kTensorAxis) == 1 || !(isJoint || roles.isWholeStep()))
    return success();
  return fail(sharded.front().first)
         << "expected a program that returns its loss alone, to shard it along '" << ofTensor
         << "', got " << (isJoint ? "a joint graph" : "a whole training step")
         << ", which brings its own backward pass; export the loss, or give --ranks=N for "
            "data-parallel ranks";
}

void Reader::markParameters() {
  if (axisSize(ranks, kTensorAxis) == 1)
    return;
  Builder builder(program.getContext());
  for (auto [index, dim] : sharded)
    program.setArgAttr(index, kShardedDimAttr, builder.getI64IntegerAttr(dim));
}

/// Says what the axes of the program are, and how many ranks follow.
void Reader::report(bool isOfProgram) {
  auto remark = [&](StringRef name, const Twine &text) {
    remark::passed(program.getLoc(), remark::RemarkOpts::name(name).category("import"))
        << text.str();
  };
  std::string names = "data=" + std::to_string(axisSize(ranks, kDataAxis));
  if (!ofData.empty())
    names += " (its '" + llvm::join(ofData, "', '") + "')";
  if (!ofTensor.empty())
    names += ", tensor=" + std::to_string(axisSize(ranks, kTensorAxis)) + " (its '" +
             ofTensor.str() + "')";
  if (isOfProgram)
    remark("mesh", "the mesh is the program's: " + names + "; --mesh or --ranks sets other sizes");
  else if (!ofTensor.empty())
    remark("mesh", "the program's axes, with the sizes of the flags: " + names);
  if (isStateOfData)
    remark("sharding", "the program shards state over the ranks of its batch: --zero-stage=3 does "
                       "that, 1 and 2 shard less");
}

LogicalResult Reader::run(StringRef mesh) {
  module->removeAttr(kProgramMeshAttr); // a program does not write it itself
  auto visit = [&](bool isData, LogicalResult (Reader::*read)(unsigned, const Dims &)) {
    for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
      if ((argument.role == ArgumentRole::Data) != isData)
        continue;
      FailureOr<Dims> dims = dimsOf(index);
      if (failed(dims) || failed((this->*read)(index, *dims)))
        return failure();
    }
    return success();
  };
  if (failed(visit(true, &Reader::readData)) || failed(visit(false, &Reader::readState)) ||
      failed(chooseSizes(mesh)) || failed(checkBackward()))
    return failure();
  markParameters();
  const bool isOfProgram = mesh.empty() && !(ofData.empty() && ofTensor.empty());
  report(isOfProgram);
  if (isOfProgram)
    module->setAttr(kProgramMeshAttr, StringAttr::get(program.getContext(), meshText));
  for (auto erased : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    erased.erase();
  return success();
}

LogicalResult readShardings(func::FuncOp program, const ProgramRoles &roles, StringRef mesh) {
  return Reader(program, roles).run(mesh);
}

} // namespace zero
