//===- AliasScopes.cpp - disjoint buffers of an entry ---------------------===//

#include "AliasScopes.h"

using namespace mlir;

namespace zero {

static constexpr llvm::StringLiteral kNoAlias = "llvm.noalias";

/// The argument of `entry` that `pointer` is based on, or null.
static BlockArgument argumentOf(LLVM::LLVMFuncOp entry, Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (auto element = dyn_cast<LLVM::GEPOp>(op)) {
      pointer = element.getBase();
      continue;
    }
    // A field of the descriptor of a buffer.
    SmallVector<OpFoldResult> field;
    if (!isa<LLVM::ExtractValueOp>(op) || failed(op->fold(field)))
      return {};
    if (!field.empty())
      pointer = dyn_cast<Value>(field.front());
    if (!pointer)
      return {};
  }
  auto argument = cast<BlockArgument>(pointer);
  return argument.getOwner() == &entry.getBody().front() ? argument : BlockArgument();
}

namespace {
/// The scopes of the arguments of an entry.
class Scopes {
public:
  explicit Scopes(LLVM::LLVMFuncOp entry) {
    MLIRContext *context = entry.getContext();
    auto domain = LLVM::AliasScopeDomainAttr::get(context, entry.getSymNameAttr(), StringAttr());
    for (unsigned number = 0; number < entry.getNumArguments(); ++number) {
      auto name = StringAttr::get(context, entry.getSymName() + "_" + Twine(number));
      scopes.push_back(LLVM::AliasScopeAttr::get(context, name, domain, StringAttr()));
      isAlone.push_back(bool(entry.removeArgAttr(number, kNoAlias)));
    }
  }

  bool any() const { return llvm::is_contained(isAlone, true); }

  ArrayAttr of(unsigned argument) const {
    return ArrayAttr::get(scopes[argument].getContext(), scopes[argument]);
  }
  /// The scopes of all arguments whose memory is not that of `argument`.
  ArrayAttr besides(unsigned argument) const {
    SmallVector<Attribute> others;
    for (unsigned other = 0; other < scopes.size(); ++other)
      if (other != argument && (isAlone[argument] || isAlone[other]))
        others.push_back(scopes[other]);
    return ArrayAttr::get(scopes[argument].getContext(), others);
  }

private:
  SmallVector<Attribute> scopes;
  SmallVector<bool> isAlone; ///< had `llvm.noalias`
};
} // namespace

void scopeAliases(LLVM::LLVMFuncOp entry) {
  Scopes scopes(entry);
  if (!scopes.any())
    return;
  entry.walk([&](LLVM::AliasAnalysisOpInterface access) {
    SmallVector<Value> pointers = access.getAccessedOperands();
    BlockArgument argument =
        pointers.size() == 1 ? argumentOf(entry, pointers.front()) : BlockArgument();
    if (!argument)
      return;
    access.setAliasScopes(scopes.of(argument.getArgNumber()));
    access.setNoAliasScopes(scopes.besides(argument.getArgNumber()));
  });
}

} // namespace zero
