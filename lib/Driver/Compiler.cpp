//===- Compiler.cpp - compile a model to an executable --------------------===//

#include "zero/Driver/Compiler.h"

#include "EmitOnnx.h"
#include "LocalBatch.h"
#include "PlanPrecision.h"
#include "ProgramMesh.h"
#include "Shapes.h"
#include "WholeStep.h"
#include "zero/Driver/Register.h"
#include "zero/Emit/Emit.h"
#include "zero/EmitOnnx/EmitOnnx.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Import/Diagnostics.h"
#include "zero/Pipelines/Pipelines.h"
#include "zero/Report/PlanReport.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <deque>

using namespace mlir;

namespace zero {

OwningOpRef<ModuleOp> readModel(const CompilerOptions &options, MLIRContext &context,
                                StringRef shape) {
  FrontendInput input;
  input.path = options.input;
  input.flags = options.frontendFlags;
  if (!shape.empty())
    input.flags[kShapeFlag] = shape.str();
  input.forwardOnly = options.phases.import.forwardOnly;
  input.verbose = options.phases.import.verbose;
  input.checkData = !options.planOnly && options.phases.import.init.empty();
  input.batch = options.localBatch;
  if (!options.takesMesh)
    input.mesh = options.phases.shard.mesh.empty()
                     ? "data=" + std::to_string(options.phases.dataRanks())
                     : options.phases.shard.mesh.getValue();
  input.parts = uint64_t(options.phases.dataRanks()) * options.phases.step.microBatches;
  return readModel(input, context);
}

/// The folder that data references of the model are relative to.
static FailureOr<std::string> dataRoot(const CompilerOptions &options, ModuleOp module) {
  SmallString<128> root(options.phases.import.dataRoot.getValue());
  if (root.empty()) {
    root = options.input;
    llvm::sys::path::remove_filename(root);
  }
  if (std::error_code error = llvm::sys::fs::make_absolute(root))
    return module.emitError() << "data root '" << root << "': " << error.message();
  return std::string(root);
}

/// The absolute path of the file that --save may overwrite; else empty.
static std::string fileToSave(const CompilerOptions &options) {
  SmallString<128> path(options.input);
  const Frontend *frontend = findFrontend(path);
  if (!frontend || !frontend->takesParametersBack || llvm::sys::fs::make_absolute(path))
    return "";
  return std::string(path);
}

/// The absolute path of the checkpoint of onnxruntime-training, which --save may write anew; else
/// empty.
static std::string ortCheckpointOf(const CompilerOptions &options) {
  SmallString<128> path(options.frontendFlags.lookup("ort-checkpoint"));
  if (path.empty() || llvm::sys::fs::make_absolute(path))
    return "";
  return std::string(path);
}

/// The learning rate with which a run starts: the given one, that of the model's artifacts, or the
/// default.
static double startRate(const CompilerOptions &options, ModuleOp module) {
  auto rate = module->getAttrOfType<FloatAttr>(kStartRateAttr);
  return rate && !options.given.contains("lr") ? rate.getValueAsDouble() : options.learningRate;
}

static void addGenericPasses(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
}

/// Runs the phases from `first` to `last`.
static LogicalResult runPhases(ModuleOp module, const CompilerOptions &options,
                               const PhaseOptions &given, const planning::Machine &machine,
                               Phase first, Phase last) {
  const bool isTrial = module->hasAttr(kPrecisionTrialAttr);
  FailureOr<std::string> root = dataRoot(options, module);
  if (failed(root))
    return failure();
  PhaseOptions phases;
  phases.copyOptionValuesFrom(given);
  phases.import.dataRoot = *root;
  if (phases.step.otherLearningRate.hasValue()) {
    const double rate = startRate(options, module);
    if (rate <= 0)
      return module.emitError("--other-lr: expected --lr above 0, which a run scales both by");
    module->setAttr(kStartRateAttr, Builder(module.getContext()).getF64FloatAttr(rate));
  }
  for (Phase phase : allPhases()) {
    if (phase < first)
      continue;
    PassManager pm(module.getContext());
    // Each phase ends with its verifier. The structural verifier runs once per phase instead of
    // after every pass. The program of a further shape is verified once, at the end: the passes are
    // those of the first.
    pm.enableVerifier(false);
    addPhase(pm, phase, phases, machine);
    if (phase == Phase::Recognise && !options.emitOnnx.empty())
      addAttentionProducts(pm);
    if (options.cleanAfterPhases)
      addGenericPasses(pm);
    const bool verifies = phase == last || !module->hasAttr(kFirstArenasAttr);
    if (failed(pm.run(module)) || (verifies && failed(verify(module))))
      return failure();
    if (!isTrial && options.dumpAfter == phaseName(phase))
      module.print(llvm::outs());
    if (phase == last)
      break;
  }
  return success();
}

LogicalResult runPhases(ModuleOp module, const CompilerOptions &options, const PhaseOptions &given,
                        const planning::Machine &machine) {
  const bool isTrial = module->hasAttr(kPrecisionTrialAttr);
  const Phase last = !options.emitOnnx.empty() ? Phase::Step : isTrial ? Phase::Place : Phase::Pack;
  return runPhases(module, options, given, machine, Phase::Import, last);
}

/// The reason why no file can be written to `path`, or an empty string.
static std::string checkWritable(const CompilerOptions &options, StringRef path) {
  for (StringRef input : {StringRef(options.input), StringRef(options.config),
                          StringRef(options.phases.import.trainable.getValue())})
    if (llvm::sys::fs::equivalent(path, input))
      return ("the output '" + path + "' would overwrite the input").str();
  if (llvm::sys::fs::is_directory(path))
    return ("cannot write '" + path + "': it is a folder").str();
  SmallString<128> folder(path);
  llvm::sys::path::remove_filename(folder);
  if (folder.empty())
    folder = ".";
  if (llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write))
    return ("cannot write '" + path + "': folder '" + folder + "' is missing or not writable")
        .str();
  return "";
}

