//===- Chlo.cpp - the chlo dialect -------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zero::chlo;

#include "dialects/StableHlo/ChloDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/ChloAttrs.cpp.inc"

void ChloDialect::initialize() {
  allowUnknownOperations();
  addOperations<
#define GET_OP_LIST
#include "dialects/StableHlo/ChloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/StableHlo/ChloAttrs.cpp.inc"
      >();
}

Attribute ChloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return TextAttr::get(getContext(), parser.getFullSymbolSpec());
}

void ChloDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  printer << cast<TextAttr>(attr).getText();
}

#define GET_OP_CLASSES
#include "dialects/StableHlo/ChloOps.cpp.inc"
