//===- StableHlo.h - StableHLO, CHLO and Shardy's annotations ---*- C++ -*-===//

#ifndef DIALECTS_STABLEHLO_STABLEHLO_H
#define DIALECTS_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/StableHlo/ChloDialect.h.inc"
#include "dialects/StableHlo/SdyDialect.h.inc"
#include "dialects/StableHlo/StableHloDialect.h.inc"
#include "dialects/StableHlo/StableHloEnums.h.inc"

namespace zero::stablehlo {

/// The dimensions of a convolution's tensors that are not spatial, in the lists of ConvAttr.
enum ConvDim : int64_t {
  kBatch = -1,         ///< `b`
  kFeature = -2,       ///< `f`
  kInputFeature = -3,  ///< `i`, of the kernel
  kOutputFeature = -4, ///< `o`, of the kernel
};

} // namespace zero::stablehlo

#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/StableHloAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/ChloAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/StableHlo/SdyAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/StableHlo/StableHloTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/StableHlo/StableHloOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/StableHlo/ChloOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/StableHlo/SdyOps.h.inc"

#endif // DIALECTS_STABLEHLO_STABLEHLO_H
