//===- KernelValues.cpp - the values inside a kernel ----------------------===//

#include "zero/Transforms/Kernels/KernelValues.h"

#include "zero/Transforms/Precision/HalfFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

static bool isNarrow(Value value) { return value && isHalfFloat(value.getType()); }
static bool isFloat(Value value) {
  return value && isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// `type` with f32 in place of 16-bit floats.
static Type widened(Type type) {
  if (!isHalfFloat(type))
    return type;
  return cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext()));
}

/// `value` element by element as floats of type `to`.
static Value converted(OpBuilder &builder, Value value, FloatType to) {
  RankedTensorType type = tensorType(value).clone(to);
  Location loc = value.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), to);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    bool extends = isNarrow(elements[0]);
    Value result = extends ? arith::ExtFOp::create(inner, loc, to, elements[0]).getResult()
                           : arith::TruncFOp::create(inner, loc, to, elements[0]).getResult();
    linalg::YieldOp::create(inner, loc, result);
  };
  return linalg::GenericOp::create(builder, loc, TypeRange(type), value, empty, maps, loops, body)
      .getResult(0);
}

Value KernelValues::wide(Value value) {
  if (!isNarrow(value))
    return value;
  Value &result = extended[value];
  DenseElementsAttr elements;
  FloatType f32 = builder.getF32Type();
  if (!result && matchPattern(value, m_Constant(&elements)))
    result = arith::ConstantOp::create(builder, value.getLoc(),
                                       convertElements(elements, f32, /*exact=*/false));
  else if (!result)
    result = converted(builder, value, f32);
  return result;
}

Value KernelValues::stored(Value result) {
  Value value = values.lookup(result);
  Type to = getElementTypeOrSelf(result), from = getElementTypeOrSelf(value);
  // Integers are signless here.
  if (from == to || !isa<FloatType>(to))
    return value;
  return isHalfFloat(to) ? converted(builder, value, cast<FloatType>(to)) : wide(value);
}

/// Whether `node` moves 16-bit elements only; constants in `inputs` are made such
/// where they can be.
bool KernelValues::mayMove(onnx::NodeOp node, MutableArrayRef<Value> inputs) {
  auto moved = llvm::find_if(inputs, [](Value input) { return isNarrow(input); });
  if (moved == inputs.end())
    return false;
  auto type = cast<FloatType>(getElementTypeOrSelf(*moved));
  if (!llvm::all_of(node.getOutputs(), [&](Value result) {
        return getElementTypeOrSelf(result) == type || !isFloat(result);
      }))
    return false;
  SmallVector<std::pair<unsigned, DenseElementsAttr>> constants;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (!isFloat(input) || getElementTypeOrSelf(input) == type)
      continue;
    DenseElementsAttr elements;
    if (!matchPattern(input, m_Constant(&elements)))
      return false;
    constants.emplace_back(index, convertElements(elements, type, /*exact=*/true));
    if (!constants.back().second)
      return false;
  }
  for (auto [index, elements] : constants)
    inputs[index] = arith::ConstantOp::create(builder, inputs[index].getLoc(), elements);
  return true;
}

/// Lowers `node` as if its floats had the types of `inputs` and `results`.
LogicalResult KernelValues::lowerAs(onnx::NodeOp node, ArrayRef<Value> inputs, TypeRange results,
                                    ops::Lowered &lowered) {
  SmallVector<Value> operands;
  for (auto [outside, inside] : llvm::zip_equal(node.getInputs(), inputs))
    operands.push_back(isFloat(inside) ? inside : outside);
  auto shadow = onnx::NodeOp::create(builder, node.getLoc(), results, node.getOpTypeAttr(),
                                     operands, node.getAttrs(), node.getDomainAttr(),
                                     node.getOpsetAttr(), node.getNodeAttr());
  LogicalResult done = ops::lower(shadow, inputs, builder, lowered);
  shadow.erase();
  return done;
}

LogicalResult KernelValues::lower(onnx::NodeOp node, ops::Lowered &lowered) {
  SmallVector<Value> inputs;
  for (Value input : node.getInputs())
    inputs.push_back(isa<NoneType>(input.getType()) ? Value() : values.lookup(input));
  SmallVector<Type> results(node.getResultTypes());
  ops::Narrow narrow = ops::lookup(node)->narrow;
  LogicalResult done = failure();
  // A result of another node of the kernel may be wider here than the type of the node.
  if (llvm::none_of(results, isHalfFloat) && llvm::none_of(node.getInputs(), isNarrow)) {
    done = ops::lower(node, inputs, builder, lowered);
  } else if (narrow == ops::Narrow::Own || (narrow == ops::Narrow::Move && mayMove(node, inputs))) {
    done = lowerAs(node, inputs, results, lowered);
  } else {
    for (Value &input : inputs)
      input = wide(input);
    done = lowerAs(node, inputs, llvm::map_to_vector(results, widened), lowered);
  }
  if (failed(done))
    return failure();
  values.map(node.getOutputs(), lowered.results);
  if (narrow == ops::Narrow::Round || node->hasAttr(kRoundAttr))
    for (Value result : node.getOutputs())
      values.map(result, stored(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Reading in 16 bits
//===----------------------------------------------------------------------===//

/// Lets those users of `wide`, which is `narrow` extended, that read a part of it
/// extend that part only.
static void sink(OpBuilder &builder, Value narrow, Value wide) {
  auto f32 = cast<FloatType>(getElementTypeOrSelf(wide));
  for (OpOperand &use : llvm::make_early_inc_range(wide.getUses())) {
    Operation *user = use.getOwner();
    if (use.getOperandNumber() != 0 || !isa<tensor::ExtractOp, tensor::ExtractSliceOp,
                                            tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
      continue;
    builder.setInsertionPointAfter(user);
    use.set(narrow);
    Value part = user->getResult(0);
    auto tensor = dyn_cast<RankedTensorType>(part.getType());
    Type type = getElementTypeOrSelf(narrow);
    part.setType(tensor ? Type(tensor.clone(type)) : type);
    Value result = tensor ? converted(builder, part, f32)
                          : arith::ExtFOp::create(builder, part.getLoc(), f32, part).getResult();
    part.replaceAllUsesExcept(result, result.getDefiningOp());
    if (tensor)
      sink(builder, part, result);
  }
}

void KernelValues::readNarrow() {
  OpBuilder::InsertionGuard guard(builder);
  for (auto [narrow, wide] : extended) {
    auto generic = wide.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      continue;
    sink(builder, narrow, wide);
    if (generic.use_empty())
      generic.erase();
  }
}

} // namespace zero
