//===- BindArguments.cpp - a function as a step ---------------------------===//

#include "DeadOps.h"
#include "Roles.h"
#include "Shardings.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Findings.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Options/Carry.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BINDARGUMENTS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
class Binder {
public:
  Binder(ModuleOp module, func::FuncOp program, ProgramRoles &roles,
         const BindArgumentsOptions &options)
      : module(module), program(program), body(program.getBody().front()), roles(roles),
        options(options), zeros(options.zeros), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult declareState();
  Operation *createState(unsigned index, RankedTensorType type, bool isZero);
  Operation *createParameter(const ProgramArgument &argument, RankedTensorType type, bool isZero);
  llvm::SmallVector<unsigned> argumentsOf(unsigned index) const;
  llvm::SmallVector<unsigned> gradientsOf(unsigned index) const;
  void setAliases(Operation *state, unsigned index);
  void writeResults();
  DictionaryAttr inputAttributes(unsigned index);
  void setSignature();
  void report();

  ModuleOp module;
  func::FuncOp program;
  Block &body;
  ProgramRoles &roles;
  const BindArgumentsOptions &options;
  ZeroPatterns zeros;
  OpBuilder builder;
};
} // namespace

/// The symbol of state `name`. Programs often have a counter with the name of the step function.
static StringRef symbolOf(StringRef name) { return name == kStepName ? "step.value" : name; }

static bool isState(const ProgramArgument &argument) { return argument.role != ArgumentRole::Data; }

/// State whose value a run gives, or that begins as zero.
Operation *Binder::createState(unsigned index, RankedTensorType type, bool isZero) {
  const ProgramArgument &argument = roles.arguments[index];
  StringRef symbol = symbolOf(argument.name);
  FloatAttr splat = isZero ? builder.getF64FloatAttr(0) : FloatAttr();
  auto state = StateOp::create(builder, program.getLoc(), Role::Constant, symbol,
                               FlatSymbolRefAttr(), type, DataAttr(), splat, !isZero);
  // The selection of parameters does not have to guess.
  if (isa<FloatType>(type.getElementType()) && !roles.isWholeStep())
    state->setAttr(
        kExportedAsAttr,
        builder.getStringAttr(argument.role == ArgumentRole::Parameter ? "parameter" : "buffer"));
  for (unsigned same : argumentsOf(index))
    if (Attribute dim = program.getArgAttr(same, kShardedDimAttr))
      state->setAttr(kShardedDimAttr, dim);
  return state;
}

/// A parameter whose gradient the program returns.
Operation *Binder::createParameter(const ProgramArgument &argument, RankedTensorType type,
                                   bool isZero) {
  return ParameterOp::create(builder, program.getLoc(), symbolOf(argument.name), type, DataAttr(),
                             isZero ? builder.getF64FloatAttr(0) : FloatAttr(), /*frozen=*/false,
                             !isZero);
}

/// Argument `index` and those that are the same tensor.
SmallVector<unsigned> Binder::argumentsOf(unsigned index) const {
  SmallVector<unsigned> same{index};
  for (auto [other, argument] : llvm::enumerate(roles.arguments))
    if (argument.tiedTo == index)
      same.push_back(other);
  return same;
}

/// The results that are gradients of the tensor that is argument `index`: their sum is its own.
SmallVector<unsigned> Binder::gradientsOf(unsigned index) const {
  SmallVector<unsigned> results;
  for (unsigned same : argumentsOf(index))
    if (const ProgramArgument &argument = roles.arguments[same];
        argument.role == ArgumentRole::Parameter && argument.result)
      results.push_back(*argument.result);
  return results;
}

/// Lets users call the tensor of argument `index` by all of its names.
void Binder::setAliases(Operation *state, unsigned index) {
  llvm::SetVector<StringRef> names;
  for (unsigned same : argumentsOf(index))
    names.insert(roles.arguments[same].name);
  names.remove(symbolOf(roles.arguments[index].name));
  if (!names.empty())
    state->setAttr(kAliasesAttr, builder.getStrArrayAttr(names.getArrayRef()));
}