static std::string checkReports(const CompilerOptions &options) {
  for (auto [index, path] : llvm::enumerate(options.reports)) {
    StringRef name(path);
    if (!name.ends_with(".html") && !name.ends_with(".json"))
      return "--report: expected names that end in .html or .json, got '" + path + "'";
    if (path == options.output ||
        llvm::is_contained(ArrayRef(options.reports).take_front(index), path))
      return "--report: '" + path + "' is written twice";
    if (std::string error = checkWritable(options, path); !error.empty())
      return error;
  }
  return "";
}

/// The same for the file of --witness.
static std::string checkWitness(const CompilerOptions &options) {
  if (options.witness.empty())
    return "";
  if (options.planOnly || options.prices || !options.emitOnnx.empty())
    return "--witness: expected -o FILE.zexe: it is about the commands of an executable";
  if (!StringRef(options.witness).ends_with(".json"))
    return "--witness: expected a name that ends in .json, got '" + options.witness + "'";
  if (llvm::is_contained(options.reports, options.witness))
    return "--witness: '" + options.witness + "' is written twice";
  return checkWritable(options, options.witness);
}

/// The same for the files of --emit-onnx.
static std::string checkEmitted(const CompilerOptions &options) {
  if (!StringRef(options.emitOnnx).ends_with(".onnx"))
    return "--emit-onnx: expected a name that ends in .onnx, got '" + options.emitOnnx + "'";
  for (size_t shape = 0; shape < std::max<size_t>(1, options.shapes.size()); ++shape) {
    const std::string path = emittedFile(options, shape);
    for (const std::string &file : {path, externalDataOf(path)})
      if (std::string error = checkWritable(options, file); !error.empty())
        return error;
  }
  return "";
}

std::string checkOutput(const CompilerOptions &options) {
  if (std::string error = checkWitness(options); !error.empty())
    return error;
  if (!options.emitOnnx.empty())
    return checkEmitted(options);
  std::string error = checkReports(options);
  if (!error.empty() || options.planOnly || options.prices)
    return error;
  if (options.output.empty())
    return "expected -o FILE.zexe, --emit-onnx=FILE.onnx, or --plan-only";
  return checkWritable(options, options.output);
}

