//===- WidenFloats.cpp - convert 16-bit models to f32 ---------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Transforms/Import/Passes.h"
#include "zero/Transforms/Precision/HalfFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_WIDENFLOATS
#include "include/zero/Transforms/Import/Passes.h.inc"

/// `type` with f32 elements if it is a tensor of 16-bit floats, else null.
static RankedTensorType widened(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isHalfFloat(tensor))
    return {};
  return tensor.clone(Float32Type::get(type.getContext()));
}

/// `values` as f32, exactly; null if they are not 16-bit floats.
static DenseElementsAttr widened(DenseElementsAttr values) {
  if (!values || !widened(values.getType()))
    return {};
  return convertElements(values, Float32Type::get(values.getContext()), /*exact=*/false);
}

/// Whether `op` computes nothing itself or only as its types say.
static bool followsTypes(Operation &op) {
  return isa<onnx::NodeOp, onnx::NoneOp, ReadOp, WriteOp, arith::ConstantOp, func::ReturnOp>(op);
}

namespace {
class Widener {
public:
  Widener(ModuleOp module, func::FuncOp step) : module(module), step(step) {}

  void run() {
    if (!canWiden())
      return;
    for (auto state : module.getOps<StateOp>())
      widenState(state);
    Block &body = step.getBody().front();
    SmallVector<onnx::NodeOp> casts = findCasts();
    for (BlockArgument argument : body.getArguments())
      widen(argument);
    for (Operation &op : body)
      widenOp(op);
    unsigned dropped = llvm::count_if(casts, dropIfIdle);
    auto operands = body.getTerminator()->getOperandTypes();
    step.setFunctionType(FunctionType::get(step.getContext(), body.getArgumentTypes(), operands));
    if (states + values > 0)
      remark::passed(step.getLoc(), remark::RemarkOpts::name("widened").category("precision"))
          << llvm::formatv("the model's 16-bit floats are trained as f32: {0} of its tensors are "
                           "converted when read, {1} casts dropped",
                           states, dropped)
                 .str();
  }

private:
  bool canWiden() {
    auto isNarrow = [](Type type) { return static_cast<bool>(widened(type)); };
    return llvm::all_of(step.getBody().front(), [&](Operation &op) {
      return followsTypes(op) || (llvm::none_of(op.getOperandTypes(), isNarrow) &&
                                  llvm::none_of(op.getResultTypes(), isNarrow));
    });
  }

  void widenState(StateOp state) {
    RankedTensorType type = widened(state.getTensorType());
    if (!type)
      return;
    if (DataAttr data = state.getDataAttr(); data && !data.getStored())
      state.setDataAttr(DataAttr::get(state.getContext(), data.getFile(), data.getOffset(),
                                      data.getBytes(), state.getTensorType().getElementType()));
    state.setType(type);
    ++states;
  }

  void widen(Value value) {
    if (RankedTensorType type = widened(value.getType())) {
      value.setType(type);
      ++values;
    }
  }

  void widenOp(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (DenseElementsAttr wide = widened(dyn_cast<DenseElementsAttr>(constant.getValue())))
        constant.setValueAttr(wide);
    for (Value result : op.getResults())
      widen(result);
    if (auto node = dyn_cast<onnx::NodeOp>(op))
      widenAttributes(node);
  }

  /// Attributes that hold an element type or a value.
  void widenAttributes(onnx::NodeOp node) {
    constexpr int64_t kFloat = 1, kFloat16 = 10, kBFloat16 = 16;
    Builder builder(node.getContext());
    NamedAttrList attributes(node.getAttrs());
    for (NamedAttribute attribute : node.getAttrs()) {
      if (DenseElementsAttr wide = widened(dyn_cast<DenseElementsAttr>(attribute.getValue())))
        attributes.set(attribute.getName(), wide);
      auto number = dyn_cast<IntegerAttr>(attribute.getValue());
      if (number && llvm::is_contained({kFloat16, kBFloat16}, number.getInt()) &&
          llvm::is_contained({"to", "dtype", "stash_type", "softmax_precision"},
                             attribute.getName().strref()))
        attributes.set(attribute.getName(), builder.getI64IntegerAttr(kFloat));
    }
    node.setAttrsAttr(attributes.getDictionary(node.getContext()));
  }

  /// The casts that change a type.
  SmallVector<onnx::NodeOp> findCasts() {
    SmallVector<onnx::NodeOp> casts;
    for (auto node : step.getOps<onnx::NodeOp>())
      if (ops::computes(node, ops::Function::Convert) &&
          node.getInputs().front().getType() != node.getOutputs().front().getType())
        casts.push_back(node);
    return casts;
  }

  static bool dropIfIdle(onnx::NodeOp cast) {
    Value input = cast.getInputs().front();
    if (input.getType() != cast.getOutputs().front().getType())
      return false;
    cast.getOutputs().front().replaceAllUsesWith(input);
    cast.erase();
    return true;
  }

  ModuleOp module;
  func::FuncOp step;
  unsigned states = 0, values = 0;
};

struct WidenFloats : impl::WidenFloatsBase<WidenFloats> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (getOperation()->hasAttr(kOwnTypesAttr))
      return;
    Widener(getOperation(), *step).run();
  }
};
} // namespace
} // namespace zero
