//===- Frontend.cpp - MLIR, as text or bytecode ---------------------------===//
//
// A module that has a function @step is a step, or a program after any phase. Any other module is a
// program: a function of state and data in upstream dialects or StableHLO, which becomes a step.
//
//===----------------------------------------------------------------------===//

#include "zero/Frontends/Frontend.h"

#include "Text.h"
#include "dialects/Zero/Zero.h"
#include "zero/Options/Carry.h"
#include "zero/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

/// `text` behind white space and comments.
static StringRef skipComments(StringRef text) {
  for (text = text.ltrim(); text.starts_with("//"); text = text.ltrim())
    text = text.drop_until([](char c) { return c == '\n'; });
  return text;
}

/// Bytecode, or text that begins with an operation, an alias or resources.
static bool beginsMlir(StringRef head) {
  if (head.starts_with(kBytecodeMagic))
    return true;
  head = skipComments(head);
  if (head.empty() || head.contains('\0'))
    return false;
  if (head.starts_with("{-#") || head.starts_with("\"") || head.starts_with("%") ||
      head.starts_with("#") || head.starts_with("!"))
    return true;
  StringRef name =
      head.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  return name == "module" || (name.contains('.') && !name.starts_with("."));
}

/// The items of "a,b".
static std::vector<std::string> splitList(StringRef text) {
  std::vector<std::string> items;
  for (StringRef item : llvm::split(text, ','))
    if (!item.empty())
      items.push_back(item.str());
  return items;
}

/// What the flags of this front end say. Fails after an error.
static FailureOr<ProgramOptions> programOptions(const FrontendInput &input, MLIRContext &context) {
  ProgramOptions options;
  options.roles = input.flags.lookup("roles");
  options.loss = input.flags.lookup("loss");
  options.mesh = input.mesh;
  options.parts = input.parts;
  options.forwardOnly = input.forwardOnly;
  options.verbose = input.verbose;
  std::vector<CarriedPair> pairs;
  if (auto carry = input.flags.find("carry"); carry != input.flags.end())
    if (std::string error = parseCarry(carry->second, pairs); !error.empty())
      return emitError(UnknownLoc::get(&context)) << "--carry: " << error;
  for (const CarriedPair &pair : pairs)
    options.carry.push_back(pair.input + "=" + pair.output);
  options.zeros = splitList(input.flags.lookup("zeros"));
  options.tie = splitList(input.flags.lookup("tie"));
  return options;
}

/// Whether `module` is a step already, of which the phases check the rest.
static bool isStep(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepName);
  if (!step)
    return false;
  auto isBound = [&](unsigned index) { return step.getResultAttr(index, kBindingAttr) != nullptr; };
  return llvm::any_of(llvm::seq(step.getNumResults()), isBound) ||
         !module.getOps<ParameterOp>().empty() || !module.getOps<StateOp>().empty() ||
         !module.getOps<BufferOp>().empty();
}

static OwningOpRef<ModuleOp> readMlir(const FrontendInput &input, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseProgram(input.path, context);
  if (!module)
    return nullptr;
  if (isStep(*module)) {
    if (input.flags.empty())
      return module;
    module->emitError() << "--" << input.flags.begin()->first()
                        << " has no effect on a step, whose state is symbols already";
    return nullptr;
  }
  FailureOr<ProgramOptions> options = programOptions(input, context);
  if (failed(options))
    return nullptr;
  PassManager pm(&context);
  pm.enableVerifier(false);
  addProgram(pm, *options);
  if (failed(pm.run(*module)) || failed(verify(*module)))
    return nullptr;
  return module;
}

void registerMlirFrontend() {
  Frontend mlir;
  mlir.name = "mlir";
  mlir.suffix = ".mlir";
  mlir.summary = "MLIR, as text or bytecode: a program in upstream dialects or StableHLO, or a "
                 "step after any phase";
  mlir.promises = "a program becomes a step of nodes; of a step nothing else: the phases check it";
  mlir.flags = {
      {"roles", "FILE", "names and roles of a program's arguments and results, as JSON"},
      {"loss", "NAME", "train on this output of the model"},
      {"carry", "IN=OUT,...|@FILE",
       "the model is a whole training step: its input IN is state, and its output OUT "
       "the state of the next step; both may have one *"},
      {"zeros", "PATTERN,...", "carried inputs without an initializer that start as zero"},
      {"tie", "A=B,...", "inputs A and B of a program are one tensor, as tied weights are"}};
  mlir.bringsMesh = true;
  mlir.recognises = beginsMlir;
  mlir.read = readMlir;
  registerFrontend(std::move(mlir));
}

} // namespace zero
