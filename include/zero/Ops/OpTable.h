//===- OpTable.h - definitions of ONNX operators ----------------*- C++ -*-===//
// One file of lib/Ops per operator or family registers one OpDef each: the supported opsets, the
// lowering to linalg on tensors, the gradient, and the results on constants. The rest of the
// compiler uses this table; docs/contributing/operator.md says how to add one.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_OPTABLE_H
#define ZERO_OPS_OPTABLE_H

#include "dialects/Onnx/Onnx.h"
#include "zero/Evaluate/Evaluator.h"
#include "zero/Ops/Factors.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/FunctionExtras.h"

#include <array>

namespace zero::ops {

using onnx::kZeroDomain;

/// The newest opset of ai.onnx whose changes to the operators of the table have been reviewed: a
/// definition up to it is also correct for it.
inline constexpr int64_t kNewestOpset = 28;

/// How a node may be fused into a kernel with others.
enum class Kind {
  View,        ///< same bytes, other shape: no kernel at all
  Elementwise, ///< each result element from the broadcast operands' elements
  Rows,        ///< reduces or normalizes along trailing dimensions
  Product,     ///< a matrix product: one library call, which also adds a row and a residual
  Other,       ///< a kernel of its own
  Exchange,    ///< ranks exchange values: an op of the step, no kernel
};

/// The treatment of floats that are stored in 16 bits.
enum class Narrow {
  Widen, ///< computes in f32
  Move,  ///< copies elements; its lowering also accepts 16-bit floats
  Round, ///< rounds to the type of its result for every user
  Own,   ///< its lowering accepts 16-bit floats, computes in f32 and rounds once
};

/// How results depend on operands that hold numbers.
enum class Linear {
  No,       ///< not linearly, or nothing is known
  InFirst,  ///< linear in the first operand; the others select, or are settings
  Together, ///< linear in all operands together: a sum, a concatenation, a choice
  InEach,   ///< linear in each operand by itself: a product
  Quotient, ///< linear in the first operand, which the second divides
};

/// A check that a lowering requests: the i64 pair (minimum, maximum) must be within [lower, upper],
/// else the step stops with `message`.
struct RangeCheck {
  mlir::Value pair; ///< tensor<2xi64>
  int64_t lower;
  int64_t upper;
  std::string message;
};

/// The result of a lowering.
struct Lowered {
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<RangeCheck> checks;
  /// An equivalent library call, a `#zero.convolution` or `#zero.attention`, or null. The first
  /// arguments of the call are the given operands of the node, in order; the last are all its
  /// results, in order.
  mlir::Attribute call;
};

/// Lowers `node` with its operands replaced by `inputs` (values inside a kernel,
/// with signless integers; null for `onnx.none`) to linalg, tensor, arith, math and scf at
/// `builder`. Operands that are constants arrive as arith.constant inside the kernel. Fails after
/// an error at the node.
using LowerFn = llvm::LogicalResult (*)(onnx::NodeOp node, mlir::ValueRange inputs,
                                        mlir::OpBuilder &builder, Lowered &lowered);

/// Builds the gradients of `node`'s operands from those of its results, of which at least one is
/// not null: `outputGrads[i]` is null when result i has no gradient. Fills `inputGrads[i]` (sized
/// and initially null) for every i with `wanted[i]`, in the operand's type. A derivative that is
/// known to be zero is `builder.none()`: a null gradient is an error of the rule, because what is
/// left out would be a zero that nobody wrote.
using GradientFn = llvm::LogicalResult (*)(onnx::NodeOp node, mlir::ValueRange outputGrads,
                                           llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                           llvm::MutableArrayRef<mlir::Value> inputGrads);

/// Rewrites `node` to simpler nodes before differentiation: appends one value per result. Success
/// with nothing appended leaves the node unchanged.
using ExpandFn = llvm::LogicalResult (*)(onnx::NodeOp node, NodeBuilder &builder,
                                         llvm::SmallVectorImpl<mlir::Value> &results);

/// The definition of one operator.
struct OpDef : onnx::Operator {
  int64_t minOpset; ///< first opset version understood
  int64_t maxOpset; ///< last one
  Kind kind;
  LowerFn lower = nullptr; ///< null: must be expanded
  /// Null: nothing is known of the derivative, unless the operator is piecewise constant. It is an
  /// error to differentiate it, if its lowering cannot be written in operators with gradients.
  GradientFn gradient = nullptr;
  ExpandFn expand = nullptr;
  bool anySign = false; ///< also lowers unsigned integers
  /// The derivative is zero wherever it exists: roundings, comparisons, positions, shapes.
  bool piecewiseConstant = false;
  /// Bit i: the derivative of result i is zero, as that of a number of labels.
  uint32_t constantResults = 0;
  /// Bit i: result i stays f32 in a program that stores its values in 16 bits, such as losses, sums
  /// and statistics.
  uint32_t wideResults = 0;
  Narrow narrow = Narrow::Widen;
  /// Views are linear in their first operand by their kind.
  Linear linear = Linear::No;
  bool roundsIntegers = false; ///< it is not linear in integers, which it divides
  /// How its dimensions may be divided. Null: as those of its kind, Elementwise or Product, or not.
  FactorsFn factors = nullptr;
  /// Writes the node in operators of the opset of emitted graphs, where its lowering is no loop
  /// over elements or where ONNX has an operator that does the same; an older form of an operator
  /// of ai.onnx as that opset has it. Success with nothing appended: there is no such form.
  ExpandFn plain = nullptr;
  /// What it computes, and what its operands are to it, for passes that ask; roles beyond the last
  /// one are Data.
  Function function = Function::None;
  std::array<OperandRole, 6> roles = {};
  /// Writes the node without those of its operands that have no elements. The results have
  /// elements. Null: it is an error for an operand of floats to have none, unless it is a setting.
  ExpandFn withoutEmpty = nullptr;
  /// Its results on known operands. None: they are not known at compile time.
  evaluate::Evaluator evaluator = {};
  llvm::StringRef family = {}; ///< the file of lib/Ops; set by the registry

