//===- zero-opt.cpp - runs passes and phases on MLIR ----------------------===//

#include "zero/Pipelines/Register.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  zero::registerDialects(registry);
  zero::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Zero: partitions a training step over ranks\n", registry));
}
