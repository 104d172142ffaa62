//===- ZeroVerifiers.cpp - what symbol uses must obey ---------------------===//

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

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

LogicalResult TransferOp::verify() {
  if (std::abs(int(getFrom()) - int(getTier())) != 1)
    return emitOpError() << "expected neighbours, device and host or host and nvme, got "
                         << stringifyTier(getFrom()) << " and " << stringifyTier(getTier());
  if (getInto() && getInto().getType() != getInput().getType())
    return emitOpError() << "expected room for " << getInput().getType() << ", got "
                         << getInto().getType();
  return success();
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr()))
    return emitOpError() << "expected a parameter named " << getParameterAttr();
  Type result = getResult().getType(), local = getLocal().getType();
  if (result != local && !getElementTypeOrSelf(result).isF32())
    return emitOpError() << "expected a result of type " << local << " or of f32, got " << result;
  return verifyState(*this, getParameterAttr(), local, tables);
}

/// Checks that `symbol` is a state of the shape of `type`.
static LogicalResult verifyShape(Operation *op, FlatSymbolRefAttr symbol, RankedTensorType type,
                                 SymbolTableCollection &tables) {
  RankedTensorType declared = stateType(tables.lookupNearestSymbolFrom(op, symbol));
  if (declared && declared.getShape() == type.getShape())
    return success();
  return verifyState(op, symbol, type, tables);
}

/// The arguments of `kernel` but the iterations to run: a launch is of all.
static ArrayRef<Type> launchedTypes(func::FuncOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  bool hasIterations =
      types.size() > 2 && llvm::all_of(types.take_back(2), llvm::IsaPred<IndexType>);
  return hasIterations ? types.drop_back(2) : types;
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto type = cast<RankedTensorType>(getGradient().getType());
  if (failed(verifyShape(*this, getParameterAttr(), type, tables)))
    return failure();
  for (auto state : getStates().getAsRange<FlatSymbolRefAttr>())
    if (failed(verifyShape(*this, state, type, tables)))
      return failure();
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  unsigned expected = 2 + getStates().size() + getScalars().size();
  if (size_t actual = launchedTypes(kernel).size(); actual != expected)
    return emitOpError() << "expected a kernel of " << expected << " arguments, got " << actual;
  if (getLayerwise() && getLayerwise()->size() != 3)
    return emitOpError() << "expected three layerwise kernels, got " << getLayerwise()->size();
  return success();
}

/// The shapes that `launch` hands to a kernel in destination-passing form: inputs,
/// then the results that do not take an input's buffer.
static SmallVector<Type> destinationTypes(LaunchOp launch, func::FuncOp kernel) {
  SmallVector<Type> types(launch.getInputs().getTypes());
  llvm::SmallBitVector inplace(launch.getNumResults());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto index = kernel.getArgAttrOfType<IntegerAttr>(i, kInplaceAttr);
        index && index.getInt() < inplace.size())
      inplace.set(index.getInt());
  for (auto [index, type] : llvm::enumerate(launch.getResultTypes()))
    if (!inplace.test(index))
      types.push_back(type);
  return types;
}

/// Kernels compute on signless integers, whatever sign the step gives them.
static Type signlessElement(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isUnsignedInteger())
    return IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return element;
}

static bool sameShapes(TypeRange expected, TypeRange actual) {
  return llvm::all_of_zip(expected, actual, [](Type a, Type b) {
    return succeeded(verifyCompatibleShape(a, b)) && signlessElement(a) == signlessElement(b);
  });
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel || !kernel->hasAttr(kKernelAttr))
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  FunctionType type = kernel.getFunctionType();
  bool matches;
  if (llvm::any_of(type.getInputs(), llvm::IsaPred<MemRefType>)) {
    SmallVector<Type> types = destinationTypes(*this, kernel);
    ArrayRef<Type> inputs = launchedTypes(kernel);
    matches = inputs.size() >= types.size() && inputs.size() <= types.size() + 1 &&
              sameShapes(inputs.take_front(types.size()), types);
  } else {
    matches = type.getNumInputs() == getInputs().size() &&
              type.getNumResults() == getNumResults() &&
              sameShapes(type.getInputs(), getInputs().getTypes()) &&
              sameShapes(type.getResults(), getResultTypes());
  }
  if (matches)
    return success();
  InFlightDiagnostic error = emitOpError() << "expected operands and results as in " << type;
  error.attachNote(kernel.getLoc()) << "kernel defined here";
  return error;
}
