//===- StableHlo.cpp - the stablehlo dialect ------------------------------===//

#include "dialects/StableHlo/StableHlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zero::stablehlo;

#include "dialects/StableHlo/StableHloDialect.cpp.inc"
#include "dialects/StableHlo/StableHloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/StableHloAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/StableHlo/StableHloTypes.cpp.inc"

void StableHloDialect::initialize() {
  // The conversion lists ops without a definition in one error.
  allowUnknownOperations();
  addOperations<
#define GET_OP_LIST
#include "dialects/StableHlo/StableHloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/StableHlo/StableHloAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/StableHlo/StableHloTypes.cpp.inc"
      >();
}

Attribute StableHloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef name;
  Attribute attr;
  if (generatedAttributeParser(parser, &name, type, attr).has_value())
    return attr;
  return TextAttr::get(getContext(), parser.getFullSymbolSpec());
}

void StableHloDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  if (auto text = dyn_cast<TextAttr>(attr))
    printer << text.getText();
  else
    (void)generatedAttributePrinter(attr, printer);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getType())
    return emitOpError() << "expected a value of the type of the result, got "
                         << getValue().getShapedType();
  return success();
}

/// The region of a loop has one block that takes the values that the loop carries and returns
/// `types`.
static LogicalResult verifyLoopRegion(WhileOp loop, Region &region, TypeRange types) {
  if (!region.hasOneBlock())
    return loop.emitOpError() << "expected regions of one block";
  Block &block = region.front();
  if (block.getArgumentTypes() != loop.getOperandTypes())
    return loop.emitOpError() << "expected regions that take the operands";
  auto yield = dyn_cast_or_null<ReturnOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getOperandTypes() != types)
    return loop.emitOpError() << "expected a condition that returns a tensor<i1>, and a body that "
                                 "returns the next operands";
  return success();
}

LogicalResult WhileOp::verify() {
  Type flag = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (getOperandTypes() != getResultTypes())
    return emitOpError() << "expected results of the types of the operands";
  if (failed(verifyLoopRegion(*this, getCond(), flag)))
    return failure();
  return verifyLoopRegion(*this, getBody(), getOperandTypes());
}

#define GET_OP_CLASSES
#include "dialects/StableHlo/StableHloOps.cpp.inc"
