//===- PlanAdapters.cpp - find the products that get an adapter -----------===//

#include "AdapterTargets.h"
#include "dialects/Zero/AdapterAttrs.h"
#include "dialects/Zero/Part.h"
#include "runtime/support/adapter_names.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Import/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PLANADAPTERS
#include "include/zero/Transforms/Import/Passes.h.inc"

/// The pattern of all matrices of products but those of output layers. PEFT has the same word.
static constexpr StringLiteral kAllLinear = "all-linear";

namespace {
/// The nodes that read a parameter, through others that only move its elements.
struct Readers {
  SmallVector<OpOperand *> products; ///< of matrices, of which the parameter is one
  onnx::NodeOp table;                ///< takes rows of it
  onnx::NodeOp other;

  void add(Value value);
};

/// A parameter and the name of its module.
struct Target {
  ParameterOp parameter;
  StringRef module;
};
} // namespace

static bool movesElements(onnx::NodeOp node) {
  return ops::isView(node) || ops::isIdentity(node) ||
         ops::computes(node, {ops::Function::Permute, ops::Function::Convert});
}

static bool isMatrixOfProduct(OpOperand &use) {
  auto node = cast<onnx::NodeOp>(use.getOwner());
  return ops::isProduct(node) && use.getOperandNumber() < 2 &&
         node.inputType(use.getOperandNumber()).getRank() == 2;
}

void Readers::add(Value value) {
  for (OpOperand &use : value.getUses()) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    if (!node)
      continue;
    if (isMatrixOfProduct(use))
      products.push_back(&use);
    else if (ops::readsTable(use))
      table = node;
    else if (movesElements(node) && use.getOperandNumber() == 0)
      add(node.getResult(0));
    else
      other = node;
  }
}

namespace {
class Planner {
public:
  Planner(ModuleOp module, func::FuncOp step) : module(module), step(step) {
    for (auto read : step.getOps<ReadOp>())
      readers[read.getSymbol()].add(read.getResult());
    for (auto parameter : module.getOps<ParameterOp>())
      llvm::append_range(names, modelNames(parameter));
  }

  LogicalResult find(StringRef text);
  void apply();

private:
  LogicalResult check(const TargetPattern &pattern, Target target, bool &isTaken);
  LogicalResult checkNew(StringRef adapted);
  LogicalResult findAll();
  LogicalResult failUnmatched(const TargetPattern &pattern);
  InFlightDiagnostic refuse(const TargetPattern &pattern, Target target);

  ModuleOp module;
  func::FuncOp step;
  llvm::StringMap<Readers> readers;
  SmallVector<StringRef> names; ///< of all parameters
  SmallVector<Target> targets;
};
} // namespace

InFlightDiagnostic Planner::refuse(const TargetPattern &pattern, Target target) {
  return emitError(module.getLoc()) << "lora pattern '" << pattern.getText() << "' matches '"
                                    << target.parameter.getSymName() << "', ";
}

/// Fails if the model has an adapter of `adapted`.
LogicalResult Planner::checkNew(StringRef adapted) {
  const std::string prefix = (adapted + rt::kAdapterAny).str();
  for (StringRef name : names)
    if (name.starts_with(prefix) || name.starts_with(rt::adapterName(adapted, rt::kAdapterAny)))
      return emitError(module.getLoc())
             << "the model already has an adapter of '" << adapted << "', '" << name
             << "': train it without --lora, or export the model without adapters";
  return success();
}

/// The rows and columns of the matrix that a product reads.
static ArrayRef<int64_t> shapeOf(OpOperand *use) {
  return cast<RankedTensorType>(use->get().getType()).getShape();
}

/// Whether the products that read `parameter` are those of one module.
static bool hasOneModule(ParameterOp parameter, const Readers &found) {
  return llvm::all_equal(llvm::map_range(found.products, shapeOf)) &&
         (found.products.size() == 1 || modelNames(parameter).size() == 1);
}

