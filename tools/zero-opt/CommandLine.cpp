//===- CommandLine.cpp - flags of zero-opt beside those of mlir-opt -------===//

#include "CommandLine.h"

#include "dialects/Zero/Zero.h"
#include "zero/Driver/Register.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Import/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace zero {

/// Whether the MLIR file at `path` is a program that has to become a step before the phases run.
static bool isProgram(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer && !(*buffer)->getBuffer().contains(("@" + kStepName).str());
}

/// Whether `argument` names a model to import; mlir-opt reads MLIR itself, unless it is a program
/// of which the user wants more than single passes.
static bool isModel(const OptArguments &arguments, StringRef argument) {
  if (argument.starts_with("-"))
    return false;
  const Frontend *frontend = findFrontend(modelFile(argument));
  if (!frontend || frontend->name != "mlir")
    return frontend;
  return (arguments.runsPhases || !arguments.model.frontendFlags.empty()) && isProgram(argument);
}

/// The model among the arguments for mlir-opt, or their end.
static auto findModel(OptArguments &arguments) {
  return llvm::find_if(arguments.rest, [&](StringRef text) { return isModel(arguments, text); });
}

/// The directory of the data files that phases read, in the braces that the value of an option
/// may need.
static std::string folderOfData(OptArguments &arguments) {
  SmallString<128> folder(arguments.model.phases.import.dataRoot.getValue());
  auto input = findModel(arguments);
  if (folder.empty() && input != arguments.rest.end()) {
    folder = modelFile(*input);
    llvm::sys::path::remove_filename(folder);
  }
  return "{" + (folder.empty() ? "." : folder.str().str()) + "}";
}

/// What zero-opt has beside the options of mlir-opt.
static void addFlags(OptArguments &sorted, Flags &flags) {
  addModelFlags(sorted.model, flags);
  for (Phase phase : allPhases())
    flags.push_back(
        {"phases", "zero-phase-" + phaseName(phase).str(), "options", phaseSummary(phase).str()});
  addTextFlags(flags, "zero-opt", "Help", optHelp);
}

/// Sets a flag; returns an error message, or an empty string. Those of phases, but for what reading
/// the model needs, are added to `phaseOptions`.
static std::string setFlag(const Flag &flag, StringRef value, std::string &phaseOptions) {
  if (flag.group == "phases" && flag.name != "data-root")
    phaseOptions += (phaseOptions.empty() ? "" : " ") + flag.name + "=" + value.str();
  rt::Status set = flag.set(value.str());
  return set.getMessage();
}

std::string sortArguments(ArrayRef<char *> arguments, OptArguments &sorted) {
  Flags flags;
  addFlags(sorted, flags);
  // Messages name the node; printing the op as well would hide that. A flag of the user
  // comes later and overrides this one.
  sorted.rest.push_back("--mlir-print-op-on-diagnostic=false");
  std::string phaseOptions;
  for (StringRef argument : arguments) {
    auto [name, value] = argument.drop_while([](char c) { return c == '-'; }).split('=');
    if (argument == "-v") // the same flag as in zeroc
      name = "verbose";
    const bool isFlag =
        argument.starts_with("--") || argument == "-v" || argument == "-h" || argument == "-help";
    const Flag *flag = isFlag ? findFlag(flags, name.str()) : nullptr;
    if (argument == "--help-all")
      sorted.rest.push_back("--help");
    else if (!flag || !flag->set)
      sorted.rest.push_back(argument.str());
    else if (std::string error = setFlag(*flag, value.empty() ? "true" : value, phaseOptions);
             !error.empty())
      return error;
    if (sorted.isDone = flag && flag->isLast; sorted.isDone)
      return "";
  }
  if (phaseOptions.empty())
    return "";
  sorted.runsPhases = true;
  phaseOptions += " data-root=" + folderOfData(sorted);
  for (Phase phase : allPhases()) {
    if (phase == Phase::Pack)
      break;
    sorted.rest.push_back(("--zero-phase-" + phaseName(phase) + "=" + phaseOptions).str());
  }
  return "";
}

int fail(StringRef message) {
  llvm::errs() << "zero-opt: error: " << printable(message) << "\n";
  return 1;
}

bool importInput(OptArguments &arguments, std::string &text) {
  auto input = findModel(arguments);
  if (input == arguments.rest.end())
    return true;
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  DiagnosticPrinter diagnostics(sources, &context);
  arguments.model.input = modelFile(*input);
  arguments.rest.erase(input);
  OwningOpRef<ModuleOp> module = readModel(arguments.model, context);
  if (!module)
    return false;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return true;
}

} // namespace zero
