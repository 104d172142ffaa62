//===- Shardings.cpp - how a program shards its arguments -----------------===//

#include "Shardings.h"

#include "dialects/StableHlo/StableHlo.h"
#include "dialects/Zero/Zero.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kShardyAttr = "sdy.sharding", kGspmdAttr = "mhlo.sharding";

namespace {
/// The axes of the mesh along which each dimension is sharded.
using Axes = SmallVector<SmallVector<StringRef>>;
} // namespace

/// The axes of `sharding<@mesh, [{"data"}, {}]>`.
static Axes parseAxes(StringRef text) {
  Axes axes;
  const size_t begin = text.find("[{");
  if (begin == StringRef::npos)
    return axes;
  text = text.drop_front(begin).take_until([](char c) { return c == ']'; });
  SmallVector<StringRef> dims;
  text.split(dims, '{');
  for (StringRef dim : ArrayRef(dims).drop_front()) {
    SmallVector<StringRef> quoted;
    dim.split('}').first.split(quoted, '"');
    axes.emplace_back();
    for (size_t index = 1; index < quoted.size(); index += 2)
      axes.back().push_back(quoted[index]);
  }
  return axes;
}

namespace {
class Reader {
public:
  Reader(func::FuncOp program, const ProgramRoles &roles) : program(program), roles(roles) {}

  LogicalResult run();

private:
  LogicalResult readData(unsigned index, const Axes &axes);
  LogicalResult readState(unsigned index, const Axes &axes);
  FailureOr<Axes> axesOf(unsigned index);
  InFlightDiagnostic fail(unsigned index) {
    return emitError(locationOfFile(program))
           << "argument '" << roles.arguments[index].name << "': ";
  }

  func::FuncOp program;
  const ProgramRoles &roles;
  llvm::SetVector<StringRef> ofData;
  bool isStateSharded = false;
};
} // namespace

FailureOr<Axes> Reader::axesOf(unsigned index) {
  if (auto other = program.getArgAttrOfType<StringAttr>(index, kGspmdAttr))
    if (other.getValue().contains("devices="))
      return fail(index) << "expected a sharding of Shardy, got " << kGspmdAttr << " = " << other
                         << "; set jax_use_shardy_partitioner";
  auto attr = program.getArgAttrOfType<sdy::TextAttr>(index, kShardyAttr);
  return attr ? parseAxes(attr.getText()) : Axes();
}

/// Data is divided along its first dimension, or not at all.
LogicalResult Reader::readData(unsigned index, const Axes &axes) {
  for (auto [dim, names] : llvm::enumerate(axes))
    if (dim > 0 && !names.empty())
      return fail(index) << "expected data that is sharded along its first dimension, the batch, "
                            "got axis '"
                         << names.front() << "' on dimension " << dim
                         << "; other axes are not supported yet";
  if (axes.empty() || axes.front().empty())
    return success();
  ofData.insert_range(axes.front());
  program.setArgAttr(index, kSplitAttr, UnitAttr::get(program.getContext()));
  return success();
}

/// State is sharded along axes of the data: each rank keeps a part of what all compute with.
LogicalResult Reader::readState(unsigned index, const Axes &axes) {
  for (ArrayRef<StringRef> names : axes)
    for (StringRef name : names) {
      isStateSharded = true;
      if (!ofData.contains(name))
        return fail(index) << "expected state that is sharded along an axis of the data, got axis '"
                           << name << "'; other axes are not supported yet";
    }
  return success();
}

LogicalResult Reader::run() {
  auto visit = [&](bool isData, LogicalResult (Reader::*read)(unsigned, const Axes &)) {
    for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
      if ((argument.role == ArgumentRole::Data) != isData)
        continue;
      FailureOr<Axes> axes = axesOf(index);
      if (failed(axes) || failed((this->*read)(index, *axes)))
        return failure();
    }
    return success();
  };
  if (failed(visit(true, &Reader::readData)) || failed(visit(false, &Reader::readState)))
    return failure();
  if (isStateSharded)
    remark::passed(program.getLoc(), remark::RemarkOpts::name("sharding").category("import"))
        << "the program shards its state over ranks, as --zero-stage=1 to 3 do; the stage decides "
           "what is sharded";
  return success();
}

LogicalResult readShardings(func::FuncOp program, const ProgramRoles &roles) {
  return Reader(program, roles).run();
}

} // namespace zero
