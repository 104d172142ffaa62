//===- Registry.cpp - the table of operators ------------------------------===//

#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace zero::ops {

// One line per file of this folder.
#define ZERO_OP_FILES(X)                                                                           \
  X(Activations)                                                                                   \
  X(ArgReduce)                                                                                     \
  X(Attention)                                                                                     \
  X(AttentionCore)                                                                                 \
  X(AxisCollectives)                                                                               \
  X(BatchNormalization)                                                                            \
  X(Binary)                                                                                        \
  X(Bitwise)                                                                                       \
  X(Cast)                                                                                          \
  X(Check)                                                                                         \
  X(Clip)                                                                                          \
  X(Concat)                                                                                        \
  X(ContextAttention)                                                                              \
  X(Contraction)                                                                                   \
  X(Conv)                                                                                          \
  X(CrossEntropy)                                                                                  \
  X(CumSum)                                                                                        \
  X(DecodeBlocks)                                                                                  \
  X(Dft)                                                                                           \
  X(DftMatrix)                                                                                     \
  X(Dropout)                                                                                       \
  X(Einsum)                                                                                        \
  X(Expand)                                                                                        \
  X(Gather)                                                                                        \
  X(GatherElements)                                                                                \
  X(GatherND)                                                                                      \
  X(Gelu)                                                                                          \
  X(Gemm)                                                                                          \
  X(GridSample)                                                                                    \
  X(Hyperbolic)                                                                                    \
  X(LRN)                                                                                           \
  X(Logic)                                                                                         \
  X(LpPool)                                                                                        \
  X(MatMul)                                                                                        \
  X(MaskedSoftmax)                                                                                 \
  X(Normalization)                                                                                 \
  X(NormalizationForms)                                                                            \
  X(OneHot)                                                                                        \
  X(Pad)                                                                                           \
  X(Philox)                                                                                        \
  X(Pool)                                                                                          \
  X(Pow)                                                                                           \
  X(ProjectionLoss)                                                                                \
  X(RankMean)                                                                                      \
  X(Random)                                                                                        \
  X(Rearrange)                                                                                     \
  X(Recurrent)                                                                                     \
  X(Reduction)                                                                                     \
  X(Resample)                                                                                      \
  X(Resize)                                                                                        \
  X(Rotary)                                                                                        \
  X(ShapeOps)                                                                                      \
  X(Slice)                                                                                         \
  X(Softmax)                                                                                       \
  X(SpecialFunctions)                                                                              \
  X(Swish)                                                                                         \
  X(TopK)                                                                                          \
  X(Training)                                                                                      \
  X(Transpose)                                                                                     \
  X(Trigonometry)                                                                                  \
  X(Trilu)                                                                                         \
  X(Unary)                                                                                         \
  X(Variadic)                                                                                      \
  X(Views)                                                                                         \
  X(Where)

#define DECLARE(name) void register##name();
ZERO_OP_FILES(DECLARE)
#undef DECLARE

static std::vector<OpDef> &table() {
  static std::vector<OpDef> defs;
  return defs;
}

/// Names the file of the definitions that were added last.
static void setFamily(StringRef name) {
  for (OpDef &def : llvm::reverse(table())) {
    if (!def.family.empty())
      return;
    def.family = name;
  }
}

/// Fills the table once, sorted by domain and type.
static const std::vector<OpDef> &filledTable() {
  static const bool filled = [] {
#define CALL(name)                                                                                 \
  register##name();                                                                                \
  setFamily(#name);
    ZERO_OP_FILES(CALL)
#undef CALL
    llvm::sort(table(), [](const OpDef &a, const OpDef &b) {
      return std::tie(a.domain, a.type, a.minOpset) < std::tie(b.domain, b.type, b.minOpset);
    });
    return true;
  }();
  (void)filled;
  return table();
}

void registerOp(const OpDef &def) { table().push_back(def); }

void registerAnySign(OpDef def) {
  def.anySign = true;
  registerOp(def);
}

ArrayRef<OpDef> allOps() { return filledTable(); }

const OpDef *lookup(StringRef domain, StringRef type, int64_t opset) {
  static const llvm::StringMap<SmallVector<const OpDef *, 1>> byName = [] {
    llvm::StringMap<SmallVector<const OpDef *, 1>> map;
    for (const OpDef &def : filledTable())
      map[(def.domain + "::" + def.type).str()].push_back(&def);
    return map;
  }();
  auto it = byName.find((domain + "::" + type).str());
  if (it == byName.end())
    return nullptr;
  for (const OpDef *def : it->second)
    if (def->minOpset <= opset && opset <= def->maxOpset)
      return def;
  return nullptr;
}

const OpDef *lookup(onnx::NodeOp node) {
  return lookup(node.getDomain(), node.getOpType(), node.getOpset());
}

const evaluate::Evaluator *evaluatorOf(StringRef domain, StringRef type, int64_t opset) {
  const OpDef *def = lookup(domain, type, opset);
  return def && def->evaluator ? &def->evaluator : nullptr;
}

/// Whether numbers of type `from` stay what they are as `to`, up to the rounding of floats.
static bool isExact(Type from, Type to) {
  return from == to || isa<FloatType>(to) || (isa<IntegerType>(from) && !to.isInteger(1));
}

Function functionOf(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  return def ? def->function : Function::None;
}

bool computes(onnx::NodeOp node, ArrayRef<Function> functions) {
  return node && llvm::is_contained(functions, functionOf(node));
}

bool isIdentity(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  return def && def->kind == Kind::View &&
         node.getInputs()[0].getType() == node.getResult(0).getType();
}

OperandRole roleOf(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  const OpDef *def = node ? lookup(node) : nullptr;
  const unsigned index = use.getOperandNumber();
  return def && index < def->roles.size() ? def->roles[index] : OperandRole::Data;
}

Linear linearityOf(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  if (!def || node.getInputs().empty())
    return Linear::No;
  const Linear linear = def->kind == Kind::View ? Linear::InFirst : def->linear;
  Type to = getElementTypeOrSelf(node.getResult(0).getType());
  const bool isRounded = def->roundsIntegers && !isa<FloatType>(to);
  const bool isConverted = linear == Linear::InFirst &&
                           !isExact(getElementTypeOrSelf(node.getInputs()[0].getType()), to);
  return isRounded || isConverted ? Linear::No : linear;
}

static bool isUnsigned(Value value) {
  return getElementTypeOrSelf(value.getType()).isUnsignedInteger();
}

LogicalResult lower(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder, Lowered &lowered) {
  const OpDef *def = lookup(node);
  if (!def || !def->lower)
    return node.emitError() << "no lowering for " << node.describe() << " of opset "
                            << node.getOpset();
  if (!def->anySign)
    for (ValueRange values : {ValueRange(node.getInputs()), ValueRange(node.getOutputs())})
      if (auto odd = llvm::find_if(values, isUnsigned); odd != values.end())
        return node.emitError() << node.describe() << ": unsigned integers are not supported, got "
                                << (*odd).getType();
  return def->lower(node, inputs, builder, lowered);
}

} // namespace zero::ops