/// The data of --report for a packed module; empty if no report is requested.
static PlanReport collectReport(const CompilerOptions &options, ModuleOp module,
                                const Storage &storage, const PlanSummary &summary,
                                const DecisionLog &decisions) {
  if (options.reports.empty())
    return {};
  return {llvm::sys::path::filename(options.input).str(), summary, mapMemory(module, storage),
          decisions.getEntries()};
}

/// Prints the disk for which the plan was made, if it uses one.
static void printDisk(const PlanSummary &summary, const CompilerOptions &options,
                      const planning::Machine &machine, llvm::raw_ostream &report) {
  if (summary.movedOver(planning::Link::DiskRead) + summary.movedOver(planning::Link::DiskWrite) ==
      0)
    return;
  auto rate = [&](planning::Link link) {
    const double bytes = drivesRate(machine, link);
    return bytes < 1e8 ? llvm::format("%.1f MB/s", bytes / 1e6)
                       : llvm::format("%.1f GB/s", bytes / 1e9);
  };
  std::string source = options.diskSource;
  if (machine.disk.read <= 0)
    source = "not measured (" + (source.empty() ? "--nvme-dir=DIR measures it once" : source) + ")";
  else if (source.empty() && options.phases.plan.diskRead.getValue())
    source = "from --disk-read";
  else if (source.empty())
    source = "as in machine '" + machine.name + "'";
  report << "the plan assumes that nvme reads " << rate(planning::Link::DiskRead) << " and writes "
         << rate(planning::Link::DiskWrite) << " for all ranks together, " << source << "\n";
}

/// Checks what flags ask of this model.
static LogicalResult checkModel(ModuleOp module, CompilerOptions &options) {
  return success(
      succeeded(takeProgramMesh(module, options)) && succeeded(checkLocalBatch(module, options)) &&
      succeeded(keepForward(module, options)) && succeeded(checkWholeStep(module, options)));
}

std::string optionsOfKernels(const PhaseOptions &phases) {
  PhaseOptions early;
  early.copyOptionValuesFrom(phases);
  early.set("zero-stage", "0");
  early.set("machine", "");
  for (const phase::TierOption *tier : early.offload.chosen())
    early.set(tier->ArgStr, wordOf(Tier::Device));
  if (!phases.shard.sequenceParallel) // where layers are recomputed, so are its gathers
    early.set("checkpoint", wordOf(Checkpoint::None));
  std::string text;
  llvm::raw_string_ostream os(text);
  early.print(os);
  // Kernels of GPUs have clones for the host if something is offloaded to it.
  os << phases.offload.any();
  return text;
}

LogicalResult formKernels(ModuleOp module, CompilerOptions &options,
                          const planning::Machine &machine) {
  return success(succeeded(checkModel(module, options)) &&
                 succeeded(runPhases(module, options, options.phases, machine, Phase::Import,
                                     Phase::Kernels)));
}

LogicalResult placeKernels(ModuleOp module, const CompilerOptions &options,
                           const planning::Machine &machine) {
  return success(
      succeeded(runPhases(module, options, options.phases, machine, Phase::Place, Phase::Pack)) &&
      succeeded(checkLearningRate(module, options)));
}

/// Brings the programs of all shapes to the end of the phases.
static LogicalResult runAllPhases(CompilerOptions &options, MLIRContext &context,
                                  const planning::Machine &machine, DecisionLog &decisions,
                                  SmallVectorImpl<ShapeModule> &shapes) {
  if (failed(readShapes(options, context, shapes)))
    return failure();
  for (ShapeModule &shape : shapes)
    if (failed(checkModel(*shape.module, options)))
      return failure();
  ModuleOp first = *shapes.front().module;
  const auto run = [&] {
    return success(succeeded(runWithinBudget(first, options, machine, decisions)) &&
                   succeeded(checkLearningRate(first, options)));
  };
  return success(succeeded(forShape(context, shapes.front().shape, shapes.size() > 1, run)) &&
                 succeeded(runOtherShapes(shapes, options, machine, decisions)));
}

