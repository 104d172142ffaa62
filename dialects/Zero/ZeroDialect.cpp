//===- ZeroDialect.cpp - registration -------------------------------------===//

#include "dialects/Zero/Zero.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zero;

#include "dialects/Zero/ZeroAttrInterfaces.cpp.inc"
#include "dialects/Zero/ZeroDialect.cpp.inc"
#include "dialects/Zero/ZeroEnums.cpp.inc"

/// Prints `[@data, @tensor]`: the brackets separate the axes from the parameter that follows.
static ParseResult parseAxes(AsmParser &parser, SmallVector<FlatSymbolRefAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() { return parser.parseAttribute(axes.emplace_back()); });
}

static void printAxes(AsmPrinter &printer, ArrayRef<FlatSymbolRefAttr> axes) {
  printer << "[";
  llvm::interleaveComma(axes, printer);
  printer << "]";
}

#define GET_ATTRDEF_CLASSES
#include "dialects/Zero/ZeroAttrs.cpp.inc"

void ZeroDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Zero/ZeroAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Zero/ZeroOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Zero/ZeroOps.cpp.inc"
