//===- RecogniseAttention.cpp - chains of primitives to Attention ---------===//
//
// From each Softmax upwards: what is added to its operand, or selected into it,
// are masks; a number it is scaled by; and the product of queries and keys.
// Downwards: the guard that exporters put behind it, Where(IsNaN(p), 0, p), and
// the product with the values. Where only the part around the softmax is found,
// that becomes a zero::MaskedSoftmax.
//
//===----------------------------------------------------------------------===//

#include "AttentionChain.h"
#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/OpTable.h"

#include "dialects/Zero/Zero.h"

#include "mlir/IR/Remarks.h"

#include <limits>

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISEATTENTION
#include "include/zero/Transforms/Recognise/Passes.h.inc"

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Expresses with attributes the mask of a zero::Attention that the operator expresses with values.
static void refineMask(onnx::NodeOp node, MaskValues &values) {
  ArrayRef<int64_t> query = node.inputType(0).getShape();
  AttentionMasks masks(values, node.inputType(0).clone({query[0], query[1], query[2],
                                                        node.inputType(1).getDimSize(2)}));
  double fill = node.getFloat("fill", -kInfinity);
  if (node.getInt("causal", 0))
    masks.bound({node.getInt("offset", 0)}, fill);
  if (node.hasInput(4)) {
    Value mask = node.getInputs()[4];
    if (isa<FloatType>(node.inputType(4).getElementType()))
      masks.add(mask);
    else
      masks.show(mask, /*negated=*/false, fill);
  }
  remarkFound(node, "attention (" + masks.describe() + ")");
  if (!node.hasInput(4) || !masks.isExpressible())
    return;
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  NamedAttrList attrs(node.getAttrs());
  for (NamedAttribute attr : masks.attributes(builder))
    attrs.set(attr.getName(), attr.getValue());
  SmallVector<Value> operands(node.getInputs().take_front(3));
  llvm::append_range(operands, masks.operands(builder));
  node->setOperands(operands);
  node.setAttrsAttr(attrs.getDictionary(node.getContext()));
}

/// Tells the log that attention at `node` is more than one kernel.
static void remarkApart(onnx::NodeOp node, const Twine &reason) {
  remark::missed(node.getLoc(), remark::RemarkOpts::name("apart").category("attention"))
      << ("attention at node '" + node.getNode() + "' is not a single kernel: " + reason).str();
}

/// An option of the operator that zero::Attention cannot express.
static StringRef unusualOption(onnx::NodeOp node) {
  if (node.getFloat("softcap", 0) > 0)
    return "it has a softcap";
  return node.getInt("softmax_precision", 0) ? "it has a softmax_precision"
                                             : "its qk_matmul_output is read";
}

/// How messages name a mask.
static std::string nameOf(Value mask) {
  if (auto node = mask.getDefiningOp<onnx::NodeOp>())
    return ("of node '" + node.getNode() + "'").str();
  if (auto read = mask.getDefiningOp<ReadOp>())
    return ("'" + read.getSymbol() + "'").str();
  auto argument = dyn_cast<BlockArgument>(mask);
  auto step = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto name = step ? step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kBindingAttr)
                   : StringAttr();
  return name ? ("'" + name.getValue() + "'").str() : "of a constant";
}

/// Tells the log which mask of queries by keys `attention` reads from memory.
static void remarkMask(onnx::NodeOp attention) {
  if (!attention.hasInput(4))
    return;
  RankedTensorType type = attention.inputType(4);
  int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  std::string text;
  llvm::raw_string_ostream(text) << "attention at node '" << attention.getNode()
                                 << "' reads the mask " << nameOf(attention.getInputs()[4]) << ", "
                                 << type << ", from memory: " << bytes << " bytes";
  remark::analysis(attention.getLoc(), remark::RemarkOpts::name("mask").category("attention"))
      << text;
}

/// Rewrites the operator to zero::Attention, where its options allow it.
static LogicalResult openOperator(onnx::NodeOp node, MaskValues &values) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || !def->expand)
    return success();
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  Operation *before = node->getPrevNode();
  SmallVector<Value> results;
  if (failed(def->expand(node, builder, results)))
    return failure();
  node.replaceAllUsesWith(results);
  Operation *op = before ? before->getNextNode() : &node->getBlock()->front();
  while (op != node && !isNode(op, own::Attention))
    op = op->getNextNode();
  if (op != node)
    refineMask(cast<onnx::NodeOp>(op), values);
  else
    remarkApart(node, unusualOption(node));
  node.erase();
  return success();
}

namespace {
struct RecogniseAttention : impl::RecogniseAttentionBase<RecogniseAttention> {
  using RecogniseAttentionBase::RecogniseAttentionBase;

  void runOnOperation() override {
    MaskValues values(getOperation(), dataRoot);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (auto node : llvm::to_vector(function.getOps<onnx::NodeOp>()))
        if (node.is(op::Attention) && failed(openOperator(node, values)))
          return signalPassFailure();
      for (auto node : llvm::to_vector(function.getOps<onnx::NodeOp>()))
        if (nodeOf(node.getResult(0), op::Softmax))
          AttentionChain(node, values).recognise();
      eraseUnused(function);
      for (auto node : function.getOps<onnx::NodeOp>())
        if (isNode(node, own::Attention))
          remarkMask(node);
    }
    eraseConstants();
  }

  /// Masks that became attributes need no memory.
  void eraseConstants() {
    llvm::DenseSet<StringAttr> read;
    getOperation().walk([&](ReadOp op) {
      if (op.use_empty())
        op.erase();
      else
        read.insert(op.getSymbolAttr().getAttr());
    });
    for (auto state : llvm::make_early_inc_range(getOperation().getOps<StateOp>()))
      if (state.getRole() == Role::Constant && !read.contains(state.getSymNameAttr()))
        state.erase();
  }
};
} // namespace

} // namespace zero
