//===- Emit.cpp - write the executable of a packed step -------------------===//

#include "zero/Emit/Emit.h"

#include "CommandBuilder.h"
#include "LaneWaits.h"
#include "MergeShapes.h"
#include "Tables.h"
#include "TensorTable.h"
#include "VerifySchedule.h"
#include "Witness.h"
#include "dialects/Zero/Mesh.h"
#include "runtime/format/collectives.h"
#include "runtime/format/format.h"
#include "runtime/format/tables.h"
#include "runtime/verify/lifetimes.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/CompileGpu.h"
#include "zero/Codegen/Passes.h"
#include "zero/Kernels/KernelMessage.h"
#include "zero/Machine/CommandCosts.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero {

/// The alignment of images of GPU code.
static constexpr uint64_t kImageAlignment = 64;

/// Bytes of a buffer of `type` for one element of its dynamic dimension; 0 without one.
static uint64_t bytesPerLength(MemRefType type) {
  if (type.hasStaticShape())
    return 0;
  SmallVector<int64_t> shape(type.getShape());
  std::replace(shape.begin(), shape.end(), ShapedType::kDynamic, int64_t(1));
  return tensorBytes(RankedTensorType::get(shape, type.getElementType()));
}

/// Describes the arguments of a launch of `function`, its buffers, followed by the bounds of its
/// iterations: the types of those of native code, and bytes per element of the length.
static void describeArguments(func::FuncOp function, proto::Kernel &kernel) {
  auto buffers = llvm::make_filter_range(function.getArgumentTypes(), llvm::IsaPred<MemRefType>);
  for (Type type : buffers) {
    kernel.add_per_length(bytesPerLength(cast<MemRefType>(type)));
    if (isNativeKernel(function))
      kernel.add_stored(dtypeOf(cast<MemRefType>(type).getElementType()));
  }
  if (isNativeKernel(function) && kernel.workspace() > 0) // the last buffer
    kernel.mutable_stored()->RemoveLast();
  if (llvm::all_of(kernel.per_length(), [](uint64_t bytes) { return bytes == 0; }))
    kernel.clear_per_length();
}

/// The kernel table, and each kernel's index in it.
static void buildKernels(ModuleOp module, proto::Program &program,
                         llvm::StringMap<uint32_t> &indices) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kKernelAttr))
      continue;
    indices[function.getSymName()] = program.kernels_size();
    proto::Kernel *kernel = program.add_kernels();
    kernel->set_name(function.getSymName().str());
    describeKernel(function, *kernel);
    if (auto extent = function->getAttrOfType<IntegerAttr>(kExtentAttr))
      kernel->set_extent(extent.getInt());
    describeArguments(function, *kernel);
  }
}

/// Adds the arena of a tier with its attributes.
static void buildArena(ArenaAttr known, proto::Program &program) {
  proto::Certificate *certificate = program.add_certificates();
  certificate->set_tier(tierOf(known.getTier()));
  certificate->set_peak(known.getPeak());
  certificate->set_lower_bound(known.getLowerBound());
  certificate->set_peak_at(llvm::json::fixUTF8(known.getPeakAt()));
  static constexpr proto::Role roles[kNumUsages] = {
      proto::PARAMETER, proto::GRADIENT, proto::OPTIMIZER, proto::ACTIVATION, proto::WORKING};
  const std::array<int64_t, kNumUsages> most = bytesByUsage(known.getMost());
  const std::array<int64_t, kNumUsages> atPeak = bytesByUsage(known.getAtPeak());
  for (unsigned i = 0; i < kNumUsages; ++i) {
    proto::RoleBytes *entry = certificate->add_roles();
    entry->set_role(roles[i]);
    entry->set_most(most[i]);
    entry->set_at_peak(atPeak[i]);
  }
  proto::Arena *arena = program.add_arenas();
  arena->set_tier(tierOf(known.getTier()));
  arena->set_bytes(certificate->peak());
  arena->set_alignment(alignmentOf(known.getTier()));
}

static void buildArenas(ModuleOp module, proto::Program &program) {
  for (auto arena : module->getAttrOfType<ArrayAttr>(kCertificateAttr).getAsRange<ArenaAttr>())
    buildArena(arena, program);
}

/// Sets the elements that a rank receives in a step, from the planned collectives; of members that
/// receive different numbers, the most.
static void setVolumes(proto::Program &program) {
  const rt::Mesh mesh = rt::meshOf(program);
  std::map<rt::AxisSet, std::vector<uint64_t>> received; // by member of a group
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      const proto::Collective &collective = command.collective();
      if (!command.has_collective() || collective.control())
        continue;
      const uint64_t iterations = rt::iterationsOf(segment, command);
      const uint64_t members = rt::groupSize(mesh, collective);
      std::vector<uint64_t> &sums = received[rt::groupAxes(mesh, collective)];
      sums.resize(members);
      for (auto [index, sum] : llvm::enumerate(sums))
        sum += iterations * rt::receivedElements(collective, members, index);
    }
  for (const auto &[axes, sums] : received) {
    const uint64_t most = *llvm::max_element(sums);
    if (most == 0)
      continue;
    proto::Volume *volume = program.add_volumes();
    for (int axis = 0; axis < mesh.axes(); ++axis)
      if (axes >> axis & 1)
        volume->add_axes(axis);
    volume->set_elements(most);
    program.set_received_elements(program.received_elements() + most);
  }
}

