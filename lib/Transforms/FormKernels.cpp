//===- FormKernels.cpp - groups of nodes become kernels -------------------===//

#include "KernelValues.h"
#include "NodeSizes.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FORMKERNELS
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// Operands of all nodes of a kernel: what comes after is not linear in them.
static constexpr unsigned kMostOperands = 128;

/// Nodes that one kernel computes, in program order; the last is its root.
struct Group {
  SmallVector<onnx::NodeOp> nodes;
};

class KernelFormer {
public:
  KernelFormer(ModuleOp module, func::FuncOp step) : module(module), step(step) {
    for (auto symbol : module.getOps<SymbolOpInterface>())
      symbols.insert(symbol.getName());
  }

  LogicalResult run();

private:
  void assignGroups();
  LogicalResult lowerView(onnx::NodeOp node);
  LogicalResult lowerGroup(Group &group);

  ModuleOp module;
  func::FuncOp step;
  /// The group of each node that is not a view, under its last node.
  llvm::DenseMap<Operation *, Operation *> rootOf;
  llvm::DenseMap<Operation *, Group> groups;
  llvm::StringSet<> symbols;
  unsigned numKernels = 0;
};

} // namespace

/// The one node that uses `node`'s only result, or null.
static onnx::NodeOp singleUser(onnx::NodeOp node) {
  if (node.getNumResults() != 1 || node->use_empty())
    return {};
  Operation *user = *node->user_begin();
  if (!llvm::all_equal(node->getUsers()))
    return {};
  return dyn_cast<onnx::NodeOp>(user);
}

/// Whether `producer` may be computed inside the kernel of its user: element by
/// element, and no element twice.
static bool mayFuse(onnx::NodeOp producer, ops::Kind kind, onnx::NodeOp user, ops::Kind userKind) {
  if (kind != ops::Kind::Elementwise ||
      producer->hasAttr(kPrologueAttr) != user->hasAttr(kPrologueAttr))
    return false;
  if (userKind != ops::Kind::Elementwise && userKind != ops::Kind::Rows)
    return false;
  int64_t elements = producer.outputType(0).getNumElements();
  if (userKind == ops::Kind::Elementwise)
    return elements == user.outputType(0).getNumElements();
  return llvm::any_of(user.getInputs(), [&](Value input) {
    return input == producer.getOutputs()[0] && elements > 1;
  });
}

void KernelFormer::assignGroups() {
  SmallVector<onnx::NodeOp> nodes(step.getBody().front().getOps<onnx::NodeOp>());
  llvm::DenseMap<Operation *, unsigned> operandsOf;
  for (onnx::NodeOp node : llvm::reverse(nodes)) {
    ops::Kind kind = ops::lookup(node)->kind;
    if (kind == ops::Kind::View)
      continue;
    Operation *root = node;
    if (onnx::NodeOp user = singleUser(node))
      if (auto it = rootOf.find(user);
          it != rootOf.end() && mayFuse(node, kind, user, ops::lookup(user)->kind) &&
          operandsOf[it->second] + node->getNumOperands() <= kMostOperands)
        root = it->second;
    rootOf[node] = root;
    operandsOf[root] += node->getNumOperands();
  }
  for (onnx::NodeOp node : nodes)
    if (auto it = rootOf.find(node); it != rootOf.end())
      groups[it->second].nodes.push_back(node);
}

LogicalResult KernelFormer::lowerView(onnx::NodeOp node) {
  OpBuilder builder(node);
  ops::Lowered lowered;
  if (failed(ops::lower(node, node.getInputs(), builder, lowered)))
    return failure();
  for (auto [result, made] : llvm::zip(node.getOutputs(), lowered.results)) {
    // A view of nothing folds to a new tensor, which would be in no kernel.
    auto type = cast<RankedTensorType>(result.getType());
    Value view = type.getNumElements() != 0
                     ? made
                     : arith::ConstantOp::create(builder, node.getLoc(),
                                                 cast<TypedAttr>(builder.getZeroAttr(type)));
    result.replaceAllUsesWith(view);
  }
  node.erase();
  return success();
}

/// A copy of `producer` inside a kernel, where integers are signless.
static Value cloneConstant(Operation *producer, OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(producer->getResult(0).getType());
  DenseElementsAttr elements;
  if (!type || onnx::signless(type) == type ||
      !matchPattern(producer->getResult(0), m_Constant(&elements)))
    return builder.clone(*producer)->getResult(0);
  return arith::ConstantOp::create(builder, producer->getLoc(),
                                   elements.bitcast(onnx::signless(type).getElementType()));
}

