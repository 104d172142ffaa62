//===- FormKernels.cpp - group nodes into kernels -------------------------===//

#include "KernelGroups.h"
#include "LooseOps.h"
#include "NodeSizes.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Transforms/Kernels/KernelValues.h"

#include "dialects/Zero/EvaluationAttrs.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FORMKERNELS
#include "include/zero/Transforms/Kernels/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class KernelFormer {
public:
  KernelFormer(ModuleOp module, func::FuncOp step) : module(module), step(step) {
    for (auto symbol : module.getOps<SymbolOpInterface>())
      symbols.insert(symbol.getName());
  }

  LogicalResult run();

private:
  LogicalResult lowerInStep(onnx::NodeOp node);
  func::FuncOp createKernel(Location loc, StringRef what);
  LogicalResult formLooseKernel(Operation *op);
  LogicalResult lowerGroup(const KernelGroup &group);

  ModuleOp module;
  func::FuncOp step;
  llvm::StringSet<> symbols;
  unsigned numKernels = 0;
};

} // namespace

/// Says of `op`, which `node` became, when it runs and whether it recomputes what forward did.
static void describe(Operation *op, onnx::NodeOp node) {
  setSchedule(op, scheduleOf(node));
  if (Attribute run = node->getAttr(kRecomputeAttr))
    op->setAttr(kRecomputeAttr, run);
}

/// Replaces a view or an exchange between ranks, which need no kernel, by ops of the step.
LogicalResult KernelFormer::lowerInStep(onnx::NodeOp node) {
  OpBuilder builder(node);
  ops::Lowered lowered;
  Operation *before = node->getPrevNode();
  if (failed(ops::lower(node, node.getInputs(), builder, lowered)))
    return failure();
  for (Operation *op = before ? before->getNextNode() : &node->getBlock()->front(); op != node;
       op = op->getNextNode())
    describe(op, node);
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

/// The values that `group` reads from outside, in order of first use. Constants are cloned into the
/// kernel instead.
static llvm::SetVector<Value> externalInputs(const KernelGroup &group, OpBuilder &builder,
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

/// The operands that `node` has.
static SmallVector<Value> operandsOf(onnx::NodeOp node) {
  return llvm::filter_to_vector(node.getInputs(),
                                [](Value input) { return !isa<NoneType>(input.getType()); });
}

/// Whether `inputs` of a kernel of `node` alone are its operands, each once: none of them is a
/// constant inside.
static bool takesOperands(onnx::NodeOp node, ArrayRef<Value> inputs) {
  const SmallVector<Value> operands = operandsOf(node);
  return llvm::equal(llvm::SetVector<Value>(operands.begin(), operands.end()), inputs);
}

/// Adds arguments and inputs for operands that are given again: a call takes each operand.
static void repeatInputs(onnx::NodeOp node, Block &body, SmallVector<Value> &inputs) {
  for (auto [index, operand] : llvm::enumerate(operandsOf(node))) {
    if (index < inputs.size() && inputs[index] == operand)
      continue;
    body.insertArgument(unsigned(index), onnx::signless(tensorType(operand)), operand.getLoc());
    inputs.insert(inputs.begin() + ptrdiff_t(index), operand);
  }
}

/// Makes `kernel` of `group` the `call` that its node offers, if there is one. False, with a
/// remark, if it has to be compiled.
static bool takeCall(func::FuncOp kernel, const KernelGroup &group, Attribute call,
                     SmallVector<Value> &inputs) {
  onnx::NodeOp root = group.nodes.back();
  if (!call)
    return false;
  if (group.nodes.size() == 1 && takesOperands(root, inputs)) {
    kernel->setAttr(kCallAttr, call);
    repeatInputs(root, kernel.front(), inputs);
    return true;
  }
  remark::missed(root.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
      << root.describe() + " is compiled: an operand is a constant of the model";
  return false;
}

/// Lets the result of `kernel`, which takes `inputs`, have the buffer that `group` says.
static void markInPlace(func::FuncOp kernel, const KernelGroup &group, ArrayRef<Value> inputs) {
  if (!group.inPlace)
    return;
  onnx::NodeOp root = group.nodes.back();
  const auto *overwritten = llvm::find(inputs, root.getInputs()[*group.inPlace]);
  kernel.setArgAttr(overwritten - inputs.begin(), kInplaceAttr,
                    Builder(kernel.getContext()).getI64IntegerAttr(0));
}

/// An empty kernel that computes `what`.
func::FuncOp KernelFormer::createKernel(Location loc, StringRef what) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name;
  do
    name = "k" + std::to_string(numKernels++) + "_" + what.lower();
  while (!symbols.insert(name).second); // the model's names are anything
  auto kernel = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, builder.getUnitAttr());
  return kernel;
}

LogicalResult KernelFormer::lowerGroup(const KernelGroup &group) {
  onnx::NodeOp root = group.nodes.back(), main = group.main();
  func::FuncOp kernel = createKernel(main.getLoc(), main.getOpType());
  Block *body = kernel.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(body);

  KernelValues inside(builder);
  SmallVector<Value> inputs = externalInputs(group, builder, inside).takeVector();
  for (Value input : inputs)
    inside.map(input, body->addArgument(onnx::signless(tensorType(input)), input.getLoc()));
  SmallVector<ops::RangeCheck> checks;
  SmallVector<bool> ofTraining; // as `checks`
  Attribute call;
  for (onnx::NodeOp node : group.nodes) {
    ops::Lowered lowered;
    if (failed(inside.lower(node, lowered)))
      return failure();
    llvm::append_range(checks, lowered.checks);
    ofTraining.resize(checks.size(), node.is(own::CheckPositive));
    call = lowered.call;
  }
  const bool isCall = takeCall(kernel, group, call, inputs);

  // Only results with users are returned, but a library call has all of them.
  SmallVector<Value> returned;
  SmallVector<Value> kept = isCall ? SmallVector<Value>(root.getOutputs()) : group.readOutside();
  SmallVector<Type> types(ValueRange(kept).getTypes());
  for (Value result : kept)
    returned.push_back(inside.stored(result));
  for (const ops::RangeCheck &check : checks) {
    returned.push_back(check.pair);
    types.push_back(check.pair.getType());
  }
  func::ReturnOp::create(builder, root.getLoc(), returned);
  inside.readNarrow();
  kernel.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), TypeRange(returned)));
  markInPlace(kernel, group, inputs);

  OpBuilder atRoot(root);
  auto launch = LaunchOp::create(atRoot, root.getLoc(), types,
                                 FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs);
  auto nameOp = [&](Operation *op) {
    op->setAttr(kNameAttr, main.getNodeAttr());
    describe(op, root);
  };
  nameOp(launch);
  for (auto [check, trains, pair] :
       llvm::zip(checks, ofTraining, launch.getResults().drop_front(kept.size()))) {
    auto op = CheckOp::create(atRoot, root.getLoc(), pair, check.lower, check.upper, check.message);
    nameOp(op);
    if (trains)
      op->setAttr(kTrainingOnlyAttr, atRoot.getUnitAttr());
  }
  for (auto [result, value] : llvm::zip(kept, launch.getResults()))
    result.replaceAllUsesWith(value);
  for (onnx::NodeOp node : llvm::reverse(group.nodes))
    node.erase();
  return success();
}

