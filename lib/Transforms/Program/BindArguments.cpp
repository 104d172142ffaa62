//===- BindArguments.cpp - a function as a step ---------------------------===//

#include "Roles.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Findings.h"
#include "zero/Options/Carry.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
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
  StateOp createState(const ProgramArgument &argument, RankedTensorType type, bool isZero);
  void writeResults();
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
StateOp Binder::createState(const ProgramArgument &argument, RankedTensorType type, bool isZero) {
  StringRef symbol = symbolOf(argument.name);
  FloatAttr splat = isZero ? builder.getF64FloatAttr(0) : FloatAttr();
  auto state = StateOp::create(builder, program.getLoc(), Role::Constant, symbol,
                               FlatSymbolRefAttr(), type, DataAttr(), splat, !isZero);
  if (symbol != argument.name)
    state->setAttr(kAliasesAttr, builder.getStrArrayAttr(StringRef(argument.name)));
  // The selection of parameters does not have to guess.
  if (isa<FloatType>(type.getElementType()) && argument.role != ArgumentRole::Carried)
    state->setAttr(
        kExportedAsAttr,
        builder.getStringAttr(argument.role == ArgumentRole::Parameter ? "parameter" : "buffer"));
  return state;
}

/// Replaces arguments that are state by reads of symbols.
LogicalResult Binder::declareState() {
  OpBuilder reads = OpBuilder::atBlockBegin(&body);
  for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
    if (!isState(argument))
      continue;
    auto type = cast<RankedTensorType>(program.getArgumentTypes()[index]);
    std::string error;
    bool isZero = zeros.match(argument.name, error);
    if (!error.empty())
      return program.emitError() << error;
    builder.setInsertionPoint(program);
    StringRef symbol = symbolOf(argument.name);
    bool hasGradient = argument.role == ArgumentRole::Parameter && argument.result;
    if (hasGradient && !options.forwardOnly)
      ParameterOp::create(builder, program.getLoc(), symbol, type, DataAttr(),
                          isZero ? builder.getF64FloatAttr(0) : FloatAttr(), /*frozen=*/false,
                          PlacementAttr(), PlacementAttr(), FlatSymbolRefAttr(), IntegerAttr(),
                          !isZero, RandomAttr());
    else
      createState(argument, type, isZero);
    BlockArgument value = body.getArgument(index);
    if (!value.use_empty())
      value.replaceAllUsesWith(ReadOp::create(reads, value.getLoc(), type, symbol));
  }
  if (std::string error = zeros.checkUsed(); !error.empty())
    return program.emitError() << error;
  return success();
}

/// Gradients and next values become ops of the step; only the loss, or all results of a program
/// that runs forward, are returned.
void Binder::writeResults() {
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (ProgramArgument &argument : roles.arguments) {
    if (!argument.result || options.forwardOnly)
      continue;
    auto symbol = FlatSymbolRefAttr::get(builder.getContext(), symbolOf(argument.name));
    Value value = end->getOperand(*argument.result);
    if (argument.role == ArgumentRole::Carried)
      WriteOp::create(builder, value.getLoc(), symbol, value);
    else
      GradientOp::create(builder, value.getLoc(), value.getType(), symbol, value, ArrayAttr());
  }
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
      inputs.push_back(binding(argument.name));
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
  if (numCarried > 0)
    line = "a whole training step: " + std::to_string(numCarried) +
           " tensors are carried from step to step; ";
  else if (numGradients > 0)
    line = "a joint graph: it returns the gradients of " + std::to_string(numGradients) +
           " parameters; ";
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
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
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
    options.forwardOnly = forwardOnly;
    options.verbose = verbose;
    FailureOr<func::FuncOp> program = findProgram(getOperation());
    if (failed(program))
      return signalPassFailure();
    FailureOr<ProgramRoles> found = findRoles(*program, options);
    if (failed(found) || failed(Binder(getOperation(), *program, *found, options).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