/// Replaces arguments that are state by reads of symbols.
LogicalResult Binder::declareState() {
  OpBuilder reads = OpBuilder::atBlockBegin(&body);
  for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
    if (!isState(argument) || argument.tiedTo)
      continue;
    auto type = cast<RankedTensorType>(program.getArgumentTypes()[index]);
    std::string error;
    bool isZero = zeros.match(argument.name, error);
    if (!error.empty())
      return emitError(locationOfFile(program)) << error;
    builder.setInsertionPoint(program);
    StringRef symbol = symbolOf(argument.name);
    Operation *state = gradientsOf(index).empty() || options.forwardOnly
                           ? createState(index, type, isZero)
                           : createParameter(argument, type, isZero);
    setAliases(state, index);
    Value read;
    for (unsigned same : argumentsOf(index))
      if (BlockArgument value = body.getArgument(same); !value.use_empty()) {
        if (!read)
          read = ReadOp::create(reads, value.getLoc(), type, symbol);
        value.replaceAllUsesWith(read);
      }
  }
  if (std::string error = zeros.checkUsed(); !error.empty())
    return emitError(locationOfFile(program)) << error;
  return success();
}

/// Gradients and next values become ops of the step; only the loss, or all results of a program
/// that runs forward, are returned.
void Binder::writeResults() {
  if (options.forwardOnly)
    return;
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
    auto symbol = FlatSymbolRefAttr::get(builder.getContext(), symbolOf(argument.name));
    if (argument.role == ArgumentRole::Carried) {
      Value value = end->getOperand(*argument.result);
      WriteOp::create(builder, value.getLoc(), symbol, value);
      continue;
    }
    SmallVector<unsigned> gradients = gradientsOf(index);
    if (argument.tiedTo || gradients.empty())
      continue;
    Value sum = end->getOperand(gradients.front());
    NodeBuilder nodes(builder, sum.getLoc(), argument.name);
    for (unsigned result : ArrayRef(gradients).drop_front())
      sum = nodes.add(sum, end->getOperand(result));
    GradientOp::create(builder, sum.getLoc(), sum.getType(), symbol, sum, ArrayAttr());
  }
}

/// The name of an argument that is data, and whether ranks divide it.
DictionaryAttr Binder::inputAttributes(unsigned index) {
  NamedAttrList attributes;
  attributes.set(kBindingAttr, builder.getStringAttr(roles.arguments[index].name));
  if (Attribute split = program.getArgAttr(index, kSplitAttr))
    attributes.set(kSplitAttr, split);
  return attributes.getDictionary(builder.getContext());
}

/// The signature of a step: arguments that are data, and results that are wanted, with their names.
void Binder::setSignature() {
  BitVector state(roles.arguments.size()), dropped(roles.results.size());
  SmallVector<DictionaryAttr> inputs, outputs;
  auto binding = [&](StringRef name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(kBindingAttr, builder.getStringAttr(name)));
  };
  for (auto [index, argument] : llvm::enumerate(roles.arguments))
    if (isState(argument) || body.getArgument(index).use_empty())
      state.set(index);
    else
      inputs.push_back(inputAttributes(index));
  for (auto [index, result] : llvm::enumerate(roles.results))
    if (!options.forwardOnly && index != roles.loss)
      dropped.set(index);
    else
      outputs.push_back(binding(options.forwardOnly ? StringRef(result.name) : "loss"));
  body.getTerminator()->eraseOperands(dropped);
  (void)program.eraseArguments(state);
  (void)program.eraseResults(dropped);
  program.setAllArgAttrs(inputs);
  program.setAllResultAttrs(outputs);
  for (NamedAttribute attr : llvm::to_vector(program->getDiscardableAttrs()))
    program->removeDiscardableAttr(attr.getName());
  program.setName(kStepName);
  program.setPublic();
}

