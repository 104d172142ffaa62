//===- DiscardableAttrs.cpp - the discardable attributes of the dialect ---===//
// Attributes that ops of this dialect need are arguments of these ops, which no pass drops. The
// list below has the attributes on ops of other dialects, or on any op; no other attribute may have
// a name that begins with `zero.`. Those of a later phase alone are named in its own headers, which
// this library may not include, and so are literals here. MLIR allows passes to drop discardable
// attributes; each group says why no pass drops these.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/AdapterAttrs.h"
#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/EvaluationAttrs.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/KernelAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace zero;

namespace {

enum Holder : unsigned {
  OnModule = 1,
  OnState = 2,    ///< a parameter, state or buffer
  OnFunction = 4, ///< the step or a kernel
  OnBody = 8,     ///< an op inside of a function
};

using Check = bool (*)(Attribute);

struct Known {
  StringRef name;
  unsigned holders;
  Check check;
  StringRef expected;
};

template <typename... Kinds>
bool isKind(Attribute attribute) {
  return isa<Kinds...>(attribute);
}

bool isCertificate(Attribute attribute) {
  auto arenas = dyn_cast<ArrayAttr>(attribute);
  return arenas && llvm::all_of(arenas, isKind<ArenaAttr>);
}

constexpr Check kUnit = isKind<UnitAttr>, kInteger = isKind<IntegerAttr>,
                kString = isKind<StringAttr>, kList = isKind<ArrayAttr>,
                kIntegers = isKind<DenseI64ArrayAttr>, kDictionary = isKind<DictionaryAttr>;

const Known kKnown[] = {
    // Properties of the program. No pass rewrites a module.
    {kRanksAttr, OnModule, kInteger, "an integer"},
    {kRanksPerNodeAttr, OnModule, kInteger, "an integer"},
    {kMeshAttr, OnModule, isKind<MeshAttr>, "#zero.mesh<...>"},
    {kMicroBatchesAttr, OnModule, kInteger, "an integer"},
    {kInterleaveAttr, OnModule, kUnit, "no value"},
    {kInterleavedAttr, OnModule, kUnit, "no value"},
    {kWholeStepAttr, OnModule, kUnit, "no value"},
    {kOwnGradientsAttr, OnModule, kUnit, "no value"},
    {"zero.own_types", OnModule, kUnit, "no value"},
    {kTrainingInfoAttr, OnModule, kInteger, "an integer"},
    {kStartRateAttr, OnModule, isKind<FloatAttr>, "a float"},
    {kStageAttr, OnModule, kInteger, "an integer"},
    {kSeedAttr, OnModule, kInteger, "an integer"},
    {"zero.threads", OnModule, kInteger, "an integer"},
    {"zero.target_cpu", OnModule, isKind<CpuAttr>, "#zero.cpu"},
    {kOptimizerAttr, OnModule, kString, "a string"},
    {kDeviceAttr, OnModule, kString, "a string"},
    {kPrecisionAttr, OnModule, isKind<TypeAttr>, "a type"},
    {kGradPrecisionAttr, OnModule, isKind<TypeAttr>, "a type"},
    {"zero.frozen_precision", OnModule, isKind<TypeAttr>, "a type"},
    {kLocalLossMeanAttr, OnModule, kUnit, "no value"},
    {kSyncBatchNormAttr, OnModule, kUnit, "no value"},
    {"zero.tile_params_over", OnModule, kInteger, "an integer"},
    {kPrefetchAttr, OnModule, kInteger, "an integer"},
    // Results of a phase, for later phases and for messages. No pass rewrites a module.
    {kBucketsAttr, OnModule, kIntegers, "integers"},
    {kCertificateAttr, OnModule, isCertificate, "a list of #zero.arena<...>"},
    {"zero.plan", OnModule, isKind<PlanAttr>, "#zero.plan<...>"},
    {"zero.state_homes", OnModule, kDictionary, "a dictionary"},
    {"zero.state_plan", OnModule, isKind<PlanAttr>, "#zero.plan<...>"},
    {"zero.first_arenas", OnModule, isCertificate, "a list of #zero.arena<...>"},
    {"zero.found_plan", OnModule, isKind<FoundPlanAttr>, "#zero.found_plan<...>"},
    {"zero.precision_trial", OnModule, isKind<BoolAttr>, "true or false"},
    {"zero.no_plan", OnModule, kUnit, "no value"},
    {"zero.tiles_that_fit", OnModule, isKind<TilesAttr>, "#zero.tiles<...>"},
    {"zero.tiles_floor", OnModule, isKind<MemoryFloorAttr>, "#zero.memory_floor<...>"},
    {kLostParametersAttr, OnModule, kList, "a list"},
    {kNoRecordAttr, OnModule, kUnit, "no value"},
    {kAbsentParametersAttr, OnModule, kList, "a list"},
    {kInitializersAttr, OnModule, kDictionary, "a dictionary"},
    {kAdaptersAttr, OnModule, kDictionary, "a dictionary"},
    {kProgramMeshAttr, OnModule, kString, "a string"},
    // What the file of the model says about a tensor. No pass rewrites symbols of this dialect.
    {kExportedAsAttr, OnState, kString, "a string"},
    {kAliasesAttr, OnState, kList, "a list"},
    {kPartAttr, OnState, isKind<PartAttr>, "#zero.part<...>"},
    {kShardedDimAttr, OnState, kInteger, "an integer"},
    {kShardAttr, OnState, isKind<ShardAttr>, "#zero.shard<...>"},
    {kExportedFrozenAttr, OnState, kUnit, "no value"},
    {kNumberAttr, OnState, isKind<FloatAttr>, "a float"},
    {kLateAttr, OnState, isKind<UnitAttr, FloatAttr>, "a float, or no value"},
    {kOwnerAttr, OnState, kInteger, "an integer"},
    {kStepOperationsAttr, OnState, isKind<FloatAttr>, "a float"},
    {kWholeAttr, OnState, kUnit, "no value"},
    {kSliceAttr, OnState, kInteger, "an integer"},
    // Properties of a kernel, or of the whole step. No pass replaces functions.
    {kKernelAttr, OnFunction, kUnit, "no value"},
    {kHostKernelAttr, OnFunction, kUnit, "no value"},
    {kConstantIndicesAttr, OnFunction, kUnit, "no value"},
    {kWorkspaceAttr, OnFunction, kInteger, "an integer"},
    {kFlopsAttr, OnFunction, kInteger, "an integer"},
    {kBytesAttr, OnFunction, kInteger, "an integer"},
    {"zero.extent", OnFunction, kInteger, "an integer"},
    {kCallAttr, OnFunction, isKind<ConvolutionAttr, AttentionAttr>,
     "#zero.convolution<...> or #zero.attention<...>"},
    {kLibraryAttr, OnFunction, isKind<LibraryAttr>, "#zero.library<...>"},
    {kRunsAttr, OnFunction, kList, "a list"},
    // On ops of any dialect: nodes of the model, and the ops that they are lowered to. CSE does not
    // merge ops that differ in these, and canonicalize drops them only from views, which execute
    // nothing.
    {kScheduleAttr, OnBody, isKind<ScheduleAttr>, "#zero.schedule<...>"},
    {kNameAttr, OnBody, kString, "a string"},
    {kRecomputeAttr, OnBody, isKind<UnitAttr, IntegerAttr>, "the number of a run, or no value"},
    {kTierAttr, OnBody, isKind<TierAttr, ArrayAttr>, "a tier, or a list of one for each result"},
    {kImportNoteAttr, OnBody, kString, "a string"},
    {kAdaptedModuleAttr, OnBody, kString, "a string"},
    {kAdaptedOperandAttr, OnBody, kInteger, "an integer"},
    {"zero.round", OnBody, kUnit, "no value"},
    {kCarriesAttr, OnBody, kUnit, "no value"},
    {kTrainingOnlyAttr, OnBody, kUnit, "no value"},
    {kGradientStartAttr, OnBody, isKind<DenseI64ArrayAttr>, "an array of i64"},
    {kDirectionAttr, OnBody, kList, "a list"},
    {kTensorStepAttr, OnBody, kList, "a list"},
    {kOverRanksAttr, OnBody, kUnit, "no value"},
    {kDelayedAttr, OnBody, kUnit, "no value"},
    {kReplicatedAttr, OnBody, kIntegers, "integers"},
    {kOffsetsAttr, OnBody | OnState, kIntegers, "integers"},
    // On loops of a kernel while it is compiled, from one pass of lib/Codegen to the next.
    {"zero.loop", OnBody, kString, "a string"},
    {"zero.loop_threads", OnBody, kString, "a string"},
    {"zero.neighbours", OnBody, kInteger, "an integer"},
    {"zero.per_block", OnBody | OnFunction, kInteger, "an integer"},
};

const Known kKnownOfArguments[] = {
    {kBindingAttr, OnFunction, kString, "a string"},
    {"zero.aligned", OnFunction, kUnit, "no value"},
    // Of a program that is not a step yet; see zero-bind-arguments.
    {kNameAttr, OnFunction, kString, "a string"},
    {kRoleAttr, OnFunction, kString, "a string"},
    {kGradientOfAttr, OnFunction, kString, "a string"},
    {kSplitAttr, OnFunction, kUnit, "no value"},
    {"zero.tokens", OnFunction, kUnit, "no value"},
    {kVocabularyAttr, OnFunction, kInteger, "an integer"},
    {kMicroBatchAttr, OnFunction, kInteger, "an integer"},
    {kInplaceAttr, OnFunction, kInteger, "the number of a result"},
    {"zero.state", OnFunction, isKind<FlatSymbolRefAttr>, "a symbol"},
    {kOffsetsAttr, OnFunction, kIntegers, "integers"},
};

} // namespace