  /// Results stay f32 in programs that store values in 16 bits: all, or those of the bits.
  OpDef keepsWide(uint32_t results = ~0u) const { return with(&OpDef::wideResults, results); }
  /// It moves elements and computes nothing.
  OpDef moves() const { return with(&OpDef::narrow, Narrow::Move); }
  OpDef piecewise() const { return with(&OpDef::piecewiseConstant, true); }
  OpDef linearly(Linear how, bool rounds = false) const {
    return with(&OpDef::linear, how).with(&OpDef::roundsIntegers, rounds);
  }
  OpDef dividedBy(FactorsFn rule) const { return with(&OpDef::factors, rule); }
  OpDef writtenBy(ExpandFn rule) const { return with(&OpDef::plain, rule); }
  OpDef computing(Function what) const { return with(&OpDef::function, what); }
  OpDef omittingEmpty(ExpandFn rule) const { return with(&OpDef::withoutEmpty, rule); }
  OpDef operand(unsigned index, OperandRole role) const {
    OpDef def = *this;
    def.roles[index] = role;
    return def;
  }
  OpDef evaluatedBy(evaluate::Evaluator rule) const { return with(&OpDef::evaluator, rule); }

  template <typename T>
  OpDef with(T OpDef::*field, T value) const {
    OpDef def = *this;
    def.*field = value;
    return def;
  }
};

/// The definition for `node`, or null if its operator or opset is not known.
const OpDef *lookup(onnx::NodeOp node);
/// The definition for an operator by name and opset, or null.
const OpDef *lookup(llvm::StringRef domain, llvm::StringRef type, int64_t opset);
/// How an operator of ai.onnx is evaluated on known operands; null if it is not.
const evaluate::Evaluator *evaluatorOf(llvm::StringRef domain, llvm::StringRef type, int64_t opset);
/// How the results of `node` depend on its operands, with their element types.
Linear linearityOf(onnx::NodeOp node);
/// All definitions in order of domain and type.
llvm::ArrayRef<OpDef> allOps();

/// Lowers `node` by its definition; see LowerFn. Fails after an error at the node if there is no
/// definition, or if it does not support unsigned integers.
llvm::LogicalResult lower(onnx::NodeOp node, mlir::ValueRange inputs, mlir::OpBuilder &builder,
                          Lowered &lowered);

/// Registers a definition; each file of lib/Ops has one function that calls this, named in
/// Registry.cpp.
void registerOp(const OpDef &def);
/// The same for a definition that also supports unsigned integers.
void registerAnySign(OpDef def);

} // namespace zero::ops

#endif // ZERO_OPS_OPTABLE_H
