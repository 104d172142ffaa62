//===- TmTensor.cpp - ops of torch-mlir that linalg lacks -----------------===//

#include "dialects/TmTensor/TmTensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace zero::tm_tensor;

#include "dialects/TmTensor/TmTensorDialect.cpp.inc"

void TmTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/TmTensor/TmTensorOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/TmTensor/TmTensorOps.cpp.inc"