LogicalResult Planner::check(const TargetPattern &pattern, Target target, bool &isTaken) {
  ParameterOp parameter = target.parameter;
  Readers &found = readers[parameter.getSymName()];
  isTaken = false;
  if (failed(checkNew(target.module)))
    return failure();
  if (onnx::NodeOp table = found.table)
    return refuse(pattern, target) << "an embedding: " << table.describe()
                                   << " looks up its rows; expected matrices of products only";
  if (found.products.empty()) {
    // A glob is about all modules of a kind and may well match others.
    if (pattern.isGlob() || parameter.getTensorType().getRank() < 2 || !found.other)
      return success();
    return refuse(pattern, target) << "which " << found.other.describe()
                                   << " reads; expected the matrix of a MatMul or Gemm";
  }
  if (!hasOneModule(parameter, found))
    return refuse(pattern, target) << "which is the matrix of " << found.products.size()
                                   << " products, and one adapter would be that of several modules";
  isTaken = true;
  return success();
}

LogicalResult Planner::failUnmatched(const TargetPattern &pattern) {
  SmallVector<StringRef> modules;
  for (auto parameter : module.getOps<ParameterOp>())
    if (!readers[parameter.getSymName()].products.empty())
      modules.push_back(moduleOf(modelName(parameter)));
  InFlightDiagnostic error = emitError(module.getLoc())
                             << "lora pattern '" << pattern.getText()
                             << "' matches no parameter that is the matrix of a product";
  if (modules.empty())
    error.attachNote() << "the model has no such parameter";
  else
    error.attachNote() << "the nearest names are "
                       << llvm::join(nearestTargets(pattern, modules), ", ");
  return error;
}

/// The nodes of `step` whose results a product needs, through any nodes.
static llvm::DenseSet<Operation *> nodesBeforeProducts(func::FuncOp step) {
  llvm::DenseSet<Operation *> before;
  for (Operation &op : llvm::reverse(step.getBody().front()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          auto node = dyn_cast<onnx::NodeOp>(user);
          return before.contains(user) || (node && ops::isProduct(node));
        }))
      before.insert(&op);
  return before;
}

/// Takes each matrix of products that can have an adapter and is not that of an output layer, after
/// which no product follows.
LogicalResult Planner::findAll() {
  const llvm::DenseSet<Operation *> before = nodesBeforeProducts(step);
  for (auto parameter : module.getOps<ParameterOp>()) {
    const Readers &found = readers[parameter.getSymName()];
    const bool isInner = llvm::any_of(
        found.products, [&](OpOperand *use) { return before.contains(use->getOwner()); });
    if (!isInner || found.table || !hasOneModule(parameter, found))
      continue;
    const Target target{parameter, moduleOf(modelName(parameter))};
    if (failed(checkNew(target.module)))
      return failure();
    targets.push_back(target);
  }
  if (targets.empty())
    return emitError(module.getLoc())
           << "lora pattern '" << kAllLinear
           << "': the model has no product of a matrix that another product follows";
  return success();
}

LogicalResult Planner::find(StringRef text) {
  if (text == kAllLinear)
    return findAll();
  FailureOr<TargetPattern> pattern = TargetPattern::create(module, text);
  if (failed(pattern))
    return failure();
  bool isUsed = false;
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto tensors = modelNames(parameter);
    const auto *name = llvm::find_if(tensors, [&](StringRef n) { return pattern->match(n); });
    if (name == tensors.end())
      continue;
    Target target{parameter, moduleOf(*name)};
    bool isTaken;
    if (failed(check(*pattern, target, isTaken)))
      return failure();
    if (!isTaken)
      continue;
    isUsed = true;
    targets.push_back(target);
  }
  return isUsed ? success() : failUnmatched(*pattern);
}

void Planner::apply() {
  Builder builder(module.getContext());
  for (Target target : targets)
    for (OpOperand *use : readers[target.parameter.getSymName()].products) {
      use->getOwner()->setAttr(kAdaptedModuleAttr, builder.getStringAttr(target.module));
      use->getOwner()->setAttr(kAdaptedOperandAttr,
                               builder.getI64IntegerAttr(use->getOperandNumber()));
    }
}

namespace {
struct PlanAdapters : impl::PlanAdaptersBase<PlanAdapters> {
  using PlanAdaptersBase::PlanAdaptersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    if (module->hasAttr(kWholeStepAttr)) {
      emitError(module.getLoc()) << "--lora: expected a model without an update; this one brings "
                                    "its own backward pass, which knows no adapters";
      return signalPassFailure();
    }
    Planner planner(module, *step);
    for (const std::string &pattern : targets)
      if (failed(planner.find(pattern)))
        return signalPassFailure();
    planner.apply();
  }
};
} // namespace

} // namespace zero
