//===- Sdy.cpp - the sdy dialect ---------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zero::sdy;

#include "dialects/StableHlo/SdyDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/SdyAttrs.cpp.inc"

void SdyDialect::initialize() {
  allowUnknownOperations();
  addOperations<
#define GET_OP_LIST
#include "dialects/StableHlo/SdyOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/StableHlo/SdyAttrs.cpp.inc"
      >();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return TextAttr::get(getContext(), parser.getFullSymbolSpec());
}

void SdyDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  printer << cast<TextAttr>(attr).getText();
}

#define GET_OP_CLASSES
#include "dialects/StableHlo/SdyOps.cpp.inc"
