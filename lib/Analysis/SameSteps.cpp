//===- SameSteps.cpp - compare the steps of whole matrices ----------------===//

#include "zero/Analysis/SameSteps.h"

#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero {

namespace {
/// Compares values of two updates, each value of one with one of the other.
class Comparison {
public:
  explicit Comparison(ModuleOp module) : module(module) {}

  bool areSame(Value a, Value b);

private:
  bool areSame(Operation *a, Operation *b);
  /// Whether `read` is of what the owner of the matrix has.
  bool isOwnState(ReadOp read) {
    auto state = module.lookupSymbol<StateOp>(read.getSymbolAttr().getAttr());
    return state && state->hasAttr(kWholeAttr);
  }

  ModuleOp module;
  llvm::DenseMap<Value, Value> same; ///< to each value that was found to be the same
};
} // namespace

bool Comparison::areSame(Value a, Value b) {
  a = throughReshapes(a);
  b = throughReshapes(b);
  if (a == b)
    return true;
  if (Value known = same.lookup(a))
    return known == b;
  auto ofA = dyn_cast<OpResult>(a), ofB = dyn_cast<OpResult>(b);
  if (!ofA || !ofB || a.getType() != b.getType() ||
      ofA.getResultNumber() != ofB.getResultNumber() || !areSame(ofA.getOwner(), ofB.getOwner()))
    return false;
  same[a] = b;
  return true;
}

bool Comparison::areSame(Operation *a, Operation *b) {
  if (a->getName() != b->getName())
    return false;
  // Each reads those of its own parameter.
  if (isa<GradientOp, SquareSumOp>(a))
    return true;
  if (auto read = dyn_cast<ReadOp>(a)) {
    auto other = cast<ReadOp>(b);
    return read.getSymbol() == other.getSymbol() || (isOwnState(read) && isOwnState(other));
  }
  if (auto launch = dyn_cast<LaunchOp>(a)) {
    if (launch.getKernelAttr() != cast<LaunchOp>(b).getKernelAttr() ||
        a->hasAttr(kDirectionAttr) != b->hasAttr(kDirectionAttr))
      return false;
    if (a->hasAttr(kDirectionAttr))
      return true;
  } else if (!isa<AllGatherOp>(a)) { // of shards
    return false;
  }
  return a->getNumOperands() == b->getNumOperands() &&
         llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()), [&](auto operands) {
           return areSame(std::get<0>(operands), std::get<1>(operands));
         });
}

bool haveSameSteps(UpdateOp a, UpdateOp b) {
  return Comparison(a->getParentOfType<ModuleOp>()).areSame(a.getGradient(), b.getGradient());
}

} // namespace zero
