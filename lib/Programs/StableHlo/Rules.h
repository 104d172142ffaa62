//===- Rules.h - rules that convert ops to nodes ----------------*- C++ -*-===//
// Each file of a family of ops has one function that registers its rules. The driver (Convert.cpp)
// knows no op by name.
//===----------------------------------------------------------------------===//

#ifndef LIB_PROGRAMS_STABLEHLO_RULES_H
#define LIB_PROGRAMS_STABLEHLO_RULES_H

#include "Emitter.h"

#include "llvm/ADT/StringMap.h"

namespace zero::hlo {

/// Emits nodes for `op` and appends one value for each of its results. The types of operands and
/// results are tensors of static shapes and element types that nodes have. The driver checks the
/// types of what is appended. Fails after Emitter::refuse().
using Rule = llvm::LogicalResult (*)(mlir::Operation *op, Emitter &b,
                                     llvm::SmallVectorImpl<mlir::Value> &results);

using RuleTable = llvm::StringMap<Rule>;

/// All rules by the names of ops.
const RuleTable &ruleTable();

void addElementwiseRules(RuleTable &table);
void addIntegerRules(RuleTable &table);
void addFunctionRules(RuleTable &table);
void addMovementRules(RuleTable &table);
void addDynamicSliceRules(RuleTable &table);
void addProductRules(RuleTable &table);
void addConvolutionRules(RuleTable &table);
void addReductionRules(RuleTable &table);
void addWindowRules(RuleTable &table);
void addGatherRules(RuleTable &table);
void addScatterRules(RuleTable &table);
void addSortRules(RuleTable &table);
void addRandomRules(RuleTable &table);
void addAnnotationRules(RuleTable &table);

/// The block of `region` if it is the only one, takes scalars of the types of `arguments` and ends
/// in stablehlo.return; null otherwise.
mlir::Block *scalarBody(mlir::Region &region, mlir::TypeRange arguments);

/// What `region`, which combines scalars, computes for each element of `operands`, tensors of one
/// shape: the values that it returns. Fails if an op of it has no rule, or is not on scalars.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitBody(Emitter &b, mlir::Region &region,
                                                         mlir::ValueRange operands);

/// The name of the only op of `region`, if it combines the two arguments of its block and is what
/// the block returns: "stablehlo.add". If the block returns its second argument, "second". Empty
/// for any other region.
llvm::StringRef combinerOf(mlir::Region &region);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_RULES_H
