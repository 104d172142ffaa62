//===- TmTensor.h - ops of torch-mlir that linalg lacks ---------*- C++ -*-===//

#ifndef DIALECTS_TMTENSOR_TMTENSOR_H
#define DIALECTS_TMTENSOR_TMTENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/TmTensor/TmTensorDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/TmTensor/TmTensorOps.h.inc"

#endif // DIALECTS_TMTENSOR_TMTENSOR_H