/// What `group` reads from outside, in order of first use; constants are cloned
/// into the kernel instead.
static llvm::SetVector<Value> externalInputs(const Group &group, OpBuilder &builder,
                                             KernelValues &inside) {
  llvm::SetVector<Value> inputs;
  llvm::SmallPtrSet<Operation *, 8> members;
  for (onnx::NodeOp node : group.nodes)
    members.insert(node);
  for (onnx::NodeOp node : group.nodes)
    for (Value input : node.getInputs()) {
      Operation *producer = input.getDefiningOp();
      if (isa<NoneType>(input.getType()) || (producer && members.contains(producer)))
        continue;
      if (producer && producer->hasTrait<OpTrait::ConstantLike>()) {
        if (!inside.contains(input))
          inside.map(input, cloneConstant(producer, builder));
        continue;
      }
      inputs.insert(input);
    }
  return inputs;
}

/// Whether a kernel of `node` alone with arguments `inputs` has the call's: each
/// operand that is given once, none of them a constant inside.
static bool takesOperands(onnx::NodeOp node, ArrayRef<Value> inputs) {
  auto given = llvm::make_filter_range(node.getInputs(),
                                       [](Value input) { return !isa<NoneType>(input.getType()); });
  return llvm::equal(given, inputs);
}

LogicalResult KernelFormer::lowerGroup(Group &group) {
  onnx::NodeOp root = group.nodes.back();
  OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
  std::string name;
  do
    name = "k" + std::to_string(numKernels++) + "_" + root.getOpType().lower();
  while (!symbols.insert(name).second); // the model's names are anything
  auto kernel = func::FuncOp::create(atEnd, root.getLoc(), name, atEnd.getFunctionType({}, {}));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, atEnd.getUnitAttr());
  Block *body = kernel.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(body);

  KernelValues inside(builder);
  SmallVector<Value> inputs = externalInputs(group, builder, inside).takeVector();
  for (Value input : inputs)
    inside.map(input, body->addArgument(onnx::signless(tensorType(input)), input.getLoc()));
  SmallVector<ops::RangeCheck> checks;
  DictionaryAttr call;
  for (onnx::NodeOp node : group.nodes) {
    ops::Lowered lowered;
    if (failed(inside.lower(node, lowered)))
      return failure();
    llvm::append_range(checks, lowered.checks);
    call = lowered.call;
  }
  bool isCall = call && group.nodes.size() == 1 && takesOperands(root, inputs);
  if (isCall)
    kernel->setAttr(kCallAttr, call);
  else if (call)
    remark::missed(root.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
        << root.describe() + " is compiled: an operand is a constant of the model, or given twice";

  // Only results that somebody reads are kept, but a call has all of its own.
  SmallVector<Value> kept, returned;
  SmallVector<Type> types;
  for (Value result : root.getOutputs())
    if (isCall || !result.use_empty()) {
      kept.push_back(result);
      types.push_back(result.getType());
      returned.push_back(inside.stored(result));
    }
  for (const ops::RangeCheck &check : checks) {
    returned.push_back(check.pair);
    types.push_back(check.pair.getType());
  }
  func::ReturnOp::create(builder, root.getLoc(), returned);
  inside.readNarrow();
  kernel.setFunctionType(atEnd.getFunctionType(body->getArgumentTypes(), TypeRange(returned)));

  OpBuilder atRoot(root);
  auto launch = LaunchOp::create(atRoot, root.getLoc(), types,
                                 FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs);
  auto describe = [&](Operation *op) {
    op->setAttr(kNameAttr, root.getNodeAttr());
    if (Attribute prologue = root->getAttr(kPrologueAttr))
      op->setAttr(kPrologueAttr, prologue);
  };
  describe(launch);
  for (auto [check, pair] : llvm::zip(checks, launch.getResults().drop_front(kept.size())))
    describe(CheckOp::create(atRoot, root.getLoc(), pair, check.lower, check.upper, check.message));
  for (auto [result, value] : llvm::zip(kept, launch.getResults()))
    result.replaceAllUsesWith(value);
  for (onnx::NodeOp node : llvm::reverse(group.nodes))
    node.erase();
  return success();
}

LogicalResult KernelFormer::run() {
  assignGroups();
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node)
      continue;
    auto root = rootOf.find(node);
    if (root == rootOf.end()) {
      if (failed(lowerView(node)))
        return failure();
    } else if (root->second == node) {
      // A group's last node comes after the others, which vanish with it.
      Group group = std::move(groups[node]);
      if (failed(lowerGroup(group)))
        return failure();
    }
  }
  return success();
}

/// Removes pure ops without users, last first, in one walk.
static void eraseDead(func::FuncOp step) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct FormKernels : zero::impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : step->getBody().getOps<onnx::NodeOp>())
      if (!ops::lookup(node)) {
        node.emitError() << node.describe() << " of opset " << node.getOpset() << " is not known";
        return signalPassFailure();
      }
    eraseDead(*step);
    if (failed(checkNodeSizes(*step)))
      return signalPassFailure();
    if (failed(KernelFormer(getOperation(), *step).run()))
      return signalPassFailure();
    eraseDead(*step);
  }
};
} // namespace
