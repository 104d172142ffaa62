//===- OutlineLaunches.cpp - outline launches into functions --------------===//

#include "OutlineLaunches.h"
#include "zero/Codegen/CompileGpu.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

static std::string nameOf(StringRef base, unsigned number) {
  return (base + "_" + Twine(number)).str();
}

rt::proto::GpuKernel describeLaunches(func::FuncOp kernel, StringRef base) {
  rt::proto::GpuKernel described;
  for (auto launch : kernel.getOps<gpu::LaunchOp>()) {
    unsigned number = described.entries_size();
    rt::proto::GpuEntry *entry = described.add_entries();
    entry->set_symbol(nameOf(base, number));
    entry->set_threads(*getConstantIntValue(launch.getBlockSizeX()));
    if (auto perBlock = launch->getAttrOfType<IntegerAttr>(kPerBlockAttr))
      entry->set_per_block(perBlock.getInt());
    else
      entry->set_blocks(*getConstantIntValue(launch.getGridSizeX()));
  }
  return described;
}

/// Adds to `needed` the operations that compute `value` in the block of `launch`, in order.
static void collect(Value value, Block &block, llvm::SetVector<Operation *> &needed) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block || needed.contains(op))
    return;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value operand : used)
    collect(operand, block, needed);
  needed.insert(op);
}

/// Declares shared memory of the block as a global, the only form that LLVM has for it.
static Value declareShared(OpBuilder &builder, BlockArgument memory, func::FuncOp entry,
                           unsigned number) {
  auto type = cast<MemRefType>(memory.getType());
  std::string name = (entry.getName() + "_shared" + Twine(number)).str();
  OpBuilder outer(entry);
  memref::GlobalOp::create(outer, entry.getLoc(), name, outer.getStringAttr("private"), type,
                           outer.getUnitAttr(), /*constant=*/false, IntegerAttr());
  return memref::GetGlobalOp::create(builder, entry.getLoc(), type, name);
}

static void outline(func::FuncOp kernel, gpu::LaunchOp launch, StringRef name) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(builder.getIndexType());
  auto entry = func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    entry.setArgAttrs(index, kernel.getArgAttrDict(index));
  Block *body = entry.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(kernel.getArguments(), body->getArguments()))
    mapping.map(from, to);
  mapping.map(launch.getBlockIds().x, gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
  mapping.map(launch.getThreadIds().x, gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  for (auto [number, memory] : llvm::enumerate(launch.getWorkgroupAttributions()))
    mapping.map(memory, declareShared(builder, memory, entry, number));
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(launch.getBody(), used);
  llvm::SetVector<Operation *> needed;
  for (Value value : used)
    collect(value, *launch->getBlock(), needed);
  for (Operation *op : needed)
    builder.clone(*op, mapping);
  for (Operation &op : launch.getBody().front().without_terminator())
    builder.clone(op, mapping);
  func::ReturnOp::create(builder, loc);
}

void outlineLaunches(func::FuncOp kernel, StringRef base) {
  for (auto [number, launch] : llvm::enumerate(kernel.getOps<gpu::LaunchOp>()))
    outline(kernel, launch, nameOf(base, number));
  kernel.erase();
}

} // namespace zero
