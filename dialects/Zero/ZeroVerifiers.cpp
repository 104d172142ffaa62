//===- ZeroVerifiers.cpp - what symbol uses must obey ---------------------===//

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zero;

/// The type of the state symbol `op`, or null if it is none.
static RankedTensorType stateType(Operation *op) {
  if (auto parameter = dyn_cast_or_null<ParameterOp>(op))
    return parameter.getTensorType();
  if (auto state = dyn_cast_or_null<StateOp>(op))
    return state.getTensorType();
  if (auto buffer = dyn_cast_or_null<BufferOp>(op))
    return buffer.getTensorType();
  return {};
}

/// Checks that `symbol` is a state of type `type`.
static LogicalResult verifyState(Operation *op, FlatSymbolRefAttr symbol, Type type,
                                 SymbolTableCollection &tables) {
  Operation *target = tables.lookupNearestSymbolFrom(op, symbol);
  RankedTensorType expected = stateType(target);
  if (!expected)
    return op->emitOpError() << "expected a parameter, state or buffer named " << symbol;
  if (expected == type)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "expected " << expected << " as declared, got " << type;
  error.attachNote(target->getLoc()) << "declared here";
  return error;
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getOfAttr() && !tables.lookupNearestSymbolFrom<ParameterOp>(*this, getOfAttr()))
    return emitOpError() << "expected a parameter named " << getOfAttr();
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyState(*this, getSymbolAttr(), getResult().getType(), tables);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyState(*this, getSymbolAttr(), getValue().getType(), tables);
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr()))
    return emitOpError() << "expected a parameter named " << getParameterAttr();
  return verifyState(*this, getParameterAttr(), getLocal().getType(), tables);
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &tables) {
  Type type = getGradient().getType();
  if (failed(verifyState(*this, getParameterAttr(), type, tables)))
    return failure();
  for (auto state : getStates().getAsRange<FlatSymbolRefAttr>())
    if (failed(verifyState(*this, state, type, tables)))
      return failure();
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  unsigned expected = 2 + getStates().size() + getScalars().size();
  if (kernel.getNumArguments() != expected)
    return emitOpError() << "expected a kernel of " << expected << " arguments, got "
                         << kernel.getNumArguments();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel || !kernel->hasAttr(kKernelAttr))
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  FunctionType type = kernel.getFunctionType();
  if (type.getNumInputs() == getNumOperands() && type.getNumResults() == getNumResults() &&
      succeeded(verifyCompatibleShapes(type.getInputs(), getOperandTypes())) &&
      succeeded(verifyCompatibleShapes(type.getResults(), getResultTypes())))
    return success();
  InFlightDiagnostic error = emitOpError() << "expected operands and results as in " << type;
  error.attachNote(kernel.getLoc()) << "kernel defined here";
  return error;
}
