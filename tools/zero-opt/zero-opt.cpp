//===- zero-opt.cpp - run passes and phases on a program ------------------===//
//
// mlir-opt with our passes; takes .onnx, and --zero-stage=N for all phases.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "tools/process/process.h"
#include "zero/Driver/Register.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

extern "C" int zeroOptMain(int argc, char **argv) {
  zero::process::begin("zero-opt", zero::process::Ending::AtOnce);
  llvm::InitLLVM init(argc, argv);
  zero::OptArguments arguments;
  std::string text;
  if (std::string error = zero::sortArguments(llvm::ArrayRef(argv + 1, argc - 1), arguments);
      !error.empty())
    return zero::fail(error);
  if (arguments.isDone)
    return 0;
  if (!zero::importInput(arguments, text))
    return 1;
  llvm::SmallVector<char *> rest = arguments.forMlirOpt(argv[0]);
  mlir::DialectRegistry registry;
  zero::registerDialects(registry);
  zero::registerPasses();
  zero::registerTestPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      rest.size(), rest.data(),
      "Zero's passes and phases on MLIR or .onnx; --zero-stage=N --ranks=M partitions a step\n",
      registry);

  std::string error;
  auto buffer = text.empty() ? mlir::openInputFile(input, &error)
                             : llvm::MemoryBuffer::getMemBuffer(text, arguments.model.input);
  if (!buffer)
    return zero::fail(error);
  auto file = mlir::openOutputFile(output, &error);
  if (!file)
    return zero::fail(error);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (failed(mlir::MlirOptMain(file->os(), std::move(buffer), registry, config)))
    return 1;
  file->keep();
  return 0;
}
