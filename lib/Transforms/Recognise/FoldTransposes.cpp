//===- FoldTransposes.cpp - fold transposes into products -----------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_FOLDTRANSPOSES
#include "include/zero/Transforms/Recognise/Passes.h.inc"

static Value firstInput(onnx::NodeOp node) { return node.getInputs().front(); }

/// Whether `use` can take a transposed operand as a flag instead.
static bool takesFlag(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!node || use.getOperandNumber() > 1)
    return false;
  // A vector operand of MatMul gives the other one no second dimension to swap with.
  return node.is(op::MatMul) ? node.inputType(0).getRank() > 1 && node.inputType(1).getRank() > 1
                             : node.isAnyOf({op::Gemm, own::Contract});
}

static bool onlyProductsRead(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), takesFlag);
}

/// Whether scaling by `node`'s other operand and transposing commute: it is one
/// element and adds no dimension.
static Value scaledOperand(onnx::NodeOp node) {
  for (unsigned side : {0, 1}) {
    RankedTensorType other = node.inputType(1 - side);
    bool divides = node.is(op::Div) && side == 1;
    if (!divides && other.getNumElements() == 1 && node.inputType(side) == node.outputType(0))
      return node.getInputs()[side];
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct NodePattern : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Replaces `node` by one of operator `type` with the first operand `input`.
  onnx::NodeOp replace(PatternRewriter &rewriter, onnx::NodeOp node, onnx::Operator type,
                       ValueRange inputs, DictionaryAttr attrs) const {
    return rewriter.replaceOpWithNewOp<onnx::NodeOp>(
        node, node.getResultTypes(), type.type, inputs, attrs, type.domain,
        type.domain.empty() ? node.getOpset() : 1, node.getNode());
  }
};

/// MatMul, Gemm or Contract of a transposed matrix: flip the operand's flag.
struct TransposeIntoProduct : NodePattern {
  using NodePattern::NodePattern;

  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    for (unsigned side : {0, 1}) {
      if (side >= node->getNumOperands() || !takesFlag(node->getOpOperand(side)))
        continue;
      onnx::NodeOp transpose = nodeOf(node.getInputs()[side], op::Transpose);
      if (!swapsLastTwo(transpose))
        continue;
      SmallVector<Value> inputs(node.getInputs());
      inputs[side] = firstInput(transpose);
      StringRef flag = side == 0 ? "transA" : "transB";
      NamedAttrList attrs(node.getAttrs());
      attrs.set(flag, rewriter.getI64IntegerAttr(node.getInt(flag, 0) ? 0 : 1));
      replace(rewriter, node, node.is(op::Gemm) ? op::Gemm : own::Contract, inputs,
              attrs.getDictionary(getContext()));
      return success();
    }
    return failure();
  }
};

/// Moves a scale from between a transpose and its product to before the transpose. The result is
/// bitwise identical, and the transpose is then next to the product.
struct ScaleBeforeTranspose : NodePattern {
  using NodePattern::NodePattern;

  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    Value scaled = node.isAnyOf({op::Mul, op::Div}) ? scaledOperand(node) : Value();
    onnx::NodeOp transpose = scaled ? nodeOf(scaled, op::Transpose) : nullptr;
    if (!swapsLastTwo(transpose) || !scaled.hasOneUse() || !onlyProductsRead(node.getResult(0)))
      return failure();
    SmallVector<Value> inputs(node.getInputs());
    std::replace(inputs.begin(), inputs.end(), scaled, firstInput(transpose));
    auto before = onnx::NodeOp::create(rewriter, node.getLoc(), transpose.inputType(0),
                                       node.getOpType(), inputs, node.getAttrs(), node.getDomain(),
                                       node.getOpset(), node.getNode());
    replace(rewriter, node, op::Transpose, before.getResult(0), transpose.getAttrs());
    return success();
  }
};

/// Exporters transpose matrices of 4-D tensors as 3-D ones: with the batch
/// dimensions merged before and split after. Without that it is one swap.
struct SwapWithoutReshapes : NodePattern {
  using NodePattern::NodePattern;

  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!nodeOf(node.getResult(0), op::Reshape))
      return failure();
    onnx::NodeOp transpose = nodeOf(firstInput(node), op::Transpose);
    if (!swapsLastTwo(transpose))
      return failure();
    onnx::NodeOp merge = nodeOf(firstInput(transpose), op::Reshape);
    if (!merge)
      return failure();
    // The shape that the result would have before the swap.
    SmallVector<int64_t> shape(node.outputType(0).getShape());
    if (shape.size() < 2)
      return failure();
    std::swap(shape.back(), shape[shape.size() - 2]);
    ArrayRef<int64_t> matrix = ArrayRef(shape).take_back(2);
    if (merge.inputType(0).getRank() < 2 || merge.inputType(0).getShape().take_back(2) != matrix ||
        merge.outputType(0).getShape().take_back(2) != matrix)
      return failure();
    NodeBuilder builder(rewriter, node.getLoc(), transpose.getNode());
    rewriter.replaceOp(node, builder.transposeLast(builder.reshape(firstInput(merge), shape)));
    return success();
  }
};

/// A Transpose of a Transpose is one, unless products take the outer one.
struct ComposeTransposes : NodePattern {
  using NodePattern::NodePattern;

  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    onnx::NodeOp outer = nodeOf(node.getResult(0), op::Transpose);
    onnx::NodeOp inner = outer ? nodeOf(firstInput(outer), op::Transpose) : nullptr;
    if (!inner || (swapsLastTwo(outer) && onlyProductsRead(outer.getResult(0))))
      return failure();
    auto permutation = applyPermutation(permutationOf(inner), permutationOf(outer));
    if (isIdentityPermutation(permutation)) {
      rewriter.replaceOp(node, firstInput(inner));
      return success();
    }
    auto attrs = rewriter.getDictionaryAttr(
        rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr(permutation)));
    replace(rewriter, node, op::Transpose, firstInput(inner), attrs);
    return success();
  }
};

/// Nodes that change nothing, and Reshapes of Reshapes.
struct FoldViews : NodePattern {
  using NodePattern::NodePattern;

  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (Value value = passedOn(node)) {
      rewriter.replaceAllUsesWith(node.getResult(0), value);
      rewriter.eraseOp(node);
      return success();
    }
    bool reshapes = nodeOf(node.getResult(0), op::Reshape) != nullptr;
    onnx::NodeOp inner = reshapes ? nodeOf(firstInput(node), op::Reshape) : nullptr;
    if (!inner)
      return failure();
    // Fresh, since a 0 in the outer shape operand refers to the inner's result.
    NodeBuilder builder(rewriter, node.getLoc(), node.getNode());
    rewriter.replaceOp(node, builder.reshape(firstInput(inner), node.outputType(0).getShape()));
    return success();
  }
};

struct FoldTransposes : impl::FoldTransposesBase<FoldTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldViews>(&getContext(), /*benefit=*/1);
    patterns
        .add<ComposeTransposes, SwapWithoutReshapes, ScaleBeforeTranspose, TransposeIntoProduct>(
            &getContext(), /*benefit=*/2);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace

} // namespace zero