/// Sets the planned seconds of each command on `machine`.
static void planSeconds(const planning::Machine &machine, proto::Program &program) {
  program.set_machine(machine.name);
  const Ranks ranks = ranksOf(program);
  program.set_overlaps(overlapsCollectives(machine, ranks));
  for (const rt::Shares &lane : laneShares(machine, ranks))
    program.mutable_lane_shares()->Add(lane.begin(), lane.end());
  for (proto::Segment &segment : *program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      command.set_seconds(commandSeconds(machine, program, command));
}

static void describe(ModuleOp module, const EmitOptions &options, proto::Program &program) {
  auto read = [&](StringRef name) -> int64_t {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  program.set_name(options.name);
  program.set_model(options.model);
  program.set_ort_checkpoint(options.ortCheckpoint);
  program.set_producer("zero " ZERO_VERSION);
  const Mesh mesh(module);
  program.set_ranks(mesh.ranks());
  for (const auto &[name, size] : mesh.axes()) {
    if (Mesh::cutsBatch(name))
      program.add_data_axes(program.mesh_size());
    proto::Axis *axis = program.add_mesh();
    axis->set_name(name);
    axis->set_size(size);
  }
  program.set_ranks_per_node(read(kRanksPerNodeAttr));
  program.set_stage(read(kStageAttr));
  program.set_micro_batches(microBatchesOf(module));
  program.set_threads(read(kThreadsAttr));
  program.set_prefetches(read(kPrefetchAttr) > 0);
  program.set_learning_rate(float(options.learningRate));
  for (const auto &[name, value] : options.settings) {
    proto::Setting *setting = program.add_settings();
    setting->set_name(name);
    setting->set_value(llvm::json::fixUTF8(value));
  }
  if (module->hasAttr(kTrainingInfoAttr))
    program.set_training_info(uint32_t(read(kTrainingInfoAttr)));
  if (auto optimizer = module->getAttrOfType<StringAttr>(kOptimizerAttr))
    program.set_optimizer(optimizer.str());
}

/// Plans may contain any op on tensors. An executable supports only launches and the ops that the
/// runtime executes.
static LogicalResult checkRunnable(func::FuncOp step) {
  for (Operation &op : step.getBody().front()) {
    bool runs = isa_and_nonnull<ZeroDialect>(op.getDialect()) || isReshape(&op) ||
                op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::IsTerminator>();
    if (!runs)
      return op.emitError() << op.getName()
                            << " is not in a kernel: the program can be planned, but not run";
  }
  return success();
}

/// The steps of all shapes, and their tables.
struct Shapes {
  SmallVector<ModuleOp> modules;
  std::vector<Tables> tables;
  llvm::DenseMap<ModuleOp, size_t> numbers;

  /// The entry of `kernel`, which is in one of the modules.
  proto::Kernel &entryOf(func::FuncOp kernel) {
    Tables &own = tables[numbers.lookup(kernel->getParentOfType<ModuleOp>())];
    return *own.program.mutable_kernels(int(own.kernels.lookup(kernel.getName())));
  }
};

/// The file of initial values that writing the executable would destroy, or "".
static std::string overwritten(const EmitOptions &options, const proto::Program &program) {
  for (const std::string &file : program.files())
    if (llvm::sys::fs::equivalent(file, options.output))
      return file;
  return "";
}

/// Compiles the native kernels that the host runs; `code` is a shared object.
static FailureOr<EmittedKernels> compileForHost(const EmitOptions &options, Shapes &shapes,
                                                std::string &code) {
  CompileOptions compile;
  compile.threads = options.threads;
  compile.cacheFolder = options.cacheFolder;
  FailureOr<CompiledKernels> compiled = compileKernels(shapes.modules, compile);
  if (failed(compiled))
    return failure();
  for (auto &[kernel, symbol] : compiled->symbols)
    shapes.entryOf(kernel).set_symbol(symbol);
  code = std::move(compiled->object);
  return EmittedKernels{compiled->codes, compiled->cached};
}

/// Whether a thread may access 16 bytes at `address` at once, on each rank.
static bool isAligned(const proto::Address &address) {
  return address.offset() % kGpuAlignment == 0 &&
         llvm::all_of(address.rank_strides(),
                      [](int64_t stride) { return stride % kGpuAlignment == 0; });
}

/// Removes kAlignedAttr from the arguments of kernels that a launch gives another alignment: those
/// of few elements in a slice of every rank, as the norms of LAMB.
static void relaxAlignment(ModuleOp module, const proto::Program &program) {
  SymbolTable symbols(module);
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      if (!command.has_launch())
        continue;
      const proto::Launch &launch = command.launch();
      auto kernel = symbols.lookup<func::FuncOp>(program.kernels(launch.kernel()).name());
      if (!isNativeKernel(kernel))
        continue;
      for (auto [number, address] : llvm::enumerate(launch.args()))
        if (!isAligned(address))
          kernel.removeArgAttr(number, kAlignedAttr);
    }
}

/// Compiles them for GPUs; `code` is one image for each architecture.
static FailureOr<EmittedKernels> compileForGpu(const EmitOptions &options, Shapes &shapes,
                                               std::string &code) {
  proto::Program &program = shapes.tables.front().program;
  GpuCompileOptions compile;
  compile.threads = options.threads;
  compile.cacheFolder = options.cacheFolder;
  compile.architectures = options.gpuArchitectures;
  compile.toolkit = findToolkit();
  for (auto [module, tables] : llvm::zip_equal(shapes.modules, shapes.tables))
    relaxAlignment(module, tables.program);
  FailureOr<CompiledGpuKernels> compiled = compileGpuKernels(shapes.modules, compile);
  if (failed(compiled))
    return failure();
  program.set_target(proto::CUDA);
  for (auto &[kernel, launches] : compiled->kernels)
    *shapes.entryOf(kernel).mutable_gpu() = launches;
  for (const CompiledGpuKernels::Image &image : compiled->images) {
    code.resize(llvm::alignTo(code.size(), kImageAlignment));
    proto::GpuImage *entry = program.add_gpu_images();
    entry->set_architecture(image.architecture);
    entry->set_kind(image.kind);
    entry->set_offset(code.size());
    entry->set_bytes(image.bytes.size());
    code += image.bytes;
  }
  return EmittedKernels{compiled->codes, compiled->cached};
}

LogicalResult buildTables(ModuleOp module, const Storage &storage, const EmitOptions &options,
                          Tables &tables) {
  func::FuncOp step = storage.getStep();
  if (failed(checkRunnable(step)))
    return failure();
  if (!module->hasAttr(kCertificateAttr))
    return module.emitError() << "expected " << kCertificateAttr << "; run the phase `pack` first";

  proto::Program &program = tables.program;
  describe(module, options, program);
  buildKernels(module, program, tables.kernels);
  CommandBuilder commands(module, step, storage, tables.kernels);
  commands.build(program);
  addWaits(program);
  buildTensors(module, step, storage, commands, options.dataRoot, program, tables.data);
  buildBindings(step, commands, program);
  buildArenas(module, program);
  setVolumes(program);
  return verifySchedule(module, program, tables.data);
}

/// Builds the tables of all shapes but for the code of kernels.
static LogicalResult buildShapes(ArrayRef<PackedStep> steps, const EmitOptions &options,
                                 Shapes &shapes) {
  for (const PackedStep &step : steps) {
    shapes.numbers[step.module] = shapes.modules.size();
    shapes.modules.push_back(step.module);
    Tables &tables = shapes.tables.emplace_back();
    if (failed(buildTables(step.module, *step.storage, options, tables)))
      return failure();
    planSeconds(options.machine, tables.program);
  }
  return success();
}

FailureOr<EmittedKernels> emitExecutable(ArrayRef<PackedStep> steps, const EmitOptions &options) {
  ModuleOp module = steps.front().module;
  Shapes shapes;
  if (failed(buildShapes(steps, options, shapes)))
    return failure();
  auto &[program, data, kernels] = shapes.tables.front();
  if (std::string file = overwritten(options, program); !file.empty())
    return module.emitError() << "the output '" << options.output << "' would overwrite '" << file
                              << "', which holds weights";

  const bool hasDevice = module->hasAttr(kDeviceAttr);
  std::string code, hostCode;
  FailureOr<EmittedKernels> emitted = compileForHost(options, shapes, hostCode);
  if (succeeded(emitted) && hasDevice) {
    FailureOr<EmittedKernels> onDevice = compileForGpu(options, shapes, code);
    if (failed(onDevice))
      return failure();
    emitted = EmittedKernels{emitted->all + onDevice->all, emitted->cached + onDevice->cached};
  }
  if (failed(emitted))
    return failure();
  mergeShapes(shapes.tables);
  const std::string isa = hostCode.empty() && hasDevice ? "" : isaOf(targetCpuOf(module));
  std::string error = hasDevice
                          ? rt::writeExecutable(options.output, program, code, data, isa, hostCode)
                          : rt::writeExecutable(options.output, program, hostCode, data, isa);
  if (!error.empty())
    return module.emitError() << error;
  if (options.witness)
    *options.witness = witnessOf(program);
  return emitted;
}

} // namespace zero
