//===- Registry.cpp - the table of operators ------------------------------===//

#include "zero/Ops/OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace zero::ops {

// One line per file of this folder.
#define ZERO_OP_FILES(X)                                                                           \
  X(Attention)                                                                                     \
  X(AttentionCore)                                                                                 \
  X(Binary)                                                                                        \
  X(Cast)                                                                                          \
  X(Concat)                                                                                        \
  X(Contraction)                                                                                   \
  X(CrossEntropy)                                                                                  \
  X(CumSum)                                                                                        \
  X(Dropout)                                                                                       \
  X(Einsum)                                                                                        \
  X(Expand)                                                                                        \
  X(Gather)                                                                                        \
  X(GatherElements)                                                                                \
  X(GatherND)                                                                                      \
  X(Gelu)                                                                                          \
  X(Gemm)                                                                                          \
  X(Logic)                                                                                         \
  X(MatMul)                                                                                        \
  X(MaskedSoftmax)                                                                                 \
  X(Normalization)                                                                                 \
  X(OneHot)                                                                                        \
  X(Pad)                                                                                           \
  X(Pow)                                                                                           \
  X(Reduction)                                                                                     \
  X(Rotary)                                                                                        \
  X(ShapeOps)                                                                                      \
  X(Slice)                                                                                         \
  X(Softmax)                                                                                       \
  X(Swish)                                                                                         \
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

/// Fills the table once, sorted by domain and type.
static const std::vector<OpDef> &filledTable() {
  static const bool filled = [] {
#define CALL(name) register##name();
    ZERO_OP_FILES(CALL)
#undef CALL
    llvm::stable_sort(table(), [](const OpDef &a, const OpDef &b) {
      return std::tie(a.domain, a.type) < std::tie(b.domain, b.type);
    });
    return true;
  }();
  (void)filled;
  return table();
}

void registerOp(const OpDef &def) { table().push_back(def); }

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

} // namespace zero::ops