/// Launches a kernel that consists of `op`, which is no node.
LogicalResult KernelFormer::formLooseKernel(Operation *op) {
  SmallVector<Operation *> ops = collectKernel(op);
  FailureOr<SmallVector<Value>> inputs = readByKernel(ops);
  if (failed(inputs))
    return failure();
  func::FuncOp kernel = createKernel(op->getLoc(), op->getName().stripDialect());
  Block *body = kernel.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  IRMapping inside;
  for (Value input : *inputs)
    inside.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *member : ops)
    setSchedule(builder.clone(*member, inside), Schedule());
  auto results =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return inside.lookup(result); });
  func::ReturnOp::create(builder, op->getLoc(), results);
  kernel.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), TypeRange(results)));

  OpBuilder atOp(op);
  auto launch = LaunchOp::create(atOp, op->getLoc(), op->getResultTypes(),
                                 FlatSymbolRefAttr::get(kernel.getSymNameAttr()), *inputs);
  launch->setAttr(kNameAttr, atOp.getStringAttr(op->getName().getStringRef()));
  setSchedule(launch, scheduleOf(op));
  op->replaceAllUsesWith(launch.getResults());
  op->erase();
  return success();
}

LogicalResult KernelFormer::run() {
  llvm::DenseMap<Operation *, KernelGroup> groups = groupNodes(step);
  separateDestinations(step);
  llvm::DenseSet<Operation *> members, loose;
  for (Operation &op : step.getBody().front())
    if (isLooseOp(op) && !isPartOfKernel(op))
      loose.insert(&op);
  for (auto &[root, group] : groups)
    for (onnx::NodeOp node : group.nodes)
      members.insert(node);
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node) {
      if (loose.contains(&op) && failed(formLooseKernel(&op)))
        return failure();
      continue;
    }
    if (!members.contains(node)) {
      if (failed(lowerInStep(node)))
        return failure();
    } else if (auto it = groups.find(node); it != groups.end()) {
      // A group's last node comes after the others, which vanish with it.
      if (failed(lowerGroup(it->second)))
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