static bool holds(Operation *op, unsigned holders) {
  if (isa<ModuleOp>(op))
    return holders & OnModule;
  if (isa<ParameterOp, StateOp, BufferOp>(op))
    return holders & OnState;
  return holders & (isa<FunctionOpInterface>(op) ? OnFunction : OnBody);
}

static LogicalResult verify(Operation *op, NamedAttribute attribute, ArrayRef<Known> list) {
  StringRef name = attribute.getName(), expected;
  for (const Known &known : list) {
    if (known.name != name || !holds(op, known.holders))
      continue;
    if (known.check(attribute.getValue()))
      return success();
    expected = known.expected;
  }
  if (!expected.empty())
    return op->emitOpError() << "expected " << name << " = " << expected << ", got "
                             << attribute.getValue();
  if (llvm::any_of(list, [&](const Known &known) { return known.name == name; }))
    return op->emitOpError() << "has attribute " << name << ", which belongs to another op";
  return op->emitOpError() << "has unknown attribute " << name
                           << "; dialects/Zero/DiscardableAttrs.cpp lists those of the dialect";
}

LogicalResult ZeroDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verify(op, attribute, kKnown);
}

LogicalResult ZeroDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return verify(op, attribute, kKnownOfArguments);
}

LogicalResult ZeroDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                       NamedAttribute attribute) {
  return verify(op, attribute, kKnownOfArguments);
}
