//===- DiscardableAttrs.cpp - the discardable attributes of the dialect ---===//
// Attributes that ops of this dialect need are arguments of these ops, which no pass drops. The
// list below has the attributes on ops of other dialects, or on any op; no other attribute may have
// a name that begins with `zero.`. MLIR allows passes to drop discardable attributes; each group
// says why no pass drops these.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Schedule.h"

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
    {"zero.ranks", OnModule, kInteger, "an integer"},
    {"zero.ranks_per_node", OnModule, kInteger, "an integer"},
    {"zero.mesh", OnModule, isKind<MeshAttr>, "#zero.mesh<...>"},
    {"zero.micro_batches", OnModule, kInteger, "an integer"},
    {"zero.interleave", OnModule, kUnit, "no value"},
    {"zero.interleaved", OnModule, kUnit, "no value"},
    {"zero.whole_step", OnModule, kUnit, "no value"},
    {"zero.own_gradients", OnModule, kUnit, "no value"},
    {"zero.own_types", OnModule, kUnit, "no value"},
    {"zero.training_info", OnModule, kInteger, "an integer"},
    {"zero.start_rate", OnModule, isKind<FloatAttr>, "a float"},
    {"zero.stage", OnModule, kInteger, "an integer"},
    {"zero.seed", OnModule, kInteger, "an integer"},
    {"zero.threads", OnModule, kInteger, "an integer"},
    {"zero.target_cpu", OnModule, isKind<CpuAttr>, "#zero.cpu"},
    {"zero.optimizer", OnModule, kString, "a string"},
    {"zero.device", OnModule, kString, "a string"},
    {"zero.precision", OnModule, isKind<TypeAttr>, "a type"},
    {"zero.frozen_precision", OnModule, isKind<TypeAttr>, "a type"},
    {"zero.local_loss_mean", OnModule, kUnit, "no value"},
    {"zero.sync_batchnorm", OnModule, kUnit, "no value"},
    {"zero.tile_params_over", OnModule, kInteger, "an integer"},
    {"zero.prefetch_bytes", OnModule, kInteger, "an integer"},
    // Results of a phase, for later phases and for messages. No pass rewrites a module.
    {"zero.buckets", OnModule, kIntegers, "integers"},
    {"zero.certificate", OnModule, isCertificate, "a list of #zero.arena<...>"},
    {"zero.plan", OnModule, isKind<PlanAttr>, "#zero.plan<...>"},
    {"zero.found_plan", OnModule, isKind<FoundPlanAttr>, "#zero.found_plan<...>"},
    {"zero.tiles_that_fit", OnModule, isKind<TilesAttr>, "#zero.tiles<...>"},
    {"zero.tiles_floor", OnModule, isKind<MemoryFloorAttr>, "#zero.memory_floor<...>"},
    {"zero.lost_parameters", OnModule, kList, "a list"},
    {"zero.absent_parameters", OnModule, kList, "a list"},
    {"zero.initializers", OnModule, kDictionary, "a dictionary"},
    {"zero.program_mesh", OnModule, kString, "a string"},
    // What the file of the model says about a tensor. No pass rewrites symbols of this dialect.
    {"zero.exported_as", OnState, kString, "a string"},
    {"zero.aliases", OnState, kList, "a list"},
    {"zero.part", OnState, isKind<PartAttr>, "#zero.part<...>"},
    {"zero.sharded_dim", OnState, kInteger, "an integer"},
    {"zero.shard", OnState, isKind<ShardAttr>, "#zero.shard<...>"},
    {"zero.exported_frozen", OnState, kUnit, "no value"},
    {"zero.number", OnState, isKind<FloatAttr>, "a float"},
    {"zero.late", OnState, isKind<UnitAttr, FloatAttr>, "a float, or no value"},
    // Properties of a kernel, or of the whole step. No pass replaces functions.
    {"zero.kernel", OnFunction, kUnit, "no value"},
    {"zero.host_kernel", OnFunction, kUnit, "no value"},
    {"zero.constant_indices", OnFunction, kUnit, "no value"},
    {"zero.workspace", OnFunction, kInteger, "an integer"},
    {"zero.flops", OnFunction, kInteger, "an integer"},
    {"zero.bytes", OnFunction, kInteger, "an integer"},
    {"zero.extent", OnFunction, kInteger, "an integer"},
    {"zero.call", OnFunction, isKind<ConvolutionAttr, AttentionAttr>,
     "#zero.convolution<...> or #zero.attention<...>"},
    {"zero.library", OnFunction, isKind<LibraryAttr>, "#zero.library<...>"},
    {"zero.runs", OnFunction, kList, "a list"},
    // On ops of any dialect: nodes of the model, and the ops that they are lowered to. CSE does not
    // merge ops that differ in these, and canonicalize drops them only from views, which execute
    // nothing.
    {"zero.schedule", OnBody, isKind<ScheduleAttr>, "#zero.schedule<...>"},
    {"zero.name", OnBody, kString, "a string"},
    {"zero.recompute", OnBody, isKind<UnitAttr, IntegerAttr>, "the number of a run, or no value"},
    {"zero.tier", OnBody, isKind<TierAttr, ArrayAttr>, "a tier, or a list of one for each result"},
    {"zero.import_note", OnBody, kString, "a string"},
    {"zero.round", OnBody, kUnit, "no value"},
    {"zero.carries", OnBody, kUnit, "no value"},
    {"zero.training_only", OnBody, kUnit, "no value"},
    {"zero.gradient_start", OnBody, kInteger, "an integer"},
    {"zero.replicated", OnBody, kIntegers, "integers"},
    {"zero.offsets", OnBody | OnState, kIntegers, "integers"},
    // On loops of a kernel while it is compiled, from one pass of lib/Codegen to the next.
    {"zero.loop", OnBody, kString, "a string"},
    {"zero.threads", OnBody, kString, "a string"},
    {"zero.neighbours", OnBody, kInteger, "an integer"},
    {"zero.per_block", OnBody | OnFunction, kInteger, "an integer"},
};

const Known kKnownOfArguments[] = {
    {"zero.binding", OnFunction, kString, "a string"},
    {"zero.aligned", OnFunction, kUnit, "no value"},
    // Of a program that is not a step yet; see zero-bind-arguments.
    {"zero.name", OnFunction, kString, "a string"},
    {"zero.role", OnFunction, kString, "a string"},
    {"zero.gradient_of", OnFunction, kString, "a string"},
    {"zero.split", OnFunction, kUnit, "no value"},
    {"zero.tokens", OnFunction, kUnit, "no value"},
    {"zero.vocabulary", OnFunction, kInteger, "an integer"},
    {"zero.micro_batch", OnFunction, kInteger, "an integer"},
    {"zero.inplace", OnFunction, kInteger, "the number of a result"},
    {"zero.state", OnFunction, isKind<FlatSymbolRefAttr>, "a symbol"},
    {"zero.offsets", OnFunction, kIntegers, "integers"},
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
