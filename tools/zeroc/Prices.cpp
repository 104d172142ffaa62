//===- Prices.cpp - compare ways to train a model -------------------------===//

#include "Prices.h"

#include "PricePlans.h"
#include "PriceRows.h"

#include "runtime/io/drive_folders.h"
#include "runtime/support/available_memory.h"
#include "tools/process/known_machine.h"
#include "zero/Driver/Register.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Import/Diagnostics.h"
#include "zero/Options/MeshAxes.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Flags that cannot be given with --prices, and why.
static constexpr std::pair<StringLiteral, StringLiteral> kRefused[] = {
    {"o", "writes no executable"},
    {"emit-onnx", "writes no step"},
    {"external-data", "writes no step"},
    {"dump-after", "plans several programs"},
    {"plan-only", "writes no executable"},
    {"gpu-arch", "compiles no kernel"},
    {"forward-only", "compares ways to train"},
    {"config", "compares ways to train, of which a configuration says one"},
    {"zero", "compares stages"},
    {"offload", "compares tiers"},
    {"memory-budget", "says what fits instead"},
    {"ram-budget", "says what fits instead"},
    {"host-budget", "says what fits instead"},
    {"nvme-budget", "says what fits instead"},
    {"drive-writes", "says what is written instead"},
    {"activation-budget", "says what fits instead"},
};

std::string checkPrices(const CompilerOptions &options) {
  if (options.input.empty())
    return "expected a model: MODEL.onnx, MODEL.mlir or a folder with config.json";
  for (auto [name, why] : kRefused)
    if (options.given.contains(name))
      return ((name.size() == 1 ? "-" : "--") + name + " has no effect with --prices, which " + why)
          .str();
  return checkOutput(options);
}

//===----------------------------------------------------------------------===//
// The question
//===----------------------------------------------------------------------===//

/// Flags that are about the table, and not about its rows.
static constexpr StringLiteral kOwnFlags[] = {"prices", "tokens", "report", "v", "verbose"};

static void addWord(StringRef name, StringRef value, std::vector<FlagWord> &words) {
  words.emplace_back(name.str(), ("--" + name + "=" + value).str());
}

/// The words that all rows begin with: those of the user, and the shape that the front end assumes.
static std::vector<FlagWord> takeWords(CompilerOptions &options, std::vector<std::string> &notes) {
  std::vector<FlagWord> words;
  for (const FlagWord &word : options.words)
    if (!llvm::is_contained(kOwnFlags, word.first))
      words.push_back(word);
  const Frontend *frontend = findFrontend(options.input);
  if (frontend && frontend->usualShape && !options.frontendFlags.contains("shape")) {
    const std::string shape = frontend->usualShape(options.input);
    options.frontendFlags["shape"] = shape;
    addWord("shape", shape, words);
    notes.push_back("batch: --shape=" + shape + ", since none is given: one sequence a rank");
  }
  return words;
}

/// Sets the device by the machine's kind, and without --machine the machine to this one.
static std::string takeMachine(CompilerOptions &options, planning::Machine &machine,
                               std::vector<FlagWord> &words, std::vector<std::string> &notes) {
  PhaseOptions &phases = options.phases;
  const bool isGiven = options.given.contains("machine");
  if (!isGiven && phases.kernels.device == Device::Cpu) {
    const uint64_t threads = phases.kernels.threadsPerRank;
    const uint64_t measured = process::measuredRanks(phases.ranks(), threads);
    const std::string file = process::machineFile(options.cacheFolder, measured, threads);
    if (!options.noCache && !file.empty() && process::isCurrent(file, measured, threads)) {
      phases.plan.machine = file;
      addWord("machine", file, words);
      notes.push_back("speed: of this machine, as zero-run --auto has measured it");
    }
  }
  if (std::string error = phases.loadMachine(machine); !error.empty())
    return error;
  if (!isGiven && phases.plan.machine.empty())
    notes.push_back("speed: of the preset " + machine.name +
                    "; zero-run --calibrate=here.json measures this machine for --machine");
  if (StringRef(machine.isa).starts_with("sm_") && !options.given.contains("device")) {
    phases.kernels.device = Device::Cuda;
    addWord("device", "cuda", words);
  }
  return "";
}