/// Says what the step takes and returns.
void Binder::report() {
  SmallVector<StringRef> inputs, left;
  unsigned numCarried = 0, numGradients = 0;
  for (const ProgramArgument &argument : roles.arguments) {
    numCarried += argument.role == ArgumentRole::Carried;
    numGradients += argument.role == ArgumentRole::Parameter && argument.result;
    if (!isState(argument))
      inputs.push_back(argument.name);
  }
  for (auto [index, result] : llvm::enumerate(roles.results))
    if (!result.argument && index != roles.loss)
      left.push_back(result.name);
  std::string line = "forward and loss: ";
  if (roles.isWholeStep())
    line = "a whole training step: ";
  else if (numGradients > 0)
    line = "a joint graph: it returns the gradients of " + std::to_string(numGradients) +
           " parameters; ";
  if (numCarried > 0)
    line += std::to_string(numCarried) + " tensors are carried from step to step; ";
  line += "inputs " + (inputs.empty() ? "none" : listNames(inputs, options.verbose)) +
          "; the loss is '" + roles.results[*roles.loss].name + "'";
  if (!left.empty())
    line += "; not computed: " + listNames(left, options.verbose);
  remark::passed(program.getLoc(), remark::RemarkOpts::name("program").category("import")) << line;
}

LogicalResult Binder::run() {
  if (!options.forwardOnly)
    report();
  if (failed(declareState()))
    return failure();
  writeResults();
  setSignature();
  if (roles.isWholeStep() && !options.forwardOnly)
    module->setAttr(kWholeStepAttr, builder.getUnitAttr());
  else if (!program.getOps<GradientOp>().empty())
    module->setAttr(kOwnGradientsAttr, builder.getUnitAttr());
  // Attributes of other tools mean nothing to a step.
  for (NamedAttribute attr : llvm::to_vector(module->getDiscardableAttrs()))
    if (attr.getName().strref().contains('.') && !attr.getName().strref().starts_with("zero."))
      module->removeDiscardableAttr(attr.getName());
  eraseDeadOps(body);
  return success();
}

/// The only function of the module that is not a kernel, with one block of static tensors.
static FailureOr<func::FuncOp> findProgram(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(kKernelAttr))
      programs.push_back(function);
  if (programs.size() != 1 || programs.front().isExternal() ||
      !programs.front().getBody().hasOneBlock())
    return module.emitError() << "expected a program that is one function of one block, got "
                              << programs.size()
                              << (programs.size() == 1 ? " function" : " functions")
                              << (programs.size() == 1 ? " of another form" : "");
  func::FuncOp program = programs.front();
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  for (auto [index, type] : llvm::enumerate(program.getArgumentTypes()))
    if (!isStatic(type))
      return emitError(program.getArgument(index).getLoc())
             << "argument " << index << ": expected a tensor of static shape, got " << type;
  for (auto [index, type] : llvm::enumerate(program.getResultTypes()))
    if (!isStatic(type))
      return program.emitError() << "result " << index
                                 << ": expected a tensor of static shape, got " << type;
  return program;
}

namespace {
struct BindArguments : impl::BindArgumentsBase<BindArguments> {
  using BindArgumentsBase::BindArgumentsBase;

  void runOnOperation() override {
    BindArgumentsOptions options;
    options.roles = roles;
    options.loss = loss;
    options.carry.assign(carry.begin(), carry.end());
    options.zeros.assign(zeros.begin(), zeros.end());
    options.tie.assign(tie.begin(), tie.end());
    options.forwardOnly = forwardOnly;
    options.verbose = verbose;
    FailureOr<func::FuncOp> program = findProgram(getOperation());
    if (failed(program))
      return signalPassFailure();
    FailureOr<ProgramRoles> found = findRoles(*program, options);
    if (failed(found) || failed(readShardings(*program, *found, mesh)) ||
        failed(Binder(getOperation(), *program, *found, options).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
