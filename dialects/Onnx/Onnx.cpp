//===- Onnx.cpp - the onnx dialect ----------------------------------------===//

#include "dialects/Onnx/Onnx.h"

#include "dialects/Onnx/ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace zero::onnx;

#include "dialects/Onnx/OnnxDialect.cpp.inc"

void OnnxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Onnx/OnnxOps.cpp.inc"
      >();
}

int64_t NodeOp::getInt(StringRef name, int64_t fallback) {
  auto attr = getAttrs().getAs<IntegerAttr>(name);
  return attr ? attr.getInt() : fallback;
}

double NodeOp::getFloat(StringRef name, double fallback) {
  auto attr = getAttrs().getAs<FloatAttr>(name);
  return attr ? attr.getValueAsDouble() : fallback;
}

StringRef NodeOp::getString(StringRef name, StringRef fallback) {
  auto attr = getAttrs().getAs<StringAttr>(name);
  return attr ? attr.getValue() : fallback;
}

std::optional<SmallVector<int64_t>> NodeOp::getInts(StringRef name) {
  auto attr = getAttrs().getAs<DenseI64ArrayAttr>(name);
  if (!attr)
    return std::nullopt;
  return SmallVector<int64_t>(attr.asArrayRef());
}

bool NodeOp::hasInput(unsigned index) {
  return index < getInputs().size() && !isa<NoneType>(getInputs()[index].getType());
}

RankedTensorType zero::onnx::signless(RankedTensorType type) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer || integer.isSignless())
    return type;
  return type.clone(IntegerType::get(type.getContext(), integer.getWidth()));
}

RankedTensorType NodeOp::inputType(unsigned index) {
  return signless(cast<RankedTensorType>(getInputs()[index].getType()));
}

RankedTensorType NodeOp::outputType(unsigned index) {
  return signless(cast<RankedTensorType>(getOutputs()[index].getType()));
}

int64_t zero::onnx::dataTypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return 9;
    case 8:
      return isUnsigned ? 2 : 3;
    case 16:
      return isUnsigned ? 4 : 5;
    case 32:
      return isUnsigned ? 12 : 6;
    default:
      return isUnsigned ? 13 : 7;
    }
  }
  if (type.isF16())
    return 10;
  if (type.isBF16())
    return 16;
  return type.isF64() ? 11 : 1;
}

std::string NodeOp::describe() { return (getOpType() + " node '" + getNode() + "'").str(); }

#define GET_OP_CLASSES
#include "dialects/Onnx/OnnxOps.cpp.inc"
