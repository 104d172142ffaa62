//===- OpTable.h - what is known of each ONNX operator ----------*- C++ -*-===//
//
// One file of lib/Ops per operator or family registers one OpDef each: which
// opsets it understands, how it lowers to linalg on tensors, and its gradient.
// Everything else in the compiler asks this table and names no operator.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_OPTABLE_H
#define ZERO_OPS_OPTABLE_H

#include "dialects/Onnx/Onnx.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/FunctionExtras.h"

namespace zero::ops {

using onnx::kZeroDomain;

/// The newest opset of ai.onnx whose changes to the operators of the table have
/// been read: a definition up to it is also right for it.
inline constexpr int64_t kNewestOpset = 28;

/// How a node may share a kernel with others.
enum class Kind {
  View,        ///< same bytes, other shape: no kernel at all
  Elementwise, ///< each result element from the broadcast operands' elements
  Rows,        ///< reduces or normalises along trailing dimensions
  Product,     ///< a matrix product: one library call, which adds a row and a residual, too
  Other,       ///< a kernel of its own
};

/// What a node does with floats that are stored in 16 bits.
enum class Narrow {
  Widen, ///< computes in f32
  Move,  ///< gives elements on as they are; its lowering takes 16-bit floats, too
  Round, ///< rounds to the type of its result, whoever uses it
  Own,   ///< its lowering takes 16-bit floats, computes in f32 and rounds once
};

/// A check that a lowering asks for: the i64 pair (smallest, largest) must lie
/// within [lower, upper], else the step stops with `message`.
struct RangeCheck {
  mlir::Value pair; ///< tensor<2xi64>
  int64_t lower;
  int64_t upper;
  std::string message;
};

/// What a lowering builds.
struct Lowered {
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<RangeCheck> checks;
  /// The library call that computes the same, a `#zero.convolution` or `#zero.attention`, or
  /// null. The node's operands that are given, in order, are the call's first arguments, its
  /// results, all of them and in order, the last.
  mlir::Attribute call;
};

/// Lowers `node` with its operands replaced by `inputs` (values inside a kernel,
/// with signless integers; null for `onnx.none`) to linalg, tensor, arith, math and scf at
/// `builder`. Operands that are constants arrive as arith.constant inside the kernel. Fails after
/// an error at the node.
using LowerFn = llvm::LogicalResult (*)(onnx::NodeOp node, mlir::ValueRange inputs,
                                        mlir::OpBuilder &builder, Lowered &lowered);

/// Builds the gradients of `node`'s operands from those of its results.
/// `outputGrads[i]` is null when result i has no gradient. Fills `inputGrads[i]`
/// (sized and initially null) for every i with `wanted[i]`, in the operand's type.
using GradientFn = llvm::LogicalResult (*)(onnx::NodeOp node, mlir::ValueRange outputGrads,
                                           llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                           llvm::MutableArrayRef<mlir::Value> inputGrads);

/// Rewrites `node` to simpler nodes before differentiation: appends one value
/// per result. Returning success with nothing appended leaves the node alone.
using ExpandFn = llvm::LogicalResult (*)(onnx::NodeOp node, NodeBuilder &builder,
                                         llvm::SmallVectorImpl<mlir::Value> &results);

/// What is known of one operator.
struct OpDef : onnx::Operator {
  int64_t minOpset; ///< first opset version understood
  int64_t maxOpset; ///< last one
  Kind kind;
  LowerFn lower = nullptr;       ///< null: must be expanded
  GradientFn gradient = nullptr; ///< null: results carry no gradient
  ExpandFn expand = nullptr;
  bool anySign = false; ///< lowers unsigned integers, too
  /// Bit i: result i stays f32 where the program stores its values in 16 bits, as
  /// losses, sums and statistics do.
  uint32_t wideResults = 0;
  Narrow narrow = Narrow::Widen;
  llvm::StringRef family = {}; ///< the file of lib/Ops; set by the registry
};

/// The definition for `node`, or null when its operator or opset is not known.
const OpDef *lookup(onnx::NodeOp node);
/// The definition for an operator by name and opset, or null.
const OpDef *lookup(llvm::StringRef domain, llvm::StringRef type, int64_t opset);
/// All definitions in order of domain and type.
llvm::ArrayRef<OpDef> allOps();

/// Lowers `node` by its definition; see LowerFn. Fails after an error at the node
/// when there is none, or when it does not take unsigned integers.
llvm::LogicalResult lower(onnx::NodeOp node, mlir::ValueRange inputs, mlir::OpBuilder &builder,
                          Lowered &lowered);

/// `def` with results that stay f32 where values are stored in 16 bits: all, or
/// those of the bits of `results`.
inline OpDef keepsWide(OpDef def, uint32_t results = ~0u) {
  def.wideResults = results;
  return def;
}
/// `def` of an operator that moves elements and computes nothing.
inline OpDef moving(OpDef def) {
  def.narrow = Narrow::Move;
  return def;
}

/// Adds to the table; each file of lib/Ops has one function that calls this,
/// named in Registry.cpp.
void registerOp(const OpDef &def);
/// The same for a definition that is right for unsigned integers, too.
void registerAnySign(OpDef def);

} // namespace zero::ops

#endif // ZERO_OPS_OPTABLE_H