/// What `machine` has; of this machine what is available by now.
static prices::Capacity capacityOf(const CompilerOptions &options, const planning::Machine &machine,
                                   std::vector<std::string> &notes) {
  prices::Capacity capacity = prices::capacityOf(machine, int64_t(options.phases.ranks()));
  if (capacity.isShared && !options.given.contains("machine")) {
    capacity.bytes[size_t(prices::Memory::Device)] = double(rt::availableMemory());
    notes.push_back("memory: what this machine has available");
  }
  rt::DriveFolders folders;
  if (rt::DriveFolders::parse(options.nvmeDir, folders).ok() && folders.space() > 0) {
    capacity.bytes[size_t(prices::Memory::Disk)] = double(folders.space());
    notes.push_back("disk: what is available in --nvme-dir=" + options.nvmeDir);
  }
  return capacity;
}

/// The data-parallel ranks and those along other axes, which the model may say.
static uint64_t ranksOf(ModuleOp module, const CompilerOptions &options) {
  MeshAxes axes;
  auto mesh = module->getAttrOfType<StringAttr>(kProgramMeshAttr);
  if (!options.takesMesh || !mesh || !parseMesh(mesh, axes).empty())
    return options.phases.ranks();
  return uint64_t(axisSize(axes, "data") * axisSize(axes, "context") * axisSize(axes, "tensor"));
}

static prices::Question questionOf(ModuleOp module, const CompilerOptions &options,
                                   const prices::Capacity &capacity) {
  prices::Question question;
  for (const auto &flag : options.given)
    question.given[flag.getKey().str()] = flag.getValue().value;
  question.ranks = ranksOf(module, options);
  question.hasHost = !capacity.isShared;
  question.hasStep = module->hasAttr(kWholeStepAttr);
  return question;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Leaves out the rows of adapters if the model can have none, and says why.
static void leaveOutAdapters(prices::PriceTable &table) {
  std::string reason;
  for (const prices::PricedRow &row : table.rows) {
    if (!row.row.hasAdapters)
      continue;
    if (row.hasPlan() || (!reason.empty() && reason != row.reason))
      return;
    reason = row.reason;
  }
  if (reason.empty())
    return;
  llvm::erase_if(table.rows, [](const auto &row) { return row.row.hasAdapters; });
  table.notes.push_back("LoRA is left out: " + reason);
}

LogicalResult priceModel(CompilerOptions &options, llvm::raw_ostream &output) {
  PrintableStream report(output);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  DiagnosticPrinter diagnostics(sources, &context);
  context.printOpOnDiagnostic(false);
  auto fail = [&](const Twine &message) { return emitError(UnknownLoc::get(&context)) << message; };
  prices::PriceTable table;
  table.model = options.input;
  table.tokens = options.pricedTokens;
  std::vector<FlagWord> words = takeWords(options, table.notes);
  planning::Machine machine;
  if (std::string error = takeMachine(options, machine, words, table.notes); !error.empty())
    return fail(error);
  options.planOnly = true; // no data is read
  std::string shape;
  OwningOpRef<ModuleOp> module = readLargestModel(options, context, shape);
  if (!module)
    return failure();
  if (options.shapes.size() > 1)
    table.notes.push_back("batch: --shape=" + shape + ", the largest of " +
                          std::to_string(options.shapes.size()));
  table.capacity = capacityOf(options, machine, table.notes);
  const prices::Question question = questionOf(*module, options, table.capacity);
  table.ranks = int64_t(question.ranks);
  PriceRows reader(options.input, words);
  std::vector<PriceAttempt> attempts;
  for (const prices::Row &row : prices::listRows(question))
    attempts.push_back(reader.read(row));
  if (attempts.empty())
    return fail("--prices: no way of the table agrees with all flags that are given");
  if (std::string error = reader.checkUsed(); !error.empty())
    return fail(error);
  planAll(*module, machine, attempts);
  for (PriceAttempt &attempt : attempts)
    table.rows.push_back(std::move(attempt.priced));
  leaveOutAdapters(table);
  table.compare();
  prices::printPrices(table, report);
  return prices::writePrices(table, options.reports, context);
}

} // namespace zero