/// Writes the executable; prints the time since `start`.
static LogicalResult writeExecutable(const CompilerOptions &options, ArrayRef<PackedStep> steps,
                                     StringRef root, const planning::Machine &machine,
                                     std::chrono::steady_clock::time_point start,
                                     llvm::raw_ostream &report) {
  EmitOptions emit;
  emit.output = options.output;
  std::string witness;
  if (!options.witness.empty())
    emit.witness = &witness;
  emit.dataRoot = root;
  emit.name = options.input;
  emit.model = fileToSave(options);
  emit.ortCheckpoint = ortCheckpointOf(options);
  emit.settings = options.phases.settings();
  emit.learningRate = startRate(options, steps.front().module);
  emit.threads = options.threads;
  emit.cacheFolder = options.cacheFolder;
  emit.gpuArchitectures = options.gpuArchitectures;
  emit.machine = machine;
  FailureOr<EmittedKernels> kernels = emitExecutable(steps, emit);
  if (failed(kernels))
    return failure();
  if (!options.witness.empty() && failed(writePages(/*page=*/"", witness, options.witness,
                                                    *steps.front().module->getContext())))
    return failure();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report << llvm::format("compiled in %.2f s: ", took.count()) << kernels->all
         << " native kernels, " << kernels->cached << " of them from the cache\n";
  return success();
}

/// Prints what passes have decided that the user did not say.
static void printDecisions(const CompilerOptions &options, ModuleOp module,
                           const DecisionLog &decisions, llvm::raw_ostream &report) {
  decisions.print(report, options.phases.import.verbose);
  auto optimizer = module->getAttrOfType<StringAttr>(kOptimizerAttr);
  const bool isOwn = module->hasAttr(kWholeStepAttr);
  if (optimizer && !isOwn && !options.phases.step.optimizer.hasValue())
    report << "no --optimizer is given; the default is " << optimizer.getValue() << "\n";
}

LogicalResult compileModel(CompilerOptions &options, llvm::raw_ostream &output) {
  const auto start = std::chrono::steady_clock::now();
  PrintableStream report(output);
  DialectRegistry registry;
  registerDialects(registry);
  DecisionLog decisions;
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  DiagnosticPrinter diagnostics(sources, &context);
  // Messages name their subject. The op itself would hide it.
  context.printOpOnDiagnostic(false);
  if (failed(decisions.attach(context)))
    return failure();
  planning::Machine machine;
  if (std::string error = options.phases.loadMachine(machine); !error.empty())
    return emitError(UnknownLoc::get(&context)) << error;
  SmallVector<ShapeModule> shapes;
  if (failed(runAllPhases(options, context, machine, decisions, shapes)))
    return failure();
  ModuleOp module = *shapes.front().module;
  printDecisions(options, module, decisions, report);
  FailureOr<std::string> root = dataRoot(options, module);
  if (failed(root))
    return failure();
  if (!options.emitOnnx.empty())
    return writeSteps(shapes, options, *root, report);
  // No pass changes the steps from here on.
  std::deque<Storage> storages;
  SmallVector<PackedStep> steps;
  for (ShapeModule &shape : shapes)
    steps.push_back({*shape.module, &storages.emplace_back(*shape.module)});
  PlanSummary summary = summarisePlan(module, storages.front());
  for (ShapeModule &shape : shapes)
    if (shapes.size() > 1)
      addShape(*shape.module, shape.shape, summary);
  addDrives(module, storages.front(), machine, options.phases.kernels.threadsPerRank, summary);
  printCertificate(summary, report);
  printDisk(summary, options, machine, report);
  PlanReport plan = collectReport(options, module, storages.front(), summary, decisions);
  if (options.planOnly)
    return writeReports(plan, options.reports, context);
  return success(succeeded(writeReports(plan, options.reports, context)) &&
                 succeeded(writeExecutable(options, steps, *root, machine, start, report)));
}

} // namespace zero
