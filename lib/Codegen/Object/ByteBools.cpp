//===- ByteBools.cpp - store booleans as bytes ----------------------------===//

#include "LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero {

/// `type` with bytes for booleans, or null when it is no buffer of booleans.
static MemRefType asBytes(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !buffer.getElementType().isInteger(1))
    return {};
  return MemRefType::get(buffer.getShape(), IntegerType::get(type.getContext(), 8),
                         buffer.getLayout(), buffer.getMemorySpace());
}

static void retype(Value value) {
  if (MemRefType bytes = asBytes(value.getType()))
    value.setType(bytes);
}

static void widen(memref::LoadOp load) {
  if (!load.getType().isInteger(1))
    return;
  OpBuilder builder(load->getContext());
  builder.setInsertionPointAfter(load);
  load.getResult().setType(builder.getI8Type());
  Value zero = arith::ConstantIntOp::create(builder, load.getLoc(), 0, 8);
  auto isSet = arith::CmpIOp::create(builder, load.getLoc(), arith::CmpIPredicate::ne,
                                     load.getResult(), zero);
  load.getResult().replaceAllUsesExcept(isSet, isSet);
}

static void widen(memref::StoreOp store) {
  if (!store.getValueToStore().getType().isInteger(1))
    return;
  OpBuilder builder(store);
  Value byte =
      arith::ExtUIOp::create(builder, store.getLoc(), builder.getI8Type(), store.getValueToStore());
  store.getValueMutable().assign(byte);
}

static void widen(memref::GlobalOp global) {
  MemRefType bytes = asBytes(global.getType());
  if (!bytes)
    return;
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(global.getInitialValueAttr());
  global.setType(bytes);
  if (elements)
    global.setInitialValueAttr(elements.mapValues(
        bytes.getElementType(), [](const APInt &value) { return value.zext(8); }));
}

static void retypeSignature(func::FuncOp kernel) {
  if (kernel.isDeclaration())
    return;
  for (BlockArgument argument : kernel.getArguments())
    retype(argument);
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), kernel.getBody().getArgumentTypes(),
                                           kernel.getResultTypes()));
}

void storeBoolsAsBytes(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      widen(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      widen(store);
    else if (auto global = dyn_cast<memref::GlobalOp>(op))
      widen(global);
    for (Value result : op->getResults())
      retype(result);
    if (auto kernel = dyn_cast<func::FuncOp>(op))
      return retypeSignature(kernel);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        retype(argument);
  });
}

} // namespace zero
